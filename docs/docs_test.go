// Package docs holds the documents to what they say of the code.
package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNoPrograms: what go build leaves in the root is not in the repository.
func TestNoPrograms(t *testing.T) {
	out, err := exec.Command("git", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("this is no checkout of a git repository: %v", err)
	}
	for name := range strings.FieldsFuncSeq(string(out), func(r rune) bool { return r == 0 }) {
		if info, err := os.Stat(filepath.Join("..", name)); err == nil && info.Size() > 1<<20 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
}

// TestImportsGoDown: docs/design.md lists every package, and imports are as it says.
func TestImportsGoDown(t *testing.T) {
	t.Chdir("..")
	out, err := exec.Command("go", "list", "-f", `{{.Module.Path}}/ {{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	design, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, layout, _ := strings.Cut(string(design), "## Layout")
	layout, _, _ = strings.Cut(layout, "## ")
	only := map[string][]string{
		"tmux":           {"internal/lazy", "internal/nearest", "internal/procstat", "internal/shellquote", "internal/turns"},
		"tmux/shell":     {"internal/pause", "internal/prompt", "internal/runner", "tmux"},
		"tmux/tmuxtest":  {"internal/cells", "internal/procstat", "tmux"},
		"conform/report": {"internal/terminal", "tmux"},
		"swap/format":    {"internal/lazy"}, "swap/internal/hint": {}, "swap/internal/machine": {},
		"swap/internal/checkout": {"internal/atomicfile", "internal/lazy", "swap/ask", "swap/format", "swap/internal/hint"},
		"swap/clients":           {"internal/lazy", "internal/nearest", "swap/ask", "swap/format", "swap/internal/hint", "swap/internal/machine"},
	}
	never := map[string][]string{"server": {"conform", "swap", "cmd", "tools"}, "conform": {"server", "swap", "cmd", "tools"}, "swap": {"tmux", "server", "conform", "cmd", "tools"}, "internal": {"server", "conform", "swap", "cmd", "tools"}}
	for line := range strings.Lines(string(out)) {
		module, line, _ := strings.Cut(line, " ")
		words := strings.Fields(strings.ReplaceAll(line, module, ""))
		room, _, _ := strings.Cut(words[0], "/")
		if name := filepath.Base(words[0]) + "/ "; room != "cmd" && !strings.Contains(layout, " "+name) {
			t.Errorf("docs/design.md does not list %s", words[0])
		}
		allowed, limited := only[words[0]]
		for _, imported := range words[1:] {
			of, _, _ := strings.Cut(imported, "/")
			if _, err := os.Stat(imported); err != nil {
				continue // not of this module
			}
			if limited && !slices.Contains(allowed, imported) || slices.Contains(never[room], of) {
				t.Errorf("%s imports %s", words[0], imported)
			}
		}
	}
}

// TestPagesNameTheirTests: each test that SECURITY.md and docs/questions.md name exists.
func TestPagesNameTheirTests(t *testing.T) {
	t.Chdir("..")
	source := func(pattern string) string {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(raw)
		}
		return all.String()
	}
	all := source("*_test.go") + source("*/*_test.go") + source("*/*/*_test.go") + source("*/*/*/*_test.go")
	for page, least := range map[string]int{"SECURITY.md": 30, "docs/questions.md": 10} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)(?:/([a-z_]+))?`").FindAllStringSubmatch(string(text), -1)
		for _, name := range names {
			if !strings.Contains(all, "func "+name[1]+"(") {
				t.Errorf("%s: there is no test %s", page, name[1])
			}
			if name[2] != "" && source("*/testdata/*/"+name[2]+".txtar") == "" {
				t.Errorf("%s: %s has no script %s", page, name[1], name[2])
			}
		}
		if len(names) < least {
			t.Errorf("%s: found %d tests", page, len(names))
		}
	}
}
