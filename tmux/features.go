package tmux

import (
	"context"
	"fmt"
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

// Features that no flag stands for, or that programs often ask about. See [FeatureOf] for the
// others.
var (
	// FloatingPanes: panes that float above the others.
	FloatingPanes = Feature{Name: "new-pane", Since: Version{Major: 3, Minor: 7}}
	// MirroredLayouts: the layouts main-horizontal-mirrored and main-vertical-mirrored.
	MirroredLayouts = Feature{Name: "mirrored layouts", Since: Version{Major: 3, Minor: 5}}
	// JSONLayouts: layouts are printed and accepted as JSON.
	JSONLayouts = Feature{Name: "layouts in JSON", Since: Version{Major: 3, Minor: 8}}
)

// FeatureOf returns the feature that a field of a command struct stands for or, if field is "",
// the command itself. It panics if there is no such flag. Asking is optional: a
// call that uses what this tmux lacks fails with an [UnsupportedError].
func FeatureOf(cmd Command, field string) Feature {
	plan := planOf(reflect.TypeOf(cmd))
	if field == "" {
		return Feature{Name: cmd.commandName(), Since: plan.since}
	}
	f := plan.flagOf(field)
	if f == nil {
		panic(fmt.Sprintf("tmux: %T has no flag %s", cmd, field))
	}
	return Feature{Name: cmd.commandName() + " -" + f.flag, Since: f.since, Until: f.until}
}

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

var commandsByName = sync.OnceValue(func() map[string]*commandPlan {
	m := make(map[string]*commandPlan, len(commands))
	for _, c := range commands {
		m[c.commandName()] = planOf(reflect.TypeOf(c))
	}
	return m
})
