package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"tmuxmcp/server"
	"tmuxmcp/server/internal/agents"
)

// TestWrap: on a terminal no line of these commands is wider than that or cut in a word; in a
// pipe each row is a line.
func TestWrap(t *testing.T) {
	t.Parallel()
	var o options
	cmd, _, err := command(&o, nil, io.Discard).Find([]string{"tools"})
	if err == nil {
		err = cmd.ParseFlags(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.lister(cmd, true)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/home/.config/tmux-mcp/agents/"
	fault := agents.Fault{File: path + "bad.toml", Line: 3, Text: "unknown key queue, which is none of those that docs/agents.md documents"}
	known := append(agents.RuleSet{{Name: "own", File: path + "own.toml", Replaces: true, Names: []string{"own", "own-native"}}}, agents.BuiltIn()...)
	for _, c := range []struct {
		what  string
		rows  int // in a pipe; not checked if 0
		write func(w io.Writer, width int) error
	}{
		{"tools", len(s.Tools()), s.WriteTools},
		{"agents", len(known) + 2, func(w io.Writer, width int) error {
			return writeAgents(w, known, []agents.Fault{fault}, width)
		}},
		{"environment", 0, func(w io.Writer, width int) error {
			_, err := io.WriteString(w, server.Environment(width))
			return err
		}},
		{"call TOOL --help", 0, func(w io.Writer, width int) error {
			for _, tool := range s.Tools() {
				if err := s.WriteTool(w, tool.Name, width); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		var whole bytes.Buffer
		if err := c.write(&whole, 0); err != nil || whole.Len() == 0 || c.rows > 0 && strings.Count(whole.String(), "\n") != c.rows {
			t.Fatalf("%s: %v\n%s", c.what, err, whole.String())
		}
		for _, width := range []int{50, 80, 120} {
			var wrapped bytes.Buffer
			if err := c.write(&wrapped, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(wrapped.String()) {
				if utf8.RuneCountInString(line)-1 > width {
					t.Errorf("%s, %d columns: %s", c.what, width, line)
				}
			}
			if got, want := strings.Fields(wrapped.String()), strings.Fields(whole.String()); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s, %d columns: the words are others\n%s", c.what, width, wrapped.String())
			}
		}
	}
}
