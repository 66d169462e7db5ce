package report

import (
	"io"
	"reflect"
	"regexp"
	"strings"

	"tmuxmcp/internal/terminal"
)

// The output of a tmux or a server, and the text of a foreign file, must not act on
// what shows it: a terminal, a page, or a CI system that takes lines of its log for
// commands. Reports for people are written from their printable copy, so that no
// writer can forget it. JSON has every text as it is, in escapes.

// Printable calls [terminal.Printable].
func Printable(s string) string { return terminal.Printable(s) }

// EncodeJSON calls [terminal.EncodeJSON], with an indent.
func EncodeJSON(w io.Writer, v any) error { return terminal.EncodeJSON(w, v, "  ") }

// printable returns a copy in which every text is [Printable].
func printable[T any](v T) T { return printableValue(reflect.ValueOf(v)).Interface().(T) }

func printableValue(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return reflect.ValueOf(Printable(v.String())).Convert(v.Type())
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(printableValue(v.Elem()))
			return p
		}
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			list.Index(i).Set(printableValue(v.Index(i)))
		}
		return list
	case reflect.Struct:
		s := reflect.New(v.Type()).Elem()
		s.Set(v)
		for i := range s.NumField() {
			if s.Field(i).CanSet() {
				s.Field(i).Set(printableValue(v.Field(i)))
			}
		}
		return s
	}
	return v
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// CommandLine quotes words as they are typed to a shell.
func CommandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if !plainWord.MatchString(w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
