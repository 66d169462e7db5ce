package format

import "bytes"

// skipObject lists the members of the object that starts at offset start, without looking
// into them. text must be valid strict JSON. It does for large texts what hujson's tree
// does for small ones.
func skipObject(text []byte, start int) object {
	o := object{start: start}
	i := skipSpace(text, start+1)
	for text[i] != '}' {
		m := member{nameStart: i, comma: -1}
		m.key = skipString(text, i)
		m.name = unquote(text[m.nameStart:m.key])
		m.start = skipSpace(text, skipSpace(text, m.key)+1)
		m.end = skipValue(text, m.start)
		if i = skipSpace(text, m.end); text[i] == ',' {
			m.comma = i
			i = skipSpace(text, i+1)
		}
		o.members = append(o.members, m)
	}
	o.end = i + 1
	return o
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the offset after the string that starts at i.
func skipString(text []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(text[i:], '"')
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
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		for depth := 0; ; {
			switch text[i] {
			case '"':
				i = skipString(text, i)
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
	for i < len(text) && isLiteral(text[i]) {
		i++
	}
	return i
}

// isLiteral reports whether c can be part of a number, true, false or null.
func isLiteral(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
}
