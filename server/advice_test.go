package server

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/tool"
)

// TestAdviceCanBeTaken: an error names only parameters that the tool has, and tools that this
// server offers, whatever its tier and toolsets. Each tool is called without its target, and
// with targets that do not exist or are none.
func TestAdviceCanBeTaken(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", "exec cat")
	none := testserver.New(t) // not running
	all, parameters := map[string]*tool.Tool{}, map[string]bool{}
	for _, d := range allTools(t) {
		all[d.Name] = d
		for _, f := range params.FieldsOf(d.In) {
			parameters[f.Name] = true
		}
	}
	name := regexp.MustCompile(`[a-z]+(_[a-z]+)+`) // others are words, too
	tested := map[string]bool{}
	for _, cfg := range []Config{
		{Tier: Destructive}, {Tier: Mutating}, {Tier: Readonly},
		{Tier: Destructive, Toolsets: []string{tool.Core}}, {Tier: Destructive, Toolsets: []string{tool.Sessions}}, {Tier: Destructive, Toolsets: []string{tool.Windows}},
		{Tier: Destructive, Toolsets: []string{tool.Panes}}, {Tier: Destructive, Toolsets: []string{tool.Input}}, {Tier: Readonly, Toolsets: []string{tool.Panes}},
	} {
		for _, path := range []string{srv.SocketPath(), none.SocketPath()} {
			cfg.Tmux, cfg.SocketPath, cfg.Env = srv.Binary(), path, []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir(), "SHELL=/bin/sh", "TERM=screen"}
			s, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			offered := map[string]bool{}
			for _, d := range s.offered() {
				offered[d.Name] = true
			}
			for _, d := range s.offered() {
				has := map[string]bool{}
				for _, f := range params.FieldsOf(d.In) {
					has[f.Name] = true
				}
				for _, args := range adviceCalls(t, d) {
					raw, err := json.Marshal(args)
					if err != nil {
						t.Fatal(err)
					}
					res, err := s.Call(testserver.Context(t), d.Name, raw)
					if err != nil {
						t.Fatal(err)
					}
					if !res.IsError {
						continue
					}
					tested[d.Name] = true
					text := reply.TextOf(res)
					for _, word := range name.FindAllString(text, -1) {
						switch _, given := args[word]; {
						case all[word] != nil && !offered[word] || all[word] == nil && parameters[word] && !has[word] && !given:
							t.Errorf("%s %v, %s %s names %s: %s", cfg.Tier, cfg.Toolsets, d.Name, raw, word, text)
						}
					}
				}
			}
		}
	}
	if len(tested) < 50 {
		t.Errorf("only %d tools fail", len(tested))
	}
}

// TestAdviceNamesWhatIsOffered: of an object that is not there, the advice names the tool that lists
// such objects, and so it stays where others are not offered.
func TestAdviceNamesWhatIsOffered(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "a", "exec cat")
	s, err := New(Config{Tier: Destructive, Toolsets: []string{tool.Sessions}, Tmux: srv.Binary(), SocketPath: srv.SocketPath()})
	if err != nil {
		t.Fatal(err)
	}
	const want = "Object not found: session $99\nCall list_sessions to see which sessions exist"
	res, err := s.Call(testserver.Context(t), "kill_session", json.RawMessage(`{"session_id":"$99"}`))
	if err != nil || reply.TextOf(res) != want {
		t.Errorf("%v: %s, want %s", err, reply.TextOf(res), want)
	}
}

// adviceCalls returns calls of a tool that do not name an object.
func adviceCalls(t *testing.T, d *tool.Tool) []map[string]any {
	other := required(t)[d.Name]
	calls := []map[string]any{{}, other}
	for _, f := range params.FieldsOf(d.In) {
		for _, value := range map[string][]any{
			"pane_id": {"%99", "1"}, "source_pane_id": {"%99", "1"}, "target_pane_id": {"%99"}, "window_id": {"@99", "1"}, "session_id": {"$99", "1"}, "session_name": {"zz"}, "window_index": {7, "x"},
			"target": {"zz"}, "scope": {"pane"}, "job_id": {"zz"}, "buffer_name": {"zz"}, "panes": {[]any{"%99"}, []any{"zz"}}, "no_such": {1},
		}[f.Name] {
			args := map[string]any{f.Name: value}
			for name, value := range other {
				args[name] = value
			}
			calls = append(calls, args)
		}
	}
	calls = append(calls, map[string]any{"no_such": 1})
	// What works on the agent's pane, or ends all, is not an error.
	return slices.DeleteFunc(calls, func(args map[string]any) bool {
		_, needs := required(t)[d.Name]
		names := slices.Collect(maps.Keys(args))
		return d.Name == "kill_server" && len(args) == 0 || d.SelfBounded && len(names) == 0 || !needs && strings.HasPrefix(d.Name, "create_") && len(args) == 0
	})
}
