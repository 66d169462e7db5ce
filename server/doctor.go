package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Doctor writes what a server of this configuration would use, and what is wrong
// with it. It reports whether a server would work; a tmux server that does not
// run yet is no fault.
func Doctor(ctx context.Context, cfg Config, w io.Writer) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-9s %s\n", what, fmt.Sprintf(format, args...))
	}
	s, err := New(cfg)
	if err != nil {
		line("problem", "%v", err)
		if errors.Is(err, exec.ErrNotFound) {
			line("", "install tmux, or say where it is with --tmux")
		}
		return false
	}
	srv := s.handles[""]
	fine := true
	line("tmux", "%s", srv.Binary())
	program, err := srv.ProgramVersion(ctx)
	if err != nil {
		line("problem", "%v", err)
		fine = false
	} else {
		line("version", "%s", program)
	}
	line("socket", "%s", srv.SocketPath())
	info, err := infoOf(ctx, srv)
	switch {
	case err != nil:
		line("problem", "%v", err)
		fine = false
	case !info.IsAlive && !mayStart(cfg, srv.SocketPath()):
		line("problem", "there is no directory %s for the socket", filepath.Dir(srv.SocketPath()))
		fine = false
	case !info.IsAlive:
		line("server", "none runs there; create_session starts one")
	default:
		version := "of unknown version"
		if info.Version != nil {
			version = *info.Version
		}
		line("server", "tmux %s, sessions: %d", version, info.SessionCount)
	}
	c := s.cfg.Caller
	switch {
	case c.Lost:
		line("caller", "unknown: TMUX_PANE names a pane that this process does not run in; a call on a pane that may be the agent's needs consent")
	case c.Pane == "":
		line("caller", "outside tmux")
	case s.callersServer(srv):
		line("caller", "pane %s of this server", c.Pane)
	default:
		line("caller", "pane %s of %s", c.Pane, c.Socket)
	}
	sets := "all"
	if len(s.cfg.Toolsets) > 0 {
		sets = strings.Join(s.cfg.Toolsets, ", ")
	}
	line("tier", "%s", s.cfg.Tier)
	line("toolsets", "%s", sets)
	line("tools", "%d", len(s.Tools()))
	return fine
}

// mayStart reports whether tmux could make its socket. The directory of named
// sockets it makes itself.
func mayStart(cfg Config, socket string) bool {
	if cfg.SocketPath == "" {
		return true
	}
	info, err := os.Stat(filepath.Dir(socket))
	return err == nil && info.IsDir()
}
