package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/gap"
)

// Asker asks an adapter. Its error is an [*Error] or a [*Failure] if the adapter answered with
// one, or did not answer.
type Asker interface {
	Ask(ctx context.Context, r Request) (json.RawMessage, error)
}

// Result is the result of a method. What is not in it is nil.
type Result struct {
	Value    *string  `json:"value,omitempty"`
	Lines    []string `json:"lines,omitempty"`
	Base64   []byte   `json:"base64,omitempty"`
	Row      any      `json:"row,omitempty"`
	Rows     any      `json:"rows,omitempty"`
	ExitCode *int     `json:"exit_code,omitempty"`
	Stderr   *string  `json:"stderr,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Said is what a call came to, in the form that is the same for every wrapper.
type Said struct {
	JSON   string
	Code   int    // 0 if the call succeeded
	Stderr string // the error's text and warnings, one a line
}

// Do asks an adapter for what a call wants. For fields it asks for these targets; see
// [Call.Requests]. If the error is not nil, it is a [gap.NotOffered] if the wrapper has no such
// method or argument, and a [*Failure] if the adapter did not answer as it must. An error of
// the wrapper's is an answer.
func (c Call) Do(ctx context.Context, a Asker, targets []string) (Said, error) {
	var s Said
	var results []received
	var none error
	for _, r := range c.Requests(targets) {
		raw, err := a.Ask(ctx, r)
		var answered *Error
		if errors.As(err, &answered) {
			err = answered.class()
		}
		switch {
		case err == nil:
		case errors.As(err, new(gap.NotOffered)) && c.Word == "fields":
			none = err
			continue
		case errors.As(err, &answered) && answered.Code > 0:
			return s, s.print(answered.value(), 1, answered.Message)
		default:
			return s, err
		}
		got, err := receive(verbOf(r.Method), raw)
		if err != nil {
			return s, err
		}
		results = append(results, got)
	}
	if len(results) == 0 {
		return s, none
	}
	return s, c.print(&s, results)
}

// print sets what scripts see of the results, of which only fields has more than one.
func (c Call) print(s *Said, results []received) error {
	first := results[0]
	switch c.Word {
	case "fields":
		missing := slices.DeleteFunc(slices.Clone(c.Names), func(name string) bool {
			return slices.ContainsFunc(results, func(r received) bool { return r.has(name) })
		})
		return s.print(map[string]any{"missing": append([]string{}, missing...)}, 0, "")
	case "type":
		types := map[string]string{}
		if first.has(c.Names[0]) {
			types["type"] = typeOf(first.Row[c.Names[0]])
		}
		return s.print(types, 0, "")
	case "search":
		ids := []any{}
		for _, r := range first.Rows {
			ids = append(ids, r["pane_id"])
		}
		return s.print(ids, 0, strings.Join(first.Warnings, "\n"))
	}
	code, said := 0, first.Warnings
	if c.Word == "command" && first.ExitCode != nil && *first.ExitCode != 0 {
		code = *first.ExitCode
		if first.Stderr != nil {
			said = slices.Insert(said, 0, strings.TrimSuffix(*first.Stderr, "\n"))
		}
	}
	return s.print(first.value(c), code, strings.Join(said, "\n"))
}

// print sets what scripts see of a value.
func (s *Said) print(value any, code int, stderr string) error {
	text, err := json.MarshalIndent(value, "", "  ")
	s.JSON, s.Code = string(text)+"\n", code
	if stderr != "" {
		s.Stderr = stderr + "\n"
	}
	return err
}

// received is a result as it came.
type received struct {
	Result
	Lines *[]string `json:"lines"`
	Row   row       `json:"row"`
	Rows  []row     `json:"rows"`
	text  *string   // without a final newline
}

func (r received) has(name string) bool {
	_, ok := r.Row[name]
	return ok
}

// receive reads a verb's result, which is as the schema says.
func receive(v *Verb, raw json.RawMessage) (received, error) {
	var r received
	if err := decode(raw, &r); err != nil {
		return r, misfit("%v", err)
	}
	var found []string
	if r.Value != nil {
		found = append(found, *r.Value)
	}
	if r.Lines != nil {
		found = append(found, strings.Join(*r.Lines, "\n"))
	}
	if r.Base64 != nil {
		found = append(found, string(r.Base64))
	}
	if len(found) > 1 {
		return r, misfit("more than one of value, lines and base64")
	}
	if len(found) == 1 {
		text := strings.TrimSuffix(found[0], "\n")
		r.text = &text
	}
	if err := r.fits(v); err != nil {
		return r, err
	}
	return r, nil
}

// fits returns an error if a result is of another form than its verb's.
func (r received) fits(v *Verb) error {
	forms := []struct {
		name        string
		has, allows bool
	}{
		{"a text", r.text != nil, v.Answer == TextAnswer},
		{"a row", r.Row != nil, v.Answer == Row || v.Answer == RowOrNothing},
		{"rows", r.Rows != nil, v.Answer == Rows},
	}
	for _, f := range forms {
		if f.has && !f.allows {
			return misfit("%s answers with %s", v.Name, f.name)
		}
	}
	for _, f := range forms {
		if f.allows && !f.has && v.Answer != RowOrNothing {
			return misfit("%s answers without %s", v.Name, f.name)
		}
	}
	return nil
}

func misfit(format string, args ...any) error {
	return &Failure{Kind: Misfit, Text: fmt.Sprintf(format, args...)}
}

// value returns what scripts see of a result.
func (r received) value(c Call) any {
	switch {
	case r.Row != nil:
		return r.Row.canonical()
	case r.Rows != nil:
		all := make([]row, len(r.Rows))
		for i, one := range r.Rows {
			all[i] = one.canonical()
		}
		return all
	}
	v := map[string]any{}
	if r.text != nil {
		v["value"] = *r.text
		if c.Word == "run-shell" {
			v["output"] = *r.text
		}
	} else {
		v["done"] = true
	}
	if r.ExitCode != nil {
		v["exit_code"] = *r.ExitCode
	}
	if r.Stderr != nil {
		v["stderr"] = *r.Stderr
	}
	if r.Warnings != nil {
		v["warnings"] = r.Warnings
	}
	return v
}
