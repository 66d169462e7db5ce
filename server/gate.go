package server

import (
	"slices"
	"strings"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
)

// refusal returns why this server does not offer a tool: it is above the server's tier or
// outside its toolsets. It returns nil if the tool is offered. See [New] for the list of
// tools.
func (s *Server) refusal(d *tool) *reply.Fault {
	if does := d.kind.effect(); s.cfg.Effects != nil && !slices.Contains(s.cfg.Effects, does) {
		return reply.Faultf(reply.KindTier, "%s is in the toolset %s, and this server offers %s", d.name, does, strings.Join(s.cfg.Effects, ", ")).
			Suggest("its user can start it with LIBTMUX_TOOLSETS=%s", strings.Join(append(slices.Clone(s.cfg.Effects), does), ","))
	}
	if !s.cfg.Tier.Allows(d.kind.tier) {
		need := d.kind.tier
		if need == "" {
			return reply.Faultf(reply.KindTier, "%s has no tier and is refused", d.name)
		}
		return reply.Faultf(reply.KindTier, "%s needs the tier %s, and this server runs as %s", d.name, need, s.cfg.Tier).
			Suggest("its user can start it with --safety %s or %s=%s", need, guard.SafetyVariable, need)
	}
	if len(s.cfg.Toolsets) > 0 && !slices.Contains(s.cfg.Toolsets, d.set) && !(d.core && slices.Contains(s.cfg.Toolsets, setCore)) {
		return reply.Faultf(reply.KindTier, "%s is in the toolset %s, and this server offers %s", d.name, d.set, strings.Join(s.cfg.Toolsets, ", ")).
			Suggest("its user can start it with --toolsets %s", strings.Join(append(slices.Clone(s.cfg.Toolsets), d.set), ","))
	}
	return nil
}
