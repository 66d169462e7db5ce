package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tmuxmcp/internal/shellquote"
)

// dialect is how a shell runs a command.
type dialect struct {
	// builtin precedes a builtin so that it is used despite any functions and aliases;
	// empty for shells outside the POSIX family.
	builtin string
	// plain is what a subshell runs first, so that builtin itself works, and so that words
	// which cannot be quoted, such as case and {, are no aliases where a shell allows such;
	// restore gives the command its aliases again.
	plain, restore string
	// forget removes the typed line from the history, if it is there; record adds another.
	forget, record string
	// cd changes the directory without hooks; "cd" by default.
	cd string
	// interrupt is what an interrupt runs in what runs the command, so that it goes on; ":" by
	// default.
	interrupt string
	// printf is for a shell without this builtin: it is found whatever PATH is.
	printf string
	// interruptEnds is set for a shell that errexit ends when an interrupt has it drop what it runs.
	interruptEnds bool
	// guards keep exit from ending the shell; nil for fish.
	guards *guards
	// edits is set for a shell that always turns on line editing at its prompt.
	edits bool
	// gathers is set for a shell that reads a whole line from the terminal, but byte by
	// byte in its builtin read, in order not to read beyond the line.
	gathers bool
	// state is how else its line editor's terminal can be recognized.
	state editorState
	// probe is the result of [Foreground.Probe].
	probe string
}

// editorState is what a line editor sets besides reading every key without echo.
type editorState int

const (
	returnsStay    editorState = iota + 1 // a return is not read as a newline
	returnsSwapped                        // and a newline is read as a return
	noExtensions                          // no key quotes the next
	noSignals                             // no key interrupts, or returnsStay
)

const (
	// Only special builtins are found before functions, and in bash only in POSIX mode,
	// which an assignment turns on. (In ksh93, unsetting such a function leaves no command
	// at all: there the command does not begin.)
	plainPOSIX = `\unset -f command 2>/dev/null; `
	// bash and zsh take aliases for reserved words, too, but bash not in POSIX mode. So the first
	// line, which is read before anything can be done about that, consists of assignments.
	// POSIX mode, which ends in the second, turns on some options and leaves them on; BASHOPTS
	// is not up to date about these in a shell that was in POSIX mode before.
	plainBash = `_tmux_mcp_options=:$SHELLOPTS:${BASHOPTS-expand_aliases:sourcepath:interactive_comments}: POSIXLY_CORRECT=${POSIXLY_CORRECT-}` + "\n" +
		`{ \unset -f builtin; case $_tmux_mcp_options in *:posix:*) ;; *) \unset POSIXLY_CORRECT; \builtin \shopt -u expand_aliases; ` +
		`for _tmux_mcp_option in inherit_errexit sourcepath interactive_comments; do ` +
		`case $_tmux_mcp_options in *:"$_tmux_mcp_option":*) ;; *) \builtin \shopt -u "$_tmux_mcp_option" || \builtin \:;; esac; done;; esac; } 2>/dev/null` + "\n" +
		`\builtin \trap - ERR DEBUG; `
	restoreBash = `case $_tmux_mcp_options in *:posix:*) ;; *:expand_aliases:*) @shopt -s expand_aliases;; esac; @unset _tmux_mcp_option _tmux_mcp_options; `
	// A function that is disabled takes the place of any other.
	plainZsh = `_tmux_mcp_options=${options[aliases]-} options[aliases]=off dis_functions[builtin]=:` + "\n" +
		`\builtin \trap - ZERR DEBUG; `
	restoreZsh = `options[aliases]=$_tmux_mcp_options; @unset _tmux_mcp_options; `
)

var dialects = map[string]*dialect{
	"bash": {builtin: `\builtin \`, plain: plainBash, restore: restoreBash, forget: `history -p x`, record: `history -s --`, edits: true, state: returnsStay,
		guards: namedExit.with(`@test "${BASH_SUBSHELL-0}" != 0`)},
	"zsh": {builtin: `\builtin \`, plain: plainZsh, restore: restoreZsh, record: `print \-rs \--`, edits: true, state: returnsSwapped, cd: "cd -q", interruptEnds: true,
		guards: namedExit.with(`@test "${ZSH_SUBSHELL-0}" != 0`)},
	"fish":  {edits: true, state: noExtensions, probe: "sSS"},
	"dash":  {builtin: `\command \`, plain: plainPOSIX, gathers: true, guards: aliasedExit.with(processDiffers)},
	"sh":    {builtin: `\command \`, plain: plainPOSIX, gathers: true, state: noSignals, guards: aliasedExit.with(processDiffers)},
	"ash":   {builtin: `\command \`, plain: plainPOSIX, gathers: true, state: noSignals, guards: aliasedExit.with(processDiffers)},
	"ksh":   {builtin: `\command \`, plain: plainPOSIX + `\command \trap - ERR; `, state: returnsStay, interruptEnds: true, guards: aliasedExit.with(ksh93Subshell)},
	"ksh93": {builtin: `\command \`, plain: plainPOSIX + `\command \trap - ERR; `, state: returnsStay, interruptEnds: true, guards: aliasedExit.with(ksh93Subshell)},
	"mksh": {builtin: `\command \`, plain: plainPOSIX + `\command \trap - ERR; `, state: returnsStay, interruptEnds: true, guards: aliasedExit.with(`@test "$BASHPID" != "$$"`),
		printf: `\command -p \printf`,
		// Once a user has interrupted something in mksh R59, $? is after a trap the trap's own status.
		interrupt: `'(\exit $?)'`},
}

// Shells names the shells that a [Command] can be typed into.
const Shells = "bash, zsh, fish, dash, sh, ksh, mksh, busybox sh"

// ShellNames returns the names of the programs that are shells, apart from busybox.
func ShellNames() []string { return slices.Sorted(maps.Keys(dialects)) }

// script is one command for one shell.
type script struct {
	dir   string
	Token string // makes its marks unique
	// OnScreen is set if the output can only be read off the screen. Then the marks are
	// lines of text; otherwise they are sequences that a terminal ignores.
	OnScreen bool `json:"Visible"`
}

func (s script) path(name string) string { return filepath.Join(s.dir, name) }

const aliasPrefix = "a"

// alias returns a name for the directory that differs from its own, and does not reveal it.
func (s script) alias() string {
	sum := sha256.Sum256([]byte(filepath.Base(s.dir)))
	return filepath.Join(filepath.Dir(s.dir), aliasPrefix+hex.EncodeToString(sum[:8]))
}

// begin and end return the marks as printed, up to the exit status.
func (s script) begin() string {
	if s.OnScreen {
		return "[" + s.Token + "]\n"
	}
	return "\x1b]6337;" + s.Token + "\a"
}

func (s script) end() string {
	if s.OnScreen {
		return "\n[" + s.Token + ":"
	}
	// CAN ends any sequence that binary output may have begun.
	return "\x18\x1b]6337;" + s.Token + ";"
}

func (s script) endOfEnd() string {
	if s.OnScreen {
		return "]\n"
	}
	return "\a"
}

// Way is how a command runs.
type Way struct {
	// Dir is the directory in which it runs; the shell's by default.
	Dir string
	// Lasting is set if it runs in the shell itself.
	Lasting bool
	// Record is set if it is added to the history of a shell that has one.
	Record bool
	// Remote is the shell that runs it, of [RemoteShells], if that cannot read our files; else "".
	Remote string
}

// write writes the files that a shell reads.
func (s script) write(f Foreground, command string, way Way) error {
	d := f.shell
	files := map[string]string{"command": command + "\n"}
	switch {
	case way.Lasting:
		files["run"], files["end"], files["ask"] = s.lasting(d, command, way.Record, f.freeDescriptor(command))
		files["held"] = ""
		if d.builtin == "" {
			files["left"] = s.fill(s.leave(), dialects["sh"])
		}
	default:
		files["run"] = s.run(d, f.path, command, way, false)
		if d.builtin != "" {
			files["body"] = s.run(d, f.path, command, way, true)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// reads returns the line to type to make the shell read a file. A quoted word is no alias and no
// abbreviation. (A function named . is found first in bash, outside POSIX mode, and in zsh. If it
// does not read the file, the command does not begin. With builtin in front, that would be so
// for a function named builtin, and there is no word for which it is not.)
func (f Foreground) reads(path string) string {
	if f.shell.builtin == "" {
		return f.emptyLine() + " builtin source " + path + "\r"
	}
	return f.emptyLine() + ` \. ` + path + "\r"
}

// emptyLine returns what to type to delete whatever is on the line. The first S is a
// letter, or ends a prefix, an operator or a quoting that waits for a key; the second is a
// letter or, in vi's command mode, replaces the line. Then the cursor goes to the end of
// the line, in shells with a key for it, and everything to its left is deleted.
func (f Foreground) emptyLine() string {
	switch {
	case f.editing:
		return "SS\x05\x15" // S S C-e C-u
	case f.kill != 0: // the terminal edits the line
		return "S" + string(f.kill)
	}
	return ""
}

// Probe returns letters to type into the line of a shell whose prompt stays where it is at
// an interrupt, "" for other shells. Whatever mode edits the line, the last letter is then
// in front of the cursor: the first ends a selection or what waits for a key, and the
// second replaces the line in vi's command mode.
func (f Foreground) Probe() string { return f.shell.probe }

// In the texts that a shell reads, @ is what makes a builtin of a word (see dialect), and words
// in capitals stand for what is inserted last: see fill.

// readProcess reads which process it is that runs this, and noteProcess writes that down.
const (
	readProcess = `{ IFS= @read -r _tmux_mcp_process <OWN; } 2>/dev/null; `
	noteProcess = `{ @printf %s "$_tmux_mcp_process" >|DIR/process; @unset _tmux_mcp_process; } 2>/dev/null; `
)

// printed prints what follows printf to the terminal, or to standard output if that is a pipe,
// in which it must stay behind the output.
func printed(words string) string {
	return "if @test -p /dev/stdout; then @printf " + words + "; else @printf " + words + " >|/dev/tty; fi"
}

// leave ends the recorder if no server is waiting, which would do so: while one is, the file
// run exists.
func (s script) leave() string {
	if ownProcess == "" || s.OnScreen {
		return ""
	}
	return `if @test -e DIR/run && @kill -s 0 SERVER; then @:; ` +
		`elif IFS= @read -r _tmux_mcp_process <DIR/recorder && @test "/proc/$_tmux_mcp_process/cwd" -ef DIR; ` +
		`then @kill -s USR1 "$_tmux_mcp_process"; fi; `
}

// enter returns what the shell itself runs before a command: it changes the history. Errexit
// must not end the shell, so after what may fail comes what certainly succeeds, whatever names
// mean.
func (d *dialect) enter(command string, record bool) (text string) {
	const succeed = " || ((1));"
	if d.forget != "" {
		text = d.builtin + d.forget + " >/dev/null 2>&1" + succeed
	}
	if record && d.record != "" {
		text += " " + d.builtin + d.record + " " + shellquote.Word(command) + " 2>/dev/null" + succeed
	}
	return text
}

// run returns what a shell reads to run a command in a subshell: the file run, one line, and,
// in the POSIX family, body, so that a shell that names its job shows no more than that line.
func (s script) run(d *dialect, shellPath, command string, way Way, body bool) string {
	posix, by := d.builtin != "", d
	if !posix {
		by = dialects["sh"]
	}
	// Only with noclobber does the redirection fail if the file exists.
	claim := `{ case $- in *C*) @: >DIR/begun;; *) @set -C && @: >DIR/begun && @set +C;; esac; } 2>/dev/null || @exit; `
	// zsh would keep the traps in a subshell. By the time that the process is noted, an
	// interrupt ends the command, and not what runs it.
	start := `@trap - INT QUIT; `
	// $1 is the status, and $2 what the shell gets.
	end := printed("END STATUS") + `; @printf %d STATUS 1<>DIR/status; ` + s.leave() + `@exit "$2"; } 2>/dev/null`
	if ownProcess != "" {
		claim += readProcess
		start += noteProcess
	}
	claim += `{ @printf '\033[2m+ %s\033[m\n' SHOWN; } 2>/dev/null; @trap INTERRUPT INT QUIT; `
	if d.restore != "" {
		start += `{ ` + d.restore + `} 2>/dev/null; `
	}
	start += `{ ` + printed("BEGIN") + `; } 2>/dev/null; `
	if way.Dir != "" {
		start += `@` + cmp.Or(d.cd, "cd") + ` WHERE || @exit; `
	}
	text := `ENTER ( \. DIR/body )`
	switch {
	case body:
		text = `PLAIN ` + claim + `case $- in *e*) @set +e; ( @set -e; ` + start + `@. DIR/command ); { @set -- "$?" 0; ` + end +
			`;; *) ( ` + start + `@. DIR/command ); { @set -- "$?" "$?"; ` + end + `;; esac`
	case !posix:
		text = claim + `( ` + start + `@exec SHELL ALIAS/command ); { @set -- "$?" "$?"; ` + end
	}
	return s.fill(text, by, "PLAIN", d.plain, "STATUS", `"$1"`, "SHELL", shellquote.Word(shellPath), "WHERE", shellquote.Word(way.Dir),
		"ENTER", d.enter(command, way.Record), "SHOWN", quoteAll(shown(command)))
}

// fill inserts what the words in a text stand for to a shell, in one pass: what is inserted may
// contain such words.
func (s script) fill(text string, by *dialect, words ...string) string {
	words = append(words, "INTERRUPT", cmp.Or(by.interrupt, ":"), "@printf", cmp.Or(by.printf, by.builtin+"printf"), "@", by.builtin, "DIR", s.dir, "ALIAS", s.alias(), "OWN", ownProcess, "SERVER", strconv.Itoa(os.Getpid()),
		"BEGIN", octal(s.begin()), "END", octal(s.end()+"%d"+s.endOfEnd()))
	return strings.TrimSpace(strings.NewReplacer(words...).Replace(text)) + "\n"
}

// ours reports whether a line of output is about one of our files, as printed by xtrace. In ksh93
// an error of the command begins with their names and line numbers.
func (s script) ours(line string) bool {
	return slices.ContainsFunc([]string{"run", "body", "end", "ask"}, func(name string) bool {
		_, after, is := strings.Cut(line, s.path(name))
		return is && !strings.HasPrefix(after, "[")
	}) || strings.HasSuffix(line, " . "+s.path("command"))
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

// shown returns the first lines of a command, without control characters, as the pane shows
// it to a watching user.
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

// Shows returns the lines of ours that are on the screen when the command begins: the first
// ends in what is typed, and the others are the command.
func (s script) Shows(command string) []string {
	lines := []string{s.path("run")}
	for _, line := range shown(command) {
		lines = append(lines, strings.TrimRight("+ "+line, " "))
	}
	return lines
}

func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellquote.Word(w)
	}
	return strings.Join(quoted, " ")
}

// Between returns the lines of a screen between the visible marks, and which of the marks
// are there. Without the first mark it begins at the top; without the second, it ends at
// the bottom.
func (s script) Between(screen []string) (lines []string, begun, ended bool) {
	begin := strings.TrimSpace(s.begin())
	end := strings.TrimSpace(s.end())
	from, to := 0, len(screen)
	for i, l := range screen {
		if l == begin {
			from, begun = i+1, true
		} else if strings.HasPrefix(l, end) {
			to, ended = i, true
		}
	}
	lines = screen[min(from, to):to]
	// The second mark begins with a newline, which is an empty line if the output ended
	// with one.
	if n := len(lines); ended && n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return slices.DeleteFunc(slices.Clone(lines), s.ours), begun, ended
}
