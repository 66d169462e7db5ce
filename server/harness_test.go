package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/server/cli"
	"tmuxmcp/tmux"
)

// peer is a client of the server under test. Every answer of a tool is checked
// against the tool's output schema.
type peer struct {
	t       testing.TB
	in      io.WriteCloser
	process *exec.Cmd // nil for a server in this process
	stderr  *lockedBuffer
	done    chan struct{} // closed when the server's output has ended
	err     error         // of Serve or of the process, valid after done

	mu      sync.Mutex
	nextID  int
	waiting map[string]chan reply
	// messages are all messages from the server in the order they came.
	messages []json.RawMessage
	// reads is set for a client that gets only text.
	reads bool
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// result is what a tool answered.
type result struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Meta       map[string]any  `json:"_meta"`
}

func (r result) text() string {
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n")
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// configFor returns a configuration for a tmux server of testserver, outside any tmux and
// with every tool.
func configFor(srv *tmux.Server) server.Config {
	return server.Config{
		Tmux: srv.Binary(), SocketPath: srv.SocketPath(), Tier: server.Destructive, Results: server.ResultsJSON, SuppressHistory: true, Version: "test",
		Env:       append(os.Environ(), "TMUX_TMPDIR="+filepath.Dir(srv.SocketPath())),
		Transport: tmux.Transport(os.Getenv("TMUX_TEST_TRANSPORT")),
	}
}

// serve starts a server in this process and shakes hands with it.
func serve(t testing.TB, cfg server.Config) *peer {
	t.Helper()
	p := connect(t, cfg)
	p.handshake("{}")
	return p
}

// connect starts a server in this process.
func connect(t testing.TB, cfg server.Config) *peer {
	t.Helper()
	return connectTo(t, newServer(t, cfg))
}

// servedBy is serve, but also returns the server.
func servedBy(t testing.TB, cfg server.Config) (*server.Server, *peer) {
	t.Helper()
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := connectTo(t, s)
	p.handshake("{}")
	return s, p
}

// promptly returns a server in this process with its client.
func promptly(t *testing.T, srv *tmux.Server) (*server.Server, *peer) {
	t.Helper()
	return servedBy(t, configFor(srv))
}

func newServer(t testing.TB, cfg server.Config) *server.Server {
	t.Helper()
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func connectTo(t testing.TB, s *server.Server) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := newPeer(t, inW)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		p.err = s.Serve(ctx, inR, outW)
		outW.Close()
	}()
	go p.read(outR)
	t.Cleanup(func() {
		inW.Close()
		select {
		case <-p.done:
		case <-time.After(time.Minute):
			t.Error("the server did not end with its input")
		}
		cancel()
	})
	return p
}

func newPeer(t testing.TB, in io.WriteCloser) *peer {
	return &peer{t: t, in: in, done: make(chan struct{}), waiting: map[string]chan reply{}}
}

// program returns the path of tmux-mcp: this test program under another name, so that
// nothing is built.
var program = sync.OnceValue(func() string {
	dir := filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "program") // goes when the tests are over
	path := filepath.Join(dir, "tmux-mcp")
	self, err := os.Executable()
	if err = errors.Join(err, os.Mkdir(dir, 0o700)); err == nil && os.Link(self, path) != nil {
		var text []byte
		if text, err = os.ReadFile(self); err == nil {
			err = testtool.WriteProgram(path, text)
		}
	}
	if err != nil {
		panic(err)
	}
	return path
})

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "tmux-mcp" { // see program
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, nil))
	}
	// A developer's own settings, or tmux, must not change what is tested.
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "LIBTMUX_") || strings.HasPrefix(name, "TMUX_MCP_") || name == "TMUX" || name == "TMUX_PANE" {
			os.Unsetenv(name)
		}
	}
	testtool.Parallel(20)
	// Keep run_command's files away from those of the developer's own servers.
	own, err := os.MkdirTemp("", "tmux-mcp-te@st+,") // with all that a home may have
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_RUNTIME_DIR", own)
	code := m.Run()
	os.RemoveAll(own)
	// A recorder exists for two seconds after its command.
	left := workingIn(own)
	for end := time.Now().Add(time.Minute); len(left) > 0 && time.Now().Before(end); left = workingIn(own) {
		time.Sleep(50 * time.Millisecond)
	}
	if len(left) > 0 {
		fmt.Printf("recorders are left, whose commands are over: processes %v\n", left)
		code = 1
	}
	os.Exit(code)
}

// workingIn returns the processes whose working directory is below a removed one, as far as
// that can be known.
func workingIn(dir string) (pids []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if at, _ := os.Readlink(link); strings.HasPrefix(at, dir+"/") {
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}

// start runs the real binary on a tmux server, without shaking hands.
func start(t testing.TB, srv *tmux.Server, env []string, flags ...string) *peer {
	t.Helper()
	p := started(t, srv, env, flags...)
	p.run()
	return p
}

// started is start, except that the program does not run yet.
func started(t testing.TB, srv *tmux.Server, env []string, flags ...string) *peer {
	t.Helper()
	given := []string{"-S", srv.SocketPath(), "--tmux", srv.Binary(), "--safety", "destructive", "--results", "json", "--transport", os.Getenv("TMUX_TEST_TRANSPORT")}
	cmd := exec.Command(program(), append(given, flags...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMUX=", "TMUX_PANE=", "LANG=C", "XDG_RUNTIME_DIR=" + os.Getenv("XDG_RUNTIME_DIR")}, env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := newPeer(t, in)
	p.process, p.stderr = cmd, &lockedBuffer{}
	cmd.Stderr = p.stderr
	return p
}

// run starts its program.
func (p *peer) run() {
	p.t.Helper()
	out, err := p.process.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.process.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		p.read(out)
	}()
	p.t.Cleanup(func() {
		p.in.Close()
		select {
		case <-p.done:
		case <-time.After(time.Minute):
			p.process.Process.Kill()
			p.t.Errorf("the program did not end with its input; it logged:\n%s", p.stderr)
		}
		p.process.Wait()
	})
}

func (p *peer) read(r io.Reader) {
	defer close(p.done)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			p.receive(line)
		}
		if err != nil {
			return
		}
	}
}

func (p *peer) receive(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		reply
	}
	if err := json.Unmarshal(line, &m); err != nil && line[0] != '[' {
		p.t.Errorf("the server wrote what is not JSON: %q", line)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = append(p.messages, bytes.Clone(line))
	if m.Method == "" {
		if c := p.waiting[string(m.ID)]; c != nil {
			delete(p.waiting, string(m.ID))
			c <- m.reply
		}
	}
}

// send writes one message.
func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatalf("write to the server: %v", err)
	}
}

// begin sends a request and returns a channel for its reply, and its id.
func (p *peer) begin(method string, params any) (<-chan reply, string) {
	p.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	c := make(chan reply, 1)
	p.mu.Lock()
	p.nextID++
	id := fmt.Sprint(p.nextID)
	p.waiting[id] = c
	p.mu.Unlock()
	p.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, raw)
	return c, id
}

// request sends a request and waits for the reply.
func (p *peer) request(method string, params any) reply {
	p.t.Helper()
	c, _ := p.begin(method, params)
	return p.await(c)
}

func (p *peer) await(c <-chan reply) reply {
	p.t.Helper()
	select {
	case r := <-c:
		return r
	case <-p.done:
		select {
		case r := <-c:
			return r
		default:
		}
		p.t.Fatalf("the server ended without an answer")
	case <-time.After(2 * time.Minute):
		p.t.Fatal("no answer in two minutes")
	}
	return reply{}
}

func (p *peer) handshake(capabilities string) reply {
	p.t.Helper()
	r := p.request("initialize", json.RawMessage(`{"protocolVersion":"2025-06-18","capabilities":`+capabilities+`,"clientInfo":{"name":"probe","version":"1.2"}}`))
	if r.Error != nil {
		p.t.Fatalf("initialize: %s", r.Error.Message)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return r
}

// tool calls a tool with arguments given as JSON.
func (p *peer) tool(name, args string) result {
	p.t.Helper()
	c, _ := p.begin("tools/call", map[string]any{"name": name, "arguments": json.RawMessage(args)})
	schema := name
	if strings.Contains(args, `"fields":["`) {
		schema += someFields
	}
	return p.resultOf(name, schema, p.await(c))
}

// toolResult checks the answer of a tool against its schema.
func (p *peer) toolResult(name string, r reply) result {
	p.t.Helper()
	return p.resultOf(name, name, r)
}

// resultOf checks the answer of a tool against a schema.
func (p *peer) resultOf(name, schema string, r reply) result {
	p.t.Helper()
	if r.Error != nil {
		p.t.Fatalf("%s: JSON-RPC error %d: %s", name, r.Error.Code, r.Error.Message)
	}
	var res result
	if err := json.Unmarshal(r.Result, &res); err != nil {
		p.t.Fatalf("%s: %v in %s", name, err, r.Result)
	}
	if len(res.Content) != 1 || res.Content[0].Type != "text" {
		p.t.Errorf("%s answers with other than one text block: %s", name, r.Result)
	}
	if res.IsError {
		if res.Structured != nil {
			p.t.Errorf("%s: an error has structured content: %s", name, r.Result)
		}
		if !p.reads && (res.Meta["error_type"] == nil || res.Meta["expected"] == nil) {
			p.t.Errorf("%s: an error without error_type and expected: %s", name, r.Result)
		}
		return res
	}
	if p.reads {
		if res.Structured != nil {
			p.t.Errorf("%s: text has structured content beside it: %s", name, r.Result)
		}
		return res
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(res.Structured))
	if err != nil {
		p.t.Fatalf("%s: structured content: %v in %s", name, err, r.Result)
	}
	if err := p.schema(schema).Validate(value); err != nil {
		p.t.Errorf("%s: the answer does not fit the output schema: %v\n%s", name, err, res.Structured)
	}
	return res
}

// someFields is appended to a tool's name for its schema in calls that choose fields.
const someFields = ", some fields"

// schema returns the output schema of a tool, made strict: every property must be there,
// unless fields were chosen, and no other.
func (p *peer) schema(name string) *jsonschema.Schema {
	p.t.Helper()
	tool, some := strings.CutSuffix(name, someFields)
	text, known := outputSchemas.Load(tool)
	if !known {
		r := p.request("tools/list", map[string]any{})
		var list struct {
			Tools []struct {
				Name         string          `json:"name"`
				OutputSchema json.RawMessage `json:"outputSchema"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(r.Result, &list); err != nil {
			p.t.Fatal(err)
		}
		for _, tool := range list.Tools {
			outputSchemas.Store(tool.Name, string(tool.OutputSchema))
		}
		if text, known = outputSchemas.Load(tool); !known {
			p.t.Fatalf("%s is not listed", tool)
		}
	}
	s, err := compiled(text.(string), !some)
	if err != nil {
		p.t.Fatalf("output schema of %s: %v", tool, err)
	}
	return s
}

// outputSchemas are the schemas of tools, by name: all servers have the same ones, and
// listing them takes longer than most calls.
var outputSchemas sync.Map

// compiled returns a strict schema. Compiling one takes longer than most tests.
func compiled(text string, all bool) (*jsonschema.Schema, error) {
	type key struct {
		text string
		all  bool
	}
	if s, ok := compiledSchemas.Load(key{text, all}); ok {
		return s.(*jsonschema.Schema), nil
	}
	var schema any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return nil, err
	}
	strict(schema, all)
	if props, ok := schema.(map[string]any)["properties"].(map[string]any); ok {
		props["left_out"] = map[string]any{"type": "string"} // of any result that is too large
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", schema); err != nil {
		return nil, err
	}
	s, err := c.Compile("schema.json")
	if err == nil {
		compiledSchemas.Store(key{text, all}, s)
	}
	return s, err
}

var compiledSchemas sync.Map

func strict(schema any, all bool) {
	switch s := schema.(type) {
	case map[string]any:
		if props, ok := s["properties"].(map[string]any); ok {
			var names []any
			for name, prop := range props {
				names = append(names, name)
				strict(prop, all)
			}
			s["additionalProperties"] = false
			if all {
				s["required"] = names
			}
		}
		strict(s["items"], all)
	}
}

// ok calls a tool that must succeed and decodes its structured content.
func ok[T any](p *peer, name, args string) T {
	p.t.Helper()
	res := p.tool(name, args)
	if res.IsError {
		p.t.Fatalf("%s %s: %s", name, args, res.text())
	}
	var v T
	if err := json.Unmarshal(res.Structured, &v); err != nil {
		p.t.Fatalf("%s: %v in %s", name, err, res.Structured)
	}
	return v
}

// fails calls a tool that must fail with all of the given texts.
func (p *peer) fails(name, args string, texts ...string) result {
	p.t.Helper()
	res := p.tool(name, args)
	if !res.IsError {
		p.t.Fatalf("%s %s succeeded: %s", name, args, res.Structured)
	}
	for _, want := range texts {
		if !strings.Contains(res.text(), want) {
			p.t.Errorf("%s %s fails with %q, which does not say %q", name, args, res.text(), want)
		}
	}
	return res
}

// rows is the answer of a tool that lists things.
type rows struct {
	Result []map[string]any `json:"result"`
	Total  int              `json:"total"`
}

// column returns one property of all rows, joined by spaces.
func (r rows) column(name string) string {
	var values []string
	for _, row := range r.Result {
		values = append(values, fmt.Sprint(row[name]))
	}
	return strings.Join(values, " ")
}

// session starts a tmux session of 80x24 that runs a silent program.
func session(t testing.TB, srv *tmux.Server, name string) {
	t.Helper()
	testserver.Run(t, srv, "new-session", "-d", "-s", name, "-x", "80", "-y", "24", "cat")
}

// asks returns the ids of the requests that the server has sent.
func (p *peer) asks() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []string
	for _, raw := range p.messages {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(raw, &m) == nil && m.Method != "" && m.ID != nil {
			ids = append(ids, string(m.ID))
		}
	}
	return ids
}
