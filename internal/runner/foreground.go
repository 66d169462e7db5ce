package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"tmuxmcp/internal/lazy"
)

// Foreground is the program that reads what is typed into a pane.
type Foreground struct {
	PID  int
	Name string
	// Prompt is set for a shell that is waiting for a line.
	Prompt bool
	// Waiting is set while it sleeps and has read everything that was typed.
	Waiting bool
	// Interrupt is the interrupt character.
	Interrupt byte
	// Age is how long it has been running; 0 for what is ending or may be about to end.
	Age time.Duration

	// shell is its dialect; nil if it is not a shell that a user types into.
	shell *dialect
	path  string // of the shell's program
	tty   string
	// editing is set if the shell edits the line itself. Otherwise the terminal does, and
	// kill is the character that deletes its line, 0 for none.
	editing bool
	kill    byte
}

// IsShell reports whether it is a shell that takes commands from its terminal.
func (f Foreground) IsShell() bool { return f.shell != nil }

// Edits reports whether the shell edits its line itself.
func (f Foreground) Edits() bool { return f.editing }

// NamesShell reports whether it has the name of a shell: of the shell whose pipeline goes on after
// its first command has ended.
func (f Foreground) NamesShell() bool { return shellOf(f.Name, f.Name) != nil }

// isDirectory returns why a path is not a directory, or nil if that is unknown. The path may have
// another name here.
func isDirectory(dir, at string) error {
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("there is no directory %q", dir)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%q is not a directory", dir)
	}
	return nil
}

// shellOf returns the dialect of a shell, given its program's path or the name it was
// started by; nil for anything else.
func shellOf(path, name string) *dialect {
	for _, s := range []string{filepath.Base(path), name} {
		if d := dialects[s]; d != nil {
			return d
		}
	}
	return nil
}

const (
	ctrlC = 0x03
	ctrlU = 0x15
)

var optionsWithValue = []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command"}

// interactive reports whether a shell reads lines from its terminal, rather than a script
// or a command, given its arguments.
func interactive(args []string) bool {
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case slices.Contains(optionsWithValue, a):
			i++
		case a == "--" || a == "-":
			return i == len(args)-1
		case a == "" || a[0] != '-' && a[0] != '+':
			return false
		case a == "--command" || strings.HasPrefix(a, "--command="):
			return false
		case strings.HasPrefix(a, "--"):
		case strings.Contains(a, "c"):
			return false
		case strings.Contains(a, "s"):
			return true
		}
	}
	return true
}

// continuation matches the prompt for the rest of an unfinished command, whether or not some of it
// was typed: those of the shells, and the dots of starship.
var continuation = lazy.Regexp(`^([a-z -]*>|[.…·∙]+)( |$)`)

var (
	// promptMark matches what precedes the cursor in nearly every prompt, and during a
	// history search.
	promptMark = lazy.Regexp(`[$#%>^\x{80}-\x{10ffff}](?: |$)|i-search\)`)
	// edited matches the empty text, and text that may be edited without a prompt.
	edited = lazy.Regexp(`^[\w ./~@,-]*$`)
	// question matches the end of a text that asks for an answer, as readline does before it
	// lists many completions and after each page of them, and zsh before it corrects a word.
	question = lazy.Regexp(`(?i)([?:]|[\[(](y(es)?\W*(or\W+)?no?|no?\W*(or\W+)?y(es)?)(\W[a-z?]|a|e){0,3}[\])]|^--more--)$`)
)

// AtPrompt reports whether the text left of the cursor, with all lines above that continue
// in it, may be a prompt of the shell followed by something typed. A line editor started by
// a function or start-up file (read -e, vared) leaves the terminal as the prompt does, and
// shows nothing, a question, or the text being edited.
func (f Foreground) AtPrompt(left string) bool {
	fish, zsh := f.shell == dialects["fish"], f.shell == dialects["zsh"]
	text := strings.TrimRight(left, " ")
	switch {
	case fish && strings.HasPrefix(text, "read>"), zsh && strings.HasPrefix(text, "?#"):
		return false // prompts of read and select
	case promptMark().MatchString(left), f.shell.edits && text != "" && text[0] == ' ':
		return true
	case question().MatchString(text):
		return false
	case fish: // in a command of several lines, the later ones have no prompt
		return true
	case text == left && edited().MatchString(text):
		return f.unseenPrompt()
	}
	return true // left there by a program, without a newline or in the middle of a sequence
}

// Fresh reports whether the text left and right of the cursor looks like a prompt with
// nothing typed, or with nothing that deleting to the left would not delete: there is some
// text that does not end in a word and is not a continuation, and nothing close to the
// right of it. The later lines of a command of several lines, which fish and zsh edit as
// one, have no prompt but may be indented.
func (f Foreground) Fresh(left, right string) bool {
	return !continuation().MatchString(left) && f.maybeFresh(left, right)
}

// maybeFresh does what Fresh does, if no prompt for the rest of a command looks like this.
func (f Foreground) maybeFresh(left, right string) bool {
	text := []rune(strings.TrimRight(left, " "))
	switch {
	case len(text) == 0, !f.AtPrompt(left),
		f.shell.edits && text[0] == ' ',
		strings.TrimSpace(right) != "" && !strings.HasPrefix(right, "  "):
		return false
	}
	last := text[len(text)-1]
	return last == 'λ' || !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune(`'"\`, last)
}

// emptyPrompt matches what precedes the cursor in nearly every prompt of a shell; notShell matches
// that of an interpreter.
var (
	emptyPrompt = lazy.Regexp(`[$#%>\x{80}-\x{10ffff}] *$`)
	notShell    = lazy.Regexp(`^>>> *$|:\d+[>*] *$`)
)

// EmptyPrompt reports whether the text left and right of the cursor looks like the prompt of some
// shell with nothing typed, and not like one of an interpreter or for the rest of a line. On the
// right there may be more of the prompt.
func EmptyPrompt(left, right string) bool {
	text := strings.TrimRight(left, " ")
	return emptyPrompt().MatchString(left) && (strings.TrimSpace(right) == "" || strings.HasPrefix(right, "  ")) &&
		!continuation().MatchString(left) && !question().MatchString(text) && !notShell().MatchString(text)
}

// HasEmptyLine reports whether the text left and right of the cursor is the shell's prompt with
// nothing typed: the text that was there as prompt before, apart from digits, or what looks like
// one. A prompt that looks like that for the rest of a line is not known to be another.
func (f Foreground) HasEmptyLine(left, right, before string) bool {
	text := strings.TrimRight(left, " ")
	switch {
	case text == "", strings.TrimSpace(right) != "" && !strings.HasPrefix(right, "  "):
		return false
	case f.maybeContinues(left):
		return false
	case before != "" && SameButDigits(text, strings.TrimRight(before, " ")):
		return true
	}
	return f.maybeFresh(left, right)
}

// maybeContinues reports whether the text left of the cursor may be the shell's prompt for the
// rest of a line, as shells have it by default. Only zsh's has words, and fish has none.
func (f Foreground) maybeContinues(left string) bool {
	switch f.shell {
	case dialects["fish"]:
		return false
	case dialects["zsh"]:
		return continuation().MatchString(left)
	}
	return left == ">" || strings.HasPrefix(left, "> ")
}

// Younger reports whether it has been running for at most a time, as far as the clock of processes
// shows.
func (f Foreground) Younger(ago time.Duration) bool { return f.Age > 0 && !older(f.Age, ago) }

// older reports whether something of this age has existed for longer than something took. Linux
// counts in hundredths of a second.
func older(age, took time.Duration) bool { return age > took+2*time.Second/100 }

// SameButDigits reports whether two texts differ only in digits, such as a clock in a prompt.
func SameButDigits(a, b string) bool {
	digits := func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}
	return strings.Map(digits, a) == strings.Map(digits, b)
}
