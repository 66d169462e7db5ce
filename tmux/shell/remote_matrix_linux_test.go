package shell_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testssh"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
)

// The matrix: relays, through which a shell is reached; shells; set-ups, which are what users have
// in their start-up files; and cases, which are commands with their exact output and status.

// farShell is a shell that runs behind a relay.
type farShell struct {
	name  string
	start string // %s is its start-up file
}

var farShells = []farShell{
	{"bash", "bash --noprofile --rcfile %s -i"},
	{"zsh", "zsh -d -i"}, // which reads .zshrc in $ZDOTDIR
	{"dash", "dash -i"},  // these read $ENV
	{"ksh", "ksh -i"},
	{"mksh", "mksh -i"},
	{"busybox", "busybox sh -i"},
	{"fish", "fish --no-config --init-command 'source %s'"},
	{"tcsh", "tcsh"},
}

// farSetup is what a start-up file of some shells has.
type farSetup struct {
	name   string
	rc     map[string]string // by shells
	avoid  string            // matches commands that rightly do something else there
	env    string            // variables, as for env
	width  int               // of the pane
	traced bool              // lines that begin with + are no output
}

// farSetups come after farPlain, which precedes each.
var farSetups = []farSetup{
	{name: "plain", rc: map[string]string{"bash zsh dash ksh mksh busybox fish tcsh": ""}},
	{name: "vi", rc: map[string]string{"bash ksh mksh busybox": "set -o vi", "zsh": "bindkey -v", "fish": "set -g fish_key_bindings fish_vi_key_bindings"}},
	{name: "two lines", rc: map[string]string{
		"bash zsh ksh mksh": `PS1=$'+- work (main)\n+-$ '`,
		"dash busybox":      "PS1='+- work (main)\n+-$ '",
		"fish":              `function fish_prompt; printf '+- work (main)\n+-> '; end`,
	}},
	{name: "right prompt", rc: map[string]string{
		"zsh":  `RPROMPT='(main) 12:00'`,
		"fish": `function fish_right_prompt; echo -n '(main) 12:00'; end`,
	}},
	{name: "colors", rc: map[string]string{
		"bash": `PS1='\[\e[1;32m\]me@box\[\e[m\]:\[\e[34m\]src\[\e[m\]\$ '`,
		"zsh":  `PS1='%F{green}me@box%f:%B%F{blue}src%f%b%# '`,
		"mksh": `PS1=$'\1\r\1\e[32m\1me@box:src\1\e[m\1$ '`,
		"ksh":  `PS1=$'\e[32mme@box:src\e[m$ '`,
		"fish": `function fish_prompt; set_color green; printf 'me@box'; set_color normal; printf ':src> '; end`,
	}},
	{name: "arrow", rc: map[string]string{"bash zsh dash ksh mksh busybox": `PS1='❯ '`, "fish": `function fish_prompt; printf '❯ '; end`}},
	{name: "root", rc: map[string]string{"bash zsh dash ksh mksh busybox": `PS1='root@box:/# '`, "fish": `function fish_prompt; printf 'root@box /# '; end`}},
	{name: "eu", rc: map[string]string{"bash zsh dash ksh mksh busybox": "set -eu"}},
	{name: "debug", rc: map[string]string{
		"bash": `set -T; trap 'echo DEBUGGED' DEBUG`, "zsh": `TRAPDEBUG() { echo DEBUGGED; }`,
	}},
	{name: "debug trap", rc: map[string]string{
		"bash": `shopt -s extdebug; trap 'printf DEBUGGED' DEBUG`, "zsh": `setopt debug_before_cmd; trap 'echo DEBUGGED' DEBUG`,
	}},
	{name: "err", rc: map[string]string{
		"bash": `set -E; trap 'echo FAILED' ERR`, "ksh mksh": `trap 'echo FAILED' ERR`, "zsh": `TRAPZERR() { echo FAILED; }`,
	}},
	{name: "traps", rc: map[string]string{
		"bash": `set -ET; trap 'echo FAILED' ERR; trap 'echo DEBUGGED' DEBUG; trap 'echo RETURNED' RETURN; trap 'echo LEFT' EXIT; set -e`,
		"zsh":  `trap 'echo FAILED' ZERR; trap 'echo LEFT' EXIT; setopt err_exit`, "dash ksh mksh busybox": `trap 'echo LEFT' EXIT; trap '' HUP; trap 'echo TERM' TERM`,
	}},
	{name: "aliases", avoid: `\b(read|printf|eval|stty|cd|set|unset|trap|exit|test|command|builtin|exec|kill|break)\b`, rc: map[string]string{
		"bash zsh dash ksh mksh busybox": `alias read='echo ALIAS' printf='echo ALIAS' eval='echo ALIAS' stty='echo ALIAS' cd='echo ALIAS' set='echo ALIAS' unset='echo ALIAS' trap='echo ALIAS'
alias exit='echo ALIAS' test='echo ALIAS' command='echo ALIAS' builtin='echo ALIAS' exec='echo ALIAS' kill='echo ALIAS' break='echo ALIAS'`,
		"fish": "alias sh 'echo ALIAS'\nalias stty 'echo ALIAS'\nalias exec 'echo ALIAS'",
	}},
	{name: "global aliases", rc: map[string]string{"zsh": `alias -g L='| less' G='| grep' H='| head' T='| tail -n' NUL='>/dev/null' ...='../..' C='| wc -l'; alias -s txt=cat sh=cat`}},
	{name: "functions", rc: map[string]string{
		"bash zsh":              `stty() { command stty "$@"; }; printf() { builtin printf "$@"; }; read() { builtin read "$@"; }; cd() { builtin cd "$@" && echo "in $PWD"; }; test() { builtin test "$@"; }`,
		"dash ksh mksh busybox": `stty() { command stty "$@"; }; printf() { command printf "$@"; }; cd() { command cd "$@" && echo "in $PWD"; }`,
		"fish":                  `function stty; command stty $argv; end; function cd; builtin cd $argv; and echo in $PWD; end`,
	}, avoid: `\bcd\b`},
	{name: "abbreviations", rc: map[string]string{"fish": `for w in sh stty printf read case eval exec esac exit trap set in; abbr --add -- $w "sudo $w"; end`}},
	{name: "IFS", rc: map[string]string{"bash zsh dash ksh mksh busybox": "IFS=:e"}},
	{name: "allexport", rc: map[string]string{"bash zsh dash ksh mksh busybox": "set -a"}},
	{name: "xtrace", traced: true, rc: map[string]string{"bash zsh dash ksh mksh busybox": "set -x"}},
	{name: "noclobber", rc: map[string]string{"bash zsh dash ksh mksh busybox": "set -C"}},
	{name: "noglob", rc: map[string]string{"bash zsh dash ksh mksh busybox": "set -f"}},
	{name: "posix", rc: map[string]string{"bash ksh mksh": "set -o posix", "zsh": "setopt posix_builtins posix_aliases posix_cd posix_traps posix_argzero"}},
	{name: "sh emulation", rc: map[string]string{"zsh": "emulate sh"}},
	{name: "ksh emulation", rc: map[string]string{"zsh": "emulate ksh"}},
	{name: "before prompts", rc: map[string]string{
		"bash": `PROMPT_COMMAND='echo before the prompt'; PS0='started\n'`,
		"zsh":  `precmd() { echo before the prompt; }; preexec() { echo "started $1"; printf '\e]0;%s\a' "$1"; }`,
		"fish": "function a --on-event fish_prompt; echo before the prompt; end; function b --on-event fish_preexec; echo started; end; function c --on-event fish_postexec; echo ended; end",
	}},
	{name: "options", rc: map[string]string{
		"bash": `shopt -s nullglob failglob extglob xpg_echo autocd cdspell checkjobs checkwinsize globstar histverify lithist nocasematch nocaseglob shift_verbose; set -o pipefail -b`,
		"zsh":  `setopt ksh_arrays sh_word_split extended_glob rc_quotes null_glob magic_equal_subst warn_create_global auto_cd pushd_silent bsd_echo ksh_glob bash_rematch pipe_fail`,
		"ksh":  `set -o pipefail -o globstar -o markdirs -o multiline`,
		"mksh": `set -o braceexpand -o pipefail -o bgnice`,
		"dash": `set -o notify -o emacs 2>/dev/null`, "busybox": "set -o notify",
	}},
	{name: "glob_subst", rc: map[string]string{"zsh": "setopt glob_subst"}},
	{name: "csh", avoid: "\n", rc: map[string]string{"zsh": "setopt csh_junkie_loops csh_junkie_quotes csh_nullcmd csh_junkie_history"}},
	{name: "correction", rc: map[string]string{"zsh": "setopt correct_all"}},
	{name: "history", rc: map[string]string{
		"bash": "HISTFILE=~/history; HISTCONTROL=; shopt -s histappend histreedit cmdhist", "zsh": "HISTFILE=~/history; SAVEHIST=99 HISTSIZE=99; setopt share_history hist_verify hist_no_store",
		"ksh mksh": "HISTFILE=~/history",
	}},
	{name: "C", env: "LC_ALL=C", rc: map[string]string{"bash zsh dash ksh mksh busybox fish": ""}},
	{name: "C.UTF-8", env: "LC_ALL=C.UTF-8", rc: map[string]string{"bash zsh dash ksh mksh busybox fish": ""}},
	{name: "narrow", width: 37, rc: map[string]string{"bash zsh dash ksh mksh busybox fish": ""}},
	{name: "wide", width: 300, rc: map[string]string{"bash zsh dash ksh mksh busybox fish": ""}},
	{name: "suggestions", rc: map[string]string{"zsh": "source /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh"}},
}

// farPlain is the start of every start-up file.
func farPlain(name string) string {
	switch name {
	case "fish":
		return "function fish_prompt; printf 'me@box ~> '; end; set -g fish_greeting\n"
	case "tcsh":
		return "set prompt='me@box ~> '\n"
	}
	return "PS1='$ '\ngreet() { echo \"hi $1\"; }\nalias hail='echo hail'\n"
}

// farRelay is what leads to a shell: command returns what runs the program start, in a directory.
type farRelay struct {
	name    string
	command func(t *testing.T, dir, start string) string
}

// farRelays returns the relays. The host is another machine for all of them.
func farRelays(t *testing.T) []farRelay {
	var host *testssh.Host
	var once sync.Once
	sshd := func() {
		once.Do(func() {
			dir, err := os.MkdirTemp("", "ssh") // short, for sockets
			ok(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			host = testssh.New(t, dir)
		})
	}
	root := func(t *testing.T) {
		t.Helper()
		if os.Getuid() != 0 {
			t.Skip("only root can")
		}
	}
	return []farRelay{
		{"script", func(t *testing.T, dir, start string) string {
			return testtool.Path(t, "script") + " -qfc " + start + " /dev/null"
		}},
		{"ssh", func(t *testing.T, dir, start string) string {
			testssh.Need(t)
			sshd()
			return filepath.Join(host.Bin, "ssh") + " -q -t " + testssh.Name + " " + start
		}},
		{"su", func(t *testing.T, dir, start string) string {
			root(t)
			return testtool.Path(t, "su") + " -s " + start + " nobody"
		}},
		// Our files are not seen there, and the shell is the first process.
		{"container", func(t *testing.T, dir, start string) string {
			root(t)
			return testtool.Path(t, "unshare") + " --mount --pid --fork --mount-proc sh -c 'mount -t tmpfs none " + os.Getenv("XDG_RUNTIME_DIR") + " && exec " + start + "'"
		}},
		{"pty", func(t *testing.T, dir, start string) string {
			return testtool.Path(t, "python3") + ` -c 'import pty; pty.spawn(["` + start + `"])'`
		}},
	}
}

// farCase is a command.
type farCase struct {
	name, command string
	fish          string // the command for fish, if another; - for none
	sh            string // where a new /bin/sh runs it; - for none
	output        string // may have {HOME}
	status        int    // -1 for any but 0
	match         string // matches the output in place of that
	dir           string
	after         string // a command that then prints afterwards
	afterwards    string
	// Once the command has printed text, keys are typed.
	text string
	keys []string
}

var farCases = []farCase{
	{name: "echo", command: "echo hello", output: "hello\n"},
	{name: "false", command: "false", status: 1},
	{name: "quotes", command: `printf '%s|' "a  b" 'c  "d"' e\'f\"g '$HOME' "\$x" \\\\ '` + "`" + `' ''`, output: `a  b|c  "d"|e'f"g|$HOME|$x|\\|` + "`||\n"},
	{name: "lines", command: "echo one\necho two\n\n\necho three\n", output: "one\ntwo\nthree\n"},
	{name: "status 7", command: "echo a; sh -c 'exit 7'", output: "a\n", status: 7},
	{name: "status 255", command: "sh -c 'exit 255'", status: 255},
	{name: "no newline", command: "printf x", output: "x\n"},
	{name: "syntax error", command: "echo a; if then fi )", fish: "-", match: `.`, status: -1, after: "echo b", afterwards: "b\n"},
	{name: "open quote", command: "echo 'a", fish: "-", match: `.`, status: -1, after: "echo b", afterwards: "b\n"},
	{name: "open if", command: "if true; then\necho a", fish: "-", match: `.`, status: -1, after: "echo b", afterwards: "b\n"},
	{name: "killed", command: `sh -c 'kill -9 $$'`, match: `(?s)^(.*Killed.*)?$`, status: 137, after: "echo b", afterwards: "b\n"},
	{name: "no command", command: "no_such_command_here", match: `.`, status: 127},
	{name: "10 kB", command: `head -c 10000 /dev/zero | tr '\0' a`, output: strings.Repeat("a", 10_000) + "\n"},
	{name: "long command", command: "echo " + strings.Repeat(`'it is "long"  ' `, 300) + "; echo end", output: strings.TrimSuffix(strings.Repeat(`it is "long"   `, 300), " ") + "\nend\n"},
	{name: "forged marks", command: `printf '\033]6337;00112233445566778899aabbccddeeff\aone\030\033]6337;00112233445566778899aabbccddeeff;5\atwo\n'
printf '%s\n' '\033]6337;00112233445566778899aabbccddeeff;r\a' '\030\033]6337;00112233445566778899aabbccddeeff;0\a'`,
		output: "onetwo\n" + `\033]6337;00112233445566778899aabbccddeeff;r\a` + "\n" + `\030\033]6337;00112233445566778899aabbccddeeff;0\a` + "\n"},
	{name: "here-document", command: "cat <<E\none $((1+1))\n'q' \"r\" \\\\\nE\ncat <<'E'\n$two\n\ttab\nE\necho end", fish: "-", output: "one 2\n'q' \"r\" \\\n$two\n\ttab\nend\n"},
	{name: "3,000 lines", command: "seq 3000", output: seq(3000)},
	{name: "history", command: `echo hi! a!b !! !$ !1 "!x" ^a^b`, output: "hi! a!b !! !$ !1 !x ^a^b\n", fish: `echo hi! a!b !! !1 "!x" ^a^b`},
	{name: "pipe", command: "echo abc | tr a-c A-C | cat", output: "ABC\n"},
	{name: "unfinished CSI", command: `printf 'a\033[1;'`, output: "a\n"},
	{name: "unfinished OSC", command: `printf 'a\033]0;title'`, output: "a\n"},
	{name: "colors", command: `printf '\033[31mred\033[m \033[1mbold'`, output: "red bold\n"},
	{name: "cd", command: "cd /usr; pwd", output: "/usr\n", after: "pwd", afterwards: "{HOME}\n"},
	{name: "Dir", command: "pwd", dir: "/usr", output: "/usr\n", after: "pwd", afterwards: "{HOME}\n"},
	{name: "Dir ~", command: "pwd", dir: "~", output: "{HOME}\n"},
	{name: "Dir ~/", command: "pwd", dir: "~/it's a \\ $HOME", output: "{HOME}/it's a \\ $HOME\n"},
	{name: "Dir relative", command: "pwd", dir: "-dir", output: "{HOME}/-dir\n"},
	{name: "Dir missing", command: "echo no", dir: "/no such", match: `^[^\n]*no such[^\n]*\n$`, status: -1, after: "echo b", afterwards: "b\n"},
	{name: "wide characters", command: "echo '你好 é 🙂' ＡＢ", output: "你好 é 🙂 ＡＢ\n"},
	{name: "progress bar", command: `printf '10%%\r50%%\r100%%\n'; printf 'a\b\bc'`, output: "100%\nc\n"},
	{name: "exit", command: "echo a; exit 3", output: "a\n", status: 3, after: "echo b", afterwards: "b\n"},
	{name: "stderr", command: "echo a; echo b >&2; echo c", output: "a\nb\nc\n"},
	{name: "trailing backslash", command: `echo a\`, fish: "-", match: `^a\\?\n$`},
	{name: "blanks", command: "  echo a  ", output: "a\n"},
	{name: "comment", command: "echo a # b\n# c", output: "a\n"},
	{name: "only a comment", command: "# echo a"},
	{name: "bytes", command: "printf %s 'a\tb\x01\x03\x04\x15\x16\x1b[A\x7f\r\x11\x13\x1a' | od -An -v -tx1", output: " 61 09 62 01 03 04 15 16 1b 5b 41 7f 0d 11 13 1a\n"},
	{name: "exec", command: "exec sh -c 'echo a; exit 4'", output: "a\n", status: 4, after: "echo b", afterwards: "b\n"},
	{name: "exec true", command: "exec true"},
	{name: "errexit", command: "set -e; echo a; false; echo no", fish: "-", output: "a\n", status: 1, after: "echo b", afterwards: "b\n"},
	{name: "positional", command: `set -- a "b c"; echo $# "$2"`, fish: "-", output: "2 b c\n"},
	{name: "function", command: "greet you; hail all", fish: "-", sh: "-", output: "hi you\nhail all\n"},
	{name: "trap", command: "trap 'echo bye' EXIT; echo a", fish: "-", output: "a\nbye\n"},
	{name: "background", command: "sleep 100 & echo $! >pid; echo started", fish: "-", match: `^(\[1\] \d+\n)?started\n$`, after: "kill `cat pid`; rm pid; echo b", afterwards: "b\n"},
	{name: "terminal", command: "test -t 0 && test -t 1 && test -t 2 && echo yes", output: "yes\n"},
	{name: "loop", command: "for i in 1 2 3; do\n  echo $i\ndone", fish: "for i in 1 2 3\n  echo $i\nend", output: "1\n2\n3\n"},
	{name: "variables", command: `a='x  y'; echo "$a" "${b-none}"`, fish: "-", output: "x  y none\n", after: `echo "${a-none}"`, afterwards: "none\n"},
	{name: "input", command: `sh -c 'printf "name? "; read x; echo "got <$x>"'`, text: "name? ", keys: []string{"bob", "Enter"}, output: "name? bob\ngot <bob>\n"},
	{name: "read", command: `printf "name? "; read x; echo "got <$x>"`, fish: "-", text: "name? ", keys: []string{"bob", "Enter"}, output: "name? bob\ngot <bob>\n"},
	{name: "interrupt", command: "sh -c 'echo ready; exec sleep 100'", text: "ready", keys: []string{"C-c"}, match: `^ready\n(\^C\n?)?$`, status: 130, after: "echo b", afterwards: "b\n"},
	{name: "EOF", command: "echo ready; cat", text: "ready", keys: []string{"a", "Enter", "C-d"}, output: "ready\na\na\n"},
}

func seq(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

// A farPane has a shell behind a relay.
type farPane struct {
	*testing.T
	what   string // relay, shell, remote, set-up
	shell  farShell
	remote string
	setup  farSetup
	dir    string // readable for everyone
	srv    *tmux.Server
	runner shell.Runner
	asked  int // how often for something
	counts *farCounts
}

type farCounts struct {
	runs, wrong, refused atomic.Int64
	mu                   sync.Mutex
	why                  map[string]int
}

// newFarPane starts a shell, and returns when it shows its prompt.
func newFarPane(t *testing.T, r farRelay, sh farShell, remote string, setup farSetup, counts *farCounts) *farPane {
	t.Helper()
	p := &farPane{T: t, what: r.name + ", " + sh.name + " as " + remote + ", " + setup.name, shell: sh, remote: remote, setup: setup, counts: counts}
	if setup.name == "suggestions" {
		if _, err := os.Stat("/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh"); err != nil {
			testtool.Missing(t, "zsh-autosuggestions is not installed")
		}
	}
	testtool.Path(t, sh.name)
	var err error
	p.dir, err = os.MkdirTemp("", "far")
	ok(t, err)
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	home := p.home()
	for _, d := range []string{home, home + "/it's a \\ $HOME", home + "/-dir", p.dir + "/out"} {
		ok(t, os.Mkdir(d, 0o755))
		ok(t, os.Chmod(d, 0o777))
	}
	ok(t, os.Chmod(p.dir, 0o755))
	rc := farPlain(sh.name)
	for names, text := range setup.rc {
		if slices.Contains(strings.Fields(names), sh.name) {
			rc += text + "\n"
		}
	}
	for _, name := range []string{"rc", ".zshrc"} {
		ok(t, os.WriteFile(filepath.Join(p.dir, name), []byte(rc), 0o644))
	}
	if sh.name == "tcsh" {
		ok(t, os.WriteFile(filepath.Join(home, ".tcshrc"), []byte(rc), 0o644))
	}
	start := filepath.Join(p.dir, "start")
	line := sh.start
	if strings.Contains(line, "%s") {
		line = fmt.Sprintf(line, p.dir+"/rc")
	}
	ok(t, testtool.WriteProgram(start, []byte(fmt.Sprintf("#!/bin/sh\nunset TMUX TMUX_PANE LC_ALL\nexport HOME=%s ENV=%s ZDOTDIR=%s LANG=C.UTF-8 %s\ncd\nexec %s\n",
		home, p.dir+"/rc", p.dir, setup.env, line))))
	p.srv = testserver.New(t)
	testserver.Run(t, p.srv, "new-session", "-d", "-x", fmt.Sprint(cmp.Or(setup.width, 80)), "-y", "24", r.command(t, p.dir, start))
	endAll(t, p.srv)
	t.Cleanup(p.runner.Close)
	testserver.Wait(t, p.srv, "%0", "prompt", func() bool {
		return testserver.Run(t, p.srv, "display-message", "-p", "-t", "%0", "#{?pane_dead,,#{cursor_x}}") != "0"
	})
	return p
}

func (p *farPane) home() string { return filepath.Join(p.dir, "home") }

func (p *farPane) screen() string {
	out, err := p.srv.Do(testserver.Context(p.T), tmux.CapturePane{Target: p.srv.Pane("%0").ID, Print: true})
	if err != nil {
		return err.Error()
	}
	return strings.TrimRight(string(out[0]), "\n")
}

// ask types a line whose output goes to a file, and returns that once it ends as stated.
func (p *farPane) ask(line, end string) string {
	p.Helper()
	p.asked++
	file := filepath.Join(p.dir, "out", fmt.Sprint(p.asked))
	testserver.Run(p.T, p.srv, "send-keys", "-t", "%0", "-l", " "+line+" >"+file)
	testserver.Run(p.T, p.srv, "send-keys", "-t", "%0", "Enter")
	var text []byte
	testserver.Wait(p.T, p.srv, "%0", "answer to "+line+" ("+p.what+")", func() bool {
		text, _ = os.ReadFile(file)
		return strings.HasSuffix(string(text), end)
	})
	return string(text)
}

// terminal returns how the terminal is set while the shell runs a program.
func (p *farPane) terminal() string {
	p.Helper()
	return p.ask("/bin/stty -a", "echoke -flusho -extproc\n")
}

// run runs a command, and reports whether the output and the status are right.
func (p *farPane) run(c farCase, o shell.Options) bool {
	p.Helper()
	o.Remote = shell.Remote(p.remote)
	o.Dir, o.Limit = c.dir, farLimit
	if c.text != "" {
		var came strings.Builder
		typed := false
		o.Stdout = writer(func(text string) {
			if came.WriteString(text); !typed && strings.Contains(came.String(), c.text) {
				typed = true
				testserver.Run(p.T, p.srv, "send-keys", append([]string{"-t", "%0"}, c.keys...)...)
			}
		})
	}
	p.counts.runs.Add(1)
	res, err := p.runner.Run(testserver.Context(p.T), p.srv.Pane("%0"), c.command, o)
	if res == nil {
		var e *shell.Error
		if !errors.As(err, &e) {
			p.wrong(c, fmt.Sprint(err))
			return false
		}
		p.counts.refused.Add(1)
		p.counts.mu.Lock()
		p.counts.why[p.what+": "+e.Error()]++
		p.counts.mu.Unlock()
		p.Logf("refused: %s, %s: %v %q\n%s", p.what, c.name, err, e.Screen, p.screen())
		return false
	}
	output, want := res.Output, strings.ReplaceAll(c.output, "{HOME}", p.home())
	if p.setup.traced {
		output = traceLine.ReplaceAllString(output, "")
	}
	right := output == want
	if c.status == 130 && p.remote == "ksh" && res.Status == 2 {
		c.status = 2 // of a subshell that is interrupted
	}
	if c.match != "" {
		right = regexp.MustCompile(c.match).MatchString(output)
	}
	if !right || res.State != shell.Ended || res.Missed || res.Job != nil || res.Status != c.status && (c.status != -1 || res.Status == 0) {
		p.wrong(c, fmt.Sprintf("%.500q, state %s, status %d, missed %t, %v\nwant %.500q %s, status %d", output, res.State, res.Status, res.Missed, err, want, c.match, c.status))
		return false
	}
	return true
}

// farLimit is how long a command may take, or its screen is shown.
var farLimit = 30 * time.Second

var traceLine = regexp.MustCompile(`(?m)^\+.*\n`)

func (p *farPane) wrong(c farCase, what string) {
	p.Helper()
	p.counts.wrong.Add(1)
	p.Errorf("%s, %s:\n%s\n%s", p.what, c.name, what, p.screen())
}

// try runs a case, and what shows that the shell and the terminal are as before. It reports
// whether the pane can go on.
func (p *farPane) try(c farCase, terminal string) bool {
	p.Helper()
	if !p.run(c, shell.Options{}) {
		return false
	}
	if now := p.terminal(); now != terminal {
		p.wrong(c, "the terminal is now:\n"+now+"and was:\n"+terminal)
		return false
	}
	if screen := p.screen(); !p.setup.traced && strings.Contains(screen, "_mcp_size") {
		p.wrong(c, "what was sent to the loader is shown")
		return false
	}
	return c.after == "" || p.run(farCase{name: c.name + ", after", command: c.after, output: c.afterwards}, shell.Options{})
}

// cases returns those that a pane can run.
func (p *farPane) cases() (all []farCase) {
	avoid := p.setup.avoid
	for _, c := range farCases {
		switch {
		case p.remote == "fish" && c.fish == "-", p.remote == "sh" && c.sh == "-":
			continue
		case p.remote == "fish" && c.fish != "":
			c.command = c.fish
			c.output = strings.ReplaceAll(c.output, " !$", "")
		}
		switch {
		case p.remote != "sh" && avoid != "" && regexp.MustCompile(avoid).MatchString(c.command+" "+c.after), p.setup.traced && (c.text != "" || strings.ContainsAny(c.command, "\n\r|")):
			continue
		}
		all = append(all, c)
	}
	return all
}

func TestRemoteMatrix(t *testing.T) {
	t.Parallel()
	counts := &farCounts{why: map[string]int{}}
	relays := farRelays(t)
	n := 0
	add := func(r farRelay, sh farShell, remote string, setup farSetup, most int) {
		n++
		first := n * 7
		t.Run(strings.ReplaceAll(strings.Join([]string{r.name, sh.name, remote, setup.name}, "_"), " ", "-"), func(t *testing.T) {
			t.Parallel()
			p := newFarPane(t, r, sh, remote, setup, counts)
			terminal := p.terminal()
			cases := p.cases()
			for i := range min(most, len(cases)) {
				if c := cases[(first+i)%len(cases)]; !p.try(c, terminal) {
					return
				}
			}
		})
	}
	i := 0
	for _, sh := range farShells {
		for _, remote := range []string{sh.name, "sh"} {
			if remote == "tcsh" {
				continue
			}
			for _, setup := range farSetups {
				if !setup.has(sh.name) {
					continue
				}
				i++
				switch {
				case !testtool.Full && setup.name != farEveryday[(i/7)%len(farEveryday)]:
				case setup.name == "plain" && testtool.Full:
					for _, r := range relays {
						add(r, sh, remote, setup, 7)
					}
				default:
					add(relays[i%len(relays)], sh, remote, setup, testtool.Size(2, 4))
				}
			}
		}
	}
	t.Cleanup(func() { counts.report(t) })
}

var farEveryday = []string{"plain", "debug", "aliases", "vi"}

// has reports whether the set-up is for a shell.
func (s farSetup) has(name string) bool {
	for names := range s.rc {
		if slices.Contains(strings.Fields(names), name) {
			return true
		}
	}
	return false
}

// A lasting command leaves what it changes in the shell behind a relay, and nothing else.
func TestRemoteMatrixLasting(t *testing.T) {
	t.Parallel()
	counts := &farCounts{why: map[string]int{}}
	relays := farRelays(t)
	t.Cleanup(func() { counts.report(t) })
	n := 0
	for _, sh := range farShells {
		if sh.name == "fish" || sh.name == "tcsh" {
			continue
		}
		for _, name := range []string{"plain", "vi", "eu", "IFS", "allexport", "posix", "noclobber"} {
			setup := farSetups[slices.IndexFunc(farSetups, func(s farSetup) bool { return s.name == name })]
			if n++; !setup.has(sh.name) || !testtool.Full && name != "plain" {
				continue
			}
			r := relays[0]
			if testtool.Full {
				r = relays[n%len(relays)]
			}
			t.Run(r.name+"_"+sh.name+"_"+name, func(t *testing.T) {
				t.Parallel()
				p := newFarPane(t, r, sh, sh.name, setup, counts)
				state := func() string {
					return p.ask("(echo $-; set -o; trap; /bin/stty -a; echo end)", "end\n")
				}
				before := state()
				for _, c := range []farCase{
					{name: "change", command: `cd /usr; far_a='x  y'; far_f() { echo "f $1"; }; alias far_l='echo l'; export far_b=z`},
					{name: "changed", command: `pwd; echo "$far_a"; far_f 1; sh -c 'echo $far_b'`, output: "/usr\nx  y\nf 1\nz\n"},
					{name: "alias", command: "far_l 1", output: "l 1\n"},
					{name: "false", command: "false", status: 1},
					{name: "exit", command: "echo a; exit 3; echo b", output: "a\n", status: 3},
					{name: "interrupt", command: "sh -c 'echo ready; exec sleep 100'", text: "ready", keys: []string{"C-c"}, match: "(?s)^ready\n", status: 130},
					{name: "lasts", command: `echo "$far_a"`, output: "x  y\n"},
					{name: "restore", command: `unset far_a far_b; unset -f far_f; unalias far_l; cd ~`},
				} {
					switch {
					case c.name == "exit" && sh.name == "bash" && name == "posix":
						continue // no function can take its place there
					case c.name == "exit" && name == "eu" && slices.Contains([]string{"zsh", "ksh", "mksh"}, sh.name):
						continue // after it errexit is off
					}
					if !p.run(c, shell.Options{Lasting: true}) {
						return
					}
				}
				if now := state(); now != before {
					p.wrong(farCase{name: "state"}, "is now:\n"+now+"and was:\n"+before)
				}
				if left := p.ask("(set | grep -a '^_mcp' || :; echo end)", "end\n"); left != "end\n" {
					p.wrong(farCase{name: "variables"}, left)
				}
			})
		}
	}
}

// report shows how many runs there were. Few may be refused, as when the machine is busy.
func (n *farCounts) report(t *testing.T) {
	runs, refused := n.runs.Load(), n.refused.Load()
	t.Logf("%d runs: %d wrong, %d refused", runs, n.wrong.Load(), refused)
	for why, n := range n.why {
		t.Logf("refused %d times: %s", n, why)
	}
	if refused > 2+runs/50 {
		t.Errorf("%d of %d runs were refused", refused, runs)
	}
}
