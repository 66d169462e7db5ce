package reply

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tmuxmcp/server/internal/params"
)

// A result is text for a model to read: a line of facts in brackets, followed by raw lines.
// A list is a table whose columns are separated by tabs. Every output has a view, which one
// function, [View.Text], writes within the budget of a result.
//
// Facts and cells are legible, so a name can neither begin a line nor hide: what runs in a
// pane can only forge what follows the first line. Facts are made by [Say] alone, which quotes
// whatever is not [Words].

// Words are a text of this program: a constant, or what [Say] and [Named] made. Nothing that
// tmux, a file or a caller says is converted to Words.
type Words string

// Say formats words. Each text among the arguments that is not Words is [Named], whatever its
// type, so it cannot be taken for more than what it stands for.
func Say(format Words, args ...any) Words {
	said := make([]any, len(args))
	for i, arg := range args {
		switch v := reflect.ValueOf(arg); {
		case v.CanInt() || v.CanUint() || v.CanFloat() || v.Kind() == reflect.Bool || v.IsValid() && v.Type() == reflect.TypeFor[Words]():
			said[i] = arg
		default:
			said[i] = Named(fmt.Sprint(arg), "")
		}
	}
	return Words(fmt.Sprintf(string(format), said...))
}

// Listed returns texts with a separator between them, each as Say shows it.
func Listed[T ~string](items []T, separator Words) (all Words) {
	for i, item := range items {
		if i > 0 {
			all += separator
		}
		all += Say("%s", item)
	}
	return all
}

// View is what a model reads of an output.
type View struct {
	facts []Words // see [View.Fact]
	Lines []string
	// Head keeps the first of too many lines; by default the last are kept, because what a
	// terminal printed last matters most.
	Head bool
	// Above is the number of lines already omitted before the first.
	Above int
	// More says how to get the omitted lines.
	More Words
	// Line is a line to be shown in any case: as a fact, unless one of those shown ends with it.
	Line string
}

// viewer is an output with its own view. Other outputs show all properties.
type viewer interface{ View() View }

// ViewOf returns the view of any output.
func ViewOf(out any) View {
	if v, ok := out.(viewer); ok {
		return v.View()
	}
	return Properties(out)
}

// LineRoom is reserved for the fact that says what was omitted.
const LineRoom = 200

// Text writes the view in at most that many bytes, in whole lines if possible.
func (v View) Text(most int) string {
	facts := shortFacts(v.facts, most/2)
	lines, cut, short := v.within(facts, most)
	if fact := v.lineFact(lines); fact != "" {
		facts = append(facts, fact)
		lines, cut, short = v.within(facts, most)
	}
	text := strings.Join(lines, "\n")
	facts = append(facts, v.of(len(lines))...)
	if cut > 0 {
		facts = append(facts, Count(cut, "byte")+" of a long line left out")
	}
	if short && v.More != "" {
		facts = append(facts, "more: "+string(v.More))
	}
	if len(facts) == 0 {
		return text
	}
	header := "[" + strings.Join(facts, ", ") + "]"
	if len(v.Lines) == 0 {
		return header
	}
	return header + "\n" + text
}

// within returns the lines that fit beside the facts in most bytes, and whether those are not
// all. See fit.
func (v View) within(facts []string, most int) (lines []string, cutBytes int, short bool) {
	room := most - len(strings.Join(facts, ", ")) - len("[]\n")
	if len(strings.Join(v.Lines, "\n")) <= room {
		return v.Lines, 0, false
	}
	lines, cutBytes = v.fit(max(room-LineRoom, 0))
	return lines, cutBytes, true
}

// lineFact returns the fact that has Line, shortened; "" if one of the lines shown ends with it.
func (v View) lineFact(shown []string) string {
	const most = 200
	if v.Line == "" || slices.ContainsFunc(shown, func(l string) bool { return strings.HasSuffix(strings.TrimRight(l, " "), v.Line) }) {
		return ""
	}
	line := Head(v.Line, most)
	if len(line) < len(v.Line) {
		line += "…"
	}
	return `line "` + strings.ReplaceAll(Legible(line, ""), `"`, `\u0022`) + `"`
}

// shortFacts makes facts legible, and truncates long ones if all exceed most bytes.
func shortFacts(said []Words, most int) []string {
	facts := make([]string, len(said))
	size := 0
	for i, f := range said {
		facts[i] = Legible(string(f), "")
		size += len(facts[i]) + len(", ")
	}
	const note = `"… (1000000 bytes), `
	each := max(most/max(len(facts), 1)-len(note), 0)
	for i, f := range facts {
		if size > most && len(f) > each+len(note) {
			short := Head(f, each)
			if strings.Count(short, `"`)%2 == 1 { // it is still a name
				short += `"`
			}
			facts[i] = fmt.Sprintf("%s… (%d bytes)", short, len(f))
		}
	}
	return facts
}

// Summary returns all facts of the view in one line, with those about its lines: they are shown
// below it.
func (v View) Summary() Words {
	facts := shortFacts(v.facts, MaxResult)
	if fact := v.lineFact(v.Lines); fact != "" {
		facts = append(facts, fact)
	}
	return Words(strings.Join(append(facts, v.of(len(v.Lines))...), ", "))
}

// of returns the fact that so many of all lines are shown, or none if all are.
func (v View) of(shown int) []string {
	total, which := v.Above+len(v.Lines), "last"
	if v.Head {
		which = "first"
	}
	if shown == total {
		return nil
	}
	return []string{fmt.Sprintf("the %s %d of %d lines", which, shown, total)}
}

// fit keeps as many lines as fit in room bytes. If not even one does, it is truncated.
func (v View) fit(room int) (kept []string, cutBytes int) {
	order, cut := slices.Clone(v.Lines), Tail
	if v.Head {
		slices.Reverse(order)
		cut = Head
	}
	kept = order[len(order)-Fitting(order, room, lineSize):]
	if len(kept) == 0 && len(order) > 0 {
		line := order[len(order)-1]
		kept = []string{cut(line, room)}
		cutBytes = len(line) - len(kept[0])
	}
	if v.Head {
		slices.Reverse(kept)
	}
	return kept, cutBytes
}

type roomKey struct{}

// WithRoom bounds the results of calls in a batch: each leaves the rest of the room to those
// after it.
func WithRoom(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, roomKey{}, n)
}

// Room returns the maximum size of a result in bytes.
func (f Form) Room(ctx context.Context) int {
	if n, ok := ctx.Value(roomKey{}).(int); ok {
		return n
	}
	return f.Most
}

// Fact adds a fact: see [Say].
func (v *View) Fact(format Words, args ...any) { v.facts = append(v.facts, Say(format, args...)) }

// Extend adds words to the first fact.
func (v *View) Extend(format Words, args ...any) {
	v.facts[0] += " " + Say(format, args...)
}

// Append adds the facts and lines of another view.
func (v *View) Append(other View) {
	v.facts, v.Lines = append(v.facts, other.facts...), append(v.Lines, other.Lines...)
}

// FactIf adds a fact if holds is true.
func (v *View) FactIf(holds bool, format Words, args ...any) {
	if holds {
		v.Fact(format, args...)
	}
}

// A column is a part of a row: what it shows, and the tmux tokens it is made of. In a line
// of facts, lead precedes it.
type Column[R any] struct {
	Name   string
	Lead   string
	Tokens string // separated by commas
	Text   func(R) string
	// Ours is set if Text returns Words.
	Ours bool
}

// wordsOf returns the text of a column as part of a fact; it is ours if it is Words.
func wordsOf(text, apart string, ours bool) Words {
	if ours {
		return Words(text)
	}
	return Named(text, apart)
}

// Named returns a text, which a program may have chosen, as part of a fact. It is quoted if
// it could be taken for more: if it has a comma, a bracket, a quote, or what sets the parts
// of the fact apart.
func Named(text, apart string) Words {
	if strings.ContainsAny(text, `,[]"`+apart) {
		return Words(`"` + strings.ReplaceAll(text, `"`, `\u0022`) + `"`)
	}
	return Words(text)
}

// Tabular is a row with its own columns. Other rows have one per property.
type Tabular[R any] interface{ Columns() []Column[R] }

// TokensShown returns the tokens that the columns of a row need.
func TokensShown[R Tabular[R]]() []string {
	var zero R
	var tokens []string
	for _, c := range zero.Columns() {
		if c.Tokens != "" {
			tokens = append(tokens, strings.Split(c.Tokens, ",")...)
		}
	}
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// RowFacts returns the facts of one row.
func RowFacts[R Tabular[R]](row R) View {
	var words []string
	for _, c := range row.Columns() {
		if text := c.Text(row); text != "" {
			words = append(words, c.Lead+string(wordsOf(text, " ", c.Ours)))
		}
	}
	return View{facts: []Words{Words(strings.Join(words, " "))}}
}

func (l List[T]) View() View {
	noun := strings.ToLower(strings.TrimSuffix(reflect.TypeFor[T]().Name(), "Info")) + "s"
	var v View
	v.Head = true
	switch n := len(l.Result); {
	case n == l.Total:
		v.Fact("%d %s", n, noun)
	case n == 0:
		v.Fact("no row of %d %s on this page", l.Total, noun)
	default:
		v.Fact("%d to %d of %d %s", l.Offset+1, l.Offset+n, l.Total, noun)
		v.FactIf(l.Offset+n < l.Total, "more: offset=%d", l.Offset+n)
	}
	v.More = "limit and offset, filters, or fewer fields"
	if l.Total == 1 {
		v.facts[0] = v.facts[0][:len(v.facts[0])-1]
	}
	if len(l.Result) > 0 {
		v.table(tableOf(l.Result, l.Fields))
	}
	return v
}

// tableOf returns the names of the columns, followed by the cells of each row, and which columns
// are Words.
func tableOf[R any](rows []R, fields []params.Field) (table [][]string, ours []bool) {
	var zero R
	var columns []Column[R]
	if t, ok := any(zero).(Tabular[R]); ok && fields == nil {
		columns = t.Columns()
	} else {
		if fields == nil {
			fields = params.FieldsOf(reflect.TypeFor[R]())
		}
		for _, f := range fields {
			columns = append(columns, Column[R]{Name: f.Name, Text: func(r R) string {
				return inLine(reflect.ValueOf(r).FieldByIndex(f.Index))
			}})
		}
	}
	table = make([][]string, len(rows)+1)
	for _, c := range columns {
		ours = append(ours, c.Ours)
		table[0] = append(table[0], c.Name)
		for i, r := range rows {
			table[i+1] = append(table[i+1], Legible(c.Text(r), ""))
		}
	}
	return table, ours
}

// table shows a table. Columns that are equal in every row become facts.
func (v *View) table(cells [][]string, ours []bool) {
	var shown []int
	var equal []Words
	for i, name := range cells[0] {
		same := true
		for _, row := range cells[2:] {
			same = same && row[i] == cells[1][i]
		}
		switch first := cells[1][i]; {
		case !same || first != "" && len(cells) == 2:
			shown = append(shown, i)
		case first != "":
			equal = append(equal, Say("%s ", name)+wordsOf(first, "", ours[i]))
		}
	}
	v.FactIf(equal != nil, "all: %s", Listed(equal, ", "))
	if shown == nil {
		return
	}
	for _, row := range cells {
		var line []string
		for _, i := range shown {
			line = append(line, row[i])
		}
		v.Lines = append(v.Lines, strings.TrimRight(strings.Join(line, "\t"), "\t"))
	}
}

// fewProperties are shown in one line.
const fewProperties = 6

// Properties shows the properties of an output that are not null, empty or false.
func Properties(out any) View {
	value := reflect.Indirect(reflect.ValueOf(out))
	var facts []Words
	var lines []string
	for _, f := range params.FieldsOf(value.Type()) {
		p := value.FieldByIndex(f.Index)
		if text := inLine(p); text != "" && text != "-" && text != "false" {
			facts = append(facts, Say("%s %s", f.Name, text))
			lines = append(lines, f.Name+" "+Legible(text, ""))
		}
	}
	if len(facts) <= fewProperties {
		return View{facts: facts}
	}
	return View{Lines: lines, Head: true}
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

// OneLine returns a text on one line, quoted if it has line breaks or invisible characters.
func OneLine(s string) string {
	if Legible(s, "") != s {
		return strconv.Quote(s)
	}
	return s
}

// Flags returns the names of the flags that are set.
func Flags(flags ...any) string {
	var set []string
	for i := 0; i < len(flags); i += 2 {
		if flags[i+1].(bool) {
			set = append(set, flags[i].(string))
		}
	}
	return strings.Join(set, ",")
}

// Elapsed returns a number of seconds as shown in a fact.
func Elapsed(sec float64) string { return strconv.FormatFloat(sec, 'f', -1, 64) + "s" }

// ValueOr returns what s points to, or other if it is nil.
func ValueOr(s *string, other string) string {
	if s == nil {
		return other
	}
	return cmp.Or(*s, other)
}

// TextView returns the view of an output that is only text.
func TextView(s string) View { return View{Lines: strings.Split(s, "\n")} }
