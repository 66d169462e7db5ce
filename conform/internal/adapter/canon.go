package adapter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tmuxmcp/tmux"
)

// tokenTypes are the types of all tokens by their names.
var tokenTypes = sync.OnceValue(func() map[string]string {
	types := map[string]string{}
	for _, t := range tmux.Tokens() {
		types[t.Name] = t.Type
	}
	return types
})

// tokenScopes are the scopes of all tokens by their names.
var tokenScopes = sync.OnceValue(func() map[string]tmux.Scope {
	scopes := map[string]tmux.Scope{}
	for _, t := range tmux.Tokens() {
		scopes[t.Name] = t.Scope
	}
	return scopes
})

var integer = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})$`)

// canonical returns the value of a field in the form that scripts compare. The value of an unknown
// token, or one that does not fit the token's type, is returned as is. Numbers are [json.Number].
func canonical(name string, value any) any {
	typ, known := tokenTypes()[name]
	items, isList := value.([]any)
	text, isText := value.(string)
	number, _ := value.(json.Number)
	switch {
	case !known:
		return value
	case isText && text == "", isList && len(items) == 0 && strings.HasPrefix(typ, "[]"):
		return nil
	case isList && strings.HasPrefix(typ, "[]"):
		return texts(items)
	case isText && strings.HasPrefix(typ, "[]"):
		return strings.Split(text, ",")
	}
	if isText {
		number = json.Number(text)
	}
	switch typ {
	case "bool":
		switch number {
		case "0":
			return false
		case "1":
			return true
		}
	case "int", "int64":
		if integer.MatchString(number.String()) {
			return number
		}
	case "time.Time":
		return seconds(number.String(), value)
	}
	return value
}

// isCanonical reports whether a value has its token's type once it is canonical. It is true of
// unknown tokens.
func isCanonical(name string, value any) bool {
	typ, known := tokenTypes()[name]
	var is bool
	switch v := canonical(name, value).(type) {
	case nil:
		return true
	case bool:
		is = typ == "bool"
	case json.Number:
		is = slices.Contains([]string{"int", "int64", "time.Time"}, typ) && integer.MatchString(v.String())
	case []string:
		is = strings.HasPrefix(typ, "[]")
	case string:
		is = !slices.Contains([]string{"bool", "int", "int64", "time.Time"}, typ) && !strings.HasPrefix(typ, "[]")
	}
	return is || !known
}

// seconds returns a time in seconds since the epoch, or otherwise if the text is not a time.
func seconds(text string, otherwise any) any {
	if integer.MatchString(text) {
		return json.Number(text)
	}
	if f, ok := otherwise.(json.Number); ok {
		if s, err := f.Float64(); err == nil && s > -1e15 && s < 1e15 {
			return json.Number(strconv.FormatInt(int64(s), 10))
		}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return json.Number(strconv.FormatInt(t.Unix(), 10))
	}
	return otherwise
}

// texts returns the items of a list as texts, or the list itself if one of them cannot be a text.
func texts(items []any) any {
	all := make([]string, len(items))
	for i, item := range items {
		switch item := item.(type) {
		case string:
			all[i] = item
		case json.Number:
			all[i] = item.String()
		default:
			return items
		}
	}
	return all
}

// row is an object of tmux by the names of its fields.
type row map[string]any

// canonical returns the row with each value in the form that scripts compare.
func (r row) canonical() row {
	out := row{}
	for name, value := range r {
		out[name] = canonical(name, value)
	}
	return out
}

// typeOf returns the JSON type of a field's value, before it is made canonical.
func typeOf(value any) string {
	switch value.(type) {
	case bool:
		return "bool"
	case json.Number:
		return "number"
	case string:
		return "text"
	case []any:
		return "list"
	case nil:
		return "none"
	}
	return fmt.Sprintf("%T", value)
}

// decode decodes JSON and keeps numbers as they are written.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}
