package inventory

import (
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/internal/tokens"
)

// A Detail is what can be guessed of a token: the scope it belongs to and the type
// of its values, in the words of the table.
type Detail struct{ Scope, Type string }

var (
	rowWithCallback = regexp.MustCompile(`\{\s*"([^"]*)"\s*,\s*FORMAT_TABLE_(\w+)\s*,\s*(\w+)\s*,?\s*\}`)
	member          = regexp.MustCompile(`\bft->(\w+)`)
	printfOnly      = regexp.MustCompile(`(?:format_printf\(|asprintf\(&\w+, )"%(?:l|ll|z)?[du]"`)
	yesOrNo         = regexp.MustCompile(`xstrdup\s*\("[01]"\)`)
)

// memberScopes are the scopes of what a callback looks at in tmux's struct
// format_tree.
var memberScopes = map[string]string{
	"wp": "pane", "w": "window", "wl": "window", "s": "session", "c": "client", "pb": "buffer", "m": "mouse",
}

// Details guesses, from the functions in the source of format.c that its table
// names, what tmux does not say of its tokens.
func Details(src []byte) map[string]Detail {
	details := map[string]Detail{}
	text := string(src)
	for _, m := range rowWithCallback.FindAllStringSubmatch(text, -1) {
		name, kind, callback := m[1], m[2], m[3]
		d := guess(name)
		_, body, ok := strings.Cut(text, "\n"+callback+"(struct format_tree *")
		if ok {
			body, _, _ = strings.Cut(body, "\n}")
			d = guessFrom(body, d)
		}
		if kind == "TIME" {
			d.Type = "time"
		}
		details[name] = d
	}
	return details
}

func guessFrom(body string, named Detail) Detail {
	var scopes []string
	for _, m := range member.FindAllStringSubmatch(body, -1) {
		if s := memberScopes[m[1]]; s != "" {
			scopes = append(scopes, s)
		}
	}
	d := Detail{Scope: "server", Type: "string"}
	switch {
	case slices.Contains(scopes, named.Scope):
		d.Scope = named.Scope
	case len(scopes) > 0:
		d.Scope = scopes[0]
	}
	switch {
	case yesOrNo.MatchString(body):
		d.Type = "bool"
	case strings.Contains(body, "colour_tostring("):
		d.Type = "colour"
	case printfOnly.MatchString(body):
		d.Type = "int"
	}
	return d
}

// guess goes by the name alone. A flag is yes or no, and mostly a pane's.
func guess(name string) Detail {
	d := Detail{Scope: "server", Type: "string"}
	if strings.HasSuffix(name, "_flag") {
		d = Detail{Scope: "pane", Type: "bool"}
	}
	if scope, _, ok := strings.Cut(name, "_"); ok && slices.Contains(tokens.Scopes(), scope) {
		d.Scope = scope
	}
	return d
}

// guess goes by the name and the tokens that begin with the same word.
func (t *Table) guess(name string) Detail {
	d := guess(name)
	first, _, _ := strings.Cut(name, "_")
	if slices.Contains(tokens.Scopes(), first) {
		return d
	}
	if i := slices.IndexFunc(t.rows, func(r tokens.Token) bool { return strings.HasPrefix(r.Name, first+"_") }); i >= 0 {
		d.Scope = t.rows[i].Scope
	}
	return d
}
