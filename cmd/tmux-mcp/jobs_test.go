package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/internal/test/testagent"
	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
)

// The jobs under testdata/jobs are whole tasks, each played by a script that makes the
// calls a competent agent would make. A script has three parts:
//
//   - what comes first sets the stage, a tmux server of its own;
//   - after "play" comes the agent, which knows its task and the text of the results;
//   - after "check", tmux and files show whether the job is done, and whether what the
//     agent has learned is true.
//
// To testscript's commands they add
//
//	let NAME PROGRAM [ARGS]      set NAME to what the program prints
//	await PANE REGEXP            wait until a pane shows it
//	call [-missed] TOOL JSON|@FILE
//	                             call a tool; it must not fail, nor say that lines may be
//	                             missing, but for -missed: where a program erased some
//	[!] find [NAMES] REGEXP      set NAMES to the groups of a match in the last result
//	see PANE [NAMES] REGEXP      the same, after another look if the screen lacks it
//	keep FILE REGEXP             write the groups of all matches below the result's first line
//	want GOT WANT                compare
//
// and the programs in testdata/jobs/bin.
var (
	think  = flag.Duration("think", 10*time.Millisecond, "how long the model of the jobs pauses between two calls")
	update = flag.Bool("update", false, "write the costs of the jobs into docs/performance.md")
)

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"tmux-mcp": main, "serve": serve, "fetch": fetch})
}

type suite struct{ m *testing.M }

func (s suite) Run() int {
	testtool.Parallel(8)
	return s.m.Run()
}

// The goals for all jobs.
const (
	jobs      = 23
	mostCalls = 68
	mostRead  = 20_000
)

// A cost is what a job took. Written and read are bytes: the arguments of the calls, as
// JSON, and the text of the results, as a client shows it to a model.
type cost struct {
	calls, written, read int
	seconds              float64
}

func (c *cost) add(d cost) {
	*c = cost{c.calls + d.calls, c.written + d.written, c.read + d.read, c.seconds + d.seconds}
}

func (c cost) row(title, form string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | "+form+" |\n", title, c.calls, c.written, c.read, c.seconds)
}

// TestJobs plays all jobs, some at a time.
//
//	TMUX_TEST_FULL=1 go test ./cmd/tmux-mcp -run Jobs -count=1 -parallel=1 -think=1s -update
//
// writes their costs down; TMUX_TEST_BINARY names the tmux.
func TestJobs(t *testing.T) {
	var mu sync.Mutex
	costs := map[string]cost{}
	files := jobFiles(t)
	t.Run("all", func(t *testing.T) {
		testscript.Run(t, jobParams(t, files, func(name string, c cost) {
			mu.Lock()
			defer mu.Unlock()
			costs[name] = c
		}))
	})
	var total cost
	table := "| job | calls | written, bytes | read, bytes | s |\n|---|---:|---:|---:|---:|\n"
	for _, file := range files {
		if c, ok := costs[strings.TrimSuffix(filepath.Base(file), ".txtar")]; ok {
			title, _, _ := strings.Cut(readFile(t, file), "\n")
			table += c.row(strings.TrimPrefix(title, "# "), "%.1f")
			total.add(c)
		}
	}
	table += total.row(fmt.Sprintf("total, %d of %d done", len(costs), len(files)), "%.0f")
	t.Logf("\n%s", table)
	if total.calls > mostCalls || total.read > mostRead {
		t.Errorf("%d calls and %d bytes read; the goals are %d and %d", total.calls, total.read, mostCalls, mostRead)
	}
	if *update && !t.Failed() {
		const page, begin, end = "../../docs/performance.md", "<!-- jobs -->\n", "<!-- end of jobs -->"
		before, rest, found := strings.Cut(readFile(t, page), begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no place for the jobs", page)
		}
		if err := os.WriteFile(page, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJobsUndone leaves the agent out: each check must fail then. By default every third is
// tried.
func TestJobsUndone(t *testing.T) {
	dir := t.TempDir()
	for i, file := range jobFiles(t) {
		if i%testtool.Size(3, 1) != 0 {
			continue
		}
		stage, rest, _ := strings.Cut(readFile(t, file), "\nplay\n")
		_, check, _ := strings.Cut(rest, "\ncheck\n")
		undoneFile := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(undoneFile, []byte(stage+"\ncheck\n"+check), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			checked := false
			e := &undone{T: t}
			testscript.RunT(e, jobParams(t, []string{undoneFile}, func(string, cost) { checked = true }))
			switch {
			case e.skipped:
				t.Skip(&e.log)
			case !checked || !e.failed:
				t.Errorf("checked: %v, failed: %v\n%s", checked, e.failed, &e.log)
			}
		})
	}
}

// undone is a testscript.T whose script may fail.
type undone struct {
	*testing.T
	failed, skipped bool
	log             strings.Builder
}

func (u *undone) Parallel()      {}
func (u *undone) Verbose() bool  { return true }
func (u *undone) Log(a ...any)   { fmt.Fprintln(&u.log, a...) }
func (u *undone) Fatal(a ...any) { u.Log(a...); u.FailNow() }
func (u *undone) FailNow()       { u.failed = true; runtime.Goexit() }
func (u *undone) Skip(a ...any)  { u.skipped = true; u.Log(a...); runtime.Goexit() }

// Run has a goroutine for FailNow and Skip to end.
func (u *undone) Run(_ string, f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(u)
	}()
	<-done
}

func jobFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/jobs/*.txtar")
	if err != nil || len(files) != jobs {
		t.Fatalf("%d jobs, want %d: %v", len(files), jobs, err)
	}
	return files
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A player plays one job.
type player struct {
	binary string // of tmux
	stage  *testscript.Env
	cost
	began  time.Time
	client *client.Client // while the agent plays
	result string         // of the last call
}

// jobParams plays files. Checked is called where an agent is done, before the check.
func jobParams(t *testing.T, files []string, checked func(name string, c cost)) testscript.Params {
	t.Helper()
	binary, err := filepath.Abs(testtmux.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	// Short: sockets are in it. A pane's program may still write when a job is over.
	root, err := os.MkdirTemp("", "jobs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for err = os.RemoveAll(root); err != nil && t.Context().Err() == nil; err = os.RemoveAll(root) {
			time.Sleep(20 * time.Millisecond)
		}
	})
	type key struct{}
	verb := func(do func(p *player, ts *testscript.TestScript, neg bool, args []string)) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, neg bool, args []string) {
			do(ts.Value(key{}).(*player), ts, neg, args)
		}
	}
	return testscript.Params{
		Files: files, WorkdirRoot: root, RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			if cond == "full" {
				return testtool.Full, nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Setup: func(env *testscript.Env) error {
			p := &player{binary: binary, stage: env}
			env.Values[key{}] = p
			env.Defer(p.strike)
			// A program that looks like claude, and writes its conversation down.
			asked, dir := testagent.Claude(t)
			env.Setenv("ASKED", asked)
			env.Setenv("ASKED_DIR", dir)
			return p.build()
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"let": verb((*player).let), "await": verb((*player).await), "want": verb((*player).want),
			"play": verb((*player).play), "call": verb((*player).call), "find": verb((*player).find),
			"see": verb((*player).see), "keep": verb((*player).keep),
			"check": verb(func(p *player, ts *testscript.TestScript, _ bool, _ []string) {
				p.seconds = time.Since(p.began).Seconds()
				checked(ts.Name(), p.cost)
			}),
		},
	}
}

// build sets what all jobs have: a POSIX shell without start-up files and with the
// prompt "$ ", and a program tmux that talks to the job's own server. (A login shell
// would read the machine's profile, which may set PATH and the prompt.)
func (p *player) build() error {
	work := p.stage.WorkDir
	programs, err := filepath.Abs("testdata/jobs/bin")
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"PATH": strings.Join([]string{work + "/.bin", programs, p.stage.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME": work + "/.home", "TMUX_TMPDIR": work + "/.run", "XDG_RUNTIME_DIR": work + "/.run", "AGENT": programs + "/agent",
		"SHELL": "/bin/sh", "PS1": "$ ", "ENV": "", "TERM": "screen", "LANG": "C.UTF-8", "PROMPT": `(?:\A|\n)\$\s*\z`,
	} {
		p.stage.Setenv(name, value)
	}
	for _, dir := range []string{".bin", ".home", ".run"} {
		if err := os.Mkdir(filepath.Join(work, dir), 0o700); err != nil {
			return err
		}
	}
	wrapper := fmt.Sprintf("#!/bin/sh\nexec '%s' -u -f '%s/.tmux.conf' -S '%s/.run/s' \"$@\"\n", p.binary, work, work)
	return errors.Join(os.WriteFile(work+"/.tmux.conf", []byte("set-option -g default-command 'exec /bin/sh'\n"), 0o600),
		testtool.WriteProgram(work+"/.bin/tmux", []byte(wrapper)))
}

// tmux runs a tmux command.
func (p *player) tmux(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.stage.WorkDir+"/.bin/tmux", args...)
	cmd.Dir, cmd.Env = p.stage.WorkDir, p.stage.Vars
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// strike ends the servers, with everything in them.
func (p *player) strike() {
	if p.client != nil {
		_ = p.client.Close()
	}
	_, _ = p.tmux("kill-server")
}

func (p *player) let(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

func (p *player) want(ts *testscript.TestScript, _ bool, args []string) {
	if args[0] != args[1] {
		ts.Fatalf("got %q, want %q", args[0], args[1])
	}
}

func (p *player) await(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[1])
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		screen, err := p.tmux("capture-pane", "-p", "-J", "-t", args[0])
		if err == nil && pattern.MatchString(screen) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("pane %s does not show %s: %v\n%s", args[0], args[1], err, screen)
		}
	}
}

// play starts tmux-mcp, with its defaults.
func (p *player) play(ts *testscript.TestScript, _ bool, _ []string) {
	program, err := exec.LookPath("tmux-mcp")
	ts.Check(err)
	// Not CommandContext: the end of its input ends the server, and nothing else should.
	start := func(_ context.Context, command string, env, args []string) (*exec.Cmd, error) {
		cmd := exec.Command(command, args...)
		cmd.Env, cmd.Dir = env, p.stage.WorkDir
		return cmd, nil
	}
	p.client, err = client.NewStdioMCPClientWithOptions(program, p.stage.Vars,
		[]string{"-S", p.stage.WorkDir + "/.run/s", "--tmux", p.binary}, transport.WithCommandFunc(start))
	ts.Check(err)
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "jobs", Version: "1"}
	_, err = p.client.Initialize(context.Background(), hello)
	ts.Check(err)
	p.began = time.Now()
}

func (p *player) call(ts *testscript.TestScript, _ bool, args []string) {
	maybe := args[0] == "-missed"
	if maybe {
		args = args[1:]
	}
	tool, arguments := args[0], strings.Join(args[1:], " ")
	if name, ok := strings.CutPrefix(arguments, "@"); ok {
		arguments = os.Expand(ts.ReadFile(name), func(name string) string { return cmp.Or(ts.Getenv(name), "$"+name) })
	}
	var compact bytes.Buffer
	ts.Check(json.Compact(&compact, []byte(arguments)))
	if p.calls > 0 {
		time.Sleep(*think)
	}
	p.calls++
	p.written += compact.Len()
	ts.Check(os.WriteFile(p.stage.WorkDir+"/.calls", bytes.Repeat([]byte("call\n"), p.calls), 0o600))

	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, json.RawMessage(compact.Bytes())
	res, err := p.client.CallTool(ctx, req)
	ts.Check(err)
	var texts []string
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	p.result = strings.Join(texts, "\n")
	p.read += len(p.result)
	ts.Logf("%s", p.result)
	if res.IsError {
		ts.Fatalf("%s failed", tool)
	}
	if !maybe && saysMissed.MatchString(p.result) {
		ts.Fatalf("%s says that lines may be missing", tool)
	}
}

// saysMissed is what results say whose lines_missed is true.
var saysMissed = regexp.MustCompile(`(?m)^\[.*(lines may have been missed|output may be incomplete)`)

// find ends the job where there is no match: the agent does not know how to go on.
func (p *player) find(ts *testscript.TestScript, neg bool, args []string) {
	names, pattern := args[:len(args)-1], args[len(args)-1]
	m := regexp.MustCompile("(?m)" + pattern).FindStringSubmatch(p.result)
	if (m == nil) != neg || m != nil && len(m) <= len(names) {
		ts.Fatalf("the agent reads %q", m)
	}
	for i, name := range names {
		ts.Setenv(name, m[i+1])
	}
}

// see takes another look where the screen is not what it should be: the program may have
// been drawing.
func (p *player) see(ts *testscript.TestScript, neg bool, args []string) {
	if !regexp.MustCompile("(?m)" + args[len(args)-1]).MatchString(p.result) {
		p.call(ts, false, []string{"snapshot_pane", fmt.Sprintf(`{"pane_id":%q}`, args[0])})
	}
	p.find(ts, neg, args[1:])
}

func (p *player) keep(ts *testscript.TestScript, _ bool, args []string) {
	_, below, _ := strings.Cut(p.result, "\n")
	var kept strings.Builder
	for _, m := range regexp.MustCompile("(?m)"+args[1]).FindAllStringSubmatch(below, -1) {
		kept.WriteString(m[1] + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(kept.String()), 0o600))
}

// serve is a development server. It leaves notes in its directory.
func serve() {
	note := func(name, text string) {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		fmt.Fprint(f, text)
	}
	fmt.Println("loading the configuration")
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	time.Sleep(1200 * time.Millisecond) // as a program that builds
	order := fmt.Sprintf("%08x", rand.Uint32())
	note("order", order+"\n")
	go func() {
		<-interrupts
		time.Sleep(300 * time.Millisecond) // as one that has something to end
		note("stopped", "interrupt\n")
		l.Close()
	}()
	fmt.Printf("ready on http://%s\n", l.Addr())
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lines := fmt.Sprintf("%s %s\n  query %08x in %d us\n", r.Method, r.URL.Path, rand.Uint32(), rand.IntN(1000))
		fmt.Print(lines)
		note("requests", lines)
		fmt.Fprintln(w, "order", order)
	}))
	fmt.Println("bye")
	os.Exit(5)
}

// fetch prints what is at an address.
func fetch() {
	res, err := http.Get(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		log.Fatal(err)
	}
}
