package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// catcher starts a pane whose program writes what it is sent to a file, byte for
// byte, and returns what it got.
func catcher(t testing.TB, srv *tmux.Server, before string) (pane string, got func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "got")
	pane = tmuxtest.Run(t, srv, "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", "80", "-y", "24",
		"stty raw -echo; "+before+" echo ready; exec cat >"+tmux.ShellQuote(file))
	tmuxtest.WaitScreen(t, srv, pane, "ready")
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

// A name that tmux does not know would be typed as text.
func TestMisnamedKeysAreRefused(t *testing.T) {
	t.Parallel()
	srv, p := served(t)
	p.fails("send_keys", `{"pane_id":"%0","keys":"Ctrl+C"}`, "keys is not tmux's name of a key: Ctrl+C", "use C-c; literal=true types the text")
	p.fails("send_keys", `{"pane_id":"%0","keys":"Cmd+C"}`, "names a key that tmux does not have")
	p.fails("send_keys", `{"pane_id":"%0","keys":"up"}`, "keys is not tmux's name of a key: up", "use Up; literal=true types the text") // gdb has such a command
	p.fails("send_keys", `{"pane_id":"%0","keys":["a","Ctrl+C"]}`, "keys is not tmux's name of a key: Ctrl+C")
	p.fails("send_keys", `{"pane_id":"%0","keys":[]}`, "keys must have 1 to 1000 items")
	p.fails("send_keys", `{"pane_id":"%0","keys":{"a":1}}`, "keys must be a string, or a list of strings")
	p.fails("send_keys", `{"pane_id":"%0","keys":["a",null,{}]}`, "keys must be a string, or a list of strings")
	p.fails("paste_text", `{"pane_id":"%0","text":""}`, "must not be empty")
	p.tool("send_keys", `{"pane_id":"%0","keys":"ArrowUp","literal":true}`)
	p.tool("send_keys", `{"pane_id":"%0","keys":"echo Esc"}`)
	if screen := tmuxtest.WaitScreen(t, srv, "%0", "echo Esc\n"); !strings.Contains(screen, "ArrowUp") || strings.Contains(screen, "Ctrl") {
		t.Errorf("the screen is\n%s", screen)
	}
}

func TestSendKeysTypesExactly(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
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

func TestSendKeysFindsItsPane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	pane, got := catcher(t, srv, "")
	session(t, srv, "other")
	p := serve(t, configFor(srv))
	all := ""
	for _, target := range []string{`"pane_id":"%0"`, `"window_id":"@0"`, `"session_id":"$0"`, `"session_name":"0"`} {
		if res := ok[map[string]any](p, "send_keys", `{"keys":"a",`+target+`}`); res["pane_id"] != pane {
			t.Errorf("%s: typed into %v", target, res["pane_id"])
		}
		all += "a\r"
		receives(t, got, all)
	}
}

func TestTypingToolsRefuseWhatCannotBeTyped(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", "true")
	pane, got := catcher(t, srv, "")
	tmuxtest.Run(t, srv, "copy-mode", "-t", pane)
	tmuxtest.Wait(t, srv, "%0", "dead pane", func() bool {
		return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%1", "#{pane_dead}") == "1"
	})
	p := serve(t, configFor(srv))
	inside := configFor(srv)
	inside.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	own := serve(t, inside)
	for tool, args := range map[string]string{"send_keys": `{"keys":"a"`, "paste_text": `{"text":"a"`, "run_command": `{"command":"a"`} {
		p.fails(tool, args+`}`, tool+" needs a target", "list_panes")
		p.fails(tool, args+`,"pane_id":"%1"}`, "the program in pane %1 has ended", "respawn_pane")
		p.fails(tool, args+`,"pane_id":"`+pane+`"}`, "is in copy-mode", "exit_copy_mode")
		p.fails(tool, args+`,"pane_id":"%9"}`, "Pane not found: %9", "list_panes")
		p.fails(tool, args+`,"pane_id":"0"}`, "pane_id must be a pane's id")
		p.fails(tool, args+`,"session_name":"zz"}`, "Object not found: session zz")
		p.fails(tool, args+`,"window_id":"@9"}`, "Object not found: window @9")
		p.fails(tool, args+`,"pane":"%0","pane_id":"%0"}`, "pane is not an argument")
		if tool != "run_command" { // which does not come so far: there is no shell
			own.fails(tool, args+`,"pane_id":"%0"}`, "refusing to type into pane %0")
		}
	}
	for args, says := range map[string]string{
		`{"command":" \n ","pane_id":"%0"}`:                 "command must not be blank",
		`{"command":"a\u0000b","pane_id":"%0"}`:             "NUL",
		`{"command":"echo a","pane_id":"%0","timeout":0}`:   "timeout must be above 0",
		`{"command":"echo a","pane_id":"%0","max_lines":0}`: "max_lines must be at least 1",
	} {
		p.fails("run_command", args, says)
	}
	p.fails("paste_text", `{"text":"","pane_id":"%0"}`, "text must not be empty")
	p.fails("send_keys", `{"keys":"a\u0000b","pane_id":"%0"}`, "keys must not have a NUL")
	p.fails("send_keys", `{"pane_id":"%0"}`, "keys is required")
	if buffers := tmuxtest.Run(t, srv, "list-buffers"); buffers != "" {
		t.Errorf("buffers are left: %s", buffers)
	}
	tmuxtest.Run(t, srv, "copy-mode", "-q", "-t", pane)
	ok[map[string]any](own, "send_keys", `{"keys":"b","pane_id":"`+pane+`"}`) // another pane than the caller's
	receives(t, got, "b\r")
}

type batchOfKeys struct {
	Results []struct {
		Index   int     `json:"index"`
		PaneID  *string `json:"pane_id"`
		Success bool    `json:"success"`
		Error   *string `json:"error"`
		Elapsed float64 `json:"elapsed_seconds"`
	} `json:"results"`
	Succeeded int  `json:"succeeded"`
	Failed    int  `json:"failed"`
	StoppedAt *int `json:"stopped_at"`
}

// rows abbreviates each row: the pane of a success, the error of a failure.
func (b batchOfKeys) rows() string {
	var s []string
	for i, r := range b.Results {
		pane, msg := "none", "ok"
		if r.PaneID != nil {
			pane = *r.PaneID
		}
		if r.Error != nil {
			msg = *r.Error
		}
		s = append(s, fmt.Sprintf("%d %s %s", i, pane, msg))
		if r.Index != i || r.Success == (r.Error != nil) {
			s = append(s, fmt.Sprintf("(index %d, success %t)", r.Index, r.Success))
		}
	}
	return strings.Join(s, " | ")
}

func TestSendKeysBatchTypesInOrder(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	_, got := catcher(t, srv, "")
	_, gotOther := catcher(t, srv, "")
	p := serve(t, configFor(srv))
	b := ok[batchOfKeys](p, "send_keys_batch", `{"operations":[{"keys":"one","pane_id":"%0"},{"keys":"two;","pane_id":"%1","enter":false},
		{"keys":"C-c","pane_id":"%0","enter":false},{"keys":"C-c","pane_id":"%0","literal":true,"suppress_history":true}],"timeout":10}`)
	if b.rows() != "0 %0 ok | 1 %1 ok | 2 %0 ok | 3 %0 ok" || b.Succeeded != 4 || b.Failed != 0 || b.StoppedAt != nil {
		t.Errorf("%+v: %s", b, b.rows())
	}
	receives(t, got, "one\r\x03 C-c\r")
	receives(t, gotOther, "two;")

	const bad = `{"operations":[{"keys":"a","pane_id":"%0"},{"keys":"b","pane_id":"%9"},{"keys":"c","pane_id":"%1"},{"keys":"d"}]`
	b = ok[batchOfKeys](p, "send_keys_batch", bad+`}`)
	missing := "none Pane not found: %9\nCall list_panes to see the panes there are"
	if b.rows() != "0 %0 ok | 1 "+missing || b.Succeeded != 1 || b.Failed != 1 || b.StoppedAt == nil || *b.StoppedAt != 1 {
		t.Errorf("%+v: %s", b, b.rows())
	}
	b = ok[batchOfKeys](p, "send_keys_batch", bad+`,"on_error":"continue"}`)
	if want := "0 %0 ok | 1 " + missing + " | 2 %1 ok | 3 none send_keys_batch needs a target"; !strings.HasPrefix(b.rows(), want) || b.Succeeded != 2 || b.Failed != 2 || b.StoppedAt != nil {
		t.Errorf("%+v: %s", b, b.rows())
	}
	receives(t, got, "one\r\x03 C-c\ra\ra\r")
	receives(t, gotOther, "two;c\r")

	p.fails("send_keys_batch", `{"operations":[]}`, "operations must have 1 to 1000 items")
	p.fails("send_keys_batch", `{}`, "operations is required")
	p.fails("send_keys_batch", `{"operations":[{"keys":"a","pane":"%0"}]}`, "operations[0].pane is not an argument")
	p.fails("send_keys_batch", `{"operations":[{"keys":"a","pan_id":"%0"}]}`, "operations[0].pan_id is not an argument", "pane_id")
	p.fails("send_keys_batch", `{"operations":[{"keys":"a","pane_id":"%0"}],"on_error":"x"}`, "on_error must be one of stop, continue")
	p.fails("send_keys_batch", `{"operations":[{"keys":"a","pane_id":"%0"}],"timeout":0}`, "timeout must be above 0")
}

func TestSendKeysBatchEndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	env, freeze := frozen(t, srv)
	freeze()
	cfg := configFor(srv)
	cfg.Env = append(cfg.Env, env)
	p := serve(t, cfg)
	ops := `{"operations":[{"keys":"a","pane_id":"%0"},{"keys":"b","pane_id":"%0"}],"timeout":0.2,"socket_name":"frozen"`
	b := ok[batchOfKeys](p, "send_keys_batch", ops+`}`)
	if b.rows() != "0 none the batch exceeded its timeout" || *b.StoppedAt != 0 {
		t.Error(b.rows())
	}
	b = ok[batchOfKeys](p, "send_keys_batch", ops+`,"on_error":"continue"}`)
	if b.rows() != "0 none the batch exceeded its timeout | 1 none the batch exceeded its timeout" || b.Results[1].Elapsed != 0 || b.Results[0].Elapsed < 0.1 {
		t.Errorf("%+v: %s", b, b.rows())
	}
}

func TestPasteTextArrives(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	_, got := catcher(t, srv, "")
	_, gotBracketed := catcher(t, srv, `printf '\033[?2004h';`)
	tmuxtest.Run(t, srv, "set-buffer", "the user's")
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
	if buffers := tmuxtest.Run(t, srv, "list-buffers", "-F", "#{buffer_sample}"); buffers != "the user's" {
		t.Errorf("the buffers are %q", buffers)
	}
}

func TestOneRoundTripTyping(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	counted := countedTmux(t, &cfg)
	p := serve(t, cfg)
	p.tool("paste_text", `{"text":"a","pane_id":"%0"}`) // asks for the version, once
	for tool, args := range map[string]string{
		"send_keys":       `{"keys":"a","pane_id":"%0"}`,
		"paste_text":      `{"text":"a\nb","pane_id":"%0"}`,
		"send_keys_batch": `{"operations":[{"keys":"a b","pane_id":"%0"}]}`,
	} {
		before := counted()
		if res := p.tool(tool, args); res.IsError {
			t.Fatalf("%s: %s", tool, res.text())
		}
		if n := counted() - before; n != 1 {
			t.Errorf("%s %s took %d round trips, want one", tool, args, n)
		}
	}

	// The same holds on the agent's own server, except for the agent's own pane.
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", "cat")
	cfg.Caller = server.Caller{Pane: "%1", Socket: srv.SocketPath()}
	p = serve(t, cfg)
	p.tool("paste_text", `{"text":"a","pane_id":"%0"}`)
	before := counted()
	if p.tool("send_keys", `{"keys":"other","pane_id":"%0"}`); counted()-before != 1 {
		t.Errorf("beside the agent's pane it took %d round trips, want one", counted()-before)
	}
	tmuxtest.WaitScreen(t, srv, "%0", "other")
	p.fails("send_keys", `{"keys":"own","pane_id":"%1"}`, "refusing to type into pane %1")
	p.fails("send_keys", `{"keys":"own","session_name":"a"}`, "refusing to type into pane %1")
	p.fails("paste_text", `{"text":"own","window_id":"@0"}`, "refusing to type into pane %1")
	// Keys for one of several synchronized panes go to all.
	tmuxtest.Run(t, srv, "set-option", "-w", "-t", "@0", "synchronize-panes", "on")
	p.fails("send_keys", `{"keys":"together","pane_id":"%0"}`, "refusing to type into pane %1")
	tmuxtest.Run(t, srv, "set-option", "-p", "-t", "%1", "synchronize-panes", "off")
	ok[map[string]any](p, "send_keys", `{"keys":"apart","pane_id":"%0"}`)
	tmuxtest.WaitScreen(t, srv, "%0", "apart")
	if screen := tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", "%1"); strings.TrimSpace(screen) != "" {
		t.Errorf("the agent's pane shows %q", screen)
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
