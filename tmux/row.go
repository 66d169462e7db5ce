package tmux

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Lister is a command that prints rows: the list commands, and those that
// create something and tell what it is (new-window and its kin). [List] and
// [Rows] ask it for the tokens of a struct.
type Lister interface {
	Command
	// rows is the command printing one row in the given format, and the scopes
	// whose tokens such a row has.
	rows(format Format) (Command, []Scope)
}

// List runs a command and decodes what it prints into rows of type R, a struct
// whose fields are tagged with the tokens they hold:
//
//	type row struct {
//		ID    tmux.PaneID `tmux:"pane_id"`
//		Dead  bool        `tmux:"pane_dead"`
//		Theme *string     `tmux:"client_theme,since=3.6"`
//		Note  string      `tmux:"@note"`
//	}
//	rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})
//
// tmux is asked for exactly those tokens, in one round trip. Fields are strings
// and types of strings (the ids), bools, ints, floats, [time.Time], slices of
// strings or ints (the option sep= names what separates them: comma, space or
// colon), or pointers to these. A pointer is nil when the token has no value, or
// when this tmux does not know it: the options since= and until= name the
// releases that do. A slice is nil then too, and empty when the list is. Values
// arrive whole, whatever bytes are in them.
func List[R any](ctx context.Context, srv *Server, cmd Lister) ([]R, error) {
	var b Batch
	rows := Rows[R](&b, cmd)
	if err := b.Do(ctx, srv); err != nil {
		return nil, err
	}
	return *rows, nil
}

// Batch is a list of commands whose answers are decoded: several readings, or a
// change and a reading of what came of it, in one round trip. The zero Batch is
// empty and ready to use.
type Batch struct {
	steps []step
}

type step struct {
	prepare func(v func() (Version, error)) (Command, error)
	decode  func(srv *Server, v Version, out []byte) error
}

// Add appends a command. The bytes it points to after [Batch.Do] are what the
// command printed.
func (b *Batch) Add(cmd Command) *[]byte {
	printed := new([]byte)
	b.steps = append(b.steps, step{
		prepare: func(func() (Version, error)) (Command, error) { return cmd, nil },
		decode:  func(_ *Server, _ Version, out []byte) error { *printed = out; return nil },
	})
	return printed
}

// Rows appends a command that prints rows of type R: see [List]. The slice it
// points to is filled by [Batch.Do]; it is empty, not nil, when there are none.
// With tokens in only, tmux is asked for no others, which is quicker, and the other
// fields are left at zero.
func Rows[R any](b *Batch, cmd Lister, only ...string) *[]R {
	rows := new([]R)
	var tokens []rowField
	b.steps = append(b.steps, step{
		prepare: func(version func() (Version, error)) (Command, error) {
			plan, err := rowPlanOf(reflect.TypeFor[R]())
			if err != nil {
				return nil, err
			}
			v, err := version()
			if err != nil {
				return nil, err
			}
			for _, token := range only {
				if !slices.ContainsFunc(plan, func(f rowField) bool { return f.token == token }) {
					return nil, argumentError("%v has no field for %s", reflect.TypeFor[R](), token)
				}
			}
			tokens = plan.known(v)
			if len(only) > 0 {
				tokens = slices.DeleteFunc(tokens, func(f rowField) bool { return !slices.Contains(only, f.token) })
			}
			full, scopes := cmd.rows(formatOf(tokens, v))
			for _, t := range tokens {
				if t.scope != "" && !slices.Contains(scopes, t.scope) {
					return nil, argumentError("%s rows have no %s", cmd.CommandName(), t.token)
				}
			}
			return full, nil
		},
		decode: func(srv *Server, v Version, out []byte) error {
			var err error
			*rows, err = decodeRows[R](srv, v, tokens, string(out))
			if err != nil {
				return fmt.Errorf("%s: %w", cmd.CommandName(), err)
			}
			return nil
		},
	})
	return rows
}

// Do runs the commands as one list, as [Server.Do] does, and decodes what they
// printed. When a command fails, the answers of those before it are decoded.
func (b *Batch) Do(ctx context.Context, srv *Server) error {
	version := func() (Version, error) { return srv.Version(ctx) }
	cmds := make([]Command, len(b.steps))
	for i, st := range b.steps {
		cmd, err := st.prepare(version)
		if err != nil {
			return err
		}
		cmds[i] = cmd
	}
	outs, doErr := srv.Do(ctx, cmds...)
	if doErr != nil && len(outs) > 0 {
		outs = outs[:len(outs)-1]
	}
	// Already known where a step needed it.
	srv.mu.Lock()
	v := srv.version
	if v == (Version{}) {
		v = srv.program
	}
	srv.mu.Unlock()
	for i, out := range outs {
		if err := b.steps[i].decode(srv, v, out); err != nil {
			return err
		}
	}
	return doErr
}

// rowField is a field of a row struct and the token it holds.
type rowField struct {
	index        int
	token        string
	scope        Scope // empty for user options and tokens not in the table
	sep          string
	since, until Version
	scoped       bool // see Token.Scoped
	// plain is set for tokens whose values have no character that needs a
	// backslash: numbers, flags and ids. tmux is quicker with them.
	plain bool
	// always is set for tokens that have a value whenever tmux knows them, so
	// that an empty one is an empty text or list, not an absent one.
	always bool
}

type rowPlan []rowField

// known are the fields whose tokens a tmux of version v has. The others are not
// asked for: an unknown token would read as an empty one.
func (p rowPlan) known(v Version) []rowField {
	return slices.DeleteFunc(slices.Clone(p), func(f rowField) bool {
		return !Token{Since: f.since, Until: f.until}.In(v)
	})
}

// identity is the token that every object of a scope has and nothing else.
var identity = map[Scope]string{
	SessionScope: "session_id", WindowScope: "window_id", PaneScope: "pane_id",
	ClientScope: "client_name", BufferScope: "buffer_name",
}

// fieldEnd ends each value of a row. The q: modifier puts a backslash before
// every one inside a value of text, and before backslashes, on all versions; so values
// may hold any byte, newlines too.
const fieldEnd = '|'

func formatOf(fields []rowField, v Version) Format {
	var b strings.Builder
	for _, f := range fields {
		token := "#{q:" + f.token + "}"
		if f.plain {
			token = "#{" + f.token + "}"
		}
		if f.scoped && !v.Has(Version{Major: 3, Minor: 3}) {
			// A branch that is not taken is not expanded.
			token = "#{?" + identity[f.scope] + "," + token + ",}"
		}
		b.WriteString(token)
		b.WriteByte(fieldEnd)
	}
	return Format(b.String())
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
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("tmux")
		if tag == "" || tag == "-" {
			continue
		}
		token, options, _ := strings.Cut(tag, ",")
		f := rowField{index: i, token: token, sep: ","}
		if t := tokensByName()[token]; t != nil {
			f.scope, f.scoped, f.always = t.Scope, t.Scoped, !t.Nullable
			f.plain = t.Type != "string" && !strings.HasPrefix(t.Type, "[]")
		}
		for o := range strings.SplitSeq(options, ",") {
			key, value, _ := strings.Cut(o, "=")
			var err error
			switch {
			case o == "":
			case key == "since":
				f.since, err = ParseVersion(value)
			case key == "until":
				f.until, err = ParseVersion(value)
			case key == "sep" && separators[value] != "":
				f.sep = separators[value]
			default:
				err = fmt.Errorf("unknown option %q", o)
			}
			if err != nil {
				return nil, argumentError("tag of %s.%s: %v", t, sf.Name, err)
			}
		}
		if strings.ContainsAny(token, "{}#,:| ") {
			return nil, argumentError("tag of %s.%s: %q is not a token", t, sf.Name, token)
		}
		if !sf.IsExported() || !decodable(sf.Type) {
			return nil, argumentError("field %s.%s cannot hold a token", t, sf.Name)
		}
		p = append(p, f)
	}
	actual, _ := rowPlans.LoadOrStore(t, p)
	return actual.(rowPlan), nil
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

// decodeRows reads rows of the given fields. A tmux of version v printed them.
func decodeRows[R any](srv *Server, v Version, fields []rowField, out string) ([]R, error) {
	rows := []R{}
	sc := rowScanner{rest: out, vis: v.printsVis()}
	for sc.rest != "" {
		var row R
		rv := reflect.ValueOf(&row).Elem()
		for _, f := range fields {
			value, err := sc.value()
			if err != nil {
				return nil, fmt.Errorf("row %d: %s: %w", len(rows), f.token, err)
			}
			if err := f.set(srv, rv.Field(f.index), value); err != nil {
				return nil, fmt.Errorf("row %d: %s: %w", len(rows), f.token, err)
			}
		}
		if !strings.HasPrefix(sc.rest, "\n") {
			return nil, fmt.Errorf("row %d: no end of line before %.40q", len(rows), sc.rest)
		}
		sc.rest = sc.rest[1:]
		rows = append(rows, row)
	}
	return rows, nil
}

// printsVis reports whether this tmux writes control bytes in the output of
// list commands as vis(3) does ("\037", "\r").
func (v Version) printsVis() bool {
	return v.Major == 3 && (v.Minor == 4 || v.Minor == 5)
}

// rowScanner takes rows apart into values.
type rowScanner struct {
	rest string
	vis  bool
}

// value reads up to the end of a field and takes the escapes out.
func (sc *rowScanner) value() (string, error) {
	s := sc.rest
	// Nearly every value has no escape in it.
	if i := strings.IndexAny(s, `|\`); i >= 0 && s[i] == fieldEnd {
		sc.rest = s[i+1:]
		return s[:i], nil
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == fieldEnd:
			sc.rest = s[i+1:]
			return string(b), nil
		case c == '\\' && i+1 < len(s):
			i++
			if sc.vis {
				if ctl, n := unvis(s[i:]); n > 0 {
					b, i = append(b, ctl), i+n-1
					continue
				}
			}
			b = append(b, s[i])
		case c == '$' && sc.vis && len(b) > 0:
			// q: has put a backslash here, and vis of 3.4 another one in
			// between; a "$" that is not escaped can only come from that.
			b[len(b)-1] = '$'
		default:
			b = append(b, c)
		}
	}
	return "", fmt.Errorf("value without an end in %.40q", s)
}

// unvis decodes what stands after a backslash: the byte it tells and how many
// characters that takes, 0 when it is no vis escape. q: escapes neither digits
// nor letters, so the two cannot be mistaken for each other.
func unvis(s string) (byte, int) {
	if i := strings.IndexByte("abvfr", s[0]); i >= 0 {
		return "\a\b\v\f\r"[i], 1
	}
	if len(s) >= 3 {
		if n, err := strconv.ParseUint(s[:3], 8, 8); err == nil {
			return byte(n), 3
		}
	}
	return 0, 0
}

// set puts the value of a token into the field of a row.
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

// setScalar leaves the zero value for what is not there, but in text.
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
