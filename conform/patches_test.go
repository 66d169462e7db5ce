package conform

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// patched is package tmux as an adapter that one patch makes wrong.
type patched struct {
	adapter.Library
	patch        *patch
	tmux, socket string
	read         bool // something that a patch wants to know
}

// patch makes a wrapper wrong in one way.
type patch struct {
	what  string
	turns string // the claim that is not true of it, 4/1
	needs tmux.Version
	// waits is set if the script waits for what never comes.
	waits bool
	// handle answers a request, or returns false for what it leaves to the library. Its parameters
	// may be changed.
	handle func(w *patched, r *request) bool
}

// request is what a patch is asked, and its answer.
type request struct {
	method string
	params map[string]any
	result map[string]any
	err    *adapter.Error
}

// text returns a parameter, empty if it is not there.
func (r *request) text(name string) string {
	s, _ := r.params[name].(string)
	return s
}

// servePatched is the adapter with the patch of this name.
func servePatched(name string, in io.Reader, out io.Writer) error {
	i := slices.IndexFunc(patches, func(p patch) bool { return p.what == name })
	return adapter.Serve(&patched{patch: &patches[i]}, in, out)
}

// Handle answers a request with the patch, or as the library does.
func (w *patched) Handle(ctx context.Context, method string, raw json.RawMessage) (any, *adapter.Error) {
	r := request{method: method}
	if err := json.Unmarshal(raw, &r.params); err != nil {
		panic(err)
	}
	if method == "open" {
		w.tmux, w.socket = r.text("tmux"), r.text("socket")
	}
	if method == "describe" || method == "open" || !w.patch.handle(w, &r) {
		w.pass(ctx, &r)
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.result, nil
}

// pass has the library answer.
func (w *patched) pass(ctx context.Context, r *request) {
	raw, err := json.Marshal(r.params)
	if err != nil {
		panic(err)
	}
	result, failed := w.Library.Handle(ctx, r.method, raw)
	if r.err = failed; failed != nil {
		return
	}
	raw, err = json.Marshal(result)
	if err == nil {
		err = json.Unmarshal(raw, &r.result)
	}
	if err != nil {
		panic(err)
	}
}

// run runs a tmux command and returns what it prints.
func (w *patched) run(args ...string) string {
	out, _ := exec.Command(w.tmux, append([]string{"-S", w.socket}, args...)...).Output()
	return strings.TrimSuffix(string(out), "\n")
}

// answer has the library answer, and reports that this is done: for patches of answers.
func (w *patched) answer(r *request) bool {
	w.pass(context.Background(), r)
	return true
}

// rows returns the rows of an answer.
func (r *request) rows() (all []map[string]any) {
	if row, ok := r.result["row"].(map[string]any); ok {
		all = append(all, row)
	}
	rows, _ := r.result["rows"].([]any)
	for _, row := range rows {
		all = append(all, row.(map[string]any))
	}
	return all
}

// field returns a patch that changes a field of the rows that get answers with, where it is one.
func field(name string, change func(w *patched, row map[string]any)) func(w *patched, r *request) bool {
	return func(w *patched, r *request) bool {
		if r.method != "get" {
			return false
		}
		w.answer(r)
		for _, row := range r.rows() {
			if _, has := row[name]; has {
				change(w, row)
			}
		}
		return true
	}
}

// set returns a patch of a field that has always the same value.
func set(name string, value any) func(w *patched, r *request) bool {
	return field(name, func(_ *patched, row map[string]any) { row[name] = value })
}

// without returns a patch of a field that is not there.
func without(name string) func(w *patched, r *request) bool {
	return field(name, func(_ *patched, row map[string]any) { delete(row, name) })
}

// drop returns a patch that does not pass a parameter on, where it applies.
func drop(method, param string, where func(w *patched, r *request) bool) func(w *patched, r *request) bool {
	return func(w *patched, r *request) bool {
		if r.method == method && where(w, r) {
			delete(r.params, param)
		}
		return false
	}
}

func always(*patched, *request) bool { return true }

// nothing answers that all is done, though nothing was.
func nothing(r *request) bool {
	r.result = map[string]any{}
	return true
}

func (w *patched) clients() bool { return w.run("list-clients") != "" }

// atServer reports whether a request is for a format without an object.
func atServer(r *request) bool { return r.method == "display" && r.params["target"] == nil }

// ofError returns a patch of the wrapper's errors.
func ofError(change func(e *adapter.Error)) func(w *patched, r *request) bool {
	return func(w *patched, r *request) bool {
		if r.method != "select_window" {
			return false
		}
		if w.answer(r); r.err != nil {
			change(r.err)
		}
		return true
	}
}

// patches have one for each claim that is asked in an api section of suite 670.
var patches = []patch{
	{what: "a format without an object puts a pane into copy mode", turns: "1/3", handle: func(w *patched, r *request) bool {
		if atServer(r) && !w.clients() {
			w.run("copy-mode", "-t", "%0")
		}
		return false
	}},
	{what: "a format without an object is empty while a client is attached", turns: "1/4", handle: func(w *patched, r *request) bool {
		if atServer(r) && w.clients() {
			r.params["format"] = ""
		}
		return false
	}},
	{what: "a format without an object needs a session", turns: "1/7", handle: func(w *patched, r *request) bool {
		if atServer(r) && w.run("list-sessions") == "" {
			r.err = &adapter.Error{Code: 1, Message: "no current session"}
			return true
		}
		return false
	}},
	{what: "a window is looked for in the first session only", turns: "2/1", handle: func(w *patched, r *request) bool {
		if target := r.text("target"); r.method == "display" && !slices.Contains(strings.Fields(w.run("list-windows", "-t", "$0", "-F", "#{window_id}")), target) {
			r.params["target"] = "$0"
		}
		return false
	}},
	{what: "a format ignores its target while a client is attached", turns: "2/2",
		handle: drop("display", "target", func(w *patched, _ *request) bool { return w.clients() })},
	{what: "a zoom is not noticed unless a client is attached", turns: "3/1", handle: field("window_zoomed_flag", func(w *patched, row map[string]any) {
		row["window_zoomed_flag"] = row["window_zoomed_flag"] == true && w.clients()
	})},
	{what: "only the current window can be zoomed", turns: "3/2", handle: field("window_zoomed_flag", func(_ *patched, row map[string]any) {
		row["window_zoomed_flag"] = row["window_zoomed_flag"] == true && row["window_active"] == true
	})},
	{what: "no window of a list is zoomed", turns: "3/3", handle: func(w *patched, r *request) bool {
		if r.method != "list" {
			return false
		}
		w.answer(r)
		for _, row := range r.rows() {
			row["window_zoomed_flag"] = false
		}
		return true
	}},
	{what: "a window of three panes is not zoomed", turns: "3/4", handle: field("window_zoomed_flag", func(_ *patched, row map[string]any) {
		row["window_zoomed_flag"] = row["window_zoomed_flag"] == true && row["window_panes"] != 3.0
	})},
	{what: "reset clears the history first", turns: "4/1", handle: func(w *patched, r *request) bool {
		if r.method != "reset" {
			return false
		}
		w.run("clear-history", "-t", r.text("pane"), ";", "send-keys", "-R", "-t", r.text("pane"))
		return nothing(r)
	}},
	{what: "reset resets all panes of the window", turns: "4/2", handle: func(w *patched, r *request) bool {
		if r.method == "reset" {
			for _, pane := range strings.Fields(w.run("list-panes", "-t", r.text("pane"), "-F", "#{pane_id}")) {
				w.run("send-keys", "-R", "-t", pane, ";", "clear-history", "-t", pane)
			}
		}
		return false
	}},
	{what: "send-keys -R without keys does nothing", turns: "5/1", handle: func(_ *patched, r *request) bool {
		return r.method == "send_keys" && r.params["reset"] == true && r.params["repeat"] == nil && len(r.params["keys"].([]any)) == 0 && nothing(r)
	}},
	{what: "send-keys -N without keys does nothing", turns: "5/2", handle: func(_ *patched, r *request) bool {
		return r.method == "send_keys" && r.params["reset"] == nil && r.params["repeat"] != nil && len(r.params["keys"].([]any)) == 0 && nothing(r)
	}},
	{what: "send-keys -R types a letter", turns: "5/4", handle: func(w *patched, r *request) bool {
		if r.method == "send_keys" && r.params["reset"] == true {
			w.run("send-keys", "-t", r.text("pane"), "x")
		}
		return false
	}},
	{what: "a buffer's name ends at a colon", turns: "6/2", handle: func(w *patched, r *request) bool {
		if r.method != "list" || r.params["filter"] != nil {
			return false
		}
		w.answer(r)
		for _, row := range r.rows() {
			row["buffer_name"], _, _ = strings.Cut(row["buffer_name"].(string), ":")
		}
		return true
	}},
	{what: "buffers are not filtered", turns: "6/3",
		handle: drop("list", "filter", func(_ *patched, r *request) bool { return r.params["format"] == nil })},
	{what: "a list in a format has the size only", turns: "6/8", handle: func(_ *patched, r *request) bool {
		if r.method == "list" && r.params["format"] != nil {
			r.params["format"] = "#{buffer_size}"
		}
		return false
	}},
	{what: "a window's panes are not filtered", turns: "7/1",
		handle: drop("list", "filter", func(_ *patched, r *request) bool { return strings.HasPrefix(r.text("within"), "@") })},
	{what: "sessions are not filtered", turns: "7/2",
		handle: drop("list", "filter", func(_ *patched, r *request) bool { return r.text("kind") == "sessions" })},
	{what: "an error's text lacks the command", turns: "8/2", handle: ofError(func(e *adapter.Error) { e.Message = *e.Data.Stderr })},
	{what: "an error lacks the command", turns: "8/3", handle: ofError(func(e *adapter.Error) { e.Data.Command = nil })},
	{what: "an error lacks what tmux wrote", turns: "8/4", handle: ofError(func(e *adapter.Error) {
		e.Message, e.Data.Stderr = *e.Data.Command+" failed", nil
	})},
	{what: "a second -t passes", turns: "9/1", handle: func(w *patched, r *request) bool {
		if r.method != "command" {
			return false
		}
		args := []string{r.text("name"), "-t", r.text("target")}
		for _, arg := range r.params["args"].([]any) {
			args = append(args, arg.(string))
		}
		r.result = map[string]any{"value": w.run(args...)}
		return true
	}},
	{what: "window_bigger is no field", turns: "10/1", handle: without("window_bigger")},
	{what: "pane_last is not read", turns: "10/2", handle: set("pane_last", false)},
	{what: "window_bell_flag is not read", turns: "10/3", handle: set("window_bell_flag", false)},
	{what: "session_grouped is not read", turns: "10/4", handle: set("session_grouped", false)},
	{what: "session_active is no field", turns: "10/6", needs: tmux.Version{Major: 3, Minor: 6}, handle: without("session_active")},
	{what: "pane_unseen_changes is not read", turns: "10/8", needs: tmux.Version{Major: 3, Minor: 4}, handle: set("pane_unseen_changes", false)},
	{what: "control clients are not listed", turns: "11/2", handle: func(w *patched, r *request) bool {
		if r.method != "list" || r.params["filter"] != nil {
			return false
		}
		w.answer(r)
		rows := r.result["rows"].([]any)
		r.result["rows"] = slices.DeleteFunc(rows, func(row any) bool { return row.(map[string]any)["client_control_mode"] == true })
		return true
	}},
	{what: "client_mode_format is no field", turns: "11/3", handle: without("client_mode_format")},
	{what: "client_readonly is not read", turns: "11/4", handle: set("client_readonly", false)},
	{what: "client_prefix is not read", turns: "11/5", handle: set("client_prefix", false)},
	{what: "client_theme is not read", turns: "11/6", needs: tmux.Version{Major: 3, Minor: 6}, handle: set("client_theme", nil)},
	{what: "run-shell has no directory", turns: "12/1", needs: tmux.Version{Major: 3, Minor: 5}, handle: drop("run_shell", "dir", always)},
	{what: "run-shell leaves standard error out", turns: "12/2", needs: tmux.Version{Major: 3, Minor: 6}, handle: drop("run_shell", "stderr", always)},
	{what: "nothing waits for its end", turns: "13/1", waits: true, handle: func(_ *patched, r *request) bool {
		if r.params["pending"] == nil {
			return false
		}
		r.result = map[string]any{"value": ""}
		return true
	}},
	{what: "the screen waits for its end if nothing else does", turns: "13/2", handle: func(w *patched, r *request) bool {
		if r.params["pending"] == nil {
			return false
		}
		if w.answer(r); r.result["value"] == "" {
			delete(r.params, "pending")
			w.answer(r)
		}
		return true
	}},
	{what: "pane_pipe_pid is no field of the first row", turns: "14/1", handle: field("pane_pipe_pid", func(w *patched, row map[string]any) {
		if !w.read {
			delete(row, "pane_pipe_pid")
		}
		w.read = true
	})},
	{what: "pane_floating_flag is not read", turns: "14/2", handle: set("pane_floating_flag", false)},
}

// TestPatchedWrapper: a wrapper that is wrong in one way turns the claim that is about that, and
// no other that is asked of its gap. There is one for each claim that is asked.
func TestPatchedWrapper(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	gaps := slices.DeleteFunc(lastingSuites(t), func(g *Gap) bool { return g.Number > 14 })
	target := apiRequest(t, "").Target
	version, err := tmux.ParseVersion(target.Version)
	if err != nil {
		t.Fatal(err)
	}
	claims := func(g *Gap) []report.Claim { return g.Claims(report.APILayer, target.Version) }
	id := func(g *Gap, cl report.Claim) string { return fmt.Sprintf("%d/%d", g.Number, cl.Number) }
	for _, g := range gaps {
		for _, cl := range claims(g) {
			if n := len(slices.DeleteFunc(slices.Clone(patches), func(p patch) bool { return p.turns != id(g, cl) })); cl.Asked != (n == 1) {
				t.Errorf("%d patches turn %s, asked %t: %s", n, id(g, cl), cl.Asked, cl.Text)
			}
		}
	}
	for i, p := range patches {
		t.Run(p.what, func(t *testing.T) {
			t.Parallel()
			if !version.Has(p.needs) {
				t.Skipf("nothing asks tmux %s for that: it needs %v", version, p.needs)
			}
			if !testtool.Full && i%5 != 0 {
				t.Skip("one of five only; TMUX_TEST_FULL=1 runs all")
			}
			g := gaps[slices.IndexFunc(gaps, func(g *Gap) bool { return strings.HasPrefix(p.turns, fmt.Sprintf("%d/", g.Number)) })]
			r := apiRequest(t, string(g.Script(report.APILayer)), "/usr/bin/env", "CONFORM_TEST_PATCH="+p.what, exe)
			if p.waits {
				r.Timeout = inVain
			}
			m, err := child.Converse(t.Context(), scriptProcess(t), r)
			if err != nil {
				t.Fatal(err)
			}
			m.Cell.Settle(claims(g))
			var turned []string
			for _, cl := range m.Cell.Claims {
				if cl.Asked && cl.Outcome != report.True && cl.Outcome != report.Outcome(report.NotApplicable) {
					turned = append(turned, id(g, cl)+" "+string(cl.Outcome))
					t.Logf("%s: %s: %s", id(g, cl), cl.Outcome, cl.Why)
				}
			}
			if want := []string{p.turns + " " + string(report.Open)}; !slices.Equal(turned, want) {
				t.Errorf("turns %q, want %q\n%s", turned, want, m.Log)
			}
		})
	}
}
