package conform

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// tmuxGap returns a gap whose layer tmux is the given script.
func tmuxGap(t *testing.T, script string) *Gap { return gapOf(t, report.TmuxLayer, script) }

func gapOf(t *testing.T, layer report.Layer, script string) *Gap {
	t.Helper()
	g, err := gap.Parse("01-test.txtar", []byte("# gap: a test\n# claim: a claim\n\n-- "+string(layer)+" --\n"+script))
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
		if opts.Targets, err = ownTarget(testserver.Binary(t)); specs != nil {
			opts.Targets, err = resolve(t.Context(), specs, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if opts.child == nil {
		opts.child = scriptProcess(t)
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

// ownTarget returns the tests' own tmux, which is asked for its version once.
func ownTarget(binary string) (_ []report.Target, err error) {
	ownOnce.Do(func() { ownTargets, err = resolve(context.Background(), []string{binary}, nil) })
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

// processes returns the processes that have something to do with dir.
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

// TestOutcomes runs the cases of testdata/outcomes, in which settings say what becomes of a
// script:
//
//	layer, server: where the script runs
//	transport: of the program's own server
//	timeout: of the run
//	status, verdict: of the cell
//	claims: the outcomes of its claims
//	reason: a part of the cell's
//	command, expected, actual: the last evidence; expected only if it is set, of
//	actual a part, with a setting for each line
func TestOutcomes(t *testing.T) {
	t.Parallel()
	settings := []string{"layer", "server", "transport", "timeout", "status", "verdict", "claims", "reason", "command", "expected", "actual"}
	seen := map[string]bool{}
	for _, c := range cases.Load(t, "testdata/outcomes/*.txtar", settings...) {
		kind := strings.Join([]string{c.File, c.One("layer"), c.One("status"), c.One("verdict"), c.One("claims"), c.One("expected")}, "|")
		if !testtool.Full && seen[kind] { // how each line counts is tested by itself: see kindOf
			continue
		}
		seen[kind] = true
		t.Run(c.File+"/"+c.Name, func(t *testing.T) {
			t.Parallel()
			layer := cmp.Or(report.Layer(c.One("layer")), report.TmuxLayer)
			opts := Options{
				Server:    strings.ReplaceAll(c.One("server"), "SELF", scriptProcess(t)[0]),
				Transport: tmux.Transport(c.One("transport")), Timeout: timeoutOf(t, c),
			}
			cell := runGap(t, gapOf(t, layer, scriptOf(c)), opts)
			became := string(cell.Status) == c.One("status") && string(cell.Verdict) == c.One("verdict")
			if !became || !strings.Contains(cell.Reason, c.One("reason")) {
				t.Errorf("%s %s: %s\n%s", cell.Status, cell.Verdict, cell.Reason, cell.Log)
			}
			var claims []string
			for _, cl := range cell.Claims {
				claims = append(claims, string(cl.Outcome))
			}
			if want := c.One("claims"); want != "" && want != strings.Join(claims, ", ") {
				t.Errorf("claims %q, want %s", claims, want)
			}
			if opts.Transport != "" && cell.Transport != c.One("transport") {
				t.Errorf("transport %q", cell.Transport)
			}
			e, expected, actual := cell.Last(), c.Settings["expected"], strings.Join(c.Settings["actual"], "\n")
			if e.Command != c.One("command") || expected != nil && e.Expected != expected[0] || !strings.Contains(e.Actual, actual) {
				t.Errorf("evidence %q", e)
			}
		})
	}
}

// A report has the gaps that have a script for the layers of the run.
func TestGapsOfLayers(t *testing.T) {
	t.Parallel()
	one, other := tmuxGap(t, "saw confirmed x\nclaim confirmed x\n"), gapOf(t, report.MCPLayer, "mcp list_sessions\n")
	one.Suite, other.Number, other.Suite = "670", 2, "releases"
	r := mustRun(t, Options{Gaps: []*Gap{one, other}, Layers: []report.Layer{report.TmuxLayer}})
	if len(r.Gaps) != 1 || r.Gaps[0].Number != 1 || len(r.Suites) != 1 {
		t.Errorf("gaps %v of the suites %v, want that of layer tmux", r.Gaps, r.Suites)
	}
}

// scriptOf returns the script of a case, with its files.
func scriptOf(c cases.Case) string {
	script := strings.TrimSpace(c.Texts["script"]) + "\n"
	for name, text := range c.Texts {
		if name != "script" && name != "tmux" && name != "-V" {
			script += "-- " + name + " --\n" + text
		}
	}
	return script
}

// timeoutOf returns the time that a case has, which is more than enough if it does not say.
func timeoutOf(t *testing.T, c cases.Case) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(cmp.Or(c.One("timeout"), unhurried.String()))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The gap that the documentation shows is one.
func TestDocumentedGap(t *testing.T) {
	doc, err := os.ReadFile("../docs/mcp-conform.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := bytes.Cut(doc, []byte("```\n# gap: "))
	text, _, _ = bytes.Cut(text, []byte("```\n"))
	g, err := gap.Parse("15-documented.txtar", append([]byte("# gap: "), text...))
	if err != nil {
		t.Fatal(err)
	}
	result := mustRun(t, Options{Gaps: []*Gap{g}})
	if len(result.Cells) != 3 || !result.OK() {
		t.Errorf("%+v", result.Cells)
	}
}

// A tmux may be a script that runs the real one as a child, so that the clients' processes
// are not those that were started.
func TestTargetThatDoesNotExec(t *testing.T) {
	t.Parallel()
	wrapper := filepath.Join(t.TempDir(), "tmux")
	if err := testtool.WriteProgram(wrapper, []byte("#!/bin/sh\n'"+testserver.Binary(t)+"' \"$@\"\nexit\n")); err != nil {
		t.Fatal(err)
	}
	gaps := slices.DeleteFunc(lastingSuites(t), func(g *Gap) bool { return !slices.Contains([]int{11, 112, 401}, g.Number) })
	result := mustRun(t, Options{Gaps: gaps}, wrapper)
	for _, c := range result.Cells {
		if c.Status != report.Pass {
			t.Errorf("gap %d, layer %s: %s: %s\n%v", c.Gap, c.Layer, c.Status, c.Reason, c.Evidence)
		}
	}
}

// Where the set-up of a script fails, a tmux that lacks what it needs is not for it, by name.
// One that has it, or crashes, or is asked and answers wrongly, fails.
func TestNeeds(t *testing.T) {
	t.Parallel()
	real := testserver.Binary(t)
	g, err := gap.Parse("01-test.txtar", []byte("# gap: a test\n# claim: a claim\n# needs: two sessions\n\n-- tmux --\n"+
		"tmux new-session -d 'exec sleep 3600'\nsaw confirmed a\nclaim confirmed first\ntmux new-session -d 'exec sleep 3600'\ntmux rename-session new\ntmux list-panes\nsaw confirmed b\nclaim confirmed second\n"))
	if err != nil {
		t.Fatal(err)
	}
	const one = `case " $* " in *" new-session "*) "$real" "$1" "$2" "$3" has-session 2>/dev/null && { echo only one >&2; exit 1; } ;; esac`
	for _, tt := range []struct{ name, wrapper, want string }{
		{"real", "", "pass : true, true"},
		{"one session", one, "n/a it needs two sessions, which this tmux does not have: true, n/a"},
		{"no rename", `case " $* " in *" rename-session "*) exit 1 ;; esac`, "fail 01-test.txtar:10: set-up: rename-session failed: (exit status 1): true, blocked"},
		{"no list", `case " $* " in *" list-panes "*) exit 1 ;; esac`, "fail 01-test.txtar:11: list-panes failed: (exit status 1): true, open"},
		{"one session, and no list", one + `; case " $* " in *" list-sessions "*) exit 1 ;; esac`, "fail 01-test.txtar:9: set-up: new-session #2 failed: only one (exit status 1): true, blocked"},
		{"crashes", `kill -SEGV $$`, "fail 01-test.txtar:6: new-session: the tmux client died: signal: segmentation fault: crash, not reached"},
		{"dies for the second", `case " $* " in *" new-session "*) "$real" "$1" "$2" "$3" has-session 2>/dev/null && exec "$real" "$1" "$2" "$3" kill-server ';' list-sessions ;; esac`,
			"fail 01-test.txtar:10: rename-session failed: …: true, crash"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wrapper := filepath.Join(t.TempDir(), "tmux")
			script := "#!/bin/sh\nreal='" + real + "'\n[ \"$1\" = -V ] && exec \"$real\" -V\n" + tt.wrapper + "\nexec \"$real\" \"$@\"\n"
			if err := testtool.WriteProgram(wrapper, []byte(script)); err != nil {
				t.Fatal(err)
			}
			c := mustRun(t, Options{Gaps: []*Gap{g}}, wrapper).Cells[0]
			var outcomes []string
			for _, cl := range c.Claims {
				outcomes = append(outcomes, string(cl.Outcome))
			}
			if got := fmt.Sprintf("%s %s: %s", c.Status, c.Reason, strings.Join(outcomes, ", ")); !alike(got, tt.want) {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	if _, err := gap.Parse("01-test.txtar", []byte("# gap: a\n# claim: b\n# needs: wings\n-- tmux --\nstop\n")); err == nil || !strings.Contains(err.Error(), `unknown feature "wings": want floating panes, two sessions`) {
		t.Errorf("%v", err)
	}
}

// alike reports whether a text is the wanted one, of which … is any text.
func alike(got, want string) bool {
	begin, end, _ := strings.Cut(want, "…")
	return strings.HasPrefix(got, begin) && strings.HasSuffix(got, end)
}

// A run that is killed while a script's process is telling it something: nobody
// reads that any more, and still it cleans up.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	dir := shortTemp(t)
	run, err := child.RunDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	req := child.Request{Dir: filepath.Join(run, "0"), Target: report.Target{Path: testserver.Binary(t), Version: "3.3"}, Layer: report.TmuxLayer, Timeout: unhurried}
	if err := child.MakeDirs(req.Dir); err != nil {
		t.Fatal(err)
	}
	req.File = filepath.Join(req.Dir, "01-hang.txtar")
	if err := os.WriteFile(req.File, []byte("tmux new-session -d 'exec sleep 60'\ntmux wait-for never\n"), 0o600); err != nil {
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
	args := scriptProcess(t)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stdout = child.Environment(req.Dir), w
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
			if c := runGap(t, tmuxGap(t, "stop\n"), Options{child: tt.child, Timeout: timeout}); !c.Status.Bad() || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("%s: %s, want %s", c.Status, c.Reason, tt.reason)
			}
		})
	}
}

// blocks returns the code blocks of a page, without their fences, that begin with a text.
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
	g, err := gap.Parse("1-pane-title.txtar", []byte(blocks(t, page, "# gap: ", "-- tmux --\n", "-- api --\n", "-- mcp --\n")))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := ownTarget(testserver.Binary(t)); err != nil { // as long as PATH is what other tests have
		t.Fatal(err)
	}
	if err := os.Symlink(testserver.Binary(t), filepath.Join(dir, "tmux")); err != nil {
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
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%+v", diff, result.Cells)
	}
}

// A report says what made it, also where that was built without its commit.
func TestProgramIsKnown(t *testing.T) {
	t.Parallel()
	p := mustRun(t, Options{Gaps: []*Gap{gapOf(t, report.TmuxLayer, "tmux start-server\nsaw confirmed x\nclaim confirmed x\n")}}).Program
	if known, sum := p.Commit != "" && p.Commit != "unknown", len(p.Sum) == 64; known == sum {
		t.Errorf("%+v", p)
	}
}

// A process runs another script after one that passed, with a directory and an environment of that
// script's own; after a failure another process does.
func TestProcessOfScripts(t *testing.T) {
	t.Parallel()
	script := func(n int, last string) *Gap {
		// The longest runs first.
		g := gapOf(t, report.TmuxLayer, "tmux new-session -d 'exec sleep 600'\nexec sh -c 'echo $PPID $HOME $TMUX_TMPDIR; cd ..; pwd -P; readlink /proc/$PPID/cwd'\n"+last+"\nsaw confirmed x\nclaim confirmed x\n"+strings.Repeat("# long\n", 10-n))
		g.Number = n
		return g
	}
	gaps := []*Gap{script(1, "tmux list-sessions"), script(2, "tmux list-sessions"), script(3, "tmux nosuch"), script(4, "tmux list-sessions"), script(5, "tmux list-sessions")}
	r := mustRun(t, Options{Gaps: gaps, Jobs: 1, Verbose: true})
	shown := regexp.MustCompile(`(?m)^([0-9]+) (\S+)/home (\S+)\n(\S+)/w\n(\S+)$`)
	var pids []string
	for i, c := range r.Cells {
		m := shown.FindStringSubmatch(c.Log)
		if m == nil {
			t.Fatalf("%d: %s", i, c.Log)
		}
		pids = append(pids, m[1])
		if m[2] != m[3] || m[2] != m[4] || runtime.GOOS == "linux" && m[2] != m[5] || filepath.Base(m[2]) != strconv.Itoa(i) {
			t.Errorf("script %d has %q", i+1, m[1:])
		}
	}
	if pids[0] != pids[1] || pids[1] != pids[2] || pids[2] == pids[3] || pids[3] != pids[4] {
		t.Errorf("processes %q: want one for the first three, the last of which fails, and another one", pids)
	}
}
