// Package adapter lets scripts make the same calls of every tmux wrapper. An adapter is a program
// that passes requests on to one wrapper, as JSON messages, one a line. The package has the table
// of the calls ([Verbs]), turns what scripts write into requests ([Parse]), and brings every
// wrapper's answers into one form ([Call.Do]). It runs adapters ([Start]), and is one itself, for
// package tmux ([Library]).
package adapter

// Protocol is the version of the protocol.
const Protocol = 1

// Verb is a method of the protocol.
type Verb struct {
	Name, Doc string
	Params    []Param
	Returns   Returns
	// Extra are the other members that a result of this verb may have.
	Extra []string
	Forms []Form
}

// Param is a parameter of a method.
type Param struct {
	Name, Doc string
	Type      Type
	Optional  bool
	Values    []string // the only ones allowed; any if empty
}

// Type is the JSON type of a parameter.
type Type string

const (
	Text   Type = "string"
	Texts  Type = "array"
	Flag   Type = "boolean"
	Number Type = "integer"
)

// Returns is the content of a method's result.
type Returns int

const (
	Nothing      Returns = iota
	Description          // name, version, protocol
	TextAnswer           // value, lines or base64
	Row                  // row
	Rows                 // rows
	RowOrNothing         // row, or none
)

// Form is a call as scripts write it.
type Form struct {
	Word string
	Args []Arg
	// Sets are parameters that every call of this form sends.
	Sets map[string]any
}

// Arg is an argument of a form. The zero value is one required word that is not empty.
type Arg struct {
	// Name stands for the value in the usage. A flag without a name has no value.
	Name  string
	Param string // empty for the names of fields, which are not sent
	Flag  string
	// Words are the allowed words; any other word belongs to the next argument.
	Words    []string
	Optional bool
	// Rest takes all remaining words: as a list, or joined by spaces if the parameter is a
	// text.
	Rest bool
	// Empty allows the empty text.
	Empty bool
}

var kinds = []string{"panes", "windows", "sessions", "clients", "buffers"}

// target is the argument of forms that ask for one object.
var target = Arg{Name: "ID", Param: "target"}

// Verbs are the methods of the protocol, in the order of the documentation.
var Verbs = []Verb{
	{
		Name: "describe", Doc: "Names the wrapper, its version and the protocol. The first request to a process.",
		Params:  []Param{{Name: "protocol", Type: Number, Doc: "the version of the protocol that the runner speaks"}},
		Returns: Description,
	},
	{
		Name: "open", Doc: "Names the tmux to use. The server need not run yet, and open must not start it.",
		Params: []Param{
			{Name: "tmux", Type: Text, Doc: "path of the tmux program"},
			{Name: "socket", Type: Text, Doc: "path of the server's socket"},
			{Name: "version", Type: Text, Doc: "tmux's version, such as 3.6a"},
		},
	},
	{
		Name: "display", Doc: "Expands a format.",
		Params: []Param{
			{Name: "format", Type: Text, Doc: "in tmux's format language"},
			{Name: "target", Type: Text, Optional: true, Doc: "an object; without one the format is read at the server"},
		},
		Returns: TextAnswer,
		Forms:   []Form{{Word: "display", Args: []Arg{{Name: "ID", Param: "target", Optional: true}, {Name: "FORMAT", Param: "format", Empty: true}}}},
	},
	{
		Name: "get", Doc: "Reads an object: every typed field that the wrapper has for its kind, null where it has no value now.",
		Params:  []Param{{Name: "target", Type: Text, Doc: `an object, or "server"`}},
		Returns: Row,
		Forms: []Form{
			{Word: "info", Sets: map[string]any{"target": "server"}},
			{Word: "show", Args: []Arg{target}},
			{Word: "fields", Args: []Arg{{Name: "NAME", Rest: true}}},
			{Word: "type", Args: []Arg{target, {Name: "NAME"}}},
		},
	},
	{
		Name: "list", Doc: "Lists objects.",
		Params: []Param{
			{Name: "kind", Type: Text, Values: kinds, Doc: "what to list"},
			{Name: "within", Type: Text, Optional: true, Doc: `the session or window whose objects are listed, or "server"; default: the whole server`},
			{Name: "filter", Type: Text, Optional: true, Doc: "a format that tmux evaluates for each object (-f)"},
			{Name: "format", Type: Text, Optional: true, Doc: "a format that tmux expands for each object (-F); the answer is a text then, with these lines"},
		},
		Returns: Rows,
		Forms: []Form{{Word: "list", Args: []Arg{
			{Name: "KIND", Param: "kind"}, {Flag: "-in", Name: "ID", Param: "within"}, {Flag: "-F", Name: "FORMAT", Param: "format"},
			{Name: "FILTER", Param: "filter", Rest: true, Optional: true},
		}}},
	},
	{
		Name: "search", Doc: "Lists the panes whose screen shows a pattern.",
		Params: []Param{
			{Name: "pattern", Type: Text, Doc: "a text; nothing in it is tmux's"},
			{Name: "syntax", Type: Text, Optional: true, Values: []string{"text", "glob", "regexp"}, Doc: "how to read the pattern; default: text"},
			{Name: "ignore_case", Type: Flag, Optional: true, Doc: "whether upper and lower case are the same"},
		},
		Returns: Rows,
		Forms: []Form{{Word: "search", Args: []Arg{
			{Name: "PATTERN", Param: "pattern"},
			{Param: "syntax", Words: []string{"glob", "regexp"}, Optional: true},
			{Param: "ignore_case", Words: []string{"ignore-case"}, Optional: true},
		}}},
	},
	{
		Name: "send_keys", Doc: "Presses keys in a pane, and no key that is not in keys.",
		Params: []Param{
			{Name: "pane", Type: Text, Doc: "a pane"},
			{Name: "keys", Type: Texts, Doc: "names of keys, or texts; may be empty"},
			{Name: "literal", Type: Flag, Optional: true, Doc: "whether keys are texts (-l)"},
			{Name: "reset", Type: Flag, Optional: true, Doc: "whether to reset the terminal (-R)"},
			{Name: "repeat", Type: Number, Optional: true, Doc: "how often to press them (-N)"},
		},
		Forms: []Form{{Word: "send-keys", Args: []Arg{
			{Name: "PANE", Param: "pane"}, {Flag: "-R", Param: "reset"}, {Flag: "-N", Name: "COUNT", Param: "repeat"}, {Flag: "-l", Param: "literal"},
			{Name: "KEY", Param: "keys", Rest: true, Optional: true},
		}}},
	},
	{
		Name: "reset", Doc: "Clears a pane's screen and history, and resets its terminal.",
		Params: []Param{{Name: "pane", Type: Text, Doc: "a pane"}},
		Forms:  []Form{{Word: "reset", Args: []Arg{{Name: "PANE", Param: "pane"}}}},
	},
	{
		Name: "capture", Doc: "Reads the screen of a pane.",
		Params: []Param{
			{Name: "pane", Type: Text, Doc: "a pane"},
			{Name: "pending", Type: Flag, Optional: true, Doc: "whether to read the beginning of an unfinished sequence instead (-P)"},
		},
		Returns: TextAnswer,
		Forms: []Form{
			{Word: "capture", Args: []Arg{{Name: "PANE", Param: "pane"}}},
			{Word: "pending", Args: []Arg{{Name: "PANE", Param: "pane"}}, Sets: map[string]any{"pending": true}},
		},
	},
	{
		Name: "run_shell", Doc: "Runs a shell command where the tmux server is.",
		Params: []Param{
			{Name: "command", Type: Text, Doc: "for the shell"},
			{Name: "dir", Type: Text, Optional: true, Doc: "the working directory (-c)"},
			{Name: "stderr", Type: Flag, Optional: true, Doc: "whether standard error is part of the answer (-E)"},
			{Name: "background", Type: Flag, Optional: true, Doc: "whether to return without waiting for it (-b)"},
			{Name: "delay", Type: Text, Optional: true, Doc: "seconds to wait before it starts, such as 0.1 (-d)"},
			{Name: "commands", Type: Flag, Optional: true, Doc: "whether the command is a list of tmux commands (-C)"},
			{Name: "target", Type: Text, Optional: true, Doc: "the pane that it is about (-t)"},
		},
		Returns: TextAnswer, Extra: []string{"exit_code"},
		Forms: []Form{{Word: "run-shell", Args: []Arg{
			{Flag: "-c", Name: "DIR", Param: "dir"}, {Flag: "-E", Param: "stderr"}, {Flag: "-b", Param: "background"},
			{Flag: "-d", Name: "SECONDS", Param: "delay"}, {Flag: "-C", Param: "commands"}, {Flag: "-t", Name: "PANE", Param: "target"},
			{Name: "COMMAND", Param: "command", Rest: true},
		}}},
	},
	{
		Name: "new_session", Doc: "Creates a detached session.",
		Params:  []Param{{Name: "name", Type: Text, Doc: "its name"}},
		Returns: Row,
		Forms:   []Form{{Word: "new-session", Args: []Arg{{Name: "NAME", Param: "name"}}}},
	},
	{
		Name: "select_window", Doc: "Makes a window its session's current one.",
		Params: []Param{
			{Name: "session", Type: Text, Doc: "a session"},
			{Name: "window", Type: Text, Doc: "the window's index, as a text"},
		},
		Returns: RowOrNothing,
		Forms:   []Form{{Word: "select-window", Args: []Arg{{Name: "SESSION", Param: "session"}, {Name: "INDEX", Param: "window"}}}},
	},
	{
		Name: "last_window", Doc: "Makes the session's previously current window the current one.",
		Params:  []Param{{Name: "session", Type: Text, Doc: "a session"}},
		Returns: RowOrNothing,
		Forms:   []Form{{Word: "last-window", Args: []Arg{{Name: "SESSION", Param: "session"}}}},
	},
	{
		Name: "command", Doc: "Runs a tmux command by the object's own method for it, which adds its target; the server's adds none.",
		Params: []Param{
			{Name: "target", Type: Text, Doc: `an object, or "server"`},
			{Name: "name", Type: Text, Doc: "tmux's name of the command"},
			{Name: "args", Type: Texts, Doc: "its arguments; may be empty"},
		},
		Returns: TextAnswer, Extra: []string{"exit_code", "stderr"},
		Forms: []Form{{Word: "command", Args: []Arg{target, {Name: "NAME", Param: "name"}, {Name: "ARG", Param: "args", Rest: true, Optional: true}}}},
	},
}

// verbOf returns the verb of a name, or nil.
func verbOf(name string) *Verb {
	for i := range Verbs {
		if Verbs[i].Name == name {
			return &Verbs[i]
		}
	}
	return nil
}

// answers returns the content of the verb's result for a request: a list in a format is a text.
func (v *Verb) answers(r Request) Returns {
	if v.Returns == Rows && r.Params["format"] != nil {
		return TextAnswer
	}
	return v.Returns
}

// param returns the parameter of a name; the zero Param if there is none.
func (v *Verb) param(name string) Param {
	for _, p := range v.Params {
		if p.Name == name {
			return p
		}
	}
	return Param{}
}
