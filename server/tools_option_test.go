package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

// optionAnswer is the answer of show_option and set_option.
type optionAnswer struct {
	Option    string
	Value     any
	Scope     string
	Inherited bool
	Target    string
	Status    string
}

func (a optionAnswer) String() string {
	return fmt.Sprintf("%v from %q, inherited %t, of %q", a.Value, a.Scope, a.Inherited, a.Target)
}

func TestShownOptionsSayWhereTheyAreSet(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "a b")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	p := serve(t, configFor(srv))
	set := func(args string) optionAnswer { t.Helper(); return ok[optionAnswer](p, "set_option", args) }
	show := func(args, want string) {
		t.Helper()
		if got := ok[optionAnswer](p, "show_option", args).String(); got != want {
			t.Errorf("show_option %s: %s, want %s", args, got, want)
		}
	}
	// A value of a larger scope is returned with that scope.
	show(`{"option":"status-interval","scope":"session","target":"a"}`, `15 from "global session", inherited true, of "$0"`)
	if got := set(`{"option":"status-interval","value":"007","scope":"session","target":"a"}`); got.Value != "7" || got.Scope != "session" || got.Status != "set" {
		t.Errorf("set_option answers %+v, not with what tmux made of it", got)
	}
	show(`{"option":"status-interval","scope":"session","target":"$0"}`, `7 from "session", inherited false, of "$0"`)
	show(`{"option":"status-interval","scope":"session","target":"a b"}`, `15 from "global session", inherited true, of "$1"`)
	show(`{"option":"status-interval","global_":true}`, `15 from "global session", inherited false, of ""`)
	// Text stays text.
	for _, text := range []string{"007", "on", "1e3", "", "x;", "-t", "a  b", "#{x}#(y)%H", "'\"\\$", "é\n\t"} {
		value := quote(text)
		if got := set(`{"option":"@note","value":` + value + `,"scope":"window","target":"@0"}`); got.Value != text {
			t.Errorf("set to %q it is %q", text, got.Value)
		}
		if got := ok[optionAnswer](p, "show_option", `{"option":"@note","scope":"window","target":"@0"}`); got.Value != text {
			t.Errorf("set to %q it reads as %q", text, got.Value)
		}
	}
	// A pane has its window's.
	set(`{"option":"@note","value":"w","scope":"window","target":"@0"}`)
	show(`{"option":"@note","scope":"pane","target":"%2"}`, `w from "window", inherited true, of "%2"`)
	set(`{"option":"@note","value":"p","scope":"pane","target":"%2"}`)
	show(`{"option":"@note","scope":"pane","target":"%2"}`, `p from "pane", inherited false, of "%2"`)
	show(`{"option":"@note","scope":"pane","target":"%0"}`, `w from "window", inherited true, of "%0"`)
	show(`{"option":"@note","scope":"pane","target":"%1"}`, `<nil> from "", inherited false, of "%1"`)
	if got := set(`{"option":"@note","unset":true,"scope":"pane","target":"%2"}`); got.Status != "unset" || got.Value != "w" || !got.Inherited {
		t.Errorf("after unset: %+v", got)
	}
	// The scope follows from the option's name.
	for _, c := range []struct{ option, more, want string }{
		{"buffer-limit", ``, `50 from "server", inherited false, of ""`},
		{"buffer-limit", `,"global_":true`, `50 from "server", inherited false, of ""`},
		{"mode-keys", `,"global_":true`, `emacs from "global window", inherited false, of ""`},
		{"mode-keys", `,"global_":true,"scope":"server"`, `emacs from "global window", inherited false, of ""`},
		{"mode-keys", `,"global_":true,"scope":"window"`, `emacs from "global window", inherited false, of ""`},
		{"mode-keys", `,"scope":"window","target":"@1"`, `emacs from "global window", inherited true, of "@1"`},
		{"status", `,"global_":true,"scope":"session"`, `on from "global session", inherited false, of ""`},
	} {
		show(`{"option":"`+c.option+`"`+c.more+`}`, c.want)
	}
	// Arrays.
	if got := set(`{"option":"update-environment","value":"A B","global_":true}`); fmt.Sprint(got.Value) != "map[0:A 1:B]" {
		t.Errorf("an array is set to %v", got.Value)
	}
	set(`{"option":"update-environment[7]","value":"C","global_":true}`)
	show(`{"option":"update-environment","global_":true}`, `map[0:A 1:B 7:C] from "global session", inherited false, of ""`)
	show(`{"option":"update-environment[7]","global_":true}`, `C from "global session", inherited false, of ""`)
	set(`{"option":"update-environment","value":"","global_":true}`)
	show(`{"option":"update-environment","global_":true}`, `map[] from "", inherited false, of ""`)
}

// quote is text as a JSON string.
func quote(text string) string {
	raw := fmt.Sprintf("%q", text)
	return strings.NewReplacer(`\x00`, `\u0000`, `\v`, `\u000b`, `\a`, `\u0007`).Replace(raw)
}

func TestOptionsWithoutATargetAreTheCallers(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "b")
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	p := serve(t, cfg)
	for _, c := range []struct{ args, target string }{
		{`{"option":"status","value":"off"}`, "$0"},
		{`{"option":"@x","value":"1"}`, "$0"},
		{`{"option":"@x","value":"1","scope":"session"}`, "$0"},
		{`{"option":"mode-keys","value":"vi"}`, "@0"},
		{`{"option":"@x","value":"1","scope":"window"}`, "@0"},
		{`{"option":"@x","value":"1","scope":"pane"}`, "%0"},
	} {
		if got := ok[optionAnswer](p, "set_option", c.args); got.Target != c.target || got.Inherited {
			t.Errorf("set_option %s is about %q (%v), want %s", c.args, got.Target, got, c.target)
		}
	}
	if got := tmuxtest.Run(t, srv, "show-options", "-t", "=b:", "status"); got != "" {
		t.Errorf("the other session has %q", got)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	before := tmuxtest.Run(t, srv, "show-options", "-t", "=a:")
	p := serve(t, configFor(srv))
	for _, c := range []struct{ args, want string }{
		{`{"option":"status","scope":"banana"}`, "scope must be one of server, session, window, pane"},
		{`{"option":"status","target":"a"}`, "target needs a scope"},
		{`{"option":"status","scope":"server","target":"a"}`, "target is not for the scope server"},
		{`{"option":"status","scope":"session","target":"a","global_":true}`, "global_"},
		{`{"option":"mode-keys","scope":"window","target":"a"}`, "target must be @N"},
		{`{"option":"@x","scope":"pane","target":"0"}`, "target must be"},
		{`{"option":"status","scope":"session","target":"zz"}`, "Object not found: session zz"},
		{`{"option":"status","scope":"session","target":"a:"}`, "Object not found: session a:"},
		{`{"option":"status","scope":"session","target":"a:0"}`, "Object not found: session a:0"},
		{`{"option":"status","scope":"session","target":"a*"}`, "Object not found: session a*"},
		{`{"option":"@x","scope":"session","target":"$9"}`, "Object not found: session $9"},
		{`{"option":"@x","scope":"window","target":"@9"}`, "Object not found: window @9"},
		{`{"option":"@x","scope":"pane","target":"%9"}`, "Pane not found: %9"},
		{`{"option":"remain-on-exit","scope":"pane","target":"%9"}`, "Pane not found: %9"},
		{`{"option":"mode-keys","scope":"session","target":"a"}`, "mode-keys is a window option, not a session option"},
		{`{"option":"status","scope":"server"}`, "status is a session option, not a server option"},
		{`{"option":"status-le","global_":true}`, "is it status-left?"},
		{`{"option":"no-such-option"}`, "invalid option: no-such-option"},
		{`{"option":""}`, "not the name of an option"},
		{`{"option":"pane-died","global_":true}`, "pane-died is a hook, not an option"},
	} {
		for tool, args := range map[string]string{"show_option": c.args, "set_option": strings.TrimSuffix(c.args, "}") + `,"value":"x"}`} {
			res := p.fails(tool, args, c.want)
			if res.Meta["expected"] != true {
				t.Errorf("%s %s: the error is not expected: %v", tool, args, res.Meta)
			}
		}
	}
	p.fails("set_option", `{"option":"@x"}`, "value must be given")
	p.fails("set_option", `{"option":"@x","value":"y","unset":true}`, "value must be given")
	p.fails("set_option", `{"option":"mouse","value":"sekrit","global_":true}`, "tmux error: set-option: ", " for mouse")
	if got := tmuxtest.Run(t, srv, "show-options", "-t", "=a:"); got != before {
		t.Errorf("something was set: %s", got)
	}
	gone := serve(t, configFor(tmuxtest.New(t)))
	gone.fails("show_option", `{"option":"status"}`, "no tmux server on ")
	gone.fails("set_environment", `{"name":"A","value":"b"}`, "no tmux server on ")
	gone.fails("show_hooks", `{}`, "no tmux server on ")
}

// TestNoHookIsSetThroughOptions: for tmux hooks are options.
func TestNoHookIsSetThroughOptions(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	hooks := func() string {
		var all []string
		for _, args := range [][]string{{"-g"}, {"-gw"}, {"-t", "=a:"}, {"-w", "-t", "@0"}, {"-p", "-t", "%0"}} {
			all = append(all, tmuxtest.Run(t, srv, "show-hooks", args...))
		}
		return strings.Join(all, "\n")
	}
	before := hooks()
	names := map[string]bool{}
	for line := range strings.Lines(before) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "" {
			names[strings.TrimSuffix(name, "[0]")] = true
		}
	}
	if len(names) < 40 || !names["pane-died"] || !names["session-created"] {
		t.Fatalf("these are not tmux's hooks: %v", names)
	}
	for name := range names {
		for _, spelling := range []string{name, name + "[0]", name[:len(name)-1]} {
			for _, where := range []string{``, `,"global_":true`, `,"scope":"session","target":"a"`, `,"scope":"pane","target":"%0"`, `,"scope":"window","global_":true`} {
				res := p.tool("set_option", `{"option":"`+spelling+`","value":"run-shell true"`+where+`}`)
				if !res.IsError {
					t.Fatalf("the hook %s was set as an option%s: %s", spelling, where, res.Structured)
				}
			}
		}
	}
	if after := hooks(); after != before {
		t.Errorf("the hooks have changed:\n%s", after)
	}
}

func TestOptionNamesRunNothing(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	marker := filepath.Join(t.TempDir(), "marker")
	for _, name := range []string{"#(touch " + marker + ")", "@#(touch " + marker + ")", "@x[#(touch " + marker + ")]", "status-left[#{E:@x}]"} {
		for _, tool := range []string{"show_option", "set_option", "show_hook"} {
			args := `{"option":` + quote(name) + `}`
			switch tool {
			case "set_option":
				args = `{"option":` + quote(name) + `,"value":"x"}`
			case "show_hook":
				args = `{"hook_name":` + quote(name) + `}`
			}
			p.fails(tool, args, "invalid argument: ")
		}
	}
	later := marker + "-later"
	tmuxtest.Run(t, srv, "run-shell", "-b", "touch "+later)
	eventually(t, "a job that comes after any of these", func() bool { _, err := os.Stat(later); return err == nil })
	if _, err := os.Stat(marker); err == nil {
		t.Error("a name ran a job")
	}
}

type hooksAnswer struct {
	Entries []struct {
		HookName string `json:"hook_name"`
		Index    *int
		Command  string
	}
	Target string
}

func (h hooksAnswer) String() string {
	var all []string
	for _, e := range h.Entries {
		index := "-"
		if e.Index != nil {
			index = fmt.Sprint(*e.Index)
		}
		all = append(all, e.HookName+"["+index+"] "+e.Command)
	}
	return strings.Join(all, "; ")
}

func TestHooks(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", "cat")
	p := serve(t, configFor(srv))
	check := func(tool, args, want, target string) {
		t.Helper()
		if got := ok[hooksAnswer](p, tool, args); got.String() != want || got.Target != target {
			t.Errorf("%s %s: %q of %q, want %q of %q", tool, args, got, got.Target, want, target)
		}
	}
	check("show_hooks", `{}`, "", "")
	check("show_hook", `{"hook_name":"session-created"}`, "", "")
	tmuxtest.Run(t, srv, "set-hook", "-g", "session-created", "list-panes")
	tmuxtest.Run(t, srv, "set-hook", "-g", "after-new-window[3]", "list-keys")
	tmuxtest.Run(t, srv, "set-hook", "-ga", "session-created", "list-sessions")
	// tmux keeps the hooks of panes and windows in a tree of their own, which
	// show-hooks -g alone does not show.
	tmuxtest.Run(t, srv, "set-hook", "-g", "pane-died", "list-windows")
	if plain := tmuxtest.Run(t, srv, "show-hooks", "-g"); strings.Contains(plain, "pane-died") {
		t.Errorf("show-hooks -g has pane-died: %s", plain)
	}
	everything := "after-new-window[3] list-keys; pane-died[0] list-windows; session-created[0] list-panes; session-created[1] list-sessions"
	for _, args := range []string{`{}`, `{"scope":"server"}`, `{"global_":true}`, `{"scope":"server","global_":true}`} {
		check("show_hooks", args, everything, "")
	}
	check("show_hooks", `{"scope":"session","global_":true}`, strings.Replace(everything, "pane-died[0] list-windows; ", "", 1), "")
	check("show_hooks", `{"scope":"window","global_":true}`, "pane-died[0] list-windows", "")
	check("show_hooks", `{"scope":"pane","global_":true}`, "pane-died[0] list-windows", "")
	for _, args := range []string{`{"hook_name":"pane-died"}`, `{"hook_name":"pane-died","global_":true}`, `{"hook_name":"pane-died","scope":"window","global_":true}`} {
		check("show_hook", args, "pane-died[0] list-windows", "")
	}
	check("show_hook", `{"hook_name":"session-created"}`, "session-created[0] list-panes; session-created[1] list-sessions", "")
	check("show_hook", `{"hook_name":"session-created[1]"}`, "session-created[1] list-sessions", "")
	// An object's own.
	check("show_hooks", `{"scope":"session","target":"a"}`, "", "$0")
	tmuxtest.Run(t, srv, "set-hook", "-t", "=a:", "session-renamed", "list-panes")
	tmuxtest.Run(t, srv, "set-hook", "-w", "-t", "@0", "window-renamed", "list-panes")
	tmuxtest.Run(t, srv, "set-hook", "-p", "-t", "%1", "pane-exited", "list-panes")
	check("show_hooks", `{"scope":"session","target":"a"}`, "session-renamed[0] list-panes", "$0")
	check("show_hooks", `{"scope":"session"}`, "session-renamed[0] list-panes", "$0")
	check("show_hooks", `{"scope":"window","target":"@0"}`, "window-renamed[0] list-panes", "@0")
	check("show_hooks", `{"scope":"pane","target":"%1"}`, "pane-exited[0] list-panes", "%1")
	check("show_hook", `{"hook_name":"pane-exited","scope":"pane","target":"%1"}`, "pane-exited[0] list-panes", "%1")
	check("show_hook", `{"hook_name":"pane-exited","scope":"pane","target":"%0"}`, "", "%0")
	for _, c := range []struct{ args, want string }{
		{`{"scope":"banana"}`, "scope must be one of"},
		{`{"target":"a"}`, "target needs a scope"},
		{`{"scope":"session","target":"zz"}`, "Object not found: session zz"},
		{`{"scope":"window","target":"@9"}`, "Object not found: window @9"},
		{`{"scope":"pane","target":"%9"}`, "Pane not found: %9"},
	} {
		p.fails("show_hooks", c.args, c.want)
		p.fails("show_hook", strings.Replace(c.args, "{", `{"hook_name":"@x",`, 1), c.want)
	}
	p.fails("show_hook", `{"hook_name":"no-such-hook"}`, "tmux error: show-hooks: invalid option: no-such-hook")
	p.fails("show_hook", `{"hook_name":"session-creat"}`, "is it session-created?")
	p.fails("show_hook", `{"hook_name":"status"}`, "status is an option, not a hook")
	p.fails("show_hook", `{"hook_name":""}`, "hook_name must not be empty")
	p.fails("show_hook", `{"hook_name":"session-created","scope":"pane","target":"%0"}`, "session-created is not a hook of a pane")
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	session(t, srv, "a b")
	p := serve(t, configFor(srv))
	type environment struct {
		Variables map[string]string
		Removed   []string
		SessionID *string `json:"session_id"`
	}
	type change struct {
		Name, Status string
		Value        *string
		SessionID    *string `json:"session_id"`
	}
	show := func(args string) environment { t.Helper(); return ok[environment](p, "show_environment", args) }
	set := func(args string) change { t.Helper(); return ok[change](p, "set_environment", args) }
	if got := show(`{}`); got.Variables["PS1"] != "$ " || got.SessionID != nil {
		t.Errorf("the global environment is %+v", got)
	}
	for _, value := range []string{"v", "", "-x", "a;", "#{x} $Y %H", "two\nlines", "q\"'\\"} {
		if got := set(`{"name":"ONE","value":` + quote(value) + `}`); got.Name != "ONE" || got.Value == nil || *got.Value != value || got.Status != "set" || got.SessionID != nil {
			t.Errorf("set to %q: %+v", value, got)
		}
		if got, there := show(`{}`).Variables["ONE"]; got != value || !there {
			t.Errorf("set to %q it is %q (%t)", value, got, there)
		}
	}
	for args, id := range map[string]string{`"session_name":"a b"`: "$1", `"session_id":"$1"`: "$1"} {
		if got := set(`{"name":"-TWO","value":"2",` + args + `}`); got.SessionID == nil || *got.SessionID != id {
			t.Errorf("%s: set in %v", args, got.SessionID)
		}
		if got := show(`{` + args + `}`); got.Variables["-TWO"] != "2" || *got.SessionID != id || got.Variables["ONE"] != "" {
			t.Errorf("%s: %+v", args, got)
		}
		if got := set(`{"name":"-TWO","unset":true,` + args + `}`); got.Status != "unset" || got.Value != nil {
			t.Errorf("unset: %+v", got)
		}
		if _, there := show(`{` + args + `}`).Variables["-TWO"]; there {
			t.Error("it is still there")
		}
	}
	// A removed variable is reported as removed, and new panes do not get it.
	if got := set(`{"name":"ONE","remove":true,"session_name":"a"}`); got.Status != "removed" {
		t.Errorf("removed: %+v", got)
	}
	tmuxtest.Run(t, srv, "set-environment", "-t", "=a:", "-h", "HIDDEN", "h")
	got := show(`{"session_name":"a"}`)
	if !strings.Contains(" "+strings.Join(got.Removed, " ")+" ", " ONE ") || got.Variables["HIDDEN"] != "" {
		t.Errorf("after a removal: %+v", got)
	}
	for name := range got.Variables {
		if strings.HasPrefix(name, "-") {
			t.Errorf("there is a variable %s", name)
		}
	}
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=a:7", "echo one is \"${ONE-not there}\"; cat")
	tmuxtest.WaitScreen(t, srv, "=a:7", "one is not there")
	for _, c := range []struct{ args, want string }{
		{`{"name":"X"}`, "value or unset or remove must be given"},
		{`{"name":"X","value":"sekrit","unset":true}`, "value or unset or remove must be given"},
		{`{"name":"X","unset":true,"remove":true}`, "value or unset or remove must be given"},
		{`{"name":"","value":"sekrit"}`, "is not the name of a variable"},
		{`{"name":"A=B","value":"sekrit"}`, "is not the name of a variable"},
		{`{"name":"X","value":"sekrit","session_name":"zz"}`, "Object not found: session zz"},
		{`{"name":"X","value":"sekrit","session_name":"a:"}`, "Object not found: session a:"},
		{`{"name":"X","value":"sekrit","session_id":"$9"}`, "Object not found: session $9"},
		{`{"name":"X","value":"sekrit","session_id":"a"}`, "session_id must be"},
		{`{"name":"X","value":["sekrit"]}`, "value must be a string"},
	} {
		if res := p.fails("set_environment", c.args, c.want); strings.Contains(res.text(), "sekrit") {
			t.Errorf("%s: the error repeats the value: %s", c.args, res.text())
		}
	}
	p.fails("show_environment", `{"session_name":"zz"}`, "Object not found: session zz")
}

func TestOneRoundTripAnOptionEnvironmentOrHook(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	counted := countedTmux(t, &cfg)
	p := serve(t, cfg)
	ok[rows](p, "list_panes", `{}`) // asks for the version, once
	name := ok[bufferAnswer](p, "load_buffer", `{"content":"x","logical_name":"y"}`).Name
	for _, c := range []struct{ tool, args string }{
		{"show_option", `{"option":"status","scope":"session","target":"a"}`},
		{"show_option", `{"option":"@x","scope":"pane"}`},
		{"set_option", `{"option":"status","value":"off","scope":"session","target":"$0"}`},
		{"show_environment", `{"session_name":"a"}`},
		{"set_environment", `{"name":"A","value":"b","session_name":"a"}`},
		{"show_hooks", `{}`}, {"show_hooks", `{"scope":"session","target":"a"}`}, {"show_hook", `{"hook_name":"pane-died"}`},
		{"load_buffer", `{"content":"x"}`}, {"paste_buffer", `{"pane_id":"%0","buffer_name":"` + name + `"}`}, {"show_buffer", `{"buffer_name":"` + name + `"}`}, {"delete_buffer", `{"buffer_name":"` + name + `"}`},
	} {
		want := 1
		if c.tool == "paste_buffer" {
			want = 2 // it reads what it pastes: the pane may show it, which is not output
		}
		before := counted()
		ok[map[string]any](p, c.tool, c.args)
		if n := counted() - before; n != want {
			t.Errorf("%s %s ran tmux %d times, want %d", c.tool, c.args, n, want)
		}
	}
}
