// Package cases reads test cases from txtar files, which can contain whole documents
// unchanged.
//
// A file contains the cases of one topic. Its comment says what they are about. A section
// "case: NAME" begins a case; its lines are settings, each "NAME: VALUE". The sections
// after it are the texts of the case. Settings for all cases of a file follow the first
// blank line of its comment; they come after a case's own.
//
// For bytes that no editor shows, callers use a notation of their own.
package cases

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A Case is a case of a file.
type Case struct {
	File, Name string // Name, and the file without directory and extension
	Settings   map[string][]string
	Texts      map[string]string
}

// Load returns the cases in the files that match the pattern, in file order. It ends the
// test if there are none, or if one has a setting that is not among settings.
func Load(t testing.TB, pattern string, settings ...string) (all []Case) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read := func(lines string) map[string][]string {
			t.Helper()
			out := map[string][]string{}
			for line := range strings.Lines(lines) {
				name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				if !slices.Contains(settings, name) {
					t.Fatalf("%s: no such setting: %q", file, line)
				}
				out[name] = append(out[name], value)
			}
			return out
		}
		_, preset, _ := strings.Cut(string(archive.Comment), "\n\n")
		begun := false
		for _, section := range archive.Files {
			name, begins := strings.CutPrefix(section.Name, "case: ")
			if !begins {
				if !begun {
					t.Fatalf("%s: the section %s is of no case", file, section.Name)
				}
				all[len(all)-1].Texts[section.Name] = string(section.Data)
				continue
			}
			begun = true
			c := Case{
				File: strings.TrimSuffix(filepath.Base(file), ".txtar"), Name: name,
				Settings: read(strings.TrimSpace(preset)), Texts: map[string]string{},
			}
			for name, values := range read(string(section.Data)) {
				c.Settings[name] = values
			}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no cases in %s", pattern)
	}
	return all
}

// One returns the value of a setting that occurs at most once; "" if it does not occur.
func (c Case) One(setting string) string { return strings.Join(c.Settings[setting], "") }

// Lines returns the lines of a file that are not comments, which begin with #.
func Lines(t *testing.T, file string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}
