package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"tmuxmcp/internal/lazy"
)

// writer writes values in one language.
type writer struct {
	key, text func(string) string
	// other returns what fmt is to print for a value that is neither text, list nor object.
	other func(any) any
	layout
}

// raw is text to be written unchanged.
type raw string

func plainOther(v any) any {
	if v == nil {
		return "null"
	}
	return v // raw, bool, int, int64, json.Number, Literal: checkValue has ensured that
}

// oneLine is how TOML and YAML write values on one line.
var oneLine = layout{gap: " ", arrays: arrayLayout{gap: " "}}

func jsonWriter(l layout) writer { return writer{quote, quote, plainOther, l} }

// value returns the text of v, which starts on a line with this indentation.
func (w writer) value(v any, indent string) string {
	switch v := writable(v).(type) {
	case string:
		return w.text(v)
	case Object:
		return w.list(w.multi, w.pad, w.gap, indent, "{}", len(v), func(i int, indent string) string {
			return w.key(v[i].Name) + w.colon + w.value(v[i].Value, indent)
		})
	case []any:
		return w.list(w.multi && w.arrays.multi, w.arrays.pad, w.arrays.gap, indent, "[]", len(v), func(i int, indent string) string {
			return w.value(v[i], indent)
		})
	default:
		return fmt.Sprint(w.other(v))
	}
}

func (w writer) list(multi bool, pad, gap, indent, braces string, n int, item func(i int, indent string) string) string {
	if n == 0 {
		return braces
	}
	before, between, after := pad, ","+gap, pad
	if multi {
		before, after = w.nl+indent+w.unit, w.nl+indent
		between = "," + before
	}
	items := make([]string, n)
	for i := range items {
		items[i] = item(i, indent+w.unit)
	}
	return braces[:1] + before + strings.Join(items, between) + after + braces[1:]
}

// quote returns a JSON string, without HTML escapes.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// tomlValue returns a value on one line, as TOML 1.0 requires.
func tomlValue(v any) string { return tomlIn(oneLine, v, "") }

func tomlIn(l layout, v any, indent string) string {
	l.colon, l.pad = " = ", " "
	return writer{tomlKey, tomlString, tomlOther, l}.value(v, indent)
}

func tomlOther(v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	// JSON has one type of number, TOML has two: 64-bit integers, and floats for everything
	// larger.
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return i
	}
	f, _ := strconv.ParseFloat(string(n), 64)
	return data(f)
}

// tomlData returns a value to be written as it will be read.
func tomlData(v any) any {
	var m map[string]any
	if err := toml.Unmarshal([]byte("v = "+tomlValue(v)), &m); err != nil {
		return err
	}
	return data(m["v"])
}

func tomlPath(path []string) string {
	keys := make([]string, len(path))
	for i, name := range path {
		keys[i] = tomlKey(name)
	}
	return strings.Join(keys, ".")
}

var bareKey = lazy.Regexp(`^[A-Za-z0-9_-]+$`)

// tomlKey returns a key, bare if possible.
func tomlKey(name string) string {
	if bareKey().MatchString(name) {
		return name
	}
	return tomlString(name)
}

// tomlString returns a basic string, which YAML reads the same way.
func tomlString(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < 0x20 || 0x7f <= c && c < 0xa0 || c == '\u2028' || c == '\u2029' || c == '\ufeff' || c == '\ufffe' || c == '\uffff':
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}
