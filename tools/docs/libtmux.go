package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"tmuxmcp/server"
)

// fromLibtmux writes the tables of docs/from-libtmux-mcp.md, from the facts about libtmux-mcp
// that a test in server holds.
func fromLibtmux() error {
	const path = "docs/from-libtmux-mcp.md"
	raw, err := os.ReadFile("server/testdata/libtmux-mcp.json")
	if err != nil {
		return err
	}
	var ref struct {
		ReadFrom    string `json:"read_from"`
		Variables   []string
		Differences []struct{ Tools, What, Why string }
		Tools       map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &ref); err != nil {
		return err
	}
	tools, err := listed("--safety", "destructive")
	if err != nil {
		return err
	}
	var more []string
	for _, t := range tools {
		if ref.Tools[t.Name] == nil {
			more = append(more, fmt.Sprintf("[%s](tools.md#%[1]s)", t.Name))
		}
	}
	same := len(tools) - len(more)
	if same != len(ref.Tools) {
		return fmt.Errorf("%d of the %d tools of libtmux-mcp are here", same, len(ref.Tools))
	}
	differences := "| tools | here | why |\n|---|---|---|\n"
	for _, d := range ref.Differences {
		differences += fmt.Sprintf("| %s | %s | %s |\n", d.Tools, d.What, d.Why)
	}
	variables := "| of libtmux-mcp | of tmux-mcp | meaning |\n|---|---|---|\n"
	lines := strings.Split(server.Environment(0), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		ours, theirs, _ := strings.Cut(lines[i], ", ")
		for _, name := range ref.Variables {
			if name == theirs {
				variables += fmt.Sprintf("| `%s` | `%s` | %s |\n", theirs, ours, strings.TrimSpace(lines[i+1]))
			}
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page := string(text)
	for name, made := range map[string]string{
		"tools":       fmt.Sprintf("All %d tools of %s. Only here: %s.\n", same, ref.ReadFrom, strings.Join(more, ", ")),
		"differences": differences,
		"variables":   variables,
	} {
		if page, err = within(page, name, made); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.WriteFile(path, []byte(page), 0o644)
}
