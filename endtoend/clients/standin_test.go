// The stand-in is a model that follows a script. It serves the APIs that agent CLIs use,
// on loopback: Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's
// streamGenerateContent.
// A client pointed at it starts its MCP servers and runs their tools as if a model had
// decided to, and what it sends next is exactly what a model would have read.
//
// A [Script] is a list of tool calls and a final text. The next call is determined by the
// results in a request, not by the number of requests, so a client may repeat one. Requests
// without the scripted tools (for a title, a quota) get the final text. A script with a
// Reply holds a conversation instead: each prompt of the user's gets its own answer, which
// may take some time.
//
// It does not imitate any model or its API's errors, and it counts no tokens.
package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Call is a tool call that the script makes.
type Call struct {
	// Tool is the name given by the MCP server; the client's prefix is found among the
	// tools that the client offers.
	Tool string
	// Args are the arguments, in JSON.
	Args string
	// Next, if not nil, makes the arguments from the results so far, as a model that
	// repeats an id does.
	Next func(read []string) string
}

// Script is what the stand-in does: its calls one after the other, then the text.
type Script struct {
	Server string // the MCP server, as the client's config names it
	Calls  []Call
	Final  string
	// Reply, if not nil, answers each prompt of a conversation; Calls are not used.
	Reply func(prompt string) Reply
}

// Reply is an answer to a prompt: calls of the client's own tools one after the other, then
// a text, sent word by word over its duration.
type Reply struct {
	Calls []Call
	Text  string
	Lasts time.Duration
}

// keptRequests is how many requests of a conversation are kept: each contains all of it.
const keptRequests = 8

// Doing is what the model is doing in a conversation.
type Doing string

const (
	Waiting   Doing = "waiting"   // waiting for a prompt
	Answering Doing = "answering" // a request is open
	Called    Doing = "called"    // has called a tool, and has no result yet
)

// Tool is a tool as offered to the model by a client.
type Tool struct {
	Name        string // as the client calls it
	Space       string // OpenAI: the namespace that holds it
	Description string
	Bytes       int // of the whole declaration, schema included
}

// Request is a client's request, unchanged.
type Request struct {
	Path string
	Body []byte
}

// turn is the content of a request, for any API.
type turn struct {
	stream  bool
	prompt  string // all text in it
	tools   []Tool
	results []string // of the script's calls, in order
	said    []string // by the user, one per block
	before  int      // how many results preceded the last of these
}

// hear records what the user says, without the client's own additions.
func (t *turn) hear(text string) {
	if trimmed := strings.TrimSpace(text); trimmed == "" || ownBlock.MatchString(trimmed) {
		return
	}
	t.said, t.before = append(t.said, around.ReplaceAllString(text, "")), len(t.results)
}

// ownBlock matches a block that a client adds to what the user says.
var ownBlock = regexp.MustCompile(`^<(environment_details|user_info|system[-_]reminder|session_context|environment_context|permissions instructions|user_instructions|skills_instructions|apps_instructions|plugins_instructions|collaboration_mode)>`)

// around matches what a client puts around what the user says.
var around = regexp.MustCompile(`^<current_datetime>.*</current_datetime>\n\n|^<user_query>\n|\n</user_query>$`)

// api parses the requests of one API and writes its answers.
type api interface {
	// serves reports whether a path is the API's for the next turn.
	serves(path string) bool
	read(path string, body []byte) (turn, error)
	// say answers with a text, and call with a call of a tool; n is its number.
	say(w io.Writer, t turn, text string)
	call(w io.Writer, t turn, n int, tool Tool, args string)
	// other answers the remaining paths: counts of tokens, lists of models.
	other(w io.Writer, path string)
}

// Server is a listening stand-in.
type Server struct {
	URL string // without a slash at its end

	script Script
	api    api
	http   *http.Server
	done   chan struct{}

	mu       sync.Mutex
	requests []Request
	first    *turn // the first that offered tools
	read     []string
	ended    bool
	failed   error
	said     []string
	open     int // turns being answered
	called   bool
	changed  time.Time // what Doing returns
}

// served are the APIs that a stand-in can serve.
var served = map[string]api{
	"messages": messages{}, "responses": responses{}, "completions": completions{}, "gemini": gemini{},
}

// start starts a stand-in for an API, on a free port.
func start(script Script, a api) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + l.Addr().String(), script: script, api: a, done: make(chan struct{})}
	s.http = &http.Server{Handler: s}
	go func() {
		_ = s.http.Serve(l) // until Close
		close(s.done)
	}()
	return s, nil
}

// Close ends the stand-in and its connections.
func (s *Server) Close() {
	s.http.Close()
	<-s.done
}

// ServeHTTP records a request and answers according to the script.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.Reply != nil {
		s.requests = s.requests[max(0, len(s.requests)-keptRequests):]
	}
	s.requests = append(s.requests, Request{r.URL.Path, body})
	if err != nil {
		s.fail(w, err)
		return
	}
	if r.Method != http.MethodPost || !s.api.serves(r.URL.Path) {
		w.Header().Set("Content-Type", "application/json")
		s.api.other(w, r.URL.Path)
		return
	}
	t, err := s.api.read(r.URL.Path, body)
	if err != nil {
		s.fail(w, fmt.Errorf("%s: %w", r.URL.Path, err))
		return
	}
	kind := "application/json"
	if t.stream {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	if s.script.Reply != nil && len(t.tools) > 0 && len(t.said) > 0 {
		s.converse(w, r, t)
		return
	}
	s.decide(w, t)
}

// converse answers the last prompt of a conversation. The lock is held, except while the
// answer is sent.
func (s *Server) converse(w http.ResponseWriter, r *http.Request, t turn) {
	s.said, s.called = t.said, false
	s.open, s.changed = s.open+1, time.Now()
	reply := s.script.Reply(t.said[len(t.said)-1])
	n := len(t.results)
	s.mu.Unlock()
	calls := n-t.before < len(reply.Calls)
	if calls {
		c := reply.Calls[n-t.before]
		s.api.call(w, t, n, Tool{Name: c.Tool}, c.Args)
	} else {
		s.api.say(&paced{w, r.Context().Done(), reply.Lasts / time.Duration(len(strings.Fields(reply.Text))+1)}, t, reply.Text)
	}
	s.mu.Lock()
	s.open, s.called, s.changed = s.open-1, calls, time.Now()
}

// paced sends each event separately, and pauses after it.
type paced struct {
	http.ResponseWriter
	gone  <-chan struct{}
	pause time.Duration
}

func (p *paced) Write(b []byte) (int, error) {
	n, err := p.ResponseWriter.Write(b)
	if f, ok := p.ResponseWriter.(http.Flusher); ok && bytes.HasPrefix(b, []byte("data:")) {
		f.Flush()
		select {
		case <-p.gone:
			return n, http.ErrAbortHandler
		case <-time.After(p.pause):
		}
	}
	return n, err
}

// pieces returns the parts in which a text is sent: its words, if sending should take time.
func pieces(w io.Writer, text string) []string {
	if _, ok := w.(*paced); ok {
		return strings.SplitAfter(text, " ")
	}
	return []string{text}
}

// Heard returns what the user has said in a conversation so far, one block each, as
// repeated by the newest request.
func (s *Server) Heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// Doing returns what the model is doing, and since when.
func (s *Server) Doing() (Doing, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open > 0:
		return Answering, s.changed
	case s.called:
		return Called, s.changed
	}
	return Waiting, s.changed
}

// decide answers a turn with the call after the last one whose result it contains.
func (s *Server) decide(w io.Writer, t turn) {
	if len(t.tools) == 0 && len(t.results) == 0 {
		s.api.say(w, t, s.script.Final)
		return
	}
	if s.first == nil {
		s.first = &t
	}
	if len(t.results) > len(s.read) {
		s.read = t.results
	}
	n := len(t.results)
	if n >= len(s.script.Calls) {
		s.ended = true
		s.api.say(w, t, s.script.Final)
		return
	}
	c := s.script.Calls[n]
	args := c.Args
	if c.Next != nil {
		args = c.Next(t.results)
	}
	s.api.call(w, t, n, s.script.offered(c.Tool, t.tools), args)
}

// offered returns the MCP server's tool that a client offers under a name of its own, or
// else the client's own tool. A tool that the client holds back is called by the name that
// it would have.
func (s Script) offered(name string, tools []Tool) Tool {
	best := Tool{Name: name}
	for _, t := range tools {
		prefix, ok := strings.CutSuffix(t.Name, name)
		if ok && strings.Contains(t.Space+prefix, s.Server) && (best.Bytes == 0 || len(t.Name) < len(best.Name)) {
			best = t
		}
	}
	if best.Bytes > 0 || slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == name }) {
		return best
	}
	for _, t := range tools {
		if i := strings.Index(t.Name, s.Server); i >= 0 {
			rest := t.Name[i+len(s.Server):]
			best.Name = t.Name[:len(t.Name)-len(strings.TrimLeft(rest, "_"))] + name
		}
	}
	return best
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	if s.failed == nil {
		s.failed = err
	}
	http.Error(w, err.Error(), http.StatusBadRequest)
}

// View is what the model has read.
type View struct {
	Prompt   string   // the text before the first call, the MCP server's instructions in it
	Tools    []Tool   // of the first request that has any
	Results  []string // of the script's calls
	Ended    bool     // the script was followed to its final text
	Requests []Request
}

// View returns what the model has read so far, and the first request not parsed.
func (s *Server) View() (View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := View{Results: s.read, Ended: s.ended, Requests: s.requests}
	if s.first != nil {
		v.Prompt, v.Tools = s.first.prompt, s.first.tools
	}
	return v, s.failed
}

// declared returns the tool that a client declares in JSON: all APIs use the same names.
func declared(raw json.RawMessage) (Tool, error) {
	var d struct{ Name, Description string }
	err := json.Unmarshal(raw, &d)
	return Tool{Name: d.Name, Description: d.Description, Bytes: len(raw)}, err
}

// callID identifies the script's calls, so that their results are recognized.
func callID(n int) string { return fmt.Sprintf("call_%04d", n) }

// event writes one server-sent event; Gemini's have no name.
func event(w io.Writer, name string, data any) {
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", encode(data))
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps and strings of this package
	}
	return b
}

// newID returns the id of an answer: a client takes two with the same id for one.
func newID(prefix string) string { return fmt.Sprint(prefix, "_", ids.Add(1)) }

var ids atomic.Int64

// object is a JSON object to send.
type object = map[string]any

// texts joins the text blocks of a content, which is either a string or a list of blocks.
// Other blocks are kept as JSON, which the model reads too.
func texts(content json.RawMessage) string { return strings.Join(blocksOf(content), "\n") }

func blocksOf(content json.RawMessage) (all []string) {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return []string{one}
	}
	var blocks []json.RawMessage
	if json.Unmarshal(content, &blocks) != nil {
		return []string{string(content)}
	}
	for _, b := range blocks {
		var block struct{ Text *string }
		if json.Unmarshal(b, &block) == nil && block.Text != nil {
			all = append(all, *block.Text)
		} else {
			all = append(all, string(b))
		}
	}
	return all
}
