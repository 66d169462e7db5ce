package script

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// How a failure of a script's first line counts, by what the line is, by what the next one
// looks at, and by whether something has ended.
func TestKindOf(t *testing.T) {
	failed := outcome{code: 1, stderr: "no such thing"}
	died := outcome{err: errors.New("the tmux client died: signal: segmentation fault")}
	noServer := outcome{code: 1, stderr: "no server running on /tmp/s"}
	for _, tt := range []struct {
		name, script string
		last         outcome
		started      bool // something has answered
		asked        bool // the API or the MCP server was asked before
		want         Kind
	}{
		{"tmux", "tmux list-panes", failed, true, false, Blocked},
		{"tmux that must fail", "! tmux list-panes", outcome{}, true, false, Failed},
		{"tmux under a condition", "[tmux:3.4] tmux list-panes\nstdout x", failed, true, false, Failed},
		{"tmux that must fail, under a condition", "[tmux:3.4] ! tmux list-panes", outcome{}, true, false, Failed},
		{"control", "control list-panes", failed, true, false, Blocked},
		{"api", "api info", failed, true, false, Failed},
		{"mcp", "mcp list_panes", failed, true, false, Failed},
		{"mcp-leave", "mcp-leave", failed, true, false, Failed},
		{"api under a condition", "['tmux:>=3.4 <3.6'] api info", failed, true, false, Failed},
		{"exec", "exec false", failed, true, false, Blocked},
		{"exec that must fail", "! exec true", outcome{}, true, false, Failed},
		{"attach", "attach user", failed, true, false, Blocked},
		{"try tmux", "try tmux list-panes", failed, true, false, Blocked},
		{"try api", "try api info", failed, true, true, Blocked},
		{"try, looked at", "try tmux list-panes\n[ok] stop", failed, true, false, Failed},
		{"wait-until", "wait-until x tmux list-panes", failed, true, false, Blocked},
		{"wait-until, looked at", "wait-until x tmux list-panes\nstdout y", failed, true, false, Failed},
		{"wait-until after a call", "wait-until x tmux list-panes", failed, true, true, Failed},
		{"wait-until quoted, after a call", "wait-until 'x y' mcp list_panes", failed, true, true, Failed},
		{"tmux after a call", "tmux list-panes", failed, true, true, Blocked},
		{"type", "type user x", failed, true, false, Blocked},

		{"json", "json a", outcome{}, true, false, Failed},
		{"not json", "! json a", outcome{}, true, false, Failed},
		{"row", "row a b=c", outcome{}, true, false, Failed},
		{"save", "save a b", outcome{}, true, false, Failed},
		{"claim", "claim confirmed x", outcome{}, true, false, Failed},
		{"stdout", "stdout x", outcome{}, true, false, Failed},
		{"not stderr", "! stderr x", outcome{}, true, false, Failed},
		{"grep", "grep x y", outcome{}, true, false, Failed},
		{"cmp", "cmp stdout y", outcome{}, true, false, Failed},
		{"cmpenv", "cmpenv stdout y", outcome{}, true, false, Failed},
		{"exists", "exists y", outcome{}, true, false, Failed},

		{"before json", "tmux a\njson b", failed, true, false, Failed},
		{"before row", "tmux a\nrow b c=d", failed, true, false, Failed},
		{"before saw", "tmux a\nsaw confirmed b", failed, true, false, Failed},
		{"before claim", "tmux a\nclaim confirmed b", failed, true, false, Failed},
		{"before the claim of a part", "tmux a\nclaim b", failed, true, false, Blocked},
		{"before an extra", "tmux a\nextra 'b c'", failed, true, false, Blocked},
		{"before stdout", "tmux a\nstdout b", failed, true, false, Failed},
		{"before not stdout", "tmux a\n! stdout b", failed, true, false, Failed},
		{"before stderr", "tmux a\nstderr b", failed, true, false, Failed},
		{"before grep", "tmux a\ngrep b stdout", failed, true, false, Failed},
		{"before cmp", "tmux a\ncmp stdout b", failed, true, false, Failed},
		{"before cmpenv", "tmux a\ncmpenv stdout b", failed, true, false, Failed},
		{"before exists", "tmux a\nexists b", failed, true, false, Failed},
		{"before stdout under a version", "tmux a\n[tmux:3.4] stdout b", failed, true, false, Failed},
		{"before exec", "tmux a\nexec b", failed, true, false, Blocked},
		{"before api", "tmux a\napi info", failed, true, false, Blocked},
		{"before save", "tmux a\nsave b", failed, true, false, Blocked},
		{"before a quoted word", "tmux a\n'json' b", failed, true, false, Failed},
		{"before na", "tmux a\n[!tmux:3.4] na old", failed, true, false, Blocked},
		{"before ok", "tmux a\n[ok] tmux b", failed, true, false, Failed},
		{"before not ok", "tmux a\n[!ok] tmux b", failed, true, false, Failed},
		{"before failed", "tmux a\n[failed] tmux b", failed, true, false, Failed},
		{"before stdout:", "tmux a\n[stdout:b] tmux b", failed, true, false, Failed},
		{"before not stdout:", "tmux a\n[!stdout:b] tmux b", failed, true, false, Failed},
		{"before quoted stdout:", "tmux a\n['stdout:b c'] tmux b", failed, true, false, Failed},
		{"before quoted not stderr:", "tmux a\n['!stderr:b c'] tmux b", failed, true, false, Failed},
		{"before a version", "tmux a\n[tmux:3.4] tmux b", failed, true, false, Blocked},
		{"before a version, then ok", "tmux a\n[tmux:3.4] [ok] tmux b", failed, true, false, Blocked},
		{"before an indented condition", "tmux a\n  [ok] tmux b", failed, true, false, Blocked},
		{"before an indented stdout", "tmux a\n  stdout b", failed, true, false, Failed},
		{"before a comment", "tmux a\n# about\n\nstdout b", failed, true, false, Failed},
		{"before blank lines", "tmux a\n\n  \n\ttmux c", failed, true, false, Blocked},
		{"before a comment that is a command", "tmux a\n# stdout b\ntmux c", failed, true, false, Blocked},
		{"two lines before stdout", "tmux a\ntmux b\nstdout c", failed, true, false, Blocked},
		{"with a comment", "tmux a # stdout b\ntmux c", failed, true, false, Blocked},
		{"at the end", "tmux a\n", failed, true, false, Blocked},
		{"before files", "tmux a\n-- stdout --\nstdout b", failed, true, false, Blocked},

		{"a client that dies", "tmux a", died, true, false, Crashed},
		{"a client that dies, looked at", "tmux a\nstdout b", died, true, false, Crashed},
		{"a client that dies, first of all", "tmux a", died, false, false, Crashed},
		{"a control client that is killed", "control a", outcome{err: errors.New("the control client ended: signal: killed")}, true, false, Crashed},
		{"a control client that ends", "control a", outcome{err: errors.New("the control client ended: exit status 1")}, true, false, Blocked},
		{"a server that exits", "tmux a", outcome{code: 1, stderr: "server exited unexpectedly"}, false, false, Crashed},
		{"a server that is lost", "tmux a", outcome{code: 1, stderr: "lost server"}, false, false, Crashed},
		{"an MCP server that ends", "mcp a", outcome{err: errors.New("the server ended: exit status 3: a last word")}, false, false, Crashed},
		{"a text like a crash, that succeeded", "json a", outcome{stdout: "lost server"}, true, false, Failed},
		{"json after a crash", "json a", died, true, false, Crashed},
		{"exec after a crash", "exec false", died, true, false, Crashed},
		{"no server", "tmux a", noServer, true, false, Crashed},
		{"no server, looked at", "tmux a\nstderr b", noServer, true, false, Crashed},
		{"no server yet", "tmux a", noServer, false, false, Blocked},
		{"no server yet, for the API", "api a", noServer, false, true, Failed},
		{"an error of the socket", "tmux a", outcome{code: 1, stderr: "error connecting to /tmp/s (No such file)"}, true, false, Crashed},
		{"an error of the socket, first of all", "tmux a", outcome{code: 1, stderr: "error connecting to /tmp/s"}, false, false, Blocked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := gap.Lines(tt.script)
			if got := kindOf(lines[0], after(lines[0], lines), tt.last, tt.started, tt.asked); got != tt.want {
				t.Errorf("%s, want %s", got.outcome(), tt.want.outcome())
			}
		})
	}
}

// What comes of a script's failure: how it counts, where it was, why, and the evidence.
// Scripts run in testscript, and what the target does in them is given.
func TestConclusions(t *testing.T) {
	type given []outcome
	failed := outcome{code: 1, stderr: "no such thing\n"}
	tools := outcome{stdout: "{\"a\": {\"b\": \"c\"}, \"rows\": [{\"x\": 1}]}\n"}
	for _, tt := range []struct {
		name, script string
		given        given
		another      bool // MCP server than this program's
		want         string
	}{
		{"nothing wrong", "tmux a\nstdout x", given{{stdout: "x\n"}}, false, "none"},
		{"as it must fail", "! tmux a", given{failed}, false, "none"},
		{"set-up", "tmux a", given{failed}, false, "blocked 1: set-up: a failed: no such thing (exit status 1) {tmux a|success|no such thing\n(exit status 1)}"},
		{"asked", "api a", given{failed}, false, "open 1: a failed: no such thing (exit status 1) {api a|success|no such thing\n(exit status 1)}"},
		{"looked at", "tmux a\nstderr x", given{failed}, false, "open 1: a failed: no such thing (exit status 1) {tmux a|success|no such thing\n(exit status 1)}"},
		{"a message before the rest", "mcp a", given{{code: 1, stdout: "{}\n", stderr: "why\n"}}, false, "open 1: a failed: why (exit status 1) {} {mcp a|success|why\n(exit status 1)\n{}}"},
		{"succeeds", "! tmux a", given{{}}, false, "open 1: a succeeded {tmux a|failure|(no output)}"},
		{"succeeds under a condition", "[tmux:3.4] ! tmux a", given{{stdout: "x\n"}}, false, "open 1: a succeeded {tmux a|failure|x}"},
		{"did not run", "tmux a", given{{err: errors.New("no answer")}}, false, "blocked 1: set-up: a: no answer {tmux a|success|no answer}"},
		{"did not run, and must fail", "! tmux a", given{{err: errors.New("no answer")}}, false, "open 1: a: no answer {tmux a|failure|no answer}"},
		{"crashed", "tmux a\nstdout x", given{{err: errors.New("the tmux client died: signal: killed")}}, false, "crash 1: a: the tmux client died: signal: killed {tmux a|success|the tmux client died: signal: killed}"},
		{"gone", "tmux a\ntmux b", given{{}, {code: 1, stderr: "no server running on /s"}}, false, "crash 2: b failed: no server running on /s (exit status 1) {tmux b|success|no server running on /s\n(exit status 1)}"},
		{"not there", "tmux b", given{{code: 1, stderr: "no server running on /s"}}, false, "blocked 1: set-up: b failed: no server running on /s (exit status 1) {tmux b|success|no server running on /s\n(exit status 1)}"},
		{"misused", "mcp a", given{{err: misused("usage: mcp")}}, false, "error 1: usage: mcp"},
		{"misused, of another", "! mcp a", given{{err: misused("usage: mcp"), misfit: errors.New("no")}}, true, "error 1: usage: mcp"},
		{"not offered", "mcp a", given{{err: gap.NoTool("a")}}, true, "not offered 1: the server offers no tool a {mcp a|success|the server offers no tool a}"},
		{"not offered, and must fail", "! mcp a", given{{err: gap.NoTool("a")}}, true, "not offered 1: the server offers no tool a {mcp a|failure|the server offers no tool a}"},
		{"not offered by this program", "mcp a", given{{err: gap.NoTool("a")}}, false, "open 1: a: the server offers no tool a {mcp a|success|the server offers no tool a}"},
		{"not offered by a wrapper", "api a", given{{err: gap.NotOffered("no a"), api: true}}, false, "not offered 1: no a {api a|success|no a}"},
		{"an adapter does not fit", "api a", given{{err: &adapter.Failure{Kind: adapter.Misfit, Text: "a lie"}}}, false, "blocked 1: schema: a: a lie {api a|success|schema: a lie}"},
		{"an adapter at fault", "api a", given{{err: &adapter.Failure{Kind: adapter.AtFault, Text: "a lie"}}}, false, "error 1: a: a lie"},
		{"an adapter that does not start", "! api a", given{{err: &adapter.Failure{Kind: adapter.NotStarted, Text: "ended", Stderr: "why"}}}, false, "error 1: a: ended: why"},
		{"an adapter that ends", "! api a", given{{err: &adapter.Failure{Kind: adapter.Ended, Text: "ended", Stderr: "why"}}}, false, "crash 1: a: ended: why {api a|failure|ended: why}"},
		{"an adapter that is late", "api a", given{{err: &adapter.Failure{Kind: adapter.TimedOut, Text: "late"}}}, false, "timeout 1: a: late {api a|success|late}"},
		{"does not fit", "mcp a", given{{err: errors.New("a lie"), misfit: errors.New("a lie")}}, true, "blocked 1: schema: a: a lie {mcp a|success|a lie}"},
		{"does not fit, and is refused", "mcp a", given{{code: 1, misfit: errors.New("a declares n")}}, true, "blocked 1: schema: a declares n {mcp a|success|(exit status 1)}"},
		{"does not fit, of this program", "mcp a", given{{err: errors.New("a lie"), misfit: errors.New("a lie")}}, false, "open 1: a: a lie {mcp a|success|a lie}"},
		{"does not fit, and crashed", "mcp a", given{{err: errors.New("the server ended: x"), misfit: errors.New("a lie")}}, true, "blocked 1: schema: a: a lie {mcp a|success|the server ended: x}"},
		{"does not fit, and is looked at", "mcp a\njson a.b d", given{{stdout: tools.stdout, misfit: errors.New("a lie")}}, true, `blocked 2: schema: a: a lie; a.b is "c", want d {mcp a|json a.b d|a.b is "c"}`},
		{"does not fit, and is looked at, of this program", "mcp a\njson a.b d", given{{stdout: tools.stdout, misfit: errors.New("a lie")}}, false, `open 2: a: a.b is "c", want d {mcp a|json a.b d|a.b is "c"}`},
		{"does not fit, and lacks a field", "mcp a\njson a.d", given{{stdout: tools.stdout, misfit: errors.New("a lie")}}, true, `blocked 2: mapping: a: the answer has no a.d {mcp a|json a.d|a.d is nothing}`},
		{"did not fit before a set-up", "mcp a\ntmux b", given{{misfit: errors.New("a lie")}, failed}, true, "blocked 2: set-up: b failed: no such thing (exit status 1) {tmux b|success|no such thing\n(exit status 1)}"},
		{"did not fit before another", "mcp a\ntmux b\nstdout x", given{{misfit: errors.New("a lie")}, failed}, true, "blocked 2: schema: b: a lie; b failed: no such thing (exit status 1) {tmux b|success|no such thing\n(exit status 1)}"},

		{"json", "api a\njson a.b d", given{tools}, false, `open 2: a: a.b is "c", want d {api a|json a.b d|a.b is "c"}`},
		{"json that is there", "api a\n! json a.b c", given{tools}, false, `open 2: a: a.b is "c" {api a|! json a.b c|a.b is "c"}`},
		{"json that is missing", "mcp a\njson a.d", given{tools}, false, "open 2: a: a.d is nothing, want there {mcp a|json a.d|a.d is nothing}"},
		{"json that another lacks", "mcp a\njson a.d", given{tools}, true, "blocked 2: mapping: a: the answer has no a.d {mcp a|json a.d|a.d is nothing}"},
		{"json that another lacks in rows", "mcp a\njson 'rows.#.y' '[1]'", given{tools}, true, "blocked 2: mapping: a: the answer has no rows.#.y {mcp a|json 'rows.#.y' '[1]'|rows.#.y is []}"},
		{"no json", "tmux a\njson b", given{{stdout: "b\n"}}, false, "open 2: a: the last output is not JSON {tmux a|json b|b}"},
		{"save", "api a\nsave v a.d", given{tools}, false, "open 2: a: there is no a.d to save {api a|save v a.d|" + strings.TrimSpace(tools.stdout) + "}"},
		{"save what another lacks", "mcp a\nsave v a.d", given{tools}, true, "blocked 2: mapping: a: the answer has no a.d {mcp a|save v a.d|" + strings.TrimSpace(tools.stdout) + "}"},
		{"row", "tmux a\nrow k x=1 y=2", given{{stdout: "k x=1 y=3\n"}}, false, `open 2: a: k: y is "3", want "2" {tmux a|row k x=1 y=2|k x=1 y=3}`},
		{"stdout", "tmux a\nstdout x", given{{stdout: "y\n"}}, false, "open 2: a: no match for `x` found in stdout {tmux a|stdout x|y}"},
		{"not stdout", "tmux a\n! stdout y", given{{stdout: "y\n"}}, false, "open 2: a: unexpected match for `y` found in stdout: y {tmux a|! stdout y|y}"},
		{"stdout that another lacks", "mcp a\nstdout '\"n\": 1'", given{{stdout: "{}\n"}}, true, "blocked 2: mapping: a: the answer has no n {mcp a|stdout '\"n\": 1'|{}}"},
		{"stdout that this program lacks", "mcp a\nstdout '\"n\": 1'", given{{stdout: "{}\n"}}, false, "open 2: a: no match for `\"n\": 1` found in stdout {mcp a|stdout '\"n\": 1'|{}}"},
		{"try, looked at", "try tmux a\nstdout x", nil, false, "open 1: a: no such program {tmux a|success|no such program}"},
		{"cmp", "tmux a\ncmp stdout f\n-- f --\nx\n", given{{stdout: "y\n"}}, false, "open 2: a: stdout and f differ {tmux a|cmp stdout f|"},
		{"exists", "tmux a\nexists f", given{{}}, false, "open 2: a: f does not exist {tmux a|exists f|(no output)}"},
		{"stdout misused", "tmux a\nstdout", given{{}}, false, "error 2: usage: stdout [-count=N] REGEXP"},
		{"stdout with no pattern", "tmux a\nstdout '('", given{{}}, false, "error 2: error parsing regexp: missing closing ): `(?m)(`"},
		{"a set-up of testscript's", "cd nowhere", nil, false, "error 1: directory "},
		{"an unknown command", "tmx a", nil, false, `error 1: unknown command "tmx"`},
		{"misused of ours", "row a", nil, false, "error 1: usage: row KEY NAME=VALUE…"},
		{"negated of ours", "! row a b=c", nil, false, "error 1: usage: row KEY NAME=VALUE…"},
		{"exec", "exec sh -c 'echo x; exit 3'", nil, false, "blocked 1: set-up: sh failed: x (exit status 3) {exec sh -c 'echo x; exit 3'|success|x\n(exit status 3)}"},
		{"exec that succeeds", "! exec true", nil, false, "open 1: true succeeded {exec true|failure|(no output)}"},
		{"exec, looked at", "exec false\n[failed] stop", nil, false, "open 1: false failed: (exit status 1) {exec false|success|(exit status 1)}"},
		{"try", "try tmux a", nil, false, "blocked 1: set-up: a: no such program {tmux a|success|no such program}"},
		{"wait-until", "wait-until x tmux a", nil, false, "blocked 1: set-up: a: no such program {tmux a|success|no such program}"},
		{"wait-until after a call", "api b\nwait-until x tmux a", given{{}}, false, "open 2: a: no such program {tmux a|success|no such program}"},
		{"wait-until that fails itself", "wait-until x api nothing", nil, false, "error 1: api: want one of these verbs"},
		{"na", "na 'too old'", nil, false, "n/a too old"},
		{"skip", "skip reason", nil, false, "skip reason"},
		{"a claim", "tmux a\nsaw refuted why\nclaim confirmed text", given{{stdout: "x\n"}}, false, "wrong: open 3: refuted, want confirmed: text: why {tmux a|claim confirmed text|x}"},
		{"a claim of which nothing was seen", "tmux a\nclaim confirmed text", given{{stdout: "x\n"}}, false, "wrong: open 2: neither confirmed nor refuted, want confirmed: text {tmux a|claim confirmed text|x}"},
		{"a claim of which both were seen", "tmux a\nsaw refuted b\nsaw confirmed c\nclaim confirmed text", given{{}}, false, "wrong: open 4: both confirmed and refuted: text {tmux a|claim confirmed text|(no output)}"},
		{"a claim, and a failure", "tmux a\nclaim confirmed text\ntmux b", given{{}, failed}, false, "wrong: open 2: neither confirmed nor refuted, want confirmed: text {tmux a|claim confirmed text|(no output)}; " +
			"blocked 3: set-up: b failed: no such thing (exit status 1) {tmux b|success|no such thing\n(exit status 1)}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := conclusion(t, tt.script, tt.given, tt.another)
			switch {
			case got == tt.want:
			case strings.HasSuffix(tt.want, "}"), strings.HasPrefix(tt.want, "none"), !strings.HasPrefix(got, tt.want):
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// conclusion runs a script, the calls of whose target do what is given, and returns how it
// ended, with the line's number for where.
func conclusion(t *testing.T, text string, given []outcome, another bool) string {
	t.Helper()
	target := report.Target{Path: "/no/such/program", Version: "3.6"}
	s, r := replay(t, child.Request{Target: target, Another: another}, text, given)
	say := func(v *Verdict) string {
		text := string(v.Kind.outcome()) + " " + strings.TrimPrefix(where(s.req.File, v), "01-test.txtar:") + v.Why
		if e := v.Evidence; e != (report.Evidence{}) {
			text += fmt.Sprintf(" {%s|%s|%s}", e.Command, e.Expected, e.Actual)
		}
		return strings.ReplaceAll(text, "fork/exec /no/such/program: no such file or directory", "no such program")
	}
	var said []string
	if s.firstWrong != nil {
		said = append(said, "wrong: "+say(s.firstWrong))
	}
	if end := s.ended(r); end != nil {
		said = append(said, say(end))
	}
	if said == nil {
		return "none"
	}
	return strings.Join(said, "; ")
}

// replay runs a script, the calls of whose target do what is given.
func replay(t *testing.T, req child.Request, text string, given []outcome) (*script, *recorder) {
	t.Helper()
	req.File, req.Dir, req.Timeout = filepath.Join(t.TempDir(), "01-test.txtar"), t.TempDir(), time.Minute
	s := newScript(req, io.Discard)
	t.Cleanup(s.cancel)
	s.lines = gap.Lines(text)
	s.part = firstPart(s.lines, s.req.Layer)
	if err := os.WriteFile(req.File, []byte(instrument(text, s.lines, s.ours)), 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(ts *testscript.TestScript, neg bool, args []string) {
		var number int
		fmt.Sscan(args[0], &number)
		line := s.lines[number-1]
		isGiven := s.actions()[line.Command] != nil || line.Command == "try" && len(given) > 0
		if s.part.skips(line) || !isGiven {
			s.cmdDo(ts, neg, args)
			return
		}
		s.now, s.focus, s.part.looked = line, "", s.part.looked || looks(line)
		if len(given) == 0 {
			t.Errorf("line %d is not to run: %s", number, line.Text)
			given = []outcome{{}}
		}
		s.last, given = given[0], given[1:]
		s.last.line, s.last.call = report.CommandLine(args[1:]), callName(s.now, s.lines)
		s.acted(ts, calls(line))
		show(ts, s.last)
		if line.Command != "try" || s.last.err != nil && !(s.last.notOffered() && mayLack(line, s.lines)) {
			upTo(func() { s.checkOutcome(ts, s.last) })
		}
	}
	r := &recorder{}
	r.Run("", func(root testscript.T) {
		testscript.RunT(root, testscript.Params{
			Files: []string{req.File}, Condition: func(cond string) (bool, error) { return condition(cond, s.last, s.req) },
			Cmds: map[string]func(*testscript.TestScript, bool, []string){"do": do},
		})
	})
	if len(given) > 0 {
		t.Errorf("%d calls were not made", len(given))
	}
	return s, r
}

// What a script ends with when the time was up, when it took too much of the machine, when it
// panicked, and when it lacks what it needs.
func TestEndedBefore(t *testing.T) {
	at3 := func(kind Kind) *Verdict { return &Verdict{kind, 3, "why", report.Evidence{Command: "tmux a"}} }
	for _, tt := range []struct {
		name string
		end  *Verdict
		t    recorder
		much string // what took too much
		late bool   // the time was up
		want string
	}{
		{"at its end", nil, recorder{}, "", false, "none"},
		{"at its end, though it was late", nil, recorder{}, "", true, "none"},
		{"panicked", at3(Failed), recorder{panicked: "oh"}, "", false, "error panic: oh"},
		{"skipped", nil, recorder{skipped: true, skipReason: "no"}, "", false, "skip no"},
		{"failed", at3(Failed), recorder{failed: true}, "", false, "open x:3: why"},
		{"failed late", at3(Failed), recorder{failed: true}, "", true, "timeout x:3: no end within 1m0s"},
		{"blocked late", at3(Blocked), recorder{failed: true}, "", true, "timeout x:3: no end within 1m0s"},
		{"took too much", at3(Failed), recorder{failed: true}, "much", false, "open x:3: much"},
		{"took too much, and is late", at3(Crashed), recorder{failed: true}, "much", true, "crash x:3: much"},
		{"wrong in itself, late", &Verdict{Kind: Errored, Why: "usage"}, recorder{failed: true}, "", true, "error usage"},
		{"not offered, late", at3(NotOffered), recorder{failed: true}, "", true, "not offered x:3: why"},
		{"of testscript's, late", nil, recorder{failed: true}, "", true, "timeout no end within 1m0s"},
		{"of testscript's, too much", nil, recorder{failed: true}, "much", false, "open much"},
		{"blocked, with what it needs", at3(Blocked), recorder{failed: true}, "", false, "blocked x:3: why"},
		{"of testscript's, with no line", nil, recorder{failed: true, log: []string{"odd"}}, "", false, "error odd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(child.Request{Dir: t.TempDir(), File: "x", Timeout: time.Minute}, io.Discard)
			defer s.cancel()
			if s.verdict = tt.end; tt.much != "" {
				s.tooMuch.Store(&tt.much)
			}
			if tt.late {
				s.cancel()
			}
			got := "none"
			if v := s.ended(&tt.t); v != nil {
				got = string(v.Kind.outcome()) + " " + where(s.req.File, v) + v.Why
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
