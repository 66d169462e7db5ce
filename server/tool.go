package server

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/closing"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/server/params"
	"tmuxmcp/tmux"
)

// kind is the tier of a tool and its four annotations.
type kind struct {
	tier                                         Tier
	readOnly, destructive, idempotent, openWorld bool
}

// Kinds of tools. Clients decide by the annotations whether to ask their user, so these say
// what a tool can do with any arguments; a test verifies it. A tool that runs a program of
// the caller's choice can do anything, and may destroy.
var (
	reads    = kind{tier: Readonly, readOnly: true, idempotent: true}
	changes  = kind{tier: Mutating, idempotent: true} // repeating has no further effect: rename, resize, set
	creates  = kind{tier: Mutating}                   // repeating has another effect: creates another, moves on, wakes the next
	starts   = kind{tier: Mutating, openWorld: true}  // runs the user's shell, with the caller's variables
	presets  = kind{tier: Mutating, idempotent: true, openWorld: true}
	shell    = kind{tier: Mutating, destructive: true, openWorld: true} // what the caller sends reaches a shell
	discards = kind{tier: Mutating, destructive: true, idempotent: true}
	destroys = kind{tier: Destructive, destructive: true}
	// What a mutating tool does with arguments that need tier destructive.
	setsAnything = kind{tier: Destructive, destructive: true, idempotent: true, openWorld: true}
	// A batch is as bad as the worst that it may run.
	batches         = kind{tier: Mutating, destructive: true, openWorld: true}
	destroysBatches = kind{tier: Destructive, destructive: true, openWorld: true}
)

// What tools do, in the terms of the libtmux family. A server can be restricted to some of
// them, in addition to its tier and toolsets, so that asking for less never yields more.
const (
	doesInspect  = "inspect" // only reads
	doesManage   = "manage"  // changes tmux, and runs no program
	doesExecute  = guard.DoesExecute
	doesTeardown = "teardown" // ends or discards
)

var effects = []string{doesInspect, doesManage, doesExecute, doesTeardown}

// effect returns what a tool of this kind does.
func (k kind) effect() string {
	switch {
	case k.tier == Readonly:
		return doesInspect
	case k.tier == Destructive, k.destructive && !k.openWorld:
		return doesTeardown
	case k.openWorld:
		return doesExecute
	}
	return doesManage
}

// tierOf returns the lowest tier whose tools have these effects, or the default one.
func tierOf(effects []string) Tier {
	switch {
	case slices.Contains(effects, doesTeardown):
		return Destructive
	case len(effects) == 1 && effects[0] == doesInspect:
		return Readonly
	}
	return Mutating
}

// Toolsets, in catalogue order. A tool may also be in the toolset "core".
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

// tool is a tool's declaration, for [newTool].
type tool struct {
	name  string
	title string
	kind  kind
	// more is the tool's kind with arguments that need a higher tier than the tool itself:
	// see [call.permit]. A server of that tier declares the tool this way.
	more kind
	set  string
	// aim is what the tool acts on, and harm what it may do to that, if it can do any.
	aim  target.Aim
	harm guard.Harm
	// core adds the tool to the toolset "core".
	core bool
	// selfBounded tools block for as long as the caller says: they are not retried and not
	// allowed in batches.
	selfBounded bool
	// retired tools can be called but are not listed: another one does the same.
	retired bool
	// alwaysLoad asks the client not to hide the tool behind a tool search.
	alwaysLoad bool
	// hint is what a user may search for without thinking of the name.
	hint string
	desc string
	// defaults returns the defaults that depend on the server's configuration, as JSON by
	// property. They only go into the schema; the handler must apply them.
	defaults func(Config) map[string]string

	in, out reflect.Type // structs
	run     func(ctx context.Context, c *call, in any) (any, error)
}

// newTool returns a tool that takes an In, a struct, and returns an Out.
func newTool[In, Out any](t tool, run func(ctx context.Context, c *call, in In) (Out, error)) *tool {
	t.in, t.out = reflect.TypeFor[In](), params.Elem(reflect.TypeFor[Out]())
	t.run = func(ctx context.Context, c *call, in any) (any, error) { return run(ctx, c, in.(In)) }
	return &t
}

// call runs the tool.
func (t *tool) call(ctx context.Context, s *Server, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := rawArguments(req)
	if err != nil {
		return nil, err
	}
	arguments := reflect.New(t.in)
	if err := params.Bind(t.name, args, arguments.Interface()); err != nil {
		return nil, bindFault(ctx, err)
	}
	in := arguments.Elem().Interface()
	waits := t.selfBounded
	if w, ok := in.(interface{ Waits() bool }); ok { // it depends on the input
		waits = w.Waits()
	}
	if guard.InBatch(ctx) && waits {
		return nil, reply.Faultf(reply.KindRefused, "%s blocks until its timeout, so it is not allowed in a batch", t.name).Suggest("call it by itself")
	}
	c := &call{s: s, tool: t, Source: rows.Source{Form: s.form}}
	var slot *sockets.Slot
	pause := func() (resume func(context.Context) error) { return slot.Pause() }
	ask := s.questions.Of(t.name, args, req.Params.MultiRoundTripParams, pause)
	if err := ask.Check(); err != nil {
		return nil, err
	}
	if named, ok := in.(interface{ Socket() string }); ok {
		if c.Tmux, err = s.sockets.Get(named.Socket()); err != nil {
			return nil, err
		}
	}
	works := c.Tmux // what waits takes no slot
	if waits {
		works = nil
	}
	if slot, err = s.sockets.Slot(ctx, works); err != nil {
		return nil, err
	}
	defer slot.Leave()
	if c.Tmux != nil {
		if c.Here, err = s.cfg.Caller.On(ctx, c.Tmux); err != nil {
			return nil, err
		}
	}
	rules := guard.Rules{Tier: guard.TierIn(ctx, s.cfg.Tier), Most: s.cfg.Tier, Effects: s.cfg.Effects, Connect: s.sockets.At}
	c.guard = guard.New(guard.Declared{Tool: t.name, Aim: t.aim, Harm: t.harm, ReadOnly: t.kind.readOnly}, c.Tmux, c.Here, rules, ask)
	c.typist = s.keyboard.Typist(c.Source, c.guard)
	if err := c.aim(ctx, in); err != nil {
		return nil, err
	}
	var out any
	var besides reply.Notices
	err = c.guard.Proceed(reply.WithNotices(ctx, &besides), func(ctx context.Context) (err error) {
		out, err = t.run(ctx, c, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.form.Encode(ctx, out, besides.Text())
}

// rawArguments returns the arguments of a call as JSON; empty if there are none.
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

// definition returns the tool as tools/list shows it, on a server with this configuration.
func (t *tool) definition(cfg Config) mcp.Tool {
	k := t.kind
	if cfg.Tier.Allows(t.more.tier) {
		k = t.more
	}
	var defaults map[string]string
	if t.defaults != nil {
		defaults = t.defaults(cfg)
	}
	def := mcp.Tool{
		Name: t.name, Title: t.title, Description: t.desc,
		RawInputSchema: params.InputSchema(t.in, defaults),
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint: &k.readOnly, DestructiveHint: &k.destructive,
			IdempotentHint: &k.idempotent, OpenWorldHint: &k.openWorld,
		},
	}
	// If there is an output schema, clients refuse results without structured content.
	if cfg.Results == reply.ResultsJSON {
		def.RawOutputSchema = params.OutputSchema(t.out)
	}
	meta := map[string]any{}
	if t.alwaysLoad {
		meta["anthropic/alwaysLoad"] = true
	}
	if t.hint != "" {
		meta["anthropic/searchHint"] = t.hint
	}
	if len(meta) > 0 {
		def.Meta = mcp.NewMetaFromMap(meta)
	}
	return def
}

// call is what a handler has available besides its input.
type call struct {
	rows.Source
	s    *Server
	tool *tool
	// on is the object of the call, as the tool declares it.
	on    target.Object
	guard *guard.Guard
	// waits is set if the call blocks for as long as the caller says.
	waits bool
	// leave gives up the call's slot, if it has one.
	leave  func()
	typist *typing.Typist
}

// types returns the typist of a tool that declares that it types.
func (c *call) types() *typing.Typist {
	if c.tool.harm != guard.Types {
		panic(c.tool.name + " types into panes and does not declare it")
	}
	return c.typist
}

// closes runs a command that closes the call's object.
func (c *call) closes(ctx context.Context, cmd tmux.Command) error {
	return closing.Panes(ctx, c.Tmux, c.guard.Aim.FilterFor(c.on.Selection), func() error {
		_, err := c.Tmux.Do(ctx, cmd)
		return err
	})
}
