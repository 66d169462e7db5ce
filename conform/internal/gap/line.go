package gap

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"tmuxmcp/conform/report"
)

// Line is a line of a script.
type Line struct {
	Number int    // from 1
	Text   string // without the space around it
	// Command is behind the conditions and the !, and empty if there is none. Words are it and
	// what follows, with their quotes; the last may be a comment.
	Command string
	Words   []string
	// Before and Behind are the line up to the command, and from there on.
	Before, Behind string
	Negated        bool     // by a !
	Conditions     []string // with their brackets and quotes
	Background     bool     // it ends in &
}

var background = regexp.MustCompile(`\s&([a-zA-Z_0-9]+&)?$`)

// words returns where the words of a line are, with their quotes. The last may be a comment. A
// quote without another one separates words.
func words(line string) (found [][2]int) {
	for i := 0; i < len(line); {
		start := i
		for i < len(line) && !strings.ContainsRune(" \t\r\f#", rune(line[i])) {
			if line[i] == '\'' {
				n := strings.IndexByte(line[i+1:], '\'')
				if n < 0 {
					break
				}
				i += n + 1
			}
			i++
		}
		switch {
		case i > start:
			found = append(found, [2]int{start, i})
		case line[i] == '#':
			return append(found, [2]int{i, len(line)})
		default:
			i++
		}
	}
	return found
}

// Lines returns the lines of a script, without the files that follow them.
func Lines(script string) (lines []Line) {
	for i, text := range strings.Split(script, "\n") {
		if strings.HasPrefix(text, "-- ") {
			break
		}
		lines = append(lines, parseLine(i+1, text))
	}
	return lines
}

func parseLine(number int, text string) Line {
	l := Line{Number: number, Text: strings.TrimSpace(text), Before: text}
	l.Background = strings.HasSuffix(l.Text, "&") && background.MatchString(l.Text)
	all := words(text)
	for i, w := range all {
		switch word := strings.ReplaceAll(text[w[0]:w[1]], "'", ""); {
		case strings.HasPrefix(word, "#"):
			return l
		case word == "!":
			l.Negated = true
		case strings.HasPrefix(word, "[") && strings.HasSuffix(word, "]"):
			l.Conditions = append(l.Conditions, text[w[0]:w[1]])
		default:
			l.Command, l.Before, l.Behind = word, text[:w[0]], text[w[0]:]
			for _, w := range all[i:] {
				l.Words = append(l.Words, text[w[0]:w[1]])
			}
			return l
		}
	}
	return l
}

var callsTool = regexp.MustCompile(`^(try |wait-until ('[^']*'|\S)+ )?mcp(\s|$)`)

// Unoffered returns evidence of the first call in the gap's script for layer mcp if the script,
// with this version of tmux, calls nothing that the server offers. It returns nil if that is not
// certain.
func (g *Gap) Unoffered(version string, o Offer, d *Dialect) (first *report.Evidence) {
	for _, line := range Lines(string(g.Section(report.MCPLayer))) {
		m := toolCall.FindStringSubmatch(line.Before + line.Behind)
		switch {
		case !(Rule{conditions: line.Before}).Has(version):
			continue
		case slices.Contains([]string{"safety", "skip", "stop"}, line.Command):
			return nil // there may be other tools, or none asked for
		case !callsTool.MatchString(line.Behind):
			continue
		case m == nil, first == nil && strings.Contains(ruleVersions.ReplaceAllString(line.Before, ""), "["):
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
			if strings.HasPrefix(line.Before, "!") {
				first.Expected = "failure"
			}
		}
	}
	return first
}
