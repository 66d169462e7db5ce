package server

import (
	"context"
	"embed"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

//go:embed prompts/*.txt
var promptFiles embed.FS

// prompt declares a prompt. Its text is prompts/NAME.txt, in which {{.NAME}} stands for an
// argument, and {{quote .NAME}} for an argument in quotes.
type prompt struct {
	name, title, desc string
	args              []promptArgument
}

type promptArgument struct {
	name, desc, def string
	number          bool
}

var prompts = []prompt{
	{"run_and_wait", "Run And Wait", "Run a command in a pane and wait for its end.", []promptArgument{
		{name: "command", desc: "shell command"}, {name: "pane_id", desc: "%N"}, {name: "timeout", desc: "seconds", def: "60.0", number: true}}},
	{"diagnose_failing_pane", "Diagnose Failing Pane", "Find out why the command in a pane fails.", []promptArgument{
		{name: "pane_id", desc: "%N"}}},
	{"build_dev_workspace", "Build Dev Workspace", "Make a session with an editor, a shell and a log.", []promptArgument{
		{name: "session_name", desc: "name of the new session"}, {name: "log_command", desc: "what the log pane runs", def: "watch -n 1 date"}}},
	{"interrupt_gracefully", "Interrupt Gracefully", "Stop what runs in a pane with C-c, and see that it stopped.", []promptArgument{
		{name: "pane_id", desc: "%N"}}},
}

// render returns the text of a prompt with its arguments filled in.
func (p prompt) render(given map[string]string) (string, error) {
	args := map[string]string{}
	for _, a := range p.args {
		v, ok := given[a.name]
		if !ok || v == "" {
			v = a.def
		}
		if v == "" {
			return "", reply.Argument(a.name, "is required")
		}
		if a.number {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || n <= 0 {
				return "", reply.Argument(a.name, "must be a number above 0")
			}
		}
		args[a.name] = v
	}
	if id, ok := args["pane_id"]; ok && !tmux.PaneID(id).Valid() {
		return "", reply.Argument("pane_id", "must be a pane's id, such as %%3")
	}
	for name := range given {
		if _, ok := args[name]; !ok {
			return "", reply.Argument(name, "is not an argument of this prompt")
		}
	}
	text, err := promptFiles.ReadFile("prompts/" + p.name + ".txt")
	if err != nil {
		return "", err
	}
	history, recorded := "", ""
	if strings.ContainsAny(args["command"], "\r\n") {
		history = ", suppress_history=False"
		recorded = "\nThe command has several lines, so history suppression is off: the shell may record it in its history."
	}
	replaced := []string{"{{history}}", history, "{{recorded}}", recorded}
	for name, v := range args {
		replaced = append(replaced, "{{."+name+"}}", v, "{{quote ."+name+"}}", strconv.Quote(v))
	}
	return strings.TrimSpace(strings.NewReplacer(replaced...).Replace(string(text))), nil
}

func (s *Server) addPrompts() {
	for _, p := range prompts {
		decl := mcp.Prompt{Name: p.name, Title: p.title, Description: p.desc}
		for _, a := range p.args {
			decl.Arguments = append(decl.Arguments, mcp.PromptArgument{Name: a.name, Description: a.desc, Required: a.def == ""})
		}
		s.mcp.AddPrompt(decl, func(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if req.Params.RequestState != "" {
				return nil, guard.ErrForged
			}
			text, err := p.render(req.Params.Arguments)
			if err != nil {
				return nil, err
			}
			return mcp.NewGetPromptResult(p.desc, []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text))}), nil
		})
	}
}

// completer completes the arguments of prompts and the variables of resources with what
// exists in tmux.
type completer struct{ s *Server }

func (c completer) CompletePromptArgument(ctx context.Context, _ string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if refusal(c.s.cfg, c.s.tools["list_panes"]) != nil {
		return &mcp.Completion{}, nil
	}
	return c.complete(ctx, a, mcp.CompleteContext{})
}

func (c completer) CompleteResourceArgument(ctx context.Context, uri string, a mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	if !slices.ContainsFunc(c.s.resources, func(r resource) bool { return r.uri == uri }) {
		return &mcp.Completion{}, nil
	}
	return c.complete(ctx, a, given)
}

func (c completer) complete(ctx context.Context, a mcp.CompleteArgument, given mcp.CompleteContext) (*mcp.Completion, error) {
	srv, err := c.s.sockets.Get(given.Arguments["socket_name"])
	if err != nil {
		return &mcp.Completion{}, nil
	}
	slot, err := c.s.sockets.Slot(ctx, srv)
	if err != nil {
		return nil, err
	}
	defer slot.Leave()
	type row struct {
		Pane    string `tmux:"pane_id"`
		Session string `tmux:"session_name"`
		Window  string `tmux:"window_index"`
	}
	var values []string
	if value, ok := map[string]func(row) string{
		"pane_id":      func(r row) string { return r.Pane },
		"session_name": func(r row) string { return r.Session },
		"window_index": func(r row) string { return r.Window },
	}[a.Name]; ok {
		list := tmux.ListPanes{All: true}
		if a.Name == "window_index" {
			list.Filter = target.Selection{Name: given.Arguments["session_name"]}.Within()
		}
		// A completion cannot report errors.
		rows, _ := tmux.List[row](ctx, srv, list)
		for _, r := range rows {
			values = append(values, value(r))
		}
	} else if a.Name == "socket_name" && !c.s.sockets.Pinned() && refusal(c.s.cfg, c.s.tools["list_servers"]) == nil {
		servers, _, _ := c.s.sockets.All(nil)
		for _, srv := range servers {
			values = append(values, filepath.Base(srv.SocketPath()))
		}
	}
	var kept []string
	for _, v := range values {
		// Names with invisible characters cannot be chosen: see legible.go.
		if strings.HasPrefix(v, a.Value) && !slices.Contains(kept, v) && reply.Legible(v, "") == v {
			kept = append(kept, v)
		}
	}
	// The protocol allows at most 100.
	return &mcp.Completion{Values: kept[:min(100, len(kept))], Total: len(kept), HasMore: len(kept) > 100}, nil
}
