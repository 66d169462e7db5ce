package tmux

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
