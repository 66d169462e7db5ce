// Package cases reads the cases of a test from txtar files, so that whole documents
// stand in them as they are.
//
// A file holds the cases of one topic. Its comment says what they are about. A section
// "case: NAME" begins a case; its lines are settings, each "NAME: VALUE". The sections
// behind it are the texts of the case. Settings for all cases of a file stand behind the
// first blank line of its comment; a case's own come before them.
//
// For bytes that no editor shows, the caller has a notation of its own.
package cases

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A Case is a case of a file.
type Case struct {
	File, Name string // of the file, without directory and extension
	Settings   map[string][]string
	Texts      map[string]string
}

// Load returns the cases of the files that match the pattern, in the order of the files.
// It ends the test if there are none, or one has a setting that is not among these.
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

// One returns the value of a setting that is there once at most; "" if it is not.
func (c Case) One(setting string) string { return strings.Join(c.Settings[setting], "") }
