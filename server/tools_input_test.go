package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// catcher starts a pane whose program writes its input to a file, byte for byte, and
// returns that input.
func catcher(t testing.TB, srv *tmux.Server, before string) (pane string, got func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "got")
	pane = testserver.Run(t, srv, "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "80", "-y", "24",
		"stty raw -echo; "+before+" echo ready; exec cat >"+tmux.ShellQuote(file))
	testserver.WaitScreen(t, srv, pane, "ready")
	return pane, func() string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

// receives waits until a pane got exactly a text.
func receives(t testing.TB, got func() string, want string) {
	t.Helper()
	testtool.Eventually(t, fmt.Sprintf("the pane gets %.200q", want), func() bool {
		have := got()
		if len(have) > len(want) {
			t.Fatalf("the pane got %d bytes, %.200q, want %d, %.200q", len(have), have, len(want), want)
		}
		return have == want
	})
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSendKeysTypesExactly(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	pane, got := catcher(t, srv, "")
	p := serve(t, configFor(srv))
	cases, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	types := func(args map[string]any, want string) {
		t.Helper()
		args["pane_id"] = pane
		res := ok[map[string]any](p, "send_keys", asJSON(t, args))
		if res["result"] != "Keys sent to pane "+pane || res["pane_id"] != pane {
			t.Errorf("send_keys answers %v", res)
		}
		all += want
		receives(t, got, all)
	}
	for line := range strings.Lines(string(cases)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var args map[string]any
		var want string
		if dec := json.NewDecoder(strings.NewReader(line)); dec.Decode(&args) != nil || dec.Decode(&want) != nil {
			t.Fatalf("no case: %s", line)
		}
		types(args, want)
	}
	long := strings.Repeat("0123456789 abcdef;\\'\"#{x} ", 1600) // 40 KB
	types(map[string]any{"keys": long}, long+"\r")
	types(map[string]any{"keys": long, "literal": true}, long+"\r")
}

func TestPasteTextArrives(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	_, got := catcher(t, srv, "")
	_, gotBracketed := catcher(t, srv, `printf '\033[?2004h';`)
	testserver.Run(t, srv, "set-buffer", "the user's")
	p := serve(t, configFor(srv))
	all, bracketed := "", ""
	for _, text := range []string{"two\nlines", "-x", "foo;", "#{pane_id} %Y", "tab\tgrün 日本\n", strings.Repeat("0123456789abcde\n", 2500)} {
		res := ok[map[string]any](p, "paste_text", asJSON(t, map[string]any{"text": text, "pane_id": "%0"}))
		if res["result"] != "Text pasted to pane %0" || res["pane_id"] != "%0" {
			t.Errorf("paste_text answers %v", res)
		}
		typed := strings.ReplaceAll(text, "\n", "\r")
		all += typed
		receives(t, got, all)
		ok[map[string]any](p, "paste_text", asJSON(t, map[string]any{"text": text, "pane_id": "%1"}))
		bracketed += "\x1b[200~" + typed + "\x1b[201~"
		receives(t, gotBracketed, bracketed)
		ok[map[string]any](p, "paste_text", asJSON(t, map[string]any{"text": text, "pane_id": "%1", "bracket": false}))
		bracketed += typed
		receives(t, gotBracketed, bracketed)
	}
	if buffers := testserver.Run(t, srv, "list-buffers", "-F", "#{buffer_sample}"); buffers != "the user's" {
		t.Errorf("the buffers are %q", buffers)
	}
}

func TestRunCommandTakesTwoRoundTrips(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	cfg := configFor(srv)
	counted := countedTmux(t, &cfg)
	p := serve(t, cfg)
	p.expect("%0", "true")
	waitPrompt(t, srv, "%0")
	// One to look, one to type. Another look when the shell was slow to draw its prompt.
	least := 100
	for range 5 {
		before := counted()
		p.expect("%0", "echo a", "a")
		least = min(least, counted()-before)
		waitPrompt(t, srv, "%0")
	}
	if least != 2 {
		t.Errorf("run_command took %d round trips, want two", least)
	}
}
