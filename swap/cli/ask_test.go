package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"tmuxmcp/internal/terminal"
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
	if terminal.Is(strings.NewReader("")) {
		t.Error("a reader is a terminal")
	}
}

// A line of progress replaces the last, and does not wrap.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	a := &app{err: newPrinter(&out)}
	a.progress(strings.Repeat("é", 90))
	a.progress("")
	if want := "\r\x1b[Kmcp-swap: " + strings.Repeat("é", 69) + "\r\x1b[K"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}
