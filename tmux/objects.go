package tmux

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"tmuxmcp/tmux/layout"
)

// The rows here have all tokens of tmux's own table, and the tags what tmux does not say of
// them: to tmux a token is text or a time, and which object it belongs to is known to a C
// function only. A field is named after its token, without the scope in front and without
// _flag at the end where that leaves one name to one field. It is plain if every tmux from
// 3.2 on has its token and always a value for it; otherwise it is a pointer, nil for absent.
// Lists are nil for absent and empty for empty. The tag token has what else a [Token] says.
// The tokens since 3.8 were read from a release; development versions called next-3.8 may
// lack them. mcp-conform tokens finds what is missing.
var objectRows = map[Scope]reflect.Type{
	ServerScope:  reflect.TypeFor[ServerInfo](),
	SessionScope: reflect.TypeFor[Session](),
	WindowScope:  reflect.TypeFor[Window](),
	PaneScope:    reflect.TypeFor[Pane](),
	ClientScope:  reflect.TypeFor[Client](),
	BufferScope:  reflect.TypeFor[Buffer](),
}

// tokensWithoutField are ids, which are in the handles and in rows of other scopes too, and
// tokens that no row has.
var tokensWithoutField = []Token{
	{Name: "session_id", Scope: SessionScope, Type: "SessionID"},
	{Name: "window_id", Scope: WindowScope, Type: "WindowID"},
	{Name: "pane_id", Scope: PaneScope, Type: "PaneID"},
	{Name: "client_name", Scope: ClientScope, Type: "string", text: shortText},
	{Name: "buffer_name", Scope: BufferScope, Type: "string"},
	// The whole content, newlines and control bytes as they are, up to the first NUL byte.
	{Name: "buffer_full", Scope: BufferScope, Type: "string", Since: Version{Major: 3, Minor: 6}},
	{Name: "mouse_hyperlink", Scope: MouseScope, Type: "string", Since: Version{Major: 3, Minor: 4}, Nullable: true},
	{Name: "mouse_line", Scope: MouseScope, Type: "string", Nullable: true},
	{Name: "mouse_pane", Scope: MouseScope, Type: "PaneID", Nullable: true},
	{Name: "mouse_status_line", Scope: MouseScope, Type: "int", Since: Version{Major: 3, Minor: 4}, Nullable: true}, // from 0
	// left, right, window, or a name that the style gave the part of the status line.
	{Name: "mouse_status_range", Scope: MouseScope, Type: "string", Since: Version{Major: 3, Minor: 4}, Nullable: true},
	{Name: "mouse_word", Scope: MouseScope, Type: "string", Nullable: true},
	// Column and row in the pane; from tmux 3.3 also on the status line.
	{Name: "mouse_x", Scope: MouseScope, Type: "int", Nullable: true},
	{Name: "mouse_y", Scope: MouseScope, Type: "int", Nullable: true},
}

var textKinds = map[string]textKind{"name": nameText, "short": shortText}

// lastWord returns what follows the last comma.
func lastWord(s string) string { return s[strings.LastIndexByte(s, ',')+1:] }

// tokenTable returns every token of tmux's own table, in ascending order of names.
var tokenTable = sync.OnceValue(func() []Token {
	table := slices.Clone(tokensWithoutField)
	for scope, row := range objectRows {
		for i := range row.NumField() {
			field := row.Field(i)
			name, options, _ := strings.Cut(field.Tag.Get("tmux"), ",")
			if slices.ContainsFunc(tokensWithoutField, func(t Token) bool { return t.Name == name }) {
				continue
			}
			var f rowField
			if err := f.obey(options); err != nil {
				panic(name + ": " + err.Error())
			}
			table = append(table, Token{
				Name: name, Scope: scope, Type: typeName(field.Type),
				Since: f.since, Until: f.until,
				Nullable: strings.Contains(field.Tag.Get("token"), "nullable"),
				Scoped:   strings.Contains(field.Tag.Get("token"), "scoped"),
				text:     textKinds[lastWord(field.Tag.Get("token"))],
			})
		}
	}
	slices.SortFunc(table, func(a, b Token) int { return strings.Compare(a.Name, b.Name) })
	return table
})

// ServerInfo is the state of a tmux server when it was asked.
type ServerInfo struct {
	// The template choose-buffer shows its rows with by default; the same for
	// every buffer.
	BufferModeFormat string `json:"buffer_mode_format" tmux:"buffer_mode_format"`
	// The template choose-client shows its rows with by default; the same for
	// every client.
	ClientModeFormat string `json:"client_mode_format" tmux:"client_mode_format"`
	// The configuration files the server was started with, in order; a comma in a
	// path is indistinguishable from a separator.
	ConfigFiles []string `json:"config_files" tmux:"config_files"`
	// Name of the machine the server runs on.
	Host string `json:"host" tmux:"host" token:"short"`
	// Name of the machine the server runs on, up to its first dot.
	HostShort string `json:"host_short" tmux:"host_short" token:"short"`
	// Whether a loop such as #{W:} is at its last round; always false outside one.
	// Since tmux 3.6. Last in tmux 3.7.
	LoopLast *bool `json:"loop_last_flag" tmux:"loop_last_flag,since=3.6,until=3.7"`
	// The id the next new session will get. Since tmux 3.3.
	NextSessionID *SessionID `json:"next_session_id" tmux:"next_session_id,since=3.3"`
	// Process id of the server.
	PID int `json:"pid" tmux:"pid"`
	// How many sessions there are. Since tmux 3.4.
	SessionCount *int `json:"server_sessions" tmux:"server_sessions,since=3.4"`
	// Whether this tmux was built with sixel images. Since tmux 3.6.
	SixelSupport *bool `json:"sixel_support" tmux:"sixel_support,since=3.6"`
	// The server's socket.
	SocketPath string `json:"socket_path" tmux:"socket_path" token:"short"`
	// When the server started.
	StartTime time.Time `json:"start_time" tmux:"start_time"`
	// The template choose-tree shows its rows with by default.
	TreeModeFormat string `json:"tree_mode_format" tmux:"tree_mode_format"`
	// User id of the server. Since tmux 3.3.
	UID *int `json:"uid" tmux:"uid,since=3.3"`
	// User name of the server, where the system knows one. Since tmux 3.3.
	User *string `json:"user" tmux:"user,since=3.3" token:"nullable,short"`
	// The server's version, as in 3.6a or next-3.8.
	Version string `json:"version" tmux:"version" token:"short"`
}

// Session is a session as it was when tmux was asked: a handle on it, and every
// token of its scope.
type Session struct {
	SessionRef `tmux:"session_id"`

	// Index of the session's current window.
	ActiveWindowIndex int `json:"active_window_index" tmux:"active_window_index"`
	// The highest window index in the session.
	LastWindowIndex int `json:"last_window_index" tmux:"last_window_index"`
	// Whether the client that asks is attached to this session. The clients of
	// this package are attached to none: it is false from tmux 3.8, and has no
	// answer before. Since tmux 3.6.
	Active *bool `json:"session_active" tmux:"session_active,since=3.6" token:"nullable"`
	// When something last happened in the session: a key, an attached client.
	Activity time.Time `json:"session_activity" tmux:"session_activity" token:"scoped"`
	// Whether a window of the session has an activity alert; before tmux 3.8 only
	// the current window counts. Since tmux 3.6.
	ActivityFlag *bool `json:"session_activity_flag" tmux:"session_activity_flag,since=3.6"`
	// A mark for each kind of alert in the session: # activity, ! bell, ~ silence.
	// Since tmux 3.6.
	Alert *string `json:"session_alert" tmux:"session_alert,since=3.6" token:"short"`
	// Windows with alerts, each as its index and marks: # activity, ! bell, ~
	// silence.
	Alerts []string `json:"session_alerts" tmux:"session_alerts" token:"short"`
	// How many clients are attached.
	Attached int `json:"session_attached" tmux:"session_attached"`
	// Names of the clients attached.
	AttachedList []string `json:"session_attached_list" tmux:"session_attached_list" token:"name"`
	// Whether a window of the session has a bell alert; before tmux 3.8 only the
	// first window counts. Since tmux 3.6.
	Bell *bool `json:"session_bell_flag" tmux:"session_bell_flag,since=3.6"`
	// When the session was made.
	Created time.Time `json:"session_created" tmux:"session_created" token:"scoped"`
	// Whether the row is made for a session: true in every row of list-sessions.
	SessionFormat bool `json:"session_format" tmux:"session_format"`
	// Name of the group the session is in, if it is in one.
	Group *string `json:"session_group" tmux:"session_group" token:"nullable,name"`
	// How many clients are attached to the group's sessions.
	GroupAttached *int `json:"session_group_attached" tmux:"session_group_attached" token:"nullable"`
	// Names of the clients attached to the group's sessions.
	GroupAttachedList []string `json:"session_group_attached_list" tmux:"session_group_attached_list" token:"nullable,name"`
	// Names of the group's sessions; a comma in a name is indistinguishable from a
	// separator.
	GroupList []string `json:"session_group_list" tmux:"session_group_list" token:"nullable,name"`
	// Whether more than one client is attached to the group's sessions.
	GroupManyAttached *bool `json:"session_group_many_attached" tmux:"session_group_many_attached" token:"nullable"`
	// How many sessions are in the group.
	GroupSize *int `json:"session_group_size" tmux:"session_group_size" token:"nullable"`
	// Whether the session is in a group.
	Grouped bool `json:"session_grouped" tmux:"session_grouped"`
	// When a client last attached; none if there was never one.
	LastAttached *time.Time `json:"session_last_attached" tmux:"session_last_attached" token:"nullable,scoped"`
	// Whether more than one client is attached.
	ManyAttached bool `json:"session_many_attached" tmux:"session_many_attached"`
	// Whether the marked pane is in this session.
	Marked bool `json:"session_marked" tmux:"session_marked"`
	// The session's name.
	Name string `json:"session_name" tmux:"session_name" token:"name"`
	// The session's default working directory.
	Path string `json:"session_path" tmux:"session_path"`
	// Whether a window of the session has a silence alert; before tmux 3.8 only
	// the current window counts. Since tmux 3.6.
	Silence *bool `json:"session_silence_flag" tmux:"session_silence_flag,since=3.6"`
	// Indexes of the session's windows in the order of their last use: the current
	// one, then the one before.
	Stack []int `json:"session_stack" tmux:"session_stack"`
	// How many windows the session has.
	WindowCount int `json:"session_windows" tmux:"session_windows"`
}

// Window is a window of a session as it was when tmux was asked: a handle on
// it, and every token of its scope. A window that is linked to several sessions
// has a row, an index and flags in each of them.
type Window struct {
	WindowRef `tmux:"window_id"`

	// The session's id.
	SessionID SessionID `json:"session_id" tmux:"session_id"`
	// Whether this is its session's current window.
	Active bool `json:"window_active" tmux:"window_active"`
	// How many clients look at this window.
	ActiveClients int `json:"window_active_clients" tmux:"window_active_clients"`
	// Names of the clients that look at this window.
	ActiveClientsList []string `json:"window_active_clients_list" tmux:"window_active_clients_list" token:"name"`
	// In how many sessions this is the current window.
	ActiveSessions int `json:"window_active_sessions" tmux:"window_active_sessions"`
	// Names of the sessions in which this is the current window; a comma in a name
	// is indistinguishable from a separator.
	ActiveSessionsList []string `json:"window_active_sessions_list" tmux:"window_active_sessions_list" token:"name"`
	// When a program in the window last wrote something.
	Activity time.Time `json:"window_activity" tmux:"window_activity" token:"scoped"`
	// Whether the window has an activity alert.
	ActivityFlag bool `json:"window_activity_flag" tmux:"window_activity_flag"`
	// Whether the window has a bell alert.
	Bell bool `json:"window_bell_flag" tmux:"window_bell_flag"`
	// Height of a character cell in pixels.
	CellHeight int `json:"window_cell_height" tmux:"window_cell_height"`
	// Width of a character cell in pixels.
	CellWidth int `json:"window_cell_width" tmux:"window_cell_width"`
	// Whether the window has its session's highest index.
	End bool `json:"window_end_flag" tmux:"window_end_flag"`
	// Letters for the window's states: * current, - last, # activity, ! bell, ~
	// silence, M marked, Z zoomed; # is doubled for use in a format.
	Flags string `json:"window_flags" tmux:"window_flags" token:"short"`
	// Whether the row is made for a window: true in every row of list-windows.
	WindowFormat bool `json:"window_format" tmux:"window_format"`
	// Height in lines.
	Height int `json:"window_height" tmux:"window_height"`
	// The window's index in its session.
	Index int `json:"window_index" tmux:"window_index"`
	// Whether the window was the session's current one before the present one.
	Last bool `json:"window_last_flag" tmux:"window_last_flag"`
	// The layout, of a zoomed window the one it will go back to; JSON from tmux
	// 3.8. Empty when it is over 8 KB long.
	Layout layout.Layout `json:"window_layout" tmux:"window_layout" token:"short"`
	// Whether the window is in more than one session.
	Linked bool `json:"window_linked" tmux:"window_linked"`
	// How many sessions the window is linked to; from tmux 3.6 a group of sessions
	// counts once.
	LinkedSessions int `json:"window_linked_sessions" tmux:"window_linked_sessions"`
	// Names of the sessions the window is linked to; a comma in a name is
	// indistinguishable from a separator.
	LinkedSessionsList []string `json:"window_linked_sessions_list" tmux:"window_linked_sessions_list" token:"name"`
	// The height set by hand; none unless the option window-size is manual. Since
	// tmux 3.8.
	ManualHeight *int `json:"window_manual_height" tmux:"window_manual_height,since=3.8" token:"nullable"`
	// The width set by hand; none unless the option window-size is manual. Since
	// tmux 3.8.
	ManualWidth *int `json:"window_manual_width" tmux:"window_manual_width,since=3.8" token:"nullable"`
	// Whether the marked pane is in this window.
	Marked bool `json:"window_marked_flag" tmux:"window_marked_flag"`
	// The window's modal pane, if it has one. Since tmux 3.8.
	ModalPane *PaneID `json:"window_modal_pane" tmux:"window_modal_pane,since=3.8" token:"nullable"`
	// The window's name.
	Name string `json:"window_name" tmux:"window_name" token:"name"`
	// How many panes the window has.
	PaneCount int `json:"window_panes" tmux:"window_panes"`
	// Letters for the window's states, as window_flags with nothing doubled.
	RawFlags string `json:"window_raw_flags" tmux:"window_raw_flags" token:"short"`
	// Whether the window has a silence alert.
	Silence bool `json:"window_silence_flag" tmux:"window_silence_flag"`
	// The window's place among its session's windows by last use: 0 for the
	// current one, 1 for the one before.
	StackIndex int `json:"window_stack_index" tmux:"window_stack_index"`
	// Whether the window has its session's lowest index.
	Start bool `json:"window_start_flag" tmux:"window_start_flag"`
	// The layout as it is on the screen, of a zoomed window the zoomed one; JSON
	// from tmux 3.8. Empty when it is over 8 KB long.
	VisibleLayout layout.Layout `json:"window_visible_layout" tmux:"window_visible_layout" token:"short"`
	// Width in columns.
	Width int `json:"window_width" tmux:"window_width"`
	// Whether the window is zoomed on its active pane.
	Zoomed bool `json:"window_zoomed_flag" tmux:"window_zoomed_flag"`
}

// Pane is a pane as it was when tmux was asked: a handle on it, and every token
// of its scope.
type Pane struct {
	PaneRef `tmux:"pane_id"`

	// The window's id.
	WindowID WindowID `json:"window_id" tmux:"window_id"`
	// The session's id.
	SessionID SessionID `json:"session_id" tmux:"session_id"`
	// Whether the program has switched to the alternate screen.
	AlternateOn bool `json:"alternate_on" tmux:"alternate_on"`
	// Cursor column saved when the alternate screen was entered; 4294967295 when
	// there is none saved.
	AlternateSavedX int64 `json:"alternate_saved_x" tmux:"alternate_saved_x"`
	// Cursor row saved when the alternate screen was entered; 4294967295 when
	// there is none saved.
	AlternateSavedY int64 `json:"alternate_saved_y" tmux:"alternate_saved_y"`
	// Whether the program asked for pasted text to be bracketed. Since tmux 3.7.
	BracketPaste *bool `json:"bracket_paste_flag" tmux:"bracket_paste_flag,since=3.7"`
	// Whether the cursor blinks. Since tmux 3.6.
	CursorBlinking *bool `json:"cursor_blinking" tmux:"cursor_blinking,since=3.6"`
	// The character under the cursor; none on the right half of a wide one.
	CursorCharacter *string `json:"cursor_character" tmux:"cursor_character" token:"nullable,short"`
	// The cursor's colour, none for the terminal's own. Since tmux 3.6.
	CursorColour *string `json:"cursor_colour" tmux:"cursor_colour,since=3.6" token:"short"`
	// Whether the cursor is shown.
	CursorVisible bool `json:"cursor_flag" tmux:"cursor_flag"`
	// Shape of the cursor: block, underline, bar or default. Since tmux 3.6.
	CursorShape *string `json:"cursor_shape" tmux:"cursor_shape,since=3.6" token:"short"`
	// Whether the program asked for the very visible cursor. Since tmux 3.6.
	CursorVeryVisible *bool `json:"cursor_very_visible" tmux:"cursor_very_visible,since=3.6"`
	// Column of the program's cursor, from 0; copy mode has a cursor of its own.
	CursorX int `json:"cursor_x" tmux:"cursor_x"`
	// Row of the program's cursor on the screen, from 0; copy mode has a cursor of
	// its own.
	CursorY int `json:"cursor_y" tmux:"cursor_y"`
	// Lines scrolled into the history so far, those since dropped included. Since
	// tmux 3.8.
	HistoryAdded *int64 `json:"history_added" tmux:"history_added,since=3.8"`
	// Lines of history and screen and their bytes, cells and their bytes, extended
	// cells and their bytes: six numbers.
	HistoryAllBytes []int64 `json:"history_all_bytes" tmux:"history_all_bytes"`
	// Bytes of memory the history and the screen take.
	HistoryBytes int64 `json:"history_bytes" tmux:"history_bytes"`
	// Oldest lines dropped from the history so far because it was full. Since tmux
	// 3.8.
	HistoryCollected *int64 `json:"history_collected" tmux:"history_collected,since=3.8"`
	// A number that changes when the history is cleared or wrapped anew, which
	// makes line numbers taken before useless. Since tmux 3.8.
	HistoryGeneration *int64 `json:"history_generation" tmux:"history_generation,since=3.8"`
	// How many lines the history can hold.
	HistoryLimit int `json:"history_limit" tmux:"history_limit"`
	// How many lines are in the history.
	HistorySize int `json:"history_size" tmux:"history_size"`
	// Whether the program switched to inserting rather than overwriting.
	Insert bool `json:"insert_flag" tmux:"insert_flag"`
	// Whether cursor keys send their application codes.
	KeypadCursor bool `json:"keypad_cursor_flag" tmux:"keypad_cursor_flag"`
	// Whether the keypad sends its application codes.
	Keypad bool `json:"keypad_flag" tmux:"keypad_flag"`
	// Whether the program asked for every movement of the mouse.
	MouseAll bool `json:"mouse_all_flag" tmux:"mouse_all_flag"`
	// Whether the program asked for mouse events of any kind.
	MouseAny bool `json:"mouse_any_flag" tmux:"mouse_any_flag"`
	// Whether the program asked for mouse movement with a button held.
	MouseButton bool `json:"mouse_button_flag" tmux:"mouse_button_flag"`
	// Whether the program asked for mouse events in SGR coding.
	MouseSGR bool `json:"mouse_sgr_flag" tmux:"mouse_sgr_flag"`
	// Whether the program asked for mouse clicks only.
	MouseStandard bool `json:"mouse_standard_flag" tmux:"mouse_standard_flag"`
	// Whether the program asked for mouse events in UTF-8 coding.
	MouseUTF8 bool `json:"mouse_utf8_flag" tmux:"mouse_utf8_flag"`
	// Whether cursor positions count from the scroll region's top.
	Origin bool `json:"origin_flag" tmux:"origin_flag"`
	// Whether this is its window's active pane.
	Active bool `json:"pane_active" tmux:"pane_active"`
	// Whether the pane touches the window's lower edge.
	AtBottom bool `json:"pane_at_bottom" tmux:"pane_at_bottom"`
	// Whether the pane touches the window's left edge.
	AtLeft bool `json:"pane_at_left" tmux:"pane_at_left"`
	// Whether the pane touches the window's right edge.
	AtRight bool `json:"pane_at_right" tmux:"pane_at_right"`
	// Whether the pane touches the window's upper edge.
	AtTop bool `json:"pane_at_top" tmux:"pane_at_top"`
	// The pane's default background colour, default for the terminal's own.
	Bg string `json:"pane_bg" tmux:"pane_bg" token:"scoped,short"`
	// Row of the window the pane's last line is on, from 0.
	Bottom int `json:"pane_bottom" tmux:"pane_bottom"`
	// Seconds the shell's last command took, or has taken so far; needs a shell
	// that marks its prompts. Since tmux 3.8.
	CommandDuration *int `json:"pane_command_duration" tmux:"pane_command_duration,since=3.8" token:"nullable"`
	// When the shell's last command ended; needs a shell that marks its prompts.
	// Since tmux 3.8.
	CommandEndTime *time.Time `json:"pane_command_end_time" tmux:"pane_command_end_time,since=3.8" token:"nullable"`
	// Whether the shell is running a command; always false for a shell that does
	// not mark its prompts. Since tmux 3.8.
	CommandRunning *bool `json:"pane_command_running" tmux:"pane_command_running,since=3.8"`
	// When the shell's last command began; needs a shell that marks its prompts.
	// Since tmux 3.8.
	CommandStartTime *time.Time `json:"pane_command_start_time" tmux:"pane_command_start_time,since=3.8" token:"nullable"`
	// Exit status of the shell's last command; needs a shell that marks its
	// prompts. Since tmux 3.8.
	CommandStatus *int `json:"pane_command_status" tmux:"pane_command_status,since=3.8" token:"nullable"`
	// Name of the program in the foreground of the pane; once it has ended, of the
	// command the pane was started with.
	CurrentCommand string `json:"pane_current_command" tmux:"pane_current_command" token:"name"`
	// Working directory of the program in the foreground; unknown when it has
	// ended.
	CurrentPath *string `json:"pane_current_path" tmux:"pane_current_path" token:"nullable,short"`
	// Whether the pane's program has ended; before tmux 3.7 also true of a pane
	// that never had one.
	Dead bool `json:"pane_dead" tmux:"pane_dead"`
	// The signal that ended the program of a dead pane: its number or its name
	// without SIG, as the system names it. Since tmux 3.3.
	DeadSignal *string `json:"pane_dead_signal" tmux:"pane_dead_signal,since=3.3" token:"nullable,short"`
	// Exit status of the program of a dead pane, unless a signal ended it. tmux
	// may know it a moment later than that the pane is dead.
	DeadStatus *int `json:"pane_dead_status" tmux:"pane_dead_status" token:"nullable"`
	// When the program of a dead pane ended. Since tmux 3.3.
	DeadTime *time.Time `json:"pane_dead_time" tmux:"pane_dead_time,since=3.3" token:"nullable"`
	// The pane's default foreground colour, default for the terminal's own.
	Fg string `json:"pane_fg" tmux:"pane_fg" token:"scoped,short"`
	// Letters for the pane's states: * active, - last, Z zoomed, F floating and
	// others. Since tmux 3.7.
	Flags *string `json:"pane_flags" tmux:"pane_flags,since=3.7" token:"short"`
	// Whether the pane floats above the layout. Since tmux 3.7.
	Floating *bool `json:"pane_floating_flag" tmux:"pane_floating_flag,since=3.7"`
	// Whether the row is made for a pane: true in every row of list-panes.
	PaneFormat bool `json:"pane_format" tmux:"pane_format"`
	// Height in lines.
	Height int `json:"pane_height" tmux:"pane_height"`
	// How many modes such as copy mode are stacked on the pane, 0 for none.
	InMode int `json:"pane_in_mode" tmux:"pane_in_mode"`
	// The pane's place in its window, counted from the option pane-base-index.
	Index int `json:"pane_index" tmux:"pane_index"`
	// Whether keys are kept from the program.
	InputOff bool `json:"pane_input_off" tmux:"pane_input_off"`
	// How modified keys are sent to the program: VT10x, Ext 1 or Ext 2. Since tmux
	// 3.5.
	KeyMode *string `json:"pane_key_mode" tmux:"pane_key_mode,since=3.5" token:"short"`
	// Whether the pane was the active one before the present one.
	Last bool `json:"pane_last" tmux:"pane_last"`
	// When the program last wrote something. Since tmux 3.8.
	LastOutputTime *time.Time `json:"pane_last_output_time" tmux:"pane_last_output_time,since=3.8" token:"nullable"`
	// When the shell last showed its prompt; needs a shell that marks its prompts.
	// Since tmux 3.8.
	LastPromptTime *time.Time `json:"pane_last_prompt_time" tmux:"pane_last_prompt_time,since=3.8" token:"nullable"`
	// Column of the window the pane begins at, from 0; a floating pane can be left
	// of it.
	Left int `json:"pane_left" tmux:"pane_left"`
	// Whether this is the marked pane.
	Marked bool `json:"pane_marked" tmux:"pane_marked"`
	// Whether there is a marked pane at all.
	MarkedSet bool `json:"pane_marked_set" tmux:"pane_marked_set"`
	// Whether the pane is its window's modal one, which takes all the keys. Since
	// tmux 3.8.
	Modal *bool `json:"pane_modal_flag" tmux:"pane_modal_flag,since=3.8"`
	// The mode on top: copy-mode, view-mode, tree-mode and others; none when the
	// pane is in no mode.
	Mode *string `json:"pane_mode" tmux:"pane_mode" token:"nullable,short"`
	// A number that grows whenever the program's output is processed. Since tmux
	// 3.8.
	OutputGeneration *int64 `json:"pane_output_generation" tmux:"pane_output_generation,since=3.8"`
	// What the program reported as its path by OSC 7: free text, usually a file
	// URL.
	Path *string `json:"pane_path" tmux:"pane_path" token:"nullable"`
	// Progress the program reported by OSC 9;4, in percent. Since tmux 3.7.
	Progress *int `json:"pane_pb_progress" tmux:"pane_pb_progress,since=3.7"`
	// State of the progress bar the program reported by OSC 9;4: hidden, normal,
	// error, indeterminate or paused. Since tmux 3.7.
	ProgressState *string `json:"pane_pb_state" tmux:"pane_pb_state,since=3.7" token:"short"`
	// Process id of the program the pane was started with. Without one: absent
	// from tmux 3.8, before that the last one's id, or 0 if there never was one.
	PID *int `json:"pane_pid" tmux:"pane_pid" token:"nullable"`
	// Whether pipe-pane is at work on the pane.
	Piped bool `json:"pane_pipe" tmux:"pane_pipe"`
	// Process id of pipe-pane's command. Since tmux 3.7.
	PipePID *int `json:"pane_pipe_pid" tmux:"pane_pipe_pid,since=3.7" token:"nullable"`
	// Numbers of the DEC private modes that are set. Since tmux 3.8.
	PrivateModes []int `json:"pane_private_modes" tmux:"pane_private_modes,since=3.8"`
	// Column of the window the pane ends at, from 0.
	Right int `json:"pane_right" tmux:"pane_right"`
	// What was last searched for in copy mode.
	SearchString *string `json:"pane_search_string" tmux:"pane_search_string" token:"nullable"`
	// The command the pane was started with, quoted as tmux reads it, for
	// [Server.Source] and not for Command of [RespawnPane]; none for the default
	// shell.
	StartCommand *string `json:"pane_start_command" tmux:"pane_start_command" token:"nullable"`
	// The command the pane was started with, its words quoted for a shell; none
	// for the default shell. Since tmux 3.8.
	StartCommandList *string `json:"pane_start_command_list" tmux:"pane_start_command_list,since=3.8" token:"nullable"`
	// The directory the pane was started in. Since tmux 3.3.
	StartPath *string `json:"pane_start_path" tmux:"pane_start_path,since=3.3" token:"nullable"`
	// Whether keys are sent to this pane and its neighbours alike.
	Synchronized bool `json:"pane_synchronized" tmux:"pane_synchronized"`
	// The columns with a tab stop, from 0.
	Tabs []int `json:"pane_tabs" tmux:"pane_tabs"`
	// The pane's title.
	Title string `json:"pane_title" tmux:"pane_title"`
	// Row of the window the pane begins at, from 0; a floating pane can be above
	// it.
	Top int `json:"pane_top" tmux:"pane_top"`
	// The pane's terminal device; a pane without a program has none.
	TTY *string `json:"pane_tty" tmux:"pane_tty" token:"nullable,short"`
	// Whether the program wrote something while the pane was in a mode. Since tmux
	// 3.4.
	UnseenChanges *bool `json:"pane_unseen_changes" tmux:"pane_unseen_changes,since=3.4"`
	// Height in lines the pane has in the layout, zoomed or not. Since tmux 3.8.
	UnzoomedHeight *int `json:"pane_unzoomed_height" tmux:"pane_unzoomed_height,since=3.8" token:"nullable"`
	// Width in columns the pane has in the layout, zoomed or not. Since tmux 3.8.
	UnzoomedWidth *int `json:"pane_unzoomed_width" tmux:"pane_unzoomed_width,since=3.8" token:"nullable"`
	// Width in columns.
	Width int `json:"pane_width" tmux:"pane_width"`
	// Column of the window the pane begins at, as pane_left. Since tmux 3.7.
	X *int `json:"pane_x" tmux:"pane_x,since=3.7"`
	// Row of the window the pane begins at, as pane_top. Since tmux 3.7.
	Y *int `json:"pane_y" tmux:"pane_y,since=3.7"`
	// Place in the stack of panes, 0 for the floating pane on top; the panes of
	// the layout share the last place. Since tmux 3.7.
	Z *int `json:"pane_z" tmux:"pane_z,since=3.7"`
	// Whether this is the pane its window is zoomed on. Since tmux 3.7.
	Zoomed *bool `json:"pane_zoomed_flag" tmux:"pane_zoomed_flag,since=3.7"`
	// Last row of the scroll region, from 0.
	ScrollRegionLower int `json:"scroll_region_lower" tmux:"scroll_region_lower"`
	// First row of the scroll region, from 0.
	ScrollRegionUpper int `json:"scroll_region_upper" tmux:"scroll_region_upper"`
	// Whether the program is holding back the screen's update. Since tmux 3.7.
	SynchronizedOutput *bool `json:"synchronized_output_flag" tmux:"synchronized_output_flag,since=3.7"`
	// Whether text wraps at the right edge.
	Wrap bool `json:"wrap_flag" tmux:"wrap_flag"`
}

// Client is a client that is attached to a session, as it was when tmux was
// asked: a handle on it, and every token of its scope.
type Client struct {
	ClientRef `tmux:"client_name"`

	// When the client last sent a key or used the mouse, or attached.
	Activity time.Time `json:"client_activity" tmux:"client_activity" token:"scoped"`
	// Height of a character cell of the client's terminal in pixels, 0 if the
	// terminal does not report it; none for a control client, which has no
	// terminal.
	CellHeight *int `json:"client_cell_height" tmux:"client_cell_height" token:"nullable"`
	// Width of a character cell of the client's terminal in pixels, 0 if the
	// terminal does not report it; none for a control client, which has no
	// terminal.
	CellWidth *int `json:"client_cell_width" tmux:"client_cell_width" token:"nullable"`
	// How many colours the client's terminal has, 16777216 for full RGB; a control
	// client has none. Since tmux 3.8.
	Colours *int `json:"client_colours" tmux:"client_colours,since=3.8" token:"nullable"`
	// Whether this is a control mode client.
	ControlMode bool `json:"client_control_mode" tmux:"client_control_mode"`
	// When the client attached.
	Created time.Time `json:"client_created" tmux:"client_created" token:"scoped"`
	// Bytes tmux threw away because the client did not read fast enough.
	Discarded int64 `json:"client_discarded" tmux:"client_discarded"`
	// The client's flags, such as attached, focused, control-mode, ignore-size and
	// UTF-8.
	Flags []string `json:"client_flags" tmux:"client_flags" token:"short"`
	// Height of the client's terminal in lines; a control client has no terminal
	// and none.
	Height *int `json:"client_height" tmux:"client_height" token:"nullable"`
	// The key table the client's next key is looked up in.
	KeyTable string `json:"client_key_table" tmux:"client_key_table" token:"name"`
	// Name of the session the client showed before this one, if there was one and
	// it still lives.
	LastSession *string `json:"client_last_session" tmux:"client_last_session" token:"nullable,name"`
	// Process id of the client.
	PID int `json:"client_pid" tmux:"client_pid"`
	// Whether the client is in another key table than its usual one, as after the
	// prefix key.
	Prefix bool `json:"client_prefix" tmux:"client_prefix"`
	// Whether the client is attached read-only.
	Readonly bool `json:"client_readonly" tmux:"client_readonly"`
	// Name of the session the client is attached to.
	Session string `json:"client_session" tmux:"client_session" token:"name"`
	// Features tmux uses of the client's terminal, such as RGB, clipboard and
	// title.
	Termfeatures []string `json:"client_termfeatures" tmux:"client_termfeatures" token:"short"`
	// The client's TERM.
	Termname string `json:"client_termname" tmux:"client_termname"`
	// What the client's terminal says it is, once it has answered.
	Termtype *string `json:"client_termtype" tmux:"client_termtype" token:"nullable"`
	// dark or light, once the client's terminal has reported it. Since tmux 3.6.
	Theme *string `json:"client_theme" tmux:"client_theme,since=3.6" token:"nullable,short"`
	// The client's terminal device; a control client has none.
	TTY *string `json:"client_tty" tmux:"client_tty" token:"nullable,short"`
	// User id of the client's process, where the system reports it. Since tmux
	// 3.3.
	UID *int `json:"client_uid" tmux:"client_uid,since=3.3" token:"nullable"`
	// User name of the client's process, where the system reports it. Since tmux
	// 3.3.
	User *string `json:"client_user" tmux:"client_user,since=3.3" token:"nullable,short"`
	// Whether the client takes UTF-8.
	UTF8 bool `json:"client_utf8" tmux:"client_utf8"`
	// Width of the client's terminal in columns.
	Width int `json:"client_width" tmux:"client_width"`
	// Bytes written to the client.
	Written int64 `json:"client_written" tmux:"client_written"`
	// Whether the window is bigger than the client's terminal, which then shows a
	// part of it.
	WindowBigger bool `json:"window_bigger" tmux:"window_bigger"`
	// First column of the window that the client shows; none when the whole window
	// fits.
	WindowOffsetX *int `json:"window_offset_x" tmux:"window_offset_x" token:"nullable"`
	// First line of the window that the client shows; none when the whole window
	// fits.
	WindowOffsetY *int `json:"window_offset_y" tmux:"window_offset_y" token:"nullable"`
}

// Buffer is a paste buffer as it was when tmux was asked: a handle on it, and
// the tokens of its scope but buffer_full, which is the whole content in the
// middle of the row, up to the first NUL byte.
type Buffer struct {
	BufferRef `tmux:"buffer_name"`

	// When the buffer was made.
	Created time.Time `json:"buffer_created" tmux:"buffer_created" token:"scoped"`
	// The start of the content, with control bytes escaped.
	Sample string `json:"buffer_sample" tmux:"buffer_sample"`
	// Length of the content in bytes.
	Size int64 `json:"buffer_size" tmux:"buffer_size"`
}

// typeName returns the name of a field's type as Type of [Token] has it. A layout is a text.
func typeName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[layout.Layout]() {
		return "string"
	}
	return strings.TrimPrefix(t.String(), "tmux.")
}
