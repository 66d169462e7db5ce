package reply

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"tmuxmcp/server/internal/params"
)

// Names, titles, paths and the like are chosen by whatever runs in tmux, and a model reads
// them next to our own words. Characters that are invisible, or that reorder the text
// around them, are shown by number, such as \u202e. Such a name is only for display;
// address its object by id.
//
// Properties that are returned unchanged, above all screens, have the tag exact:"true" in
// the output's type. So do values that only the user or this client can set: options,
// environments, hooks and buffers, which are data for programs.

// invisible reports whether a character is invisible or changes how others appear: control
// and format characters (including bidirectional ones), line and paragraph separators,
// fillers and variation selectors. The selector for emoji is allowed: it is in many titles.
func invisible(r rune) bool {
	switch {
	case r < 0x20 || r == 0x7f:
		return true
	case r < 0x7f:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) ||
		unicode.Is(unicode.Variation_Selector, r) && r != 0xfe0f ||
		r == 0x034f || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0
}

// Legible returns a text with invisible characters, except those in keep, as numbers.
func Legible(s, keep string) string {
	hidden := func(r rune) bool { return invisible(r) && !strings.ContainsRune(keep, r) }
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// LegibleJSON makes the texts in an output's compact JSON legible, except for exact
// properties. It first checks whether there is anything to do, which is rare.
func LegibleJSON(raw []byte, t reflect.Type) ([]byte, error) {
	if !mayHide(raw) {
		return raw, nil
	}
	return appendLegible(nil, gjson.ParseBytes(raw), exactProperties(t))
}

func appendLegible(b []byte, v gjson.Result, exact map[string]bool) (_ []byte, err error) {
	if v.Type == gjson.String {
		text, err := params.Marshal(Legible(v.Str, ""))
		return append(b, text...), err
	}
	if !v.IsObject() && !v.IsArray() {
		return append(b, v.Raw...), nil
	}
	b = append(b, v.Raw[0])
	first := true
	v.ForEach(func(name, value gjson.Result) bool {
		if !first {
			b = append(b, ',')
		}
		first = false
		if v.IsObject() {
			b, err = appendLegible(b, name, nil)
			b = append(b, ':')
		}
		if exact[name.Str] {
			b = append(b, value.Raw...)
		} else if err == nil {
			b, err = appendLegible(b, value, exact)
		}
		return err == nil
	})
	return append(b, v.Raw[len(v.Raw)-1]), err
}

// mayHide reports whether JSON may contain a text with something invisible: an escape other
// than of a quote or a backslash, or an invisible character beyond ASCII.
func mayHide(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '\\':
			i++
			if i < len(raw) && raw[i] != '"' && raw[i] != '\\' && raw[i] != '/' {
				return true
			}
		case c == 0x7f:
			return true
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(raw[i:])
			if invisible(r) {
				return true
			}
			i += n - 1
		}
	}
	return false
}

// exactProperties returns the properties of an output, at any depth, whose values are
// returned unchanged.
func exactProperties(t reflect.Type) map[string]bool {
	if t = params.Elem(t); t.Kind() == reflect.Slice {
		t = params.Elem(t.Elem())
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	m := map[string]bool{}
	for _, f := range params.FieldsOf(t) {
		if f.Exact {
			m[f.Name] = true
		} else {
			for name := range exactProperties(f.Type) {
				m[name] = true
			}
		}
	}
	return m
}
