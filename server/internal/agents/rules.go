package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"tmuxmcp/fixtures"
	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/owned"
	"tmuxmcp/server/internal/match"
)

// RuleSet are the agents that can be recognized, each with its rules. A program is the first
// one that has its name.
type RuleSet []*Rules

// Names returns the names of the agents.
func (set RuleSet) Names() []string {
	var names []string
	for _, r := range set {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

// Fault is what is wrong with a file of rules, or with their directory.
type Fault struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 0 if it is about the whole file
	Text string `json:"text"`
}

func (f Fault) Error() string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
	}
	return f.File + ": " + f.Text
}

// Bounds of what a user's file may have, so that reading a screen takes no noticeable time.
const (
	mostFiles   = 100
	mostFile    = 64 << 10 // bytes
	mostEntries = 30       // of frames, dialogs and the like
)

// builtIn are the agents whose rules are part of this program. Only what they are recognized
// by, which precedes all tables of a file, is parsed at once.
var builtIn = sync.OnceValue(func() (known RuleSet) {
	files, err := fs.Glob(fixtures.Agents(), "*.toml")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(fixtures.Agents(), file)
		if err != nil {
			panic(err)
		}
		head, _, _ := bytes.Cut(text, []byte("\n["))
		var by struct{ Names, Packages []string }
		if err := toml.Unmarshal(head, &by); err != nil {
			panic(err)
		}
		r := &Rules{Name: strings.TrimSuffix(file, ".toml"), Names: by.Names, Packages: by.Packages}
		r.whole = sync.OnceValue(func() *Rules {
			r, faults := parse("fixtures/agents/"+file, text)
			if faults != nil {
				panic(faults[0])
			}
			r.File = ""
			return r
		})
		known = append(known, r)
	}
	return known
})

// all returns the rules, parsed completely.
func (r *Rules) all() *Rules {
	if r.whole != nil {
		return r.whole()
	}
	return r
}

// BuiltIn returns the agents whose rules are part of this program.
func BuiltIn() (known RuleSet) {
	for _, r := range builtIn() {
		known = append(known, r.all())
	}
	return known
}

// Load returns the agents of the user's files NAME.toml in a directory, followed by the
// built-in ones that no file replaces. If dir is empty or does not exist, only those are
// returned. A file with a fault is left out.
func Load(dir string) (known RuleSet, faults []Fault) {
	own, faults := loadOwn(dir)
	return own.before(BuiltIn()), faults
}

// LoadFinder returns a finder of these agents, which reads built-in rules when it needs them.
func LoadFinder(dir string) (f *Finder, faults []Fault) {
	own, faults := loadOwn(dir)
	f = NewFinder(nil)
	f.rules = sync.OnceValue(func() RuleSet { return own.before(builtIn()) })
	return f, faults
}

// before returns the user's agents and those built-in ones that they do not replace.
func (set RuleSet) before(builtIn RuleSet) RuleSet {
	return append(slices.Clip(set), slices.DeleteFunc(slices.Clone(builtIn), func(b *Rules) bool {
		return slices.ContainsFunc(set, func(r *Rules) bool { return r.Name == b.Name })
	})...)
}

// loadOwn returns the agents of the user's files.
func loadOwn(dir string) (own RuleSet, faults []Fault) {
	if dir == "" {
		return nil, nil
	}
	real, err := owned.Directory(dir)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(real)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, Fault{File: dir, Text: reason(err)})
		}
		return nil, faults
	}
	files := 0
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".toml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if files++; files > mostFiles {
			faults = append(faults, Fault{File: dir, Text: fmt.Sprintf("has more than %d files; the others are not read", mostFiles)})
			break
		}
		r, wrong := LoadFile(filepath.Join(dir, e.Name()))
		_, err := fs.Stat(fixtures.Agents(), e.Name())
		switch replaces := err == nil; {
		case wrong == nil:
			r.Replaces = replaces
			own = append(own, r)
		case replaces:
			wrong[0].Text += "; the built-in rules stay"
		}
		faults = append(faults, wrong...)
	}
	return own, faults
}

var agentName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

// LoadFile reads the rules in a file. It must be one that only this user or root can have
// written or put there: rules decide what is typed where.
func LoadFile(file string) (*Rules, []Fault) {
	text, err := readOwn(file)
	if err != nil {
		return nil, []Fault{{File: file, Text: reason(err)}}
	}
	return parse(file, text)
}

// reason returns an error without its path, with which a fault begins anyway.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return "cannot be read: " + path.Err.Error()
	}
	return err.Error()
}

func readOwn(file string) ([]byte, error) {
	f, err := owned.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	if len(text) > mostFile {
		return nil, fmt.Errorf("is larger than %d bytes", mostFile)
	}
	return text, err
}

// parse returns the rules in a file with this text.
func parse(file string, text []byte) (*Rules, []Fault) {
	r := &Rules{Name: strings.TrimSuffix(filepath.Base(file), ".toml"), File: file, Source: text}
	if !agentName().MatchString(r.Name) {
		return nil, []Fault{{File: file, Text: "its name must be of up to 32 letters, digits, dots, dashes and underscores, and .toml"}}
	}
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(r)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	var faults []Fault
	switch {
	case errors.As(err, &unknown):
		for _, e := range unknown.Errors {
			line, _ := e.Position()
			faults = append(faults, Fault{file, line, "unknown key " + strings.Join(e.Key(), ".")})
		}
		return nil, faults
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		return nil, []Fault{{file, line, keyed(wrong)}}
	case err != nil:
		return nil, []Fault{{File: file, Text: err.Error()}}
	}
	r.check(func(part string, n int, format string, args ...any) {
		faults = append(faults, Fault{file, lineOf(text, part, n), fmt.Sprintf(format, args...)})
	})
	if faults != nil {
		return nil, faults
	}
	return r, nil
}

var wrongType = lazy.Regexp(`cannot decode TOML (.*?) into .*`)

// keyed returns what is wrong with the value of a key.
func keyed(err *toml.DecodeError) string {
	text := wrongType().ReplaceAllString(strings.TrimPrefix(err.Error(), "toml: "), "cannot be a TOML $1")
	if key := strings.Join(err.Key(), "."); key != "" && !strings.Contains(text, " "+key+" ") {
		return key + ": " + text
	}
	return text
}

// lineOf returns the line of the nth of a part, which is a key or a table's header; 1 if
// there is none.
func lineOf(text []byte, part string, n int) int {
	at := regexp.MustCompile(`(?m)^[ \t]*`+regexp.QuoteMeta(part)+`[ \t]*(=|#|\r?$)`).FindAllIndex(text, n+1)
	if part == "" || len(at) <= n {
		return 1
	}
	return 1 + bytes.Count(text[:at[n][0]], []byte("\n"))
}

// check reports what is missing from rules, or contradicts itself, and where.
func (r *Rules) check(wrong func(part string, n int, format string, args ...any)) {
	if len(r.Names) == 0 && len(r.Packages) == 0 {
		wrong("", 0, "neither names nor packages: no program would be recognized")
	}
	for _, name := range r.Names {
		if name != program(name) || name == "" || name == "." {
			wrong("names", 0, "names: no program has the name %q; want %q", name, program(name))
		}
	}
	if slices.Contains(r.Packages, "") {
		wrong("packages", 0, "packages: an empty one would be every program")
	}
	for _, list := range []struct {
		part string
		n    int
	}{{"frames", len(r.Box.Frames)}, {"[[dialogs]]", len(r.Dialogs)}, {"[[refused]]", len(r.Refused)}, {"[[changes]]", len(r.Changes)}, {"names", len(r.Names)}, {"packages", len(r.Packages)}} {
		if list.n > mostEntries {
			wrong(list.part, 0, "%s: there are more than %d", strings.Trim(list.part, "[]"), mostEntries)
		}
	}
	if r.Box.First.Regexp == nil {
		wrong("[box]", 0, "box.first is missing")
	}
	if len(r.Box.Frames) == 0 {
		wrong("[box]", 0, "box.frames is missing")
	}
	for i, f := range r.Box.Frames {
		if f.Bottom.Regexp == nil {
			wrong("frames", 0, "box.frames: number %d has no bottom", i+1)
		}
	}
	for i, d := range r.Dialogs {
		switch {
		case d.End.Regexp == nil:
			wrong("[[dialogs]]", i, "dialogs.end is missing")
		case (d.Choice.Regexp == nil) == (d.Side.Regexp == nil):
			wrong("[[dialogs]]", i, "dialogs: want either choice or side")
		}
	}
	for i, f := range r.Refused {
		if f.Text.Regexp == nil || f.Why == "" {
			wrong("[[refused]]", i, "refused: want text and why")
		}
	}
	for i, c := range r.Changes {
		if c.Text.Regexp == nil || c.Note == "" {
			wrong("[[changes]]", i, "changes: want text and note")
		}
	}
}

// pattern is a regular expression; nil matches nothing.
type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = match.Compile("", string(text))
	return err
}

// Matches reports whether a text contains a match of the pattern.
func (p pattern) Matches(s string) bool { return p.Regexp != nil && p.MatchString(s) }

// has reports whether the pattern has a named group.
func (p pattern) has(name string) bool { return p.SubexpIndex(name) >= 0 }

// group returns a named group of a match.
func (p pattern) group(m []string, name string) string {
	if i := p.SubexpIndex(name); i >= 0 {
		return m[i]
	}
	return ""
}

type textPattern struct{ pattern }

func (p *textPattern) UnmarshalText(text []byte) error {
	err := p.pattern.UnmarshalText(text)
	if err == nil && !p.has("text") {
		return errors.New("want the group (?P<text>…)")
	}
	return err
}

type labelPattern struct{ pattern }

func (p *labelPattern) UnmarshalText(text []byte) error {
	err := p.pattern.UnmarshalText(text)
	if err == nil && !p.has("label") {
		return errors.New("want the group (?P<label>…)")
	}
	return err
}

// choicePattern is a labelPattern that may also have one of the groups key and mark.
type choicePattern struct{ labelPattern }

func (p *choicePattern) UnmarshalText(text []byte) error {
	err := p.labelPattern.UnmarshalText(text)
	if err == nil && p.has("key") && p.has("mark") {
		return errors.New("want only one of the groups (?P<key>…), of a key that chooses, and (?P<mark>…), of what marks the current choice")
	}
	return err
}
