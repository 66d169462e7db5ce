package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

// beside starts a server with a pane that runs a shell, somebody at a terminal who looks at
// it, and a client of a server that yields to them.
func beside(t *testing.T, yield time.Duration) (*tmux.Server, *testserver.Person, *peer) {
	t.Helper()
	srv, _ := shellPane(t, "bash")
	waitPrompt(t, srv, "%0")
	cfg := configFor(srv)
	cfg.Yield = yield
	return srv, testserver.Arrive(t, srv, "a"), serve(t, cfg)
}

// othersSeconds returns how many seconds ago an answer says that somebody typed; -1 if it does
// not.
func othersSeconds(res result) float64 {
	if seconds, says := res.Meta[typing.OthersSeconds].(float64); says {
		return seconds
	}
	return -1
}

// TestBesideAPerson: somebody types 30 lines in a shell while ten calls type there too. Every
// line arrives whole, each once.
func TestBesideAPerson(t *testing.T) {
	t.Parallel()
	srv, person, p := beside(t, 2*time.Second)
	file := filepath.Join(t.TempDir(), "lines")
	line := func(who string, n int) string {
		return fmt.Sprintf("echo %s-%d-the-quick-brown-fox >>%s", who, n, file)
	}
	lines := func() []string {
		raw, _ := os.ReadFile(file)
		return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	}
	const groups, each = 3, 10
	random := rand.New(rand.NewPCG(1, 2))
	typed, first, again := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(typed)
		for g := range groups {
			if g > 0 {
				<-again
			}
			for n := range each {
				for i, r := range line("person", g*each+n) + "\r" {
					person.Write(string(r))
					time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond)
					if g == 0 && n == 0 && i == 0 {
						close(first)
					}
				}
				time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
			}
		}
	}()
	<-first
	testserver.WaitScreen(t, srv, "%0", "ec")
	quoted := func(n int) string { raw, _ := json.Marshal(line("agent", n)); return string(raw) }
	for n := range 10 {
		tool, args := "send_keys", `{"pane_id":"%0","keys":`+quoted(n)+`}`
		switch n % 4 {
		case 1:
			tool, args = "paste_text", `{"pane_id":"%0","enter":true,"text":`+quoted(n)+`}`
		case 2:
			tool, args = "run_command", `{"pane_id":"%0","command":`+quoted(n)+`}`
		case 3:
			tool, args = "send_keys_batch", `{"operations":[`+args+`]}`
		}
		for { // on a busy machine they type for longer than a call waits
			res := p.tool(tool, args)
			text := res.text()
			if strings.Contains(text, "nothing was typed: somebody is typing in pane %0") {
				continue
			}
			if res.IsError || strings.Contains(text, `"failed":1`) {
				t.Errorf("call %d: %s", n, text)
			}
			break
		}
		if n == 1 || n == 5 { // now they may begin at any time, also before what the next call types
			again <- struct{}{}
		}
	}
	<-typed
	testserver.Wait(t, srv, "%0", "all lines", func() bool { return len(lines()) >= groups*each+10 })
	want := map[string]bool{}
	for n := range groups * each {
		want[fmt.Sprintf("person-%d-the-quick-brown-fox", n)] = true
	}
	for n := range 10 {
		want[fmt.Sprintf("agent-%d-the-quick-brown-fox", n)] = true
	}
	for _, l := range lines() {
		if !want[l] {
			t.Errorf("a line that nobody typed, or the second of its kind: %s", l)
		}
		delete(want, l)
	}
	if len(want) > 0 || t.Failed() {
		t.Errorf("missing: %v\n%s", want, testserver.Run(t, srv, "capture-pane", "-p", "-S-", "-t", "%0"))
	}
}

// TestRefusedBesideAPerson: who does not pause is not disturbed, and the error says what to do.
func TestRefusedBesideAPerson(t *testing.T) {
	t.Parallel()
	for tool, args := range map[string]string{
		"send_keys":       `{"pane_id":"%0","keys":"agent"}`,
		"paste_text":      `{"pane_id":"%0","text":"agent","enter":true}`,
		"run_command":     `{"pane_id":"%0","command":"agent"}`,
		"send_keys_batch": `{"operations":[{"pane_id":"%0","keys":"agent"}]}`,
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			srv, person, p := beside(t, time.Second)
			person.Hold("x")
			res := p.tool(tool, args)
			text := res.text()
			if tool == "send_keys_batch" {
				text = string(res.Structured)
			} else if !res.IsError || res.Meta["error_type"] != "Timeout" {
				t.Errorf("%v", res.Meta)
			}
			for _, want := range []string{"nothing was typed: somebody is typing in pane %0, and has not paused for 1s in 5s", "--yield 0"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s does not say %q", text, want)
				}
			}
			if screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"); strings.Trim(screen, "$ x\n") != "" {
				t.Errorf("the pane shows\n%s", screen)
			}
			if left := testserver.Run(t, srv, "list-buffers", "-F", "#{buffer_name}"); left != "" {
				t.Errorf("buffers are left: %s", left)
			}
		})
	}
}

// TestNotWaitingForAPerson: a server that does not yield types at once, and says who else has.
func TestNotWaitingForAPerson(t *testing.T) {
	t.Parallel()
	srv, person, p := beside(t, -1)
	person.Hold("\x7f") // deletes nothing at an empty prompt
	for tool, args := range map[string]string{
		"send_keys":       `{"pane_id":"%0","keys":"true"}`,
		"paste_text":      `{"pane_id":"%0","text":"true","enter":true}`,
		"run_command":     `{"pane_id":"%0","command":"true"}`,
		"send_keys_batch": `{"operations":[{"pane_id":"%0","keys":"true"}]}`,
	} {
		res := p.tool(tool, args)
		want := "somebody typed here 1 s ago"
		if tool == "send_keys_batch" { // it may type into several panes
			want = "somebody typed in %0 1 s ago"
		}
		if notice := fmt.Sprint(res.Meta["notice"]); res.IsError || othersSeconds(res) < 0 || !strings.HasPrefix(notice, want) || strings.Contains(notice, "waited") {
			t.Errorf("%s: %s %v", tool, res.text(), res.Meta)
		}
	}
	cfg := configFor(srv)
	cfg.Yield, cfg.Results = -1, server.ResultsText
	reader := serve(t, cfg)
	reader.reads = true
	if text := reader.tool("run_command", `{"pane_id":"%0","command":"true"}`).text(); !strings.HasPrefix(text, "[%0 exit 0, ") || !strings.Contains(text, ", somebody typed here 1 s ago]") {
		t.Error(text)
	}
	if text := reader.tool("send_keys", `{"pane_id":"%0","keys":"true"}`).text(); text != "[somebody typed here 1 s ago]\nKeys sent to pane %0" {
		t.Error(text)
	}
}

// TestAfterAPause: a call that has waited says so.
func TestAfterAPause(t *testing.T) {
	t.Parallel()
	for tool, args := range map[string]string{
		"send_keys":   `{"pane_id":"%0","keys":"echo a''gent"}`,
		"run_command": `{"pane_id":"%0","command":"echo a''gent"}`,
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			srv, person, p := beside(t, time.Second)
			release := person.Hold("\x7f")
			c, _ := p.wait(tool, args)
			if screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"); strings.Contains(screen, "gent") {
				t.Errorf("typed beside somebody:\n%s", screen)
			}
			release()
			res := p.toolResult(tool, p.await(c))
			if notice := fmt.Sprint(res.Meta["notice"]); res.IsError || othersSeconds(res) < 1 || !strings.Contains(notice, "somebody typed here") || !strings.Contains(notice, "waited") {
				t.Errorf("%s %v", res.text(), res.Meta)
			}
			testserver.WaitScreen(t, srv, "%0", "agent")
			last := 0.0
			reports := p.notified("notifications/progress")
			for _, raw := range reports {
				var report progress
				if json.Unmarshal(raw, &report); report.Progress <= last {
					t.Errorf("progress of %v after %v", report.Progress, last)
				}
				last = report.Progress
			}
		})
	}
}

// TestSomebodyElsewhere: only keys for the pane that is typed into count.
func TestSomebodyElsewhere(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	waitPrompt(t, srv, "%0")
	for _, words := range []string{"split-window -d -t %0 cat", "new-window -d -t a:5 cat", "new-session -d -s b cat"} {
		f := strings.Fields(words)
		testserver.Run(t, srv, f[0], f[1:]...)
	}
	testserver.Run(t, srv, "select-pane", "-t", "%1")
	p := serve(t, configFor(srv))
	attach(t, srv, "a")
	neighbour, elsewhere := testserver.Arrive(t, srv, "a"), testserver.Arrive(t, srv, "b")
	neighbour.Hold("n")
	elsewhere.Hold("e")
	undisturbed := func(tool, args string) {
		t.Helper()
		if res := p.tool(tool, args); res.IsError || res.Meta != nil {
			t.Errorf("%s %s: %s %v", tool, args, res.text(), res.Meta)
		}
	}
	undisturbed("send_keys", `{"pane_id":"%0","keys":"true"}`)
	undisturbed("send_keys", `{"pane_id":"%2","keys":"true"}`)
	undisturbed("run_command", `{"pane_id":"%0","command":"echo hello"}`)
	p.fails("send_keys", `{"pane_id":"%3","keys":"true","show":"none","timeout":0.1}`, "somebody is typing in pane %3")
	// Beside a read-only client, tmux 3.7 refuses send-keys.
	testserver.Run(t, srv, "select-pane", "-t", "%0")
	testserver.Run(t, srv, "detach-client", "-s", "a")
	testserver.Arrive(t, srv, "a", "-r").Hold("r")
	undisturbed("run_command", `{"pane_id":"%0","command":"echo hello"}`)
	undisturbed("run_command", `{"pane_id":"%0","command":"echo hello","detach":true}`)
}

// TestReadOnlyClient: beside the one client that is read-only, tmux 3.7 and later presses no keys, and the
// error says what still works.
func TestReadOnlyClient(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	waitPrompt(t, srv, "%0")
	testserver.Arrive(t, srv, "a", "-r")
	v, err := srv.Version(testserver.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	if keys := `{"pane_id":"%0","keys":"true"}`; v.Has(tmux.Version{Major: 3, Minor: 7}) {
		p.fails("send_keys", keys, "client is read-only", "paste_text types text")
	} else {
		ok[struct{}](p, "send_keys", keys)
	}
	ok[struct{}](p, "paste_text", `{"pane_id":"%0","text":"echo $((6*7))","enter":true,"patterns":["^42$"],"regex":true,"timeout":30}`)
	testserver.WaitScreen(t, srv, "%0", "\n42")
}

// TestKeysThroughAnotherPane: somebody types into a synchronized pane, or looks at the window in
// a session of the same group.
func TestKeysThroughAnotherPane(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	testserver.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	testserver.Run(t, srv, "set-option", "-w", "-t", "a:", "synchronize-panes", "on")
	testserver.Run(t, srv, "new-session", "-d", "-t", "a", "-s", "g")
	cfg := configFor(srv)
	cfg.Yield = time.Second
	p := serve(t, cfg)
	testserver.Arrive(t, srv, "g").Hold("g")
	p.fails("send_keys", `{"pane_id":"%1","keys":"agent"}`, "somebody is typing in pane %1")
	if screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%1"); strings.Contains(screen, "agent") {
		t.Errorf("typed:\n%s", screen)
	}
}

// TestHalfALine: run_command leaves a line alone that somebody has begun, until they run it.
func TestHalfALine(t *testing.T) {
	t.Parallel()
	srv, person, p := beside(t, time.Second)
	person.Type("echo prec''ious")
	testserver.WaitScreen(t, srv, "%0", "ious")
	p.fails("run_command", `{"pane_id":"%0","command":"echo agent"}`, "nothing was typed: somebody typed in pane %0", "left a line at its prompt", "C-u")
	if screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"); strings.Contains(screen, "^C") || strings.Contains(screen, "agent") {
		t.Errorf("the line was disturbed:\n%s", screen)
	}
	c, _ := p.wait("run_command", `{"pane_id":"%0","command":"echo agent"}`)
	person.Type("\r")
	if res := p.toolResult("run_command", p.await(c)); res.IsError || !strings.Contains(string(res.Structured), `"output":["agent"]`) {
		t.Error(res.text())
	}
	testserver.WaitScreen(t, srv, "%0", "\nprecious")

	// What this server has typed itself since then is no line of theirs.
	if res := p.tool("send_keys", `{"pane_id":"%0","keys":"half","enter":false}`); res.IsError {
		t.Fatal(res.text())
	}
	if res := p.tool("run_command", `{"pane_id":"%0","command":"echo again"}`); res.IsError || !strings.Contains(string(res.Structured), `"output":["again"]`) {
		t.Error(res.text())
	}
}

// TestCutIn: what was to follow a pause is not typed if somebody has begun to type in it.
func TestCutIn(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	person := testserver.Arrive(t, srv, "a")
	c, _ := p.begin("tools/call", map[string]any{"name": "send_keys", "arguments": json.RawMessage(`{"pane_id":"%0","keys":["first","Escape","rest"]}`)})
	testserver.WaitScreen(t, srv, "%0", "first")
	person.Type("x")
	res := p.toolResult("send_keys", p.await(c))
	if !res.IsError || !strings.Contains(res.text(), "only a part was typed into pane %0: somebody has begun to type there") {
		t.Error(res.text())
	}
	if screen := testserver.WaitScreen(t, srv, "%0", "x"); strings.Contains(screen, "rest") {
		t.Errorf("typed behind somebody's keys:\n%s", screen)
	}
}

// TestOthersGoOn: calls that wait for somebody to pause hold nothing that others need, and a
// cancelled one types nothing.
func TestOthersGoOn(t *testing.T) {
	t.Parallel()
	srv, person, p := beside(t, 12*time.Second)
	testserver.Run(t, srv, "new-session", "-d", "-s", "b", "cat")
	release := person.Hold("\x7f")
	var ids []string
	for i := range 70 { // more than work on one tmux server at a time
		_, id := p.begin("tools/call", map[string]any{
			"name": "send_keys", "arguments": json.RawMessage(`{"pane_id":"%0","keys":"agent"}`), "_meta": map[string]any{"progressToken": fmt.Sprint(i)},
		})
		ids = append(ids, id)
	}
	waiting := func() int {
		tokens := map[string]bool{}
		for _, raw := range p.notified("notifications/progress") {
			var report progress
			json.Unmarshal(raw, &report)
			tokens[report.Token] = true
		}
		return len(tokens)
	}
	testtool.Eventually(t, "all wait", func() bool { return waiting() == len(ids) })
	if res := p.tool("send_keys", `{"pane_id":"%1","keys":"other"}`); res.IsError {
		t.Error(res.text())
	}
	for _, id := range ids {
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	}
	release()
	if res := p.tool("send_keys", `{"pane_id":"%0","keys":"final"}`); res.IsError {
		t.Error(res.text())
	}
	if screen := testserver.WaitScreen(t, srv, "%0", "final"); strings.Contains(screen, "agent") {
		t.Errorf("a cancelled call has typed:\n%s", screen)
	}
}

// TestKeysOfOthersAreNotLogged: the logs have nothing of what somebody else types.
func TestKeysOfOthersAreNotLogged(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	waitPrompt(t, srv, "%0")
	var log lockedBuffer
	cfg := configFor(srv)
	cfg.Yield, cfg.Audit, cfg.Log = time.Second, jsonLog(&log), jsonLog(&log)
	p := serve(t, cfg)
	person := testserver.Arrive(t, srv, "a")
	person.Type("sekrit")
	testserver.WaitScreen(t, srv, "%0", "sekrit")
	if res := p.tool("run_command", `{"pane_id":"%0","command":"true"}`); !res.IsError || strings.Contains(res.text(), "sekrit") {
		t.Error(res.text())
	}
	if res := p.tool("send_keys", `{"pane_id":"%0","keys":"C-u"}`); res.IsError || othersSeconds(res) < 0 {
		t.Errorf("%s %v", res.text(), res.Meta)
	}
	if text := log.String(); strings.Contains(text, "sekrit") || strings.Contains(text, "others") || !strings.Contains(text, "send_keys") {
		t.Errorf("the log has\n%s", text)
	}
}

// TestPromptBesideAPerson: a prompt for an agent waits as other keys do.
func TestPromptBesideAPerson(t *testing.T) {
	t.Parallel()
	srv, _, _, _ := fakeAgent(t)
	cfg := configFor(srv)
	cfg.Yield = time.Second
	p := serve(t, cfg)
	release := testserver.Arrive(t, srv, "a").Hold("\x7f")
	const args = `{"pane_id":"%0","prompt":"hello there","even_if_watched":true}`
	p.fails("send_prompt", args, "nothing was typed: somebody is typing in pane %0")
	if screen := testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"); strings.Contains(screen, "hello") {
		t.Errorf("the prompt was typed:\n%s", screen)
	}
	release()
	if res := p.tool("send_prompt", args); res.IsError || othersSeconds(res) < 1 {
		t.Errorf("%s %v", res.text(), res.Meta)
	}
}

// TestOwnPaneBesideAPerson: the user types to the agent in its own pane all the time, and is
// asked about that pane at once.
func TestOwnPaneBesideAPerson(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	p := serve(t, cfg)
	testserver.Arrive(t, srv, "a").Hold("x")
	p.fails("send_keys", `{"pane_id":"%0","keys":"agent"}`, "refusing to type into pane %0, in which this agent runs")
	p.fails("paste_text", `{"pane_id":"%0","text":"agent"}`, "refusing to type into pane %0, in which this agent runs")
}
