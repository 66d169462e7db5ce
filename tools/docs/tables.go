package main

//go:generate sh -c "cd ../.. && go run ./tools/docs tables"

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"tmuxmcp/server/cli"
)

// tables writes what pages say of the program, each part between two comments.
func tables() error {
	return errors.Join(sizesOfLists(), fromLibtmux())
}

// within replaces what is between the comments of a name in a page.
func within(page, name, made string) (string, error) {
	begin, end := "<!-- "+name+": made by go generate ./tools/docs -->\n", "<!-- end of "+name+" -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("the page has no place for the %s", name)
	}
	return before + begin + "\n" + made + "\n" + end + after, nil
}

// sizesOfLists writes the figures of sizes in README.md: a table made of the program, and what
// models have read.
func sizesOfLists() error {
	text, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	sizes, err := sizes()
	if err != nil {
		return err
	}
	page, err := os.ReadFile("docs/performance.md")
	if err != nil {
		return err
	}
	read := fortyPanes.FindSubmatch(page)
	if read == nil {
		return errors.New("docs/performance.md does not say what 40 panes are")
	}
	made, err := within(string(text), "sizes", sizes)
	if err != nil {
		return err
	}
	bytes, err := strconv.ParseFloat(strings.Replace(string(read[1]), ",", "", 1), 64)
	if err != nil {
		return err
	}
	made = panes.ReplaceAllString(made, fmt.Sprintf("40 panes are %.1f kB", bytes/1000))
	return os.WriteFile("README.md", []byte(made), 0o644)
}

// fortyPanes matches the first figure of a row in docs/performance.md.
var fortyPanes = regexp.MustCompile(`(?m)^\| list_panes, 40 panes \| [^|]*\| ([0-9,]+)`)

// panes is what README.md says of the figures.
var panes = regexp.MustCompile(`40 panes are [0-9.]+ kB`)

// sizes returns a table of how much of a model's context the lists of tools take.
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
		tools, err := listed(strings.Fields(c.args)...)
		if err != nil {
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

// declaration is what models read of a tool: docs/clients.md.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
}

// listed returns the tools of a tmux-mcp that is started with these flags.
func listed(flags ...string) (tools []declaration, err error) {
	var out, errs bytes.Buffer
	args := append([]string{"tools", "--json", "--tmux", "/bin/true"}, flags...)
	if code := cli.Main(args, nil, &out, &errs, nil); code != 0 {
		return nil, fmt.Errorf("tmux-mcp %q: %s", args, &errs)
	}
	return tools, json.Unmarshal(out.Bytes(), &tools)
}
