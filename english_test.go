package tmuxmcp_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// stilted are words and phrases that no engineer would say, and what to write
// instead. CHANGES.md keeps what it said.
var stilted = []struct {
	phrase *regexp.Regexp
	write  string
}{
	{regexp.MustCompile(`(?i)\b(tells?|told|telling)\b`), "report, show, return, say"},
	{regexp.MustCompile(`(?i)\bkin\b`), "the others; or name them"},
	{regexp.MustCompile(`(?i)\bamiss\b`), "wrong; problem"},
	{regexp.MustCompile(`(?i)\bto be had\b`), "available"},
	{regexp.MustCompile(`(?i)\bbut for\b`), "except"},
	{regexp.MustCompile(`(?i)\bwhat is none\b`), "name the thing"},
	{regexp.MustCompile(`(?i)\bthose of\b`), "repeat the noun"},
	{regexp.MustCompile(`(?i)\bin vain\b`), "without success; failed"},
	{regexp.MustCompile(`(?i)\bthe one who\b`), "the caller; the user"},
	{regexp.MustCompile(`(?i)\b(the|its|a) person\b`), "the user"},
	{regexp.MustCompile(`(?i)\b(is|are|be) no error\b`), "is not an error"},
}

// TestEnglish keeps words that read like a translation out of comments, docs and
// messages.
func TestEnglish(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z", "--", "*.go", "*.md", "*.txt", "*.txtar", "*.gap", "*.html", ".ci/*").Output()
	if err != nil {
		t.Skipf("not a git checkout, so the files of the project are not known: %v", err)
	}
	for name := range strings.SplitSeq(string(bytes.TrimRight(list, "\x00")), "\x00") {
		if name == "CHANGES.md" || name == "english_test.go" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, s := range stilted {
				if found := s.phrase.FindString(line); found != "" {
					t.Errorf("%s:%d: %q: write %s", name, i+1, found, s.write)
				}
			}
		}
	}
}
