package conform

import (
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
