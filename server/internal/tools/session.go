package tools

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"tmuxmcp/server/internal/lost"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

var listSessions = tool.New(tool.Decl{
	Name: "list_sessions", Title: "List tmux Sessions", Kind: tool.Reads, Set: tool.Sessions, Core: true,
	Aim: target.Nowhere,
	Desc: "List tmux sessions: id, name, number of windows and attached clients, active pane. Start here to see what is running; list_panes shows the " +
		"terminals in them.",
}, func(ctx context.Context, c tool.Call, in listSessionsIn) (reply.List[rows.Session], error) {
	return rows.Answer[rows.Session](ctx, c.Source, c.On, rows.Narrowing{Filters: in.Filters, Paging: in.Paging}, tmux.ListSessions{})
})

type listSessionsIn struct {
	target.OnSocket
	Filters rows.Filters `json:"filters,omitempty" desc:"property or property__operator to value"`
	rows.Paging
}

var getSessionInfo = tool.New(tool.Decl{
	Name: "get_session_info", Title: "Get tmux Session Info", Kind: tool.Reads, Set: tool.Sessions,
	Aim:  target.Filter(target.Session),
	Desc: "Get one session's metadata: windows, attached clients, alerts, active pane. Defaults to the caller's session. For several use list_sessions.",
}, func(ctx context.Context, c tool.Call, in target.OfSession) (*rows.SessionDetail, error) {
	return rows.Find[rows.SessionDetail](ctx, c.Source, c.On.Selection)
})

var getServerInfo = tool.New(tool.Decl{
	Name: "get_server_info", Title: "Get tmux Server Info", Kind: tool.Reads, Set: tool.Sessions,
	Aim:  target.Nowhere,
	Desc: "Get one tmux server's version, socket path and number of sessions, and whether it is running. Not an error if no server is running.",
}, func(ctx context.Context, c tool.Call, in target.OnSocket) (rows.Server, error) {
	info, err := sockets.Info(ctx, c.Tmux)
	if err == nil && !info.IsAlive {
		if text, hint := lost.Server(info.SocketPath); text != "" {
			reply.Note(ctx, "%s: %s", text, hint)
		}
	}
	return info, err
})

func listServers(s *sockets.Sockets) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "list_servers", Title: "List tmux Servers", Kind: tool.Reads, Set: tool.Sessions,
		Aim:  target.Nowhere,
		Desc: "Find running tmux servers (sockets) of this user, when there may be more than the configured one. Use a socket_name it returns in other tools.",
	}, func(ctx context.Context, c tool.Call, in listServersIn) (l reply.List[rows.Server], err error) {
		servers, skipped, err := s.All(in.ExtraSocketPaths)
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
			switch err := errs[i]; {
			case errors.Is(err, tmux.ErrExhausted): // no server is to blame
				return l, err
			case err != nil:
				why := err.Error()
				var e *tmux.Error
				if errors.As(err, &e) {
					why = strings.TrimPrefix(why, e.Command+": ")
				}
				skipped = append(skipped, sockets.Skipped{Path: info.SocketPath, Why: why})
			case info.IsAlive:
				found = append(found, info)
			case info.SocketName == nil || slices.Contains(in.ExtraSocketPaths, info.SocketPath): // tmux leaves those of servers that ended in its own directory
				skipped = append(skipped, sockets.Skipped{Path: info.SocketPath, Why: "no tmux server listens there"})
			}
		}
		noteSkipped(ctx, skipped)
		return rows.Page(found, in.Paging), ctx.Err()
	})
}

// noteSkipped says which sockets are not in the list, and why.
func noteSkipped(ctx context.Context, skipped []sockets.Skipped) {
	for i, s := range skipped {
		if i == mostSkipped {
			reply.Note(ctx, "skipped %d more", len(skipped)-i)
			return
		}
		reply.Note(ctx, "skipped %s: %s", reply.Flat(s.Path), reply.Flat(s.Why))
	}
}

// mostSkipped is how many skipped sockets a list names.
const mostSkipped = 5

type listServersIn struct {
	ExtraSocketPaths []string `json:"extra_socket_paths,omitempty" desc:"sockets outside tmux's own directory"`
	rows.Paging
}

var listClients = tool.New(tool.Decl{
	Name: "list_clients", Title: "List tmux Clients", Kind: tool.Reads, Set: tool.Sessions,
	Aim:  target.Filter(target.Session),
	Hint: "is a user watching",
	Desc: "List the terminals attached to tmux and the session, window and pane each is looking at. Shows whether a user is watching a pane.",
}, func(ctx context.Context, c tool.Call, in rows.ListInSession) (l reply.List[rows.Client], err error) {
	only, err := rows.TokensFor[rows.Client](c.Form, in.Narrowing, "client_name", "client_session", "session_id")
	if err != nil {
		return l, err
	}
	var b tmux.Batch
	clients := tmux.AddRows[rows.Client](&b, tmux.ListClients{}, only...)
	err = target.NoneIsEmpty(b.Do(ctx, c.Tmux))
	err = target.NoServerIsEmpty(ctx, c.On.Zero(), err)
	if err != nil {
		return l, err
	}
	listed := *clients
	if s := c.On.Selection; !s.Zero() {
		listed = slices.DeleteFunc(listed, func(r rows.Client) bool {
			return s.Session != "" && reply.Value(r.SessionID) != s.Session || s.Session == "" && reply.ValueOr(r.ClientSession, "") != s.Name
		})
		if len(listed) == 0 {
			if _, err := rows.Find[rows.Session](ctx, c.Source, s); err != nil {
				return l, err
			}
		}
	}
	return rows.Narrow(ctx, listed, in.Narrowing, func(listed []rows.Client) []rows.Client { return listed })
})
