// Package sockets has the tmux servers that calls name, and bounds how many calls work on
// each at a time.
package sockets

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tmuxmcp/internal/turns"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// Config says where the configured tmux server is, and what all of them have in common.
type Config struct {
	Name, Path string // of the configured socket; see Caller
	// Caller is the pane this process runs in, whose server is the configured one if neither
	// a name nor a path is given.
	Caller caller.Caller
	// Pin allows no other socket.
	Pin bool
	// Tmux is the configuration of all handles, without a socket.
	Tmux tmux.Config
}

// Sockets are the tmux servers that calls name. It is safe for concurrent use.
type Sockets struct {
	cfg   Config
	slots turns.Turns // per tmux server, by socket

	configured *tmux.Server

	mu      sync.Mutex
	handles map[string]*tmux.Server // by socket name
}

// MaxAtOnce is how many calls of non-waiting tools work on one tmux server at a time.
// Bursts queue here: tmux lets 128 connections queue on its socket, and more fail.
const MaxAtOnce = 64

// New returns sockets. It finds the tmux program, once for all of them, but runs nothing.
func New(cfg Config) (*Sockets, error) {
	cfg.Tmux.MostText = rows.MostText
	s := &Sockets{cfg: cfg, slots: turns.Turns{Most: MaxAtOnce}, handles: map[string]*tmux.Server{}}
	var err error
	if s.configured, err = s.named(""); err != nil {
		return nil, err
	}
	s.cfg.Tmux.Binary = s.configured.Binary()
	return s, nil
}

// Configured returns the tmux server that calls mean if they name none.
func (s *Sockets) Configured() *tmux.Server { return s.configured }

// Get returns the tmux server of a socket name; "" is the configured one.
func (s *Sockets) Get(name string) (*tmux.Server, error) {
	if name != "" && s.cfg.Pin {
		return nil, s.pinned("socket_name")
	}
	if strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
		return nil, reply.Argument("socket_name", "must be a name as for tmux -L, without a slash")
	}
	if name == "" {
		return s.configured, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if srv := s.handles[name]; srv != nil {
		return srv, nil
	}
	srv, err := s.named(name)
	if err != nil {
		return nil, err
	}
	// A tmux server has a single handle, because commands for a pane are queued by handle.
	if caller.SamePath(s.configured.SocketPath(), srv.SocketPath()) {
		return s.configured, nil
	}
	// Handles cost next to nothing, but a caller may invent names forever.
	if len(s.handles) >= 1000 {
		clear(s.handles)
	}
	s.handles[name] = srv
	return srv, nil
}

// At returns a handle on the tmux server of another socket, without contacting it.
func (s *Sockets) At(path string) (*tmux.Server, error) {
	cfg := s.cfg.Tmux
	cfg.SocketPath = path
	return tmux.New(cfg)
}

// named makes a handle without contacting the tmux server.
func (s *Sockets) named(name string) (*tmux.Server, error) {
	cfg := s.cfg.Tmux
	switch {
	case name != "":
		cfg.SocketName = name
	case s.cfg.Path != "" || s.cfg.Name != "":
		cfg.SocketPath, cfg.SocketName = s.cfg.Path, s.cfg.Name
	default:
		cfg.SocketPath = s.cfg.Caller.Socket
	}
	return tmux.New(cfg)
}

// pinned returns the fault for an argument that names another socket.
func (s *Sockets) pinned(argument string) *reply.Fault {
	return reply.Faultf(reply.KindRefused, "this server is pinned to %s", s.configured.SocketPath()).Suggest("leave %s out", argument)
}

// Pinned reports whether no other socket than the configured one is allowed.
func (s *Sockets) Pinned() bool { return s.cfg.Pin }

// Skipped is a path at which there is no tmux server to use, and why.
type Skipped struct{ Path, Why string }

// All returns handles on the sockets in tmux's directory, in order of their names, followed
// by the extra ones, each once. Extra paths that are no sockets are skipped. If the configured
// one is pinned, it is the only one.
func (s *Sockets) All(extra []string) (servers []*tmux.Server, skipped []Skipped, err error) {
	if s.cfg.Pin {
		if len(extra) > 0 {
			return nil, nil, s.pinned("extra_socket_paths")
		}
		return []*tmux.Server{s.configured}, nil, nil
	}
	dir := tmux.SocketDir(s.cfg.Tmux.Env)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, reply.Faultf(reply.KindTmux, "cannot list the sockets of tmux: %v", err)
	}
	paths := make([]string, 0, len(entries)+len(extra))
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	seen := map[string]bool{}
	for i, p := range append(paths, extra...) {
		if why := noSocket(p); why != "" {
			if i >= len(entries) {
				skipped = append(skipped, Skipped{p, why})
			}
			continue
		}
		if seen[caller.RealPath(p)] {
			continue
		}
		seen[caller.RealPath(p)] = true
		cfg := s.cfg.Tmux
		// Something may listen there and never answer.
		cfg.Timeout = 5 * time.Second
		if i < len(entries) {
			cfg.SocketName = entries[i].Name()
		} else {
			cfg.SocketPath = p
		}
		srv, err := tmux.New(cfg)
		if err != nil {
			return nil, nil, err
		}
		servers = append(servers, srv)
	}
	return servers, skipped, nil
}

// noSocket returns why a path is no socket; "" if it is one.
func noSocket(path string) string {
	info, err := os.Stat(path)
	var reason *os.PathError
	switch {
	case errors.Is(err, os.ErrNotExist):
		if link, err := os.Lstat(path); err == nil && link.Mode().Type() == os.ModeSymlink {
			return "a link to a file that does not exist"
		}
		return "it does not exist"
	case errors.As(err, &reason):
		return reason.Err.Error()
	case err != nil:
		return err.Error()
	case info.IsDir():
		return "a directory, not a socket"
	case info.Mode().Type() != os.ModeSocket:
		return "not a socket"
	}
	return ""
}

// Slot is a call's permission to work on a tmux server.
type Slot struct {
	sockets *Sockets
	srv     *tmux.Server
	leave   func()
}

// Slot waits until a call may work on a tmux server and the client is reading answers. A call
// without a server gets a slot at once, which must be left too.
func (s *Sockets) Slot(ctx context.Context, srv *tmux.Server) (*Slot, error) {
	slot := &Slot{s, srv, func() {}}
	return slot, slot.take(ctx)
}

func (s *Slot) take(ctx context.Context) error {
	if s.srv == nil {
		return nil
	}
	leave, _, ok := s.sockets.slots.Take(ctx, s.srv.SocketPath(), math.MaxInt64)
	if !ok {
		return context.Cause(ctx)
	}
	s.leave = leave
	stdio.Room(ctx)
	return nil
}

// Leave ends the permission.
func (s *Slot) Leave() {
	s.leave()
	s.leave = func() {}
}

// Pause leaves the slot until the call is resumed.
func (s *Slot) Pause() (resume func(context.Context) error) {
	s.Leave()
	return s.take
}

// Info describes a tmux server. It is not an error if none is running.
func Info(ctx context.Context, srv *tmux.Server) (rows.Server, error) {
	info := rows.Server{SocketPath: srv.SocketPath()}
	// A socket has a name only if it is in the directory that -L uses.
	if name, ok := tmux.SocketName(srv.SocketPath()); ok {
		info.SocketName = &name
	}
	var b tmux.Batch
	version := tmux.AddMessage(&b, tmux.DisplayMessage{Message: "#{version}"})
	sessions := tmux.AddRows[target.IDs](&b, tmux.ListSessions{}, "session_id")
	err := b.Do(ctx, srv)
	if errors.Is(err, tmux.ErrNoServer) || errors.Is(err, tmux.ErrServerGone) {
		return info, nil
	}
	if err != nil {
		return info, err
	}
	info.IsAlive, info.SessionCount, info.Version = true, len(*sessions), version
	return info, nil
}
