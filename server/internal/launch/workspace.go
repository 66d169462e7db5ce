package launch

import (
	"fmt"
	"strings"
	"time"

	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// Workspace is a workspace to build.
type Workspace struct {
	SessionName string   `json:"session_name"`
	Append      bool     `json:"append,omitempty" desc:"add to the session, if there is one"`
	Directory   string   `json:"directory,omitempty" desc:"absolute path"`
	Windows     []Window `json:"windows"`
	X           int      `json:"x,omitempty" min:"1" desc:"columns"`
	Y           int      `json:"y,omitempty" min:"1" desc:"rows"`
	DryRun      bool     `json:"dry_run,omitempty" desc:"return the plan only"`
}

// Window is a window of a workspace.
type Window struct {
	Name     string `json:"name,omitempty"`
	Layout   string `json:"layout,omitempty" desc:"see select_layout; default: tiled"`
	MainSize Size   `json:"main_size,omitempty"`
	// Focus makes it the session's current window, by default the first window of a new
	// session. Focus of a pane makes it the active pane, by default the first.
	Focus bool   `json:"focus,omitempty" desc:"make it current"`
	Panes []Pane `json:"panes,omitempty"`
}

// Pane is a pane of a window.
type Pane struct {
	Command     string           `json:"command,omitempty" desc:"lines to type"`
	Shell       string           `json:"shell,omitempty" desc:"command line instead of a shell"`
	Directory   string           `json:"directory,omitempty" desc:"may be relative"`
	Title       string           `json:"title,omitempty"`
	Environment params.StringMap `json:"environment,omitempty"`
	Focus       bool             `json:"focus,omitempty"`
}

const (
	// maxWorkspacePanes is how many panes are watched at once, each with its own queries.
	maxWorkspacePanes = 60
	// readyWait is how long a pane's program may take to become ready for its command.
	readyWait = 10 * time.Second
	// quiet is how long the screen of a program other than a shell must be unchanged for
	// the program to count as ready; bareQuiet is the same for a blank screen.
	quiet, bareQuiet = 300 * time.Millisecond, 1500 * time.Millisecond
)

// Check refuses what cannot be built.
func (in Workspace) Check() error {
	if err := target.CheckSessionName("session_name", in.SessionName); err != nil {
		return err
	}
	if len(in.Windows) == 0 {
		return reply.Argument("windows", "must have at least one window")
	}
	n := 0
	for i, w := range in.Windows {
		where := fmt.Sprintf("windows[%d].", i)
		if err := CheckMainSize(where+"main_size", w.Layout, w.MainSize); err != nil {
			return err
		}
		if w.Layout != "" {
			switch panes, err := PanesOfLayout(w.Layout); {
			case err != nil:
				return err
			case panes > 0 && panes != max(1, len(w.Panes)):
				return reply.Argument(where+"layout", "is of %d panes, and the window has %d", panes, max(1, len(w.Panes)))
			}
		}
		for j, p := range w.Panes {
			if strings.IndexByte(p.Command, 0) >= 0 {
				return reply.Argument(fmt.Sprintf("%spanes[%d].command", where, j), "must not have a NUL character")
			}
		}
		if n += max(1, len(w.Panes)); n > maxWorkspacePanes {
			return reply.Argument("windows", "must not have more than %d panes in all", maxWorkspacePanes)
		}
	}
	return nil
}

// Built is a workspace that was built, or its plan.
type Built struct {
	SessionID   tmux.SessionID `json:"session_id"`
	SessionName string         `json:"session_name"`
	Panes       []builtPane    `json:"panes"`
	Plan        []string       `json:"plan" desc:"with dry_run"`
}

type builtPane struct {
	PaneID         tmux.PaneID   `json:"pane_id" tmux:"pane_id"`
	PaneIndex      int           `json:"pane_index" tmux:"pane_index"`
	CurrentCommand *string       `json:"pane_current_command" tmux:"pane_current_command"`
	CurrentPath    *string       `json:"pane_current_path" tmux:"pane_current_path"`
	WindowID       tmux.WindowID `json:"window_id" tmux:"window_id"`
	WindowIndex    int           `json:"window_index" tmux:"window_index"`
	WindowName     string        `json:"window_name" tmux:"window_name"`
	Title          string        `json:"title" desc:"as it was asked for"`
	// Problem says why the command was not typed, or that the program has ended.
	Problem *string `json:"problem" exact:"true"`
}

// View shows the plan, or the windows with their panes.
func (w *Built) View() reply.View {
	if len(w.Plan) > 0 {
		v := reply.View{Lines: w.Plan, Head: true}
		v.Fact("the plan; nothing was built")
		return v
	}
	var v reply.View
	window, windows := tmux.WindowID(""), 0
	v.Head = true
	for _, p := range w.Panes {
		if p.WindowID != window {
			window = p.WindowID
			windows++
			v.Lines = append(v.Lines, reply.Legible(fmt.Sprintf("%s %d %s", window, p.WindowIndex, p.WindowName), ""))
		}
		line := strings.TrimRight(fmt.Sprintf("%s %s in %s %s", p.PaneID, reply.ValueOr(p.CurrentCommand, "-"), reply.ValueOr(p.CurrentPath, "-"), p.Title), " ")
		if p.Problem != nil {
			line += ": " + *p.Problem
		}
		v.Lines = append(v.Lines, reply.Legible(line, ""))
	}
	v.Fact("session %s %s", w.SessionID, reply.Named(w.SessionName, ""))
	v.Fact("%s, %s", reply.Count(windows, "window"), reply.Count(len(w.Panes), "pane"))
	return v
}
