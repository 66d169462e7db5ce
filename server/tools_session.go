package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/lost"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

var listSessions = newTool(tool{
	name: "list_sessions", title: "List tmux Sessions", kind: reads, set: setSessions, core: true,
	aim: target.Nowhere,
	desc: "List tmux sessions: id, name, number of windows and attached clients, active pane. Start here to see what is running; list_panes shows the " +
		"terminals in them.",
}, func(ctx context.Context, c *call, in listSessionsIn) (reply.List[sessionInfo], error) {
	return answerList[sessionInfo](ctx, c, narrowing{Filters: in.Filters, paging: in.paging}, tmux.ListSessions{})
})

type listSessionsIn struct {
	target.OnSocket
	Filters filters `json:"filters,omitempty" desc:"property or property__operator to value"`
	paging
}

var getSessionInfo = newTool(tool{
	name: "get_session_info", title: "Get tmux Session Info", kind: reads, set: setSessions,
	aim:  target.Filter(target.Session),
	desc: "Get one session's metadata: windows, attached clients, alerts, active pane. Defaults to the caller's session. For several use list_sessions.",
}, func(ctx context.Context, c *call, in target.OfSession) (*sessionDetail, error) {
	return find[sessionDetail](ctx, c, c.on.Selection)
})

// serverInfo is what the tools return for a tmux server.
type serverInfo struct {
	IsAlive      bool    `json:"is_alive"`
	SocketName   *string `json:"socket_name"`
	SocketPath   string  `json:"socket_path"`
	SessionCount int     `json:"session_count"`
	Version      *string `json:"version"`
}

var getServerInfo = newTool(tool{
	name: "get_server_info", title: "Get tmux Server Info", kind: reads, set: setSessions,
	aim:  target.Nowhere,
	desc: "Get one tmux server's version, socket path and number of sessions, and whether it is running. Not an error if no server is running.",
}, func(ctx context.Context, c *call, in target.OnSocket) (serverInfo, error) {
	info, err := infoOf(ctx, c.tmux)
	if err == nil && !info.IsAlive {
		if text, hint := lost.Server(info.SocketPath); text != "" {
			c.besides.Note("%s: %s", text, hint)
		}
	}
	return info, err
})

func infoOf(ctx context.Context, srv *tmux.Server) (serverInfo, error) {
	info := serverInfo{SocketPath: srv.SocketPath()}
	// A socket has a name only if it is in the directory that -L uses.
	if name, ok := tmux.SocketName(srv.SocketPath()); ok {
		info.SocketName = &name
	}
	var b tmux.Batch
	version := tmux.Displayed(&b, tmux.DisplayMessage{Message: "#{version}"})
	sessions := tmux.Rows[target.IDs](&b, tmux.ListSessions{}, "session_id")
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

var listServers = newTool(tool{
	name: "list_servers", title: "List tmux Servers", kind: reads, set: setSessions,
	aim:  target.Nowhere,
	desc: "Find running tmux servers (sockets) of this user, when there may be more than the configured one. Use a socket_name it returns in other tools.",
}, func(ctx context.Context, c *call, in listServersIn) (l reply.List[serverInfo], err error) {
	servers, err := c.s.servers(in.ExtraSocketPaths)
	if err != nil {
		return l, err
	}
	infos := make([]serverInfo, len(servers))
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, srv := range servers {
		wg.Go(func() { infos[i], errs[i] = infoOf(ctx, srv) })
	}
	wg.Wait()
	found := []serverInfo{}
	for i, info := range infos {
		if errors.Is(errs[i], tmux.ErrUntrusted) || errors.Is(errs[i], tmux.ErrExhausted) || errors.Is(errs[i], tmux.ErrVersionMismatch) {
			return l, errs[i]
		}
		// Something that listens but is not a tmux server is omitted.
		if errs[i] == nil && info.IsAlive {
			found = append(found, info)
		}
	}
	return page(found, in.paging), ctx.Err()
})

type listServersIn struct {
	ExtraSocketPaths []string `json:"extra_socket_paths,omitempty" desc:"sockets outside tmux's own directory"`
	paging
}

// servers returns handles on the sockets in tmux's directory, in order of their names,
// followed by the extra ones, each once. A pinned server has only its own.
func (s *Server) servers(extra []string) ([]*tmux.Server, error) {
	if s.cfg.Pin {
		if len(extra) > 0 {
			return nil, s.pinned("extra_socket_paths")
		}
		return []*tmux.Server{s.handles[""]}, nil
	}
	dir := tmux.SocketDir(s.cfg.Env)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, reply.Faultf(reply.KindTmux, "cannot list the sockets of tmux: %v", err)
	}
	paths := make([]string, 0, len(entries)+len(extra))
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	var servers []*tmux.Server
	seen := map[string]bool{}
	for i, p := range append(paths, extra...) {
		info, err := os.Stat(p)
		if err == nil && info.Mode().Type() != os.ModeSocket && i >= len(entries) {
			return nil, reply.Argument("extra_socket_paths", "has %s, which is not a socket (%v)", p, info.Mode())
		}
		if err != nil || info.Mode().Type() != os.ModeSocket || seen[caller.RealPath(p)] {
			continue
		}
		seen[caller.RealPath(p)] = true
		cfg := s.tmuxConfig()
		// Something that listens need not answer.
		cfg.Timeout = 5 * time.Second
		if i < len(entries) {
			cfg.SocketName = entries[i].Name()
		} else {
			cfg.SocketPath = p
		}
		srv, err := tmux.New(cfg)
		if err != nil {
			return nil, err
		}
		servers = append(servers, srv)
	}
	return servers, nil
}

// clientInfo is what list_clients returns for a terminal attached to tmux.
type clientInfo struct {
	ClientName         string          `json:"client_name" tmux:"client_name"`
	ClientTTY          *string         `json:"client_tty" tmux:"client_tty"`
	ClientPID          int             `json:"client_pid" tmux:"client_pid"`
	ClientUser         *string         `json:"client_user" tmux:"client_user,since=3.3"`
	ClientTermname     *string         `json:"client_termname" tmux:"client_termname"`
	ClientTermtype     *string         `json:"client_termtype" tmux:"client_termtype"`
	ClientTermfeatures []string        `json:"client_termfeatures" tmux:"client_termfeatures,sep=comma"`
	ClientTheme        *string         `json:"client_theme" tmux:"client_theme,since=3.6"`
	ClientWidth        *int            `json:"client_width" tmux:"client_width"`
	ClientHeight       *int            `json:"client_height" tmux:"client_height"`
	ClientFlags        []string        `json:"client_flags" tmux:"client_flags,sep=comma"`
	ClientControlMode  bool            `json:"client_control_mode" tmux:"client_control_mode"`
	ClientReadonly     bool            `json:"client_readonly" tmux:"client_readonly"`
	ClientPrefix       bool            `json:"client_prefix" tmux:"client_prefix"`
	ClientUTF8         bool            `json:"client_utf8" tmux:"client_utf8"`
	ClientKeyTable     *string         `json:"client_key_table" tmux:"client_key_table"`
	ClientCreated      time.Time       `json:"client_created" tmux:"client_created"`
	ClientActivity     time.Time       `json:"client_activity" tmux:"client_activity"`
	ClientSession      *string         `json:"client_session" tmux:"client_session"`
	ClientLastSession  *string         `json:"client_last_session" tmux:"client_last_session"`
	SessionID          *tmux.SessionID `json:"session_id" tmux:"session_id"`
	WindowID           *tmux.WindowID  `json:"window_id" tmux:"window_id"`
	PaneID             *tmux.PaneID    `json:"pane_id" tmux:"pane_id"`
}

var listClients = newTool(tool{
	name: "list_clients", title: "List tmux Clients", kind: reads, set: setSessions,
	aim:  target.Filter(target.Session),
	hint: "is a user watching",
	desc: "List the terminals attached to tmux and the session, window and pane each is looking at. Use it to find out whether a user is watching a pane.",
}, func(ctx context.Context, c *call, in listInSession) (l reply.List[clientInfo], err error) {
	only, err := tokensFor[clientInfo](c, in.narrowing, "client_name", "client_session", "session_id")
	if err != nil {
		return l, err
	}
	var b tmux.Batch
	clients := tmux.Rows[clientInfo](&b, tmux.ListClients{}, only...)
	if err := target.NoneIsEmpty(b.Do(ctx, c.tmux)); err != nil {
		return l, err
	}
	rows := *clients
	if s := c.on.Selection; !s.Zero() {
		rows = slices.DeleteFunc(rows, func(r clientInfo) bool {
			return s.Session != "" && reply.Value(r.SessionID) != s.Session || s.Session == "" && reply.ValueOr(r.ClientSession, "") != s.Name
		})
		if len(rows) == 0 {
			if _, err := find[sessionInfo](ctx, c, s); err != nil {
				return l, err
			}
		}
	}
	return narrow(rows, in.narrowing, func(rows []clientInfo) []clientInfo { return rows })
})
