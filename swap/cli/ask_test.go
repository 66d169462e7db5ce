package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	for said, want := range map[string]bool{"y\n": true, " Yes \n": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		var out bytes.Buffer
		if got := newPrinter(&out).ask(t.Context(), strings.NewReader(said), "Sure?"); got != want || !strings.Contains(out.String(), "Sure? [y/N] ") {
			t.Errorf("%q: %v, %q", said, got, out.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never, _ := io.Pipe()
	if newPrinter(io.Discard).ask(ctx, never, "Sure?") {
		t.Error("an interrupt is a yes")
	}
	if isTerminal(strings.NewReader("")) {
		t.Error("a reader is a terminal")
	}
}
