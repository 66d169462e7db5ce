package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

// required returns the other arguments that tools with a target need.
func required(t *testing.T) map[string]map[string]any {
	return map[string]map[string]any{
		"resize_pane":     {"height": 5},
		"resize_window":   {"width": 60},
		"select_layout":   {"layout": "even-horizontal"},
		"move_window":     {"destination_index": 7},
		"pipe_pane":       {"output_path": filepath.Join(t.TempDir(), "out")},
		"send_keys":       {"keys": "typed"},
		"send_keys_batch": {},
		"paste_text":      {"text": "typed"},
		"send_prompt":     {"prompt": "typed"},
		"run_command":     {"command": "echo typed"},
		"rename_session":  {"new_name": "agent"},
		"rename_window":   {"new_name": "w"},
		"set_pane_title":  {"title": "x"},
		"respawn_pane":    {"shell": "cat"},
		"select_pane":     {"direction": "last"},
		"select_window":   {"direction": "last"},

		"display_message":       {"format_string": "x"},
		"search_panes":          {"pattern": "x"},
		"find_pane_by_position": {"corner": "top-left"},
		"set_environment":       {"name": "X", "value": "x"},
		"wait_for_text":         {"timeout": 0.1},
	}
}

// selectors are the arguments by which a call can name the agent's own pane, or what
// contains it.
var selectors = map[string]any{"pane_id": "%0", "window_id": "@0", "session_id": "$0", "session_name": "agent"}

// ownCalls returns calls of a tool on the agent's own pane: one for each way in which the
// tool's input can name it.
func ownCalls(t *testing.T, d *tool.Tool) []map[string]any {
	has := argumentNames(d.In)
	var calls []map[string]any
	for _, name := range slices.Sorted(maps.Keys(selectors)) {
		if !slices.Contains(has, name) {
			continue
		}
		// The smaller objects are in the agent's window; an index needs a session.
		args := map[string]any{name: selectors[name]}
		if strings.HasPrefix(name, "session") && slices.Contains(has, "window_index") {
			args["window_index"] = 0
		}
		calls = append(calls, args)
	}
	switch d.Name {
	case "swap_pane":
		calls = []map[string]any{
			{"source_pane_id": "%0", "target_pane_id": "%1"}, {"source_pane_id": "%3", "target_pane_id": "%0"},
		}
	case "send_keys_batch":
		calls = []map[string]any{{"operations": []any{map[string]any{"keys": "typed", "pane_id": "%0"}}}}
	case "paste_buffer":
		for _, args := range calls {
			args["buffer_name"] = "libtmux_mcp_00000000000000000000000000000000_x"
		}
	}
	for _, args := range calls {
		maps.Copy(args, required(t)[d.Name])
	}
	return calls
}

// argumentNames returns the names of an input's arguments.
func argumentNames(in reflect.Type) []string {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if json.Unmarshal(params.InputSchema(in, nil), &schema) != nil {
		return nil
	}
	return slices.Collect(maps.Keys(schema.Properties))
}

// TestDeclaredHarmIsGuarded derives from the table of tools, for each tool that declares
// harm, that its calls on the agent's own pane are refused however the pane is named, and
// leave it unchanged.
func TestDeclaredHarmIsGuarded(t *testing.T) {
	t.Parallel()
	tested := 0
	for _, d := range allTools(t) {
		if d.Harm == guard.Harmless || d.Harm == guard.UnknownHarm {
			continue
		}
		tested++
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			program := talker
			if d.Name == "run_command" || d.Name == "cancel_job" { // refuses anything that is not a shell, whoever's it is
				program = "PS1='$ ' exec sh"
			} else if d.Name == "send_prompt" { // and this anything that is not an agent
				program, _ = testagent.Claude(t)
			}
			srv, s := agentServer(t, program)
			calls := ownCalls(t, d)
			if d.Aim.Object == target.Server {
				calls = []map[string]any{{}}
			}
			if d.Name == "cancel_job" { // of a server that runs elsewhere
				calls = []map[string]any{{"job_id": jobIn(t, srv)}}
			}
			if len(calls) == 0 {
				t.Fatal("no call names the own pane")
			}
			for _, args := range calls {
				text, _ := ownCall(t, srv, s, d, args)
				if want := "refusing to " + d.Harm.Verb() + " "; !strings.Contains(text, want) {
					t.Errorf("%v: no %q in %s", args, want, text)
				}
			}
		})
	}
	if tested < 10 {
		t.Errorf("only %d tools declare harm", tested)
	}
}

// ownCall makes a call that must leave the agent's own pane unchanged.
func ownCall(t *testing.T, srv *tmux.Server, s *Server, d *tool.Tool, args map[string]any) (text string, failed bool) {
	t.Helper()
	before := ownState(t, srv, d)
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Call(testserver.Context(t), d.Name, raw)
	if err != nil {
		t.Fatal(err)
	}
	if after := ownState(t, srv, d); after != before {
		t.Errorf("%s changed\n%s\nto\n%s", raw, before, after)
	}
	got, err := json.Marshal(res) // with the rows of a batch
	if err != nil {
		t.Fatal(err)
	}
	return string(got), res.IsError
}

// spellings returns other texts that tmux, or a lenient parser, may take for one of the
// objects that contain the agent's own pane.
func spellings(of string) []string {
	if of == "agent" {
		return []string{"=agent", "agent:", "agent:0", "=agent:0.0", "agen", "a*", "[a]gent", "Agent", " agent", "agent ", "agent\n", "$0", "$00", "=$0", "@0", "@00", "%0", "%00",
			"{mouse}", "{last}", "~", "!", "+", "-", "^", "$", ".", ":", ":.", "#{session_name}", "/dev/tty", "client-0"}
	}
	sigil := of[:1]
	out := []string{sigil, "0", "=" + of, of + ".", of + ":", of + ".0", ":" + of, ":." + of, "agent:" + of, "=agent:0.0", "agent", "agent:0", " " + of, of + " ", of + "\n", of + "\x00",
		"{top}", "{last}", "{mouse}", "{marked}", "!", "~", "+", "-", "^", "$", "#{pane_id}", "#{window_id}", sigil + sigil + "0", "\uff05" + "0"}
	for _, number := range []string{"00", "000", "0000000000", "00000000000000000000000", "+0", "-0", " 0", "0x0", "0b0", "0o0", "0_0", "0.0", "0e0", "\u0660", "\uff10", "4294967296", "18446744073709551616"} {
		out = append(out, sigil+number)
	}
	return out
}

// spelled returns the copies of a value in which one of the texts that name the agent's own
// pane, or what contains it, is spelled differently.
func spelled(v any) (out []any) {
	switch v := v.(type) {
	case string:
		if v == "%0" || v == "@0" || v == "$0" || v == "agent" {
			for _, other := range spellings(v) {
				out = append(out, other)
			}
		}
	case map[string]any:
		for key, inner := range v {
			if key == "new_name" {
				continue
			}
			for _, other := range spelled(inner) {
				changed := maps.Clone(v)
				changed[key] = other
				out = append(out, changed)
			}
			if n, ok := inner.(int); ok && key == "window_index" {
				for _, other := range []string{"00", "000", "+0", "-0", " 0", "0 ", "\u0660", "{start}", "^", "!", fmt.Sprint(n) + ".0", "0:"} {
					changed := maps.Clone(v)
					changed[key] = other
					out = append(out, changed)
				}
			}
		}
	case []any:
		for i, inner := range v {
			for _, other := range spelled(inner) {
				changed := slices.Clone(v)
				changed[i] = other
				out = append(out, changed)
			}
		}
	}
	return out
}

// SpelledCall is a call whose target is the agent's own pane, or what contains it, in
// another spelling.
type SpelledCall struct {
	Args    string
	Guarded bool // the tool declares that it types, disturbs or ends
}

// SpelledCalls derives them from the table of tools, for each argument of each tool that
// can name a target.
func SpelledCalls(t *testing.T) map[string][]SpelledCall {
	all := map[string][]SpelledCall{}
	for _, d := range allTools(t) {
		if d.Name == "create_session" || d.Name == "build_workspace" {
			continue // they name what they create
		}
		for _, args := range append(ownCalls(t, d), otherWaysToName(d)...) {
			for _, other := range spelled(args) {
				raw, err := json.Marshal(other)
				if err != nil {
					t.Fatal(err)
				}
				// These arguments accept both names and ids.
				if strings.Contains(string(raw), `"target":"$0"`) || strings.Contains(string(raw), `"destination_session":"$0"`) || strings.Contains(string(raw), `"panes":["agent"]`) {
					continue
				}
				all[d.Name] = append(all[d.Name], SpelledCall{string(raw), d.Harm != guard.Harmless && d.Harm != guard.UnknownHarm})
			}
		}
	}
	return all
}

// otherWaysToName returns calls that name the agent's own pane, or what contains it, by an
// argument that is not the tool's selector.
func otherWaysToName(d *tool.Tool) (calls []map[string]any) {
	has := argumentNames(d.In)
	if slices.Contains(has, "target") {
		for scope, target := range map[string]string{"session": "agent", "window": "@0", "pane": "%0"} {
			args := map[string]any{"scope": scope, "target": target}
			for name, value := range map[string]any{"option": "@mcp-x", "value": "x", "hook_name": "after-new-window"} {
				if slices.Contains(has, name) {
					args[name] = value
				}
			}
			calls = append(calls, args)
		}
	}
	if slices.Contains(has, "panes") {
		calls = append(calls, map[string]any{"panes": []any{"%0"}, "timeout": 0.1})
	}
	switch d.Name {
	case "agent_status":
		delete(calls[0], "timeout")
	case "move_window":
		calls = append(calls, map[string]any{"window_id": "@2", "destination_session": "agent", "destination_index": 9})
	}
	return calls
}

// AgentServer returns a tmux server on which the agent runs, with the configuration of its
// server: see agentServer.
func AgentServer(t *testing.T) (*tmux.Server, Config) {
	srv, s := agentServer(t, talker)
	return srv, s.cfg
}

// OwnState returns what a tool could have done to the program in the agent's own pane.
func OwnState(t *testing.T, srv *tmux.Server) string { return ownState(t, srv, &tool.Tool{}) }

// jobIn begins a job in pane %0.
func jobIn(t *testing.T, srv *tmux.Server) string {
	t.Helper()
	s, err := New(Config{Tmux: srv.Binary(), SocketPath: srv.SocketPath(), Tier: Mutating, Results: reply.ResultsJSON})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Call(testserver.Context(t), "run_command", json.RawMessage(`{"pane_id":"%0","command":"echo 'be''gun'; sleep 600","detach":true}`))
	if err != nil || res.IsError {
		t.Fatalf("%v, %+v", err, res)
	}
	raw, _ := json.Marshal(res.StructuredContent)
	var job struct {
		JobID string `json:"job_id"`
	}
	if json.Unmarshal(raw, &job) != nil || job.JobID == "" {
		t.Fatalf("%s", raw)
	}
	testserver.WaitScreen(t, srv, "%0", "begun")
	return job.JobID
}

// TestDeclaredHarmlessIsHarmless: a tool that declares no harm, and needs a target, works
// on the agent's own pane, and neither types into it nor ends, pipes or clears it.
func TestDeclaredHarmlessIsHarmless(t *testing.T) {
	t.Parallel()
	for _, d := range allTools(t) {
		if d.Harm != guard.Harmless || d.Aim.Rule != target.AimNeed && d.Aim.Rule != target.AimDefault {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			srv, s := agentServer(t, talker)
			testserver.Run(t, srv, "select-pane", "-t", "%1")
			testserver.Run(t, srv, "select-window", "-t", "@1")
			for _, args := range ownCalls(t, d) {
				if text, failed := ownCall(t, srv, s, d, args); failed {
					t.Errorf("%v: %s", args, text)
				}
			}
		})
	}
}

// TestUndeclaredToolsAreRefused: a tool that declares nothing cannot be added.
func TestUndeclaredToolsAreRefused(t *testing.T) {
	t.Parallel()
	_, s := agentServer(t, talker)
	defer func() {
		if recover() == nil {
			t.Error("a tool was added that does not declare what it acts on")
		}
	}()
	s.AddUndeclared()
}

// talker has something on its screen that can be lost.
const talker = "echo '$ hello'; exec cat"

// agentServer returns a tmux server on which the agent runs in %0, of window @0 with %1 in
// session agent. @1 with %2 is in the same session, and session other has @2 with %3.
func agentServer(t *testing.T, program string) (*tmux.Server, *Server) {
	srv := testserver.New(t)
	for _, words := range [][]string{
		{"new-session", "-d", "-s", "agent", "-x", "80", "-y", "50", program},
		{"resize-window", "-t", "@0", "-x", "80", "-y", "50"}, // tmux 3.2 ignores the size of its first session
		{"split-window", "-d", "-t", "%0", "cat"},
		{"new-window", "-d", "-t", "=agent:", "cat"},
		{"new-session", "-d", "-s", "other", "cat"},
	} {
		testserver.Run(t, srv, words[0], words[1:]...)
	}
	testserver.WaitScreen(t, srv, "%0", "$")
	testserver.Run(t, srv, "set-buffer", "-b", "libtmux_mcp_00000000000000000000000000000000_x", "typed")
	s, err := New(Config{
		Tmux: srv.Binary(), SocketPath: srv.SocketPath(), Tier: Destructive,
		Caller: Caller{Pane: "%0", Socket: srv.SocketPath()},
		Env:    []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "SHELL=/bin/sh", "TERM=screen"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return srv, s
}

// ownState returns what a tool could have done to the program in the agent's own pane.
func ownState(t *testing.T, srv *tmux.Server, d *tool.Tool) string {
	size := "#{pane_width}x#{pane_height}"
	if d.Name == "split_window" { // takes half of it, as requested
		size = ""
	}
	return testserver.Run(t, srv, "list-panes", "-a", "-f", "#{==:#{pane_id},%0}", "-F",
		size+" pid #{pane_pid}, dead #{pane_dead}, pipe #{pane_pipe}, history #{history_size}, cursor #{cursor_x},#{cursor_y}") +
		"\n" + strings.TrimSpace(testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0"))
}
