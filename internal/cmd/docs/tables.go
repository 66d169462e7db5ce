package main

//go:generate sh -c "cd ../../.. && go run ./internal/cmd/docs tables"

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	"tmuxmcp/internal/test/standin"
	"tmuxmcp/server/cli"
)

// tables writes the tables of README.md and of docs that are made of the program and of
// what models have read.
func tables() error {
	sizes, err := sizes()
	if err != nil {
		return err
	}
	figures := standin.Recorded()
	for _, table := range []struct{ page, name, text string }{
		{"README.md", "sizes", sizes},
		{"docs/clients.md", "figures", figures.Markdown(true)},
		{"docs/performance.md", "figures", figures.Markdown(false)},
	} {
		text, err := os.ReadFile(table.page)
		if err != nil {
			return err
		}
		begin := fmt.Sprintf("<!-- %s: made by go generate ./internal/cmd/docs -->\n", table.name)
		before, rest, found := strings.Cut(string(text), begin)
		_, after, ended := strings.Cut(rest, fmt.Sprintf("<!-- end of %s -->", table.name))
		if !found || !ended {
			return fmt.Errorf("%s has no place for the %s", table.page, table.name)
		}
		made := fmt.Sprintf("%s%s\n%s\n<!-- end of %s -->%s", before, begin, table.text, table.name, after)
		if table.name == "sizes" {
			read := figures.Row("list_panes, 40 panes").Now[0].Bytes
			made = panes.ReplaceAllString(made, fmt.Sprintf("40 panes are %.1f kB", float64(read)/1000))
		}
		if err := os.WriteFile(table.page, []byte(made), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// panes is what README.md says of the figures.
var panes = regexp.MustCompile(`40 panes are [0-9.]+ kB`)

// sizes is how much of a model's context the lists of tools take.
func sizes() (string, error) {
	var b strings.Builder
	b.WriteString("| | tools | bytes |\n|---|---:|---:|\n")
	for _, c := range []struct{ title, args string }{
		{"`--safety readonly`", "--safety readonly"},
		{"the default", "--safety mutating"},
		{"`--safety destructive`", "--safety destructive"},
		{"`--toolsets core`", "--toolsets core"},
		{"`--toolsets core --safety readonly`", "--toolsets core --safety readonly"},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"tools", "--json", "--tmux", "/bin/true"}, strings.Fields(c.args)...)
		if code := cli.Main(args, nil, &out, &errs); code != 0 {
			return "", fmt.Errorf("tmux-mcp %q: %s", args, &errs)
		}
		// What models read of a tool: docs/clients.md.
		var tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal(out.Bytes(), &tools); err != nil {
			return "", err
		}
		var read bytes.Buffer
		enc := json.NewEncoder(&read)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(tools); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %d | %d kB |\n", c.title, len(tools), (read.Len()+500)/1000)
	}
	return b.String(), nil
}
