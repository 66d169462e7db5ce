package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// suite prints five thousand lines, of which twenty fail, and a summary.
const suite = `i=0; while [ $i -lt 5000 ]; do i=$((i+1)); case $i in *250) echo "FAIL case $i";; *) echo "ok case $i";; esac; done; echo "4980 passed, 20 failed"; exit 1`

func TestRunCommandMatchesAllOutput(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	cfg := configFor(srv)
	cfg.Results = ""
	text := serve(t, cfg)
	text.reads = true
	res := text.tool("run_command", runArgs("%0", suite, `"match":"FAIL|passed"`, `"regex":true,"context":1`)).text()
	for _, want := range []string{"[%0 exit 1, ", "6 of 5001 lines match", "249-ok case 249\n250:FAIL case 250\n251-ok case 251\n--\n1249-", "\n5000-ok case 5000\n5001:4980 passed, 20 failed", "more: get_job j"} {
		if !strings.Contains(res, want) {
			t.Errorf("no %q in\n%s", want, res)
		}
	}
	if strings.Contains(res, "ok case 300") {
		t.Errorf("lines that do not match:\n%s", res)
	}

	// The rest is there without another run.
	got := p.command("%0", suite, `"match":"no such line"`)
	if len(got.Output) != 0 || *got.Matched != 0 || got.Lines != 5001 || got.status() != "1" || got.JobID == "" {
		t.Fatalf("%+v", got)
	}
	again := p.job(got.JobID, `"match":"CASE 4250"`)
	if diff := cmp.Diff([]string{"4250:FAIL case 4250"}, again.Output); diff != "" || again.status() != "1" || again.State != "ended" {
		t.Errorf("%+v", again)
	}
	if tail := p.job(got.JobID, `"max_lines":2`); fmt.Sprint(tail.Output) != "[ok case 5000 4980 passed, 20 failed]" || tail.TruncatedBy != 4999 {
		t.Errorf("%+v", tail)
	}

	// More than is kept in memory.
	got = p.command("%0", "echo needle; seq 1 200000; echo needle", `"match":"needle","context":2`)
	if diff := cmp.Diff([]string{"1:needle", "2-1", "3-2", "--", "200000-199999", "200001-200000", "200002:needle"}, got.Output); diff != "" || got.LinesMissed {
		t.Errorf("%+v", got)
	}
	// Matches that touch, at the ends of the output.
	got = p.command("%0", "seq 1 9", `"match":"[1689]","regex":true,"context":1`)
	if want := "1:1 2-2 -- 5-5 6:6 7-7 8:8 9:9"; strings.Join(got.Output, " ") != want {
		t.Errorf("%q, want %q", got.Output, want)
	}
	// What fits is not kept.
	if got = p.command("%0", "echo a", `"match":"a"`); got.JobID != "" || fmt.Sprint(got.Output) != "[1:a]" {
		t.Errorf("%+v", got)
	}
	// A pattern that takes too long does not take the exit status with it.
	got = p.command("%0", "head -c 900000 /dev/zero | tr '\\0' a; echo; echo b; exit 3", `"match":"(a?){30}c|b$","regex":true`)
	if got.status() != "3" || got.Lines != 2 {
		t.Errorf("%s, %d lines of output", got.status(), got.Lines)
	}
}

// TestARecorderEndsByItself: nobody asks for the job, and its recorder and pipe are gone
// all the same; the next command is recorded.
func TestARecorderEndsByItself(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	job := p.command("%0", "sleep 0.2; echo out", `"detach":true`)
	pipeCloses(t, srv, "%0")
	p.expect("%0", "echo next", "next")
	if got := p.job(job.JobID); fmt.Sprint(got.Output) != "[out]" || got.status() != "0" || got.LinesMissed {
		t.Errorf("%+v", got)
	}
}

func TestJobsOutliveTheirServer(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", shellStart(t, "dash"))
	waitPrompt(t, srv, "%0")
	waitPrompt(t, srv, "%1")
	g := newGate(t)
	first := start(t, srv, nil)
	first.handshake("{}")
	detached := first.command("%0", "seq 1 3000; "+g.wait()+"; seq 3001 4000; exit 6", `"detach":true`)
	// Nobody has the id of this one.
	first.running("%1", "echo begun; "+g.wait()+"; echo ended")
	tmuxtest.WaitScreen(t, srv, "%1", "\nbegun")
	if err := first.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.done
	g.open(t)
	second := start(t, srv, nil)
	second.handshake("{}")
	got := second.job(detached.JobID, `"timeout":20`)
	if diff := cmp.Diff(numbers(1, 4000), got.Output); diff != "" || got.status() != "6" || got.LinesMissed {
		t.Errorf("exit status %s, missed is %t; output (-want +have):\n%s", got.status(), got.LinesMissed, diff)
	}
	var other string
	for _, j := range ok[struct {
		Result []struct {
			JobID   string `json:"job_id"`
			PaneID  string `json:"pane_id"`
			Command string `json:"command"`
		} `json:"result"`
	}](second, "list_jobs", `{}`).Result {
		if j.PaneID == "%1" && strings.HasPrefix(j.Command, "echo begun; until") {
			other = j.JobID
		}
	}
	got = second.job(other, `"timeout":20`)
	if fmt.Sprint(got.Output) != "[begun ended]" || got.status() != "0" || got.LinesMissed {
		t.Errorf("%+v", got)
	}
	second.expect("%0", "echo usable", "usable")
	second.expect("%1", "echo usable", "usable")
}

func TestJobsThatCannotBeFound(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	_, elsewhere := shellPane(t, "bash")
	job := p.command("%0", "sleep 0.3", `"detach":true`)
	for _, tool := range []string{"get_job", "cancel_job"} {
		for _, id := range []string{"", "j", "jaaaaaaaaaaaa", "../" + job.JobID, job.JobID + "/", "/etc", strings.ToUpper(job.JobID), "j\u0000"} {
			raw, _ := json.Marshal(map[string]string{"job_id": id})
			p.fails(tool, string(raw), "there is no job", "list_jobs lists")
		}
		elsewhere.fails(tool, `{"job_id":"`+job.JobID+`"}`, "job "+job.JobID+" runs on the tmux server at "+srv.SocketPath())
	}
	if got := ok[rows](elsewhere, "list_jobs", `{}`); got.column("job_id") != "" {
		t.Errorf("another tmux server has jobs %v", got)
	}
	tmuxtest.Run(t, srv, "kill-server")
	testtool.Eventually(t, "the tmux server has ended", func() bool {
		said := p.fails("get_job", `{"job_id":"`+job.JobID+`"}`).text()
		return strings.Contains(said, "no tmux server") || strings.Contains(said, "there is no job")
	})
}

// runs waits until a program runs in a pane, however deep below its shell.
func runs(t testing.TB, srv *tmux.Server, pane, program string) {
	t.Helper()
	root, err := strconv.Atoi(tmuxtest.Run(t, srv, "display-message", "-p", "-t", pane, "#{pane_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	var below func(pid int) bool
	below = func(pid int) bool {
		if p, err := procstat.Of(pid); err == nil && p.Name == program {
			return true
		}
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		return slices.ContainsFunc(strings.Fields(string(children)), func(child string) bool {
			n, err := strconv.Atoi(child)
			return err == nil && below(n)
		})
	}
	testtool.Eventually(t, program+" runs in "+pane, func() bool { return below(root) })
}

// TestARecorderOfAKilledServer: a server that is killed while it hands a recorder on leaves one of a
// command that has not begun. The next server takes the pane's pipe from it.
func TestARecorderOfAKilledServer(t *testing.T) {
	t.Parallel()
	srv, _ := shellPane(t, "bash")
	waitPrompt(t, srv, "%0")
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"TMPDIR=" + dir, "XDG_RUNTIME_DIR="}
	first := start(t, srv, env)
	first.handshake("{}")
	first.expect("%0", "echo first", "first")
	if err := first.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-first.done
	jobs, err := filepath.Glob(filepath.Join(dir, "*", "*", "job"))
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	text, err := os.ReadFile(jobs[0])
	if err != nil || !strings.Contains(string(text), `"Resting":true`) {
		t.Fatalf("%s %v", text, err)
	}
	if err := os.WriteFile(jobs[0], []byte(strings.Replace(string(text), `"Resting":true`, `"Resting":false`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	second := start(t, srv, env)
	second.handshake("{}")
	second.expect("%0", "echo second", "second")
	if screen := tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", "%0"); regexp.MustCompile(`\[[0-9a-f]{16}`).MatchString(screen) {
		t.Errorf("the output was not recorded but read off the screen:\n%s", screen)
	}
}

// TestCancelHitsNobodyElse: the user has stopped the job with Ctrl-Z and runs something
// else in the pane.
func TestCancelHitsNobodyElse(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "dash", "mksh", "fish", "busybox"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			srv, p := shellPane(t, shell)
			p.expect("%0", "echo first", "first")
			job := p.command("%0", "sh -c 'echo begun; exec sleep 300'", `"detach":true`)
			tmuxtest.WaitScreen(t, srv, "%0", "\nbegun")
			tmuxtest.Run(t, srv, "send-keys", "-t", "%0", "C-z")
			waitPrompt(t, srv, "%0")
			typeLine(t, srv, "%0", "clear; echo; echo theirs; cat")
			tmuxtest.WaitScreen(t, srv, "%0", "\ntheirs")
			typed := func() string {
				return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_current_command}")
			}
			testtool.Eventually(t, "the user's program runs", func() bool { return typed() == "cat" || shell == "busybox" })
			got := ok[ran](p, "cancel_job", `{"job_id":"`+job.JobID+`"}`)
			if got.State == "running" {
				got = ok[ran](p, "cancel_job", `{"job_id":"`+job.JobID+`","signal":"KILL"}`)
			}
			t.Logf("%+v", got)
			typeLine(t, srv, "%0", "still-here")
			tmuxtest.Wait(t, srv, "%0", "two lines", func() bool {
				return strings.Count(tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", "%0"), "still-here") == 2
			})
			if now := typed(); now != "cat" && shell != "busybox" {
				t.Errorf("the user's program was ended: %s runs", now)
			}
		})
	}
}

// TestJobsAreSearched: what the jobs of a pane printed, the newest first.
func TestJobsAreSearched(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	tmuxtest.Run(t, srv, "split-window", "-d", "-t", "%0", shellStart(t, "dash"))
	var last ran
	for _, c := range []struct{ pane, command string }{{"%0", "seq 1 2000"}, {"%0", "seq 1 9"}, {"%1", "seq 1 1500"}, {"%0", "seq 1 1200; sleep 60"}} {
		last = p.command(c.pane, c.command, `"detach":true`)
		if !strings.Contains(c.command, "sleep") {
			last = p.job(last.JobID, `"timeout":20`)
		}
	}
	testtool.Eventually(t, "the last job has printed", func() bool {
		return p.job(last.JobID).Lines == 1200
	})
	type searched struct {
		Jobs []struct {
			PaneID  string `json:"pane_id"`
			Command string
			Matches int
			Lines   []string
		}
		Unsearched int `json:"jobs_unsearched"`
	}
	for _, c := range []struct {
		args string
		want []string // the commands, the newest first, with their lines
	}{
		{`{"pattern":"1110","jobs":true,"context":1}`, []string{
			"seq 1 1200; sleep 60 1 1109-1109 1110:1110 1111-1111", "seq 1 1500 1 1109-1109 1110:1110 1111-1111", "seq 1 2000 1 1109-1109 1110:1110 1111-1111"}},
		{`{"pattern":"1110","jobs":true,"pane_id":"%1"}`, []string{"seq 1 1500 1 1110:1110"}},
		{`{"pattern":"^1.99$","regex":true,"jobs":true,"pane_id":"%0","max_matched_lines_per_pane":2}`, []string{"seq 1 1200; sleep 60 2 1099:1099 1199:1199", "seq 1 2000 10 1899:1899 1999:1999"}},
		{`{"pattern":"1110"}`, nil},
		{`{"pattern":"nowhere","jobs":true}`, nil},
	} {
		got := ok[searched](p, "search_panes", c.args)
		var said []string
		for _, j := range got.Jobs {
			said = append(said, fmt.Sprintf("%s %d %s", j.Command, j.Matches, strings.Join(j.Lines, " ")))
		}
		if diff := cmp.Diff(c.want, said); diff != "" || got.Unsearched != 0 {
			t.Errorf("%s: %d unsearched, %s", c.args, got.Unsearched, diff)
		}
	}
	p.fails("search_panes", `{"pattern":"x","jobs":true,"pane_id":"%9"}`, "Pane not found: %9")
}

// TestARunningCommandThatAsks: what it seems to wait for is said, also of a job; a command that is
// silent, or prints, does not ask.
func TestARunningCommandThatAsks(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	p.expect("%0", "echo first", "first")
	const says = "it seems to wait for input: send_keys answers it"
	got := p.command("%0", "printf 'Your name: '; read -r name; echo hello $name", `"timeout":1`)
	if got.Note != says || got.JobID == "" || len(got.Output) != 1 || strings.TrimSpace(got.Output[0]) != "Your name:" {
		t.Fatalf("%+v", got)
	}
	if job := ok[ran](p, "get_job", args(t, "job_id", got.JobID)); job.Note != says {
		t.Errorf("%+v", job)
	}
	p.tool("send_keys", `{"pane_id":"%0","keys":"Ann"}`)
	job := p.job(got.JobID, `"timeout":60`)
	if job.status() != "0" || job.Note != "" || fmt.Sprint(job.Output) != "[Your name: Ann hello Ann]" {
		t.Errorf("%+v", job)
	}
	for _, command := range []string{"sleep 2", "printf 'working 50%%'; sleep 2", "echo done:; sleep 2"} {
		waitPrompt(t, srv, "%0")
		got := p.command("%0", command, `"timeout":1`)
		if got.Note != "" || !got.TimedOut {
			t.Errorf("%s: %+v", command, got)
		}
		ok[ran](p, "get_job", args(t, "job_id", got.JobID, "timeout", 60))
	}
}

// TestRunCommandInSeveralPanes: detached, in a batch; one call waits for the end of all.
func TestRunCommandInSeveralPanes(t *testing.T) {
	t.Parallel()
	srv, p := shellPane(t, "bash")
	p.expect("%0", "echo first", "first")
	var calls []any
	for i := range 4 {
		pane := "%0"
		if i > 0 {
			pane = ok[struct {
				ID string `json:"pane_id"`
			}](p, "split_window", `{"pane_id":"%0"}`).ID
			waitPrompt(t, srv, pane)
			tmuxtest.Run(t, srv, "select-layout", "tiled")
		}
		calls = append(calls, map[string]any{"tool": "run_command", "arguments": map[string]any{
			"pane_id": pane, "command": fmt.Sprintf("sleep 0.5; seq 1 3%d; exit %d", i, i), "detach": true}})
	}
	b := ok[struct {
		Results []struct {
			Success    bool `json:"success"`
			Structured ran  `json:"structured_content"`
		} `json:"results"`
	}](p, "call_mutating_tools_batch", args(t, "operations", calls))
	var ids []string
	for i, r := range b.Results {
		if !r.Success || r.Structured.JobID == "" {
			t.Fatalf("%d: %+v", i, r)
		}
		ids = append(ids, r.Structured.JobID)
	}
	got := ok[struct {
		ran
		Others []ran `json:"others"`
	}](p, "get_job", args(t, "job_id", ids, "timeout", 60))
	all := append([]ran{got.ran}, got.Others...)
	if len(all) != 4 {
		t.Fatalf("%d results", len(all))
	}
	for i, r := range all {
		if r.status() != fmt.Sprint(i) || len(r.Output) != 20 || r.Output[19] != fmt.Sprintf("3%d", i) {
			t.Errorf("%d: %+v", i, r)
		}
	}
	// They are still there to be asked for, in a batch too.
	res := p.tool("call_readonly_tools_batch", args(t, "operations", []any{
		map[string]any{"tool": "get_job", "arguments": map[string]any{"job_id": ids[3], "match": "33"}},
		map[string]any{"tool": "get_job", "arguments": map[string]any{"job_id": ids[3], "timeout": 5}},
	}, "on_error", "continue"))
	if !strings.Contains(res.text(), "33:33") || !strings.Contains(res.text(), "is not allowed in a batch") {
		t.Error(res.text())
	}
	p.fails("get_job", `{"job_id":[]}`, "job_id must have 1 to 50 items")
	p.fails("get_job", `{"job_id":["x","y"]}`, "there is no job \"x\"")
	asText := serveText(t, srv)
	text := asText.tool("get_job", args(t, "job_id", ids)).text()
	if strings.Count(text, "\n== %") != 4 || !strings.HasPrefix(text, "[4 jobs]\n") || !strings.Contains(text, " exit 3, ") {
		t.Error(text)
	}
}
