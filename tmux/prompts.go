package tmux

// The commands in this file interact with the user of an attached client. Those that wait
// for an answer are bounded only by their context.

// CommandPrompt asks the user of a client for text, and runs a command with it.
type CommandPrompt struct {
	Client Target `flag:"t"`
	// Prompts is a comma separated list; the answers replace %1, %2 and so on in Template.
	Prompts Format `flag:"p"`
	// Inputs is a comma separated list of initial texts.
	Inputs Format `flag:"I"`
	OneKey bool   `flag:"1"` // the answer is one key press
	// KeyName is like OneKey, but the answer is the name of the key.
	KeyName bool `flag:"k"`
	Numeric bool `flag:"N"` // only digits
	// Incremental runs the command on every change of the text.
	Incremental bool `flag:"i"`
	// Background returns without waiting for the answer.
	Background bool `flag:"b" since:"3.3"`
	// Expand expands the template as a format before the answers are inserted.
	Expand bool `flag:"F" since:"3.3"`
	// Whole treats Prompts as a single prompt, commas included.
	Whole bool `flag:"l" since:"3.6"`
	// Live keeps panes being drawn while the prompt is open.
	Live bool `flag:"C" since:"3.7"`
	// CloseEmpty closes the prompt on a backspace if there is no text left.
	CloseEmpty bool `flag:"e" since:"3.7"`
	// InPane shows the prompt in the active pane.
	InPane bool `flag:"P" since:"3.8"`
	// Type selects the prompt's history: command, search, target or window-target.
	Type string `flag:"T" since:"3.3"`
	// TargetType and WindowTargetType are two of these types in tmux 3.2.
	TargetType       bool `flag:"T" until:"3.2"`
	WindowTargetType bool `flag:"W" until:"3.2"`
	// Template is a tmux command.
	Template string `arg:""`
}

// ConfirmBefore asks the user of a client whether to run a command.
type ConfirmBefore struct {
	Client Target `flag:"t"`
	Prompt Format `flag:"p"`
	// Background returns without waiting for the answer.
	Background bool   `flag:"b" since:"3.3"`
	Key        string `flag:"c" since:"3.4"` // the key for yes; "y" by default
	// DefaultYes makes Enter mean yes.
	DefaultYes bool   `flag:"y" since:"3.4"`
	Command    string `arg:"required"`
}

// MenuItem is a line of a menu. An item without a name is a separator; one whose name
// begins with "-" is shown but cannot be chosen.
type MenuItem struct {
	Name    Format
	Key     string // the key that chooses it, if any
	Command string // in tmux's own syntax; formats in it are expanded
}

// DisplayMenu shows a menu on a client.
type DisplayMenu struct {
	Client Target `flag:"c"`
	// Target is a pane for the formats in the menu.
	Target Target `flag:"t"`
	Title  string `flag:"T,literal"`
	// X and Y are a position: a number of cells, a letter such as C for the centre or P for
	// the pane, or a format.
	X             Format `flag:"x"`
	Y             Format `flag:"y"`
	StayOpen      bool   `flag:"O"` // even when the mouse button is released
	Mouse         bool   `flag:"M" since:"3.5"`
	Start         *int   `flag:"C" since:"3.4"` // the item selected initially, from 0
	BorderLines   string `flag:"b" since:"3.4"`
	BorderStyle   string `flag:"S" since:"3.4"`
	Style         string `flag:"s" since:"3.4"`
	SelectedStyle string `flag:"H" since:"3.4"`
	// Items are the lines in tmux's form; [DisplayMenu.With] makes them from typed items.
	Items []string `arg:""`
}

// With returns the menu with these items.
func (c DisplayMenu) With(items ...MenuItem) DisplayMenu {
	c.Items = nil
	for _, it := range items {
		c.Items = append(c.Items, string(it.Name))
		if it.Name != "" {
			c.Items = append(c.Items, it.Key, it.Command)
		}
	}
	return c
}

// check refuses an empty menu, which tmux takes for a usage error.
func (c DisplayMenu) check(func() (Version, error)) error {
	if len(c.Items) == 0 {
		return argumentError("a menu without items")
	}
	return nil
}

// DisplayPopup runs a program in a popup over a client's screen.
type DisplayPopup struct {
	Client Target `flag:"c"`
	Target Target `flag:"t"` // a pane, for formats and the position
	Width  Size   `flag:"w"` // half of the terminal's by default
	Height Size   `flag:"h"`
	X      Format `flag:"x"` // as in [DisplayMenu]
	Y      Format `flag:"y"`
	Dir    string `flag:"d,literal"`
	Env    Env    `flag:"e" since:"3.3"`
	Title  string `flag:"T,literal" since:"3.3"`
	// Close closes the client's popup, if it has one.
	Close bool `flag:"C"`
	// CloseOnExit closes it when the program ends.
	CloseOnExit bool `flag:"E"`
	// CloseOnSuccess closes it when the program ends with exit status 0.
	CloseOnSuccess bool `flag:"EE"`
	// CloseOnKey closes it on any key after the program has ended.
	CloseOnKey bool `flag:"k" since:"3.6"`
	// StayOpen undoes CloseOnExit and CloseOnKey of an open popup, which tmux 3.6 and later
	// change instead of opening another.
	StayOpen    bool   `flag:"N" since:"3.6"`
	NoBorder    bool   `flag:"B" since:"3.3"`
	BorderLines string `flag:"b" since:"3.3"`
	BorderStyle string `flag:"S" since:"3.3"`
	Style       string `flag:"s" since:"3.3"`
	// Command is what to run: see [SplitWindow].
	Command []string `arg:""`
}

// ShowPromptHistory prints the history of command prompts.
type ShowPromptHistory struct {
	_ struct{} `since:"3.3"`
	// Type is as in [CommandPrompt]; all types if empty.
	Type string `flag:"T"`
}

// ClearPromptHistory clears the history of command prompts.
type ClearPromptHistory struct {
	_    struct{} `since:"3.3"`
	Type string   `flag:"T"`
}

func (CommandPrompt) commandName() string      { return "command-prompt" }
func (ConfirmBefore) commandName() string      { return "confirm-before" }
func (DisplayMenu) commandName() string        { return "display-menu" }
func (DisplayPopup) commandName() string       { return "display-popup" }
func (ShowPromptHistory) commandName() string  { return "show-prompt-history" }
func (ClearPromptHistory) commandName() string { return "clear-prompt-history" }

func (c CommandPrompt) waits() bool { return !c.Background }
func (c ConfirmBefore) waits() bool { return !c.Background }
func (DisplayMenu) waits() bool     { return true }
func (c DisplayPopup) waits() bool  { return !c.Close }

// The commands in this file put a pane into a mode in which the user of an attached client
// makes a choice.

// ChooseTree lets the user choose a session, window or pane.
type ChooseTree struct {
	Target Target `flag:"t"` // the pane to show the list in
	Format Format `flag:"F"` // of an item
	Filter Format `flag:"f"`
	// KeyFormat is the format of the key that chooses an item.
	KeyFormat Format `flag:"K"`
	// Order is index, name or time; from tmux 3.7 on, time is called activity.
	Order    string `flag:"O"`
	Reverse  bool   `flag:"r"`
	Sessions bool   `flag:"s"` // start with the sessions collapsed
	Windows  bool   `flag:"w"` // start with the windows collapsed
	// Grouped shows all sessions of a group, not only the first.
	Grouped   bool `flag:"G"`
	NoPreview bool `flag:"N"`
	Zoom      bool `flag:"Z"`
	// NoConfirm kills without asking for confirmation.
	NoConfirm bool `flag:"y" since:"3.6"`
	Hide      bool `flag:"h" since:"3.8"` // leave out the pane of the list
	Kill      bool `flag:"k" since:"3.8"` // kill the pane when the mode ends
	// Template is the tmux command to run; %% stands for the chosen target.
	Template string `arg:""`
}

// ChooseClient lets the user choose a client. Its fields are as in [ChooseTree].
type ChooseClient struct {
	Target    Target `flag:"t"`
	Format    Format `flag:"F"`
	Filter    Format `flag:"f"`
	KeyFormat Format `flag:"K"`
	Order     string `flag:"O"` // name, size, creation or activity
	Reverse   bool   `flag:"r"`
	NoPreview bool   `flag:"N"`
	Zoom      bool   `flag:"Z"`
	NoConfirm bool   `flag:"y" since:"3.6"`
	// ShowInfo shows information about the client instead of the preview.
	ShowInfo bool   `flag:"i" since:"3.8"`
	Hide     bool   `flag:"h" since:"3.8"`
	Kill     bool   `flag:"k" since:"3.8"`
	Template string `arg:""`
}

// ChooseBuffer lets the user choose a paste buffer. Its fields are as in [ChooseTree].
type ChooseBuffer struct {
	Target    Target `flag:"t"`
	Format    Format `flag:"F"`
	Filter    Format `flag:"f"`
	KeyFormat Format `flag:"K"`
	Order     string `flag:"O"` // time, name or size
	Reverse   bool   `flag:"r"`
	NoPreview bool   `flag:"N"`
	Zoom      bool   `flag:"Z"`
	NoConfirm bool   `flag:"y" since:"3.6"`
	Kill      bool   `flag:"k" since:"3.8"`
	Template  string `arg:""`
}

// CustomizeMode lets the user browse and change options and key bindings.
type CustomizeMode struct {
	Target    Target `flag:"t"`
	Format    Format `flag:"F"`
	Filter    Format `flag:"f"`
	NoPreview bool   `flag:"N"`
	Zoom      bool   `flag:"Z"`
	NoConfirm bool   `flag:"y" since:"3.6"`
	Kill      bool   `flag:"k" since:"3.8"`
}

// SwitchMode lets the user choose a session or window by typing parts of its name.
type SwitchMode struct {
	_       struct{} `since:"3.8"`
	Target  Target   `flag:"t"`
	Format  Format   `flag:"F"`
	Session bool     `flag:"s"` // choose among the sessions (the default)
	Windows bool     `flag:"w"`
	Zoom    bool     `flag:"Z"`
	Kill    bool     `flag:"k"`
	// Template is the tmux command to run; %% stands for the chosen target.
	Template string `arg:""`
}

func (ChooseTree) commandName() string    { return "choose-tree" }
func (ChooseClient) commandName() string  { return "choose-client" }
func (ChooseBuffer) commandName() string  { return "choose-buffer" }
func (CustomizeMode) commandName() string { return "customize-mode" }
func (SwitchMode) commandName() string    { return "switch-mode" }
