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
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/testtool"
	"tmuxmcp/tmux/tmuxtest"
)

// gap is a gap whose layer tmux is the given script.
func gap(t *testing.T, script string) *Gap { return gapOf(t, TmuxLayer, script) }

func gapOf(t *testing.T, layer Layer, script string) *Gap {
	t.Helper()
	g, err := parseGap("01-test.txtar", []byte("# gap: a test\n# claim: a claim\n\n-- "+string(layer)+" --\n"+script))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// runOne runs a script on layer tmux, in a directory of the test's own for
// everything temporary, and fails the test if anything is left afterwards.
func runOne(t *testing.T, ctx context.Context, script string, opts Options) Cell {
	t.Helper()
	return runGap(t, ctx, gap(t, script), opts)
}

func runGap(t *testing.T, ctx context.Context, g *Gap, opts Options) Cell {
	t.Helper()
	emptyAtEnd(t)
	return runIn(t, ctx, g, opts)
}

// runIn runs the gap where a test around this one looks at what is left.
func runIn(t *testing.T, ctx context.Context, g *Gap, opts Options) Cell {
	t.Helper()
	targets, err := ResolveTargets(ctx, []string{tmuxtest.Binary(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	opts.Targets, opts.Gaps = targets, []*Gap{g}
	if opts.child == nil {
		opts.child = child(t)
	}
	report, err := Run(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report.Cells[0]
}

// emptyAtEnd makes a directory for everything temporary and fails the test when
// anything is left of it after the test and its subtests, which may be parallel.
func emptyAtEnd(t *testing.T) {
	dir := shortTemp(t)
	t.Cleanup(func() { nothingLeft(t, dir) })
}

// shortTemp makes a directory for everything temporary of this process, with a
// name that leaves room for a socket's.
func shortTemp(t *testing.T) string {
	dir, err := os.MkdirTemp("", "ct")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
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
	const session = "tmux new-session -d 'exec sleep 60'\n"
	for _, tt := range []struct {
		name, script string
		status       Status
		verdict      Verdict
		reason       string // a part of it
		evidence     Evidence
	}{
		{"confirmed", session + "saw confirmed because\nclaim confirmed 'a thing'\n",
			Pass, Confirmed, "", Evidence{"tmux new-session -d 'exec sleep 60'", "confirmed by: because", "(no output)"}},
		{"refuted", "saw refuted because\nclaim refuted 'a thing'\n", Pass, Refuted, "", Evidence{"", "refuted by: because", "(no output)"}},
		{"another verdict", "saw confirmed because\nclaim refuted 'a thing'\n", Fail, Confirmed,
			"01-test.txtar:6: confirmed, want refuted: a thing: because", Evidence{"", "claim refuted 'a thing'", "(no output)"}},
		{"neither", session + "claim refuted 'a thing'\n", Fail, "", "neither confirmed nor refuted", Evidence{"tmux new-session -d 'exec sleep 60'", "claim refuted 'a thing'", "(no output)"}},
		{"both", "saw confirmed a\nsaw refuted b\nclaim refuted 'a thing'\n", Fail, "", "both confirmed and refuted", Evidence{"", "claim refuted 'a thing'", "(no output)"}},
		{"no claim", session, Errored, "", "ended without a claim", Evidence{}},
		{"half a claim", "saw confirmed a\n", Errored, "", "not of which claim", Evidence{"", "confirmed by: a", "(no output)"}},
		{"not for this version", "[!tmux:99.1] na 'it is from the future'\nclaim confirmed x\n", NotApplicable, NoVerdict, "it is from the future", Evidence{}},
		{"skipped", "skip 'no reason'\n", Skip, "", "no reason", Evidence{}},
		{"command fails", session + "tmux has-session -t nosuch\n", Fail, "",
			"01-test.txtar:6: unexpected command failure: can't find session: nosuch", Evidence{"tmux has-session -t nosuch", "success", "can't find session: nosuch\n(exit status 1)"}},
		{"command succeeds", session + "! tmux has-session\n", Fail, "", "unexpected command success", Evidence{"tmux has-session", "failure", "(no output)"}},
		{"output differs", session + "tmux display-message -p hello\nstdout ^world$\n", Fail, "",
			"01-test.txtar:7: no match in stdout", Evidence{"tmux display-message -p hello", "stdout ^world$", "hello"}},
		{"wait without success", session + "wait-until world tmux display-message -p hello\n", Fail, "",
			"still no match", Evidence{"tmux display-message -p hello", "wait-until world tmux display-message -p hello", "hello"}},
		{"program fails", session + "exec sh -c 'echo a reason; exit 3'\n", Fail, "", "01-test.txtar:6: unexpected command failure: a reason", Evidence{"exec sh -c 'echo a reason; exit 3'", "success", "a reason\n(exit status 3)"}},
		{"program is missing", "exec no-such-program\n", Fail, "", "executable file not found", Evidence{"exec no-such-program", "success", "not found"}},
		{"output of a program differs", session + "exec echo hello\n! stdout hello\n", Fail, "", "01-test.txtar:7: unexpected match in stdout", Evidence{"exec echo hello", "! stdout hello", "hello"}},
		{"too few lines", "exec printf 'a\\na\\n'\n[!tmux:99.1] stdout -count=3 ^a$ # three\n", Fail, "", "01-test.txtar:6: 2 matches in stdout, want 3", Evidence{"exec printf 'a\\na\\n'", "[!tmux:99.1] stdout -count=3 ^a$ # three", "a\na"}},
		{"a file differs", "exec echo hello\ncp stdout got\ncmp got want\n-- want --\nbye\n", Fail, "", "01-test.txtar:7: got and want differ", Evidence{"exec echo hello", "cmp got want", "-hello\n+bye"}},
		{"a file has no such line", "grep -count=1 ^x$ want\n-- want --\nbye\n", Fail, "", "01-test.txtar:5: no match in want", Evidence{"", "grep -count=1 ^x$ want", "bye"}},
		{"a file is missing", "['stderr:a b'] stop\n! exists none\nexists none\n", Fail, "", "01-test.txtar:7: none does not exist", Evidence{"", "exists none", ""}},
		{"a file is missing that is compared", "grep x none\n", Fail, "", "01-test.txtar:5: none: no such file", Evidence{"", "grep x none", ""}},
		{"a bad pattern", "exec true\nstdout (\n", Errored, "", "01-test.txtar:6: error parsing regexp", Evidence{}},
		{"a set-up command fails", "cd nowhere\n", Errored, "", "01-test.txtar:5: directory", Evidence{}},
		{"an open quote", "exec 'true\n", Errored, "", "unterminated quoted", Evidence{}},
		{"in the background", "exec sh -c 'exit 3' &\nwait\n", Errored, "", "unexpected command failure", Evidence{}},
		{"tmux crashes", session + "tmux display-message -p '#{pid}'\nsave pid\nexec sh -c 'kill -KILL $0' $pid\ntmux display-message -p hello\n", Fail, "",
			"01-test.txtar:9: unexpected command failure", Evidence{"tmux display-message -p hello", "success", "server"}},
		{"unknown command", "tumx\n", Errored, "", `01-test.txtar:5: unknown command "tumx"`, Evidence{}},
		{"unknown condition", "[moon:full] tmux\n", Errored, "", "unknown condition", Evidence{}},
		{"unknown verb", "api fly\n", Errored, "", "want one of these verbs", Evidence{}},
		{"misused command", "try exec true\n", Errored, "", "want a command of tmux, api or mcp", Evidence{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := runOne(t, t.Context(), tt.script, Options{Timeout: 6 * time.Second})
			if c.Status != tt.status || c.Verdict != tt.verdict || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("%s %s: %s\nwant %s %s: %s\n%s", c.Status, c.Verdict, c.Reason, tt.status, tt.verdict, tt.reason, c.Log)
			}
			e := c.evidence()
			if e.Command != tt.evidence.Command || e.Expected != tt.evidence.Expected || !strings.Contains(e.Actual, tt.evidence.Actual) {
				t.Errorf("evidence %q\nwant     %q", e, tt.evidence)
			}
		})
	}
}

// Whatever hangs is ended at the timeout, with its evidence, and with it all
// that it has started.
func TestTimeout(t *testing.T) {
	emptyAtEnd(t)
	for _, tt := range []struct{ name, script, reason, command string }{
		{"a tmux command", "tmux new-session -d 'trap : HUP TERM INT; sleep 1000; sleep 1000'\ntmux wait-for never\n", "no end within 1s", "tmux wait-for never"},
		{"a program", "exec sleep 1000\n", "no end within 1s", "exec sleep 1000"},
		{"a program's child that holds its output", "exec sh -c 'trap : HUP TERM INT; sleep 1000 & wait; wait'\n", "no end within 1s", "exec sh -c 'trap : HUP TERM INT; sleep 1000 & wait; wait'"},
		{"a program in the background", "exec setsid sh -c 'trap : HUP TERM INT; sleep 1000; sleep 1000' &\ntmux new-session -d 'exec sleep 60'\ntmux wait-for never\n", "no end within 1s", "tmux wait-for never"},
		{"a client", "tmux new-session -d 'exec sleep 60'\nattach me\nattach it -C\ntmux wait-for never\n", "no end within 1s", "tmux wait-for never"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			c := runIn(t, t.Context(), gap(t, tt.script), Options{Timeout: time.Second})
			if c.Status != Fail || !strings.Contains(c.Reason, tt.reason) || c.evidence().Command != tt.command {
				t.Errorf("%s: %s: %q", c.Status, c.Reason, c.Evidence)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

// A run that is interrupted ends at once, reports the results so far and leaves
// nothing behind.
func TestInterrupt(t *testing.T) {
	dir := shortTemp(t)
	targets, err := ResolveTargets(t.Context(), []string{tmuxtest.Binary(t)}, nil)
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
	report, err := Run(ctx, Options{Targets: targets, Gaps: gaps, Jobs: 1, child: child(t), Progress: func(e Event) {
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
	if !report.Interrupted || report.OK() {
		t.Errorf("not marked as interrupted: %+v", report)
	}
	got := fmt.Sprintf("%s %s %s", report.Cells[0].Status, report.Cells[1].Status, report.Cells[2].Status)
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
	targets, err := ResolveTargets(t.Context(), []string{tmuxtest.Binary(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), Options{Targets: targets, Gaps: []*Gap{g}, child: child(t)})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Cells) != 3 || !report.OK() {
		t.Errorf("%+v", report.Cells)
	}
}

// With Keep the directories and servers stay, to be looked at.
func TestKeep(t *testing.T) {
	dir := shortTemp(t)
	targets, err := ResolveTargets(t.Context(), []string{tmuxtest.Binary(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), Options{Targets: targets, Keep: true, child: child(t), Gaps: []*Gap{
		gap(t, "tmux new-session -d -s kept 'exec sleep 60'\nsaw confirmed a\nclaim confirmed b\n"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		exec.Command(targets[0].Path, "-S", filepath.Join(report.Kept, "0", "s"), "kill-server").Run()
		wait(t, "the end of the kept server", func() bool { return len(processes(t, dir)) == 0 })
		os.RemoveAll(report.Kept)
		nothingLeft(t, dir)
	})
	out, err := exec.Command(targets[0].Path, "-S", filepath.Join(report.Kept, "0", "s"), "list-sessions", "-F", "#{session_name}").CombinedOutput()
	if err != nil || string(out) != "kept\n" {
		t.Errorf("the kept server says %q, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(report.Kept, "0", "01-test.txtar")); err != nil {
		t.Error(err)
	}
}

// A run whose process is killed cannot clean up: its children do.
func TestKilledRun(t *testing.T) {
	dir := shortTemp(t)
	binary := tmuxtest.Binary(t)
	cmd := exec.Command(child(t)[0])
	cmd.Env = append(os.Environ(), "CONFORM_TEST_RUN="+binary)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	// The run's child, the tmux server and client, and the pane.
	wait(t, "the tmux server", func() bool { return len(processes(t, dir)) >= 4 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	wait(t, "the end of all processes", func() bool { return len(processes(t, dir)) == 0 })
	wait(t, "an empty directory", func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 0
	})
}

// hangingRun is what the process that TestKilledRun kills does.
func hangingRun(binary string) error {
	targets, err := ResolveTargets(context.Background(), []string{binary}, nil)
	if err != nil {
		return err
	}
	g, err := parseGap("01-hang.txtar", []byte("# gap: g\n# claim: c\n-- tmux --\ntmux new-session -d 'exec sleep 60'\ntmux wait-for never\n"))
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

func wait(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s after 20 s", what)
		}
	}
}

// The child that does not do its part is an error of the runner, not a failure
// of the target.
func TestBrokenChild(t *testing.T) {
	emptyAtEnd(t)
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
			if c := runIn(t, t.Context(), gap(t, "stop\n"), Options{child: tt.child, Timeout: 100 * time.Millisecond}); !c.Status.Bad() || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("%s: %s, want %s", c.Status, c.Reason, tt.reason)
			}
		})
	}
}

// Where the usual directory for temporary files has a long name, sockets still
// have room.
func TestLongTempDir(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	dir, err := runDir()
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	if len(dir) > maxSocketPath {
		t.Errorf("%s is too long", dir)
	}
}

// A report is the same when it has been JSON.
func TestJSON(t *testing.T) {
	var buf bytes.Buffer
	if err := WriteJSON(&buf, sampleReport()); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(buf.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := WriteJSON(&again, &back); err != nil || again.String() != buf.String() {
		t.Errorf("%v: written again:\n%s\nwant:\n%s", err, again.String(), buf.String())
	}
	for _, want := range []string{`"version": 1`, `"status": "n/a"`, `"verdict": "refuted"`, `"duration_ms": `, `"transport": "exec"`, `"actual": "<&>"`} {
		if !strings.Contains(buf.String(), want) {
			t.Errorf("no %s in:\n%s", want, buf.String())
		}
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
	targets, err := ResolveTargets(t.Context(), []string{"system", "wrong=" + wrapper}, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Run(t.Context(), Options{Targets: targets, Gaps: []*Gap{g}, child: child(t)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range report.Cells {
		got = append(got, fmt.Sprintf("%s %s %s", c.Layer, c.Status, c.Verdict))
	}
	want := []string{"tmux pass refuted", "api pass ", "mcp pass ", "tmux fail refuted", "api fail ", "mcp fail "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%+v", diff, report.Cells)
	}
}
