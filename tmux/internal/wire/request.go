// Package wire sends command lists to tmux servers for package tmux, which encodes them and
// judges what comes back: over tmux's own protocol, or through the tmux program. It also knows
// whom a socket belongs to, which servers do not answer, and what tmux's messages mean.
package wire

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// Request is one command list.
type Request struct {
	// Line returns the same commands as a line of a configuration file.
	Line func() string
	// Words are the same commands, escaped and separated by ";", or a command that sources
	// them from standard input.
	Words []string
	// File, if set, gets what the list prints on standard output.
	File io.Writer
	// Stdin is what a command of the list may read from "-".
	Stdin []byte
	// Turn, if set, is taken when the list is sent, and given back when Printed is called.
	Turn *RunTurn
	// Mixed is set if something that a user may have typed is in one list with a command
	// that reads stdin. Such lists are made only for a private transport.
	Mixed bool
	// Text is set if a command runs commands, or names a file, given only as text.
	Text bool
	// Proof, if set, is what the list prints first on a server that speaks the protocol. The
	// list must change nothing and hold no text of the user's: it may be sent to a server that
	// has not proved yet that it speaks the protocol, and then again through the tmux program.
	Proof string
	// Needs is how much of the environment the list needs.
	Needs Environ
	// StartsServer is set if a command of the list starts a server if none is running.
	StartsServer bool
	// Printed, if set, is called once the server has printed something, and so has begun to
	// run the list. It may be called again.
	Printed func()
}

// Environ is a part of the client's environment. The server is sent only the part that a
// list needs: it keeps the variables until the client disconnects, and spends a fifth of
// its time on them.
type Environ int

const (
	needsNone Environ = iota
	// NeedsPath: a new pane, even one created by a hook, takes its PATH from the client.
	NeedsPath
	// NeedsAll: a new session takes the variables that match the patterns in
	// update-environment.
	NeedsAll
)

// RunTurn is a turn to have a server run a list.
type RunTurn struct {
	sync.Locker
	begun bool
	over  sync.Once
}

func (t *RunTurn) begin() {
	if t != nil {
		t.Lock()
		t.begun = true
	}
}

// End gives the turn back, if the list has it.
func (t *RunTurn) End() {
	if t.begun {
		t.over.Do(t.Unlock)
	}
}

// maxOutput bounds what a list may print on standard output, and likewise on standard
// error: a server that runs wild must not exhaust this process's memory.
const maxOutput = 16 << 20

// printed is the output of a list.
type printed struct {
	// parts have at least minPart bytes each, except the last: a buffer that grows by
	// copying takes three times the memory.
	parts [][]byte
	size  int
	// file, if set, gets the output instead.
	file io.Writer
	// notice, if set, is called when there is more output.
	notice func()
}

const minPart = 256 << 10

func (p *printed) add(data []byte) error {
	if p.file != nil {
		p.file.Write(data)
		return nil
	}
	if p.size += len(data); p.size > maxOutput {
		return fmt.Errorf("%w: tmux printed more than %d MB; ask for less at a time", ErrTooMuch, maxOutput>>20)
	}
	last := len(p.parts) - 1
	if last < 0 || len(p.parts[last]) >= minPart {
		p.parts = append(p.parts, nil)
		last++
	}
	p.parts[last] = append(p.parts[last], data...)
	if p.notice != nil {
		p.notice()
	}
	return nil
}

// Bytes returns all output.
func (p *printed) Bytes() []byte {
	if len(p.parts) == 1 {
		return p.parts[0]
	}
	return bytes.Join(p.parts, nil)
}

// Reply is the result of a command list.
type Reply struct {
	Stdout, Stderr []byte
	// Code is the exit status of the client, or -1 if it was killed.
	Code int
	// Open is set if there may be more on stdout that was not waited for.
	Open bool
}

// noServer reports whether nothing listens on the socket.
func (r Reply) noServer() bool { return r.Code == 1 && KindOf(string(r.Stderr)) == ErrNoServer }

// OnStdin returns the request with its list on standard input.
func (r Request) OnStdin() Request {
	r.Words = []string{"source-file", "-"}
	if r.StartsServer {
		r.Words = append([]string{"start-server", ";"}, r.Words...)
	}
	r.Stdin = []byte(r.Line() + "\n")
	return r
}
