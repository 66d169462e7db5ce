package cli

import (
	"io"
	"testing"
)

// Lines of another program stay lines, below the text that quotes them, also on a terminal.
func TestWrapKeepsLines(t *testing.T) {
	t.Parallel()
	text := "no answer (exit status 1)\n    codex: nothing here\n    and more"
	p := newPrinter(io.Discard)
	for width, want := range map[int]string{
		0:  "no answer (exit status 1)\n      codex: nothing here\n      and more",
		24: "no answer (exit\n      status 1)\n      codex: nothing\n      here\n      and more",
	} {
		p.width = width
		if got := p.wrap(text, 6); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// What a line of verify shows of a version and a time.
func TestShort(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v0.0.0-20261130180800-f4a50a7cee2a":        "f4a50a7cee2a",
		"v0.0.0-20261130180800-f4a50a7cee2a+dirty":  "f4a50a7cee2a+dirty",
		"v1.2.4-0.20261130180800-f4a50a7cee2a":      "f4a50a7cee2a",
		"v1.3.0-rc.1.0.20261130180800-f4a50a7cee2a": "f4a50a7cee2a",
		"v1.2.3": "v1.2.3", "1.0": "1.0", "(devel)": "(devel)", "2026-11-30": "2026-11-30", "": "",
	} {
		if got := shortVersion(version); got != want {
			t.Errorf("%s: %s", version, got)
		}
	}
	for s, want := range map[float64]string{0: "under 0.1 s", 0.099: "under 0.1 s", 0.1: "0.1 s", 12.34: "12.3 s"} {
		if got := seconds(s); got != want {
			t.Errorf("%v: %s", s, got)
		}
	}
	if got := count(1, "tool", "tools") + count(0, "tool", "tools") + count(2, "entry", "entries"); got != "1 tool0 tools2 entries" {
		t.Error(got)
	}
}
