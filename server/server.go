package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/deliver"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/jobs"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/server/params"
	"tmuxmcp/tmux"
)

// Server is an MCP server over tmux. It is safe for concurrent use.
type Server struct {
	cfg   Config
	form  reply.Form
	mcp   *mcpserver.MCPServer
	tools map[string]*tool
	order []string // in catalogue order
	// resources are those that this server offers.
	resources []resource
	digest    digester
	questions *guard.Questions
	screens   *screen.Reader
	keyboard  typing.Keyboard
	jobs      *jobs.Runner
	start     *launch.Starter
	sockets   *sockets.Sockets
	prompts   *deliver.Sender

	subscriptions subscriptions
	waits

	agents agents.Finder

	mu          sync.Mutex
	withBuffers map[string]*tmux.Server // those that hold our buffers, by socket
}

// waits are how long a server waits: the constants of the same names, except in tests.
type waits struct {
	followInterval, leastReading time.Duration
	// bufferTime bounds tmux's work on a buffer.
	bufferTime time.Duration
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
	s := &Server{
		cfg: cfg, questions: guard.NewQuestions(), form: reply.Form{Results: cfg.Results, Most: cfg.MaxResult}, tools: make(map[string]*tool, len(tools)),
		waits: waits{
			followInterval: followInterval, leastReading: leastReading,
			bufferTime: bufferTime,
		},
	}
	s.screens = &screen.Reader{WaitMax: cfg.WaitMax, LookTime: lookTime, MatchTime: match.MaxTime, Agents: &s.agents}
	s.keyboard.Screens, s.jobs, s.start = s.screens, jobs.New(s.screens), launch.New(cfg.Env)
	s.prompts = deliver.New(&s.agents)
	rand.Read(s.digest[:])
	var err error
	if s.sockets, err = sockets.New(sockets.Config{
		Name: cfg.SocketName, Path: cfg.SocketPath, Caller: cfg.Caller, Pin: cfg.Pin,
		Tmux: tmux.Config{Binary: cfg.Tmux, Env: cfg.Env, Transport: cfg.Transport, Logger: cfg.Log},
	}); err != nil {
		return nil, err
	}

	hooks := &mcpserver.Hooks{}
	s.mcp = mcpserver.NewMCPServer("tmux", cfg.Version,
		mcpserver.WithInstructions(s.instructions()),
		mcpserver.WithToolCapabilities(false),
		mcpserver.WithResourceCapabilities(true, false),
		mcpserver.WithPromptCapabilities(false),
		mcpserver.WithCompletions(),
		mcpserver.WithPromptCompletionProvider(completer{s}),
		mcpserver.WithResourceCompletionProvider(completer{s}),
		mcpserver.WithLogging(),
		mcpserver.WithHooks(hooks),
	)
	for _, t := range tools {
		s.add(t)
	}
	if cfg.PromptsAsTools {
		for _, t := range promptTools {
			s.add(t)
		}
	}
	hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) { r.Tools = s.Tools() })
	hooks.AddOnError(stdio.KeepError)
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, req *mcp.ReadResourceRequest) {
		req.Params.URI = encodedPane(req.Params.URI)
	})
	s.addSubscriptions(hooks)
	s.addResources()
	s.addPrompts()
	return s, nil
}

// add registers a tool. mcp-go knows only its name; what clients see comes from
// [Server.Tools]. A tool that is not offered is registered too, so that the gate can say
// why it is refused.
func (s *Server) add(t *tool) {
	if t.aim.Rule == target.Undeclared || t.harm == guard.UnknownHarm && !t.kind.readOnly {
		panic(t.name + " does not declare what it acts on, or what it does to it")
	}
	s.order = append(s.order, t.name)
	s.tools[t.name] = t
	s.mcp.AddTool(mcp.Tool{Name: t.name, RawInputSchema: json.RawMessage(`{"type":"object"}`)}, s.run)
}

// Call runs one tool, as for a client, and returns what a client would get. The
// error is non-nil only if no tool has that name.
func (s *Server) Call(ctx context.Context, name string, args json.RawMessage) (*mcp.CallToolResult, error) {
	if _, ok := s.tools[name]; !ok {
		return nil, unknownTool(name, s)
	}
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.RawArguments = name, args
	return s.run(ctx, req)
}

// unknownTool returns a fault that suggests the tools that a wrong name may have meant.
func unknownTool(name string, s *Server) *reply.Fault {
	var names []string
	for _, d := range s.offered() {
		names = append(names, d.name)
	}
	return reply.Faultf(reply.KindNotFound, "there is no tool %q%s", params.Short(name, 100), nearest.Meant(name, names))
}
