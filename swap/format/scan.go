package format

import (
	"bytes"
	"encoding/json"
)

// scanObject lists the members of the object that starts at offset start, without looking
// into them. text must be valid JSON, with comments and trailing commas. It builds no tree,
// because some clients keep megabytes of history in their configs.
func scanObject(text []byte, start int) object {
	o := object{start: start}
	i := skipBlank(text, start+1, false)
	for text[i] != '}' {
		m := member{nameStart: i, key: skipString(text, i), comma: -1}
		m.name = unquote(text[i:m.key])
		m.start = skipBlank(text, skipBlank(text, m.key, false)+1, false)
		m.end = skipValue(text, m.start)
		if i = skipBlank(text, m.end, false); text[i] == ',' {
			m.comma = i
			i = skipBlank(text, i+1, false)
		}
		o.members = append(o.members, m)
	}
	o.end = i + 1
	return o
}

// skipBlank returns the offset after space and comments, which start with "#" if hash is set.
func skipBlank(text []byte, i int, hash bool) int {
	for i = skipSpace(text, i); i < len(text); i = skipSpace(text, i) {
		end, _ := comment(text, i, hash)
		if end == i {
			break
		}
		i = end
	}
	return i
}

// comment returns the end of the comment that starts at i, or i if there is none. line is
// set for one that ends with its line, whose newline does not belong to it; hash if such a
// comment starts with "#", as in TOML. A block comment without end has none.
func comment(text []byte, i int, hash bool) (end int, line bool) {
	switch rest := text[i:]; {
	case hash && rest[0] == '#', !hash && bytes.HasPrefix(rest, []byte("//")):
		return lineEnd(text, i), true
	case !hash && bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return i + n + 4, false
		}
	}
	return i, false
}

func skipSpace(text []byte, i int) int {
	return len(text) - len(bytes.TrimLeft(text[min(i, len(text)):], " \t\r\n"))
}

// skipString returns the offset after the string that starts at i; the length of the text
// if it has no end.
func skipString(text []byte, i int) int {
	for i++; ; i++ {
		next := bytes.IndexByte(text[i:], '"')
		if next < 0 {
			return len(text)
		}
		i += next
		n := 0
		for text[i-1-n] == '\\' {
			n++
		}
		if n%2 == 0 {
			return i + 1
		}
	}
}

// skipValue returns the offset after the value that starts at i.
func skipValue(text []byte, i int) int {
	switch c := text[i]; {
	case c == '"':
		return skipString(text, i)
	case c != '{' && c != '[':
		for i < len(text) && isLiteral(text[i]) {
			i++
		}
		return i
	}
	for depth := 0; ; {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			continue
		case '/':
			i, _ = comment(text, i, false)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// isLiteral reports whether c can be part of a number, true, false or null.
func isLiteral(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// unquote decodes a JSON string. A lone surrogate becomes U+FFFD.
func unquote(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	var s string
	_ = json.Unmarshal(text, &s) // text was validated
	return s
}
