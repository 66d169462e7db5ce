package script

import (
	"os"
	"slices"
	"testing"
	"time"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/tmux"
)

// A token that package tmux does not know is found by its name in the program, so the
// known ones must all be there.
func TestTokensInProgram(t *testing.T) {
	binary := testtmux.Binary(t)
	req := child.Request{Dir: t.TempDir(), Target: report.Target{Path: binary}, Timeout: time.Minute}
	m, err := version(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tmux.ParseVersion(m.Version)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if len(program) < 100_000 {
		t.Skip("SKIPPED: " + binary + " is a script that starts tmux")
	}
	names := namesIn(program, map[string]bool{})
	for _, token := range tmux.Tokens() {
		if token.In(v) && !v.Next && !slices.Contains(names, token.Name) {
			t.Errorf("%s is not among the names in %s", token.Name, binary)
		}
	}
}

func TestNamesInProgram(t *testing.T) {
	got := namesIn([]byte("\x01client_pid\x00 a sentence\x00x\x00Pane_id\x00pane_new_flag\x00pane_id\x00"), map[string]bool{"pane_id": true})
	want := []string{"client_pid", "pid", "sentence", "pane_new_flag", "new_flag", "flag"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
