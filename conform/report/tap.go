package report

import (
	_ "embed"
	"io"
	"strings"
)

//go:embed report.tap
var tapSource string

// WriteTAP writes the report as TAP version 14: a test for each gap, with a
// subtest that has one for each claim on each target. What does not apply or was
// skipped has the directive SKIP, what is known to fail has TODO, and whatever did
// not simply pass has its evidence as YAML. Known failures that pass are failed
// tests after the gaps.
func WriteTAP(w io.Writer, r *Report) error {
	r = printable(r)
	return execute(w, tapSource, r.pageFuncs(), r)
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
