package tmux_test

import (
	"os"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
)

// README.md shows the body of [Example], but connects to the reader's tmux server and
// returns the error where Example prints it.
func TestReadmeShowsTheExample(t *testing.T) {
	t.Parallel()
	readme, source := check.Must[[]byte](t)(os.ReadFile("../README.md")), check.Must[[]byte](t)(os.ReadFile("example_test.go"))
	_, body, _ := strings.Cut(string(source), "\nfunc Example() {\n\t")
	body, _, _ = strings.Cut(body, "\t// Output:")
	body = strings.NewReplacer(
		"srv, done := throwaway()\n", "srv, err := tmux.New(tmux.Config{})\nif err != nil {\n\treturn err\n}\n",
		"defer done()\n", "",
		"\tfmt.Println(err)\n\treturn\n", "\treturn err\n",
	).Replace(strings.ReplaceAll(body, "\n\t", "\n"))
	check.Contains(t, "README.md", readme, "```go\n"+body+"```\n")
}
