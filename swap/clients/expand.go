package clients

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/swap/ask"
)

// An Expansion says how a client replaces references to variables in some fields of an entry. If a
// field has none and [Client.Literal] is not set, it is not known what the client makes of a
// reference.
type Expansion struct {
	In    []string // the fields: "command", "args", "env", "cwd", "envFile"
	Forms []string // names in forms
	// Unclear matches texts, Value values of variables, and Left results that the client
	// interprets further, in a way that is not known.
	Unclear, Value, Left ask.Pattern
	Empty                bool // it takes DEFAULT also for an empty variable
}

// forms are the ways to write a reference. The first group of a form is the name, the second
// what stands for a variable that is not set.
var forms = map[string]func() *regexp.Regexp{
	"$NAME":            lazy.Regexp(`\$([A-Za-z_][A-Za-z0-9_]*)`),
	"${NAME}":          lazy.Regexp(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`),
	"${NAME:-DEFAULT}": lazy.Regexp(`\$\{([A-Za-z_][A-Za-z0-9_]*):-([^}]*)\}`),
	// These name a directory, not a variable.
	"${userHome}":        lazy.Regexp(`\$\{(userHome)\}`),
	"${workspaceFolder}": lazy.Regexp(`\$\{(workspaceFolder)\}`),
	"${env:NAME}":        lazy.Regexp(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}`),
	"{env:NAME}":         lazy.Regexp(`\{env:([^}]+)\}`),
}

// reference matches what any client takes for a reference.
var reference = lazy.Regexp(`\$[A-Za-z_{(]|\$\$|\{(env|file):|%[A-Za-z_]+%`)

// nested matches a reference in the default of another.
var nested = lazy.Regexp(`:-[^}]*\$`)

// A MissingError reports a reference to a variable that is not set.
type MissingError struct{ Client, Name, Field string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not set here, and %s refers to it: set it where you start %s", e.Name, e.Field, e.Client)
}

// An UnclearError reports that it is not known what a client would start.
type UnclearError struct{ Why string }

func (e *UnclearError) Error() string { return e.Why }

// Expands reports whether a client is known to replace references in a field.
func (c *Client) Expands(field string) bool {
	return slices.ContainsFunc(c.Expand, func(x Expansion) bool { return slices.Contains(x.In, field) })
}

// Given returns what a client makes of the text of a field: "command", "args", "env", "cwd"
// or "envFile". label is for errors, which do not contain the text: it may be a secret. The error is a
// [*MissingError] or an [*UnclearError]. A variable that is not set is looked up by late, unless
// the reference has a default.
func (c *Client) Given(field, label, text string, lookup, late LookupEnv) (string, error) {
	i := slices.IndexFunc(c.Expand, func(x Expansion) bool { return slices.Contains(x.In, field) })
	if i < 0 {
		if c.Literal || !reference().MatchString(text) {
			return text, nil
		}
		return "", &UnclearError{fmt.Sprintf("it is not known what %s makes of the reference in %s", c.Name, label)}
	}
	x := c.Expand[i]
	unclear := x.Unclear.In(text) || nested().MatchString(text)
	var missing error
	text = x.references().ReplaceAllStringFunc(text, func(ref string) string {
		for _, name := range x.Forms {
			m := forms[name]().FindStringSubmatch(ref)
			if m == nil || m[0] != ref {
				continue
			}
			value, set := lookup(m[1])
			byDefault := len(m) == 3 && (!set || x.Empty && value == "")
			switch {
			case byDefault:
				return m[2]
			case !set:
				value, set = late(m[1])
			}
			if !set && field == "args" && strings.Contains(text, " ") {
				return ref // a script's own variable
			}
			if !set && missing == nil {
				missing = &MissingError{c.Name, m[1], label}
			}
			unclear = unclear || x.Value.In(value)
			return value
		}
		return ref
	})
	if missing != nil {
		return "", missing
	}
	if unclear || x.Left.In(text) {
		return "", &UnclearError{fmt.Sprintf("it is not known what %s makes of the reference in %s", c.Name, label)}
	}
	return text, nil
}

// references matches all forms of an expansion, the longest first.
func (x Expansion) references() *regexp.Regexp {
	var all []string
	for _, name := range x.Forms {
		all = append(all, forms[name]().String())
	}
	re := regexp.MustCompile(strings.Join(all, "|"))
	re.Longest()
	return re
}
