package runner

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Foreground is the program that reads what is typed into a pane.
type Foreground struct {
	PID  int
	Name string
	// Prompt is set for a shell that waits for a line.
	Prompt bool
	// Waiting is set while it sleeps and has read all that was typed.
	Waiting bool
	// Interrupt is the character that interrupts.
	Interrupt byte
	// Age is how long it has run.
	Age time.Duration

	// shell is its dialect; nil when it is not a shell that a user types into.
	shell *dialect
	path  string // of the shell's program
	tty   string
	// editing is that the shell edits the line itself. Else the terminal does, and
	// kill is the character that deletes its line, 0 for none.
	editing bool
	kill    byte
}

// IsShell reports whether it is a shell that takes commands from its terminal.
func (f Foreground) IsShell() bool { return f.shell != nil }

// shellOf is the dialect of a shell by its program's path or by the name it was
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

// optionsWithValue are the options of shells that have a value of their own.
var optionsWithValue = []string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command"}

// interactive reports from the words a shell was started with whether it reads
// lines from its terminal, and not a script or a command.
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

// continuation is a prompt for the rest of an unfinished command.
var continuation = regexp.MustCompile(`^[a-z -]*> ?$`)

var (
	// promptMark is what is left of the place to type at in nearly every prompt, and while
	// the history is searched.
	promptMark = regexp.MustCompile(`[$#%>^\x{80}-\x{10ffff}](?: |$)|i-search\)`)
	// edited is nothing, or what may be edited without a prompt.
	edited = regexp.MustCompile(`^[\w ./~@,-]*$`)
	// question is the end of what asks for an answer.
	question = regexp.MustCompile(`(?i)([?:]|[\[(]y(es)?/no?[\])]|[\[(]no?/y(es)?[\])])$`)
)

// AtPrompt reports whether the text left of the cursor, with all lines above that
// continue in it, may be a prompt of the shell and something typed at it. A line editor
// that a function or start-up file has begun (read -e, vared) leaves the terminal as the
// prompt does, and shows nothing, a question, or what is edited.
func (f Foreground) AtPrompt(left string) bool {
	fish, zsh := f.shell == dialects["fish"], f.shell == dialects["zsh"]
	text := strings.TrimRight(left, " ")
	switch {
	case fish && strings.HasPrefix(text, "read>"), zsh && strings.HasPrefix(text, "?#"):
		return false // those of read and select
	case promptMark.MatchString(left), f.shell.edits && text != "" && text[0] == ' ':
		return true
	case question.MatchString(text):
		return false
	case fish: // it shows no prompt on the later lines of several
		return true
	case text == left && edited.MatchString(text):
		return f.unseenPrompt()
	}
	return true // what a program left there, without a newline or in the middle of a sequence
}

// Fresh reports whether the text left and right of the cursor looks like a
// prompt with nothing typed, or nothing that deleting to the left would not
// delete: there is some text that does not end in a word and is no continuation,
// and nothing close to the right of it. The later lines of a command of several,
// which fish and zsh edit as one, have no prompt but may be indented.
func (f Foreground) Fresh(left, right string) bool {
	text := []rune(strings.TrimRight(left, " "))
	switch {
	case len(text) == 0, !f.AtPrompt(left),
		continuation.MatchString(left),
		f.shell.edits && text[0] == ' ',
		strings.TrimSpace(right) != "" && !strings.HasPrefix(right, "  "):
		return false
	}
	last := text[len(text)-1]
	return last == 'λ' || !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune(`'"\`, last)
}
