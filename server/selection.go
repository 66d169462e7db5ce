package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/internal/nearest"
)

// Servers of the libtmux family choose their tools by effect and by name: LIBTMUX_TOOLSETS,
// LIBTMUX_TOOLS and LIBTMUX_EXCLUDE_TOOLS. These apply in addition to the tier and to our
// own toolsets, so that asking for less never yields more.

// The toolsets of the family.
const (
	doesInspect  = "inspect"  // only reads
	doesManage   = "manage"   // changes tmux, and runs no program
	doesExecute  = "execute"  // runs programs, or types into them
	doesTeardown = "teardown" // ends or discards
)

var familySets = []string{doesInspect, doesManage, doesExecute, doesTeardown}

// Selection is a choice of tools in the terms of the libtmux family. The zero Selection
// chooses none.
type Selection struct {
	// Sets are toolsets: inspect, manage, execute, teardown.
	Sets []string
	// Tools are additional tools, and Excluded tools omitted in any case, by name.
	Tools, Excluded []string
}

// does returns the toolset of the family that a tool belongs to.
func (d *tool) does() string {
	switch k := d.kind; {
	case k.tier == Readonly:
		return doesInspect
	case k.tier == Destructive, k.destructive && !k.openWorld:
		return doesTeardown
	case k.openWorld:
		return doesExecute
	}
	return doesManage
}

// refuses returns why a selection omits a tool; nil if it does not.
func (s *Selection) refuses(d *tool) *fault {
	switch does := d.does(); {
	case s == nil:
		return nil
	case slices.Contains(s.Excluded, d.name):
		return faultf(kindTier, "%s is left out by LIBTMUX_EXCLUDE_TOOLS", d.name)
	case !slices.Contains(s.Sets, does) && !slices.Contains(s.Tools, d.name):
		return faultf(kindTier, "%s is in the toolset %s, and this server offers %s", d.name, does, strings.Join(append(slices.Clone(s.Sets), s.Tools...), ", ")).
			suggest("its user can start it with LIBTMUX_TOOLSETS=%s", strings.Join(append(slices.Clone(s.Sets), does), ","))
	}
	return nil
}

// tier returns the lowest tier that offers everything in a selection.
func (s *Selection) tier() Tier {
	tier := Readonly
	for _, t := range tools {
		if need := t.kind.tier; s.refuses(t) == nil && !tier.allows(need) {
			tier = need
		}
	}
	return tier
}

// unobeyed are variables of the family that change what a server may do or how it answers,
// and that this server does not support.
var unobeyed = map[string]string{
	"LIBTMUX_TMUX_CONFIG":        "start tmux with that configuration instead",
	"LIBTMUX_ENVIRONMENT_VALUES": "environment values are shown by show_environment; leave that out with LIBTMUX_EXCLUDE_TOOLS",
	"LIBTMUX_MCP_CAPABILITIES":   "use LIBTMUX_TOOLSETS",
	"LIBTMUX_MCP_TOOLS":          "use LIBTMUX_TOOLS",
	"LIBTMUX_MCP_MAX_LINES":      "use TMUX_MCP_MAX_RESULT",
	"LIBTMUX_MCP_MAX_BYTES":      "use TMUX_MCP_MAX_RESULT",
}

// selectionFrom parses the selection in the environment; nil means all tools.
func selectionFrom(values map[string]string) (*Selection, error) {
	for _, name := range slices.Sorted(maps.Keys(unobeyed)) {
		if _, set := values[name]; set {
			return nil, fmt.Errorf("%s is set, and this server does not obey it: %s, or unset it", name, unobeyed[name])
		}
	}
	sets, hasSets := values["LIBTMUX_TOOLSETS"]
	included, hasTools := values["LIBTMUX_TOOLS"]
	excluded, hasExcluded := values["LIBTMUX_EXCLUDE_TOOLS"]
	if !hasSets && !hasTools && !hasExcluded {
		return nil, nil
	}
	names := []string{}
	for _, t := range slices.Concat(tools, promptTools) {
		names = append(names, t.name)
	}
	s := &Selection{Sets: []string{doesInspect, doesManage, doesExecute}}
	var err error
	if hasSets {
		if s.Sets, err = namesIn("LIBTMUX_TOOLSETS", sets, familySets); err != nil {
			return nil, err
		}
	}
	if s.Tools, err = namesIn("LIBTMUX_TOOLS", included, names); err != nil {
		return nil, err
	}
	if s.Excluded, err = namesIn("LIBTMUX_EXCLUDE_TOOLS", excluded, names); err != nil {
		return nil, err
	}
	return s, nil
}

// namesIn parses a comma-separated list of names; an empty text has none.
func namesIn(variable, list string, known []string) (names []string, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			hint := ""
			if len(known) < 10 {
				hint = "; it has " + strings.Join(known, ", ")
			} else {
				hint = nearest.Meant(name, known)
			}
			return nil, fmt.Errorf("%s: this server has no %q%s", variable, name, hint)
		}
		names = append(names, name)
	}
	return names, nil
}
