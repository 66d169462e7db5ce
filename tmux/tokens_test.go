package tmux_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// tokenScopes are the rows of objects: how they are listed, and the token that identifies
// one where a script has several.
var tokenScopes = map[string]struct {
	list func(t testing.TB, srv *tmux.Server) []any
	key  string
}{
	"server":  {listed[tmux.ServerInfo](tmux.DisplayMessage{}), ""},
	"session": {listed[tmux.Session](tmux.ListSessions{}), "session_name"},
	"window":  {listed[tmux.Window](tmux.ListWindows{All: true}), "window_id"},
	"pane":    {listed[tmux.Pane](tmux.ListPanes{All: true}), "pane_id"},
	"client":  {listed[tmux.Client](tmux.ListClients{}), ""},
	"buffer":  {listed[tmux.Buffer](tmux.ListBuffers{}), ""},
}

func listed[R any](list tmux.Lister) func(testing.TB, *tmux.Server) []any {
	return func(t testing.TB, srv *tmux.Server) (rows []any) {
		t.Helper()
		for _, row := range check.Must[[]R](t)(tmux.List[R](testserver.Context(t), srv, list)) {
			rows = append(rows, row)
		}
		return rows
	}
}

// asJSON returns a row as encoded in JSON.
func asJSON(t testing.TB, row any) map[string]json.RawMessage {
	t.Helper()
	var fields map[string]json.RawMessage
	check.OK(t, json.Unmarshal(check.Must[[]byte](t)(json.Marshal(row)), &fields))
	return fields
}

// objectScript is the state of a script in testdata/tokens or testdata/objects.
type objectScript struct {
	t        testing.TB
	srv      *tmux.Server
	v        tmux.Version
	terminal *os.File // of the attached client
}

// find returns the row of an object, and the arguments after its name.
func (s *objectScript) find(args []string) (row map[string]json.RawMessage, rest []string, err error) {
	scope, rest := tokenScopes[args[0]], args[1:]
	for _, r := range scope.list(s.t, s.srv) {
		switch row = asJSON(s.t, r); {
		case scope.key == "":
			return row, rest, nil
		case content(row[scope.key]) == rest[0]:
			return row, rest[1:], nil
		}
	}
	return nil, nil, fmt.Errorf("there is no such object")
}

// check compares the tokens of an object.
func (s *objectScript) check(args []string) error {
	row, tokens, err := s.find(args)
	if err != nil {
		return err
	}
	return s.checkRow(row, tokens)
}

// checkRow compares fields of a row.
func (s *objectScript) checkRow(row map[string]json.RawMessage, wants []string) error {
	for _, arg := range wants {
		name, want, _ := strings.Cut(arg, "=")
		name, not := strings.CutSuffix(name, "!")
		got, ok := row[name]
		known := !slices.ContainsFunc(tmux.Tokens(), func(token tmux.Token) bool { return token.Name == name && !token.In(s.v) })
		if !ok || known && not == matches(want, got) || !known && string(got) != "null" {
			return fmt.Errorf("%s is %s", name, got)
		}
	}
	return nil
}

// matches reports whether a value is what a script wants.
func matches(want string, got json.RawMessage) bool {
	switch want {
	case "*":
		return string(got) != "null"
	case "now":
		at, err := time.Parse(time.RFC3339, content(got))
		return err == nil && time.Since(at) < time.Hour
	}
	pattern := regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(want), `\*`, ".*") + "$")
	isText := len(got) > 0 && got[0] == '"'
	return pattern.Match(got) || isText && (pattern.MatchString(content(got)) || content(got) == cases.Expand(want))
}

// content is the text of a JSON string.
func content(value json.RawMessage) (text string) {
	json.Unmarshal(value, &text)
	return text
}

// scriptCommands are the commands of scripts, besides scopes.
var scriptCommands = map[string]func(s *objectScript, args []string) error{
	"tmux": func(s *objectScript, args []string) error {
		testserver.Run(s.t, s.srv, args[0], args[1:]...)
		return nil
	},
	"until": func(s *objectScript, args []string) error {
		testserver.Wait(s.t, s.srv, "%0", strings.Join(args, " "), func() bool {
			testserver.Reap(s.t, s.srv)
			if args[0] == "do" {
				return s.do(args[1:]) == nil
			}
			return s.check(args) == nil
		})
		return nil
	},
	"control": func(s *objectScript, _ []string) error { control(s.t, s.srv); return nil },
}

// control attaches a control client to the session main.
func control(t testing.TB, srv *tmux.Server) (client tmux.Client) {
	t.Helper()
	cmd := exec.Command(srv.Binary(), "-u", "-S", srv.SocketPath(), "-C", "attach-session", "-t", "main")
	cmd.Env = []string{"TERM=screen", "HOME=" + filepath.Dir(srv.SocketPath())}
	stdin := check.Must[io.WriteCloser](t)(cmd.StdinPipe())
	check.OK(t, cmd.Start())
	t.Cleanup(func() { stdin.Close(); cmd.Process.Kill(); cmd.Wait() })
	testserver.Wait(t, srv, "%0", "control client", func() bool {
		all := check.Must[[]tmux.Client](t)(srv.Clients(testserver.Context(t)))
		if len(all) == 1 {
			client = all[0]
		}
		return client.ControlMode
	})
	return client
}

// TestObjects plays scripts that do something with tmux and state what the tokens of
// objects are then:
//
//	do CALL => WANT...      calls a method, and compares what it returns if there is an arrow
//	fails KIND CALL => TEXT...  the call has an error of that kind, which contains the texts; * is any kind;
//	                        object=KIND NAME is the object that it is about
//	tmux COMMAND ARGS...
//	server|client|buffer TOKEN=VALUE...
//	session NAME TOKEN=VALUE...
//	window|pane ID TOKEN=VALUE...
//	until SCOPE...          waits until that is so; until do CALL => WANT... too
//	get VAR SCOPE... TOKEN  sets an environment variable to the value of a token
//	control                 attaches a control client to the session main
//	attach SESSION          attaches a client on a terminal of 60 columns and 20 lines
//	keys TEXT               types there
//
// A call is a method of the server or of an object with an id, such as $0.Rename and
// server.Buffer(b).Delete, or the name of a command. Its arguments are the method's, or
// fields of its last argument or of the command: NAME=VALUE, or NAME for a switch. A list
// has one for each item. A target is an id, $0:INDEX, $0:@ID, =NAME of a session, or other
// text to pass to tmux. The result that a call wants is a text, or TOKEN=VALUE; for a list,
// all values separated by blanks.
//
// A value is JSON, or the text of a JSON string; "now" is a recent time, and a star is
// anything but null or, in other text, any text. != means that a value differs. A token
// that this tmux does not have is null. Of the conditions, 3.6 is true from that version
// on, and release3.8 is false for the development versions before it.
func TestObjects(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	v := check.Must[tmux.Version](t)(srv.Version(testserver.Context(t)))
	program := check.Must[[]byte](t)(exec.Command(srv.Binary(), "-V").Output())
	params := testscript.Params{
		Setup: func(env *testscript.Env) error {
			t := env.T().(testing.TB)
			srv := testserver.Started(t)
			env.Values["script"] = &objectScript{t: t, srv: srv, v: v}
			env.Vars = append(env.Vars, "SOCKET="+srv.SocketPath(), "NL=\n", "PROGRAM="+strings.TrimSpace(strings.TrimPrefix(string(program), "tmux ")))
			for i := range 10 {
				env.Setenv(strconv.Itoa(i), fmt.Sprint("$", i)) // the id of a session
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"get": func(ts *testscript.TestScript, _ bool, args []string) {
				row, token, err := ts.Value("script").(*objectScript).find(args[1:])
				ts.Check(err)
				value := row[token[0]]
				ts.Setenv(args[0], cmp.Or(content(value), string(value)))
			},
		},
		Condition: func(cond string) (bool, error) {
			number, isRelease := strings.CutPrefix(cond, "release")
			since, err := tmux.ParseVersion(number)
			return v.Has(since) && !(isRelease && v.Compare(since) < 0), err
		},
	}
	command := func(name string, do func(*objectScript, []string) error) {
		params.Cmds[name] = func(ts *testscript.TestScript, _ bool, args []string) {
			if err := do(ts.Value("script").(*objectScript), args); err != nil {
				ts.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
			}
		}
	}
	for name, do := range scriptCommands {
		command(name, do)
	}
	for scope := range tokenScopes {
		command(scope, func(s *objectScript, args []string) error { return s.check(append([]string{scope}, args...)) })
	}
	for _, params.Dir = range []string{"testdata/tokens", "testdata/objects"} {
		testscript.Run(t, params)
	}
}

// Of an object that is gone only the tokens that need none have a value.
func TestTokensOfNothing(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	if v := check.Must[tmux.Version](t)(srv.Version(ctx)); !v.Has(tmux.Version{Major: 3, Minor: 3}) {
		t.Skipf("tmux %s expands these tokens only for an object that exists", v)
	}
	type row struct {
		PaneID  tmux.PaneID `tmux:"pane_id"`
		Fg      string      `tmux:"pane_fg"`
		Session *time.Time  `tmux:"session_created"`
		Window  *time.Time  `tmux:"window_activity"`
		Client  *time.Time  `tmux:"client_created"`
		Version string      `tmux:"version"`
	}
	none := check.Only[row](t)(tmux.List[row](ctx, srv, tmux.DisplayMessage{Target: tmux.PaneID("%99")}))
	check.That(t, none.PaneID == "" && none.Session == nil && none.Version != "", "%+v", none)
	some := check.Only[row](t)(tmux.List[row](ctx, srv, tmux.DisplayMessage{Target: tmux.PaneID("%0")}))
	check.That(t, some.Session != nil && some.Window != nil && some.Fg == "default" && some.Client == nil, "%+v", some)
}

// Each row has all tokens of its scope. Tokens that this tmux does not know are nil, and
// those that it knows and always has are not. In JSON each has tmux's own name, and nil is
// null.
func TestRowsHaveAllTokens(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	v := check.Must[tmux.Version](t)(srv.Version(testserver.Context(t)))
	testserver.Run(t, srv, "set-buffer", "x")
	control(t, srv)
	for scope, rows := range tokenScopes {
		row := rows.list(t, srv)[0]
		inJSON := asJSON(t, row)
		fields := make(map[string]reflect.Value)
		for i := range reflect.TypeOf(row).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(row).Field(i).Tag.Get("tmux"), ",")
			f := reflect.ValueOf(row).Field(i)
			fields[name] = f
			isNil := (f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice) && f.IsNil()
			if value, ok := inJSON[name]; !ok || isNil != (string(value) == "null") {
				t.Errorf("%s: %s is %v in Go and %s in JSON", scope, name, f, value)
			}
		}
		check.Equal(t, scope+": fields in JSON", len(fields), len(inJSON))
		for _, token := range tmux.Tokens() {
			if string(token.Scope) != scope || token.Name == "buffer_full" {
				continue
			}
			f, ok := fields[token.Name]
			if !ok {
				t.Errorf("the row of a %s has no %s", scope, token.Name)
				continue
			}
			nilable := f.Kind() == reflect.Pointer || f.Kind() == reflect.Slice
			switch {
			case v.Next && token.Since.Minor == v.Minor: // a development version may lack it yet
			case !token.In(v) && (!nilable || !f.IsNil()):
				t.Errorf("%s is %v on tmux %v, which does not know it", token.Name, f, v)
			case token.In(v) && !token.Nullable && nilable && f.IsNil():
				t.Errorf("%s is nil on tmux %v, which knows it", token.Name, v)
			}
		}
	}
}

// A field of a row would hide a method or field of the same name in the handle that it
// embeds.
func TestRowFieldsHideNothing(t *testing.T) {
	t.Parallel()
	for _, r := range []any{tmux.Session{}, tmux.Window{}, tmux.Pane{}, tmux.Client{}, tmux.Buffer{}} {
		row := reflect.TypeOf(r)
		ref := row.Field(0)
		if !ref.Anonymous {
			t.Fatalf("%s does not begin with its handle", row)
		}
		for i := 1; i < row.NumField(); i++ {
			name := row.Field(i).Name
			_, method := reflect.PointerTo(ref.Type).MethodByName(name)
			_, field := ref.Type.FieldByName(name)
			if method || field {
				t.Errorf("%s.%s hides %s.%s; give the field another name", row.Name(), name, ref.Name, name)
			}
		}
	}
}
