package tmux

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// run runs commands whose output does not matter.
func (s *Server) run(ctx context.Context, cmds ...Command) error {
	_, err := s.Do(ctx, cmds...)
	return err
}

func (s *Server) output(ctx context.Context, cmd Command) ([]byte, error) {
	outs, err := s.Do(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return outs[0], nil
}

// one returns the first row that a command prints. No row is an ErrNotFound: the filters of
// this package select one object.
func one[R any](ctx context.Context, srv *Server, cmd Lister) (R, error) {
	rows, err := List[R](ctx, srv, cmd)
	return first(srv, rows, err, cmd, targetOf(cmd))
}

// after makes a change and reads the result in one round trip.
func after[R any](ctx context.Context, srv *Server, change Command, read Lister) (R, error) {
	var b Batch
	Add(&b, change)
	rows := AddRows[R](&b, read)
	err := b.Do(ctx, srv)
	return first(srv, *rows, err, read, targetOf(read))
}

func first[R any](srv *Server, rows []R, err error, cmd Command, what Object) (R, error) {
	if err == nil && len(rows) == 0 {
		err = notFound(srv, cmd.commandName(), what)
	}
	if err != nil {
		var none R
		return none, err
	}
	return rows[0], nil
}

// targetOf returns the object that a command's target refers to.
func targetOf(cmd Command) Object {
	if f := reflect.ValueOf(cmd).FieldByName("Target"); f.IsValid() {
		if r, ok := f.Interface().(interface{ object() Object }); ok {
			return r.object()
		}
	}
	return Object{}
}

// listAll lists over the whole server. If there are no sessions, tmux answers some lists
// with "no current target".
func listAll[R any](ctx context.Context, srv *Server, cmd Lister) ([]R, error) {
	rows, err := List[R](ctx, srv, cmd)
	if errors.Is(err, ErrNoSession) {
		return []R{}, nil
	}
	return rows, err
}

// usable refuses a nil or zero Server.
func (s *Server) usable() error {
	switch {
	case s == nil:
		return argumentError("a nil Server, perhaps that of a reference that is zero or was decoded from JSON; make a Server with tmux.New, and references from it, as by srv.Pane(id)")
	case s.transport == nil:
		return argumentError("a zero Server; make one with tmux.New")
	}
	return nil
}

// own returns the target that a method sets itself. If one was given too, encoding the
// command fails.
func own(target, given Target) Target {
	if given != nil {
		return givenTwice{handle{serverOf(target)}, target, given}
	}
	return target
}

type givenTwice struct {
	handle     // own's
	own, given Target
}

func (t givenTwice) TargetSpec() string { return "" }

func (t givenTwice) checkTarget() error {
	if err := checkTarget(t.given, t.srv); err != nil {
		return err
	}
	if t.own == nil {
		return argumentError("a target, %s, for what has none", t.given.TargetSpec())
	}
	return argumentError("target %s: the method sets %s itself", t.given.TargetSpec(), t.own.TargetSpec())
}

// object returns the object that a reference refers to.
func (r SessionRef) object() Object { return Object{"session", string(r.ID)} }
func (r WindowRef) object() Object  { return Object{"window", string(r.ID)} }
func (r PaneRef) object() Object    { return Object{"pane", string(r.ID)} }
func (r ClientRef) object() Object  { return Object{"client", r.Name} }

// checkTarget refuses a target that says itself that it is none, a nil pointer, such as the
// ModalPane of a window without one, and a reference of another server than srv, where its id
// means another object.
func checkTarget(t Target, srv *Server) error {
	if v := reflect.ValueOf(t); v.Kind() == reflect.Pointer && v.IsNil() {
		return argumentError("a target that is a nil %s", v.Type())
	}
	if c, ok := t.(interface{ checkTarget() error }); ok {
		if err := c.checkTarget(); err != nil {
			return err
		}
	}
	if from := serverOf(t); !from.sharesSocket(srv) {
		return argumentError("%s belongs to the tmux server on %s, but the call goes to the one on %s; pass a reference of the latter", t.TargetSpec(), from.at.Path, srv.at.Path)
	}
	return nil
}

// serverOf returns the server that a target is a reference of, or nil for an id or a name.
func serverOf(t Target) *Server {
	if r, ok := t.(interface{ Server() *Server }); ok {
		return r.Server()
	}
	return nil
}

// sharesSocket reports whether two handles are on one socket, so that a reference of either is
// one of the other. A nil one is on any.
func (s *Server) sharesSocket(other *Server) bool {
	if s == other || s == nil || other == nil || s.at.Path == other.at.Path {
		return true
	}
	one, another := s.at.Path, other.at.Path
	return sameFile(one, another) ||
		filepath.Base(one) == filepath.Base(another) && sameFile(filepath.Dir(one), filepath.Dir(another)) // no server runs yet
}

func sameFile(one, another string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(another)
	return err == nil && os.SameFile(a, b)
}

// checkTarget refuses malformed ids: tmux would take "2" or "main" for an index or a name,
// and act on another object.
func (id PaneID) checkTarget() error    { return checkID(id.Valid(), "pane", string(id)) }
func (id WindowID) checkTarget() error  { return checkID(id.Valid(), "window", string(id)) }
func (id SessionID) checkTarget() error { return checkID(id.Valid(), "session", string(id)) }

func checkID(valid bool, kind, id string) error {
	if !valid {
		return argumentError("%q is not a %s id", id, kind)
	}
	return nil
}

func (r PaneRef) checkTarget() error    { return r.ID.checkTarget() }
func (r WindowRef) checkTarget() error  { return r.ID.checkTarget() }
func (r SessionRef) checkTarget() error { return r.ID.checkTarget() }
func (r ClientRef) checkTarget() error {
	if r.Name == "" {
		return argumentError("a client without a name")
	}
	return nil
}

// Command runs a command on the session and returns its output. args are passed to tmux
// unchanged, formats included, and must not contain a target: Command sets it, and refuses
// a second one, because tmux silently obeys the last. Prefer the typed commands with
// [Server.Do].
func (r SessionRef) Command(ctx context.Context, name string, args ...string) ([]byte, error) {
	return commandOn(ctx, r.srv, r, "Target", name, args)
}

// Command runs a command on the window: see [SessionRef.Command].
func (r WindowRef) Command(ctx context.Context, name string, args ...string) ([]byte, error) {
	return commandOn(ctx, r.srv, r, "Target", name, args)
}

// Command runs a command on the pane: see [SessionRef.Command].
func (r PaneRef) Command(ctx context.Context, name string, args ...string) ([]byte, error) {
	return commandOn(ctx, r.srv, r, "Target", name, args)
}

// Command runs a command on the client: see [SessionRef.Command]. The client is passed as
// -c to commands that also have a target of another kind, and as -t to the others.
func (r ClientRef) Command(ctx context.Context, name string, args ...string) ([]byte, error) {
	return commandOn(ctx, r.srv, r, "Client", name, args)
}

func commandOn(ctx context.Context, srv *Server, target Target, field, name string, args []string) ([]byte, error) {
	if err := checkTarget(target, srv); err != nil {
		return nil, err
	}
	plan, known := commandsByName()[name]
	flag := "t"
	if known {
		f := plan.flagOf(field)
		if f == nil {
			f = plan.flagOf("Target")
		}
		if f == nil {
			return nil, argumentError("%s has no target", name)
		}
		flag = f.flag
	}
	if dup := plan.argumentWith(flag, args); dup != "" {
		return nil, argumentError("%s: %q is a second target in addition to %s", name, dup, target.TargetSpec())
	}
	return srv.output(ctx, Raw{Name: name, Args: append([]string{"-" + flag, target.TargetSpec()}, args...)})
}

// flagOf returns the flag for a field of the command's struct, or nil.
func (p *commandPlan) flagOf(field string) *commandField {
	for i := range p.flags {
		if p.flags[i].name == field {
			return &p.flags[i]
		}
	}
	return nil
}

// argumentWith returns the first argument that contains a flag, or "". It parses arguments
// as tmux does: flags may be combined, the last of them with its value, and end before the
// first argument without a flag. For a command that is not in the table, which has no plan,
// no flag is known to take a value, so it may return too much.
func (p *commandPlan) argumentWith(flag string, args []string) string {
	for i := 0; i < len(args); i++ {
		letters, isFlags := strings.CutPrefix(args[i], "-")
		isFlags = isFlags && letters != ""
		if args[i] == "--" || p != nil && !isFlags {
			return ""
		}
		if !isFlags {
			continue // perhaps the value of a flag
		}
		for j := range len(letters) {
			letter := letters[j : j+1]
			if letter == flag {
				return args[i]
			}
			if p.takesValue(letter) {
				if j == len(letters)-1 {
					i++ // the next argument is its value
				}
				break
			}
		}
	}
	return ""
}

func (p *commandPlan) takesValue(flag string) bool {
	return p != nil && slices.ContainsFunc(p.flags, func(f commandField) bool { return f.flag == flag && !f.isBool })
}
