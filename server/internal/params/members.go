package params

import (
	"encoding/json"
	"errors"
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

// member is a name in a JSON object, with its value.
type member struct {
	name  string
	value json.RawMessage
}

var (
	errInvalid  = errors.New("is not valid JSON")
	errNoObject = errors.New("is not an object")
)

// membersIn returns the members of a JSON object in order, and none for null. The error is
// errInvalid, errNoObject or, if a name comes twice in it or in an object in it, another one.
func membersIn(raw json.RawMessage) (all []member, err error) {
	if !json.Valid(raw) {
		return nil, errInvalid
	}
	w := walk{raw: raw}
	switch w.skip(space) {
	case '{':
	case 'n': // null
		return nil, nil
	default:
		return nil, errNoObject
	}
	all = []member{}
	seen := map[string]bool{}
	for w.at++; w.skip(space) != '}'; {
		name, err := w.name(seen)
		if err != nil {
			return nil, err
		}
		w.skip(space)
		from := w.at
		if err := w.value(nil); err != nil {
			return nil, err
		}
		all = append(all, member{name, raw[from:w.at]})
	}
	return all, nil
}

// walk goes over valid JSON once, much faster than [json.Decoder].
type walk struct {
	raw []byte
	at  int
}

// space is what may be between two values.
const space = " \t\r\n,:"

func (w *walk) value(m Members) error {
	switch open := w.skip(space); open {
	case '{', '[':
		seen := map[string]bool{}
		for w.at++; w.skip(space) != open+2; { // the closing one
			inner := m
			if open == '{' {
				name, err := w.name(seen)
				if err != nil {
					return err
				}
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

// name skips the name of a member and returns it, unless it was seen before.
func (w *walk) name(seen map[string]bool) (string, error) {
	name := w.text()
	if seen[name] {
		return "", fmt.Errorf("%q appears twice", Short(name, 100))
	}
	seen[name] = true
	return name, nil
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
