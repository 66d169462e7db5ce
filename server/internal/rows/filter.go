package rows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
)

// Filters narrows a list. It is a JSON object whose keys are field or field__op and whose
// values are compared with that field of a row; all must match. A field is any property of
// the row. Flags compare as 1, 0, true or false, times as RFC 3339 text, and lists by any
// of their items. A null matches nothing.
type Filters []filter

type filter struct {
	field, op string
	want      []string // more than one only with "in" and "nin"
}

func (Filters) JSONSchema() string { return `"anyOf":[{"type":"object"},{"type":"string"}]` }

func (f *Filters) BindJSON(raw json.RawMessage) error {
	var o params.Object
	if err := o.BindJSON(raw); err != nil {
		return err
	}
	for key, value := range o {
		one := filter{field: key, op: "eq"}
		if i := strings.LastIndex(key, "__"); i > 0 {
			one.field, one.op = key[:i], key[i+2:]
		}
		var items []json.RawMessage
		switch takesList := one.op == "in" || one.op == "nin"; {
		case params.IsNull(value):
			return fmt.Errorf("must not have null for %s", key)
		case json.Unmarshal(value, &items) != nil:
			items = []json.RawMessage{value}
		case !takesList:
			return fmt.Errorf("takes a list only with __in and __nin, not for %s", key)
		case len(items) == 0:
			return fmt.Errorf("must not have an empty list for %s", key)
		}
		for _, item := range items {
			var flag bool
			s, ok := params.ScalarText(item)
			if json.Unmarshal(item, &flag) == nil {
				s, ok = strconv.FormatBool(flag), true
			}
			if !ok || params.IsNull(item) {
				return errors.New("must map fields to strings")
			}
			if len(items) == 1 && (one.op == "in" || one.op == "nin") {
				one.want = append(one.want, strings.Split(s, ",")...)
			} else {
				one.want = append(one.want, s)
			}
		}
		*f = append(*f, one)
	}
	slices.SortFunc(*f, func(a, b filter) int { return strings.Compare(a.field+a.op, b.field+b.op) })
	return nil
}

// filterOps maps operators to the test that a value must pass.
var filterOps = map[string]func(have, want string) bool{
	"eq":          equal,
	"exact":       equal,
	"iexact":      strings.EqualFold,
	"contains":    strings.Contains,
	"icontains":   folded(strings.Contains),
	"startswith":  strings.HasPrefix,
	"istartswith": folded(strings.HasPrefix),
	"endswith":    strings.HasSuffix,
	"iendswith":   folded(strings.HasSuffix),
	"in":          equal, // to any
	"nin":         equal, // to none
	"regex":       nil,
	"iregex":      nil,
}

func equal(have, want string) bool { return have == want }

func folded(f func(a, b string) bool) func(a, b string) bool {
	return func(a, b string) bool { return f(strings.ToLower(a), strings.ToLower(b)) }
}

// keep returns the rows that pass all filters, of which each is for one of the properties. It
// notes whether a text was compared of which only the beginning is known.
func keep[R any](ctx context.Context, rows []R, fs Filters, properties []params.Field) ([]R, error) {
	if len(fs) == 0 {
		return rows, nil
	}
	var tests []func(reflect.Value) bool
	for i, f := range fs {
		p := properties[i]
		match, err := f.matcher(params.Elem(p.Type).Kind() == reflect.Bool)
		if err != nil {
			return nil, err
		}
		cut := 0
		for _, r := range rows {
			if slices.ContainsFunc(valueTexts(reflect.ValueOf(r).FieldByIndex(p.Index)), isCut) {
				cut++
			}
		}
		if cut > 0 {
			reply.Note(ctx, "filters saw only the beginning of %s in %s", p.Name, reply.Count(cut, "row"))
		}
		tests = append(tests, func(row reflect.Value) bool {
			return slices.ContainsFunc(valueTexts(row.FieldByIndex(p.Index)), match)
		})
	}
	return slices.DeleteFunc(rows, func(r R) bool {
		return slices.ContainsFunc(tests, func(test func(reflect.Value) bool) bool { return !test(reflect.ValueOf(r)) })
	}), nil
}

// isCut reports whether a text looks as if tmux had cut it: see [MostText].
func isCut(text string) bool {
	begins, marked := strings.CutSuffix(text, "…")
	return marked && (begins == "" || len(begins) >= MostText/2-1)
}

// matcher returns the filter's test of one value.
func (f filter) matcher(isFlag bool) (func(have string) bool, error) {
	want := f.want
	if isFlag {
		want = slices.Clone(want)
		for i, w := range want {
			if b, err := strconv.ParseBool(w); err == nil {
				want[i] = strconv.FormatBool(b)
			}
		}
	}
	op := filterOps[f.op]
	switch {
	case f.op == "regex" || f.op == "iregex":
		flags := ""
		if f.op == "iregex" {
			flags = "(?i)"
		}
		re, err := match.Compile(flags, want[0])
		if err != nil {
			return nil, reply.Argument("filters", "has a regular expression for %s that does not compile: %s", f.field, err)
		}
		return re.MatchString, nil
	case op == nil:
		names := slices.Sorted(maps.Keys(filterOps))
		return nil, reply.Argument("filters", "has an operator %q; the operators are %s", f.op, strings.Join(names, ", "))
	}
	return func(have string) bool {
		return slices.ContainsFunc(want, func(w string) bool { return op(have, w) }) != (f.op == "nin")
	}, nil
}

// valueTexts returns a value as filters compare it: none for null, one per list item.
func valueTexts(v reflect.Value) []string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		return []string{v.Interface().(time.Time).Format(time.RFC3339)}
	case v.Kind() == reflect.Slice:
		var texts []string
		for i := range v.Len() {
			texts = append(texts, valueTexts(v.Index(i))...)
		}
		return texts
	}
	return []string{fmt.Sprint(v.Interface())}
}

// Narrowing are the parameters of a tool that lists rows with many properties.
type Narrowing struct {
	Filters Filters  `json:"filters,omitempty" desc:"property or property__operator to value"`
	Fields  []string `json:"fields,omitempty" desc:"properties to show instead"`
	Paging
}

// ListInSession is the input of tools that list rows, of all sessions or of one.
type ListInSession struct {
	target.SelectSession
	target.OnSocket
	Narrowing
}

// propertyOf finds the property of rows that an argument names.
func propertyOf(row reflect.Type, argument, name string) (params.Field, error) {
	all, names := params.FieldsOf(row), params.Names(row)
	named := func(name string) int {
		return slices.IndexFunc(all, func(p params.Field) bool { return p.Name == name })
	}
	i := named(name)
	for _, own := range []string{"pane", "window", "session", "client"} {
		if i < 0 && named(own+"_id") >= 0 {
			// Tables omit the object's kind from column names.
			i = max(named(own+"_"+name), named(own+"_current_"+name), named(name+"_id"))
		}
	}
	if i >= 0 {
		return all[i], nil
	}
	f := reply.Argument(argument, "has a field %q that these rows do not have", name)
	for _, other := range []struct {
		tool string
		row  reflect.Type
	}{{"list_sessions", reflect.TypeFor[Session]()}, {"list_windows", reflect.TypeFor[Window]()}, {"list_panes", reflect.TypeFor[Pane]()}} {
		if slices.Contains(params.Names(other.row), name) {
			return params.Field{}, f.Suggest("%s has it", other.tool)
		}
	}
	return params.Field{}, f.Suggest("they have %s", strings.Join(names, ", "))
}

// TokensFor returns the tokens needed to show and filter a list; nil means all. Shown are
// the fields that the call names, otherwise the columns of a table or, as JSON, all
// properties. keys are tokens that the rows always need.
func TokensFor[R reply.Tabular[R]](form reply.Form, n Narrowing, keys ...string) ([]string, error) {
	if len(n.Fields) == 0 {
		if form.Results == reply.ResultsJSON {
			return nil, nil
		}
		keys = append(keys, reply.TokensShown[R]()...)
	}
	shown, filtered, err := n.properties(reflect.TypeFor[R]())
	tokens := keys
	for _, p := range slices.Concat(shown, filtered) {
		tag := reflect.TypeFor[R]().FieldByIndex(p.Index).Tag
		if token, _, _ := strings.Cut(tag.Get("tmux"), ","); token != "" {
			tokens = append(tokens, token)
		}
		if from := tag.Get("from"); from != "" {
			tokens = append(tokens, strings.Split(from, ",")...)
		}
	}
	return tokens, err
}

// properties finds the properties of rows that the call wants to see, and the one of each
// filter.
func (n Narrowing) properties(row reflect.Type) (shown, filtered []params.Field, err error) {
	for _, name := range n.Fields {
		p, err := propertyOf(row, "fields", name)
		if err != nil {
			return nil, nil, err
		}
		shown = append(shown, p)
	}
	for _, f := range n.Filters {
		p, err := propertyOf(row, "filters", f.field)
		if err != nil {
			return nil, nil, err
		}
		filtered = append(filtered, p)
	}
	return shown, filtered, nil
}

// Narrow returns the answer of a list tool: the requested page and fields of the rows that
// pass the filters, each object's once.
func Narrow[R any](ctx context.Context, rows []R, n Narrowing, once func([]R) []R) (reply.List[R], error) {
	shown, filtered, err := n.properties(reflect.TypeFor[R]())
	if err != nil {
		return reply.List[R]{}, err
	}
	rows, err = keep(ctx, rows, n.Filters, filtered)
	if err != nil {
		return reply.List[R]{}, err
	}
	l := Page(once(rows), n.Paging)
	for _, p := range params.FieldsOf(reflect.TypeFor[R]()) {
		if slices.ContainsFunc(shown, func(s params.Field) bool { return s.Name == p.Name }) {
			l.Fields = append(l.Fields, p)
		}
	}
	return l, nil
}

// Paging are the parameters of a tool that lists things.
type Paging struct {
	Limit  *int `json:"limit,omitempty" min:"1" desc:"default: all"`
	Offset int  `json:"offset,omitempty" min:"0" desc:"rows to skip"`
}

// Page returns the requested page of the items.
func Page[T any](items []T, p Paging) reply.List[T] {
	l := reply.List[T]{Total: len(items), Offset: min(p.Offset, len(items))}
	items = items[l.Offset:]
	if p.Limit != nil && len(items) > *p.Limit {
		items = items[:*p.Limit]
	}
	l.Result = append([]T{}, items...)
	return l
}
