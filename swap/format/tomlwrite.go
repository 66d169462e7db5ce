package format

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// tomlValue returns a value on one line, as TOML 1.0 requires.
func tomlValue(v any) string {
	switch v := writable(v).(type) {
	case string:
		return tomlString(v)
	case Object:
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = tomlKey(f.Name) + " = " + tomlValue(f.Value)
		}
		if len(parts) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = tomlValue(x)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case json.Number:
		// JSON has one type of number, TOML has two: 64-bit integers, and floats for
		// everything larger.
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
		f, _ := strconv.ParseFloat(string(v), 64)
		return fmt.Sprint(plain(f))
	}
	return fmt.Sprint(v) // bool, int, int64, Literal: checkValue has ensured that
}

// tomlData returns a value to be written as it will be read.
func tomlData(v any) any {
	var m map[string]any
	if err := toml.Unmarshal([]byte("v = "+tomlValue(v)), &m); err != nil {
		return err
	}
	return plain(m["v"])
}

func tomlPath(path []string) string {
	keys := make([]string, len(path))
	for i, name := range path {
		keys[i] = tomlKey(name)
	}
	return strings.Join(keys, ".")
}

// tomlKey returns a key, bare if possible.
func tomlKey(name string) string {
	for _, c := range name {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return tomlString(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// tomlString returns a basic string, which YAML reads the same way.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
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
	b.WriteByte('"')
	return b.String()
}

// hasNull reports whether a value contains a nil.
func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case Object:
		return slices.ContainsFunc(v, func(f Field) bool { return hasNull(f.Value) })
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}
