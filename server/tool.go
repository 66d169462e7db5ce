package server

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/params"
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

// The kinds of tools. Clients ask their user, or do not, by the annotations, so
// these say what a tool can do with any arguments: a test observes it. What runs a
// program of the caller's choice can do anything, and may destroy.
var (
	reads    = kind{tier: Readonly, readOnly: true, idempotent: true}
	changes  = kind{tier: Mutating, idempotent: true} // again has the same effect: rename, resize, set
	creates  = kind{tier: Mutating}                   // again is not the same: makes another, moves on, wakes the next
	starts   = kind{tier: Mutating, openWorld: true}  // the user's shell, with variables of the caller's
	presets  = kind{tier: Mutating, idempotent: true, openWorld: true}
	shell    = kind{tier: Mutating, destructive: true, openWorld: true} // what the caller sends reaches a shell
	discards = kind{tier: Mutating, destructive: true, idempotent: true}
	destroys = kind{tier: Destructive, destructive: true}
	// What a tool of tier mutating does with arguments that need destructive.
	setsAnything = kind{tier: Destructive, destructive: true, idempotent: true, openWorld: true}
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

// Toolsets returns the names that [Config.Toolsets] may hold.
func Toolsets() []string {
	return []string{
		setCore, setSessions, setWindows, setPanes, setInput, setBuffers, setOptions, setHooks, setChannels, setBatch, setPrompts,
	}
}

// tool declares a tool that takes an In, a struct, and answers with an Out.
type tool[In, Out any] struct {
	name  string
	title string
	kind  kind
	// more is what the tool is with arguments that need a higher tier than it
	// does itself: see [call.permit]. A server of that tier declares it so.
	more kind
	set  string
	// aim is what the tool acts on, harm what it may do to that; tools that only
	// read leave harm out.
	aim  aim
	harm harm
	// core puts the tool into the toolset "core" too.
	core bool
	// selfBounded tools block for as long as the caller says: they are not
	// retried and not part of batches.
	selfBounded bool
	// retired tools can be called, and are not listed: another one does the same.
	retired bool
	// alwaysLoad asks the client not to hide the tool behind a tool search.
	alwaysLoad bool
	// hint is what somebody may search for who would not think of the name.
	hint string
	desc string
	// defaults are the defaults that depend on the server's configuration, in JSON
	// by property. They only go into the schema; the handler must apply them.
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
	name, title, set, desc, hint  string
	kind, more                    kind
	aim                           aim
	harm                          harm
	core, selfBounded, alwaysLoad bool
	retired                       bool
	in, out                       reflect.Type
	defaults                      func(Config) map[string]string
}

func (t *tool[In, Out]) declared() decl {
	return decl{
		name: t.name, title: t.title, set: t.set, desc: t.desc, hint: t.hint, kind: t.kind, more: t.more, aim: t.aim, harm: t.harm,
		core: t.core, selfBounded: t.selfBounded, alwaysLoad: t.alwaysLoad, retired: t.retired,
		in: reflect.TypeFor[In](), out: params.Elem(reflect.TypeFor[Out]()), defaults: t.defaults,
	}
}

func (t *tool[In, Out]) invoke(ctx context.Context, s *Server, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := rawArguments(req)
	if err != nil {
		return nil, err
	}
	var in In
	if err := params.Bind(t.name, args, &in); err != nil {
		return nil, bindFault(ctx, err)
	}
	if inBatch(ctx) && t.waits(in) {
		return nil, faultf(kindRefused, "%s blocks until its timeout, so it is not allowed in a batch", t.name).suggest("call it by itself")
	}
	c := &call{s: s, decl: t.declared(), tier: s.tierIn(ctx), args: args, answers: req.Params.MultiRoundTripParams}
	if req.Params.Meta != nil {
		c.progressToken = req.Params.Meta.ProgressToken
	}
	if err := c.checkState(); err != nil {
		return nil, err
	}
	if named, ok := any(in).(interface{ socketName() string }); ok {
		if c.tmux, err = s.handle(named.socketName()); err != nil {
			return nil, err
		}
		c.waits = t.selfBounded || t.waits(in)
	}
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { c.leave() }()
	if err := c.aim(ctx, in); err != nil {
		return nil, err
	}
	out, err := t.run(ctx, c, in)
	if err != nil {
		return nil, err
	}
	return c.encodeResult(ctx, out)
}

// enter takes a slot, unless the call needs none.
func (c *call) enter(ctx context.Context) (err error) {
	c.leave = func() {}
	if c.tmux != nil && !c.waits {
		c.leave, err = c.s.slot(ctx, c.tmux)
	}
	return err
}

// waits reports whether a call blocks for as long as the caller says.
func (t *tool[In, Out]) waits(in In) bool {
	// Of one that is bounded by itself, only its input knows.
	if w, ok := any(in).(interface{ waits() bool }); ok {
		return w.waits()
	}
	return t.selfBounded
}

// rawArguments are the arguments of a call as JSON; empty when there are none.
func rawArguments(req mcp.CallToolRequest) (json.RawMessage, error) {
	args := req.Params.RawArguments
	if len(args) == 0 && req.Params.Arguments != nil {
		return params.Marshal(req.Params.Arguments)
	}
	if params.IsNull(args) {
		return nil, nil
	}
	return args, nil
}

// kindIn is what the tool is on a server of a tier.
func (d decl) kindIn(t Tier) kind {
	if t.allows(d.more.tier) {
		return d.more
	}
	return d.kind
}

// mcpTool returns the declaration as tools/list shows it in a tier.
func (d decl) mcpTool(tier Tier, results Results) mcp.Tool {
	k := d.kindIn(tier)
	t := mcp.Tool{
		Name: d.name, Title: d.title, Description: d.desc,
		RawInputSchema: params.InputSchema(d.in, nil),
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint: &k.readOnly, DestructiveHint: &k.destructive,
			IdempotentHint: &k.idempotent, OpenWorldHint: &k.openWorld,
		},
	}
	// Clients refuse a result without structured content if there is a schema of it.
	if results == ResultsJSON {
		t.RawOutputSchema = params.OutputSchema(d.out)
	}
	meta := map[string]any{}
	if d.alwaysLoad {
		meta["anthropic/alwaysLoad"] = true
	}
	if d.hint != "" {
		meta["anthropic/searchHint"] = d.hint
	}
	if len(meta) > 0 {
		t.Meta = mcp.NewMetaFromMap(meta)
	}
	return t
}

// offered is the tool as a server of this configuration offers it.
func (d decl) offered(cfg Config) mcp.Tool {
	t := d.mcpTool(cfg.Tier, cfg.Results)
	if d.defaults != nil {
		t.RawInputSchema = params.InputSchema(d.in, d.defaults(cfg))
	}
	return t
}

// call is what a handler has at hand besides its input.
type call struct {
	s    *Server
	decl decl
	args json.RawMessage
	// on is what the call acts on, as the tool declares it.
	on aimed
	// tier is what this call may do: the server's or, in a batch, the batch's.
	tier Tier
	// tmux is the tmux server that the call is about; nil for a tool whose
	// input has no socket_name.
	tmux *tmux.Server
	// waits is set for a call that blocks for as long as the caller says.
	waits bool
	// leave gives up the call's slot, if it has one.
	leave func()
	// answers are what the user said to the question of an earlier try of this call.
	answers mcp.MultiRoundTripParams
	// typedInto is how panes were before the call typed into them, in its order.
	typing    sync.Mutex
	typedInto []bookmark
	typedAlso []tmux.PaneID // other panes, because they are synchronized with these
	// typedRow is the row of the cursor, from the first of the history, when the call last
	// typed.
	typedRow int
	// progressToken is set when the client asked for progress.
	progressToken mcp.ProgressToken
}

// socket is the parameter that says which tmux server a call is about. Every
// tool's input embeds it but those that look at several servers.
type socket struct {
	SocketName string `json:"socket_name,omitempty"`
}

func (s socket) socketName() string { return s.SocketName }
