package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux"
)

// TestCalls plays the scripts of testdata/calls, each on its own tmux server, which is not
// running yet. They are testscripts, with each tool as a command:
//
//	TOOL ARGUMENTS [CHECK...]
//	! TOOL ARGUMENTS [TEXT...]     or text~=REGEXP
//
// The arguments are JSON, or the name of a JSON file in which variables are expanded; $WORK
// is the home directory, and $PROGRAM -S $SOCKET the tmux server's client. A call must
// succeed and pass all checks, or fail with each text. No error may contain an argument
// "sekrit". The checks are
//
//	PATH=VALUE    the value at a path of gjson in the structured result, in which * is each
//	              element of a list, and * at the beginning each of result. A list is its
//	              elements separated by spaces; null is null, and a missing value is missing
//	PATH*=TEXT    it contains a text
//	PATH!=TEXT    it does not contain a text
//	PATH~=REGEXP  it matches a regular expression, whose named groups set variables
//	PATH=>NAME    set a variable to it
//	text=TEXT     the text content is this; also text*=, text!= and text~=
//	trips=N       number of round trips to tmux since the last such check, after "serve counted"
//	type=TYPE     of an error: its error_type
//
// The other commands are
//
//	serve [caller=PANE[,SOCKET]] [tier=TIER] [results=text] [toolsets=SET,...]
//	      [waitmax=TIME] [looktime=TIME] [startwait=TIME] [endwait=TIME] [beginswithin=TIME]
//	      [maxresult=BYTES] [prompts]
//	      [counted [auto]] [pin] [raw] [keephistory] [probes]
//	              start another server; the first has the tier destructive and no caller;
//	              a raw one gets no initialize; a counted one uses the tmux program, unless auto;
//	              one with probes has the tools of AddProbes; one with keephistory by default
//	              leaves commands in the shell's history
//	begin NAME TOOL ARGUMENTS              begin a call that waits for something later
//	looked                                 wait until waiting calls have looked again
//	[!] end NAME [CHECK...]                check its answer
//	[!] eventually TOOL ARGUMENTS CHECK... call a tool until all checks pass, or until it fails
//	[!] request METHOD PARAMS [CHECK...]   another request; of an error type= is the code, and
//	                                       data.PATH=VALUE a value of its data
//	frozen; freeze                         start another tmux server, named frozen; make it hang
//	tmux COMMAND...                        run tmux; stdout is what it prints
//	is TARGET FORMAT VALUE                 what tmux expands a format to
//	until TARGET FORMAT VALUE              wait until it does
//	attach SESSION                         attach a client; $CLIENT is its name
//	canvas SESSION [WIDTHxHEIGHT]          a session whose pane shows what is printed; it has 40x10
//	print PANE TEXT                        print, and wait until it is drawn; TEXT has Go's escapes
//	bash SESSION                           a session with a shell at its prompt
//	enter PANE LINE                        type a line at the prompt
//	prompt PANE                            wait for the prompt
//	agent SESSION                          a session that runs what looks like an agent: see testagent.Claude
//	draw FILE TEXT                         write one of the agent's files; it redraws
//	signal PANE NUMBER                     send a signal to the program of a pane
//	screen PANE TEXT                       wait until a text is on the screen
//	file PATH TEXT                         wait until a text is in a file; '' is an empty file
//	repeat NAME TEXT TIMES                 set a variable; %d in the text is 1, 2 and so on
//	[!] warned TEXT                        wait until a warning was sent; or none was
//	keep; same                             record the state of tmux; check that it is the same
//
// and the condition [tmux:3.N] is true from that version on.
func TestCalls(t *testing.T) {
	t.Parallel()
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	s := newServer(t, server.Config{Tmux: "/bin/true", Tier: server.Destructive, PromptsAsTools: true})
	for _, tool := range s.Tools() {
		commands[tool.Name] = func(ts *testscript.TestScript, neg bool, args []string) {
			player(ts).call(neg, tool.Name, args)
		}
	}
	for name, run := range map[string]func(*callPlayer, bool, []string){
		"call":    func(p *callPlayer, neg bool, args []string) { p.call(neg, args[0], args[1:]) },
		"serve":   func(p *callPlayer, _ bool, args []string) { p.serve(args) },
		"request": (*callPlayer).request,
		"tmux":    func(p *callPlayer, _ bool, args []string) { fmt.Fprintln(p.ts.Stdout(), p.tmux(args...)) },
		"is": func(p *callPlayer, _ bool, args []string) {
			if got := p.tmux("display-message", "-p", "-t", args[0], args[1]); got != args[2] {
				p.ts.Fatalf("%s of %s is %q", args[1], args[0], got)
			}
		},
		"until": func(p *callPlayer, _ bool, args []string) {
			testserver.Wait(p.t, p.srv, args[0], args[1]+" "+args[2], func() bool {
				testserver.Reap(p.t, p.srv)
				return p.tmux("display-message", "-p", "-t", args[0], args[1]) == args[2]
			})
		},
		"attach": func(p *callPlayer, _ bool, args []string) {
			attach(p.t, p.srv, args[0])
			testserver.Wait(p.t, p.srv, "="+args[0]+":", "client", func() bool { return p.tmux("list-clients") != "" })
			p.ts.Setenv("CLIENT", p.tmux("list-clients", "-F", "#{client_name}"))
			p.ts.Setenv("CLIENT_PID", p.tmux("list-clients", "-F", "#{client_pid}"))
		},
		"repeat": func(p *callPlayer, _ bool, args []string) {
			var b strings.Builder
			for i := range p.number(args[2]) {
				b.WriteString(strings.ReplaceAll(args[1], "%d", strconv.Itoa(i+1)))
			}
			p.ts.Setenv(args[0], b.String())
		},
		"begin": func(p *callPlayer, _ bool, args []string) {
			given := p.json(args[2])
			c, _ := p.wait(args[1], given)
			p.begun[args[0]] = func() (string, result) { return given, p.toolResult(args[1], p.await(c)) }
		},
		"frozen": func(p *callPlayer, _ bool, _ []string) { _, p.freeze = frozen(p.t, p.srv) },
		"freeze": func(p *callPlayer, _ bool, _ []string) { p.freeze() },
		"looked": func(p *callPlayer, _ bool, _ []string) {
			reports := func() int { return len(p.notified("notifications/progress")) }
			before := reports()
			testtool.Eventually(p.t, "two more reports", func() bool { return reports() >= before+2 })
		},
		"end": func(p *callPlayer, neg bool, args []string) {
			given, res := p.begun[args[0]]()
			p.answered(neg, given, res, args[1:])
		},
		"eventually": func(p *callPlayer, neg bool, args []string) {
			given := p.json(args[1])
			testtool.Eventually(p.t, strings.Join(args, " "), func() bool {
				res := p.tool(args[0], given)
				if neg && res.IsError {
					p.failed(given, res.text(), fmt.Sprint(res.Meta["error_type"]), args[2:])
				}
				return res.IsError == neg && (neg || p.wrong(string(res.Structured), res.text(), args[2:]) == "")
			})
		},
		"canvas": func(p *callPlayer, _ bool, args []string) {
			width, height, _ := strings.Cut(append(args, "40x10")[1], "x")
			s := newScreen(p.t, p.srv, args[0], p.number(width), p.number(height))
			p.canvases[s.pane] = s
		},
		"print": func(p *callPlayer, _ bool, args []string) {
			text, err := strconv.Unquote(`"` + args[1] + `"`)
			p.ts.Check(err)
			p.canvases[args[0]].print(text)
		},
		"bash": func(p *callPlayer, _ bool, args []string) {
			id := p.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", args[0], "-x", "80", "-y", "24", shellStart(p.t, "bash"))
			waitPrompt(p.t, p.srv, id)
		},
		"enter":  func(p *callPlayer, _ bool, args []string) { typeCommand(p.t, p.srv, args[0], args[1]) },
		"prompt": func(p *callPlayer, _ bool, args []string) { waitPrompt(p.t, p.srv, args[0]) },
		"agent": func(p *callPlayer, _ bool, args []string) {
			var command string
			command, p.agent = testagent.Claude(p.t)
			p.agentPane = p.tmux("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", args[0], "-x", "80", "-y", "24", command)
			testserver.WaitScreen(p.t, p.srv, p.agentPane, "shortcuts")
			p.ts.Setenv("AGENT", p.agent)
		},
		"draw": func(p *callPlayer, _ bool, args []string) {
			p.ts.Check(os.WriteFile(filepath.Join(p.agent, args[0]), []byte(args[1]), 0o600))
			testserver.Signal(p.t, p.srv, p.agentPane, syscall.SIGUSR1)
		},
		"signal": func(p *callPlayer, _ bool, args []string) {
			testserver.Signal(p.t, p.srv, args[0], syscall.Signal(p.number(args[1])))
			testserver.Reap(p.t, p.srv)
		},
		"screen": func(p *callPlayer, _ bool, args []string) { testserver.WaitScreen(p.t, p.srv, args[0], args[1]) },
		"warned": func(p *callPlayer, neg bool, args []string) {
			if !neg {
				testtool.Eventually(p.t, "it warns of "+args[0], func() bool { return strings.Contains(p.warnings(), args[0]) })
			} else if strings.Contains(p.warnings(), args[0]) {
				p.ts.Fatalf("it warns: %s", p.warnings())
			}
		},
		"file": func(p *callPlayer, _ bool, args []string) { fileHas(p.t, p.srv, p.ts.MkAbs(args[0]), args[1]) },
		"keep": func(p *callPlayer, _ bool, _ []string) { p.kept = wholeState(p.t, p.srv) },
		"same": func(p *callPlayer, _ bool, _ []string) {
			if diff := difference(p.kept, wholeState(p.t, p.srv)); diff != "" {
				p.ts.Fatalf("the state of tmux has changed:\n%s", diff)
			}
		},
	} {
		commands[name] = func(ts *testscript.TestScript, neg bool, args []string) { run(player(ts), neg, args) }
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "calls"), Cmds: commands, WorkdirRoot: t.TempDir(), ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			p := &callPlayer{
				t: env.T().(testing.TB), work: env.WorkDir, begun: map[string]func() (string, result){}, canvases: map[string]*screen{},
			}
			p.srv = testserver.New(p.t)
			p.serve(nil)
			env.Values[playerKey{}] = p
			env.Setenv("NL", "\n")
			env.Setenv("TAB", "\t")
			env.Setenv("DOLLAR", "$") // in files
			env.Setenv("SOCKET", p.srv.SocketPath())
			env.Setenv("PROGRAM", p.srv.Binary())
			return nil
		},
		Condition: func(condition string) (bool, error) {
			minor, err := strconv.Atoi(strings.TrimPrefix(condition, "tmux:3."))
			if err != nil {
				return false, fmt.Errorf("no condition %s", condition)
			}
			return version(t, testserver.New(t)).Has(tmux.Version{Major: 3, Minor: minor}), nil
		},
	})
}

// callPlayer runs the commands of one script.
type callPlayer struct {
	ts   *testscript.TestScript
	t    testing.TB
	srv  *tmux.Server
	work string

	*peer   // the newest server
	counted func() int
	trips   int
	kept    string

	freeze           func()
	begun            map[string]func() (args string, res result) // how the waiting calls end
	canvases         map[string]*screen                          // by pane
	agent, agentPane string                                      // the agent's directory
}

type playerKey struct{}

func player(ts *testscript.TestScript) *callPlayer {
	p := ts.Value(playerKey{}).(*callPlayer)
	p.ts = ts
	return p
}

func (p *callPlayer) tmux(args ...string) string {
	return testserver.Run(p.t, p.srv, args[0], args[1:]...)
}

func (p *callPlayer) number(arg string) int {
	n, err := strconv.Atoi(arg)
	p.ts.Check(err)
	return n
}

func (p *callPlayer) duration(arg string) time.Duration {
	d, err := time.ParseDuration(arg)
	p.ts.Check(err)
	return d
}

func (p *callPlayer) serve(options []string) {
	raw, probes := false, false
	var lookTime, startWait, endWait, beginsWithin time.Duration
	cfg := configFor(p.srv)
	cfg.Env = append(cfg.Env, "HOME="+p.work, "SHELL=/bin/sh")
	for _, option := range options {
		switch key, value, _ := strings.Cut(option, "="); key {
		case "caller":
			pane, socket, other := strings.Cut(value, ",")
			if !other {
				socket = p.srv.SocketPath()
			}
			cfg.Caller = server.Caller{Pane: tmux.PaneID(pane), Socket: socket}
		case "tier":
			cfg.Tier = server.Tier(value)
		case "results":
			cfg.Results = server.Results(value)
		case "toolsets":
			cfg.Toolsets = strings.Split(value, ",")
		case "waitmax":
			cfg.WaitMax = p.duration(value)
		case "looktime":
			lookTime = p.duration(value)
		case "startwait":
			startWait = p.duration(value)
		case "endwait":
			endWait = p.duration(value)
		case "beginswithin":
			beginsWithin = p.duration(value)
		case "maxresult":
			cfg.MaxResult = p.number(value)
		case "prompts":
			cfg.PromptsAsTools = true
		case "pin":
			cfg.Pin = true
		case "keephistory":
			cfg.SuppressHistory = false
		case "probes":
			probes = true
		case "raw":
			raw = true
		case "counted":
			cfg.Transport = tmux.TransportExec
			p.counted = countedTmux(p.t, &cfg)
		case "auto":
			cfg.Transport = tmux.TransportAuto
		default:
			p.ts.Fatalf("serve has no option %s", option)
		}
	}
	s := newServer(p.t, cfg)
	if p.counted != nil || startWait > 0 {
		s.SetStartWait(startWait) // counted, a new pane is not looked at until its program runs
	}
	if endWait > 0 {
		s.SetEndWait(endWait)
	}
	if beginsWithin > 0 {
		s.SetBeginsWithin(beginsWithin)
	}
	if lookTime > 0 {
		s.SetLookTime(lookTime)
	}
	if probes {
		s.AddProbes()
	}
	p.peer = connectTo(p.t, s)
	if !raw {
		p.handshake("{}")
	}
	p.reads = cfg.Results == server.ResultsText
	if p.counted != nil {
		p.tool("list_sessions", `{}`) // asks for the version, once
		p.trips = p.counted()
	}
}

// json returns an argument in JSON, or the content of the file that it names.
func (p *callPlayer) json(arg string) string {
	if !strings.HasPrefix(arg, "{") && !strings.HasPrefix(arg, "[") && !strings.HasPrefix(arg, `"`) {
		arg = os.Expand(p.ts.ReadFile(arg), p.ts.Getenv)
	}
	if !json.Valid([]byte(arg)) {
		p.ts.Fatalf("not JSON: %s", arg)
	}
	return arg
}

func (p *callPlayer) call(neg bool, tool string, words []string) {
	args := p.json(words[0])
	p.answered(neg, args, p.tool(tool, args), words[1:])
}

func (p *callPlayer) answered(neg bool, args string, res result, checks []string) {
	switch {
	case res.IsError != neg:
		p.ts.Fatalf("it answers %s%s", res.text(), res.Structured)
	case neg:
		p.failed(args, res.text(), fmt.Sprint(res.Meta["error_type"]), checks)
	default:
		p.check(string(res.Structured), res.text(), checks)
	}
}

func (p *callPlayer) request(neg bool, words []string) {
	params := p.json(words[1])
	r := p.peer.request(words[0], json.RawMessage(params))
	switch {
	case (r.Error != nil) != neg:
		p.ts.Fatalf("it answers %s %+v", r.Result, r.Error)
	case neg:
		p.failed(params, r.Error.Message, fmt.Sprint(r.Error.Code), slices.DeleteFunc(words[2:], func(word string) bool {
			path, found := strings.CutPrefix(word, "data.")
			if found {
				p.check(string(r.Error.Data), "", []string{path})
			}
			return found
		}))
	default:
		p.check(string(r.Result), "", words[2:])
	}
}

func (p *callPlayer) failed(args, text, kind string, wants []string) {
	for _, want := range wants {
		if strings.HasPrefix(want, "text~=") {
			p.check("", text, []string{want})
		} else if is, found := strings.CutPrefix(want, "type="); found && is != kind || !found && !strings.Contains(text, want) {
			p.ts.Fatalf("it fails as %s: %s", kind, text)
		}
	}
	if strings.Contains(args, "sekrit") && strings.Contains(text, "sekrit") {
		p.ts.Fatalf("the error repeats an argument: %s", text)
	}
}

func (p *callPlayer) check(structured, text string, checks []string) {
	if problem := p.wrong(structured, text, checks); problem != "" {
		p.ts.Fatalf("%s", problem)
	}
}

// wrong returns what the first failing check says, if any.
func (p *callPlayer) wrong(structured, text string, checks []string) string {
	for _, check := range checks {
		path, want, found := strings.Cut(check, "=")
		if !found {
			p.ts.Fatalf("%s checks nothing", check)
		}
		kind := path[len(path)-1]
		path = strings.TrimRight(path, "*!~")
		var got string
		switch {
		case path == "trips":
			got = strconv.Itoa(p.counted() - p.trips)
			p.trips = p.counted()
		case path == "text":
			got = text
		default:
			got = valueAt(structured, path)
		}
		if name, sets := strings.CutPrefix(want, ">"); sets {
			p.ts.Setenv(name, got)
			continue
		}
		var is bool
		switch kind {
		case '*':
			is = strings.Contains(got, want)
		case '!':
			is = got != "missing" && !strings.Contains(got, want)
		case '~':
			pattern, err := regexp.Compile(want)
			p.ts.Check(err)
			groups := pattern.FindStringSubmatch(got)
			is = groups != nil
			for i, name := range pattern.SubexpNames() {
				if is && name != "" {
					p.ts.Setenv(name, groups[i])
				}
			}
		default:
			is = got == want
		}
		if !is {
			return fmt.Sprintf("%s is %q in %s", path, got, cmp.Or(structured, text))
		}
	}
	return ""
}

// valueAt returns a value of a JSON text in the form that checks use.
func valueAt(text, path string) string {
	path = strings.ReplaceAll(path, "*", "#")
	if strings.HasPrefix(path, "#") {
		path = "result." + path
	}
	v := gjson.Get(text, path)
	switch {
	case !v.Exists():
		return "missing"
	case v.IsArray():
		var all []string
		for _, e := range v.Array() {
			all = append(all, valueAt(e.Raw, "@this"))
		}
		return strings.Join(all, " ")
	case v.Type == gjson.Null:
		return "null"
	}
	return v.String()
}

// wholeState returns everything in a tmux server that a call may change, except times. A
// tmux of 3.7 or later that is not scheduled for 100 ms drops the rest of a row, so it is
// read until the result is twice the same.
func wholeState(t testing.TB, srv *tmux.Server) string {
	t.Helper()
	state := readState(t, srv)
	v, err := srv.Version(testserver.Context(t))
	for tries := 0; err == nil && v.Has(tmux.Version{Major: 3, Minor: 7}) && tries < 20; tries++ {
		again := readState(t, srv)
		if again == state {
			break
		}
		state = again
	}
	return state
}

func readState(t testing.TB, srv *tmux.Server) string {
	t.Helper()
	objects, err := srv.Do(testserver.Context(t),
		tmux.Raw{Name: "list-panes", Args: []string{"-a", "-F", "#{session_id} #{window_id} #{pane_id}"}})
	if err != nil {
		return "none: " + err.Error()
	}
	lists := [][]string{
		{"list-sessions", "-F", "#{session_id} #{session_name} #{session_windows} #{session_attached} " +
			"#{session_group} #{session_path} #{session_marked}"},
		{"list-windows", "-a", "-F", "#{session_id} #{window_id} #{window_index} #{?automatic-rename,,#{window_name}} #{window_layout} " +
			"#{window_flags} #{window_active}"},
		{"list-panes", "-a", "-F", "#{pane_id} #{pane_index} #{pane_pid} #{pane_title} #{pane_active} #{pane_mode} " +
			"#{scroll_position} #{pane_pipe} #{pane_dead} #{pane_marked} #{pane_input_off} #{pane_synchronized} #{history_size} #{cursor_x} #{cursor_y} #{pane_width} #{pane_height}"},
		{"list-clients", "-F", "#{client_name} #{client_session} #{window_id} #{pane_id}"},
		{"list-buffers", "-F", "#{buffer_name} #{buffer_size} #{buffer_created} #{buffer_sample}"},
		{"list-keys"}, {"show-options", "-s"}, {"show-options", "-g"}, {"show-options", "-gw"}, {"show-hooks", "-g"}, {"show-hooks", "-gw"},
		{"show-environment", "-g"}, {"show-environment", "-g", "-h"},
	}
	seen := map[string]bool{}
	for object := range strings.FieldsSeq(string(objects[0])) {
		if seen[object] {
			continue
		}
		seen[object] = true
		switch object[0] {
		case '$':
			for _, show := range []string{"show-options", "show-environment", "show-hooks"} {
				lists = append(lists, []string{show, "-t", object})
			}
		case '@':
			lists = append(lists, []string{"show-options", "-w", "-t", object})
		case '%':
			lists = append(lists, []string{"show-options", "-p", "-t", object}, []string{"capture-pane", "-p", "-S", "-", "-t", object})
		}
	}
	var cmds []tmux.Command
	for _, words := range lists {
		cmds = append(cmds, tmux.Raw{Name: words[0], Args: words[1:]})
	}
	outs, err := srv.Do(testserver.Context(t), cmds...)
	if err != nil {
		return "none: " + err.Error()
	}
	var b strings.Builder
	for i, out := range outs {
		fmt.Fprintf(&b, "== %s\n%s", strings.Join(lists[i], " "), out)
	}
	return b.String()
}

// fileHas waits until a file contains a text, or is empty if want is.
func fileHas(t testing.TB, srv *tmux.Server, path, want string) {
	t.Helper()
	var have []byte
	testserver.Wait(t, srv, "", fmt.Sprintf("%q in %s", want, path), func() bool {
		have, _ = os.ReadFile(path)
		return strings.Contains(string(have), want) && (want != "" || len(have) == 0)
	})
}
