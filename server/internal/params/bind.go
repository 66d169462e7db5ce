package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"tmuxmcp/internal/nearest"
)

// Binder is implemented by types that decode their own JSON. The error says what the value
// must be: "must be …".
type Binder interface {
	BindJSON(raw json.RawMessage) error
}

// Error describes what is wrong with the arguments of a call.
type Error struct {
	// Message names each wrong argument, and what it must be.
	Message string
	// Unknown are arguments that the tool does not have.
	Unknown []string
	// Takes are the arguments that are valid where the first unknown one was given.
	Takes []string
}

func (e *Error) Error() string { return e.Message }

// Bind decodes a call's arguments into the struct that into points to. It accepts what
// models send: numbers and flags as strings, objects and lists as JSON in a string. An
// error names what was refused but never repeats a value, which may be a secret.
func Bind(tool string, args json.RawMessage, into any) *Error {
	b := argumentBinder{}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	b.object(reflect.ValueOf(into).Elem(), args, "")
	if b.problems == nil {
		return nil
	}
	message := tool + ": " + strings.Join(b.problems, "; ")
	if b.more > 0 {
		message += fmt.Sprintf("; and %d more", b.more)
	}
	return &Error{Message: message, Unknown: b.unknown, Takes: b.takes}
}

const maxProblems = 8

// Short returns a text that has at most little more than n bytes, by leaving out its middle.
func Short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n*2/3], "") + "…" + strings.ToValidUTF8(s[len(s)-n/3:], "")
}

type argumentBinder struct {
	problems []string
	more     int // problems that are not named
	unknown  []string
	takes    []string
}

func (b *argumentBinder) problem(path, format string, args ...any) {
	if len(b.problems) == maxProblems {
		b.more++
		return
	}
	b.problems = append(b.problems, Short(path, 100)+" "+fmt.Sprintf(format, args...))
}

// object decodes an object into a struct. path is that of the object, empty for the
// arguments themselves.
func (b *argumentBinder) object(v reflect.Value, raw json.RawMessage, path string) {
	given, err := membersIn(Unquoted(raw, '{'))
	switch arguments := strings.TrimPrefix(path+" ", " ") + "arguments"; {
	case errors.Is(err, errInvalid), errors.Is(err, errNoObject):
		b.problem(arguments, "must be a JSON object")
		return
	case err != nil:
		b.problem(arguments, "must have each name once: %v", err)
		return
	}
	if path != "" {
		path += "."
	}
	for _, f := range FieldsOf(v.Type()) {
		at := path + f.Name
		var value json.RawMessage // nil if it was not sent
		if i := slices.IndexFunc(given, func(m member) bool { return m.name == f.Name }); i >= 0 {
			value = given[i].value
			given = slices.Delete(given, i, i+1)
		}
		target := v.FieldByIndex(f.Index)
		switch {
		case value != nil && !IsNull(value):
			b.value(target, f, value, at)
		case value != nil && f.Default != "" && f.Type.Kind() == reflect.Pointer: // null has its own meaning
		case f.Default != "":
			b.value(target, f, json.RawMessage(f.Default), at)
		case !f.Optional:
			b.problem(at, "is required")
		}
	}
	for _, m := range given {
		name := m.name
		b.unknown = append(b.unknown, path+name)
		if b.takes == nil {
			b.takes = Listed(v.Type())
		}
		if len(b.problems) == maxProblems {
			b.more++
			continue
		}
		hint := ""
		takes := Names(v.Type())
		near := slices.DeleteFunc(slices.Clone(others[name]), func(n string) bool { return !slices.Contains(takes, n) })
		near = append(near, nearest.Names(name, takes)...)
		if near = append(near, oneOrMany(name, takes)...); len(near) > 0 {
			hint = " (is it " + near[0] + "?)"
		}
		b.problem(path+name, "is not an argument%s", hint)
	}
}

// oneOrMany returns the names that name the same thing, or several of it: panes for pane_id.
func oneOrMany(name string, names []string) (same []string) {
	thing := func(name string) string {
		for _, ending := range []string{"s", "_id", "_name"} {
			name = strings.TrimSuffix(name, ending)
		}
		return name
	}
	for _, n := range names {
		if thing(n) == thing(name) {
			same = append(same, n)
		}
	}
	return same
}

// others maps names that models use to the arguments that they may mean.
var others = map[string][]string{"text": {"keys", "patterns"}, "patterns": {"ready"}}

func (b *argumentBinder) value(v reflect.Value, f Field, raw json.RawMessage, path string) {
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		b.value(p.Elem(), f, raw, path)
		v.Set(p)
		return
	}
	if own, ok := v.Addr().Interface().(Binder); ok {
		if err := own.BindJSON(raw); err != nil {
			b.problem(path, "%v", err)
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		s, ok := ScalarText(raw)
		if !ok {
			b.problem(path, "must be a string")
		} else if f.Enum != nil && !slices.Contains(f.Enum, s) {
			b.problem(path, "must be one of %s", strings.Join(f.Enum, ", "))
		} else {
			v.SetString(s)
		}
	case reflect.Bool:
		x, ok := boolOf(raw)
		if !ok {
			b.problem(path, "must be true or false")
		}
		v.SetBool(x)
	case reflect.Int, reflect.Int64, reflect.Float64:
		x, ok := numberOf(raw)
		switch whole := v.Kind() != reflect.Float64; {
		case whole && (!ok || x != math.Trunc(x) || math.Abs(x) > 1<<31):
			b.problem(path, "must be a whole number")
		case !ok:
			b.problem(path, "must be a number")
		case f.min != nil && x < *f.min:
			b.problem(path, "must be at least %v", *f.min)
		case whole:
			v.SetInt(int64(x))
		default:
			v.SetFloat(x)
		}
	case reflect.Slice:
		var items []json.RawMessage
		if err := json.Unmarshal(Unquoted(raw, '['), &items); err != nil {
			b.problem(path, "must be a list")
			return
		}
		s := reflect.MakeSlice(v.Type(), len(items), len(items))
		for i, item := range items {
			b.value(s.Index(i), Field{}, item, fmt.Sprintf("%s[%d]", path, i))
		}
		v.Set(s)
	case reflect.Struct:
		b.object(v, raw, path)
	default:
		panic(fmt.Sprintf("params: no way to bind a %s", v.Type()))
	}
}

// IsNull reports whether a value is the JSON null.
func IsNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

// Unquoted returns the JSON inside a JSON string if that begins with open, otherwise raw.
func Unquoted(raw json.RawMessage, open byte) json.RawMessage {
	var s string
	if text := bytes.TrimSpace(raw); len(text) == 0 || text[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return raw
	}
	if inner := strings.TrimSpace(s); inner != "" && inner[0] == open {
		return json.RawMessage(inner)
	}
	return raw
}

// ScalarText returns a string or the digits of a number, since an index may be either.
func ScalarText(raw json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String(), true
	}
	return "", false
}

func boolOf(raw json.RawMessage) (value, ok bool) {
	s, _ := ScalarText(raw)
	if s == "" {
		s = string(bytes.TrimSpace(raw))
	}
	switch strings.ToLower(s) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

func numberOf(raw json.RawMessage) (float64, bool) {
	s, ok := ScalarText(raw)
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// Object is a JSON object, or one given as JSON in a string; an empty string means none.
type Object map[string]json.RawMessage

// BindJSON implements [Binder].
func (o *Object) BindJSON(raw json.RawMessage) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if strings.TrimSpace(s) == "" {
			return nil
		}
		raw = json.RawMessage(s)
	}
	members, err := membersIn(raw)
	switch {
	case errors.Is(err, errInvalid):
		return fmt.Errorf("is not valid JSON%s", offsetOf(json.Unmarshal(raw, new(json.RawMessage))))
	case errors.Is(err, errNoObject):
		return fmt.Errorf("must be a JSON object, not %s", jsonKind(raw))
	case err != nil:
		return fmt.Errorf("must have each name once: %w", err)
	case members == nil: // null
		return nil
	}
	*o = make(Object, len(members))
	for _, m := range members {
		(*o)[m.name] = m.value
	}
	return nil
}

// offsetOf says where JSON is broken without repeating any of it.
func offsetOf(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf(" (at byte %d)", syntax.Offset)
	}
	return ""
}

func jsonKind(raw json.RawMessage) string {
	value := gjson.ParseBytes(raw)
	switch {
	case value.IsArray():
		return "a list"
	case value.IsBool():
		return "a boolean"
	case value.Type == gjson.Null:
		return "null"
	}
	return "a " + strings.ToLower(value.Type.String()) // string or number
}

// Raw is any JSON object, kept unchanged.
type Raw json.RawMessage

// JSONSchema implements [Schema].
func (Raw) JSONSchema() string { return `"type":"object"` }

// BindJSON implements [Binder].
func (a *Raw) BindJSON(raw json.RawMessage) error {
	var o Object
	if err := o.BindJSON(raw); err != nil {
		return err
	}
	*a = Raw(Unquoted(raw, '{'))
	return nil
}

// StringMap is an object of strings, such as the environment of a new process, or JSON of
// one in a string.
type StringMap map[string]string

// JSONSchema implements [Schema].
func (StringMap) JSONSchema() string {
	return `"anyOf":[{"type":"object","additionalProperties":{"type":"string"}},{"type":"string"}]`
}

// BindJSON implements [Binder].
func (m *StringMap) BindJSON(raw json.RawMessage) error {
	var o Object
	if err := o.BindJSON(raw); err != nil {
		return err
	}
	*m = make(StringMap, len(o))
	for k, v := range o {
		var s string
		if json.Unmarshal(v, &s) != nil {
			return errors.New("must map names to strings")
		}
		(*m)[k] = s
	}
	return nil
}
