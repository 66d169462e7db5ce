package gap

import (
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/conform/report"
	"tmuxmcp/tmux"
)

// Rule is a place where a script says what it expects depending on the version
// of tmux.
type Rule struct {
	Layer report.Layer
	// Versions is the range it is about, "before 3.7" or ">=3.7 <3.7c"; empty for all.
	Versions string
	// Claim is a claim, and Expected the verdict that is expected of it.
	Claim    string
	Expected report.Verdict
	// Judged is set for a claim with an expected verdict, as on layer tmux, and Extra for an
	// extra.
	Judged, Extra bool
	// NotApplicable is why the script ends with the rule; empty if it does not.
	NotApplicable string

	conditions string
}

var ruleLine = regexp.MustCompile(`^(na|extra|claim)(?:\s+(confirmed|refuted))?\s+(?:'(.*)'|([^\s']+))\s*$`)
var ruleVersions = regexp.MustCompile(`\['?(!?)tmux:([^\]']+)'?\]`)

// RuleIn returns the rule in a line, and whether there is one.
func RuleIn(l Line) (r Rule, ok bool) {
	m := ruleLine.FindStringSubmatch(l.Behind)
	if m == nil {
		return r, false
	}
	text := strings.ReplaceAll(m[3], "''", "'") + m[4]
	r = Rule{Versions: ruleRange(l.Before), conditions: l.Before}
	if m[1] == "na" {
		r.NotApplicable = text
		return r, true
	}
	r.Claim, r.Expected, r.Extra = text, report.Confirmed, m[1] == "extra"
	if m[2] != "" {
		r.Expected, r.Judged = report.Verdict(m[2]), true
	}
	return r, true
}

// Says returns the rule in words.
func (r Rule) Says() string {
	switch {
	case r.NotApplicable != "":
		return "n/a: " + r.NotApplicable
	case r.Judged:
		return string(r.Expected) + ": " + r.Claim
	case r.Extra:
		return "extra: " + r.Claim
	}
	return "asked: " + r.Claim
}

// Rules returns the rules that can be read in the gap's scripts.
func (g *Gap) Rules() []Rule {
	var rules []Rule
	for _, layer := range g.Layers() {
		for _, line := range Lines(string(g.Section(layer))) {
			if r, ok := RuleIn(line); ok {
				r.Layer = layer
				rules = append(rules, r)
			}
		}
	}
	return rules
}

// Has reports whether the rule is for a version, as far as its conditions say.
func (r Rule) Has(version string) bool {
	for _, m := range ruleVersions.FindAllStringSubmatch(r.conditions, -1) {
		if has, err := VersionHas(version, m[2]); err == nil && has == (m[1] == "!") {
			return false
		}
	}
	return true
}

// VersionHas reports whether a version meets the condition tmux:ARG: a range, or a version
// from which on it holds.
func VersionHas(version, arg string) (bool, error) {
	if strings.ContainsAny(arg, "<>=,") {
		r, err := report.ParseVersions(arg)
		return err == nil && r.Has(version), err
	}
	v, err := tmux.ParseVersion(arg)
	has, _ := tmux.ParseVersion(version)
	return err == nil && has.Has(v), err
}

// Claims returns the claims of a layer's script in order. Claims about
// other versions are marked as not applicable.
func (g *Gap) Claims(l report.Layer, version string) []report.Claim {
	var claims []report.Claim
	for _, r := range g.Rules() {
		if r.Layer != l || r.NotApplicable != "" {
			continue
		}
		i := slices.IndexFunc(claims, func(c report.Claim) bool { return c.Text == r.Claim })
		if i < 0 {
			i = len(claims)
			claims = append(claims, report.Claim{
				Number: i + 1, Text: r.Claim, Asked: !r.Extra, Outcome: report.Outcome(report.NotApplicable),
			})
		}
		if r.Has(version) {
			claims[i].Outcome, claims[i].Expected = "", r.Expected
		}
	}
	return claims
}

// ruleRange returns the range of versions in the conditions before a command.
func ruleRange(conditions string) string {
	var parts []string
	for _, m := range ruleVersions.FindAllStringSubmatch(conditions, -1) {
		not, v, word := m[1] == "!", m[2], ""
		switch isRange := strings.ContainsAny(v, "<>=,"); {
		case isRange && not:
			word = "not "
		case !isRange && not:
			word = "before "
		case !isRange:
			word = "from "
		}
		parts = append(parts, word+strings.TrimPrefix(v, "="))
	}
	return strings.Join(parts, ", ")
}
