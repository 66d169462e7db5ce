package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// The model tests run the agent CLIs against a stand-in for their model's API, with the
// real tmux-mcp and a real tmux, and look at what the model would have read. The expected
// results are the tables in docs/clients.md and docs/performance.md, which
//
//	MODEL_FIGURES=now .ci/clients --test && go generate ./tools/docs
//
// writes.

// reading is a call of a tool, and what the model must find in the answer.
type reading struct {
	row   string // of the figures
	call  Call
	facts []string // regular expressions
}

var readings = []reading{
	{"list_panes, 40 panes", Call{Tool: "list_panes", Args: `{}`}, panes(40)},
	{"list_panes, 3 panes", Call{Tool: "list_panes", Args: `{"session_name": "work"}`}, []string{`%1\b`, `%2\b`, `%3\b`, `work`, `sleep`}},
	{"snapshot_pane", Call{Tool: "snapshot_pane", Args: `{"pane_id": "%1"}`}, []string{`line 0001`, `line 0035`, `cursor`}},
	{"capture_since", Call{Tool: "capture_since", Args: `{"pane_id": "%1"}`}, []string{`line 0001`, `line 0035`, cursor.String()}},
	{"run_command, short", Call{Tool: "run_command", Args: `{"pane_id": "%1", "command": "echo hello"}`}, []string{`\bhello\b`, `exit\D*0`}},
	{"capture_since, with the cursor it gave", Call{Tool: "capture_since", Next: since}, []string{`\bhello\b`, cursor.String()}},
	{"batch of three", Call{Tool: "call_readonly_tools_batch", Args: `{"operations": [
		{"tool": "list_sessions"},
		{"tool": "list_panes", "arguments": {"session_name": "work"}},
		{"tool": "capture_pane", "arguments": {"pane_id": "%1"}}]}`}, []string{`agent`, `%3\b`, `line 0035`}},
	{"a wrong parameter", Call{Tool: "list_panes", Args: `{"sesion_name": "work"}`}, []string{`\bsesion_name`, `\bsession_name`}},
	{"a missing pane", Call{Tool: "snapshot_pane", Args: `{"pane_id": "%99"}`}, []string{`%99`, `list_panes`}},
	{"run_command, 3,000 lines", Call{Tool: "run_command", Args: `{"pane_id": "%1",
		"command": "seq -f 'line %04g of a long output, with some more words to fill it' 3000"}`}, []string{`exit\D*0`, `line 2990`, `line 3000`}},
}

const guarded = "kill_pane of the agent's own pane"

// panes returns the ids of n panes, as facts.
func panes(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf(`%%%d\b`, i))
	}
	return ids
}

var cursor = regexp.MustCompile(`cursor"?[ :]+"?([^\s",;\]]+)`)

// since continues from the cursor in the capture_since before the last call.
func since(read []string) string {
	id := "none was found"
	if m := cursor.FindStringSubmatch(read[len(read)-2]); m != nil {
		id = m[1]
	}
	return fmt.Sprintf(`{"pane_id": "%%1", "cursor": %q}`, id)
}

// TestModel has each client's model call tools and compares what it reads.
func TestModel(t *testing.T) {
	for _, c := range scriptedClients(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Run("reads", func(t *testing.T) { testReads(t, c) })
			t.Run("first attempts", func(t *testing.T) { testAttempts(t, c) })
			t.Run("guarded", func(t *testing.T) { testGuarded(t, c, false) })
			t.Run("dismissed", func(t *testing.T) { testGuarded(t, c, true) })
		})
	}
	if os.Getenv("MODEL_FIGURES") == "now" && !t.Failed() {
		writeFigures(t)
	}
}

func testReads(t *testing.T, c modelClient) {
	var script Script
	for _, r := range readings {
		script.Calls = append(script.Calls, r.call)
	}
	s, v := perform(t, c, script, false)
	total := 0
	for n, r := range readings {
		text := v.Results[n]
		total += len(text)
		compare(t, c.name, r.row, text, cell{form: form(text), bytes: len(text), lost: !found(text, r.facts)})
	}

	number, size := 0, 0
	for _, tool := range v.Tools {
		if strings.Contains(tool.Space+tool.Name, "tmux") {
			number, size = number+1, size+tool.Bytes
		}
	}
	revision, instructions := s.handshake()
	prompt, instructions := oneLine(v.Prompt), oneLine(instructions) // opencode indents them
	seen := sort.Search(len(instructions), func(n int) bool { return !strings.Contains(prompt, instructions[:n+1]) })
	version := s.version()
	compare(t, c.name, "version", "", cell{form: version})
	compare(t, c.name, "protocol revision", "", cell{form: revision})
	compare(t, c.name, "tools in the first request", "", cell{form: fmt.Sprint(number), bytes: size})
	compare(t, c.name, "instructions, in bytes", "", cell{bytes: seen, lost: seen < min(240, len(instructions))})
	report(t, "%-9s %-9s revision %s, its model read %d tools of %d bytes, %d bytes of instructions, %d results of %d bytes", c.name, version, revision, number, size, seen, len(readings), total)
}

// attempts are ten of the calls in server/testdata/first-attempts.json, whose author had
// seen only the tool list and the instructions. Each has what runs in its pane, what that
// shows, and what the model reads in the last answer if the task is done.
var attempts = []struct{ id, start, shows, says string }{
	{"python", "exec python3 -q -i", ">>>", `(?m)\b51000\b`},
	{"python-function", "exec python3 -q -i", ">>>", `\b42\b`},
	{"python-paste", "exec python3 -q -i", ">>>", `\bsum 42\b`},
	{"wizard", asked("Continue? [y/N]") + asked("Name:") + asked("Color:") + `echo "all set:$all"; exec cat`, "Continue?", `all set: y Bob blue`},
	{"yes-twice", asked("Overwrite a.txt? [y/N]") + asked("Overwrite b.txt? [y/N]") + asked("Overwrite c.txt? [y/N]") + `echo "copied:$all"; exec cat`, "a.txt?", `copied: y y y`},
	{"password", `stty -echo; printf 'Password: '; read -r a; stty echo; sleep 0.5; echo "welcome, ${#a} letters"; exec cat`, "Password:", `welcome, 7 letters`},
	{"interrupt", "trap : INT; sleep 1000; exec sh", "", `matched`},
	{"cat-eof", "cat; exec sh", "", `ping`},
	{"exit-status", "exec sh", "$", `exit\D*2\b`},
	{"multi-line", "exec sh", "$", `item 3`},
}

// asked is a part of a script that works for a moment, then asks a question.
func asked(question string) string {
	return "sleep 0.3; printf '%s ' '" + question + `'; read -r a; all="$all $a"; `
}

// testAttempts has the model make its first attempts in separate panes.
func testAttempts(t *testing.T, c modelClient) {
	b, err := os.ReadFile(repo + "/server/testdata/first-attempts.json")
	if err != nil {
		t.Fatal(err)
	}
	var written []struct {
		ID    string
		Calls []struct {
			Tool      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(b, &written); err != nil {
		t.Fatal(err)
	}
	var script Script
	last := make([]int, len(attempts)) // the last call of each
	for i, a := range attempts {
		for _, w := range written {
			for _, call := range w.Calls {
				if w.ID == a.id {
					last[i] = len(script.Calls)
					script.Calls = append(script.Calls, Call{Tool: call.Tool, Args: strings.ReplaceAll(string(call.Arguments), `"%0"`, fmt.Sprintf(`"%%%d"`, 40+i))})
				}
			}
		}
	}
	s, v := perform(t, c, script, false, func(s *stage) {
		for i, a := range attempts {
			if pane := s.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "work:", a.start); pane != fmt.Sprintf("%%%d", 40+i) {
				t.Fatalf("%s is in pane %s", a.id, pane)
			}
		}
		for i, a := range attempts {
			s.awaitText(fmt.Sprintf("%%%d", 40+i), a.shows)
		}
	})
	for i, a := range attempts {
		switch text := v.Results[last[i]]; {
		case found(text, []string{a.says}):
		case strings.Contains(text, " quiet after "):
			// A busy machine was silent for longer than the agent waits; the next look has
			// it.
			s.awaitText(fmt.Sprintf("%%%d", 40+i), a.says)
		default:
			t.Errorf("%s: the model reads %q, which does not have %s", a.id, text, a.says)
		}
	}
}

// perform has a client follow a script to its end. A client that begins before its MCP
// server is there, on a busy machine, gets another chance; one that hangs does not.
func perform(t *testing.T, c modelClient, script Script, typed bool, prepare ...func(*stage)) (*stage, View) {
	t.Helper()
	for try := 1; ; try++ {
		s := newStage(t, c)
		for _, p := range prepare {
			p(s)
		}
		v, said, err := s.play(script, typed)
		offered := slices.ContainsFunc(v.Tools, func(tool Tool) bool { return strings.Contains(tool.Space+tool.Name, "tmux") })
		if err == nil && v.Ended && offered {
			return s, v
		}
		why := fmt.Sprintf("%v; tools offered: %t; %d requests, %d of %d results; it said\n%s", err, offered, len(v.Requests), len(v.Results), len(script.Calls), said)
		if try == tries || errors.Is(err, errNoEnd) && len(v.Requests) > 0 {
			t.Fatal(why)
		}
		report(t, "%-9s played once more: %s", c.name, strings.ReplaceAll(why, "\n", " "))
	}
}

// A guarded call ends with a refusal if nobody can be asked, or if the user dismisses the
// question instead of answering it.
func testGuarded(t *testing.T, c modelClient, typed bool) {
	if typed && len(c.typed) == 0 {
		t.Skip("this client cannot ask")
	}
	s, v := perform(t, c, Script{Calls: []Call{{Tool: "kill_pane", Args: `{"pane_id": "%0"}`}}}, typed)
	if ids := s.tmux("list-panes", "-a", "-F", "#{pane_id}"); !slices.Contains(strings.Fields(ids), "%0") {
		t.Errorf("the agent's pane is gone; there are %q", strings.Fields(ids))
	}
	text := v.Results[0]
	if !found(text, []string{`(?i)refus|declin|cancel`, `%0\b`}) {
		t.Errorf("the model reads %q", text)
	}
	asked := strings.Contains(s.read("answered"), "elicitation/create") || strings.Contains(s.read("answered"), "input_required")
	if typed {
		if !asked {
			t.Error("the user was not asked")
		}
		return
	}
	consent := "refused"
	if asked {
		consent = "asked"
	}
	compare(t, c.name, "consent, with no user there", "", cell{form: consent})
	compare(t, c.name, guarded, text, cell{form: form(text), bytes: len(text)})
}

// An object of JSON begins a line: clients surround a result with their own words, and
// truncate long ones.
var jsonObject = regexp.MustCompile(`(?m)^\{"`)

// form is json if that is what a model reads.
func form(text string) string {
	if jsonObject.MatchString(text) {
		return "json"
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func found(text string, facts []string) bool {
	for _, f := range facts {
		if !regexp.MustCompile(f).MatchString(text) {
			return false
		}
	}
	return true
}
