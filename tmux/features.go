package tmux

import (
	"context"
	"reflect"
	"sync"
)

// Feature is something that not every supported tmux can do. See [Server.Supports].
type Feature struct {
	// Name is tmux's name for it, or a few words.
	Name string
	// Since and Until are the first and last releases that have it; zero means no bound.
	Since, Until Version
}

// Features that programs ask about. All others are declared by the tags of command fields;
// using one that this tmux lacks fails with an [UnsupportedError].
var (
	// FloatingPanes: panes that float above the others.
	FloatingPanes = Feature{Name: "new-pane", Since: Version{Major: 3, Minor: 7}}
	// UsedCells: capture-pane can leave out cells that were never written to.
	UsedCells = Feature{Name: "capture-pane -T", Since: Version{Major: 3, Minor: 4}}
	// LiveMessages: panes are drawn while a message is shown.
	LiveMessages = Feature{Name: "display-message -C", Since: Version{Major: 3, Minor: 6}}
	// MirroredLayouts: the layouts main-horizontal-mirrored and main-vertical-mirrored.
	MirroredLayouts = Feature{Name: "mirrored layouts", Since: Version{Major: 3, Minor: 5}}
	// KeyModes: tmux tells whether the program in a pane has enabled extended keys.
	KeyModes = Feature{Name: "key modes of panes", Since: Version{Major: 3, Minor: 5}}
	// SessionSizes: the first window of a detached session has the requested size. Before,
	// it has that of a client attached to another session, if there is one, and in 3.2
	// always 80x23.
	SessionSizes = Feature{Name: "sizes of detached sessions", Since: Version{Major: 3, Minor: 6}}
	// JSONLayouts: layouts are printed and accepted as JSON.
	JSONLayouts = Feature{Name: "layouts in JSON", Since: Version{Major: 3, Minor: 8}}
)

// Supports reports whether the running server has a feature or, if none is running, the
// tmux program.
func (s *Server) Supports(ctx context.Context, f Feature) (bool, error) {
	v, err := s.Version(ctx)
	return err == nil && f.In(v), err
}

// In reports whether a tmux of version v has the feature.
func (f Feature) In(v Version) bool { return Token{Since: f.Since, Until: f.Until}.In(v) }

// commands are the command structs of this package.
var commands = []Command{
	AttachSession{}, BindKey{}, BreakPane{}, CapturePane{}, ChooseBuffer{}, ChooseClient{}, ChooseTree{},
	ClearHistory{}, ClearPromptHistory{}, ClockMode{}, CommandPrompt{}, ConfirmBefore{}, CopyMode{},
	CustomizeMode{}, DeleteBuffer{}, DetachClient{}, DisplayMenu{}, DisplayMessage{}, DisplayPanes{},
	DisplayPopup{}, FindWindow{}, HasSession{}, IfShell{}, JoinPane{}, KillPane{}, KillServer{}, KillSession{},
	KillWindow{}, LastPane{}, LastWindow{}, LinkWindow{}, ListBuffers{}, ListClients{}, ListCommands{}, ListKeys{},
	ListPanes{}, ListSessions{}, ListWindows{}, LoadBuffer{}, LockClient{}, LockServer{}, LockSession{},
	MovePane{}, MoveWindow{}, NewPane{}, NewSession{}, NewWindow{}, NextLayout{}, NextWindow{}, PasteBuffer{},
	PipePane{}, PreviousLayout{}, PreviousWindow{}, RefreshClient{}, RenameSession{}, RenameWindow{}, ResizePane{},
	ResizeWindow{}, RespawnPane{}, RespawnWindow{}, RotateWindow{}, RunShell{}, SaveBuffer{}, SelectLayout{},
	SelectPane{}, SelectWindow{}, SendKeys{}, SendPrefix{}, ServerAccess{}, SetBuffer{}, SetEnvironment{},
	SetHook{}, SetOption{}, ShowBuffer{}, ShowEnvironment{}, ShowHooks{}, ShowMessages{}, ShowOptions{},
	ShowPromptHistory{}, SourceFile{}, SplitWindow{}, StartServer{}, SuspendClient{}, SwapPane{}, SwapWindow{},
	SwitchClient{}, SwitchMode{}, UnbindKey{}, UnlinkWindow{}, WaitFor{},
}

// commandsByName returns the plans of commands by name.
var commandsByName = sync.OnceValue(func() map[string]*commandPlan {
	m := make(map[string]*commandPlan, len(commands))
	for _, c := range commands {
		m[c.CommandName()] = planOf(reflect.TypeOf(c))
	}
	return m
})
