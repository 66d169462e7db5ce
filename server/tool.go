package server

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/tmux"
)

// Tier is how much a tool may change, and how much a server allows.
type Tier string

// The tiers, each of which includes the ones before it.
const (
	Readonly    Tier = "readonly"
	Mutating    Tier = "mutating"
	Destructive Tier = "destructive"
)

// allows reports whether a server of tier t offers tools of tier need. A tier
// that does not exist allows nothing and is allowed nowhere.
func (t Tier) allows(need Tier) bool {
	rank := map[Tier]int{Readonly: 1, Mutating: 2, Destructive: 3}
	return rank[need] > 0 && rank[t] >= rank[need]
}

// kind is what sort of act a tool is: its tier and its four annotations.
type kind struct {
	tier                                         Tier
	readOnly, destructive, idempotent, openWorld bool
}

// The kinds of tools.
var (
	reads    = kind{tier: Readonly, readOnly: true, idempotent: true}
	changes  = kind{tier: Mutating, idempotent: true} // again has the same effect: rename, resize, select, set
	creates  = kind{tier: Mutating}
	shell    = kind{tier: Mutating, openWorld: true} // what the caller sends reaches a shell
	discards = kind{tier: Mutating, destructive: true}
	destroys = kind{tier: Destructive, destructive: true}
	// A batch is as bad as the worst of what it may run.
	batches         = kind{tier: Mutating, destructive: true, openWorld: true}
	destroysBatches = kind{tier: Destructive, destructive: true, openWorld: true}
)

// The toolsets, in the order of the catalogue. Besides the one it belongs to, a
// tool may be in the toolset "core".
const (
	setSessions = "sessions"
	setWindows  = "windows"
	setPanes    = "panes"
	setInput    = "input"
	setBuffers  = "buffers"
	setOptions  = "options"
	setHooks    = "hooks"
	setChannels = "channels"
	setBatch    = "batch"
	setPrompts  = "prompts"
	setCore     = "core"
)

// Toolsets are the names that [Config.Toolsets] may hold.
var Toolsets = []string{
	setCore, setSessions, setWindows, setPanes, setInput, setBuffers, setOptions, setHooks, setChannels, setBatch, setPrompts,
}

// tool declares a tool that takes an In, a struct, and answers with an Out.
type tool[In, Out any] struct {
	name  string
	title string
	kind  kind
	set   string
	// core puts the tool into the toolset "core" too.
	core bool
	// selfBounded tools block for as long as the caller says: they are not
	// retried and not part of batches.
	selfBounded bool
	// alwaysLoad asks the client not to hide the tool behind a tool search.
	alwaysLoad bool
	desc       string
	// defaults are those, by property and in JSON, that depend on the server's
	// configuration. They are what the client is told; the handler heeds them.
	defaults func(Config) map[string]string
	run      func(ctx context.Context, c *call, in In) (Out, error)
}

// entry is a tool of any types, as the table holds it.
type entry interface {
	declared() decl
	invoke(ctx context.Context, s *Server, req mcp.CallToolRequest) (*mcp.CallToolResult, error)
}

// decl is a tool's declaration without its types.
type decl struct {
	name, title, set, desc        string
	kind                          kind
	core, selfBounded, alwaysLoad bool
	in, out                       reflect.Type
	defaults                      func(Config) map[string]string
}

func (t *tool[In, Out]) declared() decl {
	return decl{
		name: t.name, title: t.title, set: t.set, desc: t.desc, kind: t.kind,
		core: t.core, selfBounded: t.selfBounded, alwaysLoad: t.alwaysLoad,
		in: reflect.TypeFor[In](), out: elem(reflect.TypeFor[Out]()), defaults: t.defaults,
	}
}

func (t *tool[In, Out]) invoke(ctx context.Context, s *Server, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := rawArguments(req)
	if err != nil {
		return nil, err
	}
	var in In
	if err := bind(t.name, args, &in); err != nil {
		return nil, err.withClient(ctx)
	}
	c := &call{s: s}
	if req.Params.Meta != nil {
		c.progressToken = req.Params.Meta.ProgressToken
	}
	if named, ok := any(in).(interface{ socketName() string }); ok {
		srv, err := s.handle(named.socketName())
		if err != nil {
			return nil, err
		}
		c.tmux = srv
		if !t.selfBounded {
			release, err := s.slot(ctx, srv)
			if err != nil {
				return nil, err
			}
			defer release()
		}
	}
	out, err := t.run(ctx, c, in)
	if err != nil {
		return nil, err
	}
	return encodeResult(out)
}

// rawArguments are the arguments of a call as JSON; empty when there are none.
func rawArguments(req mcp.CallToolRequest) (json.RawMessage, error) {
	args := req.Params.RawArguments
	if len(args) == 0 && req.Params.Arguments != nil {
		return marshal(req.Params.Arguments)
	}
	if isNull(args) {
		return nil, nil
	}
	return args, nil
}

// mcpTool is the declaration as MCP tells it to a client.
func (d decl) mcpTool() mcp.Tool {
	t := mcp.Tool{
		Name: d.name, Title: d.title, Description: d.desc,
		RawInputSchema: inputSchema(d.in), RawOutputSchema: outputSchema(d.out),
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint: &d.kind.readOnly, DestructiveHint: &d.kind.destructive,
			IdempotentHint: &d.kind.idempotent, OpenWorldHint: &d.kind.openWorld,
		},
	}
	if d.alwaysLoad {
		t.Meta = mcp.NewMetaFromMap(map[string]any{"anthropic/alwaysLoad": true})
	}
	return t
}

// offered is the tool as a server of this configuration offers it.
func (d decl) offered(cfg Config) mcp.Tool {
	t := d.mcpTool()
	if d.defaults != nil {
		t.RawInputSchema = inputSchemaWith(d.in, d.defaults(cfg))
	}
	return t
}

// call is what a handler has at hand besides its input.
type call struct {
	s *Server
	// tmux is the tmux server that the call is about; nil for a tool whose
	// input has no socket_name.
	tmux *tmux.Server
	// progressToken is set when the client wants to be told of progress.
	progressToken mcp.ProgressToken
}

// socket is the parameter that says which tmux server a call is about. Every
// tool's input embeds it but those that look at several servers.
type socket struct {
	SocketName string `json:"socket_name,omitempty" desc:"tmux -L name"`
}

func (s socket) socketName() string { return s.SocketName }
