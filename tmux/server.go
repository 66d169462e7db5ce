package tmux

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tmuxmcp/internal/turns"
	"tmuxmcp/tmux/internal/wire"
)

// Config says which tmux server to talk to, and how. The zero Config means the user's
// default server and the tmux program on PATH, wherever this process runs: unlike the tmux
// program, [New] does not take the server from the environment of a pane. See [FromEnv].
type Config struct {
	// Binary is the tmux program, a path or a name on PATH; "tmux" by default.
	Binary string
	// SocketName is tmux's -L: the name of a socket in tmux's directory of sockets, without
	// a slash. It excludes SocketPath.
	SocketName string
	// SocketPath is tmux's -S: the path of the socket.
	SocketPath string
	// ConfigFile is tmux's -f, read when a server starts; if empty, tmux's default files.
	// /dev/null reads none.
	ConfigFile string
	// Env is the environment of the tmux client, as "K=V" strings; if nil, that of this
	// process. A server started here inherits it, and so do its panes. TMUX and TMUX_PANE
	// are always removed: they would redirect commands.
	Env []string
	// Timeout bounds a call whose context has no deadline: 0 means 30 seconds, and a
	// negative value no bound: see [WithTimeout]. Commands that wait by nature (wait-for, run-shell) are
	// bounded only by their context.
	Timeout time.Duration
	// Transport is how commands reach the server; [TransportAuto] if empty.
	Transport Transport
	// MostText, if not 0, makes tmux cut the texts in the rows of [List] and [AddRows]:
	// whatever a program or user can make as long as they like, such as titles, names and
	// options, at that many columns, or somewhat fewer. What is cut ends in "…". Handles and
	// ids are whole, and so is a field with the tag option whole.
	MostText int
	// Logger, if set, gets a debug record for each command list: the names of the commands,
	// and nothing of their arguments.
	Logger *slog.Logger
}

// Server is a handle on one tmux server: the one that listens, or will listen, on a certain
// socket. It holds no connection, and caches nothing of the server's state except its
// version. It is safe for concurrent use.
type Server struct {
	cfg       Config
	binary    string
	at        wire.Socket
	transport *wire.Transports
	// marker is text that nobody else knows, and lists counts the lists sent: see newDelimiter.
	marker string
	lists  atomic.Int64

	mu      sync.Mutex
	running running        // the server that was last asked who it is
	program Version        // of the tmux program, zero if unknown
	waits   map[string]int // how many calls of Wait are in the queue of a channel

	turns turns.Turns // of channels: see takeTurn
}

const defaultTimeout = 30 * time.Second

// New returns a handle on the server that cfg describes. It looks up the tmux program, but
// neither runs it nor touches the socket.
func New(cfg Config) (*Server, error) {
	if cfg.SocketName != "" && cfg.SocketPath != "" {
		return nil, argumentError("both a socket name (%s) and a socket path (%s)", cfg.SocketName, cfg.SocketPath)
	}
	if n := cfg.SocketName; strings.Contains(n, "/") || n == "." || n == ".." {
		return nil, argumentError("%q is not the name of a socket; for a path, set SocketPath", n)
	}
	if strings.IndexByte(cfg.SocketName+cfg.SocketPath+cfg.ConfigFile, 0) >= 0 {
		return nil, argumentError("a socket or file name with a NUL byte")
	}
	binary, err := exec.LookPath(cmp.Or(cfg.Binary, "tmux"))
	if err != nil {
		return nil, fmt.Errorf("find the tmux program: %w", err)
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return nil, fmt.Errorf("find the tmux program: %w", err)
	}
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	cfg.Env = slices.DeleteFunc(slices.Clone(cfg.Env), func(kv string) bool {
		return strings.HasPrefix(kv, "TMUX=") || strings.HasPrefix(kv, "TMUX_PANE=")
	})
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	s := &Server{cfg: cfg, binary: binary, at: socketOf(cfg)}
	// -u: without it, in a locale that is not UTF-8, tmux replaces every byte above 0x7f,
	// and control bytes too.
	flags := []string{"-u"}
	switch {
	case cfg.SocketPath != "":
		flags = append(flags, "-S", cfg.SocketPath)
	case cfg.SocketName != "":
		flags = append(flags, "-L", cfg.SocketName)
	}
	if cfg.ConfigFile != "" {
		flags = append(flags, "-f", cfg.ConfigFile)
	}
	way, err := ParseTransport(string(cfg.Transport))
	if err != nil {
		return nil, err
	}
	if way == TransportNative && !wire.NativeUsable {
		return nil, argumentError("the native transport needs a little-endian machine, and a system that shows who listens on a socket")
	}
	s.transport = wire.NewTransports(s.at, &wire.ExecTransport{Binary: binary, Flags: flags, Env: cfg.Env})
	s.transport.Logger = cfg.Logger
	switch way {
	case TransportNative:
		s.transport.Only = true
	case TransportExec:
		s.transport.Refused = true
	}
	s.marker = "end-" + rand.Text()[:16]
	return s, nil
}

// socketOf returns the socket that tmux uses for cfg.
func socketOf(cfg Config) wire.Socket {
	if cfg.SocketPath != "" {
		return wire.Socket{Path: cfg.SocketPath}
	}
	return wire.Socket{Path: filepath.Join(SocketDir(cfg.Env), cmp.Or(cfg.SocketName, "default")), Named: true}
}

// SocketDir returns the directory in which tmux, run by this user in an environment of
// "K=V" strings, creates named sockets: tmux-UID in $TMUX_TMPDIR if that exists, otherwise
// in /tmp.
func SocketDir(env []string) string {
	base := "/tmp"
	if dir := wire.LookupEnv(env, "TMUX_TMPDIR"); dir != "" {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			base = real
		}
	}
	return filepath.Join(base, socketDirName())
}

func socketDirName() string { return "tmux-" + strconv.Itoa(os.Getuid()) }

// SocketName returns the name of the socket at a path; ok is false if the path is not in a
// directory such as [SocketDir] returns.
func SocketName(path string) (name string, ok bool) {
	dir, name := filepath.Split(path)
	return name, filepath.Base(dir) == socketDirName()
}

// SocketPath returns the path of the server's socket.
func (s *Server) SocketPath() string {
	if s == nil {
		return ""
	}
	return s.at.Path
}

// String names the server by its socket, and shows nothing of its [Config].
func (s *Server) String() string { return "tmux server on " + s.SocketPath() }

// Binary returns the absolute path of the tmux program.
func (s *Server) Binary() string {
	if s == nil {
		return ""
	}
	return s.binary
}

// Do sends commands as one list, in one round trip, and returns the output of each. tmux
// runs them in order and stops at the first that fails. The error is then an [*Error] that
// names this command, and the outputs are those of the commands before it and whatever it
// printed itself. A list may be of any size.
//
// A list of more than a few dozen commands that only read is sent in parts, which is
// faster. A few commands take a round trip of their own, because the tmux program lets only
// one command of a list use a stream: show-buffer and save-buffer need standard output to
// themselves, and two commands cannot both read standard input, from which load-buffer gets
// its file too.
func (s *Server) Do(ctx context.Context, cmds ...Command) ([][]byte, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	list := make([]item, len(cmds))
	waits, private := false, s.transport.Private()
	for i, c := range cmds {
		if d, ok := c.(interface{ detached() Command }); ok {
			c = d.detached()
		}
		var file *namedFile
		if f, ok := c.(interface{ named() (Command, *namedFile) }); ok {
			c, file = f.named()
		}
		words, before, err := s.encode(ctx, c)
		if err != nil {
			return nil, err
		}
		guards, err := guardFor(ctx, words)
		if err != nil {
			return nil, err
		}
		list[i] = newItem(words, append(guards, before...)...)
		list[i].file = file
		private = private && list[i].does&runsCommands == 0
		if r, ok := c.(interface{ stdin() []byte }); ok {
			list[i].stdin = r.stdin()
		}
		if w, ok := c.(interface{ waits() bool }); ok {
			waits = waits || w.waits()
		}
	}
	if !waits {
		var cancel context.CancelFunc
		ctx, cancel = s.bounded(ctx)
		defer cancel()
	}
	var outputs [][]byte
	for _, part := range roundTrips(list, private) {
		var outs [][]byte
		var err error
		if part[0].file != nil {
			outs, err = s.fileTrip(ctx, part[0])
		} else {
			outs, err = s.roundTrip(ctx, part, nil)
		}
		outputs = append(outputs, outs...)
		if err != nil {
			return outputs, err
		}
	}
	return outputs, nil
}

func (s *Server) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return s.Limited(ctx)
}

// Limited returns a context that ends after the Timeout of [Config] at the latest, for calls
// whose context has a later deadline; see [WithTimeout].
func (s *Server) Limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if s == nil || s.cfg.Timeout <= 0 {
		return ctx, func() {}
	}
	return WithTimeout(ctx, s.cfg.Timeout)
}

// WithTimeout returns a context for calls that tmux should answer within d. If it does not, it
// counts as stopped: later calls to that server fail at once with [ErrNoAnswer], until it reacts
// again. No other deadline has that effect. Do not use it for commands that wait by nature. The
// Timeout of [Config] is such a limit.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return wire.WithTimeout(ctx, d)
}

// Version returns the version of the running server or, if none is running, of the tmux
// program. The server is asked once; the answer is cached until the server exits or another
// one creates the socket anew.
func (s *Server) Version(ctx context.Context) (Version, error) {
	if err := s.usable(); err != nil {
		return Version{}, err
	}
	r, err := s.whoRuns(ctx)
	if errors.Is(err, ErrNoServer) || errors.Is(err, ErrServerGone) {
		return s.ProgramVersion(ctx)
	}
	return r.version, err
}

// Process is the process of a running server.
type Process struct {
	// PID is its number as the server knows it, the token pid.
	PID int
	// Here is set if it has this number here too: what the server says of processes, such as
	// pane_pid, can then be looked up. It is not if the server runs in another PID
	// namespace, as in another container, or on another machine behind a forwarded socket.
	// Linux shows which process listens on a socket; elsewhere it is assumed.
	Here bool
}

// Process returns the process of the running server, asked once as for [Server.Version]. It
// fails with [ErrNoServer] if none is running.
func (s *Server) Process(ctx context.Context) (Process, error) {
	if err := s.usable(); err != nil {
		return Process{}, err
	}
	r, err := s.whoRuns(ctx)
	if err != nil || r.placed {
		return r.process, err
	}
	if r.process.Here, err = s.at.Listens(ctx, r.process.PID); err != nil {
		return Process{}, err
	}
	r.placed = true
	s.mu.Lock()
	s.running = r
	s.mu.Unlock()
	return r.process, nil
}

// running is what does not change of a running server.
type running struct {
	version Version // zero if unknown
	process Process
	placed  bool        // whether process.Here is known
	socket  os.FileInfo // another server makes another one
}

// whoRuns asks the running server who it is, unless it has answered already. The answer also
// proves that the server speaks the protocol, so the first call needs no probe before it.
func (s *Server) whoRuns(ctx context.Context) (running, error) {
	socket, _ := os.Stat(s.at.Path)
	s.mu.Lock()
	r := s.running
	s.mu.Unlock()
	if r.version != (Version{}) && sameSocket(r.socket, socket) {
		return r, nil
	}
	d := s.newDelimiter()
	who := newItem(encoded{"display-message", "-p", string(d.around("#{pid} #{version}"))})
	who.proof = d.begin()
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	out, err := s.roundTrip(ctx, []item{who}, nil)
	if err != nil {
		return running{}, err
	}
	text, other := d.inside(string(out[0]))
	notice(ctx, other)
	pid, version, _ := strings.Cut(text, " ")
	r = running{socket: socket}
	if r.version, err = ParseVersion(version); err != nil {
		return running{}, err
	}
	r.process.PID, _ = strconv.Atoi(pid)
	s.mu.Lock()
	s.running = r
	s.mu.Unlock()
	return r, nil
}

// sameSocket reports whether a socket is the one that was seen before. An inode number may
// be reused, but at another time.
func sameSocket(before, now os.FileInfo) bool {
	return before != nil && now != nil && os.SameFile(before, now) && before.ModTime().Equal(now.ModTime())
}

func (s *Server) forgetVersion() {
	s.mu.Lock()
	s.running = running{}
	s.mu.Unlock()
}

// ProgramVersion returns the version that the tmux program prints with -V. It may differ
// from the running server's: see [Server.Version].
func (s *Server) ProgramVersion(ctx context.Context) (Version, error) {
	if err := s.usable(); err != nil {
		return Version{}, err
	}
	s.mu.Lock()
	v := s.program
	s.mu.Unlock()
	if v != (Version{}) {
		return v, nil
	}
	v, err := programVersion(ctx, s.binary, s.cfg.Env)
	if err != nil {
		return Version{}, err
	}
	s.mu.Lock()
	s.program = v
	s.mu.Unlock()
	return v, nil
}

// programVersion returns the version that a tmux program prints with -V.
func programVersion(ctx context.Context, binary string, env []string) (Version, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	cmd := exec.CommandContext(ctx, binary, "-V")
	stdout := &wire.BoundedWriter{GiveUp: giveUp}
	cmd.Env, cmd.Stdout, cmd.WaitDelay = env, stdout, wire.WaitDelay
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // another process holds the pipe open, perhaps forever
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Version{}, fmt.Errorf("%s -V: %w", binary, err)
	}
	line, _, _ := strings.Cut(string(stdout.Bytes()), "\n")
	v, err := ParseVersion(line)
	if err != nil {
		err = fmt.Errorf("%s -V: %w", binary, err)
	}
	return v, err
}
