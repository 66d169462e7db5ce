package server

import (
	"context"
	"errors"
	"slices"
	"sync"

	"tmuxmcp/server/internal/lost"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

var listSessions = newTool(tool{
	name: "list_sessions", title: "List tmux Sessions", kind: reads, set: setSessions, core: true,
	aim: target.Nowhere,
	desc: "List tmux sessions: id, name, number of windows and attached clients, active pane. Start here to see what is running; list_panes shows the " +
		"terminals in them.",
}, func(ctx context.Context, c *call, in listSessionsIn) (reply.List[rows.Session], error) {
	return rows.Answer[rows.Session](ctx, c.Source, c.on, rows.Narrowing{Filters: in.Filters, Paging: in.Paging}, tmux.ListSessions{})
})

type listSessionsIn struct {
	target.OnSocket
	Filters rows.Filters `json:"filters,omitempty" desc:"property or property__operator to value"`
	rows.Paging
}

var getSessionInfo = newTool(tool{
	name: "get_session_info", title: "Get tmux Session Info", kind: reads, set: setSessions,
	aim:  target.Filter(target.Session),
	desc: "Get one session's metadata: windows, attached clients, alerts, active pane. Defaults to the caller's session. For several use list_sessions.",
}, func(ctx context.Context, c *call, in target.OfSession) (*rows.SessionDetail, error) {
	return rows.Find[rows.SessionDetail](ctx, c.Source, c.on.Selection)
})

var getServerInfo = newTool(tool{
	name: "get_server_info", title: "Get tmux Server Info", kind: reads, set: setSessions,
	aim:  target.Nowhere,
	desc: "Get one tmux server's version, socket path and number of sessions, and whether it is running. Not an error if no server is running.",
}, func(ctx context.Context, c *call, in target.OnSocket) (rows.Server, error) {
	info, err := sockets.Info(ctx, c.Tmux)
	if err == nil && !info.IsAlive {
		if text, hint := lost.Server(info.SocketPath); text != "" {
			reply.Note(ctx, "%s: %s", text, hint)
		}
	}
	return info, err
})

var listServers = newTool(tool{
	name: "list_servers", title: "List tmux Servers", kind: reads, set: setSessions,
	aim:  target.Nowhere,
	desc: "Find running tmux servers (sockets) of this user, when there may be more than the configured one. Use a socket_name it returns in other tools.",
}, func(ctx context.Context, c *call, in listServersIn) (l reply.List[rows.Server], err error) {
	servers, err := c.s.sockets.All(in.ExtraSocketPaths)
	if err != nil {
		return l, err
	}
	infos := make([]rows.Server, len(servers))
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, srv := range servers {
		wg.Go(func() { infos[i], errs[i] = sockets.Info(ctx, srv) })
	}
	wg.Wait()
	found := []rows.Server{}
	for i, info := range infos {
		if errors.Is(errs[i], tmux.ErrUntrusted) || errors.Is(errs[i], tmux.ErrExhausted) || errors.Is(errs[i], tmux.ErrVersionMismatch) {
			return l, errs[i]
		}
		// Something that listens but is not a tmux server is omitted.
		if errs[i] == nil && info.IsAlive {
			found = append(found, info)
		}
	}
	return rows.Page(found, in.Paging), ctx.Err()
})

type listServersIn struct {
	ExtraSocketPaths []string `json:"extra_socket_paths,omitempty" desc:"sockets outside tmux's own directory"`
	rows.Paging
}

var listClients = newTool(tool{
	name: "list_clients", title: "List tmux Clients", kind: reads, set: setSessions,
	aim:  target.Filter(target.Session),
	hint: "is a user watching",
	desc: "List the terminals attached to tmux and the session, window and pane each is looking at. Use it to find out whether a user is watching a pane.",
}, func(ctx context.Context, c *call, in rows.ListInSession) (l reply.List[rows.Client], err error) {
	only, err := rows.TokensFor[rows.Client](c.Form, in.Narrowing, "client_name", "client_session", "session_id")
	if err != nil {
		return l, err
	}
	var b tmux.Batch
	clients := tmux.Rows[rows.Client](&b, tmux.ListClients{}, only...)
	if err := target.NoneIsEmpty(b.Do(ctx, c.Tmux)); err != nil {
		return l, err
	}
	listed := *clients
	if s := c.on.Selection; !s.Zero() {
		listed = slices.DeleteFunc(listed, func(r rows.Client) bool {
			return s.Session != "" && reply.Value(r.SessionID) != s.Session || s.Session == "" && reply.ValueOr(r.ClientSession, "") != s.Name
		})
		if len(listed) == 0 {
			if _, err := rows.Find[rows.Session](ctx, c.Source, s); err != nil {
				return l, err
			}
		}
	}
	return rows.Narrow(listed, in.Narrowing, func(listed []rows.Client) []rows.Client { return listed })
})
