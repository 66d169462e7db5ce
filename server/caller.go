package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tmuxmcp/tmux"
)

// Caller is the pane that this process, and so the agent, runs in. The zero
// Caller is outside tmux. Socket may be empty when only the pane is known.
type Caller struct {
	Pane   tmux.PaneID
	Socket string
}

// callerOf finds the caller's pane: from TMUX and TMUX_PANE, or, when a client
// started this program without them, from the environment of the processes
// above it. An empty TMUX or TMUX_PANE says that there is none.
func callerOf(env map[string]string) Caller {
	_, hasTmux := env["TMUX"]
	_, hasPane := env["TMUX_PANE"]
	if hasTmux || hasPane {
		return callerFrom(env["TMUX"], env["TMUX_PANE"])
	}
	return callerAbove(os.Getppid())
}

// callerFrom reads the two variables that tmux sets in its panes. TMUX is the
// socket's path, the server's process and a session's number, and the path may
// have commas in it.
func callerFrom(tmuxVar, paneVar string) Caller {
	var c Caller
	if id := tmux.PaneID(paneVar); id.Valid() {
		c.Pane = id
	}
	path := tmuxVar
	for range 2 {
		i := strings.LastIndexByte(path, ',')
		if i < 0 {
			break
		}
		if _, err := strconv.Atoi(path[i+1:]); err != nil {
			break
		}
		path = path[:i]
	}
	if filepath.IsAbs(path) {
		c.Socket = path
	}
	return c
}

// isCaller reports whether a pane is the caller's; nil means that there is no caller.
// It is true only with proof: the same pane id on the same socket.
func (s *Server) isCaller(srv *tmux.Server, id tmux.PaneID) *bool {
	if s.cfg.Caller.Pane == "" {
		return nil
	}
	is := s.cfg.Caller.Pane == id && s.callersServer(srv)
	return &is
}

// callersServer reports whether the caller certainly runs in this server.
func (s *Server) callersServer(srv *tmux.Server) bool {
	return s.cfg.Caller.Socket != "" && samePath(s.cfg.Caller.Socket, srv.SocketPath())
}

// mayHurtCaller reports whether the caller may run in this server; true when that
// is not known. It guards calls that would end or disturb the caller.
func (s *Server) mayHurtCaller(srv *tmux.Server) bool {
	c := s.cfg.Caller
	switch {
	case c.Pane == "" && c.Socket == "":
		return false
	case c.Socket == "":
		return true
	}
	return samePath(c.Socket, srv.SocketPath()) || filepath.Base(c.Socket) == filepath.Base(srv.SocketPath())
}

// callerPane is the caller's pane if it is on srv, else empty.
func (s *Server) callerPane(srv *tmux.Server) tmux.PaneID {
	if s.callersServer(srv) {
		return s.cfg.Caller.Pane
	}
	return ""
}

func samePath(a, b string) bool {
	return a == b || realPath(a) == realPath(b)
}

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
