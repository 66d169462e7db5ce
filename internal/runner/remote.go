package runner

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/shellquote"
)

// A remote command runs in a shell that cannot read files of this program: behind ssh, in a
// container, or as another user. All that leads to it is its terminal, so the command is typed,
// and what reads it must first prove to be a shell:
//
//  1. The loader is typed, and entered once the pane shows all of it. By itself it does nothing:
//     it turns off the echo, prints an answer, and reads a line. The answer has an escape
//     character, of which what is typed has only the name, and the token in another place: no echo
//     is an answer, nor what a shell's hook prints of the line with its escapes replaced.
//  2. Then comes the gatherer, and to it the command, in pieces. It prints itself and each piece as
//     they came, before the next is sent.
//  3. The start says how long the pieces were. Only now does anything run, once.
//
// Every line after the loader ends in a parenthesis that nothing has opened. Should another shell
// get it, or the end of it, as when the connection ends while it is on its way, that is an error
// before anything runs.
//
// Any other line ends the loader, and so do five seconds without one: a busy shell reads what was
// typed later, when nobody waits for the answer. The terminal counts them, since not every shell
// can, and those count them that do not wait in a read. Until the start no key makes a signal,
// which would end the loader with the echo turned off.
//
// What follows the loader begins with a token or a sign: it is no command to other programs.

// remoteShells are the shells that a remote command can be for, and their dialects.
var remoteShells = map[string]string{
	"sh": "sh", "bash": "bash", "zsh": "zsh", "ksh": "ksh", "mksh": "mksh", "dash": "dash", "busybox": "ash", "fish": "fish",
}

// RemoteShells names them.
const RemoteShells = "sh, bash, zsh, ksh, mksh, dash, busybox, fish"

// IsRemoteShell reports whether a remote command can be for a shell of this name.
func IsRemoteShell(name string) bool { return remoteShells[name] != "" }

// How the terminal is set while the loader reads, where a read ends after five seconds, and when
// the command runs.
const (
	loading = "-echo -icanon -isig min 0 time 50"
	loaded  = "echo icanon isig min 1 time 0"
)

const (
	// mostPiece is how many bytes a piece has. A terminal may keep no more than 1,024 of a line.
	mostPiece = 900
	// mostFish is how many bytes a command for fish has, as it is one argument.
	mostFish = 120_000
)

// What is answered besides what was sent.
const (
	AnswerLoader = "r" // the loader reads
	AnswerBegun  = "b" // the command has begun; not printed, but made of the first mark
	AnswerEnded  = "e" // the gatherer has ended, and nothing has run
)

// lineEnd ends each line after the loader.
const lineEnd = ")"

// EndLoader is the line that ends the loader.
const EndLoader = ""

// EmptyLine is what empties a line that was typed and not entered.
const EmptyLine = "\x15" // C-u

// remoteTraps keep a shell from running the user's traps, which would print something.
var remoteTraps = map[string]string{
	"bash": `\trap - ERR DEBUG;`,
	"zsh":  `\trap - ZERR DEBUG;`,
	"ksh":  `\command \trap - ERR;\command \trap - DEBUG 2>/dev/null;`,
	"mksh": `\command \trap - ERR;`,
}

// Remote is a command as it is sent to a remote shell.
type Remote struct {
	script
	shell   string
	lasting bool // the shell itself runs it
	pieces  []string
	size    int // of all pieces
}

// writeRemote writes the files of a remote command. The shell reads none of them, but who looks
// for jobs does.
func (c *Command) writeRemote(leads Foreground, command string) error {
	process, err := leads.stat()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"command": command + "\n", "process": process, "run": "", "remote": ""} {
		if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Claim has a remote command count as begun, unless it was revoked: it is about to be started.
func (c *Command) Claim() error {
	f, err := os.OpenFile(c.path("begun"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	return err
}

// Unclaim takes that back: the command was not started.
func (c *Command) Unclaim() { os.Remove(c.path("begun")) }

// Send returns a remote command as it is sent.
func (c *Command) Send(command string) (*Remote, error) {
	if c.way.Remote == "fish" && len(command) > mostFish {
		return nil, fmt.Errorf("a command for fish has %d bytes, and behind another program at most %d", len(command), mostFish)
	}
	command = strings.ReplaceAll(command, "\r\n", "\n")
	r := &Remote{script: c.script, shell: c.way.Remote, lasting: c.way.Lasting}
	for text := r.program(command, c.way.Dir); text != ""; {
		var piece string
		piece, text = nextPiece(text)
		r.pieces = append(r.pieces, piece)
		r.size += len(piece)
	}
	return r, nil
}

// fresh reports whether a new /bin/sh runs the loader, and not the shell itself: fish cannot, and
// of what is only called sh nothing else is known.
func (r *Remote) fresh() bool { return r.shell == "sh" || r.shell == "fish" }

// Loader returns what is typed at the prompt, without its end. Its words are in quotes where they
// might be aliases. The blank keeps it out of histories that support this, and bash forgets it.
func (r *Remote) Loader() string {
	text := `@stty ` + loading + `&&{ @printf "\033]6337;%s;` + AnswerLoader + `\a" TOKEN;` + r.readLine("@read") + `&&` +
		`case $_mcp in TOKEN*")")_mcp=${_mcp%?};@eval "${_mcp#* }";;esac;@stty ` + loaded + `;};@:`
	text = strings.ReplaceAll(text, "TOKEN", r.Token)
	if r.fresh() {
		return ` /bin/sh -c '` + strings.ReplaceAll(text, "@", "") + `'`
	}
	switch {
	case r.lasting:
		text = `{ ` + text + `;}`
	case r.shell == "zsh": // with posix_jobs, a subshell would give the terminal to each program and not take it back
		text = `(@set +m;` + text + `)`
	default:
		text = `(` + text + `)`
	}
	if r.shell == "bash" {
		text = `@history -p x>/dev/null||@:;` + text
	}
	return " " + marked().ReplaceAllString(text, `"$1"`)
}

// readLine returns what reads a line into _mcp. ksh93 and busybox wait for input without reading,
// so the terminal's time does not end that, but theirs does; and from its standard input ksh93 would
// read by its line editor, with an echo. Which shell /bin/sh is, is not known.
func (r *Remote) readLine(read string) string {
	switch {
	case r.fresh():
		return `_mcp=$(head -n 1)`
	case r.shell == "ksh":
		return `IFS= ` + read + ` -r -t 5 _mcp</dev/tty`
	case r.shell == "busybox":
		return `IFS= ` + read + ` -r -t 5 _mcp`
	}
	return `IFS= ` + read + ` -r _mcp`
}

// Typed returns what is typed before it is entered: first the line is emptied, as far as it is left
// of the cursor, since at the end of one that somebody has begun the loader would be an argument. A
// letter shows whether that works: if it stays, the loader is not behind a prompt.
func (r *Remote) Typed() string { return "x" + EmptyLine + r.Loader() }

// Scrolls reports whether the shell may scroll a long line sideways.
func (r *Remote) Scrolls() bool { return r.shell == "ksh" || r.shell == "mksh" || r.shell == "sh" }

// marked matches a word that might be an alias.
var marked = lazy.Regexp(`@(\w+|:)`)

// Gatherer returns the first line for the loader, and the answer: that line as it came. The shell's options must neither show nor end
// what it does; they hold for the command again.
func (r *Remote) Gatherer() (line, answer string) {
	text := `_mcp_flags=$-;\set +OFF;TRAPS_mcp_text= _mcp_size=0;ANSWER "$_mcp";` +
		`while ` + r.readLine(`\read`) + `||_mcp=;do case "$_mcp" in ` +
		`+*")")_mcp=${_mcp#?};_mcp=${_mcp%?};_mcp_size=$((_mcp_size+${#_mcp}));_mcp_more=$(PRINTF %b. "$_mcp");_mcp_text=$_mcp_text${_mcp_more%.};ANSWER "$_mcp";;` +
		`"=$_mcp_size)")\break;;*)_mcp_text=;\break;;esac;done;\eval "$_mcp_text";ANSWER ` + AnswerEnded
	if r.lasting { // what the command leaves
		text += `;case ${_mcp_flags-} in *a*)\set -a;;esac;BACKERREXITFORGET`
	}
	answer = r.Token + " " + r.fill(text)
	return answer + lineEnd, answer
}

// Pieces returns the pieces of the command, which the gatherer answers with.
func (r *Remote) Pieces() []string { return r.pieces }

// PieceLine returns the line that sends a piece.
func PieceLine(piece string) string { return "+" + piece + lineEnd }

// Start returns the line that starts the command.
func (r *Remote) Start() string { return fmt.Sprintf("=%d%s", r.size, lineEnd) }

// Shows returns the lines that the command makes appear: what is typed, and the command.
func (r *Remote) Shows(command string) []string {
	return append([]string{strings.TrimSpace(r.Loader())}, r.script.Shows(command)[1:]...)
}

// program returns what the gatherer evaluates at the start.
func (r *Remote) program(command, dir string) string {
	text := `\trap INTERRUPT INT QUIT;\stty ` + loaded + `
PRINTF '\033[2m+ %s\033[m\n' SHOWN
_mcp=COMMAND
case $_mcp_flags in *x*)_mcp="\\set -x;$_mcp";;esac
`
	switch run := `\eval "$_mcp"`; {
	case r.lasting:
		text += r.lastingProgram()
	case r.shell == "fish":
		run = `\exec fish -c "$_mcp"`
		fallthrough
	default:
		text += `(\trap - INT QUIT;PRINTF BEGIN;CDcase $_mcp_flags in *a*)\set -a;;esac;ERREXIT
` + run + `)
\set -- "$?"
PRINTF END "$1"
`
		if r.fresh() {
			text += `\exit 0` // what has started it may have errexit
		} else {
			text += `case $_mcp_flags in *e*)\exit 0;;esac;\exit "$1"`
		}
	}
	command, lines := shellquote.Word(command), quoteAll(shown(command))
	if r.shell == "zsh" { // csh_junkie_quotes allows no newline within quotes
		command = strings.ReplaceAll(command, "\n", `'$'\n''`)
	}
	return r.fill(text+"\n", "SHOWN", lines, "COMMAND", command, "CD", r.cd(dir))
}

// lastingProgram returns what runs the command in the shell itself, which then goes on after an
// interrupt and, as far as guards reach, after an exit.
func (r *Remote) lastingProgram() string {
	g := r.dialect().guards
	finish := `{ ` + g.off + `PRINTF END "$_mcp_status";\trap - INT QUIT;ERREXITFORGET;} 2>/dev/null`
	off := ""
	if r.dialect().interruptEnds {
		off = `_mcp_flags=; `
	}
	exit := `@set -- "${1-$?}"; if ` + g.inside + `; then ` + g.off + `\exit "$1"; fi; ( @exit "$1" ) >/dev/null && @:; _mcp_status=$?; ` + off + finish + `; @kill -s INT "$$"`
	return `{ ` + strings.Replace(g.on, "BODY", exit, 1) + `case $_mcp_flags in *a*)\set -a;;esac;BACKPRINTF BEGIN;} 2>/dev/null
\eval "$_mcp"
_mcp_status=$?
` + finish
}

func (r *Remote) dialect() *dialect { return dialects[remoteShells[r.shell]] }

// cd returns what goes to a directory. Its name is the remote shell's, and so is its ~.
func (r *Remote) cd(dir string) string {
	if dir == "" {
		return ""
	}
	to := shellquote.Word(dir)
	if home, rest, _ := strings.Cut(dir, "/"); home == "~" {
		to = `"$HOME"/` + shellquote.Word(rest)
	} else if dir[0] == '-' {
		to = shellquote.Word("./" + dir)
	}
	if r.fresh() {
		return `\cd ` + to + `||\exit;`
	}
	return r.dialect().builtin + cmp.Or(r.dialect().cd, "cd") + ` ` + to + `||\exit;`
}

// fill inserts what words in a text stand for, in one pass.
func (r *Remote) fill(text string, words ...string) string {
	printf, traps, off, back, builtin, interrupt := `\printf`, "", "aex", "", `\`, ":"
	if d := r.dialect(); !r.fresh() {
		printf, builtin, interrupt = cmp.Or(d.printf, printf), d.builtin, cmp.Or(d.interrupt, interrupt)
		switch {
		case !r.lasting:
			traps = remoteTraps[r.shell]
		case r.shell == "bash": // which would run the traps also where it decodes a piece
			off, back = "aexET", `case ${_mcp_flags-} in *E*)\set -E;;esac;case ${_mcp_flags-} in *T*)\set -T;;esac;`
		}
	}
	words = append(words, "INTERRUPT", interrupt, "TRAPS", traps, "OFF", off, "BACK", back, "ERREXIT", `case ${_mcp_flags-} in *e*)\set -e;;esac;`,
		"FORGET", `\unset -v _mcp _mcp_flags _mcp_text _mcp_size _mcp_more _mcp_status`,
		"ANSWER", printf+` "\033]6337;`+r.Token+`;%s\a"`, "PRINTF", printf, "@", builtin,
		"BEGIN", octal(r.begin()), "END", octal(r.end()+"%d"+r.endOfEnd()))
	return strings.NewReplacer(words...).Replace(text)
}

// nextPiece returns the beginning of a text as a piece, for the %b of printf: what no terminal,
// shell or program on the way changes stands for itself. A character is never split.
func nextPiece(text string) (piece, rest string) {
	var b strings.Builder
	for text != "" {
		_, n := utf8.DecodeRuneInString(text)
		next := text[:n]
		if c := next[0]; n > 1 || !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("_./:,+@-", c) >= 0) {
			next = ""
			for _, c := range []byte(text[:n]) {
				next += fmt.Sprintf(`\0%03o`, c)
			}
		}
		if b.Len()+len(next) > mostPiece {
			break
		}
		b.WriteString(next)
		text = text[n:]
	}
	return b.String(), text
}

// takeAnswers takes what the loader and the gatherer answer out of the bytes held, up to the first
// mark, and passes it on. It reports whether these then begin with an answer that is not complete.
func (r *transcriber) takeAnswers() (begun bool) {
	mark := []byte("\x1b]6337;" + r.Token)
	for {
		at := bytes.Index(r.held, mark)
		if at < 0 {
			return false
		}
		text, more := bytes.CutPrefix(r.held[at+len(mark):], []byte(";"))
		if !more || bytes.HasSuffix(r.held[:at], []byte(r.end()[:1])) {
			return false // it is a mark, or may become one
		}
		answer, after, whole := bytes.Cut(text, []byte("\a"))
		if !whole && len(answer) <= mostPiece {
			r.held = r.held[at:]
			return true
		}
		r.answer(string(answer))
		r.held = after
	}
}

// answer passes on an answer of a remote shell.
func (r *transcriber) answer(answer string) {
	select {
	case r.answers <- answer:
	default: // nobody waits for it, or there are more than anybody waits for
	}
}
