package format

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Equal compares two values as data. Numbers are equal if JavaScript reads them as the same
// number, however they are spelled and whatever Go type they have; the order of keys does
// not matter, and a [Literal] equals its text.
func Equal(a, b any) bool {
	comparable := func(v any) any {
		switch v := v.(type) {
		case Literal:
			return string(v)
		case json.Number:
			// ParseFloat fails only on overflow, and then returns an infinity, as
			// JavaScript does.
			f, _ := strconv.ParseFloat(string(v), 64)
			return f
		}
		return v
	}
	return same(mapped(data(a), comparable), mapped(data(b), comparable))
}

// data converts a value to be written, or decoded by one of the parsers, to data as it is in
// an [Entry].
func data(v any) any {
	return mapped(v, func(v any) any {
		switch v := v.(type) {
		case json.Number: // is a Stringer, too
			return v
		case Object:
			m := make(map[string]any, len(v))
			for _, f := range v {
				m[f.Name] = data(f.Value)
			}
			return m
		case map[any]any: // YAML
			m := make(map[string]any, len(v))
			for k, x := range v {
				m[fmt.Sprint(k)] = data(x)
			}
			return m
		case []string:
			a := make([]any, len(v))
			for i, s := range v {
				a[i] = s
			}
			return a
		case raw:
			return decode([]byte(v))
		case int, int64, uint64:
			return json.Number(fmt.Sprint(v))
		case float64:
			return number(v)
		case time.Time:
			return Literal(v.Format(time.RFC3339Nano))
		case fmt.Stringer: // TOML's local dates and times
			return Literal(v.String())
		}
		return v
	})
}

func number(f float64) any {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	switch {
	case math.IsNaN(f):
		return Literal("nan")
	case math.IsInf(f, 0):
		return Literal(s[:1] + "inf")
	}
	if _, err := strconv.ParseInt(s, 10, 64); err == nil {
		s += ".0" // without it, it would be an integer
	}
	return json.Number(s)
}

// mapped returns a copy of data with f applied to everything except its maps and lists.
func mapped(v any, f func(any) any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[k] = mapped(x, f)
		}
		return m
	case []any:
		a := make([]any, len(v))
		for i, x := range v {
			a[i] = mapped(x, f)
		}
		return a
	}
	return f(v)
}

// writable returns a value to be written with lists and objects as one type each.
func writable(v any) any {
	switch v := v.(type) {
	case []string:
		return data(v)
	case map[string]any:
		var o Object
		for _, name := range slices.Sorted(maps.Keys(v)) {
			o = append(o, Field{name, v[name]})
		}
		return o
	}
	return v
}

// checkValue refuses what cannot be written: other types, and text that is not UTF-8, which
// the encoders would silently repair.
func checkValue(v any) error {
	switch v := writable(v).(type) {
	case nil, bool, int, int64, Literal:
		return nil
	case json.Number:
		if !json.Valid([]byte(v)) {
			return fmt.Errorf("cannot write %q as a number", string(v))
		}
		return nil
	case string:
		if !utf8.ValidString(v) {
			return fmt.Errorf("cannot write %q: it is not UTF-8", v)
		}
		return nil
	case []any:
		for _, x := range v {
			if err := checkValue(x); err != nil {
				return err
			}
		}
		return nil
	case Object:
		for _, f := range v {
			if err := checkValue(f.Name); err != nil {
				return err
			}
			if err := checkValue(f.Value); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		return nil
	}
	return fmt.Errorf("cannot write a %T", v)
}

// changed returns the data of an entry after a change that sets these fields, given as data
// too, and removes others.
func changed(entry map[string]any, set any, remove []string) map[string]any {
	fields, _ := set.(map[string]any)
	m := Merge(entry, fields)
	for _, name := range remove {
		delete(m, name)
	}
	return m
}

// Merge returns data in which the members of strong replace those of weak; objects are
// merged.
func Merge(weak, strong map[string]any) map[string]any {
	m := data(weak).(map[string]any)
	for name, v := range strong {
		inner, isObject := v.(map[string]any)
		if under, ok := m[name].(map[string]any); ok && isObject {
			v = Merge(under, inner)
		}
		m[name] = v
	}
	return m
}

// dig follows names down through maps.
func dig(v any, path []string) (any, bool) {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// withValue returns a copy of tree with a value at path, creating what is missing, or without
// one there if it is nil.
func withValue(tree map[string]any, path []string, v any) map[string]any {
	m := maps.Clone(tree)
	if m == nil {
		m = map[string]any{}
	}
	switch sub, _ := m[path[0]].(map[string]any); {
	case len(path) == 3 && path[1] == List:
		items, _ := m[path[0]].([]any)
		m[path[0]] = append(slices.DeleteFunc(slices.Clone(items), func(x any) bool {
			item, ok := x.(map[string]any)
			return ok && item["name"] == path[2]
		}), v)
	case len(path) > 1:
		if sub != nil || v != nil {
			m[path[0]] = withValue(sub, path[1:], v)
		}
	case v == nil:
		delete(m, path[0])
	default:
		m[path[0]] = v
	}
	return m
}

// typeName returns the name of a type of data, for messages.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return "a date or time"
}

// same reports whether two values are the same, unlike Equal also in type: 1 and 1.0 differ.
func same(a, b any) bool { return reflect.DeepEqual(a, b) }
