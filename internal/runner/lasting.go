package runner

import (
	"strconv"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/shellquote"
)

// A lasting command runs in the shell itself, so that cd, export, functions and options
// stay. Without a subshell around it, three things differ:
//
//   - An interrupt, and some errors, make an interactive shell drop all that it was reading,
//     and with it the second mark. So the shell holds the file held open while it reads the file
//     run. If it does not, and has written no status, it has dropped the command. At its next
//     prompt $? is still the status of that, and the file ask has the shell report it.
//   - exit would end the shell. While the command runs, a function takes its place, which
//     reports the status and then has the shell drop the rest, by an interrupt of itself. In
//     bash and zsh it is named exit. The others look for special builtins before functions,
//     so there exit is an alias meanwhile, whose text still means exit in the functions that the
//     command has defined. A function that was defined there before does end the shell. What the
//     command itself makes of this name does not last.
//   - errexit would end the shell too. So it is off while the command runs, and if a file that it
//     reads has turned it on, it is turned off again. Some shells it would end at the interrupt after
//     an exit: there it stays off.
//
// In fish exit ends only the file that is being read, and there is no errexit.

// guards keeps a shell from ending at an exit.
type guards struct {
	// on and off turn it on and off; BODY in on is what to do instead of exiting. inside is a
	// condition that is true in a subshell, which may exit.
	on, off, inside string
	// read reads a file.
	read string
}

var (
	namedExit = guards{
		// In the POSIX mode of bash, exit can be no function.
		on: `case :${SHELLOPTS-}: in *:posix:*) ;; *) @typeset -f exit >/dev/null 2>&1 && _tmux_mcp_exit=$(@typeset -f exit); function exit { BODY; };; esac; `,
		// The function may have been the user's own.
		off:  `@unset -f exit; @test -z "${_tmux_mcp_exit-}" || @eval "$_tmux_mcp_exit"; @unset -v _tmux_mcp_exit; `,
		read: `\builtin \.`,
	}
	aliasedExit = guards{
		on: `@alias exit >/dev/null 2>&1 && _tmux_mcp_alias=$(@alias exit); _tmux_mcp_exit() { BODY; }; ` +
			`_tmux_mcp_exit=_tmux_mcp_exit; @alias 'exit="${_tmux_mcp_exit-exit}"'; `, // quoted for whatever IFS is
		off: `@unset -f _tmux_mcp_exit; @unset -v _tmux_mcp_exit; @unalias exit; ` +
			`@test -z "${_tmux_mcp_alias-}" || @eval "\\alias ${_tmux_mcp_alias#alias }"; @unset -v _tmux_mcp_alias; `,
		read: `\.`, // a special builtin; behind command, positional parameters do not last in mksh
	}
)

// descriptors are the file descriptors that all shells can redirect, those that scripts use
// least first. They use the last one for locks: see flock(1).
const descriptors = "8765439"

// freeDescriptor returns a descriptor that neither the shell uses nor the command redirects.
// Otherwise the shell would no longer hold its file, as if it had dropped the command, and an exit
// would end it.
func (f Foreground) freeDescriptor(command string) int {
	free := ""
	for _, d := range descriptors {
		if n := string(d); !f.uses(int(d - '0')) {
			free += n
			if !strings.Contains(command, n+"<") && !strings.Contains(command, n+">") {
				return int(d - '0')
			}
		}
	}
	return int((free + descriptors)[0] - '0')
}

// with returns guards with the condition that holds in a subshell.
func (g guards) with(inside string) *guards {
	g.inside = inside
	return &g
}

// ksh93Subshell holds in a subshell of ksh93, which need not be a process, and of mksh under
// the same name.
const ksh93Subshell = `{ @test "${BASHPID-$$}" != "$$" || @eval '@test "${.sh.subshell}" != 0'; }`

// processDiffers holds in a subshell of a shell that does not say so: it is another process.
const processDiffers = `{ { IFS=' ' @read -r _tmux_mcp_process _tmux_mcp_rest </proc/self/stat; } 2>/dev/null; @test "$_tmux_mcp_process" != "$$"; }`

var setsErrexit = lazy.Regexp(`(?m)(?:^|[;&|({]|\b(?:then|do|else)\b)\s*(?:(?:builtin|command)\s+)?(?:set(?:\s+[-+]?\w+)*?\s+-(?:o\s+errexit|\w*e\w*)|setopt(?:\s+\w+)*?\s+(?i:err_?exit))(?:[\s;&|)}]|$)`)

// EndsIn reports whether a lasting command that turns on errexit itself would end the shell, at
// the first failure.
func (f Foreground) EndsIn(command string) bool {
	return f.shell.builtin != "" && SetsErrexit(command)
}

// SetsErrexit reports whether a command turns on errexit itself.
func SetsErrexit(command string) bool { return setsErrexit().MatchString(command) }

// noErrexit is what a command prints that has turned on errexit.
const noErrexit = "tmux-mcp: errexit (set -e) is off again: it would end this shell at the first failure"

// lasting returns the files of a command that runs in the shell itself: run and end, which ask
// reads.
func (s script) lasting(d *dialect, command string, record bool, descriptor int) (run, end, ask string) {
	if d.builtin == "" {
		run, end = s.lastingFish(command, descriptor)
		ask = "set -l _tmux_mcp_asked $status\ntest $_tmux_mcp_asked != 0; and builtin source " + s.path("end") + "\n"
		return run, end, ask
	}
	body := `{ @set -- "${1-$?}"; if ` + d.guards.inside + ` || ! @test /dev/fd/FD -ef DIR/held; then ` + d.guards.off + `\exit "$1"; fi; ` +
		// The shell itself knows what its exit makes of other arguments.
		`case $1 in ''|0?*|????*|*[!0-9]*) ( @exit "$1" ) >/dev/null && @:; _tmux_mcp_status=$?;; *) _tmux_mcp_status=$(( $1 & 255 ));; esac; KEEPOFFREAD DIR/end; @trap - INT; @kill -s INT "$$"; } 2>/dev/null`
	keepOff := ""
	if d.interruptEnds {
		keepOff = `_tmux_mcp_flags=; `
	}
	run = `ENTER{ ( @set -C; @: >DIR/begun ) 2>/dev/null && {
{ `
	if ownProcess != "" {
		run += readProcess + noteProcess
	}
	run += `@printf '\033[2m+ %s\033[m\n' SHOWN; @test -z "${_tmux_mcp_flags-}" || { ` + d.guards.off + `}; @unset -v _tmux_mcp_status; ` +
		`_tmux_mcp_flags=-$-; @set +e; ` + strings.Replace(d.guards.on, "BODY", body, 1) + printed("BEGIN") + `; } 2>/dev/null
READ DIR/command
READ DIR/end
}; } FD<DIR/held`
	end = `{ _tmux_mcp_status=${_tmux_mcp_status-$?}; ` +
		`case $- in *e*) @set +e; ` + printed(shellquote.Word(noErrexit+`\n`)) + `;; esac; ` +
		d.guards.off + printed("END STATUS") + `; @printf %d STATUS 1<>DIR/status; ` + s.leave() +
		`case ${_tmux_mcp_flags-} in *e*) @set -e; _tmux_mcp_status=0;; esac; ` +
		`@eval "@unset -v _tmux_mcp_status _tmux_mcp_flags _tmux_mcp_process _tmux_mcp_rest; \\return $_tmux_mcp_status"; } 2>/dev/null`
	words := []string{"KEEPOFF", keepOff, "READ", d.guards.read, "FD", strconv.Itoa(descriptor), "STATUS", `"$_tmux_mcp_status"`, "ENTER", d.enter(command, record), "SHOWN", quoteAll(shown(command))}
	ask = `_tmux_mcp_status=$?; case $_tmux_mcp_status in 0) @unset -v _tmux_mcp_status;; *) READ DIR/end;; esac`
	return s.fill(run, d, words...), s.fill(end, d, words...), s.fill(ask, d, words...)
}

// lastingFish returns these files for fish, whose marks go to the terminal, as its own output
// cannot be redirected.
func (s script) lastingFish(command string, descriptor int) (run, end string) {
	shown := shown(command)
	for i, line := range shown {
		shown[i] = fishQuote(line)
	}
	run = `begin
if builtin printf '' >?DIR/begun
`
	if ownProcess != "" {
		run += `builtin read -l _tmux_mcp_process <OWN; and builtin printf %s "$_tmux_mcp_process" >DIR/process
`
	}
	run += `builtin printf '\033[2m+ %s\033[m\n' SHOWN
builtin printf BEGIN >/dev/tty
builtin source DIR/command
builtin source DIR/end
end
end FD<DIR/held
`
	end = `set -l _tmux_mcp_status $status
set -q _tmux_mcp_asked; and set _tmux_mcp_status $_tmux_mcp_asked
builtin printf END STATUS >/dev/tty
builtin printf %d STATUS >DIR/status
`
	if ownProcess != "" && !s.OnScreen {
		end += "builtin test -e DIR/run; or /bin/sh <DIR/left\n"
	}
	end += "return STATUS\n"
	fill := strings.NewReplacer("STATUS", `$_tmux_mcp_status`, "FD", strconv.Itoa(descriptor), "DIR", s.dir, "OWN", ownProcess,
		"BEGIN", octal(s.begin()), "END", octal(s.end()+"%d"+s.endOfEnd()), "SHOWN", strings.Join(shown, " "))
	return fill.Replace(run), fill.Replace(end)
}

func fishQuote(word string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(word) + "'"
}

// AskLine returns the line to type at the prompt of a shell that has dropped a lasting command,
// to report the status that it has kept. It does nothing if that is 0, which must be the status of
// another line.
func (j *Job) AskLine(f Foreground) string { return f.reads(j.path("ask")) }

// ShowsAsk returns the lines that [Command.AskLine] makes appear.
func (j *Job) ShowsAsk() []string { return []string{j.path("ask")} }

// Abandoned reports whether the shell has dropped a lasting command, by an interrupt or an error,
// and lives on.
func (j *Job) Abandoned() bool {
	if !j.Lasting {
		return false
	}
	there, known := j.process()
	if !known || !there || j.holds() {
		return false
	}
	_, open := j.written() // it is, while the file is held open
	return open
}
