// Package launch starts programs in new panes, and builds workspaces.
package launch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// Starter starts programs in new panes.
type Starter struct {
	// StartWait, EndWait and ReadyWait are the constants of these names, except in tests.
	StartWait, EndWait, ReadyWait time.Duration

	env []string
}

// New returns a starter. HOME in env, a list of NAME=VALUE, is what ~ stands for.
func New(env []string) *Starter {
	return &Starter{StartWait: startWait, EndWait: endWait, ReadyWait: readyWait, env: env}
}

const (
	// startWait is how long to wait until the program of a new pane runs, and endWait how
	// long it may take to end at once, if it is not an interactive shell.
	startWait = 500 * time.Millisecond
	endWait   = 100 * time.Millisecond
)

// Started completes the row of a newly created pane, and notes if its program has ended at
// once.
func (s *Starter) Started(ctx context.Context, srv *tmux.Server, p *rows.Pane, command string) error {
	ended, _, err := s.ended(ctx, srv, p, command)
	if ended != "" {
		reply.Note(ctx, "%s", ended)
	}
	return err
}

// Fleeting is part of the row of a new session.
type Fleeting struct {
	// Unattached is the option destroy-unattached: before tmux 3.4 a flag.
	Unattached string `tmux:"destroy-unattached"`
}

// why returns why tmux ends the session as soon as nobody is attached to it, or "".
func (f Fleeting) why() string {
	switch f.Unattached {
	case "", "0", "off":
		return ""
	case "1":
		f.Unattached = "on"
	}
	return "no client is attached to it, and the option destroy-unattached is " + f.Unattached
}

// StartedSession does what Started does for the pane of a new session. It fails if that is
// gone.
func (s *Starter) StartedSession(ctx context.Context, srv *tmux.Server, session *rows.Session, p *rows.Pane, f Fleeting) error {
	ended, gone, err := s.ended(ctx, srv, p, "")
	if err != nil || ended == "" && f.why() == "" {
		return err
	}
	tries := 1 // a hook may have made another pane
	if f.why() != "" {
		tries = 10 // tmux ends such a session when it loses a client, which it notices later
	}
	for ; tries > 0 && (gone || f.why() != ""); tries-- {
		left, err := tmux.List[target.IDs](ctx, srv, tmux.ListSessions{Filter: tmux.MatchEqual("session_id", string(session.SessionID))})
		switch {
		case screen.IsServerGone(err) || err == nil && len(left) == 0:
			return endedSession(session.SessionName, f.why())
		case err != nil:
			return err
		}
		if tries > 1 {
			if err := pause.For(ctx, 10*time.Millisecond); err != nil {
				return err
			}
		}
	}
	if ended != "" {
		reply.Note(ctx, "%s", ended)
	}
	return nil
}

// endedSession returns the fault for a session that did not last.
func endedSession(name, why string) *reply.Fault {
	if why == "" {
		return reply.Faultf(reply.KindPaneGone, "session %s ended at once: its program exited", reply.Named(name, "")).
			Suggest("tmux's options default-command and default-shell say what it was: correct them in the configuration")
	}
	return reply.Faultf(reply.KindPaneGone, "session %s ended at once: %s", reply.Named(name, ""), why).
		Suggest("turn that option off, with set_option while there is a session or in tmux's configuration")
}

// ended completes the row of a newly created pane. For 1 or 2 ms, until the program runs,
// tmux reports its own forked copy, or nothing. If the command ends at once, as a misspelt
// one does, ended says so; the pane may then be gone.
func (s *Starter) ended(ctx context.Context, srv *tmux.Server, p *rows.Pane, command string) (ended reply.Words, gone bool, err error) {
	begun := time.Now()
	within := func(limit time.Duration) bool { return time.Since(begun) < limit }
	var status *int
	looked := false // and it is known whether the pane has a command
	// A pane is dead a moment before its program's status is known.
	for d := range pause.Growing(32 * time.Millisecond) {
		if p.PaneDead && status != nil || (looked && runs(p, srv) || !within(s.StartWait)) && (command == "" || !within(s.EndWait)) {
			break
		}
		if err := pause.For(ctx, d); err != nil {
			return "", false, err
		}
		var b tmux.Batch
		panes := tmux.AddRows[rows.Pane](&b, tmux.DisplayMessage{Target: p.PaneID}, "pane_id", "window_id", "pane_dead", "pane_current_command", "pane_current_path")
		dead := tmux.AddRows[struct {
			Status *int `tmux:"pane_dead_status"`
		}](&b, tmux.DisplayMessage{Target: p.PaneID})
		// Without a command, the default one may be something other than a shell.
		own := tmux.AddMessage(&b, tmux.DisplayMessage{Target: p.PaneID, Message: "#{pane_start_command}#{default-command}"})
		err := b.Do(ctx, srv)
		gone := screen.IsServerGone(err) || err == nil && (*panes)[0].PaneID == ""
		if gone {
			return reply.Say("its program has ended at once, and pane %s is gone: run_command in a pane with a shell shows why", p.PaneID), true, nil
		}
		if err != nil {
			return "", false, err
		}
		looked = true
		if command == "" {
			command = *own
		}
		now := (*panes)[0]
		status = (*dead)[0].Status
		p.WindowID, p.PaneDead, p.PaneCurrentCommand, p.PaneCurrentPath = now.WindowID, now.PaneDead, now.PaneCurrentCommand, now.PaneCurrentPath
	}
	switch {
	case p.PaneDead && status != nil:
		return reply.Say("its program has ended at once with exit status %d, and pane %s shows what it printed", *status, p.PaneID), false, nil
	case p.PaneDead:
		return reply.Say("its program has ended at once, and pane %s shows what it printed", p.PaneID), false, nil
	}
	return "", false, nil
}

// runs reports whether the row is about the pane's program.
func runs(p *rows.Pane, srv *tmux.Server) bool {
	name := reply.ValueOr(p.PaneCurrentCommand, "tmux")
	return p.PaneDead || p.PaneCurrentPath != nil && name != "tmux" && name != filepath.Base(srv.Binary()) && !strings.HasPrefix(name, "tmux: ")
}

// directory returns the absolute path of a directory that a caller named. tmux would
// silently start the program in the home directory if it does not exist.
func directory(path PathTo, argument, given string) (string, error) {
	if given == "" {
		return "", nil
	}
	dir, err := path(given)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if err != nil {
		return "", reply.Argument(argument, "must be a directory: %v", err)
	}
	return dir, nil
}

// PathTo makes a path absolute, as [Starter.Path] does.
type PathTo func(given string) (string, error)

// Path makes a path absolute: "~" is the home directory, and a relative path starts from
// the directory in which this program was started.
func (s *Starter) Path(given string) (string, error) {
	if rest, ok := strings.CutPrefix(given, "~"); ok && (rest == "" || rest[0] == '/') {
		home := os.Getenv("HOME")
		for _, kv := range s.env {
			if v, ok := strings.CutPrefix(kv, "HOME="); ok {
				home = v
			}
		}
		if home != "" {
			given = home + rest
		}
	}
	path, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("make %s absolute: %w", given, err)
	}
	return path, nil
}
