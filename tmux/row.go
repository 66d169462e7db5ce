package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tmuxmcp/internal/nearest"
)

// A Lister is a command that prints rows: the list commands, display-message, and those
// that create something and print it, such as new-window. See [List] and [AddRows].
type Lister interface {
	Command
	// rows returns the command that prints rows in the given format, and the scopes whose
	// tokens these rows have.
	rows(format Format) (Command, []Scope)
}

// List runs a command and decodes what it prints into rows of type R, a struct whose fields
// are tagged with the tokens they hold:
//
//	type row struct {
//		ID    tmux.PaneID `tmux:"pane_id"`
//		Dead  bool        `tmux:"pane_dead"`
//		Theme *string     `tmux:"client_theme"`
//		Note  string      `tmux:"@note"`
//	}
//	rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
//
// tmux is asked for exactly these tokens, in one round trip. A name is one of [Tokens], an
// option, a user option, or an environment variable with a capital letter in its name. Any
// other name is an [ErrArgument] that suggests the nearest token. For a token newer than
// this package, name the releases that have it with the tag options since= and until=.
//
// Fields, which may be those of embedded structs, are strings, bools, ints, floats,
// [time.Time], the references, types based on these (such as the ids), slices of strings or
// ints, and pointers. If a token has no value, or this tmux does not know it, a pointer is
// nil and any other field zero. The items of a slice are separated by commas or, with the
// option sep=, by a comma, space or colon. A slice is nil if there is no value, and empty if
// the list is empty. Long texts are cut if [Config.MostText] says so.
func List[R any](ctx context.Context, srv *Server, cmd Lister) ([]R, error) {
	var b Batch
	rows := AddRows[R](&b, cmd)
	if err := b.Do(ctx, srv); err != nil {
		return nil, err
	}
	return *rows, nil
}

// rowField is a field of a row struct and the token it holds.
type rowField struct {
	index        []int
	token        string
	scope        Scope // empty for user options and tokens not in the table
	sep          string
	since, until Version
	// plain is set for tokens whose values never contain a character that needs a
	// backslash: numbers, flags and ids. tmux expands them faster.
	plain bool
	// text is what bounds the value; shortText where nothing is to be cut.
	text textKind
	// always is set for tokens that have a value whenever tmux knows them, so that an empty
	// value is an empty text or list, not an absent one.
	always bool
}

type rowPlan []rowField

// known returns the fields whose tokens tmux version v has. The others are not requested:
// an unknown token would read as an empty one.
func (p rowPlan) known(v Version) []rowField {
	return slices.DeleteFunc(slices.Clone(p), func(f rowField) bool {
		return !Token{Since: f.since, Until: f.until}.In(v)
	})
}

// identity maps a scope to the token that exactly the objects of that scope have.
var identity = map[Scope]string{
	SessionScope: "session_id", WindowScope: "window_id", PaneScope: "pane_id",
	ClientScope: "client_name", BufferScope: "buffer_name",
}

// fieldEnd ends each value of a row. On all versions, the q: modifier puts a backslash
// before every one inside a value of text, and before backslashes, so values may contain
// any byte, even newlines.
const fieldEnd = '|'

// formatOf returns the format of rows of these fields, each of which begins with begin, which
// also marks texts that are cut because they are longer than most.
func formatOf(fields []rowField, v Version, begin string, most int, measured bool) Format {
	var b strings.Builder
	b.WriteString(begin)
	for _, f := range fields {
		token := Format("#{q:" + f.token + "}")
		switch {
		case f.plain:
			token = Format("#{" + f.token + "}")
		case most > 0:
			token = f.cut(token, v, begin, most, measured)
		}
		b.WriteString(string(inScope(f.token, token, v)))
		b.WriteByte(fieldEnd)
	}
	return Format(b.String())
}

// cut returns the format of a text that is longer than most with only its beginning; whole
// is the format of the whole text.
//
// It is cut by its width, and with the = modifier, which drops control characters and counts
// combining ones as nothing. So any text is measured in bytes first; if it is still too long
// then, or would take tmux long to cut, only the delimiter is left. That costs as much as the
// text itself, so names are measured only if the output is too much without: [decodeRows]
// bounds them, too.
func (f *rowField) cut(whole Format, v Version, begin string, most int, measured bool) Format {
	switch {
	case f.text == nameText && !measured:
		return Format(fmt.Sprintf("#{=/%d/%s;q:%s}", most, cutQuoted, f.token))
	case f.text != shortText:
		// Without q, whose result tmux before 3.4 never frees. An odd run of # gets one more.
		text := Format(fmt.Sprintf("#{=%d:%s}", most, f.token))
		atMost := func(bytes int, f Format) Format { return Format(fmt.Sprintf("#{e|<=|:#{n:%s},%d}", f, bytes)) }
		quick, short := atMost(mostQuick, Format(f.token)), atMost(most*utf8.UTFMax, text)
		if v.printsVis() {
			text = visSafe(text)
		}
		fits := "#{?" + atMost(most*utf8.UTFMax, Format(f.token)) + "," + Format(fmt.Sprintf("#{e|<=|:#{w:%s},%d}", f.token, most)) + ",}"
		return "#{?" + fits + "," + whole + "," + Format(begin) +
			"#{?" + quick + ",#{?" + short + "," + text + ",},}" + Format(begin) + "}"
	}
	return whole
}

// mostQuick is how long a text may be, in bytes, to be cut in about a millisecond, whatever
// is in it.
const mostQuick = 20_000

// inScope returns a format that expands to nothing where the token in it must not be
// expanded: see [Token.Scoped].
func inScope(token string, f Format, v Version) Format {
	if t := tokensByName()[token]; t != nil {
		return t.Guarded(f, v)
	}
	return f
}

var rowPlans sync.Map // reflect.Type → rowPlan

var timeType = reflect.TypeFor[time.Time]()

func rowPlanOf(t reflect.Type) (rowPlan, error) {
	if p, ok := rowPlans.Load(t); ok {
		return p.(rowPlan), nil
	}
	if t.Kind() != reflect.Struct {
		return nil, argumentError("rows of type %s, which is not a struct", t)
	}
	var p rowPlan
	for _, sf := range reflect.VisibleFields(t) {
		tag := sf.Tag.Get("tmux")
		if tag == "" || tag == "-" {
			continue
		}
		token, options, _ := strings.Cut(tag, ",")
		f := rowField{index: sf.Index, token: token, sep: ","}
		if t := tokensByName()[token]; t != nil {
			f.scope, f.always = t.Scope, !t.Nullable
			f.since, f.until = t.Since, t.Until
			f.plain = t.Type != "string" && !strings.HasPrefix(t.Type, "[]")
		}
		f.text = textOf(token, sf.Type)
		if err := f.obey(options); err != nil {
			return nil, argumentError("tag of %s.%s: %v", t, sf.Name, err)
		}
		if strings.ContainsAny(token, "{}#,:| ") {
			return nil, argumentError("tag of %s.%s: %q is not a token", t, sf.Name, token)
		}
		if !knownToken(token) && f.since == (Version{}) && f.until == (Version{}) {
			hint := cmp.Or(nearest.Meant(token, tokenNames()), "; for a token newer than this package, add since= to the tag")
			return nil, argumentError("tag of %s.%s: tmux has no token %s%s", t, sf.Name, token, hint)
		}
		if _, err := reflect.Zero(t).FieldByIndexErr(sf.Index); err != nil || !sf.IsExported() || !decodable(sf.Type) {
			return nil, argumentError("field %s.%s cannot hold a token", t, sf.Name)
		}
		p = append(p, f)
	}
	if len(p) == 0 {
		return nil, argumentError("%s has no field with a tag such as `tmux:\"pane_id\"`", t)
	}
	actual, _ := rowPlans.LoadOrStore(t, p)
	return actual.(rowPlan), nil
}

// textOf returns what bounds the value of a token in a field of a type.
func textOf(token string, field reflect.Type) textKind {
	if reflect.PointerTo(field).Implements(reflect.TypeFor[ref]()) {
		return shortText // it must be whole
	}
	if field.Kind() == reflect.Pointer || field.Kind() == reflect.Slice {
		field = field.Elem()
	}
	if t := tokensByName()[token]; field.Kind() != reflect.String {
		return shortText
	} else if t != nil {
		return t.text
	}
	return anyText
}

// obey sets what the options of a tag say.
func (f *rowField) obey(options string) error {
	for o := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(o, "=")
		var err error
		switch {
		case o == "":
		case key == "since":
			f.since, err = ParseVersion(value)
		case key == "until":
			f.until, err = ParseVersion(value)
		case o == "whole":
			f.text = shortText
		case key == "sep" && separators[value] != "":
			f.sep = separators[value]
		default:
			err = fmt.Errorf("unknown option %q", o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var separators = map[string]string{"comma": ",", "space": " ", "colon": ":"}

func decodable(t reflect.Type) bool {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[ref]()) {
		return true
	}
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return t == timeType
}

// cutRows cuts output into rows, which begin with begin, and whatever else was printed
// between lines of rows. What follows a row is left behind it.
func cutRows(out, begin string) (rows []string, rest string) {
	if !strings.HasPrefix(out, begin) {
		i := strings.Index(out, "\n"+begin)
		if i < 0 {
			return nil, out
		}
		rest, out = out[:i+1], out[i+1:]
	}
	for out != "" {
		out = out[len(begin):]
		end := strings.Index(out, "\n"+begin) + 1
		if end == 0 {
			end = len(out)
		}
		rows, out = append(rows, out[:end]), out[end:]
	}
	return rows, rest
}

// decodeRows decodes rows of the given fields, printed by tmux version v, each of which
// begins with begin. It also returns what else was printed.
func decodeRows[R any](srv *Server, v Version, fields []rowField, begin, out string) ([]R, string, error) {
	rows := []R{}
	lines, other := cutRows(out, begin)
	for _, out := range lines {
		var row R
		rv := reflect.ValueOf(&row).Elem()
		rest := out
		for _, f := range fields {
			var value string
			var err error
			value, rest, err = cutValue(rest, v, begin)
			if most := srv.cfg.MostText; most > 0 && f.text != shortText && len(value) > most*utf8.UTFMax+len(cutMark) {
				value = strings.ToValidUTF8(value[:most*utf8.UTFMax], "") + cutMark
			}
			if err == nil && f.plain && strings.Contains(value, "\n") { // the row was cut short
				err = fmt.Errorf("a line ends in %.40q: %w", value, errCutRow)
			}
			if err != nil {
				return nil, other, &cutRowError{fmt.Errorf("row %d: %s: %w", len(rows), f.token, err), rowID(out, fields, v, begin)}
			}
			if err := f.set(srv, rv.FieldByIndex(f.index), value); err != nil {
				return nil, other, fmt.Errorf("row %d: %s: %w", len(rows), f.token, err)
			}
		}
		after, ended := strings.CutPrefix(rest, "\n")
		if !ended {
			return nil, other, fmt.Errorf("row %d: no end of line before %.40q: %w", len(rows), rest, errCutRow)
		}
		other += after
		rows = append(rows, row)
	}
	return rows, other, nil
}

var errCutRow = errors.New("tmux truncated a row, as 3.7 and later do if expanding it takes 100 ms")

// cutRowError has the id of the object that the row is about, if it was printed.
type cutRowError struct {
	error
	id string
}

func (e *cutRowError) Unwrap() error { return e.error }

// cutMark ends a text that was cut.
const cutMark = "…"

// cutQuoted marks a quoted text that was cut: q: puts a backslash before each of these.
const cutQuoted = ">>"

// cutValue returns the first value of a row, and what follows it; begin is around cut texts that
// are not quoted, see [rowField.cut]. q: escapes neither digits nor letters, so an escape with
// one of these is vis(3)'s.
func cutValue(row string, v Version, begin string) (value, rest string, err error) {
	value, cut := strings.CutPrefix(row, begin)
	ok := false
	if cut {
		if value, rest, ok = strings.Cut(value, begin+string(fieldEnd)); ok && v.printsVis() {
			value = unescape(value, v.isExactly34())
		}
	} else if value, rest, ok = cutEscaped(row, fieldEnd); ok {
		if value, cut = strings.CutSuffix(value, cutQuoted); cut && oddEscape(value) {
			value = value[:len(value)-1]
		}
		value = unescape(value, v.isExactly34())
	}
	if !ok {
		return "", row, fmt.Errorf("no end of field in %.40q: %w", row, errCutRow)
	}
	if cut {
		value += cutMark
	}
	return value, rest, nil
}

// oddEscape reports whether a text ends with a backslash that escapes nothing.
func oddEscape(s string) bool { return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1 }

// rowID returns the id of the object that a row is about, if it is among the complete
// fields.
func rowID(row string, fields []rowField, v Version, begin string) string {
	ids := map[string]string{}
	for _, f := range fields {
		value, rest, err := cutValue(row, v, begin)
		if err != nil {
			break
		}
		ids[f.token], row = value, rest
	}
	return cmp.Or(ids["pane_id"], ids["window_id"], ids["session_id"])
}

// set stores the value of a token in the field of a row.
func (f *rowField) set(srv *Server, v reflect.Value, value string) error {
	if r, ok := v.Addr().Interface().(ref); ok {
		r.bind(srv, value)
		return nil
	}
	switch {
	case v.Kind() == reflect.Pointer:
		elem := v.Type().Elem()
		if value == "" && !(f.always && elem.Kind() == reflect.String) {
			return nil
		}
		v.Set(reflect.New(elem))
		return setScalar(v.Elem(), value)
	case v.Kind() == reflect.Slice:
		if value == "" {
			if f.always {
				v.Set(reflect.MakeSlice(v.Type(), 0, 0))
			}
			return nil
		}
		items := strings.Split(value, f.sep)
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i, item := range items {
			if err := setScalar(v.Index(i), item); err != nil {
				return err
			}
		}
		return nil
	default:
		return setScalar(v, value)
	}
}

// setScalar stores a value. An empty one leaves fields other than strings at zero.
func setScalar(v reflect.Value, value string) error {
	if v.Kind() == reflect.String {
		v.SetString(value)
		return nil
	}
	if value == "" {
		return nil
	}
	if v.Type() == timeType {
		sec, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("not a time: %q", value)
		}
		if sec != 0 {
			v.Set(reflect.ValueOf(time.Unix(sec, 0)))
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(value != "0")
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(value, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("not a number: %q", value)
		}
		v.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("not a number: %q", value)
		}
		v.SetFloat(x)
	}
	return nil
}
