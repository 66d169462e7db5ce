// Package caller knows where this process runs: in which pane, and whether the processes of a
// tmux server can be seen from here.
package caller

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// Caller is the pane that this process, and so the agent, runs in. The zero Caller is
// outside tmux. Socket may be empty if only the pane is known.
type Caller struct {
	Pane   tmux.PaneID
	Socket string
	// Server is the process of its tmux server, an ancestor of this one; 0 if unknown. If the
	// caller is Lost, it is only what the environment says.
	Server int
	// Outside is set if the environment says that the agent runs in no pane, by empty
	// variables. Otherwise it may run in any pane of a tmux server whose processes cannot be
	// seen from here, as from another container.
	Outside bool
	// Lost is set if the environment names a pane but this process is not a descendant of
	// it: for example, a client's daemon that outlives the pane in which it was started.
	// Pane is then empty. The agent may run in any pane, most likely in one that runs
	// Client, the client's program; Client is empty if that is unknown too.
	Lost   bool
	Client string
	// Below is set if this process runs below Server, as the kernel shows. It may be Lost all
	// the same: below the server, in no pane that is known.
	Below bool
	// Popup is set if Lost is because tmux itself started a program here without a pane: in a
	// popup, or as a command of run-shell.
	Popup bool
}

// ancestor is a process above this one, or this process itself.
type ancestor struct {
	pid     int
	program string            // path of its executable, if readable
	env     map[string]string // TMUX and TMUX_PANE; nil if unreadable
}

// Find finds the caller's pane, from the environment of this process and of those above it.
func Find(env map[string]string) Caller {
	if c := callerOf(env, nil); c.Outside {
		return c
	}
	return callerOf(env, ancestors())
}

// callerOf finds the caller's pane. TMUX and TMUX_PANE name it, in the environment of this
// process or, if a client started it without them, in that of an ancestor. They are trusted
// only if the tmux server that TMUX names is an ancestor of this process too; the process
// directly below that server is then the pane's own. Both, if empty, mean that there is no
// pane.
func callerOf(env map[string]string, above []ancestor) Caller {
	_, hasTmux := env["TMUX"]
	_, hasPane := env["TMUX_PANE"]
	if hasTmux && hasPane && env["TMUX"] == "" && env["TMUX_PANE"] == "" {
		return Caller{Outside: true}
	}
	environments := []map[string]string{env}
	for _, a := range above {
		environments = append(environments, a.env)
	}
	var lost Caller
	for _, env := range environments {
		pane, socket, server := paneVariables(env)
		if pane == "" && socket == "" {
			continue
		}
		if i := slices.IndexFunc(above, func(a ancestor) bool { return a.pid == server }); i > 0 {
			own, _, of := paneVariables(above[i-1].env)
			if own == "" || of != server {
				own = pane
			}
			if own == "" {
				return Caller{Socket: socket, Server: server, Below: true, Lost: true, Client: clientOfServer(above), Popup: of == server}
			}
			return Caller{Pane: own, Socket: socket, Server: server, Below: true}
		}
		if !lost.Lost {
			lost = Caller{Socket: socket, Server: server, Lost: true, Client: clientOfServer(above)}
		}
	}
	return lost
}

// clientOfServer returns the program that started this server, past shells and launchers.
func clientOfServer(above []ancestor) string {
	for _, a := range above {
		switch filepath.Base(a.program) {
		case "", "tmux-mcp", "sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "busybox", "env", "setsid", "nohup", "timeout", "npx", "npm":
			continue
		}
		return a.program
	}
	return ""
}

// paneVariables parses the two variables that tmux sets in its panes.
func paneVariables(env map[string]string) (pane tmux.PaneID, socket string, server int) {
	if id := tmux.PaneID(env["TMUX_PANE"]); id.Valid() {
		pane = id
	}
	socket, server = tmux.SocketFromEnv([]string{"TMUX=" + env["TMUX"]})
	return pane, socket, server
}

// Here is the caller as seen from one tmux server.
type Here struct {
	Caller
	certain bool   // its pane is on this server
	socket  string // of the server
}

// On returns the caller as seen from a tmux server.
func (c Caller) On(ctx context.Context, srv *tmux.Server) (Here, error) {
	h := Here{Caller: c, socket: srv.SocketPath()}
	h.certain = c.Socket != "" && SamePath(c.Socket, h.socket)
	if c.Pane != "" && c.Server != 0 {
		p, err := ProcessOf(ctx, srv)
		if err != nil {
			return h, err
		}
		h.certain = p.Here && p.PID == c.Server
	}
	return h, nil
}

// Own returns the caller's pane if that is certainly on this server, otherwise "".
func (h Here) Own() tmux.PaneID {
	if !h.certain {
		return ""
	}
	return h.Pane
}

// Is reports whether a pane is the caller's; nil means that there is no caller. It is true
// only if proven: the same pane id on the same server.
func (h Here) Is(id tmux.PaneID) *bool {
	if h.Pane == "" {
		return nil
	}
	is := h.Own() == id
	return &is
}

// Possible reports whether a caller that is not proven to run below any tmux server may run in
// this one, whose process is running; true if unknown.
func (h Here) Possible(running tmux.Process) bool {
	switch {
	case h.Pane == "" && h.Socket == "" && !h.Lost:
		return false
	case h.Server != 0 && running.Here:
		// The same process, whatever its socket is called now, or one that follows it there.
		return h.Server == running.PID || SamePath(h.Socket, h.socket)
	case h.Socket == "" || filepath.Base(h.Socket) == filepath.Base(h.socket) || SamePath(h.Socket, h.socket):
		return true
	}
	_, err := os.Stat(h.Socket)
	return err != nil // it may have another name now
}

// ProcessOf returns the process of a tmux server. If none is running, it is the zero Process,
// with Here set.
func ProcessOf(ctx context.Context, srv *tmux.Server) (tmux.Process, error) {
	p, err := srv.Process(ctx)
	if errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) {
		return tmux.Process{Here: true}, nil
	}
	return p, err
}

// Sees reports whether the processes of the tmux server are known to have the same numbers
// here, so that they can be looked up. Otherwise nothing is known of them, as outside Linux.
func Sees(ctx context.Context, srv *tmux.Server) bool {
	p, err := ProcessOf(ctx, srv)
	return err == nil && p.Here
}

// PID returns the process of a pane's program, or 0 if it cannot be looked up.
func PID(ctx context.Context, srv *tmux.Server, of follow.PaneState) int {
	if of.PID == nil || !Sees(ctx, srv) {
		return 0
	}
	return *of.PID
}

// SamePath reports whether two paths lead to the same file.
func SamePath(a, b string) bool {
	if a == b {
		return true
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// RealPath returns a path without symbolic links.
func RealPath(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	// The socket itself may not exist yet.
	if dir, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
		return filepath.Join(dir, filepath.Base(p))
	}
	return filepath.Clean(p)
}
