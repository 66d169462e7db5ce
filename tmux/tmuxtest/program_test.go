package tmuxtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/tmux/tmuxtest"
)

var terminal = tmuxtest.Terminal{}

// TestExit: the exit status is the program's, and the screen is complete.
func TestExit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		status int
		last   string
	}{
		"success":               {"echo bye", 0, "bye"},
		"failure":               {"echo bye; exit 213", 213, "bye"},
		"no newline":            {"printf bye; exit 1", 1, "bye"},
		"much output":           {"seq 20000; exit 7", 7, "20000"},
		"signal":                {"echo bye; kill -s TERM $$", 128 + 15, "bye"},
		"crash":                 {"echo bye; kill -s SEGV $$", 128 + 11, "bye"},
		"signal to all":         {"echo bye; trap : TERM; kill -s TERM 0; exit 4", 4, "bye"},
		"alternate screen":      {`printf '\033[?1049h\033[Hbye'; exit 2`, 2, "bye"},
		"unfinished title":      {`printf 'bye\033]0;title'; exit 2`, 2, "bye"},
		"unfinished string":     {`printf 'bye\033Pq#0'; exit 2`, 2, "bye"},
		"unfinished sequence":   {`printf 'bye\033[1;'; exit 2`, 2, "bye"},
		"unfinished character":  {`printf 'bye\344\270'; exit 2`, 2, "bye"},
		"raw terminal":          {"stty raw -echo; printf bye; exit 5", 5, "bye"},
		"closed terminal":       {"echo bye; exec 0<&- 1>&- 2>&-; exit 6", 6, "bye"},
		"output of a child":     {"(sleep 0.1; echo bye) & wait; exit 8", 8, "bye"},
		"variables of the shim": {"token=x; set --; echo bye; exit 9", 9, "bye"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := tmuxtest.Start(t, "sh", "-c", test.script)
			if status := p.WaitExit(); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			screen := p.Screen()
			lines := strings.Split(screen, "\n")
			if last := strings.Trim(lines[len(lines)-1], "�"); last != test.last {
				t.Errorf("the last row is %q, want %q", last, test.last)
			}
			if again := p.WaitExit(); again != test.status || p.Screen() != screen {
				t.Errorf("later the status is %d, and the screen\n%s", again, p.Screen())
			}
		})
	}
}

// TestInterrupt: Ctrl-C ends the program, not the terminal.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	p := shell(t, terminal, "echo ready; exec cat")
	p.Press("C-c")
	if status := p.WaitExit(); status != 130 {
		t.Errorf("status %d", status)
	}
	p.WaitFor("ready\n^C")
	p = shell(t, terminal, "trap 'echo interrupted' INT; echo ready; cat; cat")
	p.Type("x") // cat shows that it runs
	p.Press("Enter")
	p.WaitFor("x\nx")
	p.Press("C-c")
	p.WaitFor("interrupted")
	p.Press("C-d")
	p.WaitExit()
}

// TestSignalAtOnce: a key that is a signal reaches a program that has just been started.
func TestSignalAtOnce(t *testing.T) {
	dir := t.TempDir() // for a core
	for i := range 40 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			key, want := "C-c", 128+2
			if i%2 == 0 {
				key, want = `C-\`, 128+3
			}
			p := tmuxtest.Terminal{Dir: dir}.Start(t, "cat")
			p.Press(key)
			if status := p.WaitExit(); status != want {
				t.Errorf("%s: status %d", key, status)
			}
		})
	}
}

// TestArguments: they arrive as they are, and so do the directory and the variables.
func TestArguments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"a b", "", "$HOME", "'", `"`, ";", `\`, "*", "--", "-x", "X=1", "日本", "tab\there"}
	p := tmuxtest.Terminal{Width: 200, Dir: dir, Env: []string{"TERM=vt100", "COLORTERM=truecolor", "HOME=/h", "PATH=/none", "Q='\"$x;\\"}}.Start(t, append([]string{"/bin/sh", "-c", `printf '<%s>\n' "$@" "$PWD" "$TERM" "$COLORTERM" "$HOME" "$PATH" "$Q"`, "sh"}, args...)...)
	p.WaitExit()
	var want []string
	for _, arg := range append(args, dir, "vt100", "truecolor", "/h", "/none", `'"$x;\`) {
		want = append(want, "<"+strings.ReplaceAll(arg, "\t", "    ")+">")
	}
	if got := p.Screen(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestEnvironment: it is the one that the package comment describes.
func TestEnvironment(t *testing.T) {
	t.Setenv("TMUX_TEST_X", "not for the program")
	p := tmuxtest.Terminal{Width: 1000, Height: 50, Env: []string{"EXTRA=1"}}.Start(t, "env")
	p.WaitExit()
	var names []string
	for line := range strings.SplitSeq(p.Screen(), "\n") {
		name, value, _ := strings.Cut(line, "=")
		names = append(names, name)
		if want, ok := map[string]string{"TERM": "screen-256color", "LANG": "C.UTF-8", "SHELL": "/bin/sh"}[name]; ok && value != want {
			t.Errorf("%s is %s", name, value)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains([]string{"PWD", "_"}, name) }) // the shell's
	slices.Sort(names)
	if got, want := strings.Join(names, " "), "ENV EXTRA HOME LANG PATH PS1 SHELL TERM TMUX_TMPDIR XDG_RUNTIME_DIR"; got != want {
		t.Errorf("the environment has %s, want %s", got, want)
	}
}

// TestInput: keys, text, pastes and clicks reach the program as a terminal sends them.
func TestInput(t *testing.T) {
	t.Parallel()
	raw := func(modes string) *tmuxtest.Program {
		return shell(t, terminal, "stty raw -echo; printf '"+modes+"ready '; exec cat -v")
	}
	for what, test := range map[string]struct {
		modes string
		do    func(p *tmuxtest.Program)
		want  string
	}{
		"text": {"", func(p *tmuxtest.Program) { p.Type("Enter; é $x ~") }, `Enter; M-CM-) $x ~`},
		"keys": {"", func(p *tmuxtest.Program) {
			p.Press("Enter", "Tab", "Escape", "BSpace", "Space", "C-c", "C-@", "M-x", "a", ";")
		}, `^M        ^[^? ^C^@^[xa;`},
		"arrows":         {"", func(p *tmuxtest.Program) { p.Press("Up", "down", "C-Left", "S-M-Right") }, `^[[A^[[B^[[1;5D^[[1;4C`},
		"application":    {`\033[?1h`, func(p *tmuxtest.Program) { p.Press("Up") }, `^[OA`},
		"functions":      {"", func(p *tmuxtest.Program) { p.Press("F1", "F5", "Home", "PageUp", "Delete", "BTab") }, `^[OP^[[15~^[[1~^[[5~^[[3~^[[Z`},
		"paste":          {"", func(p *tmuxtest.Program) { p.Paste("a\nb\x1b") }, `a^Mb^[`},
		"bracketed":      {`\033[?2004h`, func(p *tmuxtest.Program) { p.Paste("a\nb") }, `^[[200~a^Mb^[[201~`},
		"click":          {`\033[?1000h\033[?1006h`, func(p *tmuxtest.Program) { p.Click(79, 0) }, `^[[<0;80;1M^[[<0;80;1m`},
		"click, old way": {`\033[?1002h`, func(p *tmuxtest.Program) { p.Click(2, 1) }, `^[[M #"^[[M##"`},
	} {
		p := raw(test.modes)
		test.do(p)
		p.WaitUntil(fmt.Sprintf("%s: %q", what, test.want), func(screen string) bool { return screen == "ready "+test.want })
	}
}

// TestWaitForBlanks: blanks at the end of a row do not count.
func TestWaitForBlanks(t *testing.T) {
	t.Parallel()
	p := tmuxtest.Start(t, "sh", "-c", "printf 'one\\nName: '; exec cat")
	p.WaitFor("Name: ", "Name:", "one\nName: ", "one  \nName:", "one\n", "Name:\n", "Name: \n \n")
	if got := p.Screen(); got != "one\nName:" {
		t.Errorf("the screen is %q", got)
	}
	for _, text := range []string{"on \nName:", " one", "one\n\nName:", "Name:" + strings.Repeat("\n", 24)} {
		r := record(t, func(r testing.TB) {
			p := short.Start(r, "printf", "one\nName: ")
			p.WaitExit()
			p.WaitFor(text)
		})
		if !r.failed {
			t.Errorf("the screen shows %q", text)
		}
	}
}

// TestSize: the program starts at the size, and learns of another.
func TestSize(t *testing.T) {
	t.Parallel()
	p := tmuxtest.Terminal{Width: 33, Height: 7}.Start(t, "sh", "-c", "stty size; trap 'stty size' WINCH; while read x; do :; done; cat")
	p.WaitFor("7 33")
	p.Resize(200, 60)
	p.WaitFor("7 33\n60 200")
	if x, y := p.Cursor(); x != 0 || y != 2 {
		t.Errorf("the cursor is in column %d of row %d", x, y)
	}
}

// TestCursorAtEnd: the cursor does not leave the screen.
func TestCursorAtEnd(t *testing.T) {
	t.Parallel()
	p := short.Start(t, "printf", strings.Repeat("x", short.Width))
	p.WaitExit()
	if x, y := p.Cursor(); x != short.Width-1 || y != 0 {
		t.Errorf("the cursor is in column %d of row %d", x, y)
	}
}

// TestManyAtOnce: programs do not get in each other's way.
func TestManyAtOnce(t *testing.T) {
	for i := range 12 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			p := tmuxtest.Start(t, "cat")
			text := fmt.Sprintf("number %d", i)
			p.Type(text)
			p.WaitFor(text)
		})
	}
}

// TestStyles: every tmux shows the same text, colours and attributes, also where capture-pane
// prints them in different ways or not at all.
func TestStyles(t *testing.T) {
	t.Parallel()
	p := tmuxtest.Terminal{Width: 60, Height: 12}.Start(t, "printf", strings.Join([]string{
		`\033[1mbold\033[m \033[2mdim\033[m \033[3mitalic\033[m \033[4mline\033[m \033[5mblink\033[m \033[7mreverse\033[m \033[8mhidden\033[m \033[9mstruck\033[m`,
		`\033[4:3mcurly\033[m \033[21mdouble\033[m \033[53mover\033[m \033[58;5;3m\033[4mcolored line\033[m \033[1;3;4;9;31mall\033[22mnot bold\033[m`,
		`\033[31mred\033[91mbright\033[38;5;200m256\033[38;2;1;2;3mtrue\033[39mnone\033[44mon blue\033[104mbright\033[48;5;17m256\033[48;2;9;8;7mtrue\033[m`,
		`\033(0lqqk\033(B text \033)0\016x  x\017 \033[32m\016mqqj\017\033[m`,
		`日本語 é e\314\201 \t|\tend`,
		`\033]8;;http://example.com\033\\a link\033]8;;\033\\ after it`,
		`\033[44mwritten blanks    \033[m`,
		`\033[45merased\033[K\033[m`,
		`\033[41m\033[K\033[m`,
		`\033[4mline    \033[m`,
		`\033[1mbold blanks    \033[m`,
	}, `\r\n`))
	p.WaitExit()
	p.GoldenStyled("styles")
	p.Golden("styles")
}
