package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/gap"
)

// Commands of ours ask the target: "do LINE COMMAND…" replaces them, and records the line that runs
// and what failed there. The other commands are testscript's, which itself says which line failed,
// and why.

// instrument returns a script with "do LINE" before each command of ours.
func instrument(text string, lines []gap.Line, ours func(command string) bool) string {
	all := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		if ours(l.Command) && !(l.Command == "exec" && l.Background) {
			all[i] = fmt.Sprintf("%sdo %d %s", l.Before, l.Number, strings.TrimPrefix(all[i], l.Before))
		}
	}
	return strings.Join(all, "")
}

// instrumented matches what that adds to a transcript.
var instrumented = regexp.MustCompile(`(?m)^(> .*?)\bdo [0-9]+ `)

// after returns the next line with a command.
func after(line gap.Line, lines []gap.Line) gap.Line {
	for _, l := range lines[min(line.Number, len(lines)):] {
		if l.Command != "" {
			return l
		}
	}
	return gap.Line{}
}

// callIn returns the name of the call in a line, of a tool, verb or command, and its other words.
func callIn(line gap.Line) (name, rest string) {
	words := line.Words[min(len(line.Words), map[string]int{"try": 1, "wait-until": 2}[line.Command]):]
	if len(words) == 0 {
		return "", ""
	}
	i := 0
	if slices.Contains([]string{"tmux", "api", "mcp", "exec"}, words[0]) {
		words = words[1:]
		i = max(0, slices.IndexFunc(words, func(w string) bool { return w[0] != '-' && w[0] != '#' }))
	}
	if i < len(words) && words[i] == "fields" {
		return "fields", "" // the reason names the missing ones
	}
	for k, w := range words {
		switch {
		case w[0] == '#':
		case k == i:
			name = w
		default:
			rest += " " + w
		}
	}
	return name, strings.TrimSpace(rest)
}

// maxCall bounds the words in the name of a call.
const maxCall = 60

// callName returns the name of the call in a line, with which its reasons begin, such as "show". If
// the script makes other calls of that name, it adds the words, as the script writes them, and a
// number if there are equal calls: "show(%0) #2". So no two calls of a script have the same reason,
// and a known failure hides no other.
func callName(line gap.Line, lines []gap.Line) string {
	name, rest := callIn(line)
	if name == "" {
		return line.Text
	}
	others, same := false, 1
	clip := func(text string) string { return string([]rune(text)[:min(maxCall, len([]rune(text)))]) }
	for _, l := range lines {
		if n, r := callIn(l); n == name && l.Number != line.Number {
			others = others || r != rest
			if clip(r) == clip(rest) && l.Number < line.Number {
				same++
			}
		}
	}
	if others {
		name += "(" + clip(rest) + ")"
	}
	if same > 1 {
		name += fmt.Sprintf(" #%d", same)
	}
	return name
}
