package conform

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// What makes a tmux different without making it wrong turns no cell: its environment, a config,
// a slow machine, a script that starts it and has its files beside it.
func TestHarmlessVariations(t *testing.T) {
	t.Parallel()
	real := testserver.Binary(t)
	gaps := lastingSuites(t)
	if !testtool.Full {
		// Clients on terminals, and programs that a shell starts.
		gaps = slices.DeleteFunc(gaps, func(g *Gap) bool { return !slices.Contains([]int{11, 13}, g.Number) })
	}
	config := filepath.Join(t.TempDir(), "tmux.conf")
	if err := os.WriteFile(config, []byte("set -g display-time 1000\nset -g status-right mine\nset -sg escape-time 5\nbind r source-file /dev/null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]struct {
		env    string // before the program
		script string // of a shell that ends in the program
		needs  string
	}{
		"locale":        {env: "LC_ALL=C"},
		"terminal":      {env: "TERM=xterm-256color"},
		"prompt":        {env: `PS1=one\ntwo> `},
		"fish":          {env: "SHELL=/usr/bin/fish", needs: "fish"},
		"zsh":           {env: "SHELL=/usr/bin/zsh", needs: "zsh"},
		"config":        {script: `exec "$real" -f '` + config + `' "$@"`},
		"slow":          {script: `sleep 0.05; exec "$real" "$@"`},
		"files beside":  {script: `echo "$*" >>"${0%/*}/log"; . "${0%/*}/where"; exec "$it" "$@"`},
		"no variables":  {script: `exec env -i PATH="$PATH" HOME="$HOME" TMUX_TMPDIR="$TMUX_TMPDIR" TMPDIR="$TMPDIR" TERM="$TERM" TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" "$real" "$@"`},
		"a child of it": {script: `"$real" "$@"; exit`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := report.Target{Name: name, Path: real}
			if v.needs != "" {
				target.Env = []string{"SHELL=" + testtool.Path(t, v.needs)}
			} else if v.env != "" {
				target.Env = []string{v.env}
			}
			if v.script != "" {
				target.Path = program(t, "real='"+real+"'\n"+v.script)
				if err := os.WriteFile(filepath.Join(filepath.Dir(target.Path), "where"), []byte("it='"+real+"'\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			targets, err := FindTargets(t.Context(), []report.Target{target}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range mustRun(t, Options{Targets: targets, Gaps: gaps}).Cells {
				if c.Status != report.Pass && c.Status != report.NotApplicable {
					t.Errorf("%d/%s: %s: %s\n%s", c.Gap, c.Layer, c.Status, c.Reason, strings.Join(strings.Fields(c.Last().Actual), " "))
				}
			}
		})
	}
}
