package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
)

func TestPipePaneWritesToExactlyThatFile(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	dir := t.TempDir()
	var want []string
	for _, name := range append(slices.Clone(literalTexts), "#Session", "##{x}", "issue #42", "100%done", "two\nlines", "tab\there", `back\slash`, "`id`", "$(id)") {
		path := filepath.Join(dir, name)
		got := ok[map[string]any](p, "pipe_pane", args(t, "pane_id", "%0", "output_path", path))
		shown := strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(path)
		if got["result"] != "Piping to "+shown+" (pane %0)" || got["pane_id"] != "%0" {
			t.Errorf("%q: pipe_pane answers %v", path, got)
		}
		testserver.Run(t, srv, "send-keys", "-t", "%0", "-l", "typed")
		fileHas(t, srv, path, "typed")
		want = append(want, name)
	}
	var have []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		have = append(have, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("files are %q, want %q", have, want)
	}
}
