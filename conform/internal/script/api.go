package script

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/tmux"
)

// verb is a call of package tmux that scripts can make. What it returns is
// printed as JSON.
type verb struct {
	usage string
	args  int // how many at least
	call  func(ctx context.Context, srv *tmux.Server, args []string) (any, error)
}

// verbs name objects by their ids; an object that is wanted as a whole is
// printed with its tokens' names.
var verbs = map[string]verb{
	"info": {"", 0, func(ctx context.Context, srv *tmux.Server, _ []string) (any, error) { return srv.Info(ctx) }},
	"show": {"ID", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		switch a[0][0] {
		case '%':
			return srv.Pane(tmux.PaneID(a[0])).Info(ctx)
		case '@':
			return srv.Window(tmux.WindowID(a[0])).Info(ctx)
		case '$':
			return srv.Session(tmux.SessionID(a[0])).Info(ctx)
		}
		return srv.Client(a[0]).Info(ctx)
	}},
	"list": {"panes|windows|sessions|clients|buffers [FILTER]", 1, func(
		ctx context.Context, srv *tmux.Server, a []string,
	) (any, error) {
		filter := tmux.Format(strings.Join(a[1:], " "))
		switch a[0] {
		case "panes":
			return tmux.List[tmux.Pane](ctx, srv, tmux.ListPanes{All: true, Filter: filter})
		case "windows":
			return tmux.List[tmux.Window](ctx, srv, tmux.ListWindows{All: true, Filter: filter})
		case "sessions":
			return tmux.List[tmux.Session](ctx, srv, tmux.ListSessions{Filter: filter})
		case "buffers":
			return srv.Buffers(ctx, filter)
		case "clients":
			if filter != "" {
				return tmux.List[tmux.Client](ctx, srv, tmux.ListClients{Filter: filter})
			}
			return srv.Clients(ctx)
		}
		return nil, fmt.Errorf("no list of %s", a[0])
	}},
	"display": {"[ID] FORMAT", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		if len(a) == 1 {
			return value(srv.Display(ctx, tmux.Format(a[0])))
		}
		return value(objectOf(srv, a[0]).Display(ctx, tmux.Format(a[1])))
	}},
	// search finds the panes whose screen shows a pattern.
	"search": {"PATTERN [glob|regexp] [ignore-case]", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		how := tmux.Match{
			Glob: slices.Contains(a[1:], "glob"), Regexp: slices.Contains(a[1:], "regexp"),
			IgnoreCase: slices.Contains(a[1:], "ignore-case"),
		}
		type row struct {
			ID tmux.PaneID `tmux:"pane_id"`
		}
		rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true, Filter: tmux.MatchContent(a[0], how)})
		ids := []tmux.PaneID{}
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		return ids, err
	}},
	"reset": {"PANE", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		return done(srv.Pane(tmux.PaneID(a[0])).Reset(ctx))
	}},
	// send-keys has its flags in the order of its usage, and may have no keys.
	"send-keys": {"PANE [-R] [-N COUNT] [-l] [KEY…]", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		cmd := tmux.SendKeys{Target: tmux.PaneID(a[0])}
		a = a[1:]
		if len(a) > 0 && a[0] == "-R" {
			cmd.Reset, a = true, a[1:]
		}
		if len(a) > 1 && a[0] == "-N" {
			cmd.Repeat, _ = strconv.Atoi(a[1])
			a = a[2:]
		}
		if len(a) > 0 && a[0] == "-l" {
			cmd.Literal, a = true, a[1:]
		}
		cmd.Keys = a
		_, err := srv.Do(ctx, cmd)
		return done(err)
	}},
	"capture": {"PANE", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		out, err := srv.Pane(tmux.PaneID(a[0])).Capture(ctx, tmux.CapturePane{})
		return value(string(out), err)
	}},
	"pending": {"PANE", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		out, err := srv.Pane(tmux.PaneID(a[0])).Pending(ctx)
		return value(string(out), err)
	}},
	"run-shell": {"[-c DIR] [-E] COMMAND", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		var opts tmux.ShellOptions
		if len(a) > 2 && a[0] == "-c" {
			opts.Dir, a = a[1], a[2:]
		}
		if len(a) > 1 && a[0] == "-E" {
			opts.Stderr, a = true, a[1:]
		}
		r, err := srv.RunShell(ctx, strings.Join(a, " "), opts)
		return map[string]any{"output": string(r.Output), "exit_code": r.ExitCode}, err
	}},
	"new-session": {"NAME", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		return srv.NewSession(ctx, tmux.NewSession{Name: a[0], Detached: true})
	}},
	"last-window": {"SESSION", 1, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		return srv.Session(tmux.SessionID(a[0])).LastWindow(ctx)
	}},
	// command runs an object's own command with arguments in tmux's own words.
	"command": {"ID NAME [ARG…]", 2, func(ctx context.Context, srv *tmux.Server, a []string) (any, error) {
		out, err := objectOf(srv, a[0]).Command(ctx, a[1], a[2:]...)
		return value(string(out), err)
	}},
}

// object is what scripts name by an id.
type object interface {
	Display(ctx context.Context, format tmux.Format) (string, error)
	Command(ctx context.Context, name string, args ...string) ([]byte, error)
}

func objectOf(srv *tmux.Server, id string) object {
	switch id[0] {
	case '%':
		return srv.Pane(tmux.PaneID(id))
	case '@':
		return srv.Window(tmux.WindowID(id))
	case '$':
		return srv.Session(tmux.SessionID(id))
	}
	return srv.Client(id)
}

// value returns the JSON value of a call that returns a text.
func value(text string, err error) (any, error) { return map[string]string{"value": text}, err }

// done returns the JSON value of a call that returns nothing.
func done(err error) (any, error) { return map[string]bool{"done": true}, err }

// api runs a verb on the script's server.
func (c *caller) api(ctx context.Context, _ string, args []string) outcome {
	v, ok := verb{}, false
	if len(args) > 0 {
		v, ok = verbs[args[0]]
	}
	if !ok || len(args)-1 < v.args || slices.Contains(args[1:1+v.args], "") {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(verbs)) {
			all = append(all, "["+name+" "+verbs[name].usage+"]")
		}
		return outcome{err: misused(fmt.Sprintf("api: want one of these verbs with its arguments: %s, not %q", strings.Join(all, " "), args))}
	}
	if c.apiServer == nil {
		srv, err := tmux.New(tmux.Config{
			Binary: c.req.Target.Path, SocketPath: c.socket, ConfigFile: "/dev/null", Env: c.env, Transport: c.req.Transport,
		})
		if err != nil {
			return outcome{err: err}
		}
		c.apiServer = srv
	}
	value, err := v.call(ctx, c.apiServer, args[1:])
	if ctx.Err() != nil {
		return outcome{err: fmt.Errorf("no answer within the script's %v", c.req.Timeout)}
	}
	o := outcome{}
	if err != nil {
		o.code, o.stderr, value = 1, err.Error()+"\n", errorValue(err)
	}
	o.stdout, o.err = indented(value)
	return o
}

// errorKinds are the names that scripts have for the kinds of errors.
var errorKinds = map[string]error{
	"no server":      tmux.ErrNoServer,
	"server gone":    tmux.ErrServerGone,
	"not found":      tmux.ErrNotFound,
	"exists":         tmux.ErrExists,
	"ambiguous":      tmux.ErrAmbiguous,
	"no space":       tmux.ErrNoSpace,
	"not in a mode":  tmux.ErrNotInMode,
	"unknown option": tmux.ErrUnknownOption,
	"usage":          tmux.ErrUsage,
	"unsupported":    tmux.ErrUnsupported,
	"argument":       tmux.ErrArgument,
	"no client":      tmux.ErrNoClient,
}

// errorValue returns what scripts see of an error.
func errorValue(err error) any {
	v := map[string]any{"message": err.Error()}
	for kind, target := range errorKinds {
		if errors.Is(err, target) {
			v["kind"] = kind
		}
	}
	var e *tmux.Error
	if errors.As(err, &e) {
		v["command"], v["args"], v["exit_code"], v["stderr"] = e.Command, e.Args, e.ExitCode, e.Stderr
	}
	return map[string]any{"error": v}
}
