package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/tmux"
)

// Asker asks an adapter. Its error is an [*Error] or a [*Failure] if the adapter answered with
// one, or did not answer.
type Asker interface {
	Ask(ctx context.Context, r Request) (json.RawMessage, error)
}

// result is the result of a method. Members that it does not have are nil.
type result struct {
	Value    *string  `json:"value,omitempty"`
	Lines    []string `json:"lines,omitempty"`
	Base64   []byte   `json:"base64,omitempty"`
	Row      any      `json:"row,omitempty"`
	Rows     any      `json:"rows,omitempty"`
	ExitCode *int     `json:"exit_code,omitempty"`
	Stderr   *string  `json:"stderr,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Answer is the outcome of a call as scripts see it, in the same form for every wrapper.
type Answer struct {
	JSON   string
	Code   int    // 0 if the call succeeded
	Stderr string // the error's text and the warnings, one per line
}

// Do makes a call of an adapter. The call "fields" asks all targets; see [Call.Requests]. The error
// is a [gap.NotOffered] if the wrapper has no such method or argument, and a [*Failure] if the
// adapter did not answer as it must. An error of the wrapper's own is an answer.
func (c Call) Do(ctx context.Context, a Asker, targets []string) (Answer, error) {
	var results []received
	var none error
	unasked := map[tmux.Scope]bool{} // scopes of objects whose fields are not offered
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
			unasked[scopeOf(r.Params["target"].(string))] = true
			continue
		case errors.As(err, &answered):
			return answerOf(answered.value(), 1, answered.Message)
		default:
			return Answer{}, err
		}
		got, err := receive(r, raw)
		if err != nil {
			return Answer{}, err
		}
		results = append(results, got)
	}
	missing := c.missing(results)
	lacking := slices.ContainsFunc(missing, func(name string) bool { return !unasked[tokenScopes()[name]] })
	if len(results) == 0 || len(missing) > 0 && !lacking {
		return Answer{}, none
	}
	if c.Word == "fields" {
		return answerOf(map[string]any{"missing": missing}, 0, results[0].Warnings...)
	}
	return c.answer(results[0])
}

// missing returns the requested fields that no result has.
func (c Call) missing(results []received) []string {
	missing := []string{}
	for _, name := range c.Names {
		if !slices.ContainsFunc(results, func(r received) bool { return r.has(name) }) {
			missing = append(missing, name)
		}
	}
	return missing
}

// scopeOf returns the scope of an object's tokens, from its id.
func scopeOf(id string) tmux.Scope {
	switch {
	case id == "server":
		return tmux.ServerScope
	case strings.HasPrefix(id, "$"):
		return tmux.SessionScope
	case strings.HasPrefix(id, "@"):
		return tmux.WindowScope
	case strings.HasPrefix(id, "%"):
		return tmux.PaneScope
	}
	return tmux.ClientScope
}

func (c Call) answer(first received) (Answer, error) {
	switch c.Word {
	case "type":
		types := map[string]string{}
		if first.has(c.Names[0]) {
			types["type"] = typeOf(first.Row[c.Names[0]])
		}
		return answerOf(types, 0, first.Warnings...)
	case "search":
		ids := []any{}
		for _, r := range first.Rows {
			ids = append(ids, r["pane_id"])
		}
		return answerOf(ids, 0, first.Warnings...)
	}
	if c.Word != "command" || first.ExitCode == nil || *first.ExitCode == 0 {
		return answerOf(first.value(c), 0, first.Warnings...)
	}
	var stderr []string
	if first.Stderr != nil && *first.Stderr != "" {
		stderr = []string{strings.TrimSuffix(*first.Stderr, "\n")}
	}
	return answerOf(first.value(c), *first.ExitCode, slices.Concat(stderr, first.Warnings)...)
}

// answerOf returns the answer with a value and with lines on standard error.
func answerOf(value any, code int, stderr ...string) (Answer, error) {
	text, err := json.MarshalIndent(value, "", "  ")
	a := Answer{JSON: string(text) + "\n", Code: code}
	for _, line := range stderr {
		a.Stderr += line + "\n"
	}
	return a, err
}

// received is a decoded result.
type received struct {
	result
	Lines *[]string `json:"lines"`
	Row   row       `json:"row"`
	Rows  []row     `json:"rows"`
	text  *string   // without a final newline
}

func (r received) has(name string) bool {
	_, ok := r.Row[name]
	return ok
}

// receive decodes the result of a request, which has passed the schema.
func receive(asked Request, raw json.RawMessage) (received, error) {
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
	if err := r.fits(asked); err != nil {
		return r, err
	}
	return r, nil
}

// fits returns an error if the result does not have the form that the request's verb returns.
func (r received) fits(asked Request) error {
	v := verbOf(asked.Method)
	returns := v.answers(asked)
	forms := []struct {
		name        string
		has, allows bool
	}{
		{"a text", r.text != nil, returns == TextAnswer},
		{"a row", r.Row != nil, returns == Row || returns == RowOrNothing},
		{"rows", r.Rows != nil, returns == Rows},
	}
	for _, f := range forms {
		if f.has && !f.allows {
			return misfit("%s answers with %s", v.Name, f.name)
		}
	}
	for _, f := range forms {
		if f.allows && !f.has && returns != RowOrNothing {
			return misfit("%s answers without %s", v.Name, f.name)
		}
	}
	return nil
}

func misfit(format string, args ...any) error {
	return &Failure{Kind: Misfit, Text: fmt.Sprintf(format, args...)}
}

// value returns the result as scripts see it.
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
