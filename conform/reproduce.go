package conform

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/report"
)

// step is a command of a script as it ran, in the words of a shell.
type step struct {
	// Line is where it stands in the script's file.
	Line int `json:"line"`
	// Do is the function or command of the shell, and Words are quoted for it.
	Do    string   `json:"do"`
	Words []string `json:"words"`
	// Until is what the command printed when the script went on, which had waited for
	// it; quoted too.
	Until *string `json:"until,omitempty"`
}

// The functions of a reproducer, and a comment.
const (
	doTmux    = "run"
	doControl = "control"
	doAttach  = "attach"
	doType    = "type_into"
	doSave    = "save"
	doProgram = "program"
	doNothing = "#"
)

// maxSteps is the most that is recorded of a script.
const maxSteps = 1000

// note records a step of the line that runs.
func (s *script) note(ts *testscript.TestScript, do string, words []string) *step {
	if len(s.steps) == maxSteps {
		return &step{}
	}
	st := step{Line: s.now.number, Do: do}
	for _, w := range words {
		st.Words = append(st.Words, s.shellWord(ts, w, func(name string) bool {
			return strings.Contains(s.now.text, "$"+name) || strings.Contains(s.now.text, "${"+name)
		}))
	}
	s.steps = append(s.steps, st)
	return &s.steps[len(s.steps)-1]
}

// shellWord quotes a word for a shell. Where it has the value of a variable of the script
// that is used, it has the variable: the value may differ the next time.
func (s *script) shellWord(ts *testscript.TestScript, word string, used func(name string) bool) string {
	word = clipText(word) // it may have what a target printed
	type variable struct{ shell, value string }
	variables := []variable{{"$d/s", s.socket}, {"$PWD", ts.Getenv("WORK")}, {"$HOME", ts.Getenv("HOME")}}
	for _, name := range s.saved {
		if used(name) {
			variables = append(variables, variable{"${" + name + "}", ts.Getenv(name)})
		}
	}
	pieces := []string{word}
	for _, v := range variables {
		if v.value == "" {
			continue
		}
		var next []string
		for i, piece := range pieces {
			if i%2 == 1 {
				next = append(next, piece) // a variable
				continue
			}
			for j, text := range strings.Split(piece, v.value) {
				if j > 0 {
					next = append(next, v.shell)
				}
				next = append(next, text)
			}
		}
		pieces = next
	}
	var b strings.Builder
	for i, piece := range pieces {
		switch {
		case i%2 == 1:
			b.WriteString(`"` + piece + `"`)
		case piece != "" || len(pieces) == 1:
			b.WriteString(report.CommandLine([]string{piece}))
		}
	}
	return b.String()
}

// noteAction records a command of tmux, api or mcp.
func (s *script) noteAction(ts *testscript.TestScript, words []string) *step {
	switch words[0] {
	case "tmux":
		return s.note(ts, doTmux, words[1:])
	case "control":
		return s.note(ts, doControl, words[1:])
	}
	return s.note(ts, doNothing, words)
}

// reproducer is a shell script that does what the steps did with nothing but the
// target. cell is the outcome.
func (j *job) reproducer(cell *report.Cell, steps []step) string {
	var b strings.Builder
	outcome := string(cell.Status)
	if cell.Reason != "" {
		outcome += ": " + oneLine(cell.Reason)
	}
	comment := func(text string) {
		for line := range strings.Lines(report.Printable(text)) {
			b.WriteString("# " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	b.WriteString("#!/bin/sh\n")
	comment(fmt.Sprintf("%s (%s), layer %s, tmux %s", j.gap.Name, j.gap.Title, j.layer, j.target.Name))
	comment(outcome)
	comment("It needs nothing but that tmux. Another one is tried with: sh FILE PATH-OF-TMUX")
	program := report.CommandLine([]string{j.target.Path})
	b.WriteString("tmux=${1:-" + program + "}\n")
	// What stands before and behind the program, as a shell reads it.
	before, after := "", ""
	if len(j.target.Env) > 0 {
		before = "env " + report.CommandLine(j.target.Env) + " "
	}
	if len(j.target.Args) > 0 {
		after = " " + report.CommandLine(j.target.Args)
	}
	fmt.Fprintf(&b, "pre=%s post=%s\n", report.CommandLine([]string{before}), report.CommandLine([]string{after}))
	b.WriteString(reproducerHead)
	b.WriteString(reproducerFunctions)
	for _, f := range j.gap.archive.Files {
		if !slices.Contains(report.Layers(), report.Layer(f.Name)) && path.Base(f.Name) == f.Name {
			fmt.Fprintf(&b, "printf %%s %s >%s\n", report.CommandLine([]string{string(f.Data)}), report.CommandLine([]string{f.Name}))
		}
	}
	b.WriteString("\n")
	lines := strings.Split(string(j.gap.script(j.layer)), "\n")
	last := 0
	for _, st := range steps {
		for n := last + 1; n < st.Line; n++ {
			b.WriteString(setUp(lines[n-1]))
		}
		last = st.Line
		switch {
		case st.Do == doNothing:
			fmt.Fprintf(&b, "echo %s\n", report.CommandLine([]string{"# not tmux: " + strings.Join(st.Words, " ")}))
		case st.Until != nil:
			fmt.Fprintf(&b, "await %s %s\n", *st.Until, strings.Join(st.Words, " "))
		default:
			b.WriteString(strings.Join(append([]string{st.Do}, st.Words...), " ") + "\n")
		}
	}
	if e := cell.Last(); e.Command != "" {
		fmt.Fprintf(&b, "\ncat <<'EOF'\n\nmcp-conform ran\n%s\nwanted\n%s\nand saw\n%s\nEOF\n", heredoc(e.Command), heredoc(e.Expected), heredoc(e.Actual))
	}
	return b.String()
}

// heredoc is a text that can stand in a here-document: no line of it is its end.
func heredoc(text string) string {
	return "  " + strings.ReplaceAll(report.Printable(strings.TrimRight(text, "\n")), "\n", "\n  ")
}

// setUp is a line that testscript itself runs, for a shell.
func setUp(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 || !slices.Contains([]string{"mkdir", "cp", "mv", "rm", "chmod", "cd"}, words[0]) {
		return ""
	}
	for i, w := range words {
		if w == "stdout" || w == "stderr" {
			words[i] = `"$d/` + w + `"`
		}
	}
	return strings.Join(words, " ") + "\n"
}

const reproducerHead = `d=$(mktemp -d) || exit
mkdir "$d/home" "$d/w" && cd "$d/w" || exit
HOME=$d/home TMUX_TMPDIR=$d SHELL=/bin/sh ENV= PS1='$ ' TERM=screen LANG=C.UTF-8
export HOME TMUX_TMPDIR SHELL ENV PS1 TERM LANG
unset TMUX TMUX_PANE
`

const reproducerFunctions = `client() { eval "$pre\"\$tmux\"$post" '-u -S "$d/s" -f /dev/null "$@"'; }
terminal() { eval "$pre\"\$tmux\"$post" '-u -S "$d/o" -f /dev/null "$@"'; }
finish() {
	pids=$(for server in client terminal; do $server list-panes -a -F '#{pid} #{pane_pid}'; done) tries=0
	client kill-server; terminal kill-server
	set -f
	for pid in $pids; do
		while kill -0 "$pid" && [ $tries -lt 30 ]; do tries=$((tries + 1)); sleep 0.1; done
	done
	cd / && rm -rf "$d"
}
trap 'finish >/dev/null 2>&1' EXIT
trap 'exit 1' HUP INT TERM
shown() {
	cat "$d/stdout" "$d/stderr" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
	[ "$code" = 0 ] || echo "(exit status $code)"
}
quiet() { client "$@" >"$d/stdout" 2>"$d/stderr"; code=$?; }
run() { echo "\$ tmux $*"; quiet "$@"; shown; }
# await TEXT COMMAND… runs the command until it prints the text, for 5 seconds.
await() {
	text=$1 tries=0; shift
	while quiet "$@"; [ "$(cat "$d/stdout")" != "$text" ] && [ $tries -lt 50 ]; do
		tries=$((tries + 1)); sleep 0.1
	done
	echo "\$ tmux $*"; shown
}
program() { echo "\$ $*"; "$@" >"$d/stdout" 2>"$d/stderr"; code=$?; shown; }
save() { eval "$1=\$(cat \"\$d/stdout\")"; }
# control [-r] [-t TARGET] LINE… sends lines to a control client.
control() {
	flags=
	while case $1 in -t) flags="$flags -t $2"; shift ;; -*) flags="$flags $1" ;; *) false ;; esac; do shift; done
	echo "\$ tmux -C attach-session$flags"
	: >"$d/stdout"
	{ hear '%session-changed '; printf '%s\n' "$@" "display-message -p $end"; hear "$end\$"; echo; } |
		client -C attach-session $flags >"$d/stdout" 2>"$d/stderr"
	code=0; shown
}
end=end-of-these-lines
hear() {
	tries=0
	while ! grep -q "^$1" "$d/stdout" && [ $tries -lt 50 ]; do tries=$((tries + 1)); sleep 0.1; done
}
# attach NAME ARG… attaches a client in a pane of a second server, which is its terminal.
attach() {
	name=$1 mode= tries=0; shift
	[ "$1" != -C ] || { mode=-C; shift; }
	before=$(client list-clients -F '#{client_name}' 2>/dev/null)
	terminal new-session -d -s "$name" -x 80 -y 24 "exec $pre'$tmux'$post -u -S '$d/s' -f /dev/null $mode attach-session $*"
	while after=$(client list-clients -F '#{client_name}' 2>/dev/null); [ "$after" = "$before" ] && [ $tries -lt 50 ]; do
		tries=$((tries + 1)); sleep 0.1
	done
	eval "$name=\$(printf '%s\n' \"\$after\" | grep -vxF \"\${before:-.}\" | head -n 1)"
}
# type_into NAME HEX… types bytes into that terminal.
type_into() { name=$1; shift; terminal send-keys -t "$name" -H "$@"; }
`

// hexWords are the bytes of a text as send-keys -H takes them.
func hexWords(text string) []string {
	var words []string
	for _, c := range []byte(text) {
		words = append(words, strconv.FormatUint(uint64(c), 16))
	}
	return words
}
