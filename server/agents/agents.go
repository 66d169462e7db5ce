// Package agents reads the state of agent CLIs off their terminals: whether one is
// working, asks something or waits for a prompt, and what stands in its input box. It
// works by rules that are data, fixtures/agents, and is pure: callers bring the screen
// and the program that runs there.
//
// # Rules
//
// A file has the names and packages of one program, by which its process is known,
// and rules for versions of it from the oldest to the newest. Each set has only what
// is new since the one before. All patterns are regular expressions, and are matched
// with single rows without the blanks at their ends.
//
// The box is looked for from the bottom of the screen up, in each of its frames until
// one is there: a row that matches bottom, then the rows of the box up to the next one
// that matches top; without a top, rows that match more, up to one that matches first,
// as the first row of a box must. The frame takes the first pad and the last inner
// rows. The cursor must be in the box: no picture of one has it. A text at the cursor
// that matches placeholder is none.
//
// A dialog is looked for where there is no box. One of the last rows matches end;
// above it are its choices, and above those, up to start, what it asks.
//
// What none of the rules matches is [Unknown]. Nothing is guessed.
package agents

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"tmuxmcp/fixtures"
)

// State is what an agent does.
type State string

// The states.
const (
	Working State = "working"
	Asks    State = "asks"    // a question or a dialog is up
	Idle    State = "idle"    // it waits for a prompt
	Ended   State = "ended"   // the program has ended
	Unknown State = "unknown" // no rule matches
)

// View is a terminal as it looks at one moment.
type View struct {
	Program
	// Ended says that the program ran here, and has ended.
	Ended bool
	Title string
	// Rows are the rows of the screen from its top. X and Y are the cursor's place.
	Rows []string
	X, Y int
}

// Status is what a View shows.
type Status struct {
	State State
	// Question and Choices are what a dialog asks, if State is Asks.
	Question string
	Choices  []Choice
	// Box is the input box; nil if none is there.
	Box *Box
}

// Choice is an answer that a dialog offers, and the keys that pick it, by tmux's names.
type Choice struct {
	Keys  []string
	Label string
}

// Box is an input box. Text is what is in it, less wrapping: a row for each line. A
// Collapsed paste shows a note in place of its text. Row is that of the cursor, from the
// top of the box.
type Box struct {
	Text      string
	Collapsed bool
	Row       int
}

// Program is an agent CLI: its name, and its version where that is known.
type Program struct{ Name, Version string }

type agent struct {
	Name     string
	Names    []string
	Packages []string
	Versions []Rules
}

// Rules are what is known of some versions of a program.
type Rules struct {
	// Since is the first of the versions.
	Since string
	// Queues says that the box takes a prompt while the agent is working.
	Queues bool
	// IdleOnly are prompts that it takes only while it is idle.
	IdleOnly pattern `toml:"idle_only"`
	// AfterCollapsed is typed after a paste that was collapsed.
	AfterCollapsed string `toml:"after_collapsed"`
	// Wrapped says what becomes of a collapsed paste, if the model gets more than its text.
	Wrapped string
	// Changes are what the program changes in a prompt.
	Changes []struct {
		Text pattern
		Note string
	}
	// Refused are prompts that would not reach the model as they are. A command is one
	// that the caller may mean.
	Refused []struct {
		Text    pattern
		Why     string
		Command bool
	}

	Box struct {
		// Frames are how the program draws it: that can be its user's choice.
		Frames                 []Frame
		First, More            pattern
		Placeholder, Collapsed pattern
	}
	Working struct{ Title, Above, Below, Hint pattern } // Hint is a placeholder
	Dialogs []struct{ End, Start, Choice, Side pattern }
}

// Frame is what is around an input box.
type Frame struct {
	Top, Bottom pattern
	Pad, Inner  int
}

// pattern is a regular expression; nil matches nothing.
type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

func (p pattern) matches(s string) bool { return p.Regexp != nil && p.MatchString(s) }

// Matches reports whether a prompt has what the pattern describes.
func (p pattern) Matches(s string) bool { return p.matches(s) }

// group is a named group of a match.
func (p pattern) group(m []string, name string) string {
	if i := p.SubexpIndex(name); i >= 0 {
		return m[i]
	}
	return ""
}

var all = sync.OnceValue(func() map[string]agent {
	agents := map[string]agent{}
	files, err := fs.Glob(fixtures.Agents(), "*.toml")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		a, err := load(file)
		if err != nil {
			panic("fixtures/agents/" + file + ": " + err.Error())
		}
		agents[a.Name] = a
	}
	return agents
})

func load(file string) (agent, error) {
	text, err := fs.ReadFile(fixtures.Agents(), file)
	if err != nil {
		return agent{}, err
	}
	a := agent{Name: strings.TrimSuffix(file, ".toml")}
	if err := toml.Unmarshal(text, &a); err != nil {
		return a, err
	}
	// Each set again, over the one before it.
	var sets struct{ Versions []map[string]any }
	if err := toml.Unmarshal(text, &sets); err != nil {
		return a, err
	}
	for i := 1; i < len(sets.Versions); i++ {
		over, err := toml.Marshal(sets.Versions[i])
		if err != nil {
			return a, err
		}
		a.Versions[i] = a.Versions[i-1]
		if err := toml.Unmarshal(over, &a.Versions[i]); err != nil {
			return a, err
		}
	}
	return a, nil
}

// Names are the agents that there are rules for.
func Names() []string {
	var names []string
	for name := range all() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Recognise returns the agent that a process is, by its executable and arguments; the
// executable may be empty. A script counts as what its interpreter runs.
func Recognise(executable string, args []string) (name string, ok bool) {
	words := []string{executable}
	if len(args) > 0 {
		words = append(words, args[0])
	}
	switch program(slices.Concat(words, []string{""})[0]) {
	case "node", "bun", "deno":
		for _, arg := range args[min(1, len(args)):] {
			if !strings.HasPrefix(arg, "-") {
				words = append(words, arg)
				break
			}
		}
	}
	for _, name := range Names() {
		a := all()[name]
		for _, word := range words {
			if slices.Contains(a.Names, program(word)) || slices.ContainsFunc(a.Packages, func(p string) bool { return strings.Contains(word, "/"+p) }) {
				return name, true
			}
		}
	}
	return "", false
}

func program(file string) string {
	base := path.Base(file)
	for _, ext := range []string{".exe", ".js", ".mjs", ".cjs"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// RulesFor are the rules for a program: the newest that are not newer than it, or
// the newest of all if its version is not known. Nil if it is no agent.
func RulesFor(p Program) *Rules {
	sets := all()[p.Name].Versions
	if len(sets) == 0 {
		return nil
	}
	for i := len(sets) - 1; i > 0; i-- {
		if p.Version == "" || !older(p.Version, sets[i].Since) {
			return &sets[i]
		}
	}
	return &sets[0]
}

// older compares versions by their numbers.
func older(a, b string) bool {
	x, y := numbers(a), numbers(b)
	return slices.Compare(x, y) < 0
}

func numbers(version string) (n []int) {
	for part := range strings.SplitSeq(version, ".") {
		i, _ := strconv.Atoi(part)
		n = append(n, i)
	}
	return n
}
