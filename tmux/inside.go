package tmux

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/tmux/internal/wire"
)

// FromEnv returns a handle on the server in whose pane this process runs, according to the
// variable TMUX in the environment: that of cfg.Env or, if this is nil, of this process. cfg
// gives the rest, and must name no socket. It fails with [ErrOutside] if TMUX names no
// server, as outside tmux, or where sudo or ssh has removed it.
//
// The variable is believed, and nothing is asked: the server may have ended since, and the
// process may outlive its pane. [Server.CurrentPane] proves that it runs in one.
func FromEnv(cfg Config) (*Server, error) {
	if name := cmp.Or(cfg.SocketPath, cfg.SocketName); name != "" {
		return nil, argumentError("a socket (%s), which FromEnv takes from the environment", name)
	}
	env := cfg.Env
	if env == nil {
		env = os.Environ()
	}
	path, _ := SocketFromEnv(env)
	if path == "" {
		value := wire.LookupEnv(env, "TMUX")
		if value == "" {
			return nil, outside("TMUX is not set in the environment")
		}
		return nil, outside("TMUX does not begin with the absolute path of a socket: %q", value)
	}
	cfg.SocketPath = path
	return New(cfg)
}

// SocketFromEnv returns the path of a tmux server's socket and the server's process id from
// the variable TMUX, which tmux sets for the programs in its panes. Without a valid one they
// are "" and 0. env has "K=V" strings, as [os.Environ] returns them.
func SocketFromEnv(env []string) (path string, server int) {
	// A session number follows them, and the path may contain commas too.
	path = wire.LookupEnv(env, "TMUX")
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
	if !filepath.IsAbs(path) || server < 0 {
		return "", 0
	}
	return path, server
}

// outside returns an [ErrOutside] with its reason.
func outside(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOutside, fmt.Sprintf(format, args...))
}

// CurrentPane returns the pane of this server that this process runs in: the one whose
// program is an ancestor of this process, or began the session of terminal processes that
// it or an ancestor belongs to. The environment does not matter.
//
// Otherwise it fails with [ErrOutside]: for a process outside tmux or in a pane of another
// server, as in a nested tmux; for one that has cut itself loose from its pane, as a daemon
// does; and where it cannot be proven, because the server runs in another PID namespace or
// on another machine, or because the system does not show the ancestors of a process. Linux
// and macOS do; macOS does not show sessions. Without a server it fails with [ErrNoServer].
func (s *Server) CurrentPane(ctx context.Context) (PaneRef, error) {
	process, err := s.Process(ctx)
	if err != nil {
		return PaneRef{}, err
	}
	if !process.Here {
		return PaneRef{}, outside("the tmux server on %s runs in another PID namespace or on another machine, so its processes cannot be seen", s.at.Path)
	}
	panes, err := listAll[struct {
		PaneRef `tmux:"pane_id"`
		PID     *int `tmux:"pane_pid"`
		Dead    bool `tmux:"pane_dead"`
	}](ctx, s, ListPanes{All: true})
	if err != nil {
		return PaneRef{}, err
	}
	// Read after the panes, so that no number can be that of an earlier process. Where sessions
	// are shown, they are enough: a pane's program begins one.
	above := procstat.Ancestors()
	if len(above) == 0 {
		return PaneRef{}, outside("this system does not show the ancestors of a process")
	}
	for _, p := range above {
		for _, pane := range panes {
			if pane.PID != nil && *pane.PID > 0 && !pane.Dead && (p.PID == *pane.PID || p.Terminal != 0 && p.Session == *pane.PID) {
				return pane.PaneRef, nil
			}
		}
	}
	if slices.ContainsFunc(above, func(p procstat.Process) bool { return p.PID == process.PID }) {
		return PaneRef{}, outside("the tmux server on %s started this process outside its panes, as run-shell does", s.at.Path)
	}
	if path, server := SocketFromEnv(os.Environ()); path == s.at.Path && server == process.PID {
		return PaneRef{}, outside("this process was started in a pane of the tmux server on %s, but is no longer a descendant of a pane's program", s.at.Path)
	}
	return PaneRef{}, outside("this process runs in no pane of the tmux server on %s", s.at.Path)
}
