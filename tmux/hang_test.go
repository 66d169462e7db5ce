package tmux_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
	"tmuxmcp/tmux/layout"
)

// hangs are the steps of the protocol at which a server stops answering, and what it has
// sent by then.
var hangs = []struct {
	step string
	sent []byte
}{
	{"says nothing", nil},
	{"half a header", exits[:7]},
	{"half a message", testserver.Frame(msgWrite, []byte("\x01\x00\x00\x00half"))[:20]},
	{"prints, never exits", testserver.Frame(msgWrite, []byte("\x01\x00\x00\x00line\n"))},
	{"asks, never listens", testserver.Frame(msgReadOpen, []byte{3, 0, 0, 0, 0, 0, 0, 0, '-', 0})},
}

// hangingServer answers lists that only print, if it answers the version, and hangs in the
// others. It reports each time that it hangs.
func hangingServer(t testing.TB, answers bool, hang func(net.Conn, []string)) (socket string, hung <-chan struct{}) {
	says, over := make(chan struct{}, 1), make(chan struct{})
	t.Cleanup(func() { close(over) })
	socket = ownServer(t, func(c net.Conn) {
		words, ok := readCommands(c)
		if !ok {
			return // only to see who is there
		}
		if out, prints := printed(words); answers && prints {
			c.Write(opensOutput(1))
			if typ, _, err := readFrame(c); err != nil || typ != msgWriteReady {
				return
			}
			c.Write(testserver.Frame(msgWrite, append([]byte{1, 0, 0, 0}, out...)))
			c.Write(exits)
			return
		}
		hang(c, words)
		select {
		case says <- struct{}{}:
		default:
		}
		<-over
	})
	return socket, says
}

func readFrame(c net.Conn) (typ uint32, data []byte, err error) {
	head := make([]byte, 16)
	if _, err := io.ReadFull(c, head); err != nil {
		return 0, nil, err
	}
	data = make([]byte, binary.LittleEndian.Uint32(head[4:])&0xffff-16)
	_, err = io.ReadFull(c, data)
	return binary.LittleEndian.Uint32(head), data, err
}

// readCommands reads up to the commands, and those on standard input.
func readCommands(c net.Conn) (words []string, ok bool) {
	for {
		typ, data, err := readFrame(c)
		switch {
		case err != nil:
			return nil, false
		case typ == 301:
			words = append(words, string(data[4:]))
		case typ == 302:
			return strings.FieldsFunc(strings.Join(words, ""), func(r rune) bool { return r == '\'' || r == '\n' }), true
		case typ == 200:
			words = strings.Split(strings.TrimSuffix(string(data[4:]), "\x00"), "\x00")
			if words[len(words)-1] != "-" {
				return words, true
			}
			words = nil
			c.Write(testserver.Frame(300, []byte{3, 0, 0, 0, 0, 0, 0, 0, '-', 0}))
		}
	}
}

// printed returns the output of a list that only has messages, one of which is the version
// or unknown to anybody else.
func printed(words []string) (out string, ok bool) {
	words = slices.Clone(words)
	for i := range words {
		words[i] = strings.TrimRight(words[i], " ;") // which end a command
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	for len(words) >= 3 && words[0] == "display-message" && words[1] == "-p" {
		message := strings.ReplaceAll(words[2], "#{version}", "3.8")
		ok = ok || message != words[2] || len(words) == 3 && !strings.Contains(message, "#{")
		out += message + "\n"
		words = words[3:]
	}
	return out, ok && len(words) == 0
}

// Every call that takes a context returns when that is done, at whatever step the server
// hangs.
func TestCallsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	for first, hang := range hangs {
		for _, way := range transports {
			for _, answers := range []bool{false, true} {
				what := string(way) + ", " + hang.step
				if answers {
					what += ", but answers the version"
				}
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					reached, least, step := 0, 100, 1
					switch {
					case testtool.Full:
					case way == tmux.TransportNative && !answers: // all calls, each at one step
						least, step = 20, len(hangs)
					default:
						least, step = 3, 4*len(hangs)
					}
					at := func(socket string) *tmux.Server {
						return testserver.Handle(t, tmux.Config{SocketPath: socket, Transport: way, Timeout: -1})
					}
					calls := len(callsWithContext(t, at("/nowhere/s")))
					for i := first; i < calls; i += step {
						socket, hung := hangingServer(t, answers, func(c net.Conn, _ []string) { c.Write(hang.sent) })
						method := callsWithContext(t, at(socket))[i]
						ctx, cancel := context.WithCancel(t.Context())
						returned := make(chan struct{})
						go func() {
							defer close(returned)
							method.call(ctx)
						}()
						select {
						case <-hung:
							reached++
						case <-returned: // it needs no server, or not with these arguments
						case <-time.After(time.Minute):
							t.Fatalf("%s neither asks the server nor returns", method.name)
						}
						cancel()
						select {
						case <-returned:
						case <-time.After(time.Minute):
							t.Fatalf("%s does not return while the server hangs", method.name)
						}
					}
					check.That(t, reached >= least, "only %d calls asked the server", reached)
				})
			}
		}
	}
}

// One call that a server keeps waiting does not prevent others from ending.
func TestHungServerKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	for _, way := range transports {
		socket, hung := hangingServer(t, false, func(net.Conn, []string) {})
		srv := testserver.Handle(t, tmux.Config{SocketPath: socket, Transport: way, Timeout: -1})
		patient, end := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- do(patient, srv, tmux.ListSessions{}) }()
		<-hung
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() { second <- do(ctx, srv, tmux.ListSessions{}) }()
		<-hung
		cancel()
		check.Kind(t, string(way), <-second, context.Canceled)
		select {
		case err := <-first:
			t.Errorf("%s: the first call ended too: %v", way, err)
		default:
		}
		end()
		<-first
	}
}

// A methodCall is a call of a method with arguments for which it contacts the server.
type methodCall struct {
	name        string
	withContext bool
	fails       bool // or can
	call        func(context.Context) error
}

// methodsOf are the calls of all methods of a handle.
func methodsOf(handle any) (calls []methodCall) {
	v := reflect.ValueOf(handle)
	_, typeName, _ := strings.Cut(v.Type().String(), ".")
	for i := range v.NumMethod() {
		fn, typ := v.Method(i), v.Method(i).Type()
		calls = append(calls, methodCall{
			name:        typeName + "." + v.Type().Method(i).Name,
			withContext: typ.NumIn() > 0 && typ.In(0) == reflect.TypeFor[context.Context](),
			fails:       typ.NumOut() > 0 && typ.Out(typ.NumOut()-1) == reflect.TypeFor[error](),
			call: func(ctx context.Context) error {
				var args []reflect.Value
				for j := range typ.NumIn() {
					if typ.IsVariadic() && j == typ.NumIn()-1 {
						arg := argument(ctx, typ.In(j).Elem())
						if arg.Type() == reflect.TypeFor[string]() {
							arg = reflect.ValueOf("x") // a key too
						}
						args = append(args, arg)
					} else {
						args = append(args, argument(ctx, typ.In(j)))
					}
				}
				var err error
				for _, out := range fn.Call(args) {
					err, _ = out.Interface().(error)
				}
				return err
			},
		})
	}
	return calls
}

// argument returns a plausible argument of a type.
func argument(ctx context.Context, typ reflect.Type) reflect.Value {
	for _, v := range []any{
		ctx, tmux.PaneID("%0"), tmux.WindowID("@0"), tmux.SessionID("$0"), tmux.Command(tmux.ListSessions{}), tmux.Target(tmux.PaneID("%0")),
		layout.Layout("tiled"), "@x", []byte("x"), []string{"x"}, time.Hour, time.Now().Add(time.Hour), func() {}, io.Discard, strings.NewReader("x"),
		tmux.ResizePane{ToggleZoom: true}, tmux.ResizeWindow{Width: 80}, tmux.MoveWindow{Target: tmux.SessionID("$0")}, tmux.LinkWindow{Target: tmux.SessionID("$0")},
		tmux.BindKey{Key: "x", Command: []string{"list-keys"}},
	} {
		if reflect.TypeOf(v).AssignableTo(typ) {
			return reflect.ValueOf(v)
		}
	}
	if typ.Kind() == reflect.String {
		return reflect.ValueOf("x").Convert(typ)
	}
	return reflect.New(typ).Elem()
}

// callsWithContext returns all calls of the package that take a context, on a server.
func callsWithContext(t *testing.T, srv *tmux.Server) []methodCall {
	calls := []methodCall{
		{"List", true, true, func(ctx context.Context) error { return check.Second(tmux.List[tmux.Pane](ctx, srv, tmux.ListPanes{})) }},
		{"Batch.Do", true, true, func(ctx context.Context) error {
			var b tmux.Batch
			tmux.AddRows[tmux.Pane](&b, tmux.ListPanes{})
			return b.Do(ctx, srv)
		}},
		{"follow.LookAt", true, true, func(ctx context.Context) error { return check.Second(follow.LookAt(ctx, srv, tmux.PaneID("%0"), nil)) }},
		{"follow.WaitFor", true, true, func(ctx context.Context) error {
			_, _, err := follow.WaitFor(ctx, srv.Pane("%0"), "x")
			return err
		}},
		{"follow.WaitForNew", true, true, func(ctx context.Context) error {
			_, _, err := follow.WaitForNew(ctx, srv.Pane("%0"), nil, "x")
			return err
		}},
		{"follow.Follower.Look", true, true, func(ctx context.Context) error {
			return check.Second(follow.New(ctx, srv, time.Second).Look(ctx, "%0", nil))
		}},
		{"a loop over follow.Panes", true, true, func(ctx context.Context) error {
			for _, err := range follow.Panes(ctx, srv, "%0") {
				return err
			}
			return nil
		}},
	}
	for _, handle := range []any{
		srv, srv.Pane("%0"), srv.Window("@0"), srv.Session("$0"), srv.Buffer("b"), srv.Client("c"),
		srv.GlobalSessionOptions(), srv.Hooks(), srv.Environment(), srv.Channel("c"),
	} {
		calls = append(calls, slices.DeleteFunc(methodsOf(handle), func(c methodCall) bool { return !c.withContext })...)
	}
	return calls
}

// TestFollowHungServer: a server that does not answer a look ends the loop, although the
// context goes on.
func TestFollowHungServer(t *testing.T) {
	t.Parallel()
	socket, _ := hangingServer(t, true, func(net.Conn, []string) {})
	srv := testserver.Handle(t, tmux.Config{SocketPath: socket, Timeout: 100 * time.Millisecond, Transport: tmux.TransportNative})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, err := range follow.Panes(ctx, srv, "%0") {
		check.Kind(t, "the loop", err, context.DeadlineExceeded)
	}
	_, _, err := follow.WaitFor(ctx, srv.Pane("%0"), "x")
	check.Kind(t, "the wait", err, context.DeadlineExceeded)
	check.Contains(t, "error", err.Error(), "did not answer")
	check.OK(t, ctx.Err())
}

// A method on an object that is gone returns an error that names the object.
func TestGoneObjects(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	object := func(kind, name string) tmux.Object { return tmux.Object{Kind: kind, Name: name} }
	pane, window, session := object("pane", "%99"), object("window", "@99"), object("session", "$99")
	for _, c := range []struct {
		gone   tmux.Object
		handle any
	}{
		{pane, srv.Pane("%99")}, {window, srv.Window("@99")}, {session, srv.Session("$99")},
		{object("buffer", "no such: one"), srv.Buffer("no such: one")}, {object("client", "/dev/gone"), srv.Client("/dev/gone")},
		{pane, srv.Pane("%99").Options()}, {window, srv.Window("@99").Options()}, {session, srv.Session("$99").Options()},
		{session, srv.Session("$99").Hooks()}, {session, srv.Session("$99").Environment()},
	} {
		for _, m := range methodsOf(c.handle) {
			// A buffer can be made by appending; the others need other arguments.
			if !m.withContext || slices.Contains([]string{"BufferRef.Append", "BufferRef.Pasting", "PaneRef.PipeToFile", "PaneRef.CopyCommand", "PaneRef.Writer"}, m.name) || strings.HasSuffix(m.name, ".Command") {
				continue
			}
			err := m.call(ctx)
			if errors.Is(err, tmux.ErrUnsupported) {
				continue
			}
			check.That(t, errors.Is(err, tmux.ErrNotFound) || errors.Is(err, tmux.ErrNoClient), "%s: %v", m.name, err)
			var e *tmux.Error
			if !errors.As(err, &e) || e.Object != c.gone || !strings.Contains(e.Error(), c.gone.Name) {
				t.Errorf("%s: %v does not name %v", m.name, err, c.gone)
			}
		}
	}
}

// Every exported function with a context is among the calls above.
func TestNoCallWithContextIsForgotten(t *testing.T) {
	t.Parallel()
	called := map[string]bool{}
	for _, c := range callsWithContext(t, testserver.Handle(t, tmux.Config{SocketPath: "/nowhere/s"})) {
		called[c.name] = true
	}
	// Next asks nothing of a server unless a pane is followed, and Panes are loops.
	for _, name := range []string{"follow.New", "follow.Follower.Next", "follow.Panes", "follow.PanesWith"} {
		called[name] = true
	}
	for _, name := range withContext(t) {
		check.That(t, called[name], "%s is not called", name)
	}
}
