package tmux

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// A transport carries one command list to the server and brings back what the
// tmux client program would have printed. Both transports take the same words
// and give the same bytes; the tests run over each of them.
type transport interface {
	run(ctx context.Context, req request) (reply, error)
	// private reports whether nobody but the server sees the words of the next
	// request, which the arguments of a program are not.
	private() bool
}

// request is one command list.
type request struct {
	// list are the commands.
	list []encoded
	// words are the same, escaped and separated by ";" words; or those that source
	// them from standard input.
	words []string
	// stdin is what a command of the list may read from "-".
	stdin []byte
	// mixed is set when something that a user may have typed stands beside a command that
	// reads stdin: the list was made for a private transport.
	mixed bool
	// needs is how much of the environment the server needs for the list.
	needs environ
	// starts is set when a command of the list starts a server where none runs.
	starts bool
	// printed, when set, is called once the server has printed something, and so
	// has begun to run the list. It may be called again.
	printed func()
}

// environ is a part of the client's environment. The server is sent only the part that
// a list needs: it keeps the variables until the client disconnects, and tmux spends a
// fifth of its time on them.
type environ int

const (
	needsNone environ = iota
	// needsPath: a new pane takes its PATH from the client, also one that a hook makes.
	needsPath
	// needsAll: a new session takes the variables that update-environment names, an
	// option of patterns.
	needsAll
)

// maxOutput bounds what a list may print on standard output, and likewise on standard
// error: a server that runs wild must not exhaust this process's memory.
const maxOutput = 16 << 20

// printed is what a list has printed.
type printed struct {
	// parts have at least minPart bytes each, except the last: a buffer that grows by
	// being copied takes three times the memory.
	parts [][]byte
	size  int
	// notice, when set, is called when there is more of it.
	notice func()
}

const minPart = 256 << 10

func (p *printed) add(data []byte) error {
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

// bytes is all of it.
func (p *printed) bytes() []byte {
	if len(p.parts) == 1 {
		return p.parts[0]
	}
	return bytes.Join(p.parts, nil)
}

// reply is what came of a command list.
type reply struct {
	stdout, stderr []byte
	// code is the exit status of the client, -1 when it was killed.
	code int
	// open is that there may be more of stdout, which was not waited for.
	open bool
}

// noServer reports whether nothing listens on the socket.
func (r reply) noServer() bool { return r.code == 1 && kindOf(string(r.stderr)) == ErrNoServer }

// Limits of one command list in an argument vector. tmux packs the words into
// one message of 16 KB, and from 3.7 on takes no more than 1000 of them.
const (
	maxListBytes = 16000
	maxListWords = 900
)

// newRequest joins commands into one list. A list over tmux's limits goes
// through source-file on standard input instead, as one line, so that it stops
// at a failing command exactly as an argument vector does.
func newRequest(cmds []encoded, stdin []byte) (request, error) {
	words, size := make([]string, 0, 8*len(cmds)), 0
	for i, c := range cmds {
		if i > 0 {
			words = append(words, ";")
		}
		for _, w := range c {
			words = append(words, word(w))
		}
	}
	for _, w := range words {
		size += len(w) + 1
	}
	req := request{list: cmds, words: words, stdin: stdin, needs: needsPath, starts: slices.ContainsFunc(cmds, encoded.startsServer)}
	if slices.ContainsFunc(cmds, encoded.makesSession) {
		req.needs = needsAll
	}
	if size <= maxListBytes && len(words) <= maxListWords {
		return req, nil
	}
	if stdin != nil {
		return request{}, argumentError("%d bytes of arguments beside standard input; tmux takes %d", size, maxListBytes)
	}
	return req.onStdin(), nil
}

// onStdin is the request with its list on standard input.
func (r request) onStdin() request {
	r.words = []string{"source-file", "-"}
	if r.starts {
		r.words = append([]string{"start-server", ";"}, r.words...)
	}
	r.stdin = []byte(configLine(r.list) + "\n")
	return r
}

// configLine is a list in tmux's configuration language.
func configLine(cmds []encoded) string {
	var line strings.Builder
	for i, c := range cmds {
		if i > 0 {
			line.WriteString(" ; ")
		}
		c.writeConfig(&line)
	}
	return line.String()
}

// item is a command of a list and what it reads from standard input, nil for
// nothing. What goes before it is part of it, and prints nothing.
type item struct {
	words  encoded
	before []encoded
	stdin  []byte
}

// ownsOutput reports whether the command writes to the client's standard output
// as to a file. The tmux program closes it afterwards, so that nothing else of
// the list can print.
func (w encoded) ownsOutput() bool {
	switch w[0] {
	case "show-buffer", "showb":
		return true
	case "save-buffer", "saveb":
		return w[len(w)-1] == "-"
	}
	return false
}

// looks reports whether the command is one that changes nothing.
func (w encoded) looks() bool {
	switch w[0] {
	case "list-sessions", "list-windows", "list-panes", "show-options":
		return true
	case "display-message", "capture-pane":
		return slices.Contains(w, "-p")
	}
	return false
}

// roundTrips cuts a list into parts that can be sent together: all of it, except
// for commands that share standard output or input with no other. For private see
// [transport].
func roundTrips(list []item, private bool) [][]item {
	size, words := 0, 0
	for _, it := range list {
		for _, e := range append(it.before, it.words) {
			for _, w := range e {
				size += len(w) + 1
			}
			words += len(e) + 1
		}
		words += 3
	}
	// A list over the limits is itself sent on standard input, and so is all that a
	// user may have typed when the tmux program is run: arguments can be seen by all.
	long := size > maxListBytes/2 || words > maxListWords ||
		!private && slices.ContainsFunc(list, func(it item) bool { return !it.words.bare() })
	var parts [][]item
	shared, read := false, false
	for _, it := range list {
		alone := it.words.ownsOutput() || it.stdin != nil && long
		if !shared || alone || it.stdin != nil && read {
			parts, read = append(parts, nil), false
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], it)
		shared, read = !alone, read || it.stdin != nil
	}
	return parts
}

// startsServer reports whether tmux starts a server for the command.
func (w encoded) startsServer() bool {
	return w.is("new-session", "new") || w.is("attach-session", "attach") || w.is("start-server", "start") ||
		w.is("list-commands", "lscm") || w.is("list-keys", "lsk")
}

// makesSession reports whether the command may make a session or attach to one, itself
// or by commands it is given. One that is not known here, as an alias, may.
func (w encoded) makesSession() bool {
	switch w[0] {
	case "new-session", "attach-session", "source-file", "if-shell", "run-shell", "set-hook":
		return true
	}
	return commandsByName()[w[0]] == nil
}

// bare reports whether the words of the command are no text of a user's, so that they
// may be seen in the list of processes.
func (w encoded) bare() bool {
	switch w[0] {
	case "load-buffer", "delete-buffer":
		return true
	case "paste-buffer":
		return !slices.Contains(w, "-s")
	case "source-file":
		return w[len(w)-1] == "-"
	}
	return false
}
