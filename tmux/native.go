package tmux

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// nativeTransport speaks tmux's own client protocol over the server's socket:
// what the tmux program does, without the process. Each command list has a
// connection of its own. It never attaches, passes no descriptors and starts no
// server, so a server sees it exactly as it sees a tmux client that runs a
// command.
//
// The protocol is private to tmux and promised to nobody. It has kept its
// version and the messages used here from 3.2a on, and autoTransport uses it
// only with servers that prove to speak it.
type nativeTransport struct {
	socket string
	env    []string
	// hello is everything before the command: who we are. brief is the same without
	// what no command that looks can need of the environment, for which tmux takes a
	// fifth of its time.
	hello, brief []byte
}

// Message types.
const (
	msgVersion = 12

	msgIdentifyTerm      = 101
	msgIdentifyTTYName   = 102
	msgIdentifyEnviron   = 105
	msgIdentifyDone      = 106
	msgIdentifyClientPID = 107
	msgIdentifyCWD       = 108
	msgIdentifyFeatures  = 109
	msgIdentifyLongFlags = 111

	msgCommand    = 200
	msgDetach     = 201
	msgDetachKill = 202
	msgExit       = 203
	msgExited     = 204
	msgExiting    = 205
	msgReady      = 207
	msgShell      = 209
	msgShutdown   = 210
	msgExec       = 217
	msgFlags      = 218

	msgReadOpen   = 300
	msgRead       = 301
	msgReadDone   = 302
	msgWriteOpen  = 303
	msgWrite      = 304
	msgWriteReady = 305
	msgWriteClose = 306
	msgReadCancel = 307
)

const (
	protocolVersion = 8
	headerSize      = 16
	// maxMessage is the largest message either side sends, header included.
	maxMessage = 16384
	// maxOutput bounds what a list may print: a server gone mad must not take
	// this process with it.
	maxOutput = 1 << 30

	flagNoStartServer = 0x1000
	flagUTF8          = 0x10000
)

// errProtocol is a peer that does not speak the protocol as expected.
var errProtocol = errors.New("unexpected message from the tmux server")

func newNativeTransport(socket string, env []string) *nativeTransport {
	t := &nativeTransport{socket: socket, env: env}
	var b []byte
	b = appendMessage(b, msgIdentifyLongFlags, binary.NativeEndian.AppendUint64(nil, flagUTF8|flagNoStartServer))
	b = appendMessage(b, msgIdentifyTerm, cString(lookupEnv(env, "TERM")))
	b = appendMessage(b, msgIdentifyFeatures, binary.NativeEndian.AppendUint32(nil, 0))
	// A server of 3.6 dereferences the name of the terminal without looking.
	b = appendMessage(b, msgIdentifyTTYName, cString(""))
	b = appendMessage(b, msgIdentifyClientPID, binary.NativeEndian.AppendUint32(nil, processID))
	t.hello, t.brief = b, slices.Clip(b)
	for _, kv := range env {
		if !strings.Contains(kv, "=") || len(kv) >= maxMessage-headerSize {
			continue
		}
		t.hello = appendMessage(t.hello, msgIdentifyEnviron, cString(kv))
		if strings.HasPrefix(kv, "PATH=") {
			// A new pane takes its PATH from the client, also one that a hook makes.
			t.brief = appendMessage(t.brief, msgIdentifyEnviron, cString(kv))
		}
	}
	return t
}

func lookupEnv(env []string, key string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			value = v
		}
	}
	return value
}

func cString(s string) []byte { return append([]byte(s), 0) }

var processID = uint32(os.Getpid())

// appendMessage frames a message: type, length, protocol version, process id.
// tmux up to 3.5 has the length in 16 bits and flags in the next 16, later ones
// a length of 32 bits; without descriptors the bytes are the same where the
// least significant byte comes first, and [nativeUsable] insists on that.
func appendMessage(b []byte, typ uint32, data []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, typ)
	b = binary.LittleEndian.AppendUint32(b, uint32(headerSize+len(data)))
	b = binary.LittleEndian.AppendUint32(b, protocolVersion)
	b = binary.LittleEndian.AppendUint32(b, processID)
	return append(b, data...)
}

// nativeUsable reports whether this machine lays integers out as the framing
// here assumes.
var nativeUsable = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// message is one message from the server.
type message struct {
	typ     uint32
	version uint8
	data    []byte
}

// readBuffers hold the largest message and more, so that one read often takes
// several.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 4*maxMessage); return &b }}

// messageReader takes messages from a connection. The data of a message is
// valid until the next one is read.
type messageReader struct {
	r   io.Reader
	buf []byte
	// have is what stands unread in buf.
	have []byte
}

func (m *messageReader) next() (message, error) {
	if err := m.fill(headerSize); err != nil {
		return message{}, err
	}
	size := binary.LittleEndian.Uint32(m.have[4:])
	if size < headerSize || size > maxMessage {
		return message{}, fmt.Errorf("%w: length %d", errProtocol, size)
	}
	if err := m.fill(int(size)); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return message{}, err
	}
	msg := message{
		typ:     binary.LittleEndian.Uint32(m.have),
		version: uint8(binary.LittleEndian.Uint32(m.have[8:])),
		data:    m.have[headerSize:size],
	}
	m.have = m.have[size:]
	return msg, nil
}

// whole reports whether the next message has come already.
func (m *messageReader) whole() bool {
	return len(m.have) >= headerSize && uint64(binary.LittleEndian.Uint32(m.have[4:])) <= uint64(len(m.have))
}

// fill reads until n bytes are there. io.EOF means that there was nothing.
func (m *messageReader) fill(n int) error {
	if len(m.have) >= n {
		return nil
	}
	kept := copy(m.buf, m.have)
	read, err := io.ReadAtLeast(m.r, m.buf[kept:], n-kept)
	m.have = m.buf[:kept+read]
	if err == io.EOF && kept > 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (t *nativeTransport) run(ctx context.Context, req request) (reply, error) {
	conn, err := t.dial(ctx)
	if err != nil {
		if len(t.socket) >= len(syscall.RawSockaddrUnix{}.Path) {
			err = syscall.ENAMETOOLONG
		}
		if ctx.Err() != nil {
			return reply{code: -1}, context.Cause(ctx)
		}
		return t.noServer(err)
	}
	defer conn.Close()
	// A context that ends breaks whatever the connection is waiting for.
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	c := nativeCall{ctx: ctx, conn: conn, open: openFile, stdin: req.stdin, printed: req.printed, in: messageReader{r: conn, buf: *buf}}
	defer c.closeFiles()
	hello := t.hello
	if req.looks {
		hello = t.brief
	}
	rep, err := c.do(hello, req.words)
	if ctx.Err() != nil {
		return reply{code: -1}, context.Cause(ctx)
	}
	return rep, err
}

// dial connects to the server. One that is behind with accepting is waited for,
// as the tmux program does with its blocking socket.
func (t *nativeTransport) dial(ctx context.Context) (net.Conn, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", t.socket)
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// noServer is what the tmux program says when it cannot connect.
func (t *nativeTransport) noServer(err error) (reply, error) {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return reply{code: -1}, err
	}
	text := fmt.Sprintf("error connecting to %s (%s)", t.socket, errnoText(errno))
	if errno == syscall.ECONNREFUSED {
		text = "no server running on " + t.socket
	}
	return reply{code: 1, stderr: []byte(text)}, nil
}

// errnoText is strerror's text; Go's own begins with a small letter.
func errnoText(errno syscall.Errno) string {
	s := errno.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}

// nativeCall is one command list on one connection.
type nativeCall struct {
	ctx    context.Context
	conn   net.Conn
	in     messageReader
	stdin  []byte
	stdout bytes.Buffer
	stderr bytes.Buffer
	// ready are the answers to those who want to write.
	ready []byte
	// printed is that of the request.
	printed func()
	// open is openFile but in tests.
	open  func(path string, flags int) (*os.File, error)
	files map[uint32]*os.File
}

// openFile opens a file for load-buffer, save-buffer or source-file: tmux has
// its client do that, with the client's rights.
func openFile(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|syscall.O_NONBLOCK, 0o644)
}

func (c *nativeCall) closeFiles() {
	for _, f := range c.files {
		f.Close()
	}
}

// do sends the list and serves the server's requests until it says how the list
// ended.
func (c *nativeCall) do(hello []byte, words []string) (reply, error) {
	packed := binary.NativeEndian.AppendUint32(nil, uint32(len(words)))
	for _, w := range words {
		packed = append(append(packed, w...), 0)
	}
	if len(packed) > maxMessage-headerSize {
		return reply{code: 1, stderr: []byte("command too long")}, nil
	}
	out := slices.Grow(bytes.Clone(hello), len(packed)+256)
	out = appendMessage(out, msgIdentifyCWD, cString(workingDirectory()))
	out = appendMessage(out, msgIdentifyDone, nil)
	out = appendMessage(out, msgCommand, packed)
	if _, err := c.conn.Write(out); err != nil {
		return c.lost(err)
	}
	for {
		// What is to be said waits for what was said: a server that has ended the list
		// need not hear it.
		if len(c.ready) > 0 && !c.in.whole() {
			ready := c.ready
			c.ready = c.ready[:0]
			if _, err := c.conn.Write(ready); err != nil {
				return c.lost(err)
			}
		}
		msg, err := c.in.next()
		if err != nil {
			return c.lost(err)
		}
		if msg.typ == msgVersion {
			return reply{code: 1, stderr: fmt.Appendf(nil, "protocol version mismatch (client %d, server %d)", protocolVersion, msg.version)}, nil
		}
		if msg.version != protocolVersion {
			return reply{code: -1}, fmt.Errorf("%w: protocol version %d", errProtocol, msg.version)
		}
		done, err := c.serve(msg)
		if err != nil {
			return c.lost(err)
		}
		if done {
			code := 0
			if len(msg.data) >= 4 {
				code = int(int32(binary.NativeEndian.Uint32(msg.data)))
			}
			if len(msg.data) > 4 {
				// The reason, which the tmux program prints.
				c.stderr.Write(bytes.TrimRight(msg.data[4:], "\x00"))
				c.stderr.WriteByte('\n')
			}
			// An exit status has eight bits.
			return c.reply(code & 0xff), nil
		}
	}
}

func (c *nativeCall) reply(code int) reply {
	return reply{stdout: c.stdout.Bytes(), stderr: bytes.TrimRight(c.stderr.Bytes(), "\n"), code: code}
}

// lost is a connection that broke before the server said how the list ended.
func (c *nativeCall) lost(err error) (reply, error) {
	if errors.Is(err, errProtocol) {
		return reply{code: -1}, err
	}
	c.stderr.WriteString("server exited unexpectedly")
	return c.reply(1), nil
}

// serve answers one message. It reports whether that was the last.
func (c *nativeCall) serve(msg message) (done bool, err error) {
	stream := func(size int) (uint32, error) {
		if len(msg.data) < size {
			return 0, fmt.Errorf("%w: type %d with %d bytes", errProtocol, msg.typ, len(msg.data))
		}
		return binary.NativeEndian.Uint32(msg.data), nil
	}
	switch msg.typ {
	case msgExit, msgShutdown:
		return true, nil
	case msgExited:
		return true, nil
	case msgDetach, msgDetachKill:
		return false, c.send(msgExiting, nil)
	case msgWriteOpen:
		id, err := stream(12)
		if err != nil {
			return false, err
		}
		return false, c.openWrite(id, msg.data)
	case msgWrite:
		id, err := stream(4)
		if err != nil {
			return false, err
		}
		return false, c.write(id, msg.data[4:])
	case msgWriteClose:
		id, err := stream(4)
		if err != nil {
			return false, err
		}
		c.close(id)
		return false, nil
	case msgReadOpen:
		id, err := stream(8)
		if err != nil {
			return false, err
		}
		return false, c.read(id, msg.data)
	case msgReadCancel:
		id, err := stream(4)
		if err != nil {
			return false, err
		}
		return false, c.send(msgReadDone, pair(id, 0))
	case msgReady, msgShell, msgExec:
		// Only a list that attaches gets these.
		return false, fmt.Errorf("%w: type %d", errProtocol, msg.typ)
	}
	// tmux clients ignore what they do not know.
	return false, nil
}

func (c *nativeCall) send(typ uint32, data []byte) error {
	_, err := c.conn.Write(appendMessage(nil, typ, data))
	return err
}

func pair(a uint32, b int32) []byte {
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, a), uint32(b))
}

// pathOf is the path in an open message whose fixed part has the given size.
func pathOf(data []byte, fixed int) string {
	path, _, _ := bytes.Cut(data[fixed:], []byte{0})
	return string(path)
}

func (c *nativeCall) openWrite(id uint32, data []byte) error {
	fd, flags := int32(binary.NativeEndian.Uint32(data[4:])), int(binary.NativeEndian.Uint32(data[8:]))
	code := syscall.Errno(0)
	switch {
	case fd == 1, fd == 2:
		// The server names its streams 1 and 2 after the descriptors.
	case fd == -1:
		f, err := c.open(pathOf(data, 12), flags&(os.O_APPEND|os.O_TRUNC)|os.O_WRONLY|os.O_CREATE)
		code = errnoOf(err)
		if err == nil {
			c.keep(id, f)
		}
	default:
		code = syscall.EBADF
	}
	c.ready = appendMessage(c.ready, msgWriteReady, pair(id, int32(code)))
	return nil
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		return syscall.EIO
	}
	return errno
}

func (c *nativeCall) keep(id uint32, f *os.File) {
	if c.files == nil {
		c.files = map[uint32]*os.File{}
	}
	if old := c.files[id]; old != nil {
		old.Close()
	}
	c.files[id] = f
}

func (c *nativeCall) write(id uint32, data []byte) error {
	if c.stdout.Len()+c.stderr.Len()+len(data) > maxOutput {
		return fmt.Errorf("tmux printed more than %d bytes", maxOutput)
	}
	switch f := c.files[id]; {
	case f != nil:
		f.Write(data)
	case id == 2:
		c.stderr.Write(data)
	default:
		c.stdout.Write(data)
		if c.printed != nil {
			c.printed()
		}
	}
	return nil
}

func (c *nativeCall) close(id uint32) {
	if f := c.files[id]; f != nil {
		f.Close()
		delete(c.files, id)
	}
}

// read sends a file, or standard input, to the server.
func (c *nativeCall) read(id uint32, data []byte) error {
	fd := int32(binary.NativeEndian.Uint32(data[4:]))
	var r io.Reader = bytes.NewReader(c.stdin)
	switch {
	case fd == 0:
	case fd == -1:
		f, err := c.open(pathOf(data, 8), os.O_RDONLY)
		if err != nil {
			return c.send(msgReadDone, pair(id, int32(errnoOf(err))))
		}
		c.keep(id, f)
		defer c.close(id)
		// A FIFO may give nothing for as long as it likes.
		defer context.AfterFunc(c.ctx, func() { f.SetDeadline(time.Unix(1, 0)) })()
		r = f
	default:
		return c.send(msgReadDone, pair(id, int32(syscall.EBADF)))
	}
	chunk := make([]byte, maxMessage-headerSize)
	binary.NativeEndian.PutUint32(chunk, id)
	for {
		n, err := r.Read(chunk[4:])
		if n > 0 {
			if err := c.send(msgRead, chunk[:4+n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return c.send(msgReadDone, pair(id, 0))
		}
		if err != nil {
			return c.send(msgReadDone, pair(id, int32(syscall.EIO)))
		}
	}
}

// workingDirectory is the directory that relative paths in commands start from.
func workingDirectory() string {
	if dir, err := os.Getwd(); err == nil {
		return dir
	}
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	return "/"
}
