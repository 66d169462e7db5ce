package gap

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Draft returns a first version of a dialect's file. It maps names that consist of the same words;
// for the others it has comments with names that may mean the same.
func (o Offer) Draft(tools map[string]*Tool) string {
	b := &strings.Builder{}
	names := slices.Sorted(maps.Keys(o))
	left := slices.Clone(names)
	fmt.Fprint(b, "# A draft: fill in what is in comments, a name of the server's or \"\" for what it lacks.\n"+
		"# A server without structured content has its text in the field \"result\", and JSON within\n# that in \"json\".\nname = \"mine\"\n")
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		name := sameWords(tool, names)
		if name == "" {
			fmt.Fprintf(b, "\n# [tools.%s]\n# name = \"\"%s\n", tool, perhaps(tool, names, sameTool))
			continue
		}
		left = slices.DeleteFunc(left, func(n string) bool { return n == name })
		fmt.Fprintf(b, "\n[tools.%s]\nname = %q\n", tool, name)
		if fields := tools[tool].Fields; len(fields) > 0 {
			fmt.Fprintf(b, "# fields = { %s }\n", strings.Join(quoted(slices.Sorted(maps.Keys(fields)), `%q = ""`), ", "))
		}
		fmt.Fprintf(b, "[tools.%s.parameters] # the server's: %s\n", tool, list(slices.Sorted(slices.Values(o[name]))))
		for _, p := range slices.Sorted(maps.Keys(tools[tool].Parameters)) {
			if to := sameWords(p, o[name]); to != "" {
				fmt.Fprintf(b, "%s = %q\n", p, to)
			} else {
				fmt.Fprintf(b, "# %s = \"\"%s\n", p, perhaps(p, o[name], sameParameter))
			}
		}
	}
	if len(left) > 0 {
		fmt.Fprint(b, "\n# The server's other tools, with their parameters:\n")
	}
	for _, name := range left {
		fmt.Fprintf(b, "#   %q %s\n", name, list(slices.Sorted(slices.Values(o[name]))))
	}
	return b.String()
}

// quoted formats each name.
func quoted(names []string, form string) []string {
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf(form, name))
	}
	return out
}

// list returns names as an array of TOML.
func list(names []string) string { return "[" + strings.Join(quoted(names, "%q"), ", ") + "]" }

// sameWords returns the name that differs only in case, dashes and underscores, or "" if there
// is none.
func sameWords(name string, names []string) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s)) }
	if slices.Contains(names, name) {
		return name
	}
	i := slices.IndexFunc(names, func(n string) bool { return plain(n) == plain(name) })
	if i < 0 {
		return ""
	}
	return names[i]
}

// meanings are groups of words that servers use for the same thing.
var meanings = [][]string{
	{"create", "new", "add", "open", "start", "spawn"},
	{"kill", "close", "delete", "remove", "destroy", "end", "stop"},
	{"list", "get", "show", "find", "search", "describe", "query"},
	{"capture", "read", "output", "screen", "content", "contents", "snapshot", "get"},
	{"send", "type", "write", "input", "execute", "run", "press", "paste"},
	{"select", "switch", "focus", "activate", "go"},
	{"split", "divide"},
	{"clear", "reset", "clean"},
	{"keys", "key", "text", "command", "shell", "input", "data"},
	{"filter", "filters"}, {"window", "windows", "tab", "tabs"}, {"pane", "panes", "terminal", "target"}, {"session", "sessions"},
	{"client", "clients"}, {"buffer", "buffers", "clipboard"}, {"option", "options", "setting", "settings", "config"},
	{"name", "title", "label"}, {"id", "target"}, {"size", "percent", "percentage"}, {"format", "template", "message", "display"},
	{"pattern", "query", "regex", "text"}, {"lines", "count", "limit", "rows"},
}

var wordIn = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+`)

// wordsOf returns the words of a name in any case, in lower case.
func wordsOf(name string) []string { return wordIn.FindAllString(strings.ToLower(snake(name)), -1) }

// snake returns a name in camelCase with underscores.
func snake(name string) string { return string(snakeCase([]byte(name))) }

// alike counts the words that a name contains, as they are or in another word of the same meaning.
func alike(ours []string, name string) (n int) {
	for _, word := range ours {
		if slices.ContainsFunc(wordsOf(name), func(theirs string) bool {
			return word == theirs || slices.ContainsFunc(meanings, func(m []string) bool { return slices.Contains(m, word) && slices.Contains(m, theirs) })
		}) {
			n++
		}
	}
	return n
}

// sameTool reports whether a tool may do what one of these words does, to the same kind of object.
func sameTool(ours []string, name string) bool {
	return alike(ours[:1], name) == 1 && alike(ours, name) > 1
}

// sameParameter reports whether a parameter may be the one of these words.
func sameParameter(ours []string, name string) bool { return 2*alike(ours, name) >= len(ours) }

// perhaps returns a comment with the three names that most likely mean the same as a name, or ""
// if none does.
func perhaps(name string, names []string, same func(ours []string, name string) bool) string {
	ours := wordsOf(name)
	if name == "split_window" { // which splits a pane
		ours = []string{"split", "pane"}
	}
	like := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !same(ours, n) })
	slices.SortStableFunc(like, func(a, b string) int { return cmp.Compare(alike(ours, b), alike(ours, a)) })
	if len(like) == 0 {
		return ""
	}
	return " # perhaps " + strings.Join(quoted(like[:min(3, len(like))], "%q"), ", ")
}
