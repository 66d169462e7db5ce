package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/params"
	"tmuxmcp/tmux"
)

// spawn are the parameters of every tool that starts a program.
type spawn struct {
	StartDirectory string           `json:"start_directory,omitempty" desc:"absolute path"`
	Environment    params.StringMap `json:"environment,omitempty" desc:"not for secrets: ps shows them"`
	Suppress       bool             `json:"suppress_persistent_history,omitempty" desc:"no history file"`
}

// prepare checks the parameters before tmux is asked for anything.
func (sp spawn) prepare(path pathTo) (dir string, env tmux.Env, err error) {
	if env, err = sp.variables(); err != nil {
		return "", nil, err
	}
	dir, err = directory(path, "start_directory", sp.StartDirectory)
	return dir, env, err
}

// prepareBeside does what prepare does and, if no directory was given, takes the directory
// of the program's neighbour, a token of the target. tmux itself would take the client's,
// which is this server's. It is queried in advance, because tmux expands a format for the
// active pane of a session, whatever the target is.
func (sp spawn) prepareBeside(ctx context.Context, c *call, target tmux.Target, token string) (dir string, env tmux.Env, err error) {
	if dir, env, err = sp.prepare(c.s.path); err != nil || dir != "" {
		return dir, env, err
	}
	var b tmux.Batch
	neighbours := tmux.Displayed(&b, tmux.DisplayMessage{Target: target, Message: tmux.Format("#{" + token + "}")})
	if err := b.Do(ctx, c.Tmux); err != nil {
		return "", nil, err
	}
	if info, err := os.Stat(*neighbours); err != nil || !info.IsDir() {
		return "", env, nil // removed since, or on another machine
	}
	return *neighbours, env, nil
}

// shellCommand returns the command of a new pane: a command line, or nil for a shell.
func shellCommand(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}

const (
	// startWait is how long to wait until the program of a new pane runs, and endWait how
	// long it may take to end at once, if it is not an interactive shell.
	startWait = 500 * time.Millisecond
	endWait   = 100 * time.Millisecond
)

// started is ended, and notes what it says.
func (c *call) started(ctx context.Context, p *rows.Pane, command string) error {
	ended, err := c.ended(ctx, p, command)
	if ended != "" {
		c.besides.Note("%s", ended)
	}
	return err
}

// ended completes the row of a newly created pane. For 1 or 2 ms, until the program runs,
// tmux reports its own forked copy, or nothing. If the command ends at once, as a misspelt
// one does, ended says so; the pane may then be gone.
func (c *call) ended(ctx context.Context, p *rows.Pane, command string) (ended string, err error) {
	begun := time.Now()
	within := func(limit time.Duration) bool { return time.Since(begun) < limit }
	var status *int
	// A pane is dead a moment before its program's status is known.
	for d := range pause.Growing(32 * time.Millisecond) {
		if p.PaneDead && status != nil || (runs(p, c.Tmux) || !within(c.s.startWait)) && (command == "" || !within(c.s.endWait)) {
			break
		}
		if err := pause.For(ctx, d); err != nil {
			return "", err
		}
		var b tmux.Batch
		rows := tmux.Rows[rows.Pane](&b, tmux.DisplayMessage{Target: p.PaneID}, "pane_id", "window_id", "pane_dead", "pane_current_command", "pane_current_path")
		dead := tmux.Rows[struct {
			Status *int `tmux:"pane_dead_status"`
		}](&b, tmux.DisplayMessage{Target: p.PaneID})
		err := b.Do(ctx, c.Tmux)
		gone := screen.IsServerGone(err) || err == nil && (*rows)[0].PaneID == ""
		if gone {
			return fmt.Sprintf("its program has ended at once, and pane %s is gone: run_command in a pane with a shell shows why", p.PaneID), nil
		}
		if err != nil {
			return "", err
		}
		now := (*rows)[0]
		status = (*dead)[0].Status
		p.WindowID, p.PaneDead, p.PaneCurrentCommand, p.PaneCurrentPath = now.WindowID, now.PaneDead, now.PaneCurrentCommand, now.PaneCurrentPath
	}
	switch {
	case p.PaneDead && status != nil:
		return fmt.Sprintf("its program has ended at once with exit status %d, and pane %s shows what it printed", *status, p.PaneID), nil
	case p.PaneDead:
		return fmt.Sprintf("its program has ended at once, and pane %s shows what it printed", p.PaneID), nil
	}
	return "", nil
}

// runs reports whether the row is about the pane's program.
func runs(p *rows.Pane, srv *tmux.Server) bool {
	name := reply.ValueOr(p.PaneCurrentCommand, "tmux")
	return p.PaneDead || p.PaneCurrentPath != nil && name != "tmux" && name != filepath.Base(srv.Binary()) && !strings.HasPrefix(name, "tmux: ")
}

// variables returns the environment, plus, if requested, what keeps shells from writing a
// history file. Variables from the caller are left unchanged.
func (sp spawn) variables() (tmux.Env, error) {
	env := make(tmux.Env, len(sp.Environment)+4)
	for name, value := range sp.Environment {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return nil, reply.Argument("environment", "must have names without = and no NUL bytes")
		}
		env[name] = value
	}
	if !sp.Suppress {
		return env, nil
	}
	for _, v := range []struct{ name, value string }{{"HISTFILE", ""}, {"fish_history", ""}, {"fish_private_mode", "1"}} {
		if given, ok := env[v.name]; ok && given != v.value {
			return nil, reply.Argument("environment", "sets %s to another value than suppress_persistent_history needs", v.name).
				Suggest("leave %s out, or set it to %q", v.name, v.value)
		}
		env[v.name] = v.value
	}
	control := strings.FieldsFunc(env["HISTCONTROL"], func(r rune) bool { return r == ':' })
	if !slices.Contains(control, "ignorespace") && !slices.Contains(control, "ignoreboth") {
		control = append(control, "ignorespace")
	}
	env["HISTCONTROL"] = strings.Join(control, ":")
	return env, nil
}

// directory returns the absolute path of a directory that a caller named. tmux would
// silently start the program in the home directory if it does not exist.
func directory(path pathTo, argument, given string) (string, error) {
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

// pathTo makes a path absolute, as [Server.path] does.
type pathTo func(given string) (string, error)

// path makes a path absolute: "~" is the home directory, and a relative path starts from
// the directory in which this program was started.
func (s *Server) path(given string) (string, error) {
	if rest, ok := strings.CutPrefix(given, "~"); ok && (rest == "" || rest[0] == '/') {
		home := os.Getenv("HOME")
		for _, kv := range s.cfg.Env {
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
