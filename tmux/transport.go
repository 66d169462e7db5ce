package tmux

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// request is one command list.
type request struct {
	list []encoded
	// words are the same commands, escaped and separated by ";", or a command that sources
	// them from standard input.
	words []string
	// file, if set, gets what the list prints on standard output.
	file *namedFile
	// stdin is what a command of the list may read from "-".
	stdin []byte
	// turn, if set, is what the list has from when it is sent until printed is called.
	turn *runTurn
	// mixed is set if something that a user may have typed is in one list with a command
	// that reads stdin. Such lists are made only for a private transport.
	mixed bool
	// text is set if any item's text is.
	text bool
	// needs is how much of the environment the list needs.
	needs environ
	// startsServer is set if a command of the list starts a server if none is running.
	startsServer bool
	// printed, if set, is called once the server has printed something, and so has begun to
	// run the list. It may be called again.
	printed func()
}

// environ is a part of the client's environment. The server is sent only the part that a
// list needs: it keeps the variables until the client disconnects, and spends a fifth of
// its time on them.
type environ int

const (
	needsNone environ = iota
	// needsPath: a new pane, even one created by a hook, takes its PATH from the client.
	needsPath
	// needsAll: a new session takes the variables that match the patterns in
	// update-environment.
	needsAll
)

// runTurn is a turn to have a server run a list.
type runTurn struct {
	sync.Locker
	begun bool
	over  sync.Once
}

func (t *runTurn) begin() {
	if t != nil {
		t.Lock()
		t.begun = true
	}
}

func (t *runTurn) end() {
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
	file *namedFile
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

// bytes returns all output.
func (p *printed) bytes() []byte {
	if len(p.parts) == 1 {
		return p.parts[0]
	}
	return bytes.Join(p.parts, nil)
}

// reply is the result of a command list.
type reply struct {
	stdout, stderr []byte
	// code is the exit status of the client, or -1 if it was killed.
	code int
	// open is set if there may be more on stdout that was not waited for.
	open bool
}

// noServer reports whether nothing listens on the socket.
func (r reply) noServer() bool { return r.code == 1 && kindOf(string(r.stderr)) == ErrNoServer }

// Limits of one command list in an argument vector. tmux packs the words into one message
// of 16 KB, and from 3.7 on takes no more than 1000 of them.
const (
	maxListBytes = 16000
	maxListWords = 900
)

// newRequest joins commands into one list. A list over tmux's limits goes through
// source-file on standard input instead, as one line, so that it stops at a failing command
// exactly as an argument vector does.
func newRequest(cmds []encoded, stdin []byte) (request, error) {
	words, size := make([]string, 0, 8*len(cmds)), 0
	var does effects
	for i, c := range cmds {
		if i > 0 {
			words = endCommand(words)
		}
		for _, w := range c {
			words = append(words, word(w))
		}
		does |= c.effects()
	}
	for _, w := range words {
		size += len(w) + 1
	}
	req := request{list: cmds, words: words, stdin: stdin, needs: needsPath, startsServer: does&startsServer != 0}
	if does&touchesSessions != 0 {
		req.needs = needsAll
	}
	if size <= maxListBytes && len(words) <= maxListWords {
		return req, nil
	}
	if stdin != nil {
		return request{}, argumentError("%d bytes of arguments together with standard input; tmux accepts %d", size, maxListBytes)
	}
	return req.onStdin(), nil
}

// endCommand ends a command with a ";", appended to its last word if that means nothing
// else, since tmux 3.3 and later never free a word that is only a ";".
func endCommand(words []string) []string {
	last := len(words) - 1
	if w := words[last]; w == "" || strings.HasSuffix(w, `\`) || strings.HasSuffix(w, ";") {
		return append(words, ";")
	}
	words[last] += ";"
	return words
}

// onStdin returns the request with its list on standard input.
func (r request) onStdin() request {
	r.words = []string{"source-file", "-"}
	if r.startsServer {
		r.words = append([]string{"start-server", ";"}, r.words...)
	}
	r.stdin = []byte(configLine(r.list) + "\n")
	return r
}

// item is a command of a list and what it reads from standard input, nil for nothing. The
// commands in before run first, as part of it. A command with a file is alone in its list.
type item struct {
	words  encoded
	before []encoded
	stdin  []byte
	file   *namedFile
	// turn is set in the first item of a list, for the whole list.
	turn *runTurn
	// text is set if it runs commands, or names a file, given only as text.
	text bool
}

// partSize returns how many read-only commands are sent in one list. tmux's work on a list
// grows with the square of its length, and for some hundred exceeds the work on the
// commands themselves. Running the tmux program takes time too.
func partSize(private bool) int {
	if private {
		return 64
	}
	return 128
}

// roundTrips splits a list into parts that can be sent together. It is one part, except for
// commands that cannot share standard output or input, and for a long list that only reads.
// For private see [transports].
func roundTrips(list []item, private bool) [][]item {
	size, words, all := 0, 0, readsOnly|hasNoUserText
	for _, it := range list {
		for _, e := range append(it.before, it.words) {
			for _, w := range e {
				size += len(w) + 1
			}
			words += len(e) + 1
		}
		words += 3
		if all &= it.words.effects(); it.before != nil || it.stdin != nil {
			all &^= readsOnly
		}
	}
	// A list over the limits is itself sent on standard input. So is everything that a user
	// may have typed if the tmux program is run, since everybody can see its arguments.
	long := size > maxListBytes/2 || words > maxListWords || !private && all&hasNoUserText == 0
	var parts [][]item
	shared, read := false, false
	for _, it := range list {
		alone := it.words.effects()&ownsOutput != 0 || it.file != nil || it.stdin != nil && long
		last := len(parts) - 1
		if !shared || alone || it.stdin != nil && read || all&readsOnly != 0 && len(parts[last]) == partSize(private) {
			parts, read = append(parts, nil), false
			last++
		}
		parts[last] = append(parts[last], it)
		shared, read = !alone, read || it.stdin != nil
	}
	return parts
}

// effects is what a command does, as far as it affects how the command is sent.
type effects int

const (
	startsServer    effects = 1 << iota // starts a server if none is running
	touchesSessions                     // may create or attach to a session, itself or through other commands
	readsOnly                           // changes nothing
	ownsOutput                          // needs standard output to itself: the tmux program closes it afterwards
	hasNoUserText                       // has no text of the user's in its words, which the list of processes may show
	runsCommands                        // names a file, or runs commands that are given as text, by a file or by an alias
	goesOn                              // runs a program or other commands, after whose failure the list goes on
	silent                              // prints nothing
)

// effects returns what the command does. An unknown one may be an alias for anything.
func (w encoded) effects() effects {
	last := w[len(w)-1]
	switch w[0] {
	case "new-session", "attach-session":
		return startsServer | touchesSessions
	case "start-server", "list-commands", "list-keys":
		return startsServer
	case "list-sessions", "list-windows", "list-panes", "show-options":
		return readsOnly
	case "display-message", "capture-pane":
		if slices.Contains(w, "-p") {
			return readsOnly
		}
	case "show-buffer":
		return ownsOutput
	case "save-buffer":
		if last == "-" {
			return ownsOutput
		}
		return runsCommands
	case "load-buffer":
		if last != "-" {
			return hasNoUserText | runsCommands | silent
		}
		return hasNoUserText | silent
	case "delete-buffer":
		return hasNoUserText | silent
	case "paste-buffer":
		if !slices.Contains(w, "-s") {
			return hasNoUserText | silent
		}
	case "source-file":
		if last == "-" {
			return hasNoUserText | touchesSessions | runsCommands | goesOn
		}
		return touchesSessions | runsCommands | goesOn
	case "if-shell":
		return touchesSessions | runsCommands | goesOn
	case "set-hook":
		return touchesSessions | runsCommands | silent
	case "confirm-before", "command-prompt", "display-menu":
		return touchesSessions | runsCommands | goesOn
	case "display-popup":
		return goesOn
	case "run-shell":
		if w.mayHave("C") {
			return touchesSessions | runsCommands | goesOn
		}
		return touchesSessions | goesOn
	}
	if commandsByName()[w[0]] != nil {
		verb, _, _ := strings.Cut(w[0], "-")
		if (verb == "new" || verb == "split") && w.mayHave("W") { // waits for the pane's program
			return goesOn
		}
		if w[0] == "select-pane" || slices.Contains([]string{"list", "show", "display", "capture", "server", "wait"}, verb) || w.mayHave("P") {
			return 0
		}
		return silent
	}
	does := touchesSessions | runsCommands | goesOn
	for name, alias := range map[string]string{
		"new-session": "new", "attach-session": "attach", "start-server": "start", "list-commands": "lscm", "list-keys": "lsk",
		"show-buffer": "showb", "save-buffer": "saveb",
	} {
		if w[0] == alias || strings.HasPrefix(name, w[0]) {
			does |= encoded{name, last}.effects() & (startsServer | ownsOutput)
		}
	}
	return does
}

// reads reports whether the command is known to change nothing.
func (w encoded) reads() bool {
	return w.effects()&readsOnly != 0 || slices.Contains([]string{"show-buffer", "show-environment", "show-hooks", "list-buffers", "list-clients", "list-keys", "list-commands"}, w[0])
}

// mayHave reports whether any word, to be safe, has a flag.
func (w encoded) mayHave(flag string) bool {
	return slices.ContainsFunc(w, func(word string) bool { return strings.HasPrefix(word, "-") && strings.Contains(word, flag) })
}
