package conform

import (
	"fmt"
	"strings"
	"testing"
)

// A failure begins with its message, whatever the command printed besides.
func TestMessageFirst(t *testing.T) {
	o := outcome{code: 1, stdout: "{\n  \"error\": {}\n}\n", stderr: "no such pane: %9\n"}
	if got := o.said(); !strings.HasPrefix(got, "no such pane: %9\n(exit status 1)\n{") {
		t.Errorf("it begins with something else: %q", got)
	}
	if got := (outcome{code: 1, stdout: "only this\n"}).said(); got != "only this\n(exit status 1)" {
		t.Errorf("without a message: %q", got)
	}
}

// Long evidence keeps its beginning, which has the message, and its end.
func TestEvidenceKeepsBothEnds(t *testing.T) {
	r := &textReport{Report: &Report{}}
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	r.evidence("actual", strings.Join(lines, "\n"))
	got := r.buf.String()
	for _, want := range []string{"line 0\n", "… 28 more lines\n", "line 39\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}
