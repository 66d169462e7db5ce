package transcript

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// output is what a program writes to a pane of 80 columns and 24 rows, from its first row
// on, and the lines that the pane then shows.
type output struct {
	name, output string
	want         []string
	missed       bool
}

// outputs returns the outputs of testdata/outputs.txt, and long ones.
func outputs(t *testing.T) []output {
	t.Helper()
	text, err := os.ReadFile("testdata/outputs.txt")
	must(t, err)
	all := []output{
		{"blanks at the edge", strings.Repeat(" ", 80) + "\r\n" + strings.Repeat(" ", 81) + "\r\nx", []string{strings.Repeat(" ", 80), strings.Repeat(" ", 81), "x"}, false},
		{"right at the edge", "ok\x1b[999C]", []string{"ok" + strings.Repeat(" ", 77) + "]"}, false},
		{"a line longer than the terminal", strings.Repeat("x", 200) + "\r\n", []string{strings.Repeat("x", 200)}, false},
		{"a full line", strings.Repeat("x", 80) + "\r\ny", []string{strings.Repeat("x", 80), "y"}, false},
		{"back over the edge", strings.Repeat("x", 81) + "\b\bY", []string{strings.Repeat("x", 79) + "Yx"}, false},
		{"a progress line in the last row", numbered(100) + "\x1b7\x1b[24;1HPROGRESS\x1b8", append(strings.Fields(numbered(100)), "PROGRESS"), false},
		{"that of apt", numbered(30) + "\r\n\x1b7\x1b[0;23r\x1b8\x1b[1A\x1b7\x1b[24;0f\x1b[42mProgress: [ 10%]\x1b[49m\x1b8Unpacking\r\nSetting up\r\n\n\x1b7\x1b[0;24r\x1b8\x1b[1A\x1b[J",
			append(strings.Fields(numbered(30)), "Unpacking", "Setting up"), false},
	}
	for line := range strings.Lines(string(text)) {
		mark, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		rest, err := strconv.Unquote(`"` + strings.ReplaceAll(quoted, `"`, `\"`) + `"`)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		last := &all[len(all)-1]
		switch mark {
		case "=":
			all = append(all, output{name: rest})
		case ">":
			last.output = rest
		case "|":
			last.want = append(last.want, rest)
		case "!":
			last.missed = true
		}
	}
	return all
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d\r\n", i+1)
	}
	return b.String()
}

// transcribe returns the lines of an output that begins in a row of a blank screen, or in
// an unknown row if start is -1, and whether a pane may show others.
func transcribe(columns, rows, start int, output []byte) (lines []string, missed bool) {
	lines, t := transcribed(columns, rows, start, output)
	return lines, t.Missed
}

func transcribed(columns, rows, start int, output []byte) (lines []string, t *Transcript) {
	t = New(columns, rows, start, func(line string) { lines = append(lines, line) })
	_, _ = t.Write(output)
	t.Flush()
	return lines, t
}

func TestTranscriptIsWhatWasShown(t *testing.T) {
	for _, c := range outputs(t) {
		for _, size := range []int{len(c.output) + 1, 1, 3} {
			var got []string
			tr := New(80, 24, 0, func(l string) { got = append(got, l) })
			for rest := []byte(c.output); len(rest) > 0; {
				n := min(size, len(rest))
				tr.Write(rest[:n])
				rest = rest[n:]
			}
			tr.Flush()
			if diff := cmp.Diff(c.want, got); diff != "" || tr.Missed != c.missed {
				t.Errorf("%s in pieces of %d: missed is %t; lines (-want +have):\n%s", c.name, size, tr.Missed, diff)
			}
		}
	}
}

var blanksAtEnds = regexp.MustCompile(`(?m) +$`)

// TestTranscriptIsWhatTmuxShows: unless it is missed, the transcript is what a pane shows.
func TestTranscriptIsWhatTmuxShows(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	if _, err := srv.NewSession(testserver.Context(t), tmux.NewSession{}); err != nil {
		t.Fatal(err)
	}
	testserver.Run(t, srv, "set-option", "-g", "status", "off")
	dir := t.TempDir()
	all := outputs(t)
	for i, c := range all {
		file := filepath.Join(dir, strconv.Itoa(i))
		// CAN ends what the output may have begun, and then only the title changes.
		if err := os.WriteFile(file, []byte(c.output+"\x18\x1b]2;shown\a"), 0o600); err != nil {
			t.Fatal(err)
		}
		testserver.Run(t, srv, "new-window", "-d", "-t", strconv.Itoa(i+1), "stty raw -echo; cat "+file+"; exec sleep 1000")
	}
	for i, c := range all {
		target := ":" + strconv.Itoa(i+1)
		if c.missed {
			continue
		}
		testserver.Wait(t, srv, target, c.name, func() bool {
			return strings.TrimSpace(testserver.Run(t, srv, "display-message", "-p", "-t", target, "#{pane_title}")) == "shown"
		})
		show := func(lines []string) string {
			s := strings.Join(lines, "\n")
			if strings.ContainsRune(c.output, '\t') { // before tmux 3.6 they are blanks
				s = strings.NewReplacer(" ", "", "\t", "").Replace(s)
			}
			if strings.ContainsAny(c.output, "\x1b\t") { // tmux may have blanks that were not written
				s = blanksAtEnds.ReplaceAllString(s, "")
			}
			return strings.TrimRight(s, "\n")
		}
		if size := strings.TrimSpace(testserver.Run(t, srv, "display-message", "-p", "-t", target, "#{pane_width}x#{pane_height}")); size != "80x24" {
			t.Fatalf("the pane is %s", size)
		}
		want := strings.Split(testserver.Run(t, srv, "capture-pane", "-p", "-J", "-S", "-", "-t", target), "\n")
		if diff := cmp.Diff(show(want), show(c.want)); diff != "" {
			t.Errorf("%s (-tmux +want):\n%s", c.name, diff)
		}
	}
}

// TestOrdinaryOutputIsNotMissed, even if it is unknown where it begins: relative cursor
// movements do not depend on that.
func TestOrdinaryOutputIsNotMissed(t *testing.T) {
	spinner := func(frames ...string) string {
		var b strings.Builder
		for i := range 50 {
			fmt.Fprintf(&b, "\r\x1b[K%s step %d", frames[i%len(frames)], i)
		}
		return b.String() + "\r\x1b[K"
	}
	for name, output := range map[string]string{
		"seq":                   numbered(1000),
		"long lines":            strings.Repeat(strings.Repeat("long ", 50)+"\r\n", 10),
		"colours and tabs":      strings.Repeat("\x1b[32mok\x1b[m  \tgithub.com/some/package\t0.013s\r\n", 50),
		"wide characters":       strings.Repeat("日本語のテキスト、長い行。", 20) + "\r\n✔ done 🚀 naïve e\u0301 ก็ │ ─ ⣿\r\n",
		"npm":                   spinner("⠋", "⠙", "⠹", "⠸") + "\x1b[?25l\x1b[1G\x1b[0K\\\x1b[1G\x1b[0K|\x1b[?25h\r\nadded 12 packages\r\n",
		"cargo":                 strings.Repeat("\x1b[1m\x1b[32m   Compiling\x1b[0m foo v1.0\r\n\x1b[1m\x1b[36m    Building\x1b[0m [=>   ] 3/90: foo   \r\x1b[K", 40),
		"pytest":                "\x1b[1m==== test session starts ====\x1b[0m\r\ncollecting ... \x1b[1m\rcollecting 3 items\x1b[0m\x1b[1m\rcollected 3 items\x1b[0m\r\ntest_a.py \x1b[32m.\x1b[0m\x1b[32m [100%]\x1b[0m\r\n",
		"bars on several lines": strings.Repeat("one\x1b[K\r\ntwo\x1b[K\r\nthree\x1b[K\r\n\x1b[3A", 30) + "\x1b[3B",
		"lines erased":          "one\r\ntwo\r\nthree" + strings.Repeat("\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G1\r\n2\r\n3", 20) + "\r\n",
		"erased below":          "x\r\none\r\ntwo\r\n\x1b[2A\x1b[Jall\r\n",
		"a clear":               "before\r\n\x1b[H\x1b[Jafter\r\n\x1b[3;5Hthere\r\n",
		"a clear at first":      "\x1b[H\x1b[2J\x1b[3Jafter\r\n",
		"the alternate screen":  "a\r\n\x1b[?1049h\x1b[22;0;0t\x1b[1;24r\x1b[H\x1b[2Jfull\x1b[24;1Hscreen\x1b[?1049l\x1b[23;0;0tb\r\n",
		"a question of size":    "a\r\n\x1b7\x1b[r\x1b[999;999H\x1b[6n\x1b8b\r\n",
		"at the bottom":         numbered(30) + "\x1b7\x1b[24;1HPROGRESS\x1b8",
		"apt":                   numbered(30) + "\r\n\x1b7\x1b[0;23r\x1b8\x1b[1A\x1b7\x1b[24;0f\x1b[42mProgress\x1b[49m\x1b8Unpacking\r\n\r\n\x1b7\x1b[0;24r\x1b8\x1b[1A\x1b[J",
	} {
		tr := New(80, 24, -1, func(string) {})
		tr.Below()
		tr.Write([]byte(output))
		if tr.Flush(); tr.Missed {
			t.Errorf("%s is missed", name)
		}
	}
	// But these do depend on it.
	for name, output := range map[string]string{
		"a place on the screen":     "a\r\n\x1b[5;1Hb",
		"above the first row":       "a\x1b[2Ab",
		"further down than ever":    "a\x1b[2Bb",
		"a cursor from before":      "a\x1b8b",
		"rows that scroll":          "a\x1b7\x1b[1;10r\x1b8\r\nb",
		"a cursor that was saved":   "a\x1b7\r\n\x1b8b",
		"lines pushed off a screen": "a\r\nb\r\nc\x1b[2A\x1b[L",
		"lines erased from history": numbered(50) + "\x1b[3J",
	} {
		if _, missed := transcribe(80, 24, -1, []byte(output)); !missed {
			t.Errorf("%s is not missed", name)
		}
	}
}

// TestTranscriptOfAResizedPane: what was printed line by line is what a pane of any height
// shows, and of any width with room for it.
func TestTranscriptOfAResizedPane(t *testing.T) {
	for _, c := range []struct {
		output               string
		lower, wide, tooWide bool
	}{
		{"one\r\ntwo\r\n", true, true, true},
		{"\x1b[?25l\r[#  ]\r[## ]\r\x1b[K\x1b[32mdone\x1b(B\x1b[m\r\n", true, true, true},
		{strings.Repeat("x", 50) + "\r\n", true, true, false},
		{"x\n\b\bx", true, false, false},
		{"x\x1b[2K", true, false, false},
		{"\x1b[999C\x1b[60Dx", true, false, false},
		{strings.Repeat("x", 100) + "\r\n", true, false, false},
		{strings.Repeat("x", 80) + "x\b\bx", false, false, false},
		{"one\r\ntwo\x1b[Ax", false, false, false},
		{"one\x1b[Jx", false, false, false},
		{"one\r\n\x1b[?1049h\x1b[?1049l", false, false, false},
	} {
		_, tr := transcribed(80, 24, 0, []byte(c.output))
		if !tr.Holds(80, 24) {
			t.Errorf("%q is missed", c.output)
		}
		for i, want := range []bool{c.lower, c.wide, c.tooWide} {
			if columns := []int{80, 200, 40}[i]; tr.Holds(columns, 10) != want {
				t.Errorf("that %q holds in %d columns is %t", c.output, columns, !want)
			}
		}
	}
}

// TestTranscriptEmitsALongText: each line once, and few of them are held back.
func TestTranscriptEmitsALongText(t *testing.T) {
	t.Parallel()
	const lines = 400_000
	n := 0
	tr := New(80, 24, 0, func(l string) {
		if l != fmt.Sprintf("line %d", n) {
			t.Fatalf("line %d is %q", n, l)
		}
		n++
	})
	for i := range lines {
		fmt.Fprintf(tr, "line %d\r\n", i)
		if i-n > 24 {
			t.Fatalf("after %d lines only %d were emitted", i, n)
		}
	}
	if tr.Flush(); n != lines {
		t.Errorf("%d of %d lines were emitted", n, lines)
	}
}

// TestTranscriptTakesAnyBytes, and holds no more of them than a screen and a line.
func TestTranscriptTakesAnyBytes(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	pieces := []string{"\x1b", "[", "9", ";", "999", "A", "B", "H", "J", "K", "L", "M", "P", "@", "S", "T", "X", "b", "r", "G", "\n", "\r", "\t", "日", "e\u0301", "\u0301", "x", "?1049h", "?1049l", "\xe2", "\xff", "\x1b7", "\x1b8", "\x1bc", "\x1bM", "\b"}
	for range 3000 {
		columns, rows := 1+random.Intn(12), 1+random.Intn(6)
		tr := New(columns, rows, random.Intn(rows+1)-1, func(string) {})
		for range 60 {
			tr.Write([]byte(pieces[random.Intn(len(pieces))]))
		}
		for _, r := range tr.screen {
			if len(tr.screen) != rows || len(r.cells) > columns {
				t.Fatalf("%d rows of %d, one of %d columns of %d", len(tr.screen), rows, len(r.cells), columns)
			}
		}
		tr.Flush()
	}
	tr := New(80, 24, 0, func(l string) {
		if len(l) > maxLine+80*maxCell {
			t.Errorf("a line of %d bytes", len(l))
		}
	})
	tr.Write([]byte("\x1b]" + strings.Repeat("x", 1<<20) + "\a\x1b[" + strings.Repeat("1", 1<<20) + "m" + strings.Repeat("x", 3*maxLine) + "e" + strings.Repeat("\u0301", 1<<16)))
	if tr.Flush(); cap(tr.sequence) > 1000 || !tr.Missed {
		t.Errorf("%d bytes of a sequence are kept; missed is %t", cap(tr.sequence), tr.Missed)
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add([]byte("a\x1b[2Ab\r\n\t日\x1b[?1049hx\x1b]0;t\x07"), 3)
	f.Fuzz(func(t *testing.T, output []byte, size int) {
		var a, b []string
		whole := New(80, 24, 0, func(l string) { a = append(a, l) })
		pieces := New(80, 24, 0, func(l string) { b = append(b, l) })
		whole.Write(output)
		for rest := output; len(rest) > 0; {
			n := max(1, min(size, len(rest)))
			pieces.Write(rest[:n])
			rest = rest[n:]
		}
		whole.Flush()
		pieces.Flush()
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%q in pieces of %d differs (-whole +pieces):\n%s", output, size, diff)
		}
	})
}

func BenchmarkTranscript(b *testing.B) {
	for name, text := range map[string]string{
		"plain":    strings.Repeat("the quick brown fox jumps over the lazy dog and goes home\r\n", 1000),
		"coloured": strings.Repeat("\x1b[32mok\x1b[m  github.com/some/package\t0.013s\r\n", 1000),
		"progress": strings.Repeat("\r\x1b[K\x1b[1;32m 42%\x1b[m [=========>          ] 12.3 MB/s", 1000),
		"wide":     strings.Repeat("日本語のテキストは幅が広い文字です、改行まで続く。\r\n", 1000),
		"long":     strings.Repeat("the quick brown fox jumps over the lazy dog and goes home", 1000) + "\r\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				transcribe(80, 24, 0, []byte(text))
			}
		})
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
