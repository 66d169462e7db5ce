package tmux

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
)

// peer is a socket whose other side is played by serve, for each connection.
func peer(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return filepath.Join(dir, "s")
}

// says is a peer that reads the request and answers with fixed bytes.
func says(answer []byte) func(net.Conn) {
	return func(c net.Conn) {
		c.Read(make([]byte, 1<<16))
		c.Write(answer)
	}
}

// openSockets counts the sockets that this process holds. Other descriptors
// come with the runtime when it pleases.
func openSockets(t testing.TB) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd to count open descriptors in")
	}
	n := 0
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

func TestHostilePeers(t *testing.T) {
	exit := appendMessage(nil, msgExit, []byte{0, 0, 0, 0})
	other := bytes.Clone(exit)
	other[8] = 9
	for _, test := range []struct {
		name  string
		serve func(net.Conn)
		want  string // part of the error
	}{
		{"silent", func(c net.Conn) { c.Read(make([]byte, 1<<16)); time.Sleep(2 * time.Second) }, "deadline"},
		{"never reads", func(c net.Conn) { time.Sleep(2 * time.Second) }, "deadline"},
		{"closes at once", func(net.Conn) {}, "server exited unexpectedly"},
		{"garbage", says(bytes.Repeat([]byte("garbage!"), 1000)), "unexpected message"},
		{"huge length", says(append([]byte{203, 0, 0, 0, 255, 255, 255, 127, 8, 0, 0, 0}, make([]byte, 100)...)), "unexpected message"},
		{"zero length", says(make([]byte, 64)), "unexpected message"},
		{"half a header", says(exit[:7]), "server exited unexpectedly"},
		{"half a message", says(exit[:18]), "server exited unexpectedly"},
		{"goes while we answer", says(bytes.Repeat(appendMessage(nil, msgWriteOpen, []byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}), 500)), "server exited unexpectedly"},
		{"another protocol", says(other), "protocol version 9"},
		{"refuses our protocol", says(func() []byte { b := appendMessage(nil, msgVersion, nil); b[8] = 7; return b }()), "protocol version mismatch (client 8, server 7)"},
		{"attaches us", says(appendMessage(nil, msgReady, nil)), "unexpected message"},
		{"short write message", says(appendMessage(nil, msgWrite, []byte{1})), "unexpected message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := openSockets(t)
			path := peer(t, test.serve)
			limit := 30 * time.Second
			if test.want == "deadline" {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			start := time.Now()
			rep, err := newNativeTransport(socket{path: path}, os.Environ()).run(ctx, request{words: []string{"list-sessions"}})
			got := string(rep.stderr)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) || rep.code == 0 {
				t.Errorf("exit %d, %q; want %q", rep.code, got, test.want)
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
			// The listener is open still, the peer's own ends close a moment later.
			for range 400 {
				if openSockets(t) <= before+1 {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%d sockets open, %d before", openSockets(t), before)
		})
	}
}

// A server that accepts nobody for a while has not gone away.
func TestFullBacklogIsWaitedFor(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	path := filepath.Join(dir, "s")
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	full, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if c, err := net.Dial("unix", path); !errors.Is(err, syscall.EAGAIN) {
		if err == nil {
			c.Close()
		}
		t.Skipf("this system does not refuse connections over the backlog: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		rep, err := newNativeTransport(socket{path: path}, nil).run(ctx, request{words: []string{"list-sessions"}})
		if err == nil && rep.code != 0 {
			err = errors.New(string(rep.stderr))
		}
		answered <- err
	}()
	for range 2 {
		c, _, err := syscall.Accept(fd)
		if err != nil {
			t.Fatal(err)
		}
		syscall.Write(c, appendMessage(nil, msgExit, []byte{0, 0, 0, 0}))
		defer syscall.Close(c)
	}
	if err := <-answered; err != nil {
		t.Errorf("got %v", err)
	}
}

// A server that does not speak the protocol gets the tmux program instead, for
// good, and says the program's own words.
func TestAutoFallsBackToExec(t *testing.T) {
	t.Parallel()
	binary := testtmux.Binary(t)
	connections := make(chan struct{}, 100)
	socket := peer(t, func(c net.Conn) {
		connections <- struct{}{}
		says(bytes.Repeat([]byte("garbage!"), 1000))(c)
	})
	var log bytes.Buffer
	srv, err := New(Config{Binary: binary, SocketPath: socket, Logger: debugLog(&log)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for range 3 {
		_, err := srv.Do(ctx, ListSessions{})
		var e *Error
		if !errors.As(err, &e) || errors.Is(err, errProtocol) {
			t.Errorf("got %v, want what the tmux program says", err)
		}
	}
	// One native attempt, then for each call one to see who is there and the
	// program's; a version mismatch is looked for with one more for each failure.
	if n := len(connections); n < 7 || n > 10 {
		t.Errorf("%d connections", n)
	}
	if n := strings.Count(log.String(), fellBack); n != 1 {
		t.Errorf("logged %d times:\n%s", n, &log)
	}
}

// fellBack is in the log when exec takes the place of native.
const fellBack = "using the tmux program from here on"

func debugLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Another server may listen on the socket of one that has proved itself: what it
// does not understand costs one call, and then the program is used.
func TestAutoWhenAnotherServerTakesThePlace(t *testing.T) {
	t.Parallel()
	binary := testtmux.Binary(t)
	dir, err := os.MkdirTemp("", "tp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	var log bytes.Buffer
	srv, err := New(Config{Binary: binary, SocketPath: path, ConfigFile: "/dev/null", Logger: debugLog(&log)})
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	begin := func() {
		t.Helper()
		if _, err := srv.Do(ctx, Raw{Name: "new-session", Args: []string{"-d", "cat"}}, ListSessions{}); err != nil {
			t.Fatal(err)
		}
	}
	other, err := New(Config{Binary: binary, SocketPath: path, Transport: TransportExec})
	if err != nil {
		t.Fatal(err)
	}
	end := func() {
		t.Helper()
		if _, err := other.Do(ctx, Raw{Name: "kill-server"}); err != nil && !errors.Is(err, ErrServerGone) {
			t.Fatal(err)
		}
		for c, err := net.Dial("unix", path); err == nil; c, err = net.Dial("unix", path) {
			c.Close()
			time.Sleep(5 * time.Millisecond)
		}
		os.Remove(path)
	}
	begin()
	if _, err := srv.Do(ctx, ListSessions{}); err != nil || strings.Contains(log.String(), fellBack) {
		t.Fatalf("%v\n%s", err, &log)
	}
	// The handle has not seen the server go.
	end()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				defer c.Close()
				says(bytes.Repeat([]byte("garbage!"), 1000))(c)
			}()
		}
	}()
	if _, err := srv.Do(ctx, ListSessions{}); !errors.Is(err, errProtocol) {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(log.String(), fellBack) {
		t.Errorf("not logged:\n%s", &log)
	}
	l.Close()
	begin()
	if _, err := srv.Do(ctx, ListSessions{}); err != nil {
		t.Error(err)
	}
	end()
}

// FuzzNative lets an arbitrary peer answer: no panic, no hang, no file touched.
func FuzzNative(f *testing.F) {
	exit := appendMessage(nil, msgExit, []byte{3, 0, 0, 0, 'b', 'y', 'e', 0})
	open := appendMessage(nil, msgWriteOpen, []byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	data := appendMessage(nil, msgWrite, []byte{1, 0, 0, 0, 'h', 'i', '\n'})
	file := appendMessage(nil, msgWriteOpen, append([]byte{3, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0}, "/tmp/x\x00"...))
	read := appendMessage(nil, msgReadOpen, []byte{4, 0, 0, 0, 0, 0, 0, 0})
	f.Add(exit)
	f.Add(append(append(bytes.Clone(open), data...), exit...))
	f.Add(append(append(bytes.Clone(file), read...), exit...))
	f.Add(appendMessage(nil, msgVersion, nil))
	f.Add(appendMessage(nil, msgDetach, []byte("x\x00")))
	f.Fuzz(answered)
}

// The list that is answered by mutated frames names a file to read and one to write.
var (
	namedFiles = []clientFile{{path: "/named/in"}, {path: "/named/out", write: true, flags: os.O_APPEND}}
	mayOpen    = map[string]int{"/named/in": os.O_RDONLY, "/named/out": os.O_WRONLY | os.O_CREATE | os.O_APPEND}
)

// answered lets a peer answer a list with these bytes: no panic, no hang, and no file
// is opened but those the list names, each once.
func answered(t *testing.T, answer []byte) {
	us, them := net.Pipe()
	defer us.Close()
	go func() {
		defer them.Close()
		go them.Write(answer)
		buf := make([]byte, 1<<16)
		for read := 0; ; {
			n, err := them.Read(buf)
			if read += n; err != nil || read > 1<<20 {
				return
			}
			them.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	us.SetDeadline(time.Now().Add(30 * time.Second))
	opened := map[string]bool{}
	c := nativeCall{ctx: ctx, conn: us, in: messageReader{r: us, buf: make([]byte, 4*maxMessage)}, files: clientFiles{named: namedFiles, stdin: []byte("input")}, open: func(path string, flags int) (*os.File, error) {
		if want, ok := mayOpen[path]; !ok || want != flags || opened[path] {
			t.Errorf("opened %q with flags %#x", path, flags)
		}
		opened[path] = true
		return os.Open(os.DevNull)
	}}
	defer c.files.closeAll()
	rep, err := c.do(nil, []string{"list-sessions"})
	if err == nil && ctx.Err() != nil {
		t.Fatalf("hung: %+v", rep)
	}
}

// A server of this user's that goes mad within the protocol.
func TestMutatedAnswers(t *testing.T) {
	t.Parallel()
	path := func(p string) []byte { return append([]byte(p), 0) }
	file := []byte{5, 0, 0, 0, 255, 255, 255, 255}
	frames := [][]byte{
		appendMessage(nil, msgWriteOpen, []byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}),
		appendMessage(nil, msgWrite, []byte{1, 0, 0, 0, 'h', 'i', '\n'}),
		appendMessage(nil, msgWriteClose, []byte{1, 0, 0, 0}),
		appendMessage(nil, msgReadOpen, append(bytes.Clone(file), path("/named/in")...)),
		appendMessage(nil, msgReadOpen, append(bytes.Clone(file), path("/named/out")...)),
		appendMessage(nil, msgReadOpen, append(bytes.Clone(file), path("/etc/shadow")...)),
		appendMessage(nil, msgReadOpen, []byte{6, 0, 0, 0, 0, 0, 0, 0, '-', 0}),
		appendMessage(nil, msgWriteOpen, append(append(bytes.Clone(file), 0, 4, 0, 0), path("/named/out")...)),
		appendMessage(nil, msgWriteOpen, append(append(bytes.Clone(file), 0, 2, 0, 0), path("/named/in")...)),
		appendMessage(nil, msgReadCancel, []byte{5, 0, 0, 0}),
		appendMessage(nil, msgDetach, path("main")),
		appendMessage(nil, msgExit, []byte{0, 0, 0, 0}),
	}
	for seed := range uint64(testtool.Size(2000, 100_000)) {
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
