package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// nativeTransport speaks tmux's own client protocol over the server's socket: it does what
// the tmux program does, without the process. Each command list has its own connection. It
// never attaches, passes no descriptors and starts no server, so to a server it looks
// exactly like a tmux client that runs a command.
//
// The protocol is private to tmux and may change. Its version and the messages used here
// are the same from 3.2a on, and [Transports] uses it only with servers proven to speak
// it.
type nativeTransport struct {
	socket Socket
	// hello is everything before the command: who we are, with as much of the
	// environment as a list needs.
	hello [3][]byte
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

	msgReadOpen   = 300
	msgRead       = 301
	msgReadDone   = 302
	msgWriteOpen  = 303
	msgWrite      = 304
	msgWriteReady = 305
	msgReadCancel = 307
)

const (
	protocolVersion = 8
	headerSize      = 16
	// MaxMessage is the largest message either side sends, header included.
	MaxMessage        = 16384
	flagNoStartServer = 0x1000
	flagUTF8          = 0x10000
)

// ErrProtocol reports a peer that does not speak the protocol as expected.
var ErrProtocol = errors.New("unexpected message from the tmux server")

func newNativeTransport(socket Socket, env []string) *nativeTransport {
	t := &nativeTransport{socket: socket}
	var b []byte
	b = appendMessage(b, msgIdentifyLongFlags, binary.NativeEndian.AppendUint64(nil, flagUTF8|flagNoStartServer))
	b = appendMessage(b, msgIdentifyTerm, cString(LookupEnv(env, "TERM")))
	b = appendMessage(b, msgIdentifyFeatures, binary.NativeEndian.AppendUint32(nil, 0))
	// tmux 3.6 dereferences the terminal's name without checking it.
	b = appendMessage(b, msgIdentifyTTYName, cString(""))
	b = appendMessage(b, msgIdentifyClientPID, binary.NativeEndian.AppendUint32(nil, processID))
	for need := range t.hello {
		t.hello[need] = slices.Clone(b)
	}
	for _, kv := range env {
		if !strings.Contains(kv, "=") || len(kv) >= MaxMessage-headerSize {
			continue
		}
		t.hello[NeedsAll] = appendMessage(t.hello[NeedsAll], msgIdentifyEnviron, cString(kv))
		if strings.HasPrefix(kv, "PATH=") {
			t.hello[NeedsPath] = appendMessage(t.hello[NeedsPath], msgIdentifyEnviron, cString(kv))
		}
	}
	return t
}

// LookupEnv returns the last value of a variable in an environment of "K=V" strings, or "".
func LookupEnv(env []string, key string) string {
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

// appendMessage frames a message: type, length, protocol version, process id. tmux up to
// 3.5 has a length of 16 bits and flags in the next 16, later versions a length of 32 bits.
// Without descriptors the bytes are the same on little-endian machines, which
// [NativeUsable] insists on.
func appendMessage(b []byte, typ uint32, data []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, typ)
	b = binary.LittleEndian.AppendUint32(b, uint32(headerSize+len(data)))
	b = binary.LittleEndian.AppendUint32(b, protocolVersion)
	b = binary.LittleEndian.AppendUint32(b, processID)
	return append(b, data...)
}

// NativeUsable reports whether this machine has the byte order that the framing assumes,
// and whether the system shows who is at the other end of a socket.
var NativeUsable = knowsPeers && binary.NativeEndian.Uint16([]byte{1, 0}) == 1

type message struct {
	typ     uint32
	version uint8
	data    []byte
}

// readers have buffers for more than the largest message, so that one read often gets
// several.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4*MaxMessage) }}

// next reads a message. Its data is valid until the next call.
func (c *NativeCall) next() (message, error) {
	header, err := c.In.Peek(headerSize)
	if err != nil {
		return message{}, err
	}
	size := binary.LittleEndian.Uint32(header[4:])
	if size < headerSize || size > MaxMessage {
		return message{}, fmt.Errorf("%w: length %d", ErrProtocol, size)
	}
	whole, err := c.In.Peek(int(size))
	if err != nil {
		return message{}, err
	}
	c.In.Discard(len(whole)) // leaves the bytes in the buffer
	return message{
		typ:     binary.LittleEndian.Uint32(whole),
		version: uint8(binary.LittleEndian.Uint32(whole[8:])),
		data:    whole[headerSize:],
	}, nil
}

// arrived reports whether the next message has already arrived in full.
func (c *NativeCall) arrived() bool {
	have, _ := c.In.Peek(c.In.Buffered())
	return len(have) >= headerSize && uint64(binary.LittleEndian.Uint32(have[4:])) <= uint64(len(have))
}

func (t *nativeTransport) run(ctx context.Context, req Request) (Reply, error) {
	conn, err := t.socket.dial(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return Reply{Code: -1}, context.Cause(ctx)
		}
		return t.socket.noServer(err)
	}
	defer conn.Close()
	// When the context ends, whatever the connection is waiting for fails.
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	in := readers.Get().(*bufio.Reader)
	defer readers.Put(in)
	in.Reset(conn)
	c := NativeCall{
		Conn: conn, In: in, Stdin: req.Stdin, socket: t.socket.Path,
		stdout: printed{notice: req.Printed, file: req.File}, turn: req.Turn,
	}
	rep, err := c.Do(t.hello[req.Needs], req.Words)
	if ctx.Err() != nil {
		// tmux notices at once, even if a program that is just being started still holds a
		// copy of the connection.
		conn.CloseWrite()
		return Reply{Code: -1}, context.Cause(ctx)
	}
	return rep, err
}

// NativeCall is one command list on one connection.
type NativeCall struct {
	Conn           net.Conn
	In             *bufio.Reader // from Conn
	stdout, stderr printed
	// ready are the pending answers to requests to write.
	ready []byte
	// Stdin is what the list reads from "-", and has not read yet.
	Stdin  []byte
	socket string // the server's, for errors
	turn   *RunTurn
	// dropped is the number of the stream to /dev/null; 0 if there is none.
	dropped uint32
}

// Do sends the list and serves the server's requests until it reports how the list ended.
func (c *NativeCall) Do(hello []byte, words []string) (Reply, error) {
	packed := binary.NativeEndian.AppendUint32(nil, uint32(len(words)))
	for _, w := range words {
		packed = append(append(packed, w...), 0)
	}
	if len(packed) > MaxMessage-headerSize {
		return Reply{Code: 1, Stderr: []byte("command too long")}, nil
	}
	out := slices.Grow(bytes.Clone(hello), len(packed)+256)
	out = appendMessage(out, msgIdentifyCWD, cString(workingDirectory()))
	out = appendMessage(out, msgIdentifyDone, nil)
	if c.turn != nil {
		if _, err := c.Conn.Write(out); err != nil {
			return c.lost(err)
		}
		c.turn.begin()
		out = nil
	}
	out = appendMessage(out, msgCommand, packed)
	if _, err := c.Conn.Write(out); err != nil {
		return c.lost(err)
	}
	for {
		// Answers wait until all messages that have arrived are handled: a server that has
		// ended the list need not get them.
		if len(c.ready) > 0 && !c.arrived() {
			ready := c.ready
			c.ready = c.ready[:0]
			if _, err := c.Conn.Write(ready); err != nil {
				return c.lost(err)
			}
		}
		msg, err := c.next()
		if err != nil {
			return c.lost(err)
		}
		if msg.typ == msgVersion {
			return Reply{Code: 1, Stderr: fmt.Appendf(nil, "protocol version mismatch (client %d, server %d)", protocolVersion, msg.version)}, nil
		}
		if msg.version != protocolVersion {
			return Reply{Code: -1}, fmt.Errorf("%w: protocol version %d", ErrProtocol, msg.version)
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
				c.stderr.add(append(bytes.TrimRight(msg.data[4:], "\x00"), '\n'))
			}
			// An exit status has eight bits.
			return c.reply(code & 0xff), nil
		}
	}
}

func (c *NativeCall) reply(code int) Reply {
	return Reply{Stdout: c.stdout.Bytes(), Stderr: bytes.TrimRight(c.stderr.Bytes(), "\n"), Code: code}
}

// lost handles a connection that broke before the server reported how the list ended, or
// that is given up because of what the server sent.
func (c *NativeCall) lost(err error) (Reply, error) {
	err = Exhausted(err)
	for _, known := range []error{ErrProtocol, ErrUntrusted, ErrTooMuch, ErrExhausted} {
		if errors.Is(err, known) {
			return Reply{Code: -1}, err
		}
	}
	c.stderr.add([]byte("server exited unexpectedly"))
	return c.reply(1), nil
}

// streamSizes are the minimum sizes of messages about a stream, beginning with its number.
var streamSizes = map[uint32]int{
	msgWriteOpen: 12, msgWrite: 4, msgReadOpen: 8, msgReadCancel: 4,
}

// serve handles one message, and reports whether it was the last.
func (c *NativeCall) serve(msg message) (done bool, err error) {
	var id uint32
	if size, ok := streamSizes[msg.typ]; ok {
		if len(msg.data) < size {
			return false, fmt.Errorf("%w: type %d with %d bytes", ErrProtocol, msg.typ, len(msg.data))
		}
		id = binary.NativeEndian.Uint32(msg.data)
	}
	switch msg.typ {
	case msgExit, msgShutdown, msgExited:
		return true, nil
	case msgDetach, msgDetachKill:
		return false, c.send(msgExiting, nil)
	case msgWriteOpen:
		return false, c.openWrite(id, msg.data)
	case msgWrite:
		return false, c.write(id, msg.data[4:])
	case msgReadOpen:
		return false, c.read(id, msg.data)
	case msgReadCancel:
		return false, c.send(msgReadDone, pair(id, 0))
	case msgReady, msgShell, msgExec:
		// Only a client that attaches gets these.
		return false, fmt.Errorf("%w: type %d", ErrProtocol, msg.typ)
	}
	// tmux clients ignore messages that they do not know.
	return false, nil
}

func (c *NativeCall) send(typ uint32, data []byte) error {
	_, err := c.Conn.Write(appendMessage(nil, typ, data))
	return err
}

func pair(a uint32, b int32) []byte {
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, a), uint32(b))
}

// workingDirectory returns the directory that relative paths in commands start from.
func workingDirectory() string {
	if dir, err := os.Getwd(); err == nil {
		return dir
	}
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	return "/"
}
