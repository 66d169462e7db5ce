package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a watcher sees of a piece of output, in a pane of 20 columns and 5 rows.
func TestWatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output string
		want   []string
	}{
		"lines":                      {"one\r\ntwo\r\n", []string{"one", "two"}},
		"a line feed alone":          {"one\ntwo", []string{"one", "   two"}},
		"an unfinished line":         {"one\r\nReady> ", []string{"one", "Ready> "}},
		"colors":                     {"\x1b[1mrea\x1b[32mdy\x1b[m on\x1b[K 1\r\n", []string{"ready on 1"}},
		"a line that is overwritten": {"ready\rgone\x1b[K\r\n", []string{"ready", "gone"}},
		"by backspaces":              {"up\b\bno\r\n", []string{"up", "no"}},
		"by moving to the left":      {"up\x1b[2Dno\r\n", []string{"up", "no"}},
		"a progress bar":             {" 9%\r99%\rdone\x1b[K\r\n", []string{" 9%", "99%", "done"}},
		"a line that is erased":      {"ready\x1b[2Kgone\r\n", []string{"ready", "     gone"}},
		"a screen that is cleared":   {"ready\x1b[2J\x1b[Hgone", []string{"ready", "gone"}},
		"and its history":            {"ready\r\n\x1b[H\x1b[2J\x1b[3Jgone\r\n", []string{"ready", "gone"}},
		"a reset":                    {"ready\x1bcgone", []string{"ready", "gone"}},
		"a line above":               {"a\r\nb\r\n\x1b[2Aready\x1b[2B\r\n", []string{"a", "b", "ready"}},
		"text further right":         {"a\x1b[10Gb\x1b[3Cc\r\n", []string{"a        b   c"}},
		"text further left":          {"     b\x1b[1Ga\r\n", []string{"     b", "a    b"}},
		"a line that wraps":          {strings.Repeat("x", 45) + " ready\r\nnext", []string{strings.Repeat("x", 45) + " ready", "next"}},
		"one longer than the screen": {strings.Repeat("x", 250) + " ready", []string{strings.Repeat("x", 250) + " ready"}},
		"the alternate screen":       {"a\x1b[?1049h\x1b[2J\x1b[Hready\x1b[3;5Hon\x1b[?25l 1\x1b[?1049lb", []string{"a", "ready", "    on 1", "ab"}},
		"changes of a row there":     {"\x1b[?1049h\x1b[Hbuilding x\x1b[H\x1b[Kready   ", []string{"building x", "ready   "}},
		"a row that is left there":   {"\x1b[?1049h\x1b[Hready", []string{"ready"}},
		"an empty line":              {"\r\n\r\n", nil},
		"a title":                    {"\x1b]0;ready\a1\x1b]8;;http://x\x1b\\2\x1b]8;;\x1b\\3\r\n", []string{"123"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1000, 1} {
				var got []string
				tr := New(20, 5, -1, func(string) {})
				tr.Watch(func(line string) { got = append(got, line) })
				for p := []byte(c.output); len(p) > 0; {
					n := min(size, len(p))
					must2(tr.Write(p[:n]))
					p = p[n:]
				}
				tr.Show()
				tr.Show() // nothing was written since
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("in pieces of %d bytes (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

// An unfinished line is seen as it is whenever it is shown, and whole at its end.
func TestWatchInParts(t *testing.T) {
	t.Parallel()
	var got []string
	tr := New(20, 5, -1, func(string) {})
	tr.Watch(func(line string) { got = append(got, line) })
	for _, piece := range []string{"Star", "ting\xe2", "\x80", "\xa6 done", "\r", "\n"} {
		must2(tr.Write([]byte(piece)))
		tr.Show()
	}
	if diff := cmp.Diff([]string{"Star", "Starting", "Starting… done"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever a program prints, what a watcher gets is bounded by that.
func TestWatchIsBounded(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]string{
		"back in a long line": strings.Repeat("x", 900_000) + strings.Repeat("x\b", 50_000),
		"and up":              strings.Repeat("x", 900_000) + strings.Repeat("\x1b[Ax\r\n", 50_000),
		"lines":               strings.Repeat("a line\r\n", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := 0
			tr := New(80, 24, -1, func(string) {})
			tr.Watch(func(line string) { seen += len(line) })
			must2(tr.Write([]byte(output)))
			if most := maxLine + seenBytes*len(output); seen > most || seen < len("a line") {
				t.Errorf("%d bytes of %d were seen, want at most %d", seen, len(output), most)
			}
		})
	}
}

// A line that is too long is seen in parts.
func TestWatchSplits(t *testing.T) {
	t.Parallel()
	var got []string
	tr := New(80, 24, -1, func(string) {})
	tr.Watch(func(line string) { got = append(got, fmt.Sprintf("%t", strings.Contains(line, "ready"))) })
	must2(tr.Write([]byte("ready" + strings.Repeat("x", maxLine+5000) + "\r\n")))
	if diff := cmp.Diff([]string{"true", "false"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func must2(_ int, err error) {
	if err != nil {
		panic(err)
	}
}

func BenchmarkWatch(b *testing.B) {
	output := []byte(strings.Repeat("2024-01-01 00:00:00 GET /orders/17 200 in 3 ms\r\n", 20_000))
	for _, watched := range []bool{false, true} {
		b.Run(fmt.Sprintf("watched=%t", watched), func(b *testing.B) {
			b.SetBytes(int64(len(output)))
			b.ReportAllocs()
			for b.Loop() {
				tr := New(80, 24, -1, func(string) {})
				if watched {
					tr.Watch(func(string) {})
				}
				must2(tr.Write(output))
			}
		})
	}
}
