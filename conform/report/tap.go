package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteTAP writes the report as TAP version 14: a test for each gap, with a
// subtest that has one for each claim on each target. What does not apply or was
// skipped has the directive SKIP, what is known to fail has TODO, and whatever did
// not simply pass has its evidence as YAML. Known failures that pass are failed
// tests after the gaps.
func WriteTAP(w io.Writer, r *Report) error {
	r = printable(r)
	var b bytes.Buffer
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(r.Gaps)+len(r.Stale))
	for n, g := range r.Gaps {
		title := tapText(fmt.Sprintf("gap %d: %s", g.Number, g.Title))
		var sub bytes.Buffer
		ok, claims := "ok", 0
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.Gap != g.Number {
				continue
			}
			for k := range c.Claims {
				claims++
				c.tap(&sub, claims, &c.Claims[k])
			}
			if c.Unexpected() {
				ok = "not ok"
			}
		}
		if claims == 0 {
			fmt.Fprintf(&b, "ok %d - %s # SKIP none of its scripts is in this run\n", n+1, title)
			continue
		}
		fmt.Fprintf(&b, "# Subtest: %s\n    1..%d\n%s", title, claims, sub.String())
		fmt.Fprintf(&b, "%s %d - %s\n", ok, n+1, title)
	}
	for i, s := range r.Stale {
		fmt.Fprintf(&b, "not ok %d - %s\n", len(r.Gaps)+i+1, tapText("stale: "+s.String()))
	}
	if r.Interrupted {
		fmt.Fprintf(&b, "Bail out! interrupted\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (c *Cell) tap(b *bytes.Buffer, n int, cl *Claim) {
	ok, directive := "ok", ""
	failed := cl.Outcome.Failed() || cl.Outcome == Outcome(Errored)
	if failed {
		ok = "not ok"
	}
	switch {
	case cl.Known != nil:
		directive = " # TODO " + tapText(cl.Known.String())
	case cl.Outcome.skipped():
		directive = " # SKIP " + tapText(strings.TrimSuffix(string(cl.Outcome)+": "+c.why(cl), ": "))
	}
	what := fmt.Sprintf("tmux %s, layer %s", c.Tmux, c.Layer)
	if cl.Text != WholeClaim {
		what += ": " + cl.Text
	}
	fmt.Fprintf(b, "    %s %d - %s%s\n", ok, n, tapText(what), directive)
	fmt.Fprintf(b, "      ---\n      claim: %q\n      outcome: %q\n", c.id(cl), cl.Outcome)
	fmt.Fprintf(b, "      status: %q\n      duration_ms: %d\n", c.Status, c.DurationMS)
	field := func(indent, name, text string) {
		if text != "" {
			fmt.Fprintf(b, "%s%s: %s\n", indent, name, yamlString(text))
		}
	}
	evidence := func(indent string, e Evidence) {
		for _, f := range e.fields() {
			field(indent, f.name, f.text)
		}
	}
	field("      ", "verdict", string(cl.Verdict))
	field("      ", "reason", c.why(cl))
	if failed {
		evidence("      ", c.last(cl))
	}
	if len(c.Earlier) > 0 {
		fmt.Fprintf(b, "      earlier:\n")
		for _, a := range c.Earlier {
			fmt.Fprintf(b, "        - status: %q\n", a.Status)
			field("          ", "reason", a.Reason)
			if len(a.Evidence) > 0 {
				evidence("          ", a.Evidence[len(a.Evidence)-1])
			}
		}
	}
	fmt.Fprintf(b, "      ...\n")
}

// tapText is a text on one line, in which nothing begins a directive.
func tapText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer(`\`, `\\`, `#`, `\#`).Replace(s)
}

// yamlString quotes a printable text so that every YAML reader has it back.
func yamlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
