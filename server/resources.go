package server

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/tmux"
)

// resource declares a resource template. Read gets the variables of its URI.
type resource struct {
	name, uri, title, desc string
	mime                   string
	read                   func(ctx context.Context, c *call, vars map[string]string) (any, error)
}

const (
	jsonType = "application/json"
	textType = "text/plain"
)

var resources = []resource{
	{"get_sessions", "tmux://sessions{?socket_name}", "All Sessions", "All tmux sessions.", jsonType,
		func(ctx context.Context, c *call, _ map[string]string) (any, error) {
			return c.listSessions(ctx, tmux.ListSessions{})
		}},
	{"get_session", "tmux://sessions/{session_name}{?socket_name}", "Session Detail", "A tmux session and its windows.", jsonType,
		func(ctx context.Context, c *call, vars map[string]string) (any, error) {
			s := selection{name: vars["session_name"]}
			var b tmux.Batch
			sessions := tmux.Rows[sessionInfo](&b, tmux.ListSessions{Filter: s.within()})
			rows := tmux.Rows[windowInfo](&b, tmux.ListWindows{All: true, Filter: s.within()})
			linked := linkRows(&b)
			if err := noneIsEmpty(b.Do(ctx, c.tmux)); err != nil {
				return nil, err
			}
			if len(*sessions) == 0 {
				return nil, faultf(kindNotFound, "Session not found: %s", s.name)
			}
			return struct {
				sessionInfo
				Windows []windowInfo `json:"windows"`
			}{(*sessions)[0], windows(*rows, *linked)}, nil
		}},
	{"get_session_windows", "tmux://sessions/{session_name}/windows{?socket_name}", "Session Windows", "The windows of a tmux session.", jsonType,
		func(ctx context.Context, c *call, vars map[string]string) (any, error) {
			s := selection{name: vars["session_name"]}
			rows, err := c.listWindows(ctx, tmux.ListWindows{All: true, Filter: s.within()})
			if err == nil && len(rows) == 0 {
				err = faultf(kindNotFound, "Session not found: %s", s.name)
			}
			return rows, err
		}},
	{"get_window", "tmux://sessions/{session_name}/windows/{window_index}{?socket_name}", "Window Detail", "A tmux window and its panes.", jsonType,
		func(ctx context.Context, c *call, vars map[string]string) (any, error) {
			s := selection{name: vars["session_name"], index: vars["window_index"]}
			if err := s.check(); err != nil {
				return nil, err
			}
			var b tmux.Batch
			rows := tmux.Rows[windowInfo](&b, tmux.ListWindows{All: true, Filter: s.within()})
			paneRows := tmux.Rows[paneInfo](&b, tmux.ListPanes{All: true, Filter: s.within()})
			linked := linkRows(&b)
			if err := noneIsEmpty(b.Do(ctx, c.tmux)); err != nil {
				return nil, err
			}
			if len(*rows) == 0 {
				return nil, faultf(kindNotFound, "Window not found: index %s of session %s", s.index, s.name)
			}
			return struct {
				windowInfo
				Panes []paneInfo `json:"panes"`
			}{windows(*rows, *linked)[0], c.panes(*paneRows, *linked)}, nil
		}},
	{"get_pane", "tmux://panes/{pane_id}{?socket_name}", "Pane Detail", "A tmux pane.", jsonType,
		func(ctx context.Context, c *call, vars map[string]string) (any, error) {
			return c.findPane(ctx, selection{pane: tmux.PaneID(vars["pane_id"])})
		}},
	{"get_pane_content", "tmux://panes/{pane_id}/content{?socket_name}", "Pane Content", "The visible screen of a tmux pane.", textType,
		func(ctx context.Context, c *call, vars map[string]string) (any, error) {
			target, err := c.spec(selection{pane: tmux.PaneID(vars["pane_id"])})
			if err != nil {
				return nil, err
			}
			out, err := c.tmux.Do(ctx, tmux.CapturePane{Target: target, Print: true})
			if err != nil {
				return nil, err
			}
			return strings.Join(screenLines(out[0]), "\n"), nil
		}},
}

func (s *Server) addResources() {
	for _, r := range resources {
		template := mcp.NewResourceTemplate(r.uri, r.name,
			mcp.WithTemplateTitle(r.title), mcp.WithTemplateDescription(r.desc), mcp.WithTemplateMIMEType(r.mime))
		s.mcp.AddResourceTemplate(template, func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			vars := uriVariables(req)
			srv, err := s.handle(vars["socket_name"])
			if err != nil {
				return nil, err
			}
			got, err := r.read(ctx, &call{s: s, tmux: srv}, vars)
			if err != nil {
				return nil, err
			}
			body, ok := got.(string)
			if !ok {
				raw, err := json.MarshalIndent(got, "", "  ")
				if err != nil {
					return nil, err
				}
				body = string(legibleJSON(raw, reflect.TypeOf(got)))
			}
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: r.mime, Text: body}}, nil
		})
	}
}

// rawPaneURI is a resource's URI with a pane's id that is not encoded.
var rawPaneURI = regexp.MustCompile(`^(tmux://panes/)%([0-9]+)([/?].*)?$`)

// encodePane encodes the pane id in a resource's URI where a client did not:
// "%1" becomes "%251". A "%25" with digits after it is taken as encoded.
func encodePane(_ context.Context, _ any, req *mcp.ReadResourceRequest) {
	m := rawPaneURI.FindStringSubmatch(req.Params.URI)
	if m != nil && (!strings.HasPrefix(m[2], "25") || m[2] == "25") {
		req.Params.URI = m[1] + "%25" + m[2] + m[3]
	}
}

// uriVariables are the variables of a resource's URI.
func uriVariables(req mcp.ReadResourceRequest) map[string]string {
	vars := map[string]string{}
	for name, v := range req.Params.Arguments {
		var text string
		switch x := v.(type) {
		case string:
			text = x
		case []string:
			text = strings.Join(x, ",")
		}
		vars[name] = text
	}
	return vars
}
