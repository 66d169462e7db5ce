package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Batch is a list of commands sent to the server in one round trip: several queries, or a
// change and a query of the result. The functions below append to it and return a pointer
// that [Batch.Do] fills in:
//
//   - [Add] appends any command, for its output;
//   - [AddRows] appends a command that prints rows, for the decoded rows;
//   - [AddMessage] appends a format, for its expansion;
//   - [AddOption], [AddHooks] and [AddEnvironment] read what their names say;
//   - [AddFunc] appends a command that depends on the version, with a decoder of its output.
//
// The function AddLook of package tmux/follow appends a look at a pane.
//
// To change options, hooks and variables, add the commands that [Options.Setting] and the
// like return. The zero Batch is empty and ready to use. A Batch is not safe for concurrent
// use.
type Batch struct {
	steps []step
	// measured makes tmux measure names before it sends them: see [rowField.cut].
	measured bool
}

// step is a command of a batch with the decoder of its output.
type step struct {
	// prepare makes the command for a version, with a delimiter in what it prints; if nil, the
	// command is cmd.
	prepare func(srv *Server, v Version, d delimiter) (Command, error)
	cmd     Command
	// decode decodes the output, and returns what else was printed.
	decode func(srv *Server, v Version, out []byte) (other string, err error)
	// reread returns a command that prints the row of an object that cmd created once more.
	reread func(id string) Command
}

// Do runs the commands as one list, as [Server.Do] does, and decodes their output. If a
// command fails, the results of those before it are filled in, and the rest are left
// unchanged. A batch that only lists or captures is sent again, up to twice, if its rows
// cannot be decoded: tmux 3.7 and later truncate them when busy; and once if tmux prints too
// much, with names measured if they are to be cut. The row of a newly created object is read
// again by its id.
func (b *Batch) Do(ctx context.Context, srv *Server) error {
	if err := srv.usable(); err != nil {
		return err
	}
	b.measured = false
	cmds, v, err := b.prepare(ctx, srv)
	if err != nil {
		return err
	}
	for sent := 1; ; sent++ {
		legible, err := b.send(ctx, srv, v, cmds)
		tooMuch := errors.Is(err, ErrTooMuch) && srv.cfg.MostText > 0 && !b.measured
		if legible && !tooMuch || sent == 3 || slices.ContainsFunc(cmds, changes) {
			return err
		}
		if tooMuch {
			b.measured = true
			if cmds, v, err = b.prepare(ctx, srv); err != nil {
				return err
			}
		}
	}
}

func (b *Batch) prepare(ctx context.Context, srv *Server) (cmds []Command, v Version, err error) {
	cmds = make([]Command, len(b.steps))
	d := srv.newDelimiter()
	for i, st := range b.steps {
		cmds[i] = st.cmd
		if st.prepare == nil {
			continue
		}
		if v, err = srv.Version(ctx); err != nil {
			return nil, v, err
		}
		if cmds[i], err = st.prepare(srv, v, d); err != nil {
			return nil, v, err
		}
	}
	return cmds, v, nil
}

// changes reports whether a command may do more than print rows or lines.
func changes(cmd Command) bool {
	name := cmd.commandName()
	return !(name == "capture-pane" || name == "display-message" || strings.HasPrefix(name, "list-"))
}

// send makes one attempt of Do and reports whether the output could be decoded.
func (b *Batch) send(ctx context.Context, srv *Server, v Version, cmds []Command) (legible bool, err error) {
	outs, doErr := srv.Do(ctx, cmds...)
	if doErr != nil && len(outs) > 0 {
		outs = outs[:len(outs)-1]
	}
	for i, out := range outs {
		other, err := b.steps[i].decode(srv, v, out)
		notice(ctx, other)
		var cut *cutRowError
		if errors.As(err, &cut) && cut.id != "" && changes(cmds[i]) {
			err = b.steps[i].readMade(ctx, srv, v, cut.id, err)
		}
		if err != nil {
			return false, err
		}
	}
	return true, doErr
}

// readMade reads the row of a newly created object again, at most twice, after decoding it
// failed with err.
func (st step) readMade(ctx context.Context, srv *Server, v Version, id string, err error) error {
	for n := 0; n < 2 && err != nil; n++ {
		outs, doErr := srv.Do(ctx, st.reread(id))
		if doErr != nil || !bytes.Contains(outs[0], []byte(id)) { // it is gone
			break
		}
		_, err = st.decode(srv, v, outs[0])
	}
	return err
}

// AddFunc appends a command that prepare makes for the server's version. [Batch.Do] calls decode
// with the command's output, and returns its error.
func AddFunc(b *Batch, prepare func(v Version) (Command, error), decode func(v Version, out []byte) error) {
	b.steps = append(b.steps, step{
		prepare: func(_ *Server, v Version, _ delimiter) (Command, error) { return prepare(v) },
		decode:  func(_ *Server, v Version, out []byte) (string, error) { return "", decode(v, out) },
	})
}

// Add appends a command. After [Batch.Do], the result points to the command's output.
func Add(b *Batch, cmd Command) *[]byte {
	printed := new([]byte)
	b.steps = append(b.steps, step{
		cmd:    cmd,
		decode: func(_ *Server, _ Version, out []byte) (string, error) { *printed = out; return "", nil },
	})
	return printed
}

// AddRows appends a command that prints rows of type R: see [List]. After [Batch.Do], the
// slice is empty, not nil, if there are no rows. If only is given, tmux is asked for these
// tokens alone, which is faster, and the other fields are left zero.
func AddRows[R any](b *Batch, cmd Lister, only ...string) *[]R {
	rows := new([]R)
	var tokens []rowField
	var begins string
	var format Format
	b.steps = append(b.steps, step{
		prepare: func(srv *Server, v Version, d delimiter) (Command, error) {
			begins = d.begin()
			plan, err := rowPlanOf(reflect.TypeFor[R]())
			if err != nil {
				return nil, err
			}
			for _, token := range only {
				if !slices.ContainsFunc(plan, func(f rowField) bool { return f.token == token }) {
					return nil, argumentError("%v has no field for %s", reflect.TypeFor[R](), token)
				}
			}
			tokens = plan.known(v)
			if len(only) > 0 {
				tokens = slices.DeleteFunc(tokens, func(f rowField) bool { return !slices.Contains(only, f.token) })
			}
			format = formatOf(tokens, v, begins, srv.cfg.MostText, b.measured)
			full, scopes := cmd.rows(format)
			for _, t := range tokens {
				if t.scope != "" && !slices.Contains(scopes, t.scope) {
					return nil, argumentError("%s rows have no %s", cmd.commandName(), t.token)
				}
			}
			return full, nil
		},
		decode: func(srv *Server, v Version, out []byte) (other string, err error) {
			*rows, other, err = decodeRows[R](srv, v, tokens, begins, string(out))
			// An empty line may be what is left of a truncated row.
			if err == nil && strings.Contains("\n"+other, "\n\n") && (len(*rows) == 0 || !changes(cmd)) {
				err = errCutRow
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", cmd.commandName(), err)
			}
			return other, err
		},
		reread: func(id string) Command {
			again, _ := DisplayMessage{Target: TargetSpec(id)}.rows(format)
			return again
		},
	})
	return rows
}

// AddMessage appends a display-message command. After [Batch.Do], the result points to the
// expanded message, byte for byte.
func AddMessage(b *Batch, cmd DisplayMessage) *string {
	text := new(string)
	var d delimiter
	delimited := !cmd.JSON && !cmd.All && !cmd.Verbose
	prepare := func(_ *Server, v Version, list delimiter) (Command, error) {
		d = list
		sent := cmd
		sent.Print = true
		if v.printsVis() {
			sent.Message = visSafe(cmd.Message)
		}
		if delimited {
			sent.Message = d.around(sent.Message)
		}
		return sent, nil
	}
	decode := func(_ *Server, v Version, out []byte) (other string, err error) {
		*text = strings.TrimSuffix(string(out), "\n")
		if delimited {
			*text, other = d.inside(string(out))
		}
		if v.printsVis() {
			*text = unescape(*text, v.isExactly34())
		}
		return other, nil
	}
	b.steps = append(b.steps, step{prepare: prepare, decode: decode})
	return text
}
