package server

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/audit"
	"tmuxmcp/server/internal/deliver"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/jobs"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/ledger"
	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/subscribe"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/tools"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

// Server is an MCP server over tmux. It is safe for concurrent use.
type Server struct {
	cfg   Config
	form  reply.Form
	mcp   *mcpserver.MCPServer
	tools map[string]*tool.Tool
	order []*tool.Tool // in catalogue order
	// resources are those that this server offers.
	resources []resource
	questions *guard.Questions
	sockets   *sockets.Sockets
	services  tools.Services
	audit     *audit.Log
	following *subscribe.Subscriptions
	// agentFaults are what is wrong with the user's rules for agents.
	agentFaults []agents.Fault
}

// lookTime is how long tmux may take to answer a look at a pane.
var lookTime = 5 * time.Second

// New returns a server. It finds the tmux program but runs nothing.
func New(cfg Config) (*Server, error) {
	if cfg.Tier != Mutating && cfg.Tier != Destructive {
		cfg.Tier = Readonly
	}
	if cfg.WaitMax == 0 {
		cfg.WaitMax = screen.MaxWait
	}
	cfg.Results = cmp.Or(cfg.Results, reply.ResultsText)
	if cfg.MaxResult == 0 {
		cfg.MaxResult = reply.DefaultMaxResult
		if cfg.Results == reply.ResultsJSON {
			cfg.MaxResult = reply.MaxResult
		}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Audit == nil {
		cfg.Audit = slog.New(slog.DiscardHandler)
	}
	named, err := sockets.New(sockets.Config{
		Name: cfg.SocketName, Path: cfg.SocketPath, Caller: cfg.Caller, Pin: cfg.Pin,
		Tmux: tmux.Config{Binary: cfg.Tmux, Env: cfg.Env, Transport: cfg.Transport, Logger: cfg.Log},
	})
	if err != nil {
		return nil, err
	}
	finder, faults := agents.LoadFinder(cfg.AgentRules)
	finder.NoTranscripts, finder.LookTime = cfg.NoTranscripts, lookTime
	for _, f := range faults {
		cfg.Log.Warn(f.Error())
	}
	s := &Server{
		cfg: cfg, form: reply.Form{Results: cfg.Results, Most: cfg.MaxResult}, tools: map[string]*tool.Tool{},
		questions: guard.NewQuestions(), sockets: named, services: servicesFor(cfg, named, finder), agentFaults: faults,
	}
	s.audit = audit.New(cfg.Audit, s.tools, reflect.TypeFor[batchOperation]())
	s.following = subscribe.New(s.watched, s.services.Screens)

	hooks := &mcpserver.Hooks{}
	s.mcp = mcpserver.NewMCPServer("tmux", cfg.Version,
		mcpserver.WithInstructions(instructionsFor(cfg)),
		mcpserver.WithToolCapabilities(false),
		mcpserver.WithResourceCapabilities(true, false),
		mcpserver.WithPromptCapabilities(false),
		mcpserver.WithCompletions(),
		mcpserver.WithPromptCompletionProvider(completer{s}),
		mcpserver.WithResourceCompletionProvider(completer{s}),
		mcpserver.WithLogging(),
		mcpserver.WithHooks(hooks),
	)
	s.add(slices.Concat(tools.All(s.services), s.batchTools())...)
	if cfg.PromptsAsTools {
		s.add(listPrompts, getPrompt)
	}
	register := sync.OnceFunc(func() { s.mcp.AddTools(namesOf(s.order, s.run)...) })
	hooks.AddBeforeListTools(func(context.Context, any, *mcp.ListToolsRequest) { register() })
	hooks.AddBeforeCallTool(func(context.Context, any, *mcp.CallToolRequest) { register() })
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) { r.Tools = s.Tools() })
	hooks.AddOnError(stdio.KeepError)
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, req *mcp.ReadResourceRequest) {
		req.Params.URI = encodedPane(req.Params.URI)
	})
	s.following.Hook(hooks)
	s.addResources()
	s.addPrompts()
	return s, nil
}

// servicesFor returns what tools use.
func servicesFor(cfg Config, named *sockets.Sockets, finder *agents.Finder) tools.Services {
	screens := &screen.Reader{WaitMax: cfg.WaitMax, LookTime: lookTime, MatchTime: match.MaxTime, Agents: finder, Ledger: new(ledger.Ledger)}
	return tools.Services{
		Screens: screens, Keyboard: typing.New(screens, cfg.Yield), Jobs: jobs.New(screens, !cfg.SuppressHistory), Agents: finder,
		Prompts: deliver.New(finder), Start: launch.New(cfg.Env), Sockets: named, Buffers: tools.NewBuffers(),
	}
}

// Agents returns the tmux server that a server with this configuration would use, and a
// finder of agents on it, for commands that show them.
func Agents(cfg Config) (*tmux.Server, *agents.Finder, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, nil, err
	}
	return s.sockets.Configured(), s.services.Agents, nil
}

// add adds tools; mcp-go does not know them yet.
func (s *Server) add(tools ...*tool.Tool) {
	s.order = append(s.order, tools...)
	for _, t := range tools {
		s.tools[t.Name] = t
	}
}

// namesOf returns what mcp-go is given of the tools: only their names; what clients see comes
// from [Server.Tools]. A tool that is not offered is among them, so that the gate can say why
// it is refused.
func namesOf(tools []*tool.Tool, run mcpserver.ToolHandlerFunc) []mcpserver.ServerTool {
	named := make([]mcpserver.ServerTool, len(tools))
	for i, t := range tools {
		named[i] = mcpserver.ServerTool{Tool: mcp.Tool{Name: t.Name, RawInputSchema: json.RawMessage(`{"type":"object"}`)}, Handler: run}
	}
	return named
}

// Call runs one tool, as for a client, and returns what a client would get. The
// error is non-nil only if no tool has that name.
func (s *Server) Call(ctx context.Context, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
	if _, ok := s.tools[name]; !ok {
		return nil, s.unknownTool(name)
	}
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.RawArguments = name, args
	return s.run(ctx, req)
}

// unknownTool returns a fault that suggests the tools that a wrong name may have meant.
func (s *Server) unknownTool(name string) *reply.Fault {
	var names []string
	for _, t := range s.offered() {
		names = append(names, t.Name)
	}
	return reply.Faultf(reply.KindNotFound, "there is no tool %q%s", params.Short(name, 100), nearest.Meant(name, names))
}
