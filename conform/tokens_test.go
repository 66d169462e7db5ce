package conform

import (
	"os"
	"testing"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/tmux"
)

// The server of a tmux is asked for all names in its program, and has the tokens that package
// tmux expects.
func TestTokensOfServer(t *testing.T) {
	binary := testtmux.Binary(t)
	targets, err := resolve(t.Context(), []string{binary}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(binary); err != nil || info.Size() < 100_000 {
		t.Skip("SKIPPED: " + binary + " is a script that starts tmux")
	}
	drift, err := TakeTokens(t.Context(), targets[0])
	if err != nil {
		t.Fatal(err)
	}
	if drift.From != "binary" || len(drift.Drift) > 0 {
		t.Errorf("drift: %+v", drift)
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
