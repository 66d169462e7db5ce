// Package gap reads what scripts are made of: the files of gaps and their suites, what a
// script expects of which version, the lines of scripts, and the dialects in which servers are
// asked. It runs nothing.
package gap

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"tmuxmcp/conform/report"
	"tmuxmcp/fixtures"
)

// Gap is one gap of the issue: a claim about tmux, and the scripts that look at
// it. Its file is a txtar archive, whose comment has the fields below as
// "# key: text" lines (continued by lines that start with "#" and at least two
// spaces), with one file for each layer, named as the layer is. Further files
// are unpacked beside each script.
type Gap struct {
	report.GapInfo
	// Text is the whole file.
	Text []byte

	archive *txtar.Archive
}

// fileName is the form of a gap's file name: a number and words.
var fileName = regexp.MustCompile(`^([0-9]+)-[a-z0-9-]+$`)

// Parse reads the gap in a file of the given name.
func Parse(file string, text []byte) (*Gap, error) {
	g := &Gap{Text: text, archive: txtar.Parse(text)}
	g.Name = strings.TrimSuffix(path.Base(file), ".txtar")
	g.Digest = fmt.Sprintf("%x", sha256.Sum256(text))
	m := fileName.FindStringSubmatch(g.Name)
	if m == nil {
		return nil, fmt.Errorf("%s: the name of a gap is a number and words, as in 03-window-zoomed-flag.txtar", file)
	}
	var err error
	if g.Number, err = strconv.Atoi(m[1]); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	fields, names := map[string]*string{}, []string{}
	for _, f := range g.Fields() {
		fields[f.Name], names = f.Text, append(names, f.Name)
	}
	var last *string
	for n, line := range strings.Split(string(g.archive.Comment), "\n") {
		key, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
		switch {
		case strings.TrimSpace(strings.TrimPrefix(line, "#")) == "":
			last = nil
		case strings.HasPrefix(line, "#  ") && last != nil:
			*last += " " + strings.TrimSpace(line[1:])
		case ok && fields[key] != nil && *fields[key] == "":
			last = fields[key]
			*last = strings.TrimSpace(value)
		default:
			return nil, fmt.Errorf("%s:%d: not a field of a gap (%s), nor the next line of one: %s",
				file, n+1, strings.Join(names, ", "), line)
		}
	}
	if g.Title == "" || g.Claim == "" {
		return nil, fmt.Errorf("%s: the comment lacks \"# gap:\" or \"# claim:\"", file)
	}
	for _, need := range g.Features() {
		if _, ok := Features[need]; !ok {
			return nil, fmt.Errorf("%s: needs: unknown feature %q: want %s",
				file, need, strings.Join(slices.Sorted(maps.Keys(Features)), ", "))
		}
	}
	extras := map[[2]string]bool{}
	for _, r := range g.Rules() {
		claim := [2]string{string(r.Layer), r.Claim}
		if extra, has := extras[claim]; has && extra != r.Extra {
			return nil, fmt.Errorf("%s: layer %s: %q is both a claim and an extra", file, r.Layer, r.Claim)
		}
		extras[claim] = r.Extra
	}
	if len(g.Layers()) == 0 {
		return nil, fmt.Errorf("%s: no script: the archive needs a file named tmux, api or mcp", file)
	}
	return g, nil
}

// Features returns the names of the features without which the gap's scripts cannot run.
func (g *Gap) Features() []string {
	return strings.FieldsFunc(strings.ReplaceAll(g.Needs, ", ", ","), func(r rune) bool { return r == ',' })
}

// Load reads the gaps of a directory, in the order of their numbers.
func Load(fsys fs.FS) ([]*Gap, error) {
	files, err := fs.Glob(fsys, "*.txtar")
	if err != nil {
		return nil, err
	}
	var gaps []*Gap
	for _, file := range files {
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		g, err := Parse(file, text)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(gaps, func(o *Gap) bool { return o.Number == g.Number }); i >= 0 {
			return nil, fmt.Errorf("%s and %s.txtar are both gap %d", file, gaps[i].Name, g.Number)
		}
		gaps = append(gaps, g)
	}
	if len(gaps) == 0 {
		return nil, errors.New("no gaps: want files such as 03-window-zoomed-flag.txtar")
	}
	slices.SortFunc(gaps, func(a, b *Gap) int { return a.Number - b.Number })
	return gaps, nil
}

// Layers returns the layers that the gap has a script for.
func (g *Gap) Layers() []report.Layer {
	var layers []report.Layer
	for _, l := range report.Layers() {
		if g.Section(l) != nil {
			layers = append(layers, l)
		}
	}
	return layers
}

// Section returns the gap's script for a layer as its file has it; nil if there is none.
func (g *Gap) Section(l report.Layer) []byte {
	for _, f := range g.archive.Files {
		if f.Name == string(l) {
			return f.Data
		}
	}
	return nil
}

// Script returns the archive that testscript runs for a layer. Blank lines take
// the place of what precedes the script in the gap's file, so that the line
// numbers that testscript reports match the file.
func (g *Gap) Script(l report.Layer) []byte {
	before, _, _ := bytes.Cut(g.Text, []byte("-- "+string(l)+" --\n"))
	a := &txtar.Archive{Comment: append(bytes.Repeat([]byte("\n"), bytes.Count(before, []byte("\n"))+1), g.Section(l)...)}
	a.Files = g.Files()
	return txtar.Format(a)
}

// Files returns the files of the gap that are not scripts.
func (g *Gap) Files() (files []txtar.File) {
	for _, f := range g.archive.Files {
		if !slices.Contains(report.Layers(), report.Layer(f.Name)) {
			files = append(files, f)
		}
	}
	return files
}

// AllSuites is the name for all suites together.
const AllSuites = "all"

// LoadSuites reads the scripts of the suites with these names.
func LoadSuites(names ...string) ([]*Gap, error) {
	var gaps []*Gap
	var valid []string
	for _, s := range report.Suites() {
		valid = append(valid, s.Name)
		if !slices.Contains(names, s.Name) && !slices.Contains(names, AllSuites) {
			continue
		}
		var files fs.FS = fixtures.Gaps()
		if s.Name != report.Suites()[0].Name {
			files = fixtures.Suite(s.Name)
		}
		more, err := Load(files)
		if err != nil {
			return nil, fmt.Errorf("suite %s: %w", s.Name, err)
		}
		for _, g := range more {
			g.Suite = s.Name
		}
		gaps = append(gaps, more...)
	}
	for _, name := range names {
		if name != AllSuites && !slices.Contains(valid, name) {
			return nil, fmt.Errorf("unknown suite %q: want %s or %s", name, strings.Join(valid, ", "), AllSuites)
		}
	}
	return gaps, nil
}

// ClaimsOf returns how many claims each of these gaps has for each layer.
func ClaimsOf(gaps []*Gap) map[int]map[report.Layer]int {
	claims := map[int]map[report.Layer]int{}
	for _, g := range gaps {
		claims[g.Number] = map[report.Layer]int{}
		for _, l := range g.Layers() {
			claims[g.Number][l] = max(1, len(g.Claims(l, "")))
		}
	}
	return claims
}

// SuitesOf returns the suites of these gaps. A user's own gaps are in none.
func SuitesOf(gaps []*Gap) []report.Suite {
	return slices.DeleteFunc(report.Suites(), func(s report.Suite) bool {
		return !slices.ContainsFunc(gaps, func(g *Gap) bool { return g.Suite == s.Name })
	})
}
