// Gosdk makes a client of the Go SDK do everything that one does with tmux-mcp, and fails
// if an answer differs. Its arguments are a revision of MCP and the server's command.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("all of it")
}

// session is a session with the server, and what that has asked and reported.
type session struct {
	*mcp.ClientSession
	stateless       bool // the revision has no sessions on the wire
	asked, progress atomic.Int32
	updated         chan string
}

func run(ctx context.Context, revision string, command []string) error {
	s := &session{stateless: revision >= "2026-07-28", updated: make(chan string, 100)}
	if err := s.connect(ctx, revision, command); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{s.tools, s.waits, s.prompts, s.resources, s.pings, s.subscription} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return s.Close()
}

func (s *session) connect(ctx context.Context, revision string, command []string) (err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "endtoend", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if s.asked.Add(1) == 1 {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		},
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { s.progress.Add(1) },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			s.updated <- r.Params.URI
		},
	})
	s.ClientSession, err = client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(command[0], command[1:]...)}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	hello := s.InitializeResult()
	if hello.ProtocolVersion != revision || hello.ServerInfo != nil && hello.ServerInfo.Name != "tmux" {
		return fmt.Errorf("connected to %+v", hello)
	}
	return nil
}

func (s *session) call(ctx context.Context, name string, args map[string]any) (*mcp.CallToolResult, error) {
	return s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
}

// tools lists the tools and calls some; the user declines the first question and accepts the next.
func (s *session) tools(ctx context.Context) error {
	tools, err := s.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) < 50 {
		return fmt.Errorf("tools: %d, %w", len(tools.Tools), err)
	}
	pane := os.Getenv("TMUX_PANE")
	if r, err := s.call(ctx, "list_panes", nil); err != nil || !strings.Contains(asJSON(r.StructuredContent), `"pane_id":"`+pane+`"`) {
		return fmt.Errorf("list_panes: %s, %w", asJSON(r), err)
	}
	if r, err := s.call(ctx, "get_pane_info", map[string]any{"pane_id": "%99"}); err != nil || !r.IsError {
		return fmt.Errorf("a pane that is not there: %s, %w", asJSON(r), err)
	}
	if _, err := s.call(ctx, "no_such_tool", nil); codeOf(err) != -32602 {
		return fmt.Errorf("an unknown tool: %w", err)
	}
	for i, refused := range []bool{true, false} {
		if r, err := s.call(ctx, "clear_pane", map[string]any{"pane_id": pane}); err != nil || r.IsError != refused {
			return fmt.Errorf("clear_pane, %d: %s, %w", i, asJSON(r), err)
		}
	}
	if n := s.asked.Load(); n != 2 {
		return fmt.Errorf("the user was asked %d times", n)
	}
	return nil
}

// waits has one call report its progress, and gives up another one.
func (s *session) waits(ctx context.Context) error {
	wait := &mcp.CallToolParams{Name: "wait_for_text", Arguments: map[string]any{"pane_id": "%0", "timeout": 1.5}}
	wait.SetProgressToken("here")
	if _, err := s.CallTool(ctx, wait); err != nil || s.progress.Load() == 0 {
		return fmt.Errorf("wait_for_text reported progress %d times, %w", s.progress.Load(), err)
	}
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := s.call(short, "wait_for_text", map[string]any{"pane_id": "%0", "timeout": 60}); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a call that is given up: %w", err)
	}
	return nil
}

func (s *session) prompts(ctx context.Context) error {
	prompts, err := s.ListPrompts(ctx, nil)
	if err != nil || len(prompts.Prompts) != 4 {
		return fmt.Errorf("prompts: %w", err)
	}
	if _, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "interrupt_gracefully", Arguments: map[string]string{"pane_id": "%0"}}); err != nil {
		return fmt.Errorf("a prompt: %w", err)
	}
	done, err := s.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "interrupt_gracefully"}, Argument: mcp.CompleteParamsArgument{Name: "pane_id", Value: "%"}})
	if err != nil || !slices.Contains(done.Completion.Values, "%0") {
		return fmt.Errorf("a completion: %w", err)
	}
	return nil
}

func (s *session) resources(ctx context.Context) error {
	templates, err := s.ListResourceTemplates(ctx, nil)
	if err != nil || len(templates.ResourceTemplates) != 6 {
		return fmt.Errorf("templates: %w", err)
	}
	if r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "tmux://sessions"}); err != nil || len(r.Contents) != 1 {
		return fmt.Errorf("a resource: %w", err)
	}
	if _, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "tmux://panes/%99"}); codeOf(err) != map[bool]int64{false: -32002, true: -32602}[s.stateless] {
		return fmt.Errorf("a missing resource: %w", err)
	}
	return nil
}

// pings does what no later revision has.
func (s *session) pings(ctx context.Context) error {
	if s.stateless {
		return nil
	}
	return errors.Join(s.Ping(ctx, nil), s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "warning"}))
}

// subscription changes a pane until its update comes.
func (s *session) subscription(ctx context.Context) error {
	const uri = "tmux://panes/%250/content"
	if err := s.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	// From 2026-07-28 on, Subscribe does not wait until the server has acknowledged.
	for seen := false; !seen; {
		if _, err := s.call(ctx, "send_keys", map[string]any{"pane_id": "%0", "keys": "changed"}); err != nil {
			return err
		}
		select {
		case got := <-s.updated:
			if seen = true; got != uri {
				return fmt.Errorf("%s was updated", got)
			}
		case <-time.After(time.Second):
		case <-ctx.Done():
			return errors.New("no update came")
		}
	}
	if err := s.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri}); err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	return nil
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func codeOf(err error) int64 {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
