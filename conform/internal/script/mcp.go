package script

import (
	mcpclient "github.com/mark3labs/mcp-go/client"

	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/internal/schema"
	"tmuxmcp/internal/peer"
)

// maxMessage is the longest line that a server may write.
const maxMessage = 4 << 20

// mcpServer is the MCP server of a script: a process, and a client on its standard input and
// output. Whatever the server does, a call ends, with the script at the latest.
type mcpServer struct {
	*peer.Peer
	client *mcpclient.Client
	name   string // the server's own
	tools  map[string]mcp.Tool

	dialect  *gap.Dialect
	answered map[string]bool        // tools with names of arguments, see call
	line     atomic.Pointer[string] // the last answer's

	log     peer.Log      // its standard error
	relayed chan struct{} // closed when no more messages come
	garbage string        // once closed: the line on standard output that is not a message
}

// noAnswer stands for a missing answer in reproducers.
const noAnswer = "(no answer)"

// callOf parses the arguments of the command mcp.
func callOf(args []string) (tool string, object map[string]any, wrong bool, err error) {
	arguments := "{}"
	if wrong = len(args) > 0 && args[0] == "-wrong"; wrong {
		args = args[1:]
	}
	if len(args) == 2 {
		arguments = args[1]
	}
	if len(args) < 1 || len(args) > 2 || json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
		return "", nil, false, misused(fmt.Sprintf("usage: mcp [-wrong] TOOL [JSON], with a JSON object of arguments, not %q", args))
	}
	return args[0], object, wrong, nil
}

// mcp calls a tool of the script's MCP server.
func (c *caller) mcp(ctx context.Context, _ string, args []string) outcome {
	tool, object, wrong, err := callOf(args)
	if err != nil {
		return outcome{err: err}
	}
	m := c.mcpServer.Load()
	if m == nil {
		if m, err = c.startServer(); err != nil {
			return outcome{err: misused(fmt.Sprintf("start the MCP server: %v", err))}
		}
		c.mcpServer.Store(m)
	}
	o := m.call(ctx, tool, object, wrong)
	if o.err != nil {
		o.raw = cmp.Or(o.raw, noAnswer)
	}
	switch {
	case o.err != nil && ctx.Err() != nil:
		o.err = fmt.Errorf("no answer within the script's %v%s", c.req.Timeout, m.said())
	case o.err != nil:
		o.err = m.explain(ctx, o.err)
	case o.misfit != nil && c.req.Another && o.code != 0:
		o.err = o.misfit
	}
	return o
}

// startServer starts the server, without a request.
func (c *caller) startServer() (*mcpServer, error) {
	m := &mcpServer{dialect: c.req.Dialect, answered: map[string]bool{}, relayed: make(chan struct{})}
	cmd := exec.Command(c.req.Server[0], c.req.Server[1:]...)
	cmd.Dir = c.req.ServerDir
	cmd.Env = append(slices.Clip(c.env),
		"TMUX_MCP_SOCKET_PATH="+c.socket, "LIBTMUX_SOCKET_PATH="+c.socket,
		"TMUX_MCP_TMUX_BIN="+c.req.Target.Path, "LIBTMUX_TMUX_BIN="+c.req.Target.Path,
		// Scripts examine structured content. Other servers ignore this variable.
		"TMUX_MCP_RESULTS=json")
	cmd.Env = append(cmd.Env, c.serverEnv()...)
	if c.req.Another { // it may run "tmux", on the default socket
		cmd.Env = append(cmd.Env, pathWith(programOf(c.req.Dir)))
	}
	var err error
	if m.log, err = peer.NewLog(c.req.Dir); err != nil {
		return nil, err
	}
	cmd.Stderr = m.log.File
	if m.Peer, err = peer.Open(cmd, peer.KillOrphans); err != nil {
		return nil, err
	}
	// This ends a write to a server that does not read.
	context.AfterFunc(c.ctx, m.Kill)
	messages, relay := io.Pipe()
	go m.relay(relay)
	m.client = mcpclient.NewClient(transport.NewIO(messages, m.Stdin, nil))
	return m, nil
}

// serverEnv returns the variables of the server that depend on the script.
func (c *caller) serverEnv() []string {
	env := []string{"TMUX_MCP_SAFETY=" + c.safety, "TMUX_MCP_TRANSPORT=" + string(c.req.Transport)}
	// A server may refuse to start if it does not know a variable: this one is set only if the
	// dialect is known and the script needs another tier than the default.
	if d := c.req.Dialect; d != nil && d.Tiers != "" && c.safety != defaultTier {
		env = append(env, d.Tiers+"="+d.TierValues[c.safety])
	}
	return env
}

// call calls a tool in the server's dialect, and initializes the session if this is the first call.
// The outcome has an error if the server gives no valid answer. A call that is wrong on purpose
// need not fit what the tool declares.
func (m *mcpServer) call(ctx context.Context, tool string, ours map[string]any, wrong bool) (o outcome) {
	if m.tools == nil {
		if o.err = m.greet(ctx); o.err != nil {
			return o
		}
	}
	name, arguments, err := m.dialect.Ask(tool, ours)
	if err != nil {
		return outcome{err: err}
	}
	declared, ok := m.tools[name]
	if !ok {
		return outcome{err: gap.NoTool(name)}
	}
	raw, _ := json.Marshal(arguments)
	if name != tool || !reflect.DeepEqual(arguments, ours) {
		o.asked = name + " " + string(raw)
	}
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = name, arguments
	m.line.Store(nil)
	res, err := m.client.CallTool(ctx, req)
	o.raw = noAnswer
	if line := m.line.Load(); line != nil {
		o.raw = *line
	}
	if errors.Is(err, mcp.ErrInvalidParams) {
		if wrong {
			o.code, o.stderr = 1, err.Error()+"\n"
			return o
		}
		o.misfit = cmp.Or(m.undeclared(tool, declared, arguments), err)
	}
	if err != nil {
		o.err = fmt.Errorf("call %s: %w", name, err)
		return o
	}
	// A server that has answered a call with these arguments understands it, whatever it declares:
	// an error is not about them.
	names := fmt.Sprint(name, slices.Sorted(maps.Keys(arguments)))
	if !res.IsError {
		m.answered[names] = true
	}
	if !wrong && !(res.IsError && m.answered[names]) {
		o.misfit = m.misfit(tool, declared, arguments, raw, res.IsError)
	}
	o.read(m.dialect, tool, declared, res)
	return o
}

// misfit returns how a call is not as the tool declares it, or nil.
func (m *mcpServer) misfit(ours string, tool mcp.Tool, arguments map[string]any, raw []byte, failed bool) error {
	if err := m.undeclared(ours, tool, arguments); err != nil {
		return err
	}
	in := tool.InputSchema
	// A tool that succeeds may have ignored an argument that it does not declare.
	if !failed && in.Properties != nil && in.AdditionalProperties == nil {
		in.AdditionalProperties = false
	}
	if unfit := schema.Fits(in, raw); unfit != nil {
		return fmt.Errorf("the call is not as %s declares it: %w", tool.Name, unfit)
	}
	return nil
}

// read sets what a call came to from the tool's result, in the words of scripts: the dialect
// translates structured content, for which text stands in.
func (o *outcome) read(d *gap.Dialect, ours string, tool mcp.Tool, res *mcp.CallToolResult) {
	var parts []string
	for _, c := range res.Content {
		if t, ok := c.(mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	text := strings.Join(parts, "\n")
	if res.IsError {
		o.code, o.stderr = 1, text+"\n"
		if res.Meta != nil {
			o.stdout, o.err = indented(map[string]any{"_meta": res.Meta})
		}
		return
	}
	structured := res.RawStructuredContent
	if structured == nil {
		answer := map[string]any{"result": text}
		if within := schema.JSONWithin(text); within != nil {
			answer["json"] = within
		}
		structured, _ = json.Marshal(answer)
	}
	structured, err := d.Answer(ours, structured)
	if err != nil {
		o.err = fmt.Errorf("the answer of %s: %w", tool.Name, err)
		return
	}
	if o.stdout, o.err = indented(structured); o.err != nil {
		return
	}
	if o.err = schema.Declares(tool, res.RawStructuredContent); o.err != nil {
		o.misfit = cmp.Or(o.misfit, o.err)
	}
}

// undeclared returns a [gap.NotOffered] for an argument that a tool does not declare. It returns
// nil for one that the dialect names: the dialect is wrong then.
func (m *mcpServer) undeclared(ours string, tool mcp.Tool, arguments map[string]any) error {
	unknown := schema.Undeclared(tool.InputSchema, arguments)
	if unknown == "" || m.dialect.Names(ours, unknown) {
		return nil
	}
	return gap.NotOffered(fmt.Sprintf("the server's %s has no parameter %s", tool.Name, unknown))
}

// indented returns a value as JSON for scripts to examine.
func indented(v any) (string, error) {
	out, err := json.MarshalIndent(v, "", "  ")
	return string(out) + "\n", err
}

// greet initializes the session and lists the server's tools.
func (m *mcpServer) greet(ctx context.Context) error {
	if err := m.client.Start(ctx); err != nil {
		return err
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = child.ProtocolVersion
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcp-conform", Version: "1"}
	welcome, err := m.client.Initialize(ctx, hello)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	m.name = welcome.ServerInfo.Name
	list, err := m.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("list the tools: %w", err)
	}
	m.tools = map[string]mcp.Tool{}
	for _, t := range list.Tools {
		m.tools[t.Name] = t
	}
	return nil
}

// mcpLeave closes the server's input, as a leaving client does, and waits for the server to exit.
func (c *caller) mcpLeave(ctx context.Context, _ string, args []string) outcome {
	m := c.mcpServer.Swap(nil)
	if len(args) > 0 || m == nil {
		return outcome{err: misused("usage: mcp-leave, after an mcp")}
	}
	m.Stdin.Close()
	if !ended(ctx, m.Exited) {
		return outcome{err: fmt.Errorf("the server is still there at the script's %v", c.req.Timeout)}
	}
	o := outcome{code: m.Cmd.ProcessState.ExitCode(), stderr: m.log.Head(child.MaxOutput)}
	if o.code < 0 {
		o.err = fmt.Errorf("the server ended: %v%s", m.Cmd.ProcessState, m.said())
	}
	return o
}

// explain returns the reason for a call's error if the server has ended, or has written something
// that is not a message; otherwise it returns err.
func (m *mcpServer) explain(ctx context.Context, err error) error {
	if !errors.Is(err, transport.ErrTransportClosed) && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) {
		return err
	}
	// Its output has ended or, as it does not read, soon will.
	soon, cancel := context.WithTimeout(ctx, 3*child.GraceTime)
	defer cancel()
	closed := ended(soon, m.relayed)
	switch {
	case closed && m.garbage != "":
		return fmt.Errorf("the server wrote a line to its standard output that is no message: %.200q", m.garbage)
	case closed && ended(soon, m.Exited):
		return fmt.Errorf("the server ended: %v%s", m.Cmd.ProcessState, m.said())
	case ctx.Err() != nil:
		return err
	}
	return errors.New("the server closed its standard output" + m.said())
}

// ended waits until done is closed, and reports false if ctx ends first.
func ended(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// said returns the end of what the server wrote to standard error, with a colon in front, or "".
func (m *mcpServer) said() string {
	if text := child.Tail(m.log.Tail(child.MaxText)); text != "" {
		return ": " + text
	}
	return ""
}

// offer starts the server and returns which tools it offers.
func (c *caller) offer(ctx context.Context) (child.Message, error) {
	m, err := c.startServer()
	if err != nil {
		return child.Message{}, err
	}
	c.mcpServer.Store(m)
	if err := m.greet(ctx); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %v", c.req.Timeout)
		} else {
			err = m.explain(ctx, err)
		}
		// Instead of the end of its standard error, which explain appends, show the beginning.
		text := strings.TrimSuffix(err.Error(), m.said())
		const most = 1000
		said := m.log.Head(most + 1)
		if begun := child.OneLine(said[:min(len(said), most)]); begun != "" {
			text += ": " + begun
		}
		if len(said) > most {
			text += " …"
		}
		return child.Message{}, errors.New(text)
	}
	offers := gap.Offer{}
	for name, tool := range m.tools {
		offers[name] = []string{}
		for parameter := range tool.InputSchema.Properties {
			offers[name] = append(offers[name], parameter)
		}
	}
	return child.Message{Offer: offers, ServerName: m.name}, nil
}

// relay passes the server's output to the client, message by message, and stops at
// anything that is not a message, as real clients react to that differently.
func (m *mcpServer) relay(w *io.PipeWriter) {
	defer m.Stdout.Close()
	sc := bufio.NewScanner(m.Stdout)
	sc.Buffer(nil, maxMessage)
	for sc.Scan() {
		line := sc.Bytes()
		var message struct {
			JSONRPC string `json:"jsonrpc"`
			Method  string `json:"method"`
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if json.Unmarshal(line, &message) != nil || message.JSONRPC != mcp.JSONRPC_VERSION {
			m.garbage = string(line[:min(len(line), child.MaxText)])
			break
		}
		if text := string(line); message.Method == "" {
			m.line.Store(&text)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			break
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		m.garbage = fmt.Sprintf("(more than %d bytes without an end)", maxMessage)
	}
	close(m.relayed)
	w.Close()
	io.Copy(io.Discard, m.Stdout)
}
