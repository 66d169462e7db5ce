package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux/tmuxtest"
)

// gap is a gap whose layer tmux is the given script.
func gap(t *testing.T, script string) *Gap { return gapOf(t, report.TmuxLayer, script) }

func gapOf(t *testing.T, layer report.Layer, script string) *Gap {
	t.Helper()
	g, err := parseGap("01-test.txtar", []byte("# gap: a test\n# claim: a claim\n\n-- "+string(layer)+" --\n"+script))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// mustRun runs gaps on targets, the tests' own tmux unless there are specs, in a directory of
// its own for everything temporary. The test fails if anything is left when it ends.
func mustRun(t *testing.T, opts Options, specs ...string) *report.Report {
	t.Helper()
	if opts.Targets == nil {
		var err error
		if opts.Targets, err = ownTarget(tmuxtest.Binary(t)); specs != nil {
			opts.Targets, err = ResolveTargets(t.Context(), specs, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if opts.child == nil {
		opts.child = child(t)
	}
	if opts.temp == "" {
		opts.temp = shortTemp(t)
	}
	if opts.Timeout == 0 {
		opts.Timeout = unhurried
	}
	t.Cleanup(func() { nothingLeft(t, opts.temp) })
	result, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

var (
	ownTargets []report.Target
	ownOnce    sync.Once
)

// ownTarget is the tests' own tmux, which is asked for its version once.
func ownTarget(binary string) (_ []report.Target, err error) {
	ownOnce.Do(func() { ownTargets, err = ResolveTargets(context.Background(), []string{binary}, nil) })
	return slices.Clone(ownTargets), err
}

// runGap runs a gap of one layer, and returns its cell.
func runGap(t *testing.T, g *Gap, opts Options) report.Cell {
	t.Helper()
	opts.Gaps = []*Gap{g}
	return mustRun(t, opts).Cells[0]
}

// shortTemp makes a directory with a name that leaves room for a socket's.
func shortTemp(t *testing.T) string {
	dir, err := os.MkdirTemp("", "ct")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// nothingLeft fails the test when the directory is not empty, or a process has
// it in its command line or environment.
func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left in %s: %v %v", dir, entries, err)
	}
	if ps := processes(t, dir); len(ps) > 0 {
		t.Errorf("left running:\n%s", strings.Join(ps, "\n"))
	}
}

// processes are those that have something to do with dir.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	var found []string
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range names {
		if p == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		cmdline, _ := os.ReadFile(p + "/cmdline")
		environ, _ := os.ReadFile(p + "/environ")
		if bytes.Contains(cmdline, []byte(dir)) || bytes.Contains(environ, []byte("="+dir+"/")) {
			found = append(found, p+" "+strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return found
}

// What scripts do, and what becomes of it.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	const session = "tmux new-session -d 'exec sleep 60'\n"
	for _, tt := range []struct {
		name, script string
		status       report.Status
		verdict      report.Verdict
		reason       string // a part of it
		evidence     report.Evidence
	}{
		{"confirmed", session + "saw confirmed because\nclaim confirmed 'a thing'\n",
			report.Pass, report.Confirmed, "", report.Evidence{Command: "tmux new-session -d 'exec sleep 60'", Expected: "confirmed by: because", Actual: "(no output)"}},
		{"refuted", "saw refuted because\nclaim refuted 'a thing'\n", report.Pass, report.Refuted, "", report.Evidence{Command: "", Expected: "refuted by: because", Actual: "(no output)"}},
		{"another verdict", "saw confirmed because\nclaim refuted 'a thing'\n", report.Fail, report.Confirmed,
			"01-test.txtar:6: confirmed, want refuted: a thing: because", report.Evidence{Command: "", Expected: "claim refuted 'a thing'", Actual: "(no output)"}},
		{"neither", session + "claim refuted 'a thing'\n", report.Fail, "", "neither confirmed nor refuted", report.Evidence{Command: "tmux new-session -d 'exec sleep 60'", Expected: "claim refuted 'a thing'", Actual: "(no output)"}},
		{"both", "saw confirmed a\nsaw refuted b\nclaim refuted 'a thing'\n", report.Fail, "", "both confirmed and refuted", report.Evidence{Command: "", Expected: "claim refuted 'a thing'", Actual: "(no output)"}},
		{"no claim", session, report.Errored, "", "ended without a claim", report.Evidence{}},
		{"half a claim", "saw confirmed a\n", report.Errored, "", "not of which claim", report.Evidence{Command: "", Expected: "confirmed by: a", Actual: "(no output)"}},
		{"not for this version", "[!tmux:99.1] na 'it is from the future'\nclaim confirmed x\n", report.NotApplicable, report.NoVerdict, "it is from the future", report.Evidence{}},
		{"skipped", "skip 'no reason'\n", report.Skip, "", "no reason", report.Evidence{}},
		{"command fails", session + "tmux has-session -t nosuch\n", report.Fail, "",
			"01-test.txtar:6: unexpected command failure: can't find session: nosuch", report.Evidence{Command: "tmux has-session -t nosuch", Expected: "success", Actual: "can't find session: nosuch\n(exit status 1)"}},
		{"command succeeds", session + "! tmux has-session\n", report.Fail, "", "unexpected command success", report.Evidence{Command: "tmux has-session", Expected: "failure", Actual: "(no output)"}},
		{"output differs", session + "tmux display-message -p hello\nstdout ^world$\n", report.Fail, "",
			"01-test.txtar:7: no match in stdout", report.Evidence{Command: "tmux display-message -p hello", Expected: "stdout ^world$", Actual: "hello"}},
		{"wait without success", session + "wait-until world tmux display-message -p hello\n", report.Fail, "",
			"still no match", report.Evidence{Command: "tmux display-message -p hello", Expected: "wait-until world tmux display-message -p hello", Actual: "hello"}},
		{"program fails", session + "exec sh -c 'echo a reason; exit 3'\n", report.Fail, "", "01-test.txtar:6: unexpected command failure: a reason", report.Evidence{Command: "exec sh -c 'echo a reason; exit 3'", Expected: "success", Actual: "a reason\n(exit status 3)"}},
		{"program is missing", "exec no-such-program\n", report.Fail, "", "executable file not found", report.Evidence{Command: "exec no-such-program", Expected: "success", Actual: "not found"}},
		{"output of a program differs", session + "exec echo hello\n! stdout hello\n", report.Fail, "", "01-test.txtar:7: unexpected match in stdout", report.Evidence{Command: "exec echo hello", Expected: "! stdout hello", Actual: "hello"}},
		{"too few lines", "exec printf 'a\\na\\n'\n[!tmux:99.1] stdout -count=3 ^a$ # three\n", report.Fail, "", "01-test.txtar:6: 2 matches in stdout, want 3", report.Evidence{Command: "exec printf 'a\\na\\n'", Expected: "[!tmux:99.1] stdout -count=3 ^a$ # three", Actual: "a\na"}},
		{"a file differs", "exec echo hello\ncp stdout got\ncmp got want\n-- want --\nbye\n", report.Fail, "", "01-test.txtar:7: got and want differ", report.Evidence{Command: "exec echo hello", Expected: "cmp got want", Actual: "-hello\n+bye"}},
		{"a file has no such line", "grep -count=1 ^x$ want\n-- want --\nbye\n", report.Fail, "", "01-test.txtar:5: no match in want", report.Evidence{Command: "", Expected: "grep -count=1 ^x$ want", Actual: "bye"}},
		{"a file is missing", "['stderr:a b'] stop\n! exists none\nexists none\n", report.Fail, "", "01-test.txtar:7: none does not exist", report.Evidence{Command: "", Expected: "exists none", Actual: ""}},
		{"a file is missing that is compared", "grep x none\n", report.Fail, "", "01-test.txtar:5: none: no such file", report.Evidence{Command: "", Expected: "grep x none", Actual: ""}},
		{"a bad pattern", "exec true\nstdout (\n", report.Errored, "", "01-test.txtar:6: error parsing regexp", report.Evidence{}},
		{"a set-up command fails", "cd nowhere\n", report.Errored, "", "01-test.txtar:5: directory", report.Evidence{}},
		{"an open quote", "exec 'true\n", report.Errored, "", "unterminated quoted", report.Evidence{}},
		{"in the background", "exec sh -c 'exit 3' &\nwait\n", report.Errored, "", "unexpected command failure", report.Evidence{}},
		{"tmux crashes", session + "tmux display-message -p '#{pid}'\nsave pid\nexec sh -c 'kill -KILL $0' $pid\ntmux display-message -p hello\n", report.Fail, "",
			"01-test.txtar:9: unexpected command failure", report.Evidence{Command: "tmux display-message -p hello", Expected: "success", Actual: "server"}},
		{"unknown command", "tumx\n", report.Errored, "", `01-test.txtar:5: unknown command "tumx"`, report.Evidence{}},
		{"unknown condition", "[moon:full] tmux\n", report.Errored, "", "unknown condition", report.Evidence{}},
		{"unknown verb", "api fly\n", report.Errored, "", "want one of these verbs", report.Evidence{}},
		{"misused command", "try exec true\n", report.Errored, "", "want a command of tmux, api or mcp", report.Evidence{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			timeout := unhurried
			if tt.reason == "still no match" {
				timeout = inVain
			}
			c := runGap(t, gap(t, tt.script), Options{Timeout: timeout})
			if c.Status != tt.status || c.Verdict != tt.verdict || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("%s %s: %s\nwant %s %s: %s\n%s", c.Status, c.Verdict, c.Reason, tt.status, tt.verdict, tt.reason, c.Log)
			}
			e := c.Last()
			if e.Command != tt.evidence.Command || e.Expected != tt.evidence.Expected || !strings.Contains(e.Actual, tt.evidence.Actual) {
				t.Errorf("evidence %q\nwant     %q", e, tt.evidence)
			}
		})
	}
}

// Whatever hangs is ended at the timeout, with its evidence, and with it all
// that it has started.
func TestTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script, reason, command string }{
		{"a tmux command", "tmux new-session -d 'trap : HUP TERM INT; sleep 1000; sleep 1000'\ntmux wait-for never\n", "no end within 10s", "tmux wait-for never"},
		{"a program", "exec sleep 1000\n", "no end within 10s", "exec sleep 1000"},
		{"a program's child that holds its output", "exec sh -c 'trap : HUP TERM INT; sleep 1000 & wait; wait'\n", "no end within 10s", "exec sh -c 'trap : HUP TERM INT; sleep 1000 & wait; wait'"},
		{"a program in the background", "exec setsid sh -c 'trap : HUP TERM INT; sleep 1000; sleep 1000' &\ntmux new-session -d 'exec sleep 60'\ntmux wait-for never\n", "no end within 10s", "tmux wait-for never"},
		{"a client", "tmux new-session -d 'exec sleep 60'\nattach me\nattach it -C\ntmux wait-for never\n", "no end within 10s", "tmux wait-for never"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := runGap(t, gap(t, tt.script), Options{Timeout: 10 * time.Second})
			if c.Status != report.Fail || !strings.Contains(c.Reason, tt.reason) || c.Last().Command != tt.command {
				t.Errorf("%s: %s: %q", c.Status, c.Reason, c.Evidence)
			}
		})
	}
}

// A run that is interrupted ends at once, reports the results so far and leaves
// nothing behind.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := shortTemp(t)
	targets, err := ownTarget(tmuxtest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	var gaps []*Gap
	for i, script := range []string{
		"saw confirmed a\nclaim confirmed b # a longer script runs first\n",
		"tmux new-session -d 'exec sleep 60'\ntmux wait-for never\n",
		"tmux wait-for never\n",
	} {
		g := gap(t, script)
		g.Number = i + 1
		gaps = append(gaps, g)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result, err := Run(ctx, Options{Targets: targets, Gaps: gaps, Jobs: 1, child: child(t), temp: dir, Progress: func(e Event) {
		if e.Cell.Gap == 2 && !e.Done {
			go func() {
				// When its tmux server is there.
				for len(processes(t, dir)) < 3 {
					time.Sleep(5 * time.Millisecond)
				}
				cancel()
			}()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, dir)
	if !result.Interrupted || result.OK() {
		t.Errorf("not marked as interrupted: %+v", result)
	}
	got := fmt.Sprintf("%s %s %s", result.Cells[0].Status, result.Cells[1].Status, result.Cells[2].Status)
	if got != "pass skip skip" {
		t.Errorf("%s, want pass skip skip", got)
	}
}

// The gap that the documentation shows is one.
func TestDocumentedGap(t *testing.T) {
	doc, err := os.ReadFile("../docs/mcp-conform.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := bytes.Cut(doc, []byte("```\n# gap: "))
	text, _, _ = bytes.Cut(text, []byte("```\n"))
	g, err := parseGap("15-documented.txtar", append([]byte("# gap: "), text...))
	if err != nil {
		t.Fatal(err)
	}
	result := mustRun(t, Options{Gaps: []*Gap{g}})
	if len(result.Cells) != 3 || !result.OK() {
		t.Errorf("%+v", result.Cells)
	}
}

// With Keep the directories and servers stay, to be looked at.
func TestKeep(t *testing.T) {
	t.Parallel()
	dir := shortTemp(t)
	targets, err := ownTarget(tmuxtest.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), Options{Targets: targets, Keep: true, child: child(t), temp: dir, Gaps: []*Gap{
		gap(t, "tmux new-session -d -s kept 'exec sleep 60'\nsaw confirmed a\nclaim confirmed b\n"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		exec.Command(targets[0].Path, "-S", filepath.Join(result.Kept, "0", "s"), "kill-server").Run()
		testtool.Eventually(t, "the end of the kept server", func() bool { return len(processes(t, dir)) == 0 })
		os.RemoveAll(result.Kept)
		nothingLeft(t, dir)
	})
	out, err := exec.Command(targets[0].Path, "-S", filepath.Join(result.Kept, "0", "s"), "list-sessions", "-F", "#{session_name}").CombinedOutput()
	if err != nil || string(out) != "kept\n" {
		t.Errorf("the kept server says %q, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(result.Kept, "0", "01-test.txtar")); err != nil {
		t.Error(err)
	}
}

// A run whose process is killed cannot clean up: its children do.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	dir := shortTemp(t)
	binary := tmuxtest.Binary(t)
	cmd := exec.Command(child(t)[0])
	cmd.Env = append(os.Environ(), "CONFORM_TEST_RUN="+binary, "TMPDIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	// The run's child, the tmux server and client, and the pane.
	testtool.Eventually(t, "the tmux server", func() bool { return len(processes(t, dir)) >= 4 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	testtool.Eventually(t, "the end of all processes", func() bool { return len(processes(t, dir)) == 0 })
	testtool.Eventually(t, "an empty directory", func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 0
	})
}

// A run that is killed while a script's process is telling it something: nobody
// reads that any more, and still it cleans up.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	dir := shortTemp(t)
	run, err := runDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	req := request{Dir: filepath.Join(run, "0"), Tmux: tmuxtest.Binary(t), Version: "3.3", Layer: report.TmuxLayer, Timeout: unhurried}
	if err := makeDirs(req.Dir); err != nil {
		t.Fatal(err)
	}
	req.File = filepath.Join(req.Dir, "01-hang.txtar")
	if err := os.WriteFile(req.File, []byte(hangingScript), 0o600); err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	args := child(t)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stdout = scriptEnv(req.Dir), w
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer stdin.Close() // which ends it, also if the test fails
	w.Close()
	stdin.Write(append(line, '\n'))
	testtool.Eventually(t, "the script's last command", func() bool {
		ps := strings.Join(processes(t, dir), "\n")
		return strings.Contains(ps, "wait-for never") && strings.Contains(ps, "sleep 60")
	})
	stdin.Close()
	cmd.Wait()
	nothingLeft(t, dir)
}

const hangingScript = "tmux new-session -d 'exec sleep 60'\ntmux wait-for never\n"

// hangingRun is what the process that TestKilledRun kills does.
func hangingRun(binary string) error {
	targets, err := ResolveTargets(context.Background(), []string{binary}, nil)
	if err != nil {
		return err
	}
	g, err := parseGap("01-hang.txtar", []byte("# gap: g\n# claim: c\n-- tmux --\n"+hangingScript))
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	_, err = Run(context.Background(), Options{Targets: targets, Gaps: []*Gap{g}, child: []string{exe, ChildArg}})
	return err
}

// The child that does not do its part is an error of the runner, not a failure
// of the target.
func TestBrokenChild(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		child  []string
		reason string
	}{
		{"exits", []string{"/bin/sh", "-c", "echo a reason >&2; exit 3"}, "without an outcome: exit status 3: a reason"},
		{"talks", []string{"/bin/sh", "-c", "echo nonsense"}, "without an outcome"},
		{"is missing", []string{"/no/such/program"}, "no such file"},
		{"hangs", []string{"/bin/sh", "-c", "setsid sleep 1000 & sleep 1000"}, "no end within 100ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			timeout := unhurried
			if tt.name == "hangs" {
				timeout = 100 * time.Millisecond
			}
			if c := runGap(t, gap(t, "stop\n"), Options{child: tt.child, Timeout: timeout}); !c.Status.Bad() || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("%s: %s, want %s", c.Status, c.Reason, tt.reason)
			}
		})
	}
}

// Where the usual directory for temporary files has a long name, sockets still
// have room.
func TestLongTempDir(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := runDir(long)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	if len(dir) > maxSocketPath {
		t.Errorf("%s is too long", dir)
	}
}

// blocks are the code blocks of a page, without their fences, that begin with a
// text.
func blocks(t *testing.T, page string, begins ...string) string {
	t.Helper()
	doc, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all string
	for _, b := range begins {
		_, text, ok := strings.Cut(string(doc), "\n"+b)
		text, _, closed := strings.Cut(text, "```\n")
		if !ok || !closed {
			t.Fatalf("%s has no block that begins with %s", page, b)
		}
		all += b + text
	}
	return all
}

// The gap that docs/writing-gaps.md makes comes out as the page says, and fails
// with the page's wrong tmux.
func TestWritingGaps(t *testing.T) {
	const page = "../docs/writing-gaps.md"
	g, err := parseGap("1-pane-title.txtar", []byte(blocks(t, page, "# gap: ", "-- tmux --\n", "-- api --\n", "-- mcp --\n")))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(tmuxtest.Binary(t), filepath.Join(dir, "tmux")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	wrapper := filepath.Join(dir, "wrapper")
	if err := testtool.WriteProgram(wrapper, []byte(blocks(t, page, "#!/bin/sh\n"))); err != nil {
		t.Fatal(err)
	}
	result := mustRun(t, Options{Gaps: []*Gap{g}}, "system", "wrong="+wrapper)
	var got []string
	for _, c := range result.Cells {
		got = append(got, fmt.Sprintf("%s %s %s", c.Layer, c.Status, c.Verdict))
	}
	want := []string{"tmux pass refuted", "api pass ", "mcp pass ", "tmux fail refuted", "api fail ", "mcp fail "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%+v", diff, result.Cells)
	}
}
