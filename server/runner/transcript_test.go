package runner

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTranscriptTellsWhatWasShown(t *testing.T) {
	for _, c := range []struct {
		name, output string
		want         []string
	}{
		{"nothing", "", nil},
		{"lines", "a\r\nb\r\n", []string{"a", "b"}},
		{"no newline at the end", "a\r\nb", []string{"a", "b"}},
		{"newlines without a carriage return", "a\nb\n", []string{"a", "b"}},
		{"blanks and empty lines at the end", "a  \r\n\r\n\r\n", []string{"a  ", "", ""}},
		{"a tab", "a\tb\r\n", []string{"a\tb"}},
		{"a tab over text", "aaaaaaaaaaaa\r\tX", []string{"aaaaaaaaXaaa"}},
		{"colours", "\x1b[1;31mred\x1b[m \x1b[38;5;1mx\x1b(B\x1b[0K\r\n", []string{"red x"}},
		{"a link and a title", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x07 \x1b]0;title\x07more\x1bktitle\x1b\\", []string{"text more"}},
		{"a progress bar", "10%\r50%\r100%\r\ndone\r\n", []string{"100%", "done"}},
		{"a shorter line over a longer", "abcdef\rXY\r\n", []string{"XYcdef"}},
		{"an erased line", "working…\r\x1b[Kdone\r\n", []string{"done"}},
		{"erased up to the cursor", "abcdef\x1b[3D\x1b[1KX", []string{"   Xef"}},
		{"backspaces", "abc\b\b\x1b[KX\r\n", []string{"aX"}},
		{"a spinner", "|\b/\b-\b\\\b \b", []string{" "}},
		{"bars on two lines", "one 1%\r\ntwo 1%\r\n\x1b[2Aone 9%\r\ntwo 9%\r\n", []string{"one 9%", "two 9%"}},
		{"bars that are erased first", "one 1%\r\ntwo 1%\r\n\x1b[2A\x1b[Jall\r\n", []string{"all"}},
		{"a cleared screen", "before\r\n\x1b[H\x1b[2J\x1b[3Jafter\r\n", []string{"before", "after"}},
		{"a screen cleared from its top", "before\r\n\x1b[H\x1b[Jafter\r\n", []string{"before", "after"}},
		{"a reset", "before\x1bcafter", []string{"before", "after"}},
		{"the alternate screen", "a\r\n\x1b[?1049h\x1b[Hfull\nscreen\x1b[?1049lb\r\n", []string{"a", "b"}},
		{"a wide character overwritten", "日本語\r\x1b[CX\r\n", []string{" X本語"}},
		{"a wide character over narrow ones", "abcd\r日\r\n", []string{"日cd"}},
		{"a combining accent", "e\u0301x\rA\r\n", []string{"Ax"}},
		{"right at the edge", "ok\x1b[999C]", []string{"ok" + strings.Repeat(" ", 77) + "]"}},
		{"a line longer than the terminal", strings.Repeat("x", 200) + "\r\n", []string{strings.Repeat("x", 200)}},
		{"positions", "\x1b[2J\x1b[2;3Hx\x1b[1;1Hy", []string{"y", "  x"}},
		{"saved cursor", "ab\x1b7cd\x1b8X", []string{"abXd"}},
		{"a repeated character", "a\x1b[3b", []string{"aaaa"}},
		{"characters deleted, inserted and erased", "abcdef\r\x1b[2P\x1b[1@\x1b[3G\x1b[1X", []string{" c ef"}},
		{"sequences of keyboards", "a\x1b[>1ub\x1b[<u\x1b[?2004hc\x1b[ qd", []string{"abcd"}},
		{"bytes that are no text", "a\xff\xc3(b\x00\x07\xe2\x82", []string{"a��(b��"}},
		{"a sequence cut off by CAN", "a\x1b[12\x18b\x1b]0;x\x18c", []string{"abc"}},
		{"the start of a string in binary noise", "\x1bPnoise\r\ntext\r\n", []string{"", "text"}},
		{"a control character inside a sequence", "a\x1b[\r1Cb", []string{"ab"}},
	} {
		for _, size := range []int{len(c.output) + 1, 1, 3} {
			var got []string
			tr := transcript{columns: 80, emit: func(l string) { got = append(got, l) }}
			for rest := []byte(c.output); len(rest) > 0; {
				n := min(size, len(rest))
				tr.Write(rest[:n])
				rest = rest[n:]
			}
			tr.flush()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s in pieces of %d: lines (-want +have):\n%s", c.name, size, diff)
			}
		}
	}
}

// TestTranscriptEmitsALongText: each line once, and few of them are held back.
func TestTranscriptEmitsALongText(t *testing.T) {
	const lines = 400_000
	n := 0
	tr := transcript{emit: func(l string) {
		if l != fmt.Sprintf("line %d", n) {
			t.Fatalf("line %d is %q", n, l)
		}
		n++
	}}
	for i := range lines {
		fmt.Fprintf(&tr, "line %d\r\n", i)
		if i-n > 3*maxPage {
			t.Fatalf("after %d lines only %d were emitted", i, n)
		}
	}
	if tr.flush(); n != lines {
		t.Errorf("%d of %d lines were emitted", n, lines)
	}
}

func TestTranscriptTakesAnyBytes(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	pieces := []string{"\x1b", "[", "9", ";", "999", "A", "B", "H", "J", "K", "P", "@", "X", "b", "G", "\n", "\r", "\t", "日", "e\u0301", "x", "?1049h", "?1049l", "\xe2", "\xff", "\x1b7", "\x1b8", "\x1bc", "\b"}
	for range 3000 {
		tr := transcript{columns: 80, emit: func(string) {}}
		var all bytes.Buffer
		for range 40 {
			s := pieces[random.Intn(len(pieces))]
			all.WriteString(s)
			tr.Write([]byte(s))
		}
		for i, l := range tr.page {
			w := 0
			for _, r := range l.text {
				w += widthOf(r, w)
			}
			if w != l.width {
				t.Fatalf("after %q line %d is %q with a width of %d, not %d", all.String(), i, string(l.text), w, l.width)
			}
		}
		tr.flush()
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add([]byte("a\x1b[2Ab\r\n\t日\x1b[?1049hx\x1b]0;t\x07"), 3)
	f.Fuzz(func(t *testing.T, output []byte, size int) {
		var a, b []string
		whole := transcript{emit: func(l string) { a = append(a, l) }}
		pieces := transcript{emit: func(l string) { b = append(b, l) }}
		whole.Write(output)
		for rest := output; len(rest) > 0; {
			n := max(1, min(size, len(rest)))
			pieces.Write(rest[:n])
			rest = rest[n:]
		}
		whole.flush()
		pieces.flush()
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%q in pieces of %d differs (-whole +pieces):\n%s", output, size, diff)
		}
	})
}

func BenchmarkTranscript(b *testing.B) {
	text := []byte(strings.Repeat("\x1b[32mok\x1b[m  github.com/some/package\t0.013s\r\n", 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tr := transcript{emit: func(string) {}}
		tr.Write(text)
	}
}
