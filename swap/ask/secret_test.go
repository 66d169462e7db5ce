//go:build unix

package ask

import (
	"os"
	"strings"
	"testing"
)

func TestShownCommands(t *testing.T) {
	text, err := os.ReadFile("testdata/secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		in, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		if got := strings.Join(ShowArgs(strings.Fields(in)), " "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"Authorization: Bearer S":                          "Authorization:***",
		"curl -H 'X-Any: S' -u me:S https://h/?q=S":        "curl -H '***' -u me:*** https://h/?***",
		`mysql  -p"S" db`:                                  `mysql  -p*** db`,
		`srv --json {"Authorization": "Bearer S", "a": 1}`: `srv --json {"Authorization": *** "a": 1}`,
		"echo it's fine":                                   "echo it's fine",
		"host=h password=S user=me":                        "host=h password=*** user=me",
	} {
		if got := ShowArgs([]string{"sh", "-c", in})[2]; got != want || strings.Contains(got, "S") != strings.Contains(want, "S") {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := ShowArgs([]string{"sh", "-c", "TOKEN=S srv --password S"})[2]; got != "TOKEN=*** srv --password ***" {
		t.Errorf("a script: %s", got)
	}
	if got := ShowArgs([]string{"srv", "", "x"})[2]; got != "x" {
		t.Errorf("behind an empty word: %s", got)
	}
}

// What a server prints before it fails is shown, without the secrets that it was given.
func TestErrorsShowNoSecrets(t *testing.T) {
	_, err := Server(t.Context(), Command{Argv: []string{"sh", "-c", "echo bad $NOTE and $2 >&2", "sh", "--token", "CANARY-2"}, Env: []string{"NOTE=CANARY-1"}})
	if err == nil || strings.Contains(err.Error(), "CANARY") || !strings.Contains(err.Error(), "bad *** and ***") {
		t.Errorf("%v", err)
	}
}

// A path is shown, as the error is often about it; what only begins as one, or is a secret by its name
// or its form, is not.
func TestErrorsShowPaths(t *testing.T) {
	dir := t.TempDir()
	for v, shown := range map[string]bool{
		"TMUX_BIN=" + dir + "/no/tmux": true, "BIN=/usr/no/such": true,
		"TOKEN=" + dir + "/x": false, "BIN=/Zm9v/YmFy": false, "BIN=/usr": false, "BIN=/usr/ghp_0123456789abcdef": false,
	} {
		_, value, _ := strings.Cut(v, "=")
		if got := Redact("at "+value+":", Command{Env: []string{v}}); shown != (got == "at "+value+":") {
			t.Errorf("%s: %s", v, got)
		}
	}
}

func TestCommandLineCanBeTyped(t *testing.T) {
	for want, argv := range map[string][]string{
		"uv run x":      {"uv", "run", "x"},
		"'' 'a b' 'c$'": {"", "a b", "c$"},
		`'it'\''s'`:     {"it's"},
	} {
		if got := CommandLine(argv); got != want {
			t.Errorf("%q: %s, want %s", argv, got, want)
		}
	}
	if got := CommandLine([]string{"a\x1b[31mb"}); strings.Contains(got, "\x1b") {
		t.Errorf("an escape sequence reaches the terminal: %q", got)
	}
}

// A word of which a part is in quotes is masked as a whole.
func TestShownWords(t *testing.T) {
	for arg, want := range map[string]string{
		`--header="a b"`:         `--header=***`,
		`--title='my notes'`:     `--title=***`,
		`{"a": "b c"}`:           `{"a": ***`,
		`x='a b'y`:               `***`,
		`/x/do sp"ace'ü/bin`:     `/x/do sp"ace'ü/bin`,
		`"a b"`:                  `"a b"`,
		`it's "my x"`:            `it's "my x"`,
		`sh -c 'x="a b" run $y'`: `sh -c '*** run $y'`,
	} {
		if got := ShowArgs([]string{"npx", arg}); got[1] != want {
			t.Errorf("%s is shown as %s, not %s", arg, got[1], want)
		}
	}
}

func FuzzShowArgs(f *testing.F) {
	for _, arg := range []string{`--header="a b"`, `{"a": "b c"}`, "a 'b c'd e", "x=\"a b\"", "it's", "\"'\" '", "-pa b"} {
		f.Add("npx", arg)
	}
	f.Fuzz(func(t *testing.T, program, arg string) {
		if got := ShowArgs([]string{program, arg}); len(got) != 2 {
			t.Errorf("%q", got)
		}
	})
}
