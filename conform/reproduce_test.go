package conform

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// varies is what differs between two runs of the same commands: numbers, and
// directories.
var varies = regexp.MustCompile(`/dev/\S*|/\S*/|client-[0-9]+|[0-9]{3,}| +\n`)

// A reproducer shows what the script saw, with nothing but the target, and leaves
// nothing.
func TestReproducers(t *testing.T) {
	t.Parallel()
	gaps := lastingSuites(t)
	// Files, waiting, variables, clients on terminals, directories, control clients.
	some := []int{11, 106, 110, 402, 6, 207, 305}[:testtool.Size(4, 7)]
	gaps = slices.DeleteFunc(gaps, func(g *Gap) bool { return !slices.Contains(some, g.Number) })
	specs := []string{"needy=" + needy(t) + "?env=NEEDS=a %26 b&arg=--compat"} // which needs more, and then is the real one
	if testtool.Full {
		specs = append(specs, "real="+testserver.Binary(t))
	}
	result := mustRun(t, Options{Gaps: gaps, Layers: []report.Layer{report.TmuxLayer}, Reproduce: true}, specs...)
	for _, c := range result.Cells {
		t.Run(result.Gap(c.Gap).Name+"/"+c.Tmux, func(t *testing.T) {
			t.Parallel()
			if c.Status != report.Pass || len(c.Evidence) == 0 {
				t.Fatalf("%s: %s", c.Status, c.Reason)
			}
			out, code := sh(t, c.Reproducer)
			if code != 0 {
				t.Errorf("exit status %d where nothing failed", code)
			}
			saw, _, found := strings.Cut(out, "\nmcp-conform ran\n")
			if !found {
				t.Errorf("it does not show what was expected:\n%s", out)
			}
			want := varies.ReplaceAllString(strings.TrimSpace(c.Last().Actual)+"\n", "…")
			if want != "(no output)\n" && !strings.Contains(varies.ReplaceAllString(saw+"\n", "…"), want) {
				t.Errorf("it does not show\n%s\nbut\n%s\nwith\n%s", want, saw, c.Reproducer)
			}
		})
	}
}

// sh runs a shell script that ends in time, and returns its output and exit status.
func sh(t *testing.T, script string, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*unhurried)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-s", "--"}, args...)...)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(script), time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil || cmd.ProcessState == nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// A failure has a reproducer that shows it, and shows no failure on a tmux that has
// none. What passes has no reproducer.
func TestFailureHasReproducer(t *testing.T) {
	t.Parallel()
	real := testserver.Binary(t)
	wrong := filepath.Join(t.TempDir(), "tmux")
	if err := testtool.WriteProgram(wrong, []byte("#!/bin/sh\ncase \"$*\" in *rename-window*) exit 0 ;; esac\nexec '"+real+"' \"$@\"\n")); err != nil {
		t.Fatal(err)
	}
	g := tmuxGap(t, "mkdir sub\ntmux new-session -d -n first 'exec sleep 60'\ntmux rename-window -t @0 'it''s new'\ntmux new-window -d -n later 'sleep 0.7; echo late; exec sleep 60'\nwait-until late tmux capture-pane -p -t %1\ntmux list-windows -F '[#{window_name}]'\nstdout '^\\[it''s new\\]$'\nsaw confirmed a\nclaim confirmed b\n")
	result := mustRun(t, Options{Gaps: []*Gap{g}}, "wrong="+wrong, "real="+real)
	if c := result.Cells[1]; c.Status != report.Pass || c.Reproducer != "" {
		t.Errorf("%s: %s: %q", c.Status, c.Reason, c.Reproducer)
	}
	c := result.Cells[0]
	if c.Status != report.Fail {
		t.Fatalf("%s: %s", c.Status, c.Reason)
	}
	if out, code := sh(t, c.Reproducer); code != 1 || !strings.Contains(out, "list-windows -F [#{window_name}]\n[first]\n") || !strings.Contains(out, "\nlate\n") {
		t.Errorf("exit status %d, the failure is not there:\n%s", code, out)
	}
	if out, code := sh(t, c.Reproducer, real); code != 0 || !strings.Contains(out, "list-windows -F [#{window_name}]\n[it's new]\n") {
		t.Errorf("exit status %d, the failure is there on the real tmux:\n%s", code, out)
	}
	// A claim that came out otherwise is shown by what it was seen by, whatever follows.
	g = tmuxGap(t, "tmux new-session -d -n first 'exec sleep 60'\ntmux rename-window -t @0 second\ntmux list-windows -F '#{window_name}'\n[stdout:first] saw refuted a\n[stdout:second] saw confirmed a\nclaim confirmed b\ntmux display-message -p hello\nsaw confirmed c\nclaim confirmed d\n")
	c = mustRun(t, Options{Gaps: []*Gap{g}}, "wrong="+wrong).Cells[0]
	for args, want := range map[string]int{"": 1, real: 0} {
		if out, code := sh(t, c.Reproducer, strings.Fields(args)...); code != want {
			t.Errorf("exit status %d, want %d:\n%s", code, want, out)
		}
	}
	// Package tmux is called by its adapter.
	g = gapOf(t, report.APILayer, "tmux new-session -d -n first 'exec sleep 60'\ntmux rename-window -t @0 second\napi show @0\njson window_name second\n")
	if c = mustRun(t, Options{Gaps: []*Gap{g}}, "wrong="+wrong).Cells[0]; c.Status != report.Fail {
		t.Fatalf("%s: %s", c.Status, c.Reason)
	}
	for args, want := range map[string]int{"": 1, real: 0} {
		if out, code := sh(t, c.Reproducer, strings.Fields(args)...); code != want || !strings.Contains(out, `$ api get {"target":"@0"}`) {
			t.Errorf("exit status %d, want %d:\n%s", code, want, out)
		}
	}
}

// On layer api a reproducer makes the calls itself, of any wrapper.
func TestWrapperFailureHasReproducer(t *testing.T) {
	t.Parallel()
	mine := scriptProcess(t)[0] + " " + APIArg
	const start = "tmux new-session -d -n first 'exec sleep 60'\n"
	shell := func(answer string) string {
		// One word of the command line, as --api has it.
		return report.CommandLine(shellAdapter("case $line in " + answer + ` *) printf '"error":{"code":-32601,"message":"none"}' ;; esac`))
	}
	value := func(text string) string {
		return `*'"method":"display"'*) printf '"result":{"value":"` + text + `"}' ;;`
	}
	row := func(fields string) string { return `*'"method":"get"'*) printf '"result":{"row":{` + fields + `}}' ;;` }
	for _, tt := range []struct {
		name, api, script string
		args              []string // of the reproducer
		want              int
		shows             string
	}{
		{"an answer", mine, start + "api show @0\njson window_name second\n", nil, 1, `"window_name":"first"`},
		{"an answer that is right now", shell(value("x")), start + "api display 'é<#{window_name}>'\njson value 'é<first>'\n", []string{"", mine}, 0, `"value":"é<first>"`},
		{"another answer", shell(value("x")), "api display x\njson value y\n", []string{"", shell(value("z"))}, 0, `"value":"z"`},
		{"an error", shell(`*display*) printf '"error":{"code":1,"message":"oh"}' ;;`), "api display x\n", nil, 1, `"message":"oh"`},
		{"none where one is due", shell(value("")), "! api display x\n", nil, 1, `"value":""`},
		{"not offered", shell(value("")), "api show %0\nclaim a\napi display x\njson value y\nclaim b\n", []string{"", shell(value("y"))}, 0, `"code":-32601`},
		{"an answer that no schema allows", shell(`*display*) printf '"result":{"value":1}' ;;`), "api display x\n", nil, 1, `"value":1`},
		{"one that is waited for", shell(value("x")), "wait-until y api display x\n", nil, 1, `"value":"x"`},
		{"a number that differs", shell(value("$$")), "api display x\njson value y\n", nil, 1, `"value":`},
		{"an adapter that ends", shell(`*display*) echo last words >&2; exit 3 ;;`), "api display x\n", nil, 1, "(no answer)\nlast words"},
		{"no answer", shell(`*hang*) exec sleep 60 ;;` + value("")), "api display hang\n", nil, 1, "(no answer)"},
		{"fields", mine, start + "attach user\napi fields window_name client_name nonesuch\njson missing []\n", nil, 1, `"client_name":`},
		{"fields that are there now", shell(row("")), "api fields window_name\njson missing []\n", []string{"", shell(row(`"window_name":""`))}, 0, `"window_name":`},
		// What the cell is about decides, and not the extra before it.
		{"an extra that is as it was", shell(value("x") + row("")), "api show server\njson a 1\nextra a\napi display x\njson value y\nclaim b\n",
			[]string{"", shell(value("y") + row(""))}, 0, `"row":{}`},
		{"an extra that is not", shell(value("x") + row("")), "api show server\njson a 1\nextra a\napi display x\njson value y\nclaim b\n",
			[]string{"", shell(value("x") + row(`"a":1`))}, 1, `"a":1`},
		{"an adapter that is wrong", shell(`*display*) printf '"error":{"code":-32603,"message":"KeyError"}' ;;`), "api display x\n", nil, 1, `"message":"KeyError"`},
		{"an adapter that is not there", shell(value("x")), "api display x\njson value y\n", []string{"", "no-such-adapter"}, 125, "(no answer)"},
		{"another that does not offer it", shell(value("x")), "api display x\njson value y\n", []string{"", shell("")}, 125, `"code":-32601`},
		{"another that only echoes", shell(value("x")), "api display x\njson value y\n", []string{"", "cat"}, 125, `"method":"display"`},
		{"isolation", shell(`*display*) printf '"result":{"value":"%s %s %s."}' "$(tmux display-message -p '#{window_name}')" "$MCP_CONFORM_SOCKET" "$HOME$TMUX" ;;`),
			start + "api display x\njson value y\n", nil, 1, `"value":"first /`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := Options{APIs: []report.API{{Name: "a wrapper", Command: tt.api}}}
			switch {
			case tt.name == "no answer": // all of it goes by, here and in the reproducer
				opts.Timeout = inVain / 4
			case strings.Contains(tt.script, "wait-until"):
				opts.Timeout = inVain / 2
			}
			c := runGap(t, gapOf(t, report.APILayer, tt.script), opts)
			if !c.Status.Bad() {
				t.Fatalf("%s: %s", c.Status, c.Reason)
			}
			if out, code := sh(t, c.Reproducer, tt.args...); code != tt.want || !strings.Contains(out, tt.shows) {
				t.Errorf("exit status %d, want %d and %s:\n%s\n%s\n%s", code, tt.want, tt.shows, c.Reason, out, c.Reproducer)
			}
		})
	}
}

// On layer mcp a reproducer makes the calls itself, and its exit status is about what it is
// answered.
func TestServerFailureHasReproducer(t *testing.T) {
	t.Parallel()
	test, mine := "CONFORM_TEST_SERVER=1 "+scriptProcess(t)[0], scriptProcess(t)[0]+" "+ServerArg
	window := `mcp get_window_info '{"window_id": "'$id'"}'` + "\n"
	const start = "tmux new-session -d -n first -s 'it''s' 'exec sleep 60'\nmcp list_windows '{}'\nsave id result.0.window_id\n"
	for _, tt := range []struct {
		name, server, script string
		args                 []string // of the reproducer
		want                 int
		shows                string
	}{
		{"an answer", mine, start + window + "json window_name second\n", nil, 1, `"window_name":"first"`},
		{"another answer", mine, start + "tmux rename-window -t $id again\n" + window + "json window_name second\n", []string{"", ""}, 1, `"window_name":"again"`},
		{"a tool that fails", test, "mcp refuses '{}'\n", nil, 1, "a reason"},
		{"a tool that succeeds", test, "! mcp text\n", nil, 1, "a text"},
		{"a tool that is waited for", test, "wait-until b mcp text\n", nil, 1, "a text"},
		{"a tool that does not fail any more", test, "! mcp text\n", []string{"", mine}, 0, `"result":`},
		{"a server that ends", test, "mcp dies '{}'\n", nil, 1, "(no answer)\na last word"},
		{"a server that does not end any more", test, "mcp dies '{}'\n", []string{"", mine}, 0, `"error"`},
		{"a tier, and directories", test, "safety destructive\nmcp environment\njson TMUX_MCP_SAFETY none\n", nil, 0, `"TMUX_MCP_SAFETY":"destructive"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := runGap(t, gapOf(t, report.MCPLayer, tt.script), Options{Server: tt.server, Timeout: inVain})
			if c.Status != report.Fail {
				t.Fatalf("%s: %s", c.Status, c.Reason)
			}
			if out, code := sh(t, c.Reproducer, tt.args...); code != tt.want || !strings.Contains(out, tt.shows) {
				t.Errorf("exit status %d, want %d and %s:\n%s\n%s", code, tt.want, tt.shows, out, c.Reproducer)
			}
		})
	}
}

// Nothing that a tmux prints is a command in a reproducer.
func TestReproducersObeyNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owned, real := filepath.Join(dir, "owned"), testserver.Binary(t)
	hostile := "'; touch " + owned + "; $(touch " + owned + ") `touch " + owned + "` \"; touch " + owned + "; #\nEOF\ntouch " + owned + "\n"
	wrong := filepath.Join(dir, "tmux")
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := testtool.WriteProgram(wrong, []byte("#!/bin/sh\ncase \"$*\" in *display-message*|*list-clients*) cat "+dir+"/text; exit ;; esac\nexec '"+real+"' \"$@\"\n")); err != nil {
		t.Fatal(err)
	}
	g := tmuxGap(t, "tmux new-session -d 'exec sleep 60'\nattach user\ntmux display-message -p x\nsave v\ntmux set-option -g @v $v\nwait-until touch tmux display-message -p $v\n! stdout touch\n")
	c := mustRun(t, Options{Gaps: []*Gap{g}, Timeout: inVain}, wrong).Cells[0]
	if c.Status != report.Fail || !strings.Contains(c.Reproducer, "await ") || !strings.Contains(c.Last().Actual, "touch") {
		t.Fatalf("%s: %s", c.Status, c.Reason)
	}
	if _, code := sh(t, c.Reproducer); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	if _, err := os.Stat(owned); err == nil {
		t.Errorf("what tmux printed was run:\n%s", c.Reproducer)
	}
}
