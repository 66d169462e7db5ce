package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// fileHas waits until a file has a text in it, or is exactly empty.
func fileHas(t testing.TB, srv *tmux.Server, path, want string) {
	t.Helper()
	var have []byte
	tmuxtest.Wait(t, srv, "", fmt.Sprintf("%q in %s", want, path), func() bool {
		have, _ = os.ReadFile(path)
		return strings.Contains(string(have), want) && (want != "" || len(have) == 0)
	})
}

// A new pane starts where the one beside it is, and a window where its session began,
// not where this server runs.
func TestStartsWhereItsNeighbourIs(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	home, elsewhere, odd := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "#{pane_id} a'b")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "40", "-c", home, "exec cat")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "-c", elsewhere, "exec cat")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "-c", strings.ReplaceAll(odd, "#", "##"), "exec cat")
	p := serve(t, configFor(srv))
	for tool, want := range map[string]string{
		`split_window {"pane_id":"%0","shell":"exec cat"}`: home, `split_window {"pane_id":"%1","shell":"exec cat"}`: elsewhere,
		`split_window {"pane_id":"%2","shell":"exec cat"}`: odd, `create_window {"session_name":"a"}`: home,
		`split_window {"pane_id":"%1","shell":"exec cat","start_directory":"` + home + `"}`: home,
	} {
		name, args, _ := strings.Cut(tool, " ")
		made := ok[map[string]any](p, name, args)
		id, _ := made["pane_id"].(string)
		if id == "" {
			id = made["active_pane_id"].(string)
		}
		got := ""
		tmuxtest.Wait(t, srv, id, "a directory", func() bool {
			got = tmuxtest.Run(t, srv, "display-message", "-p", "-t", id, "#{pane_current_path}")
			return got == want
		})
	}
	p.fails("split_window", `{"pane_id":"%77"}`, "Pane not found: %77")
	p.fails("create_window", `{"session_name":"zz"}`, "session zz")
}

func TestSpawnedPrograms(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	dir := filepath.Join(t.TempDir(), "#{x} %d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// The command is one for a shell, and tmux leaves it alone.
	command := `printf '%s|' "#S %Y ${A}" "$HISTFILE-$fish_history-$fish_private_mode-$HISTCONTROL" $0 >out; exec cat`
	for i, tool := range []string{"split_window", "respawn_pane"} {
		given := args(t, "pane_id", fmt.Sprint("%", i), "start_directory", dir, "shell", command,
			"environment", map[string]string{"A": "x;#{y}", "HISTCONTROL": "ignoredups"}, "suppress_persistent_history", true)
		row := ok[map[string]any](p, tool, given)
		if row["pane_id"] != "%1" {
			t.Fatalf("%s answers with %v", tool, row)
		}
		out := filepath.Join(dir, "out")
		fileHas(t, srv, out, "#S %Y x;#{y}|--1-ignoredups:ignorespace|")
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	}
	if got := tmuxtest.Run(t, srv, "show-environment", "-t", "=a"); strings.Contains(got, "A=") || strings.Contains(got, "HIST") {
		t.Errorf("what was for one program is in the session's environment: %s", got)
	}
}

func TestHistoryIsSuppressedForShells(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	tools := map[string]map[string]any{
		"create_session": {}, "create_window": {"session_name": "a"}, "split_window": {"pane_id": "%0"}, "respawn_pane": {"pane_id": "%0"},
	}
	before := ok[rows](p, "list_panes", `{}`).column("pane_pid")
	for tool, target := range tools {
		for name, value := range map[string]string{"HISTFILE": "/sekrit", "fish_history": "sekrit", "fish_private_mode": "sekrit"} {
			given := []any{"suppress_persistent_history", true, "environment", map[string]string{name: value}}
			for k, v := range target {
				given = append(given, k, v)
			}
			res := p.fails(tool, args(t, given...), name, "suppress_persistent_history", "leave "+name+" out")
			if strings.Contains(fmt.Sprint(res), "sekrit") {
				t.Errorf("%s repeats the value that it refuses: %s", tool, res.text())
			}
		}
	}
	if after := ok[rows](p, "list_panes", `{}`).column("pane_pid"); after != before {
		t.Errorf("a refused call started something: processes were %s and are %s", before, after)
	}
	s := ok[map[string]any](p, "create_session", `{"session_name":"s","suppress_persistent_history":true,"environment":{"HISTCONTROL":"erasedups:ignoreboth","HISTFILE":""}}`)
	for name, want := range map[string]string{"HISTFILE": "", "fish_history": "", "fish_private_mode": "1", "HISTCONTROL": "erasedups:ignoreboth"} {
		if got := tmuxtest.Run(t, srv, "show-environment", "-t", fmt.Sprint(s["session_id"]), name); got != name+"="+want {
			t.Errorf("the session has %s", got)
		}
	}
	// A later pane of the session inherits them, also when it does not ask.
	out := filepath.Join(t.TempDir(), "out")
	ok[map[string]any](p, "create_window", `{"session_name":"s","suppress_persistent_history":false}`)
	ok[map[string]any](p, "split_window", args(t, "session_name", "s", "shell", "echo private=$fish_private_mode >"+out+"; cat"))
	fileHas(t, srv, out, "private=1")
}
