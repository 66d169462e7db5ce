package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/version"
	"tmuxmcp/tmux"
)

// Library is the adapter of package tmux: a [Handler].
type Library struct {
	// Transport is how package tmux reaches the server.
	Transport tmux.Transport

	srv  *tmux.Server
	kept map[string]object
}

// PackageTmux returns what the adapter of package tmux says of itself.
func PackageTmux() *report.Described {
	return &report.Described{Protocol: Protocol, Name: "package tmux", Version: version.String(), Language: "go"}
}

// object is what an id names: the same one for as long as the adapter runs.
type object struct {
	display func(ctx context.Context, format tmux.Format) (string, error)
	command func(ctx context.Context, name string, args ...string) ([]byte, error)
	info    func(ctx context.Context) (any, error)
}

// params are the parameters of all methods.
type params struct {
	Protocol                int
	Tmux, Socket, Version   string
	Target                  *string
	Format, Filter          tmux.Format
	Kind, Within            string
	Pattern, Syntax         string
	IgnoreCase              bool `json:"ignore_case"`
	Pane                    tmux.PaneID
	Keys, Args              []string
	Literal, Reset, Pending bool
	Repeat                  int
	Command, Dir            string
	Stderr                  bool
	Background, Commands    bool
	Delay                   string
	Name, Window            string
	Session                 tmux.SessionID
}

// Handle answers a request of the protocol.
func (l *Library) Handle(ctx context.Context, method string, raw json.RawMessage) (any, *Error) {
	v, call := verbOf(method), libraryCalls[method]
	if v == nil {
		return nil, &Error{Code: codeNoMethod, Message: "no method " + method}
	}
	var p params
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, &Error{Code: codeNoParam, Message: err.Error()}
	}
	switch {
	case method == "describe":
		return PackageTmux(), nil
	case method != "open" && l.srv == nil:
		return nil, &Error{Code: codeInternal, Message: method + " before open"}
	case method == "open":
		call = l.open
	}
	result, err := call(ctx, l, p)
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case err != nil:
		return nil, libraryError(err)
	}
	return result, nil
}

func (l *Library) open(_ context.Context, _ *Library, p params) (none result, err error) {
	l.kept = map[string]object{}
	l.srv, err = tmux.New(tmux.Config{
		Binary: p.Tmux, SocketPath: p.Socket, ConfigFile: "/dev/null", Transport: l.Transport,
	})
	return none, err
}

// object returns what an id names: an object of tmux, or the client of that name.
func (l *Library) object(id string) object {
	o, ok := l.kept[id]
	if ok {
		return o
	}
	switch {
	case id == "server":
		raw := func(ctx context.Context, name string, args ...string) ([]byte, error) {
			out, err := l.srv.Do(ctx, tmux.Raw{Name: name, Args: args})
			return bytes.Join(out, nil), err
		}
		o = object{l.srv.Display, raw, infoOf(l.srv.Info)}
	case id != "" && id[0] == '%':
		r := l.srv.Pane(tmux.PaneID(id))
		o = object{r.Display, r.Command, infoOf(r.Info)}
	case id != "" && id[0] == '@':
		r := l.srv.Window(tmux.WindowID(id))
		o = object{r.Display, r.Command, infoOf(r.Info)}
	case id != "" && id[0] == '$':
		r := l.srv.Session(tmux.SessionID(id))
		o = object{r.Display, r.Command, infoOf(r.Info)}
	default:
		r := l.srv.Client(id)
		o = object{r.Display, r.Command, infoOf(r.Info)}
	}
	l.kept[id] = o
	return o
}

func infoOf[R any](info func(context.Context) (R, error)) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) { return info(ctx) }
}

// libraryCalls are the methods, without describe and open.
var libraryCalls = map[string]func(ctx context.Context, l *Library, p params) (result, error){
	"display": func(ctx context.Context, l *Library, p params) (result, error) {
		return textResult(l.object(orServer(p.Target)).display(ctx, p.Format))
	},
	"get": func(ctx context.Context, l *Library, p params) (result, error) {
		return rowResult(l.object(orServer(p.Target)).info(ctx))
	},
	"list": func(ctx context.Context, l *Library, p params) (result, error) {
		return l.list(ctx, p)
	},
	"search": func(ctx context.Context, l *Library, p params) (result, error) {
		how := tmux.MatchOptions{Glob: p.Syntax == "glob", Regexp: p.Syntax == "regexp", IgnoreCase: p.IgnoreCase}
		type found struct {
			ID tmux.PaneID `tmux:"pane_id" json:"pane_id"`
		}
		return rowsResult(tmux.List[found](ctx, l.srv, tmux.ListPanes{All: true, Filter: tmux.MatchContent(p.Pattern, how)}))
	},
	"send_keys": func(ctx context.Context, l *Library, p params) (result, error) {
		_, err := l.srv.Do(ctx, tmux.SendKeys{Target: p.Pane, Keys: p.Keys, Literal: p.Literal, Reset: p.Reset, Repeat: p.Repeat})
		return result{}, err
	},
	"reset": func(ctx context.Context, l *Library, p params) (result, error) {
		return result{}, l.srv.Pane(p.Pane).Reset(ctx)
	},
	"capture": func(ctx context.Context, l *Library, p params) (result, error) {
		if p.Pending {
			out, err := l.srv.Pane(p.Pane).Pending(ctx)
			return textResult(string(out), err)
		}
		out, err := l.srv.Pane(p.Pane).Capture(ctx, tmux.CapturePane{})
		return textResult(string(out), err)
	},
	"run_shell": func(ctx context.Context, l *Library, p params) (result, error) {
		if p.Background || p.Commands || p.Delay != "" || p.Target != nil {
			return l.runShell(ctx, p)
		}
		out, err := l.srv.RunShell(ctx, p.Command, tmux.ShellOptions{Dir: p.Dir, Stderr: p.Stderr})
		r, err := textResult(string(out.Output), err)
		r.ExitCode = &out.ExitCode
		return r, err
	},
	"new_session": func(ctx context.Context, l *Library, p params) (result, error) {
		return rowResult(l.srv.NewSession(ctx, tmux.NewSession{Name: p.Name}))
	},
	"select_window": func(ctx context.Context, l *Library, p params) (result, error) {
		index, err := strconv.Atoi(p.Window)
		if err != nil {
			return result{}, fmt.Errorf("%w: %q is not the index of a window", tmux.ErrArgument, p.Window)
		}
		_, err = l.srv.Do(ctx, tmux.SelectWindow{Target: l.srv.Session(p.Session).At(index)})
		return result{}, err
	},
	"last_window": func(ctx context.Context, l *Library, p params) (result, error) {
		return rowResult(l.srv.Session(p.Session).LastWindow(ctx))
	},
	"command": func(ctx context.Context, l *Library, p params) (result, error) {
		out, err := l.object(orServer(p.Target)).command(ctx, p.Name, p.Args...)
		return textResult(string(out), err)
	},
}

// runShell runs a command with the flags that [tmux.Server.RunShell] does not have. The result has
// no exit status.
func (l *Library) runShell(ctx context.Context, p params) (result, error) {
	c := tmux.RunShell{Background: p.Background, Commands: p.Commands, Dir: p.Dir, Stderr: p.Stderr, Command: p.Command}
	if p.Target != nil {
		c.Target = tmux.PaneID(*p.Target)
	}
	if p.Delay != "" {
		delay, err := time.ParseDuration(p.Delay + "s")
		if err != nil {
			return result{}, fmt.Errorf("%w: %q is no delay", tmux.ErrArgument, p.Delay)
		}
		c.Delay = delay
	}
	out, err := l.srv.Do(ctx, c)
	return textResult(string(bytes.Join(out, nil)), err)
}

func orServer(target *string) string {
	if target == nil {
		return "server"
	}
	return *target
}

// list lists the objects of a kind, as rows or in a format.
func (l *Library) list(ctx context.Context, p params) (result, error) {
	c, err := listing(p)
	if err != nil {
		return result{}, err
	}
	if p.Format != "" {
		out, err := l.srv.Do(ctx, c)
		return textResult(string(bytes.Join(out, nil)), err)
	}
	switch c := c.(type) {
	case tmux.ListPanes:
		return rowsResult(tmux.List[tmux.Pane](ctx, l.srv, c))
	case tmux.ListWindows:
		return rowsResult(tmux.List[tmux.Window](ctx, l.srv, c))
	case tmux.ListSessions:
		return rowsResult(tmux.List[tmux.Session](ctx, l.srv, c))
	case tmux.ListBuffers:
		return rowsResult(tmux.List[tmux.Buffer](ctx, l.srv, c))
	}
	if c == (tmux.ListClients{}) {
		// Unlike ListClients it lists none, without an error, if there is no session.
		return rowsResult(l.srv.Clients(ctx))
	}
	return rowsResult(tmux.List[tmux.Client](ctx, l.srv, c))
}

// listing returns the command that lists the objects of a kind.
func listing(p params) (tmux.Lister, error) {
	all := p.Within == "" || p.Within == "server"
	inSession := !all && p.Within[0] == '$'
	var target tmux.Target
	switch {
	case inSession:
		target = tmux.SessionID(p.Within)
	case !all:
		target = tmux.WindowID(p.Within)
	}
	switch {
	case p.Kind == "panes":
		return tmux.ListPanes{Target: target, All: all, Session: inSession, Filter: p.Filter, Format: p.Format}, nil
	case p.Kind == "windows" && (all || inSession):
		return tmux.ListWindows{Target: target, All: all, Filter: p.Filter, Format: p.Format}, nil
	case p.Kind == "sessions" && all:
		return tmux.ListSessions{Filter: p.Filter, Format: p.Format}, nil
	case p.Kind == "buffers" && all:
		return tmux.ListBuffers{Filter: p.Filter, Format: p.Format}, nil
	case p.Kind == "clients" && (all || inSession):
		return tmux.ListClients{Target: target, Filter: p.Filter, Format: p.Format}, nil
	}
	return nil, &Error{Code: codeNoParam, Message: fmt.Sprintf("no list of %s within %s", p.Kind, p.Within)}
}

// textResult returns a text as the result, in base64 if JSON cannot hold it.
func textResult(text string, err error) (result, error) {
	if !utf8.ValidString(text) {
		return result{Base64: []byte(text)}, err
	}
	return result{Value: &text}, err
}

func rowResult[R any](row R, err error) (result, error) { return result{Row: row}, err }

// rowsResult returns a list as the result: an empty one for nil.
func rowsResult[R any](rows []R, err error) (result, error) {
	return result{Rows: append([]R{}, rows...)}, err
}

// errorKinds are the names of the kinds of errors in scripts.
var errorKinds = map[error]string{
	tmux.ErrNoServer:      "no server",
	tmux.ErrServerGone:    "server gone",
	tmux.ErrNoSession:     "not found",
	tmux.ErrNotFound:      "not found",
	tmux.ErrExists:        "exists",
	tmux.ErrAmbiguous:     "ambiguous",
	tmux.ErrNoSpace:       "no space",
	tmux.ErrNotInMode:     "not in a mode",
	tmux.ErrUnknownOption: "unknown option",
	tmux.ErrUsage:         "usage",
	tmux.ErrUnsupported:   "unsupported",
	tmux.ErrArgument:      "argument",
	tmux.ErrNoClient:      "no client",
}

// libraryError returns an error of package tmux in the form of the protocol.
func libraryError(err error) *Error {
	e := &Error{Code: 1, Message: err.Error(), Data: &ErrorData{}}
	for _, kind := range tmux.Kinds() {
		if name := errorKinds[kind]; name != "" && errors.Is(err, kind) {
			e.Data.Kind = &name
			break
		}
	}
	var of *tmux.Error
	if errors.As(err, &of) {
		e.Data.Command, e.Data.Stderr, e.Data.ExitCode = &of.Command, &of.Stderr, &of.ExitCode
	}
	return e
}
