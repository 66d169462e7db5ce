package conform

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// A report of all suites over nine targets fits into 80 columns, beside each other. The
// matrix comes first, and each failure below it has a link to its cell.
func TestAllSuitesOverNineTargets(t *testing.T) {
	gaps, err := LoadSuites(AllSuites)
	if err != nil {
		t.Fatal(err)
	}
	r := &report.Report{Version: report.FormatVersion, Layers: report.Layers(), Suites: gap.SuitesOf(gaps), Server: "other-mcp --flag", Dialect: "mine"}
	for _, v := range []string{"3.2a", "3.3a", "3.4", "3.5a", "3.6a", "3.7", "3.7c", "next-3.8", "3.8"} {
		r.Targets = append(r.Targets, report.Target{Name: v, Version: v, Path: "/opt/tmux", Spec: "/opt/tmux", Env: []string{"A=b c"}})
	}
	for _, g := range gaps {
		r.Gaps = append(r.Gaps, g.GapInfo)
		for i, target := range r.Targets {
			for _, l := range g.Layers() {
				c := report.Cell{Suite: g.Suite, Gap: g.Number, Layer: l, Tmux: target.Name, Transport: "exec", Status: report.Pass}
				switch {
				case l == report.MCPLayer && g.Number == 4:
					c.Status, c.Reason = report.NotOffered, "the server offers no tool clear_pane"
				case g.Number == 101 && i == 5:
					c.Status, c.Reason, c.Reproducer = report.Fail, "it broke", "#!/bin/sh\necho </pre>\n"
					c.Evidence = []report.Evidence{{Command: "tmux break-pane", Expected: "success", Actual: "nothing"}}
					c.Claims = []report.Claim{{Outcome: report.Open, Why: c.Reason, Evidence: &c.Evidence[0]}}
				}
				c.Settle(nil)
				r.Cells = append(r.Cells, c)
			}
		}
	}
	for _, unicode := range []bool{false, true} {
		text := inFormat(t, "text", r, report.Style{Unicode: unicode})
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		if !strings.Contains(text, " 3.2a  3.3a  3.4  3.5a  3.6a  3.7  3.7c  next-3.8  3.8\n") {
			t.Errorf("the targets are not all beside each other:\n%s", text)
		}
		for _, want := range []string{" 4  not offered: the server offers no tool clear_pane\n", "\nreleases: what changed between", "dialect mine\n",
			"shown by  mcp-conform reproduce 101/tmux/3.7 --tmux /opt/tmux\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	for name, format := range map[string]struct {
		text                    string
		matrix, failures, shows string
	}{
		"text":     {inFormat(t, "text", r, report.Style{}), "670: the 14 gaps", "\nFailures\n", "it broke"},
		"html":     {inFormat(t, "html", r, report.Style{}), `id="matrix"`, `id="failures"`, `href="#gap-101-3.7-tmux"`},
		"markdown": {inFormat(t, "markdown", r, report.Style{}), "| 101 | break-pane |", "### Failures", "```sh\n#!/bin/sh"},
	} {
		m, f := strings.Index(format.text, format.matrix), strings.Index(format.text, format.failures)
		if m < 0 || f < m || !strings.Contains(format.text[f:], format.shows) {
			t.Errorf("%s: matrix at %d, failures at %d, want the matrix first and %q below", name, m, f, format.shows)
		}
	}
	if html := inFormat(t, "html", r, report.Style{}); !strings.Contains(html, `<tr class="suite"><th scope="rowgroup" colspan="10"><span id="suite-agents">agents</span>`) || strings.Contains(html, "echo </pre>") {
		t.Error("the page lacks the suite's heading, or the reproducer is not quoted")
	}
}

func inFormat(t *testing.T, format string, r *report.Report, style report.Style) string {
	t.Helper()
	var b strings.Builder
	if err := report.Write(&b, format, r, style); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
