package tmux_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// Messages of the protocol.
const (
	msgVersion    = 12
	msgDetach     = 201
	msgExit       = 203
	msgReady      = 207
	msgReadOpen   = 300
	msgWriteOpen  = 303
	msgWrite      = 304
	msgWriteReady = 305
	msgWriteClose = 306
	msgReadCancel = 307
)

var (
	exits   = testserver.Frame(msgExit, []byte{0, 0, 0, 0})
	garbage = bytes.Repeat([]byte("garbage!"), 1000)
)

// ownServer returns a server of this user's that does as it likes.
func ownServer(t testing.TB, serve func(net.Conn)) (socket string) {
	t.Helper()
	socket = shortDir(t, 0o700) + "/s"
	serveAt(t, socket, serve)
	return socket
}

// serveAt plays the server at a socket, for each connection.
func serveAt(t testing.TB, socket string, serve func(net.Conn)) net.Listener {
	t.Helper()
	l := check.Must[net.Listener](t)(net.Listen("unix", socket))
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l
}

// says returns a server that reads the request and answers with fixed bytes.
func says(answer []byte) func(net.Conn) {
	return func(c net.Conn) {
		c.Read(make([]byte, 1<<16))
		c.Write(answer)
	}
}

// file returns a frame in which a server asks for a file. flags are those to write it with,
// if any.
func file(typ uint32, path string, flags ...byte) []byte {
	return testserver.Frame(typ, append(append([]byte{5, 0, 0, 0, 255, 255, 255, 255}, flags...), path+"\x00"...))
}

func TestHostilePeers(t *testing.T) {
	version := func(frame []byte, v byte) []byte { frame[8] = v; return frame }
	over := make(chan struct{})
	for _, test := range []struct {
		name  string
		serve func(net.Conn)
		want  string // part of the error
	}{
		{"silent", func(c net.Conn) { c.Read(make([]byte, 1<<16)); <-over }, "deadline"},
		{"never reads", func(net.Conn) { <-over }, "deadline"},
		{"closes at once", func(net.Conn) {}, "server exited unexpectedly"},
		{"garbage", says(garbage), "unexpected message"},
		{"huge length", says(append([]byte{203, 0, 0, 0, 255, 255, 255, 127, 8, 0, 0, 0}, make([]byte, 100)...)), "unexpected message"},
		{"zero length", says(make([]byte, 64)), "unexpected message"},
		{"half a header", says(exits[:7]), "server exited unexpectedly"},
		{"half a message", says(exits[:18]), "server exited unexpectedly"},
		{"goes while we answer", says(bytes.Repeat(opensOutput(1), 500)), "server exited unexpectedly"},
		{"another protocol", says(version(bytes.Clone(exits), 9)), "protocol version 9"},
		{"refuses our protocol", says(version(testserver.Frame(msgVersion, nil), 7)), "protocol version mismatch (client 8, server 7)"},
		{"attaches us", says(testserver.Frame(msgReady, nil)), "unexpected message"},
		{"short write message", says(testserver.Frame(msgWrite, []byte{1})), "unexpected message"},
	} {
		before := len(testserver.OpenSockets(t))
		socket := ownServer(t, test.serve)
		limit := time.Minute
		if test.want == "deadline" {
			limit = 300 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		stderr, code, err := tmux.RunNative(ctx, socket, os.Environ(), "list-sessions")
		if err != nil {
			stderr = err.Error()
		}
		if !strings.Contains(stderr, test.want) || code == 0 {
			t.Errorf("%s: exit %d, %q; want %q", test.name, code, stderr, test.want)
		}
		if test.want == "deadline" {
			over <- struct{}{}
		}
		// The listener is still open, and the peer's own end closes a moment later.
		testtool.Eventually(t, test.name+": sockets are closed", func() bool { return len(testserver.OpenSockets(t)) <= before+1 })
	}
}

// opensOutput opens standard output or error for writing.
func opensOutput(stream byte) []byte {
	return testserver.Frame(msgWriteOpen, []byte{stream, 0, 0, 0, stream, 0, 0, 0, 0, 0, 0, 0})
}

// lateContext is past its deadline by the clock before its timer has fired.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Unix(1, 0), true }

// A call whose deadline passes while it connects ends with its context's error, even if the
// dialer looks at the clock first.
func TestConnectingIsLate(t *testing.T) {
	t.Parallel()
	path := shortDir(t, 0o700) + "/s"
	defer check.Must[net.Listener](t)(net.Listen("unix", path)).Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	answered := make(chan error, 1)
	go func() {
		_, _, err := tmux.RunNative(lateContext{ctx}, path, nil, "list-sessions")
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("it ended before its context: %v", err)
		return
	case <-time.After(20 * time.Millisecond): // long enough to notice that
	}
	late := errors.New("late")
	cancel(late)
	if err := <-answered; !errors.Is(err, late) {
		t.Errorf("%v, want the cause of the end of its context", err)
	}
}

// A server that accepts nobody for a while is not taken for gone.
func TestFullBacklogIsWaitedFor(t *testing.T) {
	t.Parallel()
	path := shortDir(t, 0o700) + "/s"
	fd := check.Must[int](t)(syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0))
	defer syscall.Close(fd)
	check.OK(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}))
	check.OK(t, syscall.Listen(fd, 0))
	defer check.Must[net.Conn](t)(net.Dial("unix", path)).Close()
	if c, err := net.Dial("unix", path); !errors.Is(err, syscall.EAGAIN) {
		if err == nil {
			c.Close()
		}
		t.Skipf("this system does not refuse connections over the backlog: %v", err)
	}
	answered := make(chan error, 1)
	go func() {
		stderr, code, err := tmux.RunNative(testserver.Context(t), path, nil, "list-sessions")
		if err == nil && code != 0 {
			err = errors.New(stderr)
		}
		answered <- err
	}()
	for range 2 {
		c, _, err := syscall.Accept(fd)
		check.OK(t, err)
		syscall.Write(c, exits)
		defer syscall.Close(c)
	}
	check.OK(t, <-answered)
}

// fellBack is in the log when exec replaces native.
const fellBack = "using the tmux program from here on"

// A server that does not speak the protocol gets the tmux program instead, for good, and
// answers with the program's own words.
func TestAutoFallsBackToExec(t *testing.T) {
	t.Parallel()
	connections := make(chan struct{}, 100)
	socket := ownServer(t, func(c net.Conn) {
		connections <- struct{}{}
		says(garbage)(c)
	})
	var log bytes.Buffer
	srv := testserver.Handle(t, tmux.Config{SocketPath: socket, Logger: debugLog(&log)})
	for range 3 {
		err := do(testserver.Context(t), srv, tmux.ListSessions{})
		var e *tmux.Error
		check.That(t, errors.As(err, &e) && !errors.Is(err, tmux.ErrProtocol), "got %v, want what the tmux program says", err)
	}
	// One native attempt, then for each call one connection to see who is there and the
	// program's; a version mismatch is looked for with one more for each failure.
	if n := len(connections); n < 7 || n > 10 {
		t.Errorf("%d connections", n)
	}
	check.Equal(t, "logged", 1, strings.Count(log.String(), fellBack))
}

// Who runs shows that a server speaks the protocol, so that the first call connects once for both.
func TestWhoRunsIsTheProbe(t *testing.T) {
	t.Parallel()
	base, ctx := testserver.Started(t), testserver.Context(t)
	connections := make(chan struct{}, 100)
	socket := ownServer(t, func(c net.Conn) {
		connections <- struct{}{}
		server, err := net.Dial("unix", base.SocketPath())
		if err != nil {
			return
		}
		defer server.Close()
		go func() {
			io.Copy(server, c)
			server.(*net.UnixConn).CloseWrite()
		}()
		io.Copy(c, server)
	})
	srv := testserver.Handle(t, tmux.Config{SocketPath: socket})
	for call, want := range []int{2, 1, 1} {
		check.Must[[]tmux.Pane](t)(tmux.List[tmux.Pane](ctx, srv, tmux.ListPanes{All: true}))
		check.Equal(t, fmt.Sprintf("connections of call %d", call), want, len(connections))
		for len(connections) > 0 {
			<-connections
		}
	}
	check.Equal(t, "version", check.Must[tmux.Version](t)(base.Version(ctx)), check.Must[tmux.Version](t)(srv.Version(ctx)))
	check.Equal(t, "more connections", 0, len(connections))
}

// A server that does not speak the protocol is asked who runs by the tmux program.
func TestWhoRunsFallsBackToExec(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string][]byte{
		"garbage": garbage, "nothing": exits,
		"another text": slices.Concat(opensOutput(1), testserver.Frame(msgWrite, append([]byte{1, 0, 0, 0}, ".end-\n"...)), exits),
	} {
		var log bytes.Buffer
		srv := testserver.Handle(t, tmux.Config{SocketPath: ownServer(t, says(answer)), Logger: debugLog(&log)})
		for range 2 {
			if _, err := srv.Version(testserver.Context(t)); errors.Is(err, tmux.ErrProtocol) {
				t.Errorf("%s: %v", name, err)
			}
		}
		check.Equal(t, name+" logged", 1, strings.Count(log.String(), fellBack))
	}
}

// Another server may listen on the socket of one that has proved itself: what it does not
// understand costs one call, after which the program is used.
func TestAutoWhenAnotherServerTakesThePlace(t *testing.T) {
	t.Parallel()
	base, ctx := testserver.Started(t), testserver.Context(t)
	var log bytes.Buffer
	srv := testserver.Handle(t, tmux.Config{
		Binary: base.Binary(), SocketPath: base.SocketPath(), ConfigFile: "/dev/null", Logger: debugLog(&log),
	})
	if err := do(ctx, srv, tmux.ListSessions{}); err != nil || strings.Contains(log.String(), fellBack) {
		t.Fatalf("%v\n%s", err, &log)
	}
	// The handle does not see the server exit.
	testserver.End(t, base)
	os.Remove(base.SocketPath())
	l := serveAt(t, base.SocketPath(), says(garbage))
	check.Kind(t, "the other server", do(ctx, srv, tmux.ListSessions{}), tmux.ErrProtocol)
	check.That(t, strings.Contains(log.String(), fellBack), "not logged:\n%s", &log)
	l.Close()
	check.OK(t, do(ctx, srv, tmux.NewSession{Detached: true, Command: []string{"cat"}}, tmux.ListSessions{}))
	check.OK(t, do(ctx, srv, tmux.ListSessions{}))
}

// What servers in TestMutatedAnswers ask to read and to write.
const (
	secretFile  = "testdata/errors.txt"
	plantedFile = "testdata/planted"
)

// A server of this user's that goes mad within the protocol makes no call panic or hang,
// and gets no files opened.
func TestMutatedAnswers(t *testing.T) {
	t.Parallel()
	frames := [][]byte{
		opensOutput(1), exits,
		testserver.Frame(msgWrite, []byte{1, 0, 0, 0, 'h', 'i', '\n'}),
		testserver.Frame(msgWriteClose, []byte{1, 0, 0, 0}),
		file(msgReadOpen, secretFile), file(msgReadOpen, plantedFile), file(msgReadOpen, "/etc/shadow"),
		testserver.Frame(msgReadOpen, []byte{6, 0, 0, 0, 0, 0, 0, 0, '-', 0}), testserver.Frame(msgReadOpen, []byte{4, 0, 0, 0, 0, 0, 0, 0}),
		file(msgWriteOpen, plantedFile, 0, 4, 0, 0), file(msgWriteOpen, plantedFile, 0, 2, 0, 0), file(msgWriteOpen, plantedFile, 0, 0, 0, 0), file(msgWriteOpen, "/dev/null", 0, 4, 0, 0),
		testserver.Frame(msgReadCancel, []byte{5, 0, 0, 0}),
		testserver.Frame(msgDetach, []byte("main\x00")),
		testserver.Frame(msgVersion, nil), testserver.Frame(msgExit, []byte{3, 0, 0, 0, 'b', 'y', 'e', 0}),
	}
	for seed := range uint64(testtool.Size(700, 100_000)) {
		r := rand.New(rand.NewPCG(seed, 11))
		var answer []byte
		for range 1 + r.IntN(12) {
			answer = append(answer, frames[r.IntN(len(frames))]...)
		}
		for range r.IntN(4) {
			switch at := r.IntN(len(answer)); r.IntN(3) {
			case 0:
				answer[at] ^= 1 << r.IntN(8)
			case 1:
				answer[at] = byte(r.Uint32())
			case 2:
				answer = append(answer[:at], answer[min(len(answer), at+1+r.IntN(8)):]...)
				if len(answer) == 0 {
					answer = []byte{0}
				}
			}
		}
		if answered(t, answer); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// FuzzNative is [TestMutatedAnswers] with what the fuzzer makes of such answers.
func FuzzNative(f *testing.F) {
	f.Add(slices.Concat(opensOutput(1), testserver.Frame(msgWrite, []byte{1, 0, 0, 0, 'h', 'i', '\n'}), exits))
	f.Add(slices.Concat(file(msgReadOpen, secretFile), file(msgWriteOpen, plantedFile, 0, 4, 0, 0), exits))
	f.Fuzz(answered)
}

// answered lets a server answer a list with these bytes.
func answered(t *testing.T, answer []byte) {
	us, them := net.Pipe()
	defer us.Close()
	received := make(chan []byte, 1)
	go func() {
		defer them.Close()
		go them.Write(answer)
		var all []byte
		for buf := make([]byte, 1<<16); len(all) <= 1<<20; {
			n, err := them.Read(buf)
			if all = append(all, buf[:n]...); err != nil {
				break
			}
			them.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		}
		received <- all
	}()
	tmux.CallNative(us) // must end: the server has left
	us.Close()
	secret := check.Must[[]byte](t)(os.ReadFile(secretFile))
	check.That(t, !bytes.Contains(<-received, secret[:min(len(secret), 100)]), "it got the file")
	check.Absent(t, plantedFile)
}
