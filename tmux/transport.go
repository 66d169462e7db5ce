package tmux

import (
	"context"
	"slices"
	"strings"
)

// A transport carries one command list to the server and brings back what the
// tmux client program would have printed. Both transports take the same words
// and give the same bytes; the tests run over each of them.
type transport interface {
	run(ctx context.Context, req request) (reply, error)
}

// request is one command list.
type request struct {
	// words are the commands, escaped and separated by ";" words.
	words []string
	// stdin is what a command of the list may read from "-".
	stdin []byte
	// looks is set when no command of the list changes anything.
	looks bool
	// starts is set when a command of the list starts a server where none runs.
	starts bool
	// printed, when set, is called once the server has printed something, and so
	// has begun to run the list. It may be called again.
	printed func()
}

// reply is what came of a command list.
type reply struct {
	stdout, stderr []byte
	// code is the exit status of the client, -1 when it was killed.
	code int
	// open is that there may be more of stdout, which was not waited for.
	open bool
}

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
	starts := slices.ContainsFunc(cmds, encoded.startsServer)
	if size <= maxListBytes && len(words) <= maxListWords {
		looks := !slices.ContainsFunc(cmds, func(c encoded) bool { return !c.looks() })
		return request{words: words, stdin: stdin, starts: starts, looks: looks}, nil
	}
	if stdin != nil {
		return request{}, argumentError("%d bytes of arguments beside standard input; tmux takes %d", size, maxListBytes)
	}
	via := []string{"source-file", "-"}
	if starts {
		via = append([]string{"start-server", ";"}, via...)
	}
	return request{words: via, stdin: []byte(configLine(cmds) + "\n"), starts: starts}, nil
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

// roundTrips cuts a list into parts that can be sent together: all of it, but
// for commands that share standard output or input with no other.
func roundTrips(list []item) [][]item {
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
	// A list over the limits is itself sent on standard input.
	long := size > maxListBytes/2 || words > maxListWords
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
	return w[0] == "new-session" || w[0] == "attach-session" || w[0] == "start-server"
}
