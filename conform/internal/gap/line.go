package gap

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"tmuxmcp/conform/report"
)

// LineWord is a word of a script's line, with its quotes, or a comment.
var LineWord = regexp.MustCompile(`#[^\n]*|([^\s'#]|'[^']*')+`)

// CommandAt returns a line's command, which stands behind its conditions and the !, and where
// it begins; empty if there is none.
func CommandAt(line string) (int, string) {
	for _, w := range LineWord.FindAllStringIndex(line, -1) {
		switch word := strings.ReplaceAll(line[w[0]:w[1]], "'", ""); {
		case strings.HasPrefix(word, "#"):
			return 0, ""
		case word == "!", strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]"):
		default:
			return w[0], word
		}
	}
	return 0, ""
}

// callsTool is a command that calls a tool.
var callsTool = regexp.MustCompile(`^(try |wait-until ('[^']*'|\S)+ )?mcp\s`)

// Unoffered returns the first call of the gap's script for layer mcp if the script asks for
// nothing that the server offers, and nil if it may be otherwise. What was expected and what
// the server lacks is evidence.
func (g *Gap) Unoffered(o Offer, d *Dialect) (first *report.Evidence) {
	for line := range strings.Lines(string(g.Section(report.MCPLayer))) {
		at, command := CommandAt(line)
		m := toolCall.FindStringSubmatch(line)
		switch {
		case slices.Contains([]string{"safety", "skip", "stop"}, command):
			return nil // there may be other tools, or none asked for
		case !callsTool.MatchString(line[at:]):
			continue
		case m == nil, first == nil && strings.Contains(line[:at], "["):
			return nil
		}
		arguments := map[string]any{}
		for name := range gjson.Parse(m[3]).Map() {
			arguments[name] = nil
		}
		tool, _, err := d.Ask(m[2], arguments)
		if _, offered := o[tool]; err == nil && offered {
			return nil
		} else if err == nil {
			err = NoTool(tool)
		}
		if first == nil {
			words := slices.DeleteFunc([]string{"mcp", m[2], m[3]}, func(w string) bool { return w == "" })
			first = &report.Evidence{Command: report.CommandLine(words), Expected: "success", Actual: err.Error()}
			if strings.HasPrefix(line, "!") {
				first.Expected = "failure"
			}
		}
	}
	return first
}
