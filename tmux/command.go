package tmux

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tmuxmcp/tmux/internal/wire"
)

// A Command is one tmux command with its arguments: one of this package's command structs,
// such as [SplitWindow] or [CapturePane], or a [Raw] one.
//
// Field tags say how a struct is encoded:
//
//	Target Target `flag:"t"`              // -t value
//	Detached bool `flag:"d"`              // -d
//	Dir    string `flag:"c,literal"`      // -c value; tmux expands it as a format, so it is escaped
//	Stderr bool   `flag:"E" since:"3.6"`  // refused on an older tmux
//	Keys   []string `arg:""`              // the words after the flags, in the order of the fields
//
// A zero field is omitted; a non-nil pointer is always sent, which distinguishes an empty
// text or a 0 from an unset field. Tag options name what tmux would do with the value,
// which is therefore escaped: "literal" (expand it as a format), "time" (that and strftime;
// a field of type [Format] is protected from strftime only) and "glob" (match it as a shell
// pattern). Others are "milliseconds" (the unit of a duration, which is otherwise given in
// seconds), "condition" (see [Require]), "utf8" (other bytes, which tmux drops or refuses,
// are refused here) and, for arg, "required" (sent even if empty). The flag "-" marks a
// field that is not encoded.
type Command interface {
	// commandName returns the full name of the tmux command.
	commandName() string
}

// Raw is a command given as plain words, for what the typed commands do not cover. tmux
// expands formats in the arguments; only what the command list itself would misread is
// escaped.
type Raw struct {
	Name string
	Args []string
}

func (c Raw) commandName() string { return c.Name }

// encoded is a command in words, the first of which is its name.
type encoded []string

// encode returns the words of a command for a server before they are escaped with word. It calls
// version only if the command uses something that not every supported tmux has. References of any
// server are for a nil one.
func encode(cmd Command, srv *Server, version func() (Version, error)) (encoded, error) {
	name := cmd.commandName()
	words := encoded{name}
	if raw, ok := cmd.(Raw); ok {
		words = append(words, raw.Args...)
		if name == "" {
			return nil, argumentError("a command without a name")
		}
		return words, words.check()
	}
	v := reflect.ValueOf(cmd)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	plan := planOf(v.Type())
	if c, ok := cmd.(interface {
		check(version func() (Version, error)) error
	}); ok {
		if err := c.check(version); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := need(version, name, plan.since, Version{}); err != nil {
		return nil, err
	}
	for _, f := range plan.flags {
		values, ok, err := f.values(v.Field(f.index), srv)
		if err != nil {
			return nil, fmt.Errorf("%s -%s: %w", name, f.flag, err)
		}
		if !ok {
			continue
		}
		if err := need(version, name+" -"+f.flag, f.since, f.until); err != nil {
			return nil, err
		}
		if f.isBool {
			words = append(words, "-"+f.flag)
		}
		for _, s := range values {
			words = append(words, "-"+f.flag, s)
		}
	}
	var args []string
	for _, f := range plan.args {
		values, ok, err := f.values(v.Field(f.index), srv)
		if err != nil {
			return nil, fmt.Errorf("%s with %s: %w", name, f.name, err)
		}
		if !ok && !f.required {
			continue
		}
		if err := need(version, name+" with "+f.name, f.since, f.until); err != nil {
			return nil, err
		}
		if !ok {
			values = []string{""}
		}
		args = append(args, values...)
	}
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		words = append(words, "--")
	}
	words = append(words, args...)
	return words, words.check()
}

// need refuses what only other versions have. It calls version only if there are some.
func need(version func() (Version, error), what string, since, until Version) error {
	if since == (Version{}) && until == (Version{}) {
		return nil
	}
	have, err := version()
	if err == nil && !(Token{Since: since, Until: until}).In(have) {
		err = &UnsupportedError{What: what, Since: since, Until: until, Have: have}
	}
	return err
}

// check refuses words that cannot be passed to any tmux.
func (w encoded) check() error {
	for _, s := range w {
		if strings.IndexByte(s, 0) >= 0 {
			return fmt.Errorf("%s: %w", w[0], argumentError("text with a NUL byte"))
		}
	}
	return nil
}

// commandPlan is how the structs of one type are encoded.
type commandPlan struct {
	since       Version
	flags, args []commandField
}

type commandField struct {
	index        int
	name         string
	flag         string
	isBool       bool
	isSlice      bool
	required     bool
	utf8         bool
	unit         time.Duration // in which a duration is given: a second, unless it says otherwise
	escape       func(string) string
	since, until Version
}

var commandPlans sync.Map // reflect.Type → *commandPlan

func planOf(t reflect.Type) *commandPlan {
	if p, ok := commandPlans.Load(t); ok {
		return p.(*commandPlan)
	}
	p := &commandPlan{}
	for i := range t.NumField() {
		sf := t.Field(i)
		f := commandField{index: i, name: sf.Name, unit: time.Second, isBool: sf.Type.Kind() == reflect.Bool, isSlice: sf.Type.Kind() == reflect.Slice}
		if s := sf.Tag.Get("since"); s != "" {
			f.since = mustVersion(s)
		}
		if s := sf.Tag.Get("until"); s != "" {
			f.until = mustVersion(s)
		}
		if sf.Name == "_" {
			p.since = f.since
			continue
		}
		flag, isFlag := sf.Tag.Lookup("flag")
		if flag == "-" {
			continue
		}
		arg, isArg := sf.Tag.Lookup("arg")
		if !isFlag && !isArg {
			panic(fmt.Sprintf("tmux: %s.%s has neither a flag nor an arg tag", t, sf.Name))
		}
		var options string
		f.flag, options, _ = strings.Cut(flag, ",")
		for o := range strings.SplitSeq(options+arg, ",") {
			switch o {
			case "":
			case "literal":
				f.escape = func(s string) string { return string(Literal(s)) }
			case "time":
				f.escape = func(s string) string { return string(Format(s).withoutTime()) }
				if sf.Type != reflect.TypeFor[Format]() {
					f.escape = func(s string) string { return string(Literal(s).withoutTime()) }
				}
			case "glob":
				f.escape = Glob
			case "condition":
				f.escape = func(s string) string { return conditional(s, wire.Unmet) }
			case "guard":
				f.escape = func(s string) string { return conditional(s, wire.Unasked) }
			case "milliseconds":
				f.unit = time.Millisecond
			case "utf8":
				f.utf8 = true
			case "required":
				f.required = true
			default:
				panic(fmt.Sprintf("tmux: %s.%s: unknown tag option %q", t, sf.Name, o))
			}
		}
		if isFlag {
			p.flags = append(p.flags, f)
		} else {
			p.args = append(p.args, f)
		}
	}
	actual, _ := commandPlans.LoadOrStore(t, p)
	return actual.(*commandPlan)
}

// values returns the words for a field; ok is false if the field is not set.
func (f *commandField) values(v reflect.Value, srv *Server) (words []string, ok bool, err error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, false, nil
		}
		v = v.Elem()
	} else if v.IsZero() {
		return nil, false, nil
	}
	if f.isBool {
		return nil, v.Bool(), nil
	}
	if t, ok := v.Interface().(Target); ok {
		if err := checkTarget(t, srv); err != nil {
			return nil, false, err
		}
	}
	switch x := v.Interface().(type) {
	case Target:
		words = []string{x.TargetSpec()}
	case Env:
		words = x.words()
	case time.Duration:
		words = []string{strconv.FormatFloat(float64(x)/float64(f.unit), 'f', -1, 64)}
	case fmt.Stringer:
		words = []string{x.String()}
	default:
		switch v.Kind() {
		case reflect.String:
			words = []string{v.String()}
		case reflect.Int:
			words = []string{strconv.FormatInt(v.Int(), 10)}
		case reflect.Slice:
			for i := range v.Len() {
				words = append(words, v.Index(i).String())
			}
		default:
			panic(fmt.Sprintf("tmux: cannot encode a field of type %s", v.Type()))
		}
	}
	if f.escape != nil {
		words = slices.Clone(words)
		for i, w := range words {
			words[i] = f.escape(w)
		}
	}
	if f.utf8 && !utf8.ValidString(strings.Join(words, "")) {
		return nil, false, argumentError("text that is not UTF-8: %q", words)
	}
	return words, len(words) > 0, nil
}

// Env is a set of environment variables for a new process, passed as -e flags in the order
// of their names.
type Env map[string]string

func (e Env) words() []string {
	words := make([]string, 0, len(e))
	for k, v := range e {
		words = append(words, k+"="+v)
	}
	sort.Strings(words)
	return words
}
