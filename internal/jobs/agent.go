package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// args are the arguments of a call.
type args map[string]any

// An agent is the scripted model. All that it knows of tmux are the task, which names
// panes as a user would, and the text of the results.
type agent struct {
	ctx    context.Context
	client *client.Client
	think  time.Duration
	cost
	trace func(tool, arguments, text string)
}

// A cost is what a job took. Written and Read are bytes: the arguments of the calls,
// as JSON, and the text of the results, as a client shows it to a model.
type cost struct {
	Calls   int     `json:"calls"`
	Written int     `json:"written"`
	Read    int     `json:"read"`
	Seconds float64 `json:"seconds"`
}

func (c *cost) add(other cost) {
	c.Calls, c.Written, c.Read, c.Seconds = c.Calls+other.Calls, c.Written+other.Written, c.Read+other.Read, c.Seconds+other.Seconds
}

// newAgent starts tmux-mcp on the stage's tmux server and shakes hands with it.
func (s *stage) newAgent(trace func(tool, arguments, text string)) (*agent, error) {
	// Not CommandContext: the end of its input ends the server, and nothing else should.
	start := func(_ context.Context, command string, env, args []string) (*exec.Cmd, error) {
		cmd := exec.Command(command, args...)
		cmd.Env, cmd.Dir = env, s.dir
		return cmd, nil
	}
	c, err := client.NewStdioMCPClientWithOptions(s.mcp(), s.env(), []string{"-S", s.socket(), "--tmux", s.bench.tmux}, transport.WithCommandFunc(start))
	if err != nil {
		return nil, err
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "jobs", Version: "1"}
	if _, err := c.Initialize(s.ctx, hello); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &agent{ctx: s.ctx, client: c, think: s.think, trace: trace}, nil
}

// call calls a tool and returns the text of its result, as a client shows it to the
// model. An error ends the job: the scripts make no calls that should fail.
func (a *agent) call(tool string, in args) string {
	if a.Calls > 0 && a.think > 0 {
		select {
		case <-a.ctx.Done():
		case <-time.After(a.think):
		}
	}
	must(a.ctx.Err())
	var arguments bytes.Buffer
	enc := json.NewEncoder(&arguments)
	enc.SetEscapeHTML(false)
	must(enc.Encode(in))
	arguments.Truncate(arguments.Len() - 1)

	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, json.RawMessage(arguments.Bytes())
	res, err := a.client.CallTool(a.ctx, req)
	must(a.ctx.Err())
	if err != nil {
		failf("%s %s: %w", tool, &arguments, err)
	}
	var texts []string
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	text := strings.Join(texts, "\n")
	a.Calls++
	a.Written += arguments.Len()
	a.Read += len(text)
	if a.trace != nil {
		a.trace(tool, arguments.String(), text)
	}
	if res.IsError {
		failf("%s %s failed: %s", tool, &arguments, text)
	}
	return text
}

// find returns the first group of a regular expression in a result. Without a match
// the agent does not know how to go on, and the job ends.
func find(text, pattern string) string {
	m := regexp.MustCompile("(?m)" + pattern).FindStringSubmatch(text)
	if m == nil {
		failf("the agent reads no %s in:\n%s", pattern, text)
	}
	return m[len(m)-1]
}

// see is find in the result of a call that shows a screen. An agent that does not find
// there what it must know takes another look: the program may have been drawing.
func (a *agent) see(text, pane, pattern string) (screen, found string) {
	if !regexp.MustCompile("(?m)" + pattern).MatchString(text) {
		text = a.call("snapshot_pane", args{"pane_id": pane})
	}
	return text, find(text, pattern)
}

// lines are the lines below the facts of a result.
func lines(text string) []string {
	_, rest, _ := strings.Cut(text, "\n")
	if rest == "" {
		return nil
	}
	return strings.Split(rest, "\n")
}
