package tmux

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/guarded"
	"tmuxmcp/internal/lazy"
	"tmuxmcp/tmux/internal/wire"
)

// item is a command of a list, with what it reads from standard input, nil for nothing. The
// commands in before run first, as part of it. A command with a file is alone in its list.
type item struct {
	words  encoded
	does   effects // of words
	before []encoded
	stdin  []byte
	file   *namedFile
	// turn and proof are set in the first item of a list, for the whole list. For proof see
	// [wire.Request].
	turn  *wire.RunTurn
	proof string
}

func newItem(words encoded, before ...encoded) item {
	return item{words: words, does: words.effects(), before: before}
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
// For private see [wire.Transports].
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
		if all &= it.does; it.before != nil || it.stdin != nil {
			all &^= readsOnly
		}
	}
	// A list over the limits is itself sent on standard input. So is everything that a user
	// may have typed if the tmux program is run, since everybody can see its arguments.
	long := size > maxListBytes/2 || words > maxListWords || !private && all&hasNoUserText == 0
	var parts [][]item
	shared, read := false, false
	for _, it := range list {
		alone := it.does&ownsOutput != 0 || it.file != nil || it.stdin != nil && long
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

// roundTrip runs one list that can be sent together. It returns the outputs of its
// commands, or of those up to the one that failed. For printed see Printed of [wire.Request].
func (s *Server) roundTrip(ctx context.Context, items []item, printed func()) ([][]byte, error) {
	t := newTrip(items, s.newDelimiter())
	req, err := t.request()
	if err != nil {
		return nil, err
	}
	req.Printed = printed
	start := time.Now()
	rep, err := s.transport.Run(ctx, req)
	s.log(ctx, items, req, start, rep, err)
	r := t.judge(rep, err)
	for _, text := range r.notices {
		notice(ctx, text)
	}
	if r.unexplained {
		switch answers, err := s.answers(ctx); {
		case err != nil:
			r.err.Err = err
		case !answers:
			r.err.Err = ErrServerGone
		case r.err.Err == nil:
			return r.outputs, nil
		}
	}
	if r.err == nil {
		return r.outputs, nil
	}
	e := r.err
	e.Socket = s.at.Path
	e.Pending = err != nil && ctx.Err() != nil && slices.ContainsFunc(items, func(it item) bool { return !it.words.reads() })
	if errors.Is(e.Err, ErrNoServer) || errors.Is(e.Err, ErrServerGone) {
		s.forgetVersion()
		if mismatch := versionMismatch(ctx, s, e); mismatch != nil {
			e.Err = mismatch
		}
	}
	return r.outputs, e
}

// log records a list, but not its words, which may be what a user types.
func (s *Server) log(ctx context.Context, items []item, req wire.Request, start time.Time, rep wire.Reply, err error) {
	l := s.cfg.Logger
	if l == nil || !l.Enabled(ctx, slog.LevelDebug) {
		return
	}
	var names []string
	size := len(req.Stdin)
	for _, it := range items {
		names = append(names, it.words[0])
	}
	for _, w := range req.Words {
		size += len(w)
	}
	l.DebugContext(ctx, "tmux", "commands", names, "bytes", size, "code", rep.Code, "duration", time.Since(start), "error", err)
}

// answers reports whether a server listens and runs commands.
func (s *Server) answers(ctx context.Context) (bool, error) {
	req, err := newRequest([]encoded{{"display-message", "-p", s.marker}}, nil)
	if err != nil {
		return false, err
	}
	rep, err := s.transport.Run(ctx, req)
	return strings.HasPrefix(string(rep.Stdout), s.marker+"\n"), err
}

// A trip is a list of commands that is sent together, with delimiters between them.
type trip struct {
	items     []item
	delimiter delimiter
	// closed is set if a delimiter follows the last command too. It proves that all commands
	// have succeeded, whatever hooks of the user print, and however these fail.
	closed bool
}

// newTrip closes the list unless its last command needs standard output to itself, or a command
// runs others: such a list continues after some of their failures.
func newTrip(items []item, d delimiter) trip {
	last := items[len(items)-1]
	goes := slices.ContainsFunc(items, func(it item) bool { return it.does&goesOn != 0 })
	return trip{items: items, delimiter: d, closed: !goes && last.does&ownsOutput == 0 && last.file == nil}
}

func (t trip) request() (wire.Request, error) {
	list := make([]encoded, 0, 2*len(t.items))
	var stdin []byte
	text, typed := false, false
	for i, it := range t.items {
		if i > 0 {
			list = append(list, t.delimiter.after(i))
		}
		list = append(append(list, it.before...), it.words)
		if it.stdin != nil {
			stdin = it.stdin
		}
		text = text || it.does&runsCommands != 0
		typed = typed || it.does&hasNoUserText == 0
	}
	if t.closed {
		list = append(list, t.delimiter.after(len(t.items)))
	}
	req, err := newRequest(list, stdin)
	if err != nil {
		return wire.Request{}, err
	}
	req.Turn, req.Proof = t.items[0].turn, t.items[0].proof
	if file := t.items[0].file; file != nil {
		req.File = file
	}
	req.Text, req.Mixed = text, stdin != nil && len(t.items) > 1 && typed
	return req, nil
}

// result is what the reply to a trip means.
type result struct {
	outputs [][]byte // of the commands, or of those up to the one that failed
	notices []string // what tmux printed that is not output
	err     *Error   // nil if all have succeeded
	// unexplained is set if tmux ended the list early, or may have, and reports no error. A
	// server that is asked to exit sends its clients nothing. If it is still running, err.Err
	// says what happened; nil is that all have succeeded.
	unexplained bool
}

// Why a list ended early although tmux reports no error.
var (
	errOpen = errors.New("tmux's output did not end in time")
	// errStopped: a command has ended the list, as "show-options -q" of 3.2 does for an unknown
	// option.
	errStopped = errors.New("tmux stopped running the commands here")
)

// judge returns what a reply means, where err is an error of the transport.
func (t trip) judge(rep wire.Reply, err error) (r result) {
	n := len(t.items)
	parts := n
	if t.closed {
		parts++
	}
	r.outputs = t.delimiter.split(rep.Stdout, parts)
	proven := t.closed && len(r.outputs) == parts
	if proven {
		r.notices = append(r.notices, string(r.outputs[n]))
		r.outputs = r.outputs[:n]
	}
	for i, out := range r.outputs {
		if t.items[i].does&silent != 0 {
			r.notices = append(r.notices, string(out))
			r.outputs[i] = []byte{}
		}
	}
	if err == nil && proven {
		r.notices = append(r.notices, string(rep.Stderr))
		return r
	}
	// Without the delimiter, as when the server exits, the status counts. A hook may have set it.
	ran := len(r.outputs)
	last := t.items[ran-1]
	r.err = &Error{Command: last.words[0], Args: last.words[1:], ExitCode: rep.Code, Stderr: string(rep.Stderr), Err: err}
	cut := ran < n || t.closed && last.does&readsOnly != 0 || rep.Open && (len(r.outputs[ran-1]) > 0 || last.file != nil)
	switch {
	case err != nil:
	case rep.Code != 0 || t.closed && len(rep.Stderr) > 0:
		t.explain(r.err)
	case !cut:
		r.err = nil
	case rep.Open:
		r.unexplained, r.err.Err = true, errOpen
	case ran < n:
		r.unexplained, r.err.Err = true, errStopped
	default:
		r.unexplained = true
	}
	return r
}

// explain sets the kind of failure that tmux's message means, the object that it names and, if
// the parser refused the whole list before anything ran, the command.
func (t trip) explain(e *Error) {
	e.Stderr = strings.TrimPrefix(e.Stderr, "-:1: ")
	own := e.Stderr
	if refused := parseError().FindStringSubmatch(own); refused != nil {
		if i := slices.IndexFunc(t.items, func(it item) bool { return it.words[0] == refused[1] }); i >= 0 {
			e.Command, e.Args = refused[1], t.items[i].words[1:]
		}
	} else if t.closed {
		// What hooks of the commands before have complained about comes first.
		own = own[strings.LastIndexByte(own, '\n')+1:]
	}
	e.Err = wire.KindOf(own)
	if e.Err != ErrUnmet && e.Err != guarded.Err {
		e.Object = objectIn(own)
	}
}

// parseError matches the command in what tmux prints before it runs anything.
var parseError = lazy.Regexp(`(?m)^(?:command |usage: |unknown command: |ambiguous command: )([a-z-]+)`)
