//go:build unix

package ask

import (
	"strings"
	"testing"
)

func TestShownCommands(t *testing.T) {
	for in, want := range map[string]string{
		"npx -y srv@1 --stdio":                   "npx -y srv@1 --stdio",
		"go run -C /home/me/tok ./cmd/srv":       "go run -C /home/me/tok ./cmd/srv",
		"srv --token S --port 80":                "srv --token *** --port 80",
		"srv --api-key=S -x":                     "srv --api-key=*** -x",
		"srv --no-auth --verbose":                "srv --no-auth --verbose",
		"env FOO=S srv":                          "env FOO=*** srv",
		"docker run -e FOO=S img":                "docker run -e FOO=*** img",
		"srv -H X-Key:S":                         "srv -H ***",
		"srv Authorization:S":                    "srv Authorization:***",
		"srv https://u:S@h/p?q=S":                "srv https://***@h/p?***",
		"srv --url=https://h/?key=S":             "srv --url=https://h/?***",
		"uvx --from git+https://S@h/r@v1 srv":    "uvx --from git+https://***@h/r@v1 srv",
		"srv sk-abcdefghSSSS":                    "srv ***",
		"srv 0123456789abcdefS123456789abcdefff": "srv ***",
		"srv --id=sk-abcdefghSSSS":               "srv --id=***",
	} {
		if got := strings.Join(ShowArgs(strings.Fields(in)), " "); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := ShowArgs([]string{"sh", "-c", "TOKEN=S srv --password S"})[2]; got != "TOKEN=*** srv --password ***" {
		t.Errorf("a script: %s", got)
	}
}

// What a server says before it fails is shown, without the secrets it was given.
func TestErrorsShowNoSecrets(t *testing.T) {
	_, err := Server(t.Context(), Command{Argv: []string{"sh", "-c", "echo bad $NOTE and $2 >&2", "sh", "--token", "CANARY-2"}, Env: []string{"NOTE=CANARY-1"}})
	if err == nil || strings.Contains(err.Error(), "CANARY") || !strings.Contains(err.Error(), "bad *** and ***") {
		t.Errorf("%v", err)
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
