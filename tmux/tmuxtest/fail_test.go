package tmuxtest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	message string
	logged  string
	failed  bool
	skipped bool
	cleanup []func()
}

func (r *recorder) Helper()                         {}
func (r *recorder) Cleanup(f func())                { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Failed() bool                    { return r.failed }
func (r *recorder) Logf(format string, args ...any) { r.logged += fmt.Sprintf(format, args...) }
func (r *recorder) Fatal(args ...any)               { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = true
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = true
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// record runs a test to its end.
func record(t *testing.T, test func(t testing.TB)) *recorder {
	r := &recorder{TB: t}
	run := func(f func()) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		<-done
	}
	run(func() { test(r) })
	for i := len(r.cleanup) - 1; i >= 0; i-- {
		run(r.cleanup[i])
	}
	return r
}

// short is a terminal whose waits fail soon.
var short = tmuxtest.Terminal{Width: 30, Height: 5, Timeout: 300 * time.Millisecond}

// shell starts a shell script that has printed what it prints up to "ready".
func shell(t testing.TB, c tmuxtest.Terminal, script string) *tmuxtest.Program {
	p := c.Start(t, "sh", "-c", script)
	p.WaitFor("ready")
	return p
}

// TestFailures: what cannot be done ends the test, and its message says why.
func TestFailures(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	const cat, ends, gone = "echo ready; exec cat", "echo ready; exit 3", "the terminal is gone: its pane or server was killed"
	ctx := context.Background()
	for name, test := range map[string]struct {
		script string
		do     func(p *tmuxtest.Program)
		want   []string
	}{
		"text": {cat, func(p *tmuxtest.Program) { p.WaitFor("ready", "steady", "go") }, []string{
			`300ms have passed, and the screen does not show "steady", "go"` + "\n",
			"sh, 30x5, cursor in column 0 of row 1:\n┌──────────────────────────────┐\n│ready                         │\n│                              │\n└",
		}},
		"text of a program that has ended": {ends, func(p *tmuxtest.Program) { p.WaitFor("more") }, []string{
			`the program has ended with status 3, and the screen does not show "more"`, "│ready  ", "; exit status 3:",
		}},
		"no text":        {cat, func(p *tmuxtest.Program) { p.WaitFor() }, []string{"WaitFor without a text"}},
		"empty text":     {cat, func(p *tmuxtest.Program) { p.WaitFor("ready", "") }, []string{`WaitFor with a blank text, ""`}},
		"blank text":     {cat, func(p *tmuxtest.Program) { p.WaitFor(" \n ") }, []string{`WaitFor with a blank text, " \n "`}},
		"no condition":   {cat, func(p *tmuxtest.Program) { p.WaitUntil("two words", nil) }, []string{"WaitUntil without a condition: two words"}},
		"condition":      {cat, func(p *tmuxtest.Program) { p.WaitUntil("two words", func(string) bool { return false }) }, []string{"300ms have passed: two words\n", "│ready  "}},
		"no exit":        {cat, func(p *tmuxtest.Program) { p.WaitExit() }, []string{"300ms have passed, and the program still runs\n", "│ready  "}},
		"type nothing":   {cat, func(p *tmuxtest.Program) { p.Type("") }, []string{`type "": no text`}},
		"type a line":    {cat, func(p *tmuxtest.Program) { p.Type("one\n") }, []string{`type "one\n": it has a control character; use Press for keys such as Enter`}},
		"type to nobody": {ends, func(p *tmuxtest.Program) { p.WaitExit(); p.Type("x") }, []string{"the program has ended with status 3\n", "│ready  "}},
		"press to nobody": {ends, func(p *tmuxtest.Program) { p.WaitExit(); p.Press("x") }, []string{
			"the program has ended with status 3\n", "│ready  ",
		}},
		"no keys":         {cat, func(p *tmuxtest.Program) { p.Press() }, []string{"no keys"}},
		"empty key":       {cat, func(p *tmuxtest.Program) { p.Press("Up", "") }, []string{`"" is not a key`}},
		"text for a key":  {cat, func(p *tmuxtest.Program) { p.Press("hello") }, []string{`"hello" is not a key`}},
		"misspelt key":    {cat, func(p *tmuxtest.Program) { p.Press("C-Entr") }, []string{`"C-Entr" is not a key; did you mean Enter`}},
		"unsent key":      {cat, func(p *tmuxtest.Program) { p.Press("S-Enter") }, []string{"S-Enter is a key that the pane's program does not get"}},
		"paste nothing":   {cat, func(p *tmuxtest.Program) { p.Paste("") }, []string{"paste: ", "no data"}},
		"paste an end":    {cat, func(p *tmuxtest.Program) { p.Paste("x\x1b[201~rm") }, []string{"paste: the text holds the sequence that ends a paste"}},
		"no mouse":        {cat, func(p *tmuxtest.Program) { p.Click(1, 2) }, []string{"click on column 1 of row 2: the program has not enabled the mouse"}},
		"outside":         {cat, func(p *tmuxtest.Program) { p.Click(30, 0) }, []string{"outside of the screen, 30x5"}},
		"no size":         {cat, func(p *tmuxtest.Program) { p.Resize(10, 0) }, []string{"10x0 is no size"}},
		"no golden file":  {cat, func(p *tmuxtest.Program) { p.Golden("none") }, []string{"testdata/golden/none.txt does not exist; to write it, run the test with -update\n", "│ready  "}},
		"file elsewhere":  {cat, func(p *tmuxtest.Program) { p.Golden("../x") }, []string{`"../x" is no name of a golden file`}},
		"shell was ended": {"kill -s KILL 0; echo ready; cat", func(p *tmuxtest.Program) { p.WaitExit() }, []string{gone}},
		"pane is gone": {cat, func(p *tmuxtest.Program) {
			_, _ = p.Pane().Server().NewSession(ctx, tmux.NewSession{})
			_ = p.Pane().Kill(ctx)
			p.WaitExit()
		}, []string{"read the screen: " + gone}},
		"server is gone": {cat, func(p *tmuxtest.Program) { _ = p.Pane().Server().Kill(ctx); p.Press("C-c") }, []string{"read the screen: " + gone}},
		"foreign key":    {cat, func(p *tmuxtest.Program) { p.Press("Ctrl+C") }, []string{`"Ctrl+C" is not a key; did you mean C-c?`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t, func(r testing.TB) {
				if strings.HasPrefix(test.script, "kill") {
					test.do(short.Start(r, "sh", "-c", test.script))
				} else {
					test.do(shell(r, short, test.script))
				}
			})
			if !r.failed {
				t.Fatal("the test has not failed")
			}
			if n := strings.Count(r.message+r.logged, "│ready  "); n != 1 && !strings.HasSuffix(test.want[0], gone) {
				t.Errorf("the screen is shown %d times:\n%s\n%s", n, r.message, r.logged)
			}
			for _, want := range test.want {
				if !strings.Contains(r.message, want) {
					t.Errorf("the message\n%s\ndoes not contain\n%s", r.message, want)
				}
			}
		})
	}
}

// TestDifference: where a screen is not as its golden file says is shown.
func TestDifference(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	r := record(t, func(r testing.TB) {
		shell(r, short, `printf 'ready\none   \033[31mred\033[m\n日本 x'; exec cat`).GoldenStyled("differs")
	})
	want := strings.TrimPrefix(`
300ms have passed, and the screen is not as testdata/golden/differs.ansi says; to write it, run the test with -update
They differ first in column 6 of row 1, both from 0 (- file, + screen):
  1 -│one   ␛[1;31mred␛[0m│
    +│one   ␛[31mred␛[0m│
  2 -│日本  x│
    +│日本 x│
  3 -│more│
    +││
sh, 30x5, cursor in column 6 of row 2:
┌──────────────────────────────┐
│ready                         │
│one   red                     │
│日本 x                        │
└──────────────────────────────┘`, "\n")
	if r.message != want {
		t.Errorf("got\n%s\nwant\n%s", r.message, want)
	}
}

// TestCannotStart: a program that cannot be started fails the test.
func TestCannotStart(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		terminal tmuxtest.Terminal
		argv     []string
		want     string
	}{
		{tmuxtest.Terminal{}, nil, "start: no program; pass its name or path, and then its arguments"},
		{tmuxtest.Terminal{}, []string{""}, "start: no program; pass"},
		{tmuxtest.Terminal{}, []string{"no-such-program", "x"}, `start no-such-program x: exec: "no-such-program": executable file not found in $PATH`},
		{tmuxtest.Terminal{}, []string{"./none"}, "none: no such file or directory"},
		{tmuxtest.Terminal{Dir: dir}, []string{"./text"}, "permission denied"},
		{tmuxtest.Terminal{Dir: dir}, []string{dir}, "is a directory"},
		{tmuxtest.Terminal{Dir: filepath.Join(dir, "none")}, []string{"sh"}, "start sh: the Dir: stat " + dir + "/none: no such file or directory"},
		{tmuxtest.Terminal{Dir: filepath.Join(dir, "text")}, []string{"sh"}, "is not a directory"},
		{tmuxtest.Terminal{Env: []string{"HOME"}}, []string{"sh"}, `"HOME" in Env is not of the form K=V`},
		{tmuxtest.Terminal{Timeout: -time.Second}, []string{"sh"}, "start sh: the Timeout -1s is negative"},
		{tmuxtest.Terminal{Width: -1}, []string{"sh"}, "-1x24 is no size"},
	} {
		r := record(t, func(r testing.TB) { test.terminal.Start(r, test.argv...) })
		if !r.failed || !strings.Contains(r.message, test.want) {
			t.Errorf("%q: the message is %q, not %q", test.argv, r.message, test.want)
		}
	}
}

// TestBinaryThatIsNone: what is no tmux fails the test, and leaves nothing.
func TestBinaryThatIsNone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, test := range []struct{ binary, want string }{
		{"/no/such/tmux", "prepare a tmux server: find the tmux program: exec: \"/no/such/tmux\": stat /no/such/tmux: no such file or directory"},
		{"/bin/echo", "start a terminal with /bin/echo: "},
	} {
		r := record(t, func(r testing.TB) { tmuxtest.Terminal{Binary: test.binary}.Start(r, "sh") })
		if !r.failed || !strings.HasPrefix(r.message, test.want) {
			t.Errorf("%s: the message is %q, not %q", test.binary, r.message, test.want)
		}
	}
	if left, _ := filepath.Glob(dir + "/tt*"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// TestStopped: the failure of a wait for a program that is stopped says so.
func TestStopped(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows it")
	}
	r := record(t, func(r testing.TB) {
		shell(r, tmuxtest.Terminal{Width: 30, Height: 5, Timeout: time.Second}, "echo ready; kill -s STOP $$; echo more").WaitFor("more")
	})
	if want := "cursor in column 0 of row 1; stopped by a signal:\n┌"; !strings.Contains(r.message, want) {
		t.Errorf("the message\n%s\ndoes not contain %q", r.message, want)
	}
}

// TestMissingGoldenFile: the failure shows a screen that is complete.
func TestMissingGoldenFile(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	r := record(t, func(r testing.TB) {
		shell(r, tmuxtest.Terminal{Width: 30, Height: 5}, "echo ready; sleep 0.2; echo complete; exec cat").GoldenStyled("none")
	})
	for _, want := range []string{"testdata/golden/none.ansi does not exist; to write it, run the test with -update\n", "│ready   ", "│complete "} {
		if !strings.Contains(r.message, want) {
			t.Errorf("the message\n%s\ndoes not contain %q", r.message, want)
		}
	}
}

// TestCannotBuild: what is no Go program fails the test with what the go command says.
func TestCannotBuild(t *testing.T) {
	t.Parallel()
	for pkg, want := range map[string]string{
		"./testdata/none":    "go build ./testdata/none: exit status 1\n",
		"..":                 "go build ..: exit status 1\ngo: no main packages",
		"./testdata/menu -x": "go build ./testdata/menu -x: exit status 1\n",
	} {
		r := record(t, func(r testing.TB) { tmuxtest.Build(r, pkg) })
		if !strings.HasPrefix(r.message, want) {
			t.Errorf("%s: the message is %q, not %q", pkg, r.message, want)
		}
	}
}

// TestScreenOfFailedTest: a test that fails by itself shows the screen too.
func TestScreenOfFailedTest(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	r := record(t, func(r testing.TB) {
		shell(r, short, "echo ready; exec cat")
		r.Fatalf("by itself")
	})
	if want := "the screen at the end of the test, sh, 30x5, cursor in column 0 of row 1:\n┌"; !strings.HasPrefix(r.logged, want) || !strings.Contains(r.logged, "│ready  ") {
		t.Errorf("logged %q, not %q", r.logged, want)
	}
}

// late is a test whose deadline is near.
type late struct{ testing.TB }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(500 * time.Millisecond), true }

// TestDeadline: a wait fails before the test's deadline.
func TestDeadline(t *testing.T) {
	t.Parallel()
	testtmux.Binary(t)
	r := record(t, func(r testing.TB) {
		tmuxtest.Terminal{Timeout: time.Hour}.Start(late{r}, "cat").WaitFor("more")
	})
	if want := `ms have passed, and the screen does not show "more"`; !strings.Contains(r.message, want) {
		t.Errorf("the message is %q, not %q", r.message, want)
	}
}

// TestNoTmux: without a tmux the test is skipped or, if it is required, fails.
func TestNoTmux(t *testing.T) {
	for _, test := range []struct {
		binary, required string
		fails            bool
		want             string
	}{
		{"none", "", false, "no tmux: TMUX_TEST_BINARY is none"},
		{"none", "1", true, "no tmux: TMUX_TEST_BINARY is none (TMUX_TEST_REQUIRED=1)"},
		{"", "", false, `no tmux: exec: "tmux": executable file not found in $PATH; install it, or set TMUX_TEST_BINARY`},
		{"/no/such/tmux", "", true, "TMUX_TEST_BINARY: exec: "},
	} {
		t.Setenv("PATH", "/none")
		t.Setenv("TMUX_TEST_BINARY", test.binary)
		t.Setenv("TMUX_TEST_REQUIRED", test.required)
		r := record(t, func(r testing.TB) { tmuxtest.Server(r) })
		if r.failed != test.fails || r.skipped == test.fails || !strings.HasPrefix(r.message, test.want) {
			t.Errorf("%q: failed %t, skipped %t, %q", test.binary, r.failed, r.skipped, r.message)
		}
	}
}
