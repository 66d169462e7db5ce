package server

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tmuxmcp/server/params"
)

// A result is text for a model to read: a line of facts in brackets, followed by raw lines.
// A list is a table whose columns are separated by tabs. Every output has a view, which one
// function, [view.text], writes within the budget of a result.
//
// Facts and cells are legible, so a name can neither begin a line nor hide: what runs in a
// pane can only forge what follows the first line.

// view is what a model reads of an output.
type view struct {
	facts []string
	lines []string
	// head keeps the first of too many lines; by default the last are kept, because what a
	// terminal printed last matters most.
	head bool
	// above is the number of lines already omitted before the first.
	above int
	// more says how to get the omitted lines.
	more string
}

// viewer is an output with its own view. Other outputs show all properties.
type viewer interface{ view() view }

// viewOf returns the view of any output.
func viewOf(out any) view {
	if v, ok := out.(viewer); ok {
		return v.view()
	}
	return propertiesView(out)
}

// lineRoom is reserved for the fact that says what was omitted.
const lineRoom = 200

// text writes the view in at most that many bytes, in whole lines if possible.
func (v view) text(most int) string {
	facts, lines, cut := shortFacts(v.facts, most/2), v.lines, 0
	text := strings.Join(lines, "\n")
	room := most - len(strings.Join(facts, ", ")) - len("[]\n")
	short := len(text) > room
	if short {
		lines, cut = v.fit(max(room-lineRoom, 0))
		text = strings.Join(lines, "\n")
	}
	facts = append(facts, v.of(len(lines))...)
	if cut > 0 {
		facts = append(facts, fmt.Sprintf("%d bytes of a long line left out", cut))
	}
	if short && v.more != "" {
		facts = append(facts, "more: "+v.more)
	}
	if len(facts) == 0 {
		return text
	}
	header := "[" + strings.Join(facts, ", ") + "]"
	if len(v.lines) == 0 {
		return header
	}
	return header + "\n" + text
}

// shortFacts makes facts legible, and truncates long ones if all exceed most bytes.
func shortFacts(facts []string, most int) []string {
	facts = slices.Clone(facts)
	size := 0
	for i, f := range facts {
		facts[i] = legible(f, "")
		size += len(facts[i]) + len(", ")
	}
	const note = "… (1000000 bytes), "
	each := max(most/max(len(facts), 1)-len(note), 0)
	for i, f := range facts {
		if size > most && len(f) > each+len(note) {
			facts[i] = fmt.Sprintf("%s… (%d bytes)", head(f, each), len(f))
		}
	}
	return facts
}

// of returns the fact that so many of all lines are shown, or none if all are.
func (v view) of(shown int) []string {
	total, which := v.above+len(v.lines), "last"
	if v.head {
		which = "first"
	}
	if shown == total {
		return nil
	}
	return []string{fmt.Sprintf("the %s %d of %d lines", which, shown, total)}
}

// fit keeps as many lines as fit in room bytes. If not even one does, it is truncated.
func (v view) fit(room int) (kept []string, cutBytes int) {
	order, cut := slices.Clone(v.lines), tail
	if v.head {
		slices.Reverse(order)
		cut = head
	}
	kept = order[len(order)-fitting(order, room, lineSize):]
	if len(kept) == 0 && len(order) > 0 {
		line := order[len(order)-1]
		kept = []string{cut(line, room)}
		cutBytes = len(line) - len(kept[0])
	}
	if v.head {
		slices.Reverse(kept)
	}
	return kept, cutBytes
}

type budgetKey struct{}

// withBudget bounds the results of calls in a batch: each leaves the rest of the budget to
// those after it.
func withBudget(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, budgetKey{}, n)
}

// budgetIn returns the maximum size of a result in bytes.
func (s *Server) budgetIn(ctx context.Context) int {
	if n, ok := ctx.Value(budgetKey{}).(int); ok {
		return n
	}
	return s.cfg.MaxResult
}

// fact adds a fact.
func (v *view) fact(format string, args ...any) {
	v.facts = append(v.facts, fmt.Sprintf(format, args...))
}

// factIf adds a fact if holds is true.
func (v *view) factIf(holds bool, format string, args ...any) {
	if holds {
		v.fact(format, args...)
	}
}

// A column is a part of a row: what it shows, and the tmux tokens it is made of. In a line
// of facts, lead precedes it.
type column[R any] struct {
	name   string
	lead   string
	tokens string // separated by commas
	text   func(R) string
}

// named returns a text, which a program may have chosen, as part of a fact. It is quoted if
// it could be taken for more: if it has a comma, a bracket, a quote, or what sets the parts
// of the fact apart. Only the columns at and flags are no names.
func named(column, text, apart string) string {
	if column != "at" && column != "flags" && strings.ContainsAny(text, `,[]"`+apart) {
		return `"` + strings.ReplaceAll(text, `"`, `\u0022`) + `"`
	}
	return text
}

// tabular is a row with its own columns. Other rows have one per property.
type tabular[R any] interface{ columns() []column[R] }

// tokensShown returns the tokens that the columns of a row need.
func tokensShown[R tabular[R]]() []string {
	var zero R
	var tokens []string
	for _, c := range zero.columns() {
		if c.tokens != "" {
			tokens = append(tokens, strings.Split(c.tokens, ",")...)
		}
	}
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// rowFacts returns the facts of one row.
func rowFacts[R tabular[R]](row R) view {
	var words []string
	for _, c := range row.columns() {
		if text := c.text(row); text != "" {
			words = append(words, c.lead+named(c.name, text, " "))
		}
	}
	return view{facts: []string{strings.Join(words, " ")}}
}

func (l list[T]) view() view {
	noun := strings.TrimSuffix(reflect.TypeFor[T]().Name(), "Info") + "s"
	var v view
	v.head = true
	switch n := len(l.Result); {
	case n == l.Total:
		v.fact("%d %s", n, noun)
	case n == 0:
		v.fact("no row of %d %s on this page", l.Total, noun)
	default:
		v.fact("%d to %d of %d %s", l.offset+1, l.offset+n, l.Total, noun)
		v.factIf(l.offset+n < l.Total, "more: offset=%d", l.offset+n)
	}
	v.more = "limit and offset, filters, or fewer fields"
	if l.Total == 1 {
		v.facts[0] = strings.TrimSuffix(v.facts[0], "s")
	}
	if len(l.Result) > 0 {
		v.table(tableOf(l.Result, l.fields))
	}
	return v
}

// tableOf returns the names of the columns, followed by the cells of each row.
func tableOf[R any](rows []R, fields []params.Field) [][]string {
	var zero R
	var columns []column[R]
	if t, ok := any(zero).(tabular[R]); ok && fields == nil {
		columns = t.columns()
	} else {
		if fields == nil {
			fields = params.FieldsOf(reflect.TypeFor[R]())
		}
		for _, f := range fields {
			columns = append(columns, column[R]{name: f.Name, text: func(r R) string {
				return inLine(reflect.ValueOf(r).FieldByIndex(f.Index))
			}})
		}
	}
	table := make([][]string, len(rows)+1)
	for _, c := range columns {
		table[0] = append(table[0], c.name)
		for i, r := range rows {
			table[i+1] = append(table[i+1], legible(c.text(r), ""))
		}
	}
	return table
}

// table shows a table. Columns that are equal in every row become facts.
func (v *view) table(cells [][]string) {
	var shown []int
	var equal []string
	for i, name := range cells[0] {
		same := true
		for _, row := range cells[2:] {
			same = same && row[i] == cells[1][i]
		}
		switch first := cells[1][i]; {
		case !same || first != "" && len(cells) == 2:
			shown = append(shown, i)
		case first != "":
			equal = append(equal, name+" "+named(name, first, ""))
		}
	}
	v.factIf(equal != nil, "all with %s", strings.Join(equal, ", "))
	if shown == nil {
		return
	}
	for _, row := range cells {
		var line []string
		for _, i := range shown {
			line = append(line, row[i])
		}
		v.lines = append(v.lines, strings.TrimRight(strings.Join(line, "\t"), "\t"))
	}
}

// fewProperties are shown in one line.
const fewProperties = 6

// propertiesView shows the properties of an output that are not null, empty or false.
func propertiesView(out any) view {
	value := reflect.Indirect(reflect.ValueOf(out))
	var facts, lines []string
	for _, f := range params.FieldsOf(value.Type()) {
		p := value.FieldByIndex(f.Index)
		if text := inLine(p); text != "" && text != "-" && text != "false" {
			facts = append(facts, f.Name+" "+named(f.Name, text, ""))
			lines = append(lines, f.Name+" "+legible(text, ""))
		}
	}
	if len(facts) <= fewProperties {
		return view{facts: facts}
	}
	return view{lines: lines, head: true}
}

// inLine returns a value as shown in a cell or fact: on one line, "-" for null.
func inLine(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "-"
		}
		v = v.Elem()
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		return v.Interface().(time.Time).Format(time.RFC3339)
	}
	switch v.Kind() {
	case reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, inLine(v.Index(i)))
		}
		return strings.Join(items, ",")
	case reflect.Struct, reflect.Map, reflect.Interface:
		raw, err := params.Marshal(v.Interface())
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	return fmt.Sprint(v.Interface())
}

// oneLine returns a text on one line, quoted if it has line breaks or invisible characters.
func oneLine(s string) string {
	if legible(s, "") != s {
		return strconv.Quote(s)
	}
	return s
}

// flagsOf returns the names of the flags that are set.
func flagsOf(flags ...any) string {
	var set []string
	for i := 0; i < len(flags); i += 2 {
		if flags[i+1].(bool) {
			set = append(set, flags[i].(string))
		}
	}
	return strings.Join(set, ",")
}

// elapsed returns a number of seconds as shown in a fact.
func elapsed(sec float64) string { return strconv.FormatFloat(sec, 'f', -1, 64) + "s" }

// or returns what s points to, or other if it is nil.
func or(s *string, other string) string {
	if s == nil {
		return other
	}
	return cmp.Or(*s, other)
}

// raw returns the view of an output that is only text.
func raw(s string) view { return view{lines: strings.Split(s, "\n")} }
