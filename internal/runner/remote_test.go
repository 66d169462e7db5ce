package runner

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tmuxmcp/internal/test/testtool"
)

// What the loader answers is taken out of the output before the first mark, in pieces of any size,
// and nothing after it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := script{Token: "0123456789abcdef"}
	answer := func(text string) string { return "\x1b]6337;" + s.Token + ";" + text + "\a" }
	for name, c := range map[string]struct {
		output string
		want   []string
		lines  []string
		status int
	}{
		"answers":                {"$ (typed)\r\n" + answer("r") + answer("g") + "+ x\r\n" + answer("a\\0040b") + s.begin() + "out\r\n" + s.end() + "3\a", []string{"r", "g", "a\\0040b"}, []string{"out"}, 3},
		"output like an answer":  {answer("r") + s.begin() + answer("g") + "out\r\n" + s.end() + "0\a", []string{"r"}, []string{"out"}, 0},
		"only the end":           {answer("r") + "x" + s.end() + "130\a", []string{"r"}, nil, 130},
		"another token":          {strings.ReplaceAll(answer("r"), "0123", "3210") + answer("g") + s.begin() + s.end() + "0\a", []string{"g"}, nil, 0},
		"an answer without end":  {answer("r") + "\x1b]6337;" + s.Token + ";" + strings.Repeat("x", 3*mostPiece) + "\a" + s.begin() + "out\r\n" + s.end() + "0\a", []string{"r"}, []string{"out"}, 0},
		"the echo of the loader": {`printf "\033]6337;` + s.Token + `;r\a"` + answer("r") + s.begin() + s.end() + "0\a", []string{"r"}, nil, 0},
	} {
		for size := 1; size <= len(c.output); size += 1 + size/4 {
			var lines sinkLines
			r := newTranscriber(&Job{script: s, Place: Place{Columns: 80, Rows: 24}}, &lines)
			r.answers = make(chan string, 8)
			for piece := range slices.Chunk([]byte(c.output), size) {
				r.take(piece)
			}
			r.transcript.Flush()
			close(r.answers)
			var got []string
			for a := range r.answers {
				got = append(got, a)
			}
			if n := len(got) - 1; n < 0 || got[n] != AnswerBegun {
				t.Errorf("%s, by %d: %q", name, size, got)
			} else {
				got = got[:n]
			}
			if name == "an answer without end" { // how much of it came does not matter
				got = slices.DeleteFunc(got, func(a string) bool { return len(a) > mostPiece })
			}
			if !slices.Equal(got, c.want) || !slices.Equal(lines, c.lines) || !r.ended || r.status != c.status {
				t.Errorf("%s, by %d: %q, %q, %v, %d", name, size, got, lines, r.ended, r.status)
			}
		}
	}
}

type sinkLines []string

func (l *sinkLines) Line(text string) { *l = append(*l, text) }

// Every text comes back from the pieces, which have no other characters than those that nothing
// on the way changes.
func FuzzPieces(f *testing.F) {
	sh := testtool.Path(f, "sh")
	for _, text := range []string{"echo 'a b'\n", "\\ % ~ $HOME \"\t\r\x01\x7f", "你好 é 🙂\xff\xfe", strings.Repeat("'", 1000), ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.IndexByte(text, 0) >= 0 {
			t.Skip("no command has a NUL")
		}
		whole, back := text, ""
		for text != "" {
			piece, rest := nextPiece(text)
			if piece == "" || len(piece) > mostPiece || strings.Trim(piece, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+@-\\") != "" {
				t.Fatalf("a piece is %q", piece)
			}
			if part := text[:len(text)-len(rest)]; utf8.ValidString(whole) && !utf8.ValidString(part) {
				t.Fatalf("a character is split: %q", part)
			}
			out, err := exec.Command(sh, "-c", `printf %b "$1"`, "sh", piece).Output()
			if err != nil {
				t.Fatal(err)
			}
			back += string(out)
			text = rest
		}
		if back != whole {
			t.Fatalf("%q has come back as %q", whole, back)
		}
	})
}

func TestEmptyPrompt(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"$ |": true, "user@host:~$ |": true, "# |": true, "host% |": true, "user@host ~> |": true, "❯ |": true, "[root@db /]# |": true,
		"$ |      12:30": true, "$|": true,
		"|": false, "$ ls|": false, "$ |ls": false, "> |": false, "dquote> |": false, "Password: |": false, "Go on? [y/N] |": false,
		">>> |": false, "sqlite> |": false, "irb(main):001:0> |": false, "In [1]: |": false, "(gdb) |": false, "--More--|": false,
	} {
		if left, right, _ := strings.Cut(line, "|"); EmptyPrompt(left, right) != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
}

// The loader and the gatherer are a line each, without an escape character. Panes have room for
// the first, terminals for the second.
func TestLoader(t *testing.T) {
	t.Parallel()
	for name := range remoteShells {
		for _, lasting := range []bool{false, true} {
			r := &Remote{script: script{Token: "0123456789abcdef"}, shell: name, lasting: lasting && name != "sh" && name != "fish"}
			if text := r.Loader(); len(text) > 280 || strings.ContainsAny(text, "\x1b\a\n\r!@") || !strings.HasPrefix(text, " ") {
				t.Errorf("%s: %d bytes: %.60s", name, len(text), text)
			}
			if text, _ := r.Gatherer(); len(text) > mostPiece || strings.ContainsAny(text, "\x1b\a\n\r@!") || !strings.HasPrefix(text, r.Token+" ") || !strings.HasSuffix(text, ")") {
				t.Errorf("%s: %d bytes: %.60s", name, len(text), text)
			}
		}
	}
}
