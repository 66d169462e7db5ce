package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"tmuxmcp/tmux"
)

// A command reaches a shell as two files in a private directory: command, which
// is the command as it was given, and run, which runs it between two marks. What
// is typed is one short line that makes the shell read run. So a command may be
// of any length and have any quotes, lines and comments, and an error of syntax
// is an error and no prompt that waits for more.
//
// A shell of the POSIX family reads run itself, and runs the command in a
// subshell: its functions, aliases and options are there, and neither cd, export
// nor exit comes back. Another shell runs it as a script, by /bin/sh.
//
// Everything in run is built into the shell, for PATH may be anything. Traps keep
// an interrupt of the command from ending run before the second mark; they are
// those of a subshell, and the command does not get them. With errexit on, the
// shell must not see that the command failed. The marks are printed with
// standard error elsewhere, so that xtrace does not show them.

// dialect is how a shell is told to run something.
type dialect struct {
	// builtin is what stands before a builtin so that it is meant, whatever
	// functions and aliases there are; empty for shells outside the POSIX family.
	builtin string
	// record enters a line into the history.
	record string
	// edits is that it turns line editing on for its prompt, always.
	edits bool
}

var dialects = map[string]*dialect{
	"bash":  {builtin: `\builtin `, record: `history -s --`, edits: true},
	"zsh":   {builtin: `\builtin `, record: `print -rs --`, edits: true},
	"fish":  {edits: true},
	"dash":  {builtin: `\command `},
	"sh":    {builtin: `\command `},
	"ash":   {builtin: `\command `},
	"ksh":   {builtin: `\command `},
	"ksh93": {builtin: `\command `},
	"mksh":  {builtin: `\command `},
}

const dialectNames = "bash, zsh, fish, dash, sh, ksh"

// script is one command for one shell.
type script struct {
	dir   string
	token string // tells this command's marks from everything else
	// visible marks are lines of text, for when output can only be read off the
	// screen; others are sequences that a terminal ignores.
	visible bool
	// tries counts how often the line was typed in vain; run has another name
	// each time.
	tries int
}

func (s script) path(name string) string { return filepath.Join(s.dir, name) }

// runPath is the path of run.
func (s script) runPath() string {
	if s.tries == 0 {
		return s.path("run")
	}
	return s.path("run" + strconv.Itoa(s.tries))
}

// begin and end are the marks as they are printed, up to the exit status.
func (s script) begin() string {
	if s.visible {
		return "[" + s.token + "]\n"
	}
	return "\x1b]6337;" + s.token + "\a"
}

func (s script) end() string {
	if s.visible {
		return "\n[" + s.token + ":"
	}
	// CAN ends what binary output may have begun.
	return "\x18\x1b]6337;" + s.token + ";"
}

func (s script) endOfEnd() string {
	if s.visible {
		return "]\n"
	}
	return "\a"
}

// write makes the files. They are gone with the directory.
func (s script) write(d *dialect, shellPath, command string, record bool) error {
	if err := os.WriteFile(s.path("command"), []byte(command+"\n"), 0o600); err != nil {
		return err
	}
	return os.WriteFile(s.runPath(), []byte(s.run(d, shellPath, command, record)), 0o600)
}

// line is what is typed. The blank keeps it out of the histories that heed one,
// and before it whatever was typed is deleted.
func (s script) line(d *dialect) string {
	if d.builtin == "" {
		return killLine + " /bin/sh " + s.runPath() + "\r"
	}
	return killLine + " . " + s.runPath() + "\r"
}

const (
	killLine  = "\x15" // C-u
	interrupt = "\x03" // C-c
)

func (s script) run(d *dialect, shellPath, command string, record bool) string {
	posix, b := d.builtin != "", d.builtin
	if !posix {
		b = `\command `
	}
	// Before the command and after it. $1 is its status, $2 what the shell gets.
	begin := "{ " + b + "printf " + octal(s.begin()) + "; } 2>/dev/null; "
	end := func(status string) string {
		return "{ " + b + `set -- "$?" ` + status + "; " + b + "printf " + octal(s.end()+"%d"+s.endOfEnd()) + ` "$1"; ` +
			b + `printf %d "$1" >|` + s.path("status") + "; " + b + `exit "$2"; } 2>/dev/null`
	}
	show := "{ " + b + `printf '\033[2m+ %s\033[m\n' ` + quoteAll(shown(command)) + "; } 2>/dev/null; "
	traps := b + "trap : INT QUIT; "
	if !posix {
		return show + traps + begin + tmux.ShellQuote(shellPath) + " " + s.path("command") + "; " + end(`"$?"`) + "\n"
	}
	enter := ""
	if record && d.record != "" {
		enter = b + d.record + " " + tmux.ShellQuote(command) + " 2>/dev/null || :; "
	}
	// zsh would keep the traps in a subshell.
	run := b + "trap - INT QUIT; " + begin + b + ". " + s.path("command")
	return enter + "( " + show + traps + "case $- in *e*) " +
		b + "set +e; ( " + b + "set -e; " + run + " ); " + end("0") + ";; *) ( " + run + " ); " + end(`"$?"`) + ";; esac )\n"
}

// ours tells whether a line of output is about run, as xtrace prints it.
func (s script) ours(line string) bool {
	return strings.Contains(line, s.path("run")) || strings.HasSuffix(line, " . "+s.path("command"))
}

// octal quotes text for printf, with octal escapes for control characters.
func octal(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return "'" + b.String() + "'"
}

// shown is a command as the person who watches the pane gets to see it: the
// first lines, without control characters.
func shown(command string) []string {
	const most, longest = 5, 200
	lines := strings.Split(strings.TrimSpace(command), "\n")
	if len(lines) > most {
		lines = append(lines[:most:most], "…")
	}
	for i, l := range lines {
		l = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, l)
		if r := []rune(l); len(r) > longest {
			l = string(r[:longest]) + "…"
		}
		lines[i] = l
	}
	return lines
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = tmux.ShellQuote(w)
	}
	return strings.Join(quoted, " ")
}
