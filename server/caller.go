package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/tmux"
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
}

// ancestor is a process above this one, or this process itself.
type ancestor struct {
	pid     int
	program string            // path of its executable, if readable
	env     map[string]string // TMUX and TMUX_PANE; nil if unreadable
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
				return Caller{Socket: socket, Server: server, Lost: true, Client: clientOfServer(above)}
			}
			return Caller{Pane: own, Socket: socket, Server: server}
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

// paneVariables parses the two variables that tmux sets in its panes. TMUX is the socket's
// path, the server's pid and a session number, separated by commas, which the path may
// contain too.
func paneVariables(env map[string]string) (pane tmux.PaneID, socket string, server int) {
	if id := tmux.PaneID(env["TMUX_PANE"]); id.Valid() {
		pane = id
	}
	path := env["TMUX"]
	for range 2 {
		i := strings.LastIndexByte(path, ',')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(path[i+1:])
		if err != nil {
			break
		}
		path, server = path[:i], n
	}
	if filepath.IsAbs(path) {
		socket = path
	}
	return pane, socket, server
}

// isCaller reports whether a pane is the caller's; nil means that there is no caller. It is
// true only if proven: the same pane id on the same server.
func (c *call) isCaller(id tmux.PaneID) *bool {
	if c.s.cfg.Caller.Pane == "" {
		return nil
	}
	is := c.ownPane == id
	return &is
}

// callerPane returns the caller's pane if it is certainly on srv, otherwise "".
func (s *Server) callerPane(ctx context.Context, srv *tmux.Server) (tmux.PaneID, error) {
	c := s.cfg.Caller
	is := c.Socket != "" && samePath(c.Socket, srv.SocketPath())
	if c.Pane != "" && c.Server != 0 {
		p, err := processOf(ctx, srv)
		if err != nil {
			return "", err
		}
		is = p.Here && p.PID == c.Server
	}
	if !is {
		return "", nil
	}
	return c.Pane, nil
}

// processOf returns the process of a tmux server; of none that runs, the zero one, here.
func processOf(ctx context.Context, srv *tmux.Server) (tmux.Process, error) {
	p, err := srv.Process(ctx)
	if errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) {
		return tmux.Process{Here: true}, nil
	}
	return p, err
}

// mayHurtCaller reports whether a caller whose tmux server's process is not known may run in
// this server; true if unknown.
func (s *Server) mayHurtCaller(srv *tmux.Server) bool {
	c := s.cfg.Caller
	switch {
	case c.Pane == "" && c.Socket == "" && !c.Lost:
		return false
	case c.Socket == "" || filepath.Base(c.Socket) == filepath.Base(srv.SocketPath()) || samePath(c.Socket, srv.SocketPath()):
		return true
	}
	_, err := os.Stat(c.Socket)
	return err != nil // it may have another name now
}

// samePath reports whether two paths lead to the same file.
func samePath(a, b string) bool {
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

// realPath returns a path without symbolic links.
func realPath(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	// The socket itself may not exist yet.
	if dir, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
		return filepath.Join(dir, filepath.Base(p))
	}
	return filepath.Clean(p)
}
