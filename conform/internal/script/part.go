package script

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// part is the state of the lines since the last claim. In a script with claims of its own on layers
// api and mcp, a part that fails does not end the script, which goes on with the next part. Other
// scripts are one part.
type part struct {
	alone  bool     // several parts fail alone
	failed *Verdict // how the part came out, if it failed
	asked  bool     // the API or the MCP server was asked
	looked bool     // something was asked or examined
	// missed is set if the last call was skipped or failed: the lines after it have nothing to
	// examine.
	missed bool
	// lost are the variables that could not be saved, in all parts, and why.
	lost map[string]string
}

func firstPart(lines []gap.Line, layer report.Layer) part {
	_, _, claims := ahead(lines, 0, "")
	return part{alone: claims && (layer == report.APILayer || layer == report.MCPLayer), lost: map[string]string{}}
}

func (p part) next() part { return part{alone: p.alone, lost: p.lost} }

// goesOn reports whether the script goes on after a failure of this kind.
func (p *part) goesOn(kind Kind) bool {
	return p.alone && slices.Contains([]Kind{Failed, Mapping, Schema, NotOffered, NotReached}, kind)
}

// skips reports whether to skip a line: one that asks or examines in a part that has failed, or one
// that needs a lost variable, which fails its part.
func (p *part) skips(l gap.Line) bool {
	if !p.alone || l.Command == "claim" || l.Command == "extra" {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(p.lost)) {
		if uses(l, name) {
			why := fmt.Sprintf("it needs $%s, which is not known: %s", name, p.lost[name])
			p.failed = cmp.Or(p.failed, &Verdict{Kind: NotReached, Line: l.Number, Why: why})
			p.missed = true
			return true
		}
	}
	if p.failed == nil {
		return false
	}
	switch {
	case l.Command == "save":
		if p.missed && len(l.Words) > 1 {
			p.lost[l.Words[1]] = p.failed.Why
		}
		return p.missed
	case asks(l):
		p.missed = true
		return true
	case l.Command == "wait-until":
		return p.asked // for what the call was to do
	}
	return slices.Contains(looking, l.Command)
}

// asks reports whether a line calls the API or the MCP server.
func asks(l gap.Line) bool {
	return slices.Contains([]string{"api", "mcp", "mcp-leave"}, calls(l))
}

// looks reports whether a line asks its part's question, or examines an answer.
func looks(l gap.Line) bool {
	return asks(l) || l.Command != "claim" && l.Command != "extra" && slices.Contains(looking, l.Command)
}

// endsPart reports whether a line is a claim that ends a part: one without an expected verdict.
func endsPart(l gap.Line) bool {
	r, ok := gap.RuleIn(l)
	return ok && r.Claim != "" && !r.Judged
}

// calls returns the word of a line that calls the target: api of "try api info".
func calls(l gap.Line) string {
	at := map[string]int{"try": 1, "wait-until": 2}[l.Command]
	if at >= len(l.Words) {
		return l.Command
	}
	return l.Words[at]
}

var quoted = regexp.MustCompile(`'[^']*'`)

// uses reports whether a line expands a variable.
func uses(l gap.Line, name string) bool {
	text := quoted.ReplaceAllString(l.Text, "") // quotes prevent expansion
	return regexp.MustCompile(`\$\{?` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}

// endOfLine is the panic value that ends a failed command if the script goes on.
type endOfLine struct{}

// upTo calls a command, and recovers from endOfLine.
func upTo(command func()) {
	defer func() {
		if r := recover(); r != nil && r != (endOfLine{}) {
			panic(r)
		}
	}()
	command()
}

// end ends the script with a verdict, or only its part.
func (s *script) end(ts *testscript.TestScript, v *Verdict) {
	if !s.part.goesOn(v.Kind) || s.ctx.Err() != nil || s.tooMuch.Load() != nil {
		s.verdict = v
		ts.Fatalf("%s", v.Why)
	}
	ts.Logf("FAIL: %s%s", where(s.req.File, v), v.Why)
	s.part.failed = cmp.Or(s.part.failed, v)
	s.part.missed = s.part.missed || s.now.Command != "save"
	if s.now.Command == "save" && len(s.now.Words) > 1 {
		s.part.lost[s.now.Words[1]] = v.Why
	}
	panic(endOfLine{})
}

func (c *claims) add(p part, file, text string, asked bool) {
	claim := report.Claim{Text: text, Asked: asked, Expected: report.Confirmed, Verdict: report.Confirmed}
	if v := p.failed; v != nil {
		claim.Verdict, claim.Outcome, claim.Why = "", v.Kind.outcome(), v.Why
		if v.Kind != NotOffered {
			claim.Why = where(file, v) + v.Why
		}
		if v.Evidence != (report.Evidence{}) {
			claim.Evidence = &v.Evidence
		}
	}
	c.all = append(c.all, claim)
}

// ahead returns the next claim for a version after a line: the claim of the part that the line is
// in.
func ahead(lines []gap.Line, behind int, version string) (text string, asked, ok bool) {
	for _, l := range lines[min(behind, len(lines)):] {
		if r, is := gap.RuleIn(l); is && r.Claim != "" && r.Has(version) {
			return r.Claim, !r.Extra, true
		}
	}
	return "", false, false
}
