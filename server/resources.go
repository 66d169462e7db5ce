package server

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/subscribe"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// resource declares a resource template. Read gets the variables of its URI.
type resource struct {
	name, uri, title, desc string
	mime                   string
	drawn                  bool   // it changes only with what a pane shows
	tools                  string // which read the same, and with which it is offered
	read                   func(ctx context.Context, src rows.Source, vars map[string]string) (any, error)
}

const (
	jsonType = "application/json"
	textType = "text/plain"
)

var resources = []resource{
	{"get_sessions", "tmux://sessions{?socket_name}", "All Sessions", "All tmux sessions.", jsonType, false, "list_sessions",
		func(ctx context.Context, src rows.Source, _ map[string]string) (any, error) {
			all, err := rows.List[rows.Session](ctx, src, new(tmux.Batch), tmux.ListSessions{})
			if all == nil {
				all = []rows.Session{}
			}
			return all, target.NoServerIsEmpty(ctx, true, err)
		}},
	{"get_session", "tmux://sessions/{session_name}{?socket_name}", "Session Detail", "A tmux session and its windows.", jsonType, false, "list_sessions list_windows",
		func(ctx context.Context, src rows.Source, vars map[string]string) (any, error) {
			s := target.Selection{Name: vars["session_name"]}
			var b tmux.Batch
			sessions := tmux.AddRows[rows.Session](&b, tmux.ListSessions{Filter: s.Within()})
			listed := tmux.AddRows[rows.Window](&b, tmux.ListWindows{All: true, Filter: s.Within()})
			linked := rows.LinkRows(&b)
			if err := target.NoneIsEmpty(b.Do(ctx, src.Tmux)); err != nil {
				return nil, err
			}
			if len(*sessions) == 0 {
				return nil, reply.Faultf(reply.KindNotFound, "Session not found: %s", s.Name)
			}
			return struct {
				rows.Session
				Windows []rows.Window `json:"windows"`
			}{(*sessions)[0], rows.Complete[rows.Window](src, *listed, *linked)}, nil
		}},
	{"get_session_windows", "tmux://sessions/{session_name}/windows{?socket_name}", "Session Windows", "The windows of a tmux session.", jsonType, false, "list_windows",
		func(ctx context.Context, src rows.Source, vars map[string]string) (any, error) {
			s := target.Selection{Name: vars["session_name"]}
			listed, err := rows.List[rows.Window](ctx, src, new(tmux.Batch), tmux.ListWindows{All: true, Filter: s.Within()})
			if err == nil && len(listed) == 0 {
				err = reply.Faultf(reply.KindNotFound, "Session not found: %s", s.Name)
			}
			return listed, err
		}},
	{"get_window", "tmux://sessions/{session_name}/windows/{window_index}{?socket_name}", "Window Detail", "A tmux window and its panes.", jsonType, false, "list_windows list_panes",
		func(ctx context.Context, src rows.Source, vars map[string]string) (any, error) {
			s := target.Selection{Name: vars["session_name"], Index: vars["window_index"]}
			if err := s.Check(); err != nil {
				return nil, err
			}
			var b tmux.Batch
			listed := tmux.AddRows[rows.Window](&b, tmux.ListWindows{All: true, Filter: s.Within()})
			paneRows := tmux.AddRows[rows.Pane](&b, tmux.ListPanes{All: true, Filter: s.Within()})
			linked := rows.LinkRows(&b)
			if err := target.NoneIsEmpty(b.Do(ctx, src.Tmux)); err != nil {
				return nil, err
			}
			if len(*listed) == 0 {
				return nil, reply.Faultf(reply.KindNotFound, "Window not found: index %s of session %s", s.Index, s.Name)
			}
			return struct {
				rows.Window
				Panes []rows.Pane `json:"panes"`
			}{rows.Complete[rows.Window](src, *listed, *linked)[0], rows.Complete[rows.Pane](src, *paneRows, *linked)}, nil
		}},
	{"get_pane", "tmux://panes/{pane_id}{?socket_name}", "Pane Detail", "A tmux pane.", jsonType, false, "list_panes",
		func(ctx context.Context, src rows.Source, vars map[string]string) (any, error) {
			return rows.Find[rows.Pane](ctx, src, target.Selection{Pane: tmux.PaneID(vars["pane_id"])})
		}},
	{"get_pane_content", "tmux://panes/{pane_id}/content{?socket_name}", "Pane Content", "The visible screen of a tmux pane.", textType, true, "capture_pane",
		func(ctx context.Context, src rows.Source, vars map[string]string) (any, error) {
			at, err := (target.Selection{Pane: tmux.PaneID(vars["pane_id"])}).TargetFor(src.Here.Own())
			if err != nil {
				return nil, err
			}
			out, err := src.Tmux.Do(ctx, tmux.CapturePane{Target: at, Print: true})
			if err != nil {
				return nil, err
			}
			return strings.Join(screen.Lines(out[0]), "\n"), nil
		}},
}

// addResources registers the resources that this server offers.
func (s *Server) addResources() {
	for _, r := range resources {
		if s.withheld(r) != nil {
			continue
		}
		s.resources = append(s.resources, r)
		s.mcp.AddResourceTemplate(r.template(), func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			if req.Params.RequestState != "" {
				return nil, guard.ErrForged
			}
			vars, _ := r.variables(req.Params.URI)
			text, err := s.readResource(ctx, r, vars)
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: r.mime, Text: text}}, nil
		})
	}
}

// withheld returns why this server does not offer a resource, or nil.
func (s *Server) withheld(r resource) *reply.Fault {
	for name := range strings.FieldsSeq(r.tools) {
		if f := refusal(s.cfg, s.tools[name]); f != nil {
			return f
		}
	}
	return nil
}

func (r resource) template() mcp.ResourceTemplate {
	return mcp.NewResourceTemplate(r.uri, r.name, mcp.WithTemplateTitle(r.title), mcp.WithTemplateDescription(r.desc), mcp.WithTemplateMIMEType(r.mime))
}

// watched returns what to watch for changes of a resource.
func (s *Server) watched(uri string) (*subscribe.Resource, error) {
	for _, r := range s.resources {
		vars, ok := r.variables(uri)
		if !ok {
			continue
		}
		srv, err := s.sockets.Get(vars["socket_name"])
		read := func(ctx context.Context) (string, error) { return s.readResource(ctx, r, vars) }
		return &subscribe.Resource{Tmux: srv, Pane: tmux.PaneID(vars["pane_id"]), Drawn: r.drawn, Read: read}, err
	}
	return nil, mcpserver.ErrResourceNotFound
}

// readResource returns the text of a resource.
func (s *Server) readResource(ctx context.Context, r resource, vars map[string]string) (string, error) {
	srv, err := s.sockets.Get(vars["socket_name"])
	if err != nil {
		return "", err
	}
	slot, err := s.sockets.Slot(ctx, srv)
	if err != nil {
		return "", err
	}
	defer slot.Leave()
	here, err := s.cfg.Caller.On(ctx, srv)
	if err != nil {
		return "", err
	}
	got, err := r.read(ctx, rows.Source{Tmux: srv, Here: here, Form: s.form}, vars)
	if err != nil {
		return "", err
	}
	if text, ok := got.(string); ok {
		return text, nil
	}
	raw, err := params.Marshal(got)
	if err == nil {
		raw, err = reply.LegibleJSON(raw, reflect.TypeOf(got))
	}
	var text bytes.Buffer
	if err == nil {
		err = json.Indent(&text, raw, "", "  ")
	}
	return text.String(), err
}

// variables returns the variables in a URI, if it names this resource.
func (r resource) variables(uri string) (vars map[string]string, ok bool) {
	t := r.template().URITemplate
	uri = encodedPane(uri)
	if !t.Regexp().MatchString(uri) {
		return nil, false
	}
	vars = map[string]string{}
	for name, v := range t.Match(uri) {
		vars[name] = v.String()
	}
	return vars, true
}

// maxURI is how long the URI of a resource may be, in bytes.
const maxURI = 10_000

// rawPaneURI matches a resource URI with an unencoded pane id.
var rawPaneURI = lazy.Regexp(`^(tmux://panes/)%([0-9]+)([/?].*)?$`)

// encodedPane encodes the pane id in a resource URI if a client did not: "%1" becomes
// "%251". A "%25" followed by digits is taken as already encoded.
func encodedPane(uri string) string {
	if len(uri) > maxURI {
		return "" // no resource has it, and matching it takes long
	}
	m := rawPaneURI().FindStringSubmatch(uri)
	if m != nil && (!strings.HasPrefix(m[2], "25") || m[2] == "25") {
		return m[1] + "%25" + m[2] + m[3]
	}
	return uri
}
