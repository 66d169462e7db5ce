package tmux_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

func init() {
	scriptCommands["do"] = (*objectScript).do
	scriptCommands["fails"] = (*objectScript).fails
}

func (s *objectScript) do(words []string) error {
	words, wants := wanted(words)
	result, err := s.call(words)
	if err != nil {
		return err
	}
	return s.checkResult(result, wants)
}

func (s *objectScript) fails(words []string) error {
	words, wants := wanted(words)
	_, err := s.call(words[1:])
	isKind := slices.ContainsFunc(tmux.Kinds(), func(kind error) bool {
		return kind.Error() == words[0] && errors.Is(err, kind)
	})
	if !isKind && (err == nil || words[0] != "*") {
		return fmt.Errorf("got error %v", err)
	}
	for _, want := range wants {
		object, isObject := strings.CutPrefix(want, "object=")
		var e *tmux.Error
		switch {
		case !strings.Contains(err.Error(), want) && !isObject:
			return fmt.Errorf("error %q does not contain %q", err, want)
		case isObject && (!errors.As(err, &e) || e.Object.Kind+" "+e.Object.Name != object):
			return fmt.Errorf("%#v is not an error of %s", err, object)
		case isObject && !strings.Contains(e.Error(), e.Object.Name):
			return fmt.Errorf("error %q does not name its object", err)
		}
	}
	return nil
}

// wanted splits a line at the arrow.
func wanted(words []string) (call, wants []string) {
	if i := slices.Index(words, "=>"); i >= 0 {
		return words[:i], words[i+1:]
	}
	return words, nil
}

// call calls a method of an object, or sends a command, even one returned by a method.
func (s *objectScript) call(words []string) (result reflect.Value, err error) {
	ctx := testserver.Context(s.t)
	name, args := words[0], words[1:]
	send := func(cmd tmux.Command) (reflect.Value, error) {
		outs, err := s.srv.Do(ctx, cmd)
		return reflect.ValueOf(strings.TrimSuffix(string(bytes.Join(outs, nil)), "\n")), err
	}
	if !strings.Contains(name, ".") {
		cmd, err := s.command(name, args)
		if err != nil {
			return result, err
		}
		return send(cmd)
	}
	parts := strings.Split(name, ".")
	on, err := s.object(parts[0])
	if err != nil {
		return result, err
	}
	method := on
	for i, part := range parts[1:] {
		part, of, hasArg := strings.Cut(strings.TrimSuffix(part, ")"), "(")
		if method = on.MethodByName(part); !method.IsValid() {
			return result, fmt.Errorf("%s has no method %s", on.Type(), part)
		}
		if i < len(parts)-2 {
			var in []reflect.Value
			if hasArg {
				in = append(in, reflect.ValueOf(of).Convert(method.Type().In(0)))
			}
			on = method.Call(in)[0]
		}
	}
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		typ := method.Type().In(i)
		if typ == reflect.TypeFor[context.Context]() {
			in = append(in, reflect.ValueOf(ctx))
			continue
		}
		arg := reflect.New(typ).Elem()
		n := min(1, len(args))
		if typ.Kind() == reflect.Struct || typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.String {
			n = len(args) // its fields, or its items
		}
		for _, word := range args[:n] {
			if err := s.set(arg, word); err != nil {
				return result, err
			}
		}
		if in, args = append(in, arg), args[n:]; method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
			in = in[:i]
			for j := range arg.Len() {
				in = append(in, arg.Index(j))
			}
		}
	}
	if len(args) > 0 {
		return result, fmt.Errorf("%s does not take %q", name, args)
	}
	out := method.Call(in)
	if cmd, ok := out[0].Interface().(tmux.Command); ok {
		return send(cmd)
	}
	err, _ = out[len(out)-1].Interface().(error)
	return out[0], err
}

// object returns the server, or the handle on an object with an id.
func (s *objectScript) object(name string) (reflect.Value, error) {
	switch {
	case name == "server":
		return reflect.ValueOf(s.srv), nil
	case strings.HasPrefix(name, "$"):
		return reflect.ValueOf(s.srv.Session(tmux.SessionID(name))), nil
	case strings.HasPrefix(name, "@"):
		return reflect.ValueOf(s.srv.Window(tmux.WindowID(name))), nil
	case strings.HasPrefix(name, "%"):
		return reflect.ValueOf(s.srv.Pane(tmux.PaneID(name))), nil
	}
	return reflect.Value{}, fmt.Errorf("there is no object %s", name)
}

// command returns the struct of a tmux command with some of its fields set.
func (s *objectScript) command(name string, fields []string) (tmux.Command, error) {
	i := slices.IndexFunc(tmux.Commands, func(c tmux.Command) bool { return tmux.CommandName(c) == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no command %s", name)
	}
	cmd := reflect.New(reflect.TypeOf(tmux.Commands[i])).Elem()
	for _, field := range fields {
		if err := s.set(cmd, field); err != nil {
			return nil, err
		}
	}
	return cmd.Interface().(tmux.Command), nil
}

var indexed = regexp.MustCompile(`^(\$\d+):(?:(\d+)|(@\d+))$`)

// set sets a value to what a word means for its type. A struct gets one field, a list one
// more item.
func (s *objectScript) set(v reflect.Value, word string) (err error) {
	n := 0
	switch v.Kind() {
	case reflect.Struct:
		name, value, _ := strings.Cut(word, "=")
		field := v.FieldByName(name)
		if !field.IsValid() {
			return fmt.Errorf("%s has no field %s", v.Type(), name)
		}
		return s.set(field, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return s.set(v.Elem(), word)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		if n, err = strconv.Atoi(word); word == "edge" {
			n, err = int(tmux.LineEdge), nil
		}
		v.SetInt(int64(n))
	case reflect.String:
		v.SetString(cases.Expand(word))
		if n, err := strconv.Atoi(word); err == nil && v.Type() == reflect.TypeFor[tmux.Size]() {
			v.Set(reflect.ValueOf(tmux.Cells(n)))
		}
	case reflect.Map:
		name, value, _ := strings.Cut(word, "=")
		v.Set(reflect.ValueOf(tmux.Env{name: value}))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(cases.Expand(word)))
		} else {
			v.Set(reflect.Append(v, reflect.ValueOf(cases.Expand(word))))
		}
	case reflect.Interface: // a target
		session := s.srv.Session
		switch m := indexed.FindStringSubmatch(word); {
		case strings.HasPrefix(word, "="):
			v.Set(reflect.ValueOf(tmux.Named(word[1:])))
		case m != nil && m[2] != "":
			index, _ := strconv.Atoi(m[2])
			v.Set(reflect.ValueOf(session(tmux.SessionID(m[1])).At(index)))
		case m != nil:
			v.Set(reflect.ValueOf(session(tmux.SessionID(m[1])).Linked(tmux.WindowID(m[3]))))
		default:
			v.Set(reflect.ValueOf(tmux.TargetSpec(word)))
			if object, err := s.object(word); err == nil {
				v.Set(object)
			}
		}
	default:
		return fmt.Errorf("cannot set a %s", v.Type())
	}
	return err
}

// checkResult compares what a call returned: a text, or fields of a row, or those of all
// rows of a list separated by blanks.
func (s *objectScript) checkResult(result reflect.Value, wants []string) error {
	if len(wants) == 0 {
		return nil
	}
	switch v := result.Interface().(type) {
	case string, bool, int, tmux.Version:
		return differOrMatch(fmt.Sprint(v), wants[0])
	case []byte:
		return differOrMatch(string(v), wants[0])
	case tmux.ShellResult:
		return differOrMatch(fmt.Sprintf("%d %s", v.ExitCode, v.Output), wants[0])
	case []string:
		return differOrMatch(strings.Join(v, "\n"), wants[0])
	}
	if result.Kind() != reflect.Slice {
		return s.checkRow(asJSON(s.t, result.Interface()), wants)
	}
	if wants[0] == "[]" && (result.IsNil() || result.Len() > 0) {
		return fmt.Errorf("got %#v, want an empty list", result)
	}
	texts := map[string][]string{}
	for i := range result.Len() {
		for name, value := range asJSON(s.t, result.Index(i).Interface()) {
			text := content(value)
			if value[0] != '"' {
				text = string(value)
			}
			texts[name] = append(texts[name], text)
		}
	}
	for _, arg := range wants {
		name, want, _ := strings.Cut(arg, "=")
		if err := differOrMatch(strings.Join(texts[name], " "), want); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// differOrMatch compares a text with another, in which stars may stand for any text.
func differOrMatch(got, want string) error {
	quoted, err := json.Marshal(got)
	if want = cases.Expand(want); err != nil || got == want || strings.Contains(want, "*") && matches(want, quoted) {
		return err
	}
	return fmt.Errorf("got %q, want %q", got, want)
}

// PaneAt finds what a user means, and nothing else.
func TestPaneAt(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	ctx := testserver.Context(t)
	check.Kind(t, "without a server", check.Second(srv.PaneAt(ctx, nil)), tmux.ErrNoServer)
	testserver.Run(t, srv, "new-session", "-d", "-s", "work", "exec cat")
	testserver.Run(t, srv, "split-window", "-d", "-t", "work:", "exec cat")
	testserver.Run(t, srv, "new-window", "-d", "-t", "work:7", "exec cat")
	testserver.Run(t, srv, "new-session", "-d", "-s", "other", "exec cat")
	for _, c := range []struct {
		target tmux.Target
		want   tmux.PaneID
	}{
		{tmux.TargetSpec("work:0.1"), "%1"}, {tmux.TargetSpec("=work:7"), "%2"}, {tmux.TargetSpec("%1"), "%1"}, {tmux.TargetSpec("=work:"), "%0"}, {tmux.TargetSpec("wo:7.0"), "%2"},
		{tmux.PaneID("%2"), "%2"}, {tmux.WindowID("@1"), "%2"}, {tmux.Named("other"), "%3"}, {srv.Pane("%3"), "%3"},
	} {
		if p := check.Must[tmux.Pane](t)(srv.PaneAt(ctx, c.target)); p.ID != c.want || p.Server() != srv {
			t.Errorf("%v is pane %s, want %s", c.target, p.ID, c.want)
		}
	}
	for _, target := range []tmux.Target{tmux.TargetSpec("work:0.7"), tmux.TargetSpec("work:9"), tmux.TargetSpec("=wo:7"), tmux.PaneID("%9"), tmux.Named("nope"), tmux.TargetSpec("{marked}")} {
		check.Kind(t, fmt.Sprint(target), check.Second(srv.PaneAt(ctx, target)), tmux.ErrNotFound)
	}
	check.Kind(t, "no id", check.Second(srv.PaneAt(ctx, tmux.PaneID("3"))), tmux.ErrArgument)
	if text := fmt.Sprintf("%v %+v", srv, srv); strings.Contains(text, "PATH=") || !strings.Contains(text, srv.SocketPath()) {
		t.Errorf("a server prints as %.80s", text)
	}
}
