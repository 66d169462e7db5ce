// Package tool is how a tool is declared, and what its handler gets.
package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
)

// Call is what a handler gets besides its input.
type Call struct {
	rows.Source
	// On is the object that the input names, resolved and guarded as the tool declares.
	On target.Object
	// Guard is for tools that name several objects, or need more than their tier.
	Guard *guard.Guard
}

// Decl is a tool's declaration, for [New].
type Decl struct {
	Name  string
	Title string
	Kind  Kind
	// More is the tool's kind with arguments that need a higher tier than the tool itself: see
	// [guard.Guard.Permit]. A server of that tier declares the tool this way.
	More Kind
	Set  string
	// Aim is what the tool acts on, and Harm what it may do to that, if it can do any.
	Aim  target.Aim
	Harm guard.Harm
	// Core adds the tool to the toolset of that name.
	Core bool
	// SelfBounded tools block for as long as the caller says: they are not retried and not
	// allowed in batches.
	SelfBounded bool
	// Retired tools can be called but are not listed: another one does the same.
	Retired bool
	// AlwaysLoad asks the client not to hide the tool behind a tool search.
	AlwaysLoad bool
	// Hint is what a user may search for without thinking of the name.
	Hint string
	Desc string
	// Defaults are the defaults that depend on the server's configuration, as JSON by
	// property. They only go into the schema; the handler must apply them.
	Defaults map[string]string
}

// Tool is a tool that can be called.
type Tool struct {
	Decl
	In, Out reflect.Type // structs
	run     func(ctx context.Context, c Call, in any) (any, error)
}

// Limits are what a server allows its callers.
type Limits struct {
	WaitMax time.Duration
	Path    func(given string) (string, error) // makes a path absolute
}

// checker is an input that can be invalid in ways that the schema does not express. What Check
// works out on the way, the input may keep for the handler.
type checker interface{ Check(Limits) error }

// New returns a tool that takes an In, a struct, and returns an Out. A tool that does not
// declare what it acts on, or what it does to that, is a mistake of the program.
func New[In, Out any](d Decl, run func(ctx context.Context, c Call, in In) (Out, error)) *Tool {
	if d.Aim.Rule == target.Undeclared || d.Harm == guard.UnknownHarm && !d.Kind.ReadOnly {
		panic(d.Name + " does not declare what it acts on, or what it does to it")
	}
	return &Tool{
		Decl: d, In: reflect.TypeFor[In](), Out: params.Elem(reflect.TypeFor[Out]()),
		run: func(ctx context.Context, c Call, in any) (any, error) { return run(ctx, c, *in.(*In)) },
	}
}

// Declared returns what the guard has to know about the tool.
func (t *Tool) Declared() guard.Declared {
	return guard.Declared{Tool: t.Name, Aim: t.Aim, Harm: t.Harm, ReadOnly: t.Kind.ReadOnly}
}

// Bind returns the input that the arguments of a call make, a pointer to an In.
func (t *Tool) Bind(ctx context.Context, args json.RawMessage) (in any, err error) {
	in = reflect.New(t.In).Interface()
	if err := params.Bind(t.Name, args, in); err != nil {
		return nil, misfit(ctx, err)
	}
	return in, nil
}

// misfit returns the fault for arguments that do not fit the tool.
func misfit(ctx context.Context, err *params.Error) *reply.Fault {
	f := reply.Faultf(reply.KindValidation, "%s", err.Message)
	if err.Unknown != nil {
		f.Suggestion = "it takes " + strings.Join(err.Takes, ", ")
	}
	if slices.Contains(err.Unknown, "wait_for_previous") {
		client := "the client"
		if c := stdio.ClientName(ctx); c != "" {
			client = "the client (" + c + ")"
		}
		f.Suggestion += "; wait_for_previous is a scheduling flag of " + client + " and no argument of a tool: leave it out"
	}
	return f
}

// Waits reports whether a call with this input blocks for as long as the caller says.
func (t *Tool) Waits(in any) bool {
	if w, ok := in.(interface{ Waits() bool }); ok { // it depends on the input
		return w.Waits()
	}
	return t.SelfBounded
}

// Socket returns the socket name of the tmux server that an input names, and whether the tool
// acts on one.
func (t *Tool) Socket(in any) (name string, ok bool) {
	named, ok := in.(interface{ Socket() string })
	if ok {
		name = named.Socket()
	}
	return name, ok
}

// Check refuses an invalid input, before tmux or the user is asked for anything.
func (t *Tool) Check(in any, l Limits) error {
	if c, ok := in.(checker); ok {
		return c.Check(l)
	}
	return nil
}

// Resolve resolves and guards the objects that an input names, as the tool declares.
func (t *Tool) Resolve(ctx context.Context, g *guard.Guard, in any) (on target.Object, err error) {
	switch in := in.(type) {
	case target.MultiSelector:
		all, err := g.All(ctx, in.SelectedAll())
		if err != nil {
			return on, err
		}
		return all[0], nil
	case target.Selector:
		return g.At(ctx, in.Selected())
	}
	return on, g.Server(ctx)
}

// Run runs the handler.
func (t *Tool) Run(ctx context.Context, c Call, in any) (any, error) { return t.run(ctx, c, in) }

// Definition returns the tool as tools/list shows it, on a server of a tier, with results of
// a form.
func (t *Tool) Definition(tier guard.Tier, results reply.Results) mcp.Tool {
	k := t.Kind
	if tier.Allows(t.More.Tier) {
		k = t.More
	}
	def := mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Desc,
		RawInputSchema: params.InputSchema(t.In, t.Defaults),
		Annotations: mcp.ToolAnnotation{
			ReadOnlyHint: &k.ReadOnly, DestructiveHint: &k.Destructive,
			IdempotentHint: &k.Idempotent, OpenWorldHint: &k.OpenWorld,
		},
	}
	// If there is an output schema, clients refuse results without structured content.
	if results == reply.ResultsJSON {
		def.RawOutputSchema = params.OutputSchema(t.Out)
	}
	meta := map[string]any{}
	if t.AlwaysLoad {
		meta["anthropic/alwaysLoad"] = true
	}
	if t.Hint != "" {
		meta["anthropic/searchHint"] = t.Hint
	}
	if len(meta) > 0 {
		def.Meta = mcp.NewMetaFromMap(meta)
	}
	return def
}
