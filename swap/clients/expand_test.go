package clients

import (
	"slices"
	"strings"
	"testing"
)

// What clients make of references, as seen in claude 2.1.332, codex 0.171, gemini 0.61,
// opencode 1.18.33, kilo 7.7.7, qwen 0.24.4, grok 1.0.41 and droid 0.215: a server printed
// what it was started with. "missing" and "unclear" are errors.
func TestGiven(t *testing.T) {
	vars := map[string]string{"TOK": "tok", "EMPTY": "", "DOLLARS": "a$b", "QUOTED": `a\nb`}
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	late := func(name string) (string, bool) { return "late", name == "LATE" }
	for _, tt := range []struct{ clients, fields, text, want string }{
		{"claude droid gemini grok qwen", "env", "${TOK}", "tok"},
		{"claude gemini grok qwen", "command args", "${TOK}", "tok"},
		{"claude droid gemini grok qwen", "env", "pre${TOK}post", "pretokpost"},
		{"claude droid gemini grok", "env", "${TOK:-def}", "tok"},
		{"claude droid gemini grok", "env", "${UNSET:-def}", "def"},
		{"claude gemini grok", "env", "${EMPTY:-def}", ""},
		{"qwen", "env args", "${UNSET:-def}", "${UNSET:-def}"},
		{"gemini grok qwen", "env args command", "$TOK", "tok"},
		{"claude", "env args command", "$TOK", "$TOK"},
		{"droid", "env", "$TOK", "$TOK"},
		{"droid", "args command", "${TOK}", "${TOK}"},
		{"codex", "env args command cwd", "${TOK} $TOK {env:TOK}", "${TOK} $TOK {env:TOK}"},
		{"opencode kilo", "env args command cwd", "{env:TOK}", "tok"},
		{"opencode kilo", "env args", "${TOK} $TOK", "${TOK} $TOK"},
		{"opencode kilo", "env args", "${env:TOK}", "$tok"},
		{"opencode kilo", "env", "{file:/x}", "unclear"},
		{"gemini qwen", "cwd", "${TOK}", "tok"},
		{"claude gemini grok qwen droid", "env", "${UNSET}", "missing"},
		{"gemini qwen grok", "args", "$UNSET", "missing"},
		{"opencode kilo", "env", "{env:UNSET}", "missing"},
		{"claude qwen droid", "env", "${TOK:+alt}", "${TOK:+alt}"},
		{"gemini", "env", "${TOK:+alt}", "unclear"},
		{"gemini", "env", "${DOLLARS}", "unclear"},
		{"gemini", "args", "${DOLLARS}", "a$b"},
		{"gemini qwen", "args", "$$TOK", "$tok"},
		{"grok", "env", "$$TOK", "unclear"},
		{"gemini", "env", "${LATE}", "late"},
		{"gemini", "env", "${LATE:-def}", "def"},
		{"claude droid gemini grok", "env", "${UNSET:-${TOK}}", "unclear"},
		{"grok", "env", "${DOLLARS}", "unclear"},
		{"droid", "env", "${EMPTY:-def}", "def"},
		{"opencode kilo", "env", "{env:QUOTED}", "unclear"},
		{"claude gemini grok qwen", "args", "D=1; run ${D}/x", "D=1; run ${D}/x"},
		{"claude gemini grok qwen", "args", "${D}/x", "missing"},
		{"cursor vscode windsurf", "env", "${env:TOK}", "tok"},
		{"cursor", "env", "${userHome}/x", "unclear"},
		{"vscode", "env", "${input:key}", "unclear"},
		{"cursor vscode vscode-insiders vscodium", "envFile", "${env:TOK}/.env", "tok/.env"},
		{"cursor vscode", "envFile", "${userHome}/.env", "missing"}, // given by who calls it
		{"cursor vscode", "envFile", "${input:file}", "unclear"},
		{"zed amp copilot kimi crush", "env args", "${TOK}", "unclear"},
		{"zed amp copilot kimi crush", "env args", "$5 and 10%", "$5 and 10%"},
	} {
		for _, c := range All() {
			if !contains(tt.clients, c.Name) {
				continue
			}
			for _, field := range []string{"command", "args", "env", "cwd", "envFile"} {
				if !contains(tt.fields, field) {
					continue
				}
				got, err := c.Given(field, field, tt.text, lookup, late)
				switch err.(type) {
				case *MissingError:
					got = "missing"
				case *UnclearError:
					got = "unclear"
				}
				if got != tt.want {
					t.Errorf("%s makes %q of %s in %s, want %q", c.Name, got, tt.text, field, tt.want)
				}
			}
		}
	}
}

func contains(words, word string) bool {
	return slices.Contains(strings.Fields(words), word)
}
