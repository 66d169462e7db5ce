package conform

import (
	"os"
	"slices"
	"testing"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/tmux"
)

// A token that package tmux does not know is found by its name in the program, so the
// known ones must all be there; and the server denies a name that is no token.
func TestTokensInProgram(t *testing.T) {
	binary := testtmux.Binary(t)
	targets, err := resolve(t.Context(), []string{binary}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tmux.ParseVersion(targets[0].Version)
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
	drift, err := TakeTokens(t.Context(), targets[0])
	if err != nil {
		t.Fatal(err)
	}
	if drift.From != "binary" || len(drift.Drift) > 0 {
		t.Errorf("drift: %+v", drift)
	}
}

func TestNamesInProgram(t *testing.T) {
	got := namesIn([]byte("\x01client_pid\x00 a sentence\x00x\x00Pane_id\x00pane_new_flag\x00pane_id\x00"), map[string]bool{"pane_id": true})
	want := []string{"client_pid", "pid", "sentence", "pane_new_flag", "new_flag", "flag"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTokenChanges(t *testing.T) {
	for _, test := range []struct {
		version string
		known   map[string]bool
		want    string
	}{
		{"3.6", map[string]bool{"pane_id": true, "client_theme": true, "bracket_paste_flag": false}, ""},
		{"3.6", map[string]bool{"pane_id": false}, "pane_id removed"},
		{"3.6", map[string]bool{"bracket_paste_flag": true}, "bracket_paste_flag early"},
		{"3.8", map[string]bool{"loop_last_flag": true}, "loop_last_flag back"},
		{"next-3.8", map[string]bool{"loop_last_flag": true, "history_collected": false}, ""},
		{"3.6", map[string]bool{"pane_new_flag": true}, "pane_new_flag added"},
	} {
		v, err := tmux.ParseVersion(test.version)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range tokenChanges(v, test.known) {
			got += c.Token + " " + c.Change
		}
		if got != test.want {
			t.Errorf("%s %v: got %q, want %q", test.version, test.known, got, test.want)
		}
	}
}
