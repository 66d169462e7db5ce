package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
)

// pages are all that people read, but what is made from other files.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range append(names, more...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// A command of a page is a line of a block, or code in its text, that begins with the
// name of a program, or with variables before it.
var (
	commandLine = regexp.MustCompile(`(?m)^(?:    )?(?:\$ )?(?:[A-Z_]+=\S+ )*((?:tmux-mcp|mcp-swap|mcp-conform|go test|\.ci/\w+) .*)$`)
	commandCode = regexp.MustCompile("`(?:[A-Z_]+=\\S+ )*((?:tmux-mcp|mcp-swap|mcp-conform|go test|\\.ci/\\w+) [^`]*)`")
)

// oneCommand is what stands before a comment, and before what the shell does besides.
var oneCommand = regexp.MustCompile(`^('[^']*'|"[^"]*"|[^'"#|&;<>\s]+|\s+)*`)

// TestCommandsOfPages: the programs know all commands, flags and tools that the pages have, the
// tests that they name exist, and so do the steps of .ci/full.
func TestCommandsOfPages(t *testing.T) {
	newReader(t)
	t.Setenv("GITHUB_STEP_SUMMARY", "summary.md")
	n := 0
	for page, text := range pages(t) {
		found := append(commandLine.FindAllStringSubmatch(text, -1), commandCode.FindAllStringSubmatch(text, -1)...)
		for _, m := range found {
			command := oneCommand.FindString(m[1])
			words := strings.Fields(strings.NewReplacer("…", "", "...", "", " TOOL ", " list_panes ").Replace(command))
			n++
			switch {
			case words[0] == "go":
				checkTests(t, page, command)
			case strings.HasPrefix(words[0], ".ci/"):
				checkSteps(t, page, words)
			default:
				// The words as a shell takes them.
				printed, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\0' `+strings.Join(words, " ")).Output()
				if err != nil {
					t.Errorf("%s: %s: %v", page, command, err)
					continue
				}
				words := strings.Split(strings.TrimSuffix(string(printed), "\x00"), "\x00")
				if out, code := help(withHelp(words)...); code != 0 {
					t.Errorf("%s: %s: exit status %d: %s", page, command, code, out)
				}
			}
		}
	}
	if n < 90 {
		t.Errorf("the pages have %d commands", n)
	}
}

// withHelp puts --help before the arguments that are a program's own.
func withHelp(words []string) []string {
	i := slices.Index(words, "--")
	if i < 0 {
		i = len(words)
	}
	return slices.Insert(slices.Clone(words), i, "--help")
}

func checkTests(t *testing.T, page, command string) {
	t.Helper()
	dir := regexp.MustCompile(`\./[\w/-]+`).FindString(command)
	if dir == "" {
		return
	}
	out, err := exec.Command("go", "list", "-f", `{{.Dir}}/*_test.go`, "."+dir).Output()
	if err != nil {
		t.Errorf("%s: %s: no package %s", page, command, dir)
		return
	}
	files, _ := filepath.Glob(strings.TrimSpace(string(out)))
	more, _ := filepath.Glob("../internal/test/*/*.go") // which declare flags
	var source strings.Builder
	for _, f := range append(files, more...) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, m := range regexp.MustCompile(`-(?:run|fuzz)[ =]'?\^?(?:Test|Fuzz)?([A-Za-z]+)`).FindAllStringSubmatch(command, -1) {
		if m[1] != "xxx" && !regexp.MustCompile(`func (Test|Fuzz)\w*`+m[1]).MatchString(source.String()) {
			t.Errorf("%s: %s: no test %s", page, command, m[1])
		}
	}
	for _, m := range regexp.MustCompile(` -([a-z]\w*)`).FindAllStringSubmatch(command, -1) {
		if !slices.Contains(strings.Fields("run fuzz fuzztime timeout count bench parallel"), m[1]) && !strings.Contains(source.String(), `"`+m[1]+`"`) {
			t.Errorf("%s: %s: no flag -%s", page, command, m[1])
		}
	}
}

func checkSteps(t *testing.T, page string, words []string) {
	t.Helper()
	text, err := os.ReadFile("../" + words[0])
	if err != nil {
		t.Errorf("%s: %v", page, err)
		return
	}
	for _, w := range words[1:] {
		if w != "help" && !strings.Contains(string(text), w) {
			t.Errorf("%s: %s has no %s", page, words[0], w)
		}
	}
}

// TestAdapterOfPages: the adapter that docs/adapters.md has is right, and offers what it is said
// to.
func TestAdapterOfPages(t *testing.T) {
	t.Parallel()
	tmux, dir := testtmux.Binary(t), t.TempDir()
	testtool.Path(t, "jq")
	_, text, _ := strings.Cut(pages(t)["../docs/adapters.md"], "\n```sh\n")
	text, _, _ = strings.Cut(text, "```\n")
	if err := os.WriteFile(filepath.Join(dir, "adapter.sh"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), "mcp-conform", "api", "check", "--timeout", "5m", "--tmux", tmux, "sh adapter.sh")
	check.Dir, check.Env = dir, append(os.Environ(), "HOME="+dir, "TMUX=", "TMUX_PANE=")
	out, err := check.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "\n3 of 12 verbs are offered; the adapter is right\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLinksOfPages: what pages link to in this repository exists, with the heading.
func TestLinksOfPages(t *testing.T) {
	all := pages(t)
	anchors := func(page string) []string {
		var found []string
		for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(all[page], -1) {
			heading := strings.ToLower(regexp.MustCompile(`[^\w -]`).ReplaceAllString(m[1], ""))
			found = append(found, strings.ReplaceAll(heading, " ", "-"))
		}
		for _, m := range regexp.MustCompile(`<a id="([\w-]+)"`).FindAllStringSubmatch(all[page], -1) {
			found = append(found, m[1])
		}
		return found
	}
	for page, text := range all {
		for _, m := range regexp.MustCompile(`\]\(([^):\s]*?)(?:#([\w-]*))?\)`).FindAllStringSubmatch(text, -1) {
			to := page
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", page, m[0], err)
			} else if m[2] != "" && strings.HasSuffix(to, ".md") && !slices.Contains(anchors(to), m[2]) {
				t.Errorf("%s links to %s, which has no such heading", page, m[0])
			}
		}
	}
}
