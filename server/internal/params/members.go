package params

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Members are the names that an object may have, with those of the objects in it. The
// name "" stands for all others; without it, they are free.
type Members map[string]Members

// MembersOf returns the names that encoding/json decodes into values, as their tags have
// them.
func MembersOf(values ...any) Members {
	all := Members{}
	for _, v := range values {
		all.add(membersOf(reflect.TypeOf(v)))
	}
	return all
}

func membersOf(t reflect.Type) (names Members) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return membersOf(t.Elem())
	case reflect.Map:
		return Members{"": membersOf(t.Elem())}
	case reflect.Struct:
		names = Members{}
		for i := range t.NumField() {
			f := t.Field(i)
			inner := membersOf(f.Type)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous || name != "" {
				names.put(name, inner)
			} else {
				names.add(inner)
			}
		}
		delete(names, "-")
		delete(names, "")
	}
	return names
}

func (m Members) add(more Members) {
	for name, inner := range more {
		m.put(name, inner)
	}
}

// put adds a name with what is in its object, to which nothing else refers.
func (m Members) put(name string, inner Members) {
	if len(m[name]) == 0 {
		m[name] = inner
	} else {
		m[name].add(inner)
	}
}

// Check refuses what two readers of valid JSON may read differently: an object in which a
// name comes twice, however it is written, and a name that encoding/json takes for one of m.
func (m Members) Check(raw []byte) error {
	return (&walk{raw: raw}).value(m)
}

// walk goes over JSON once, much faster than [json.Decoder].
type walk struct {
	raw []byte
	at  int
}

func (w *walk) value(m Members) error {
	switch open := w.skip(" \t\r\n,:"); open {
	case '{', '[':
		seen := map[string]bool{}
		for w.at++; w.skip(" \t\r\n,:") != open+2; { // the closing one
			inner := m
			if open == '{' {
				name := w.text()
				if seen[name] {
					return fmt.Errorf("%q appears twice", Short(name, 100))
				}
				seen[name] = true
				known := false
				if inner, known = m[name]; !known {
					for other := range m {
						if strings.EqualFold(name, other) {
							return fmt.Errorf("%q must be written %q", Short(name, 100), other)
						}
					}
					inner = m[""]
				}
			}
			if err := w.value(inner); err != nil {
				return err
			}
		}
		w.at++
	case '"':
		w.text()
	default:
		w.skip("-+.eE0123456789truefalsn")
	}
	return nil
}

// skip skips bytes, and returns the one after them, or 0 at the end.
func (w *walk) skip(which string) byte {
	for ; w.at < len(w.raw); w.at++ {
		if strings.IndexByte(which, w.raw[w.at]) < 0 {
			return w.raw[w.at]
		}
	}
	return 0
}

// text skips a string and returns its text.
func (w *walk) text() (text string) {
	from, plain := w.at, true
	for w.at++; w.raw[w.at] != '"'; w.at++ {
		if c := w.raw[w.at]; c == '\\' {
			w.at++
			plain = false
		} else if c >= 0x80 {
			plain = false
		}
	}
	w.at++
	if plain {
		return string(w.raw[from+1 : w.at-1])
	}
	json.Unmarshal(w.raw[from:w.at], &text)
	return text
}
