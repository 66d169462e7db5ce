package tmux

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file decodes the escapes that tmux itself writes: in show-options and
// show-environment -s, in capture-pane -C, in the values of rows and, in tmux 3.4 and 3.5,
// for control bytes in anything that they print.

// unescape decodes backslash escapes: three octal digits, the letters of C, or any other
// character for itself. With dollars it also removes the backslash that tmux 3.4 puts
// between an escaping backslash and its "$".
func unescape(s string, dollars bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	pair := false // the last byte came from two backslashes
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' || i+1 == len(s) {
			if c == '$' && dollars && pair && i+1 < len(s) && beginsName(s[i+1]) {
				b = b[:len(b)-1]
			}
			b, pair = append(b, c), false
			continue
		}
		i++
		pair = s[i] == '\\'
		if ctl, n := unvis(s[i:]); n > 0 {
			b, i = append(b, ctl), i+n-1
		} else if j := strings.IndexByte("nt", s[i]); j >= 0 {
			b = append(b, "\n\t"[j])
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// cutEscaped cuts s at the first end that no backslash escapes.
func cutEscaped(s string, end byte) (before, after string, found bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case end:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// unvis decodes what follows a backslash: it returns the byte and the length of its escape,
// or 0 if it is not an escape of vis(3).
func unvis(s string) (byte, int) {
	if i := strings.IndexByte("abvfr", s[0]); i >= 0 {
		return "\a\b\v\f\r"[i], 1
	}
	if len(s) >= 3 {
		if n, err := strconv.ParseUint(s[:3], 8, 8); err == nil {
			return byte(n), 3
		}
	}
	return 0, 0
}

func beginsName(c byte) bool {
	return c == '_' || c == '{' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// unquote decodes a value as show-options prints it: bare, or in single or double quotes;
// backslashes are escapes in all three.
func unquote(s string, dollars bool) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return unescape(s, dollars)
}

// printed returns a line of text as this tmux prints it, if that is not 3.4.
func (v Version) printed(s string) string {
	if !v.printsVis() {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		c := s[0]
		switch i := strings.IndexByte("\a\b\v\f\r", c); {
		case i >= 0:
			b.WriteString(`\` + "abvfr"[i:i+1])
		case r == utf8.RuneError && size == 1 || c == 0x7f || c < ' ' && c != '\n' && c != '\t':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
