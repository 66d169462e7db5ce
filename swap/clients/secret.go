package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/secret"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
)

// plainWords may be shown in a diff wherever they occur.
var plainWords = []string{"", "stdio", "local", "http", "sse", "streamable-http", "*"}

// harmless matches longer values that say nothing.
var harmless = lazy.Regexp(`^(true|false|null)$`)

// Visible returns what a diff of a config may show: of the given entries, which are those before and
// after a change, and if that hides something of the change, also of the others in the container
// and of comments.
func (c *Client) Visible(doc *format.Doc, container []string, entries ...map[string]any) []format.Visible {
	visible := []format.Visible{{Value: plain(c, entries)}}
	if doc == nil {
		return visible
	}
	names, _ := doc.Names(container)
	for _, name := range names {
		if e, err := doc.Lookup(container, name); err == nil && e.Found {
			entries = append(slices.Clip(entries), e.Value)
		}
	}
	return append(visible, format.Visible{Value: plain(c, entries), Comment: isProse})
}

// prose matches a word that is no secret and no piece of a config.
var prose = lazy.Regexp(`^\(?([A-Za-z]{1,6}|[A-Za-z]?[a-z]+(['-][a-z]+)*)[).,;:!?]*$|^-$`)

// isProse reports whether a comment consists of plain words.
func isProse(comment string) bool {
	return !secret.Name(comment) && !slices.ContainsFunc(strings.Fields(comment), func(word string) bool { return !prose().MatchString(word) })
}

// plain returns a function that reports which texts and numbers may be shown: what the entries have
// in fields of which it is known that they hold no secrets, unless it looks like one. The same word
// is not shown if another field has it as a secret.
func plain(c *Client, entries []map[string]any) func(string) bool {
	w := words{shown: map[string]bool{}, hidden: map[string]bool{}}
	for _, value := range entries {
		w.entry(c, value)
	}
	for _, word := range plainWords {
		w.shown[word] = true
	}
	for _, f := range c.Seed {
		if text, ok := f.Value.(string); ok {
			w.shown[text] = true
		}
	}
	return func(s string) bool { return w.shown[s] && !w.hidden[s] }
}

// words are the values in entries.
type words struct{ shown, hidden map[string]bool }

func (w words) entry(c *Client, value map[string]any) {
	argv := c.Dialect.ReadArgv(value)
	for i, shown := range ask.ShowArgs(argv) {
		w.add(argv[i], shown == argv[i])
	}
	flat := c.Dialect.Flat(value)
	for _, name := range slices.Sorted(maps.Keys(flat)) {
		switch field := flat[name]; {
		case len(argv) > 0 && (name == "command" || name == "args"):
		case slices.Contains(urlKeys, name):
			url, _ := field.(string)
			w.add(url, ask.ShowURL(url) == url)
		default:
			w.field(field, name, slices.Contains(plainKeys, name))
		}
	}
}

func (w words) add(word string, shown bool) {
	if shown {
		w.shown[word] = true
	} else if len(word) >= 4 && !harmless().MatchString(word) {
		w.hidden[word] = true
	}
}

// field adds the values of a field, which may hold none but plain ones.
func (w words) field(value any, name string, plain bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			w.field(v[member], member, false)
		}
	case []any:
		for _, x := range v {
			w.field(x, name, plain)
		}
	case nil, bool:
	default:
		text := fmt.Sprint(v)
		if namesVariable().MatchString(name) {
			w.add(text, variableName().MatchString(text) && !secret.Text(text))
			return
		}
		w.add(text, plain && !secret.Variable(name, text))
	}
}

// namesVariable matches fields that have the name of a variable.
var namesVariable = lazy.Regexp(`(?i)env_?var$`)

// plainKeys are fields that hold no secrets in any client. A command that is not used, because the
// client connects to an address, is not known to be one.
var plainKeys = slices.DeleteFunc(append([]string{"transport"}, localKeys...), func(name string) bool {
	return slices.Contains([]string{"command", "cmd", "args", "env", "envs", "environment", "metadata", "description"}, name)
})
