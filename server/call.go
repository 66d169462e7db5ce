package server

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/server/internal/tool"
)

func (s *Server) call(ctx context.Context, t *tool.Tool, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := rawArguments(req)
	if err != nil {
		return nil, err
	}
	in, err := t.Bind(ctx, args)
	if err != nil {
		return nil, err
	}
	waits := t.Waits(in)
	if waits && guard.InBatch(ctx) {
		return nil, reply.Faultf(reply.KindRefused, "%s blocks until its timeout, so it is not allowed in a batch", t.Name).Suggest("call it by itself")
	}
	var slot *sockets.Slot
	ask := s.questions.Of(t.Name, args, req.Params.MultiRoundTripParams, func() (resume func(context.Context) error) { return slot.Pause() })
	if err := ask.Check(); err != nil {
		return nil, err
	}
	src := rows.Source{Form: s.form}
	if name, ok := t.Socket(in); ok {
		if src.Tmux, err = s.sockets.Get(name); err != nil {
			return nil, err
		}
	}
	works := src.Tmux // what waits takes no slot
	if waits {
		works = nil
	}
	if slot, err = s.sockets.Slot(ctx, works); err != nil {
		return nil, err
	}
	defer slot.Leave()
	if src.Tmux != nil {
		if src.Here, err = s.cfg.Caller.On(ctx, src.Tmux); err != nil {
			return nil, err
		}
	}
	rules := guard.Rules{Tier: guard.TierIn(ctx, s.cfg.Tier), Most: s.cfg.Tier, Effects: s.cfg.Effects, Connect: s.sockets.At}
	g := guard.New(t.Declared(), src.Tmux, src.Here, rules, ask)
	if err := t.Check(in, tool.Limits{WaitMax: s.cfg.WaitMax, Path: s.services.Start.Path}); err != nil {
		return nil, err
	}
	on, err := t.Resolve(ctx, g, in)
	if err != nil {
		return nil, err
	}
	var out any
	var besides reply.Notices
	err = g.Proceed(reply.WithNotices(ctx, &besides), func(ctx context.Context) (err error) {
		out, err = t.Run(ctx, tool.Call{Source: src, On: on, Guard: g}, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.form.Encode(ctx, out, &besides)
}

// rawArguments returns the arguments of a call as JSON; empty if there are none.
func rawArguments(req mcp.CallToolRequest) (json.RawMessage, error) {
	args := req.Params.RawArguments
	if len(args) == 0 && req.Params.Arguments != nil {
		return params.Marshal(req.Params.Arguments)
	}
	if params.IsNull(args) {
		return nil, nil
	}
	return args, nil
}
