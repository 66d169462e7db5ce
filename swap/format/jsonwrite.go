package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// render returns the value of a member of an object with this layout.
func render(v any, l layout) string { return renderAt(v, l, l.base()) }

// renderAt returns a value as JSON. indent is that of the line on which the value starts.
func renderAt(v any, l layout, indent string) string {
	var b strings.Builder
	renderTo(&b, v, l, indent)
	return b.String()
}

func renderTo(b *strings.Builder, v any, l layout, indent string) {
	switch v := writable(v).(type) {
	case raw:
		b.WriteString(string(v))
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString(quote(v))
	case Object:
		renderList(b, l, l.multi, l.pad, l.gap, indent, "{", len(v), "}", func(i int, indent string) {
			b.WriteString(quote(v[i].Name))
			b.WriteString(l.colon)
			renderTo(b, v[i].Value, l, indent)
		})
	case []any:
		renderList(b, l, l.multi && l.arrays.multi, l.arrays.pad, l.arrays.gap, indent, "[", len(v), "]", func(i int, indent string) {
			renderTo(b, v[i], l, indent)
		})
	default: // bool, int, int64, json.Number: checkValue has ensured that
		fmt.Fprint(b, v)
	}
}

func renderList(b *strings.Builder, l layout, multi bool, pad, gap, indent, open string, n int, end string, item func(i int, indent string)) {
	b.WriteString(open)
	if n > 0 {
		before, between, after := pad, ","+gap, pad
		if multi {
			before, after = l.nl+indent+l.unit, l.nl+indent
			between = "," + before
		}
		for i := range n {
			if i == 0 {
				b.WriteString(before)
			} else {
				b.WriteString(between)
			}
			item(i, indent+l.unit)
		}
		b.WriteString(after)
	}
	b.WriteString(end)
}

// quote returns a JSON string, without HTML escapes.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
