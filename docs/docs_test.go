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

// floors are the trees of this module, the lowest floor first. A package imports packages of its
// own tree and of lower floors; nothing imports the top floor. A tree within another, such as
// internal/test, is one of its own.
var floors = [][]string{
	{"internal"},
	{"tmux/layout", "tmux/internal/wire"},
	{"tmux"},
	{"tmux/follow", "tmux/inert", "tmux/prompt"},
	{"tmux/shell", "tmux/tmuxtest"},
	{"docs", "fixtures"}, // what the programs embed
	{"server", "conform", "swap"},
	{"cmd", "tools", "endtoend", "internal/test"}, // only tests import internal/test
}

// never has what a tree does not import although it is on a lower floor: trees, and with a "/" at
// the end all that is below one.
var never = map[string][]string{
	"swap":          {"tmux", "tmux/"},
	"internal/test": {"tmux/follow", "tmux/inert", "tmux/prompt", "tmux/shell", "docs", "fixtures", "server", "conform", "swap"},
}

// only has all that some packages import of this module.
var only = map[string][]string{
	"tmux":                   {"internal/guarded", "internal/keys", "internal/lazy", "internal/nearest", "internal/procstat", "internal/shellquote", "internal/turns", "tmux/internal/wire", "tmux/layout"},
	"tmux/shell":             {"internal/pause", "tmux/prompt", "internal/runner", "tmux"},
	"tmux/tmuxtest":          {"internal/cells", "internal/procstat", "tmux"},
	"conform/report":         {"internal/terminal", "tmux"},
	"swap/format":            {"internal/lazy"},
	"swap/internal/hint":     {},
	"swap/internal/machine":  {},
	"swap/internal/checkout": {"internal/atomicfile", "internal/lazy", "internal/nearest", "swap/ask", "swap/format", "swap/internal/hint"},
	"swap/clients":           {"internal/lazy", "internal/nearest", "internal/secret", "swap/ask", "swap/format", "swap/internal/hint", "swap/internal/machine"},
}

// treeOf returns the innermost tree that a package is in, and its floor.
func treeOf(pkg string) (tree string, floor int) {
	for i, trees := range floors {
		for _, t := range trees {
			if len(t) > len(tree) && (pkg == t || strings.HasPrefix(pkg, t+"/")) {
				tree, floor = t, i
			}
		}
	}
	return tree, floor
}

// TestImportsGoDown: docs/design.md lists every package, and imports, except those of tests, go
// down from floor to floor.
func TestImportsGoDown(t *testing.T) {
	t.Chdir("..")
	out, err := exec.Command("go", "list", "-e", "-f", `{{.Module.Path}}/ {{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	design, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := layoutOf(string(design))
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		module, pkg := words[0], strings.TrimPrefix(words[1], words[0])
		tree, floor := treeOf(pkg)
		if tree == "" {
			t.Errorf("%s is on no floor", pkg)
		}
		if tree != "cmd" && !slices.Contains(listed, pkg) {
			t.Errorf("docs/design.md does not list %s in its layout, below %s/", pkg, filepath.Dir(pkg))
		}
		if _, err := os.ReadDir(pkg); err != nil { // so that go test has no cached result for changed files
			t.Error(err)
		}
		allowed, limited := only[pkg]
		for _, imported := range words[2:] {
			imported, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			switch to, below := treeOf(imported); {
			case to != tree && below > floor:
				t.Errorf("%s imports %s, which is on a higher floor", pkg, imported)
			case to != tree && below == floor:
				t.Errorf("%s imports %s, which is on the same floor", pkg, imported)
			case slices.ContainsFunc(never[tree], func(n string) bool { return to == n || strings.HasSuffix(n, "/") && strings.HasPrefix(to, n) }), limited && !slices.Contains(allowed, imported):
				t.Errorf("%s imports %s", pkg, imported)
			}
		}
	}
}

// layoutOf returns the directories of the layout in docs/design.md, whose indentation says which is
// in which.
func layoutOf(design string) (dirs []string) {
	_, layout, _ := strings.Cut(design, "## Layout\n")
	layout, _, _ = strings.Cut(layout, "\n## ")
	var path []string
	for line := range strings.Lines(layout) {
		entry, ok := strings.CutPrefix(line, "    ")
		name, _, isDir := strings.Cut(strings.TrimLeft(entry, " "), "/ ")
		depth := (len(entry) - len(strings.TrimLeft(entry, " "))) / 2
		if !ok || !isDir || depth > len(path) {
			continue
		}
		path = append(path[:depth], name)
		dirs = append(dirs, strings.Join(path, "/"))
	}
	return dirs
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

// TestAgentsAreDocumented: docs/clients.md says what each agent CLI with built-in rules does with a
// prompt, and the tests that run the CLIs have a case of it.
func TestAgentsAreDocumented(t *testing.T) {
	rules, err := filepath.Glob("../fixtures/agents/*.toml")
	if err != nil || len(rules) == 0 {
		t.Fatalf("no rules of agents: %v", err)
	}
	for page, form := range map[string]string{
		"docs/clients.md":                        "\n- **NAME** ",
		"endtoend/clients/testdata/models.txtar": "\n-- case: NAME --\n",
	} {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range rules {
			name := strings.TrimSuffix(filepath.Base(file), ".toml")
			if want := strings.ReplaceAll(form, "NAME", name); !strings.Contains(string(text), want) {
				t.Errorf("%s has no %q for the rules of %s", page, strings.TrimSpace(want), name)
			}
		}
	}
}
