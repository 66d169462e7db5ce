package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

var clearPane = tool.New(tool.Decl{
	Name: "clear_pane", Title: "Clear Pane", Kind: tool.Empties, Set: tool.Panes,
	Aim: target.Need(target.Pane), Harm: guard.Disturbs,
	Desc: "Clear a pane: reset its terminal and discard its screen and scrollback. A shell keeps its prompt and line; other programs do not redraw.",
}, func(ctx context.Context, c tool.Call, in target.OfPane) (reply.PaneText, error) {
	pane, err := prompt.Clear(ctx, c.Tmux, c.On.Target)
	return reply.PaneText{Result: reply.Say("Pane cleared: %s", pane), PaneID: string(pane)}, err
})

// onPane runs commands and returns which pane their target is.
func onPane(ctx context.Context, c tool.Call, at tmux.Target, cmds ...tmux.Command) (string, error) {
	var b tmux.Batch
	id := tmux.AddMessage(&b, tmux.DisplayMessage{Target: at, Message: "#{pane_id}"})
	for _, cmd := range cmds {
		tmux.Add(&b, cmd)
	}
	err := b.Do(ctx, c.Tmux)
	return *id, err
}

func pipePane(st *launch.Starter) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "pipe_pane", Title: "Pipe Pane", Kind: tool.Shell, Set: tool.Panes,
		Aim: target.Need(target.Pane), Harm: guard.Disturbs,
		Hint: "log output to a file",
		Desc: "Log all further output of a pane to a file, escape sequences included. A pane has one pipe: a new one " +
			"replaces the old. To read output use capture_since.",
	}, func(ctx context.Context, c tool.Call, in pipePaneIn) (t reply.PaneText, err error) {
		cmd := tmux.PipePane{Target: c.On.Target}
		what := reply.Words("Pipe stopped")
		if in.OutputPath != nil {
			path, err := outputFile(st.Path, *in.OutputPath)
			if err != nil {
				return t, err
			}
			redirect := ">>"
			if !in.Append {
				redirect = ">"
			}
			cmd.Command = "exec cat " + redirect + tmux.ShellQuote(path)
			what = reply.Say("Piping to %s", path)
		}
		id, err := onPane(ctx, c, cmd.Target, cmd)
		return reply.PaneText{Result: reply.Say("%s (pane %s)", what, id), PaneID: id}, err
	})
}

type pipePaneIn struct {
	OutputPath *string `json:"output_path,omitempty" desc:"file to write to; default: stop logging"`
	Append     bool    `json:"append" default:"true" desc:"false: empty the file first"`
	target.SelectPane
	target.OnSocket
}

func (in pipePaneIn) Check(l tool.Limits) error {
	if in.OutputPath == nil {
		return nil
	}
	_, err := outputFile(l.Path, *in.OutputPath)
	return err
}

// outputFile returns the absolute path of a file to write to. It checks the file
// because the shell that tmux starts fails silently.
func outputFile(path launch.PathTo, given string) (string, error) {
	refused := func(why string) (string, error) {
		return "", reply.Argument("output_path", "must be a file that can be written: %s", why)
	}
	if strings.TrimSpace(given) == "" {
		return refused("it is blank")
	}
	if strings.ContainsRune(given, 0) {
		return refused("it has a NUL byte")
	}
	file, err := path(given)
	if err != nil {
		return "", err
	}
	writable := file
	switch info, err := os.Stat(file); {
	case err == nil && info.IsDir() || strings.HasSuffix(given, "/"):
		return refused(file + " is a directory")
	case os.IsNotExist(err):
		writable = filepath.Dir(file)
	case err != nil:
		return refused(err.Error())
	}
	if err := unix.Access(writable, unix.W_OK); err != nil {
		return refused(writable + ": " + err.Error())
	}
	return file, nil
}

var enterCopyMode = tool.New(tool.Decl{
	Name: "enter_copy_mode", Title: "Enter Copy Mode", Kind: tool.Creates, Set: tool.Panes,
	Aim: target.Need(target.Pane), Harm: guard.Disturbs,
	Desc: "Put a pane into copy mode, scrolled up, to show its scrollback to a user. Keys go to the mode until exit_copy_mode. To read scrollback " +
		"yourself use capture_pane.",
}, func(ctx context.Context, c tool.Call, in enterCopyModeIn) (*rows.Pane, error) {
	at := c.On.Target
	cmds := []tmux.Command{tmux.CopyMode{Target: at}}
	if in.ScrollUp > 0 {
		cmds = append(cmds, tmux.SendKeys{Target: at, Command: true, Repeat: in.ScrollUp, Keys: []string{"scroll-up"}})
	}
	return rows.Find[rows.Pane](ctx, c.Source, c.On.Selection, cmds...)
})

type enterCopyModeIn struct {
	target.SelectPane
	ScrollUp int `json:"scroll_up,omitempty" min:"0" desc:"lines"`
	target.OnSocket
}

var exitCopyMode = tool.New(tool.Decl{
	Name: "exit_copy_mode", Title: "Exit Copy Mode", Kind: tool.Changes, Set: tool.Panes,
	Aim: target.Need(target.Pane), Harm: guard.Disturbs,
	Desc: "Leave copy mode, or any other mode, so that the pane takes keys again. No-op if the pane is in no mode.",
}, func(ctx context.Context, c tool.Call, in target.OfPane) (*rows.Pane, error) {
	return rows.Find[rows.Pane](ctx, c.Source, c.On.Selection, tmux.CopyMode{Target: c.On.Target, Cancel: true})
})
