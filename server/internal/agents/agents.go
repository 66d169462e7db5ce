// Package agents finds agent CLIs, and determines their state from their terminals: whether
// one is working, asking something or waiting for a prompt, and what its input box contains.
// Its rules are data (fixtures/agents). A [Finder] finds the agents of a tmux server by their
// processes; [Classify] is pure, and gets the screen and the program that runs there.
//
// # Rules
//
// A file has the rules for one program; docs/agents.md documents each key. The box is
// searched for from the bottom of the screen up, trying each of its frames in turn. It must
// contain the cursor, to exclude pictures of one. If there is no box, a dialog is searched
// for. If no rule matches, the state is [Unknown]. Nothing is guessed.
//
// A program with own_cursor hides the terminal's cursor and draws one itself. Its dialogs
// are searched for first, since nothing excludes the picture of a box above them, and the
// cursor is assumed to be at the end of the text.
//
// The user's own files are read as the built-in ones ([Load]). What they can cost is bounded:
// the size of a file, of a list and of a pattern.
package agents

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/lazy"
)

// State is what an agent is doing.
type State string

// States of agents.
const (
	Working State = "working"
	Asks    State = "asks"    // a question or a dialog is open
	Idle    State = "idle"    // it is waiting for a prompt
	Ended   State = "ended"   // the program has ended
	Unknown State = "unknown" // no rule matches
)

// View is a terminal at one moment.
type View struct {
	Program
	// Ended is set if the program ran here and has ended.
	Ended bool
	Title string
	// Rows are the rows of the screen from the top. X and Y are the cursor's position.
	Rows []string
	X, Y int
}

// Status is what a View shows.
type Status struct {
	State State
	// Question and Choices are the contents of a dialog, if State is Asks.
	Question string
	Choices  []Choice
	// Box is the input box; nil if there is none.
	Box *Box
	// Opening is set if the agent is about to ask something that the screen does not show yet.
	Opening bool
}

// Input returns the text in the input box; "" without a box.
func (s Status) Input() string {
	if s.Box == nil {
		return ""
	}
	return s.Box.Text
}

// Choice is an answer in a dialog, and the keys that choose it, by their tmux names.
type Choice struct {
	Keys  []string
	Label string
}

// Box is an input box. Text is its content without wrapping, one row per line. If Collapsed
// is set, a paste is shown as a note instead of its text. Row is the cursor's row, counted
// from the top of the box, and First the first row as it is on the screen.
type Box struct {
	Text      string
	Collapsed bool
	Row       int
	First     string
}

// Program is an agent CLI: its name, its rules and, if known, its version and the processes
// that run it.
type Program struct {
	Name, Version string
	Rules         *Rules
	PIDs          []int
}

// Rules are the rules for a program. Their form is documented in docs/agents.md.
type Rules struct {
	// Name is the name of the file without its extension.
	Name string `toml:"-"`
	// File is the user's file; "" if the rules are built in.
	File string `toml:"-"`
	// Replaces is set if the user's file replaces built-in rules of the same name.
	Replaces bool `toml:"-"`
	// Source is the text of the file.
	Source []byte `toml:"-"`
	// whole reads the file, of which only names and packages are here; nil if all is here.
	whole func() *Rules

	Names, Packages []string
	// Since is the first version that the rules were checked against.
	Since string
	// Queues is set if the box accepts prompts while the agent is working.
	Queues bool
	// IdleOnly matches prompts that it accepts only while idle.
	IdleOnly pattern `toml:"idle_only"`
	// Newlines is set if lines of a paste must end with newlines. Other programs get returns,
	// as from a terminal.
	Newlines bool
	// Longest is the size in bytes of the longest prompt that it takes whole, if not zero.
	Longest uint
	// Most is the size of the largest paste that it shows as text, if not zero. A longer
	// prompt is pasted in pieces.
	Most struct{ Lines, Bytes int }
	// AfterCollapsed is typed after a paste that was collapsed.
	AfterCollapsed string `toml:"after_collapsed"`
	// Changes are changes that the program makes to a prompt.
	Changes []struct {
		Text pattern
		Note string
	}
	// Refused are prompts that would not reach the model unchanged. Command is set for those
	// that the caller may mean as a command.
	Refused []struct {
		Text    pattern
		Why     string
		Command bool
	}

	// Aside matches a heading in a column of the screen that is beside the box, if there is one.
	Aside pattern

	Box struct {
		// Frames are the ways in which the program draws the box; its user may choose one.
		Frames                 []Frame
		First, More            textPattern
		Hints                  pattern
		Scrolls                bool
		Placeholder, Collapsed pattern
		Suggests               pattern
		OwnCursor              bool `toml:"own_cursor"`
	}
	Working struct{ Title, Above, Below, Hint pattern } // Hint matches a placeholder
	Dialogs []struct {
		End, Start pattern
		Choice     choicePattern
		Side       labelPattern
		Spaced     bool
		Window     bool
	}
}

// Frame is what surrounds an input box.
type Frame struct {
	Top, Bottom pattern
	Pad, Inner  uint8
}

// Recognize returns the agent that runs in a process, given its executable, which may be
// empty, and its arguments; nil if it is no agent. by says which name or package it was
// recognized by. An interpreter counts as the script that it runs.
func (set RuleSet) Recognize(executable string, args []string) (r *Rules, by string) {
	words := identity(executable, args)
	names := make([]string, len(words))
	for i, word := range words {
		names[i] = program(word)
	}
	for _, r := range set {
		for i, word := range words {
			if name := names[i]; slices.Contains(r.Names, name) {
				return r.all(), "name " + name
			}
			if i := slices.IndexFunc(r.Packages, func(p string) bool { return below(word, p) }); i >= 0 {
				return r.all(), "package " + r.Packages[i]
			}
		}
	}
	return nil, ""
}

// below reports whether a path has a directory or file whose name begins with a package's.
func below(path, pkg string) bool {
	for at := 0; ; at++ {
		i := strings.Index(path[at:], pkg)
		if i < 0 {
			return false
		}
		if at += i; at > 0 && path[at-1] == '/' {
			return true
		}
	}
}

// identity returns the words of a process that say which program it is.
func identity(executable string, args []string) []string {
	words := append([]string{executable}, args[:min(1, len(args))]...)
	if interpreter().MatchString(program(executable)) && len(args) > 0 {
		if i := slices.IndexFunc(args[1:], func(arg string) bool { return !strings.HasPrefix(arg, "-") }); i >= 0 {
			words = append(words, args[1+i])
		}
	}
	return words
}

var interpreter = lazy.Regexp(`^(node|nodejs|bun|deno|ruby[0-9.]*|(python|pypy)[0-9.]*)$`)

func program(file string) string {
	base := path.Base(file)
	for _, ext := range []string{".exe", ".js", ".mjs", ".cjs"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// Pieces returns the parts of a prompt that are to be pasted one after the other.
func (r *Rules) Pieces(text string) (all []string) {
	lines, start := 1, 0
	for i, c := range text {
		if c == '\n' && lines == r.Most.Lines || r.Most.Bytes > 0 && i-start+utf8.RuneLen(c) > r.Most.Bytes {
			all, lines, start = append(all, text[start:i]), 1, i
		}
		if c == '\n' {
			lines++
		}
	}
	return append(all, text[start:])
}
