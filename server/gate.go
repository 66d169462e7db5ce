package server

import (
	"slices"
	"strings"
	"unicode"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/tool"
)

// refusal returns why a server does not offer a tool: it is above the server's tier or
// outside its toolsets. It returns nil if the tool is offered. See [New] for the list of
// tools.
func refusal(cfg Config, t *tool.Tool) *reply.Fault {
	if does := t.Kind.Effect(); cfg.Effects != nil && !slices.Contains(cfg.Effects, does) {
		return reply.Faultf(reply.KindTier, "%s is in the toolset %s, and this server offers %s", t.Name, does, strings.Join(cfg.Effects, ", ")).
			Suggest("its user can start it with LIBTMUX_TOOLSETS=%s", strings.Join(append(slices.Clone(cfg.Effects), does), ","))
	}
	if !cfg.Tier.Allows(t.Kind.Tier) {
		need := t.Kind.Tier
		if need == "" {
			return reply.Faultf(reply.KindTier, "%s has no tier and is refused", t.Name)
		}
		return reply.Faultf(reply.KindTier, "%s needs the tier %s, and this server runs as %s", t.Name, need, cfg.Tier).
			Suggest("its user can start it with --safety %s or %s=%s", need, guard.SafetyVariable, need)
	}
	if len(cfg.Toolsets) > 0 && !slices.Contains(cfg.Toolsets, t.Set) && !(t.Core && slices.Contains(cfg.Toolsets, tool.Core)) {
		return reply.Faultf(reply.KindTier, "%s is in the toolset %s, and this server offers %s", t.Name, t.Set, strings.Join(cfg.Toolsets, ", ")).
			Suggest("its user can start it with --toolsets %s", strings.Join(append(slices.Clone(cfg.Toolsets), t.Set), ","))
	}
	return nil
}

// advised returns a fault without what it advises to do with tools that this server does not
// offer: a part of the suggestion up to a semicolon.
func advised(s *Server, f *reply.Fault) *reply.Fault {
	withheld := func(word string) bool {
		t := s.tools[word]
		return t != nil && (t.Retired || refusal(s.cfg, t) != nil)
	}
	parts := strings.Split(f.Suggestion, "; ")
	kept := slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(part, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }), withheld)
	})
	if len(kept) == len(parts) {
		return f
	}
	fewer := *f
	fewer.Suggestion = strings.Join(kept, "; ")
	return &fewer
}
