package server

import (
	"context"
	"slices"
	"strings"

	"tmuxmcp/server/internal/reply"
)

type ceilingKey struct{}

// below returns ctx for the calls of a batch that runs tools up to a tier.
func below(ctx context.Context, ceiling Tier) context.Context {
	return context.WithValue(ctx, ceilingKey{}, ceiling)
}

func inBatch(ctx context.Context) bool { return ctx.Value(ceilingKey{}) != nil }

// tierIn returns the tier of a call: that of the server, or of the enclosing batch.
func (s *Server) tierIn(ctx context.Context) Tier {
	if ceiling, ok := ctx.Value(ceilingKey{}).(Tier); ok && s.cfg.Tier.allows(ceiling) {
		return ceiling
	}
	return s.cfg.Tier
}

// permit refuses arguments that need a higher tier than the tool itself. why says what the
// call would do.
func (c *call) permit(need Tier, why string) error {
	// Anything that needs the highest tier may end up running a program.
	if has := c.s.cfg.Effects; has != nil && !slices.Contains(has, doesExecute) {
		return reply.Faultf(reply.KindTier, "this call of %s needs the toolset %s: %s", c.tool.name, doesExecute, why)
	}
	if c.tier.allows(need) {
		return nil
	}
	f := reply.Faultf(reply.KindTier, "this call of %s needs the tier %s: %s", c.tool.name, need, why)
	if c.s.cfg.Tier.allows(need) {
		return f.Suggest("call it by itself: this batch runs what the tier %s may", c.tier)
	}
	return f.Suggest("its user can start this server with --safety %s or %s=%s", need, safetyVariable, need)
}

// refusal returns why this server does not offer a tool: it is above the server's tier or
// outside its toolsets. It returns nil if the tool is offered. See [New] for the list of
// tools.
func (s *Server) refusal(d *tool) *reply.Fault {
	if does := d.kind.effect(); s.cfg.Effects != nil && !slices.Contains(s.cfg.Effects, does) {
		return reply.Faultf(reply.KindTier, "%s is in the toolset %s, and this server offers %s", d.name, does, strings.Join(s.cfg.Effects, ", ")).
			Suggest("its user can start it with LIBTMUX_TOOLSETS=%s", strings.Join(append(slices.Clone(s.cfg.Effects), does), ","))
	}
	if !s.cfg.Tier.allows(d.kind.tier) {
		need := d.kind.tier
		if need == "" {
			return reply.Faultf(reply.KindTier, "%s has no tier and is refused", d.name)
		}
		return reply.Faultf(reply.KindTier, "%s needs the tier %s, and this server runs as %s", d.name, need, s.cfg.Tier).
			Suggest("its user can start it with --safety %s or %s=%s", need, safetyVariable, need)
	}
	if len(s.cfg.Toolsets) > 0 && !slices.Contains(s.cfg.Toolsets, d.set) && !(d.core && slices.Contains(s.cfg.Toolsets, setCore)) {
		return reply.Faultf(reply.KindTier, "%s is in the toolset %s, and this server offers %s", d.name, d.set, strings.Join(s.cfg.Toolsets, ", ")).
			Suggest("its user can start it with --toolsets %s", strings.Join(append(slices.Clone(s.cfg.Toolsets), d.set), ","))
	}
	return nil
}
