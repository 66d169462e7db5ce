package tmux_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

// hangs are the steps of the protocol at which a server stops to answer. Each gets a
// connection and the commands that came with it.
var hangs = map[string]func(c net.Conn, words []string){
	"says nothing":        func(net.Conn, []string) {},
	"half a header":       func(c net.Conn, _ []string) { c.Write(tmuxtest.Frame(203, []byte{0, 0, 0, 0})[:7]) },
	"half a message":      func(c net.Conn, _ []string) { c.Write(tmuxtest.Frame(304, []byte("\x01\x00\x00\x00half"))[:20]) },
	"prints, never exits": func(c net.Conn, _ []string) { c.Write(tmuxtest.Frame(304, []byte("\x01\x00\x00\x00line\n"))) },
	"asks, never listens": func(c net.Conn, _ []string) { c.Write(tmuxtest.Frame(300, []byte{3, 0, 0, 0, 0, 0, 0, 0, '-', 0})) },
}

// hangingServer answers lists that only print, if it answers the version, and hangs in the others.
// Each time that it does it says so.
func hangingServer(t testing.TB, answers bool, hang func(net.Conn, []string)) (socket string, hung <-chan struct{}) {
	says, over := make(chan struct{}, 1), make(chan struct{})
	t.Cleanup(func() { close(over) })
	socket = ownServer(t, func(c net.Conn) {
		words, ok := readCommands(c)
		if !ok {
			return // only to see who is there
		}
		if out, prints := printed(words); answers && prints {
			c.Write(tmuxtest.Frame(303, []byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}))
			if typ, _, err := readFrame(c); err != nil || typ != 305 {
				return
			}
			c.Write(tmuxtest.Frame(304, append([]byte{1, 0, 0, 0}, out...)))
			c.Write(tmuxtest.Frame(203, []byte{0, 0, 0, 0}))
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
			c.Write(tmuxtest.Frame(300, []byte{3, 0, 0, 0, 0, 0, 0, 0, '-', 0}))
		}
	}
}

// printed is what a list prints that only has messages, one of which is the version or nobody
// knows.
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

// Every call that takes a context returns when that is done, at whatever step the server hangs.
func TestCallsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	binary := tmuxtest.Binary(t)
	for name, hang := range hangs {
		for _, way := range transports {
			for _, answers := range []bool{false, true} {
				what := string(way) + ", " + name
				if answers {
					what += ", but answers the version"
				}
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					reached, least := 0, 100
					calls := callsWithContext(t)
					if !testtool.Full && (way != tmux.TransportNative || answers) {
						least = 6
						calls = sample(calls, 12)
						t.Logf("%d calls only; TMUX_TEST_FULL=1 makes all", len(calls))
					}
					for _, method := range calls {
						socket, hung := hangingServer(t, answers, hang)
						srv := must[*tmux.Server](t)(tmux.New(tmux.Config{Binary: binary, SocketPath: socket, Transport: way, Timeout: -1}))
						ctx, cancel := context.WithCancel(t.Context())
						returned := make(chan struct{})
						go func() {
							defer close(returned)
							method.call(ctx, srv)
						}()
						select {
						case <-hung:
							reached++
						case <-returned: // it needs no server, or not with these arguments
						case <-time.After(30 * time.Second):
							t.Fatalf("%s neither asks the server nor returns", method.name)
						}
						cancel()
						select {
						case <-returned:
						case <-time.After(30 * time.Second):
							t.Fatalf("%s does not return while the server hangs", method.name)
						}
					}
					expect(t, reached >= least, "only %d calls asked the server", reached)
				})
			}
		}
	}
}

// One call that a server keeps waiting does not keep others from ending.
func TestHungServerKeepsNobodyElse(t *testing.T) {
	t.Parallel()
	for _, way := range transports {
		socket, hung := hangingServer(t, false, hangs["says nothing"])
		srv := must[*tmux.Server](t)(tmux.New(tmux.Config{Binary: tmuxtest.Binary(t), SocketPath: socket, Transport: way, Timeout: -1}))
		patient, end := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- do(patient, srv, tmux.ListSessions{}) }()
		<-hung
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() { second <- do(ctx, srv, tmux.ListSessions{}) }()
		<-hung
		cancel()
		isKind(t, string(way), <-second, context.Canceled)
		select {
		case err := <-first:
			t.Errorf("%s: the first call ended too: %v", way, err)
		default:
		}
		end()
		<-first
	}
}

// sample picks one in n, always the same ones.
func sample[T any](all []T, n int) (some []T) {
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// contextCall is a call of the package that takes a context.
type contextCall struct {
	name string
	call func(context.Context, *tmux.Server)
}

// callsWithContext are all of them, by reflection, so that none is forgotten.
func callsWithContext(t *testing.T) []contextCall {
	handles := map[string]func(*tmux.Server) any{
		"Server":      func(s *tmux.Server) any { return s },
		"PaneRef":     func(s *tmux.Server) any { return s.Pane("%0") },
		"WindowRef":   func(s *tmux.Server) any { return s.Window("@0") },
		"SessionRef":  func(s *tmux.Server) any { return s.Session("$0") },
		"BufferRef":   func(s *tmux.Server) any { return s.Buffer("b") },
		"ClientRef":   func(s *tmux.Server) any { return s.Client("c") },
		"Options":     func(s *tmux.Server) any { return s.GlobalSessionOptions() },
		"Hooks":       func(s *tmux.Server) any { return s.Hooks() },
		"Environment": func(s *tmux.Server) any { return s.Environment() },
		"Channel":     func(s *tmux.Server) any { return s.Channel("c") },
		"Watcher": func(s *tmux.Server) any {
			w := s.Watch(t.Context(), time.Second)
			w.Looked(tmux.PaneState{ID: "%0", Generation: new(int64)}, time.Now(), false)
			return w
		},
	}
	list := []contextCall{
		{"List", func(ctx context.Context, s *tmux.Server) { tmux.List[tmux.Pane](ctx, s, tmux.ListPanes{}) }},
		{"Batch.Do", func(ctx context.Context, s *tmux.Server) {
			var b tmux.Batch
			tmux.Rows[tmux.Pane](&b, tmux.ListPanes{})
			b.Do(ctx, s)
		}},
	}
	for name, handle := range handles {
		typ := reflect.TypeOf(handle(must[*tmux.Server](t)(tmux.New(tmux.Config{Binary: tmuxtest.Binary(t), SocketPath: "/nowhere/s"}))))
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			if m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]() {
				continue
			}
			list = append(list, contextCall{name + "." + m.Name, func(ctx context.Context, s *tmux.Server) {
				args := []reflect.Value{reflect.ValueOf(ctx)}
				fn := reflect.ValueOf(handle(s)).Method(i)
				for j := 1; j < m.Type.NumIn()-1; j++ {
					typ := m.Type.In(j + 1)
					if m.Type.IsVariadic() && j == m.Type.NumIn()-2 {
						typ = typ.Elem()
					}
					args = append(args, plausible(typ))
				}
				fn.Call(args)
			}})
		}
	}
	slices.SortFunc(list, func(a, b contextCall) int { return strings.Compare(a.name, b.name) })
	return list
}

// plausible is an argument with which a call asks the server.
func plausible(typ reflect.Type) reflect.Value {
	for _, v := range []any{
		tmux.PaneID("%0"), tmux.WindowID("@0"), tmux.SessionID("$0"), tmux.Command(tmux.ListSessions{}), tmux.Target(tmux.PaneID("%0")),
		tmux.Layout("tiled"), "@x", []byte("x"), []string{"x"}, time.Hour, time.Now().Add(time.Hour), func() {},
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

// Every exported function with a context is among the calls above.
func TestNoCallWithContextIsForgotten(t *testing.T) {
	t.Parallel()
	called := map[string]bool{}
	for _, c := range callsWithContext(t) {
		called[c.name] = true
	}
	for _, name := range withContext(t) {
		expect(t, called[name], "%s is not called", name)
	}
}
