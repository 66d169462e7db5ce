package cmd

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelpFits: the help of each command has at most 80 columns, and an example unless it is
// cobra's own.
func TestHelpFits(t *testing.T) {
	newReader(t)
	n := 0
	var look func(words []string)
	look = func(words []string) {
		n++
		out, code := help(append(words[:len(words):len(words)], "--help")...)
		if code != 0 {
			t.Errorf("%v: exit status %d\n%s", words, code, out)
		}
		for line := range strings.Lines(out) {
			if line = strings.TrimRight(line, "\n"); utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(line, "  "+words[0]) {
				t.Errorf("%v: more than 80 columns: %s", words, line)
			}
		}
		_, commands, _ := strings.Cut(out, "Available Commands:\n")
		commands, _, _ = strings.Cut(commands, "\n\n")
		for _, m := range regexp.MustCompile(`(?m)^  ([\w-]+)`).FindAllStringSubmatch(commands, -1) {
			if m[1] != "help" && m[1] != "completion" {
				look(append(words[:len(words):len(words)], m[1]))
			}
		}
		if !strings.Contains(out, "Examples:") {
			t.Errorf("%v has no example", words)
		}
	}
	for _, program := range []string{"tmux-mcp", "mcp-swap", "mcp-conform"} {
		look([]string{program})
	}
	if n < 20 {
		t.Errorf("the programs have %d commands", n)
	}
}

// TestHelpShowsFlagsThatApply: of the flags of tmux-mcp, the help of a command has those that mean
// something to it.
func TestHelpShowsFlagsThatApply(t *testing.T) {
	newReader(t)
	all := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)`)
	for words, want := range map[string]string{
		"watch": "no-transcripts socket-name socket-path tmux transport", "setup": "", "skill": "", "agents": "", "agents show": "",
		"agents test": "socket-name socket-path tmux transport", "tools": "results safety toolsets", "completion bash": "",
	} {
		out, _ := help(append(append([]string{"tmux-mcp"}, strings.Fields(words)...), "--help")...)
		_, global, _ := strings.Cut(out, "Global Flags:\n")
		var got []string
		for _, m := range all.FindAllStringSubmatch(global, -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: the help has %q, want %q", words, got, want)
		}
	}
}
