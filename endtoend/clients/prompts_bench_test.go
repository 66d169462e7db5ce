package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// An agentClient is an agent CLI that runs for a user in a pane, asks before it runs a
// command, and has a stand-in for its model. The setting agent has its arguments.
type agentClient struct {
	modelClient
	first string // the key that answers what it asks when it starts, if it does
	shell Call   // touches a file, for which it needs permission
	// dialog is on the screen when it asks, and only then.
	dialog string
	// tabs is what it turns a tab into.
	tabs string
	// colours is an environment variable by which it draws its box differently.
	colours string
}

func agentClients(t *testing.T) (all []agentClient) {
	t.Helper()
	for _, m := range modelClients(t) {
		tool, args, _ := strings.Cut(m.settings.One("shell"), " ")
		c := agentClient{modelClient: m, shell: Call{Tool: tool, Args: args}, dialog: m.settings.One("dialog"),
			first: m.settings.One("first"), tabs: "\t"}
		if m.settings.One("spaces") == "true" {
			c.tabs = "    "
		}
		c.typed = strings.Fields(m.settings.One("agent"))
		c.files = map[string]string{}
		for name, text := range m.files {
			// No MCP server, and questions.
			text = regexp.MustCompile(`(?m)^\[mcp_servers.tmux\]\ncommand = .*\n|^ *"mcpServers": .*\n|,\n *"mcp": .*`).ReplaceAllString(text, "")
			c.files[name] = strings.Replace(text, `{"*": "allow"}`, `{"bash": "ask", "edit": "ask"}`, 1)
		}
		all = append(all, c)
		if m.name == "gemini" {
			for _, c.colours = range []string{"FORCE_COLOR=2", "NO_COLOR=1"} {
				c.env = append(slices.Clone(m.env), c.colours)
				all = append(all, c)
			}
		}
	}
	return all
}

// A promptStage runs one client in %0, and a tmux-mcp beside it.
type promptStage struct {
	*stage
	agentClient
	model *Server
	mcp   *mcpPeer // sends
	eyes  *mcpPeer // looks
	truth truth
}

// truth is what the agent is doing, as known by the stand-in and the test.
type truth struct {
	mu      sync.Mutex
	changes []change
	// shown is when a dialog appeared on the screen, and noticed how long agent_status took
	// to report it.
	shown   time.Time
	noticed []time.Duration
}

func (t *truth) asked(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = at
}

// noticing records the first sample after the dialog appeared.
func (t *truth) noticing(state string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if state == "asks" && !t.shown.IsZero() {
		t.noticed = append(t.noticed, time.Since(t.shown))
		t.shown = time.Time{}
	}
}

// change is a moment from which one of some states is right.
type change struct {
	at     time.Time
	states string
}

func (t *truth) now(states string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.changes); n == 0 || t.changes[n-1].states != states {
		t.changes = append(t.changes, change{time.Now(), states})
	}
}

// slack is how long a client may take to show that its model has begun or ended: claude
// needs most of it on a busy machine.
const slack = time.Second

// right reports whether a state was right around the time of a sample.
func (t *truth) right(at time.Time, state string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.changes {
		if c.at.After(at.Add(50 * time.Millisecond)) {
			break
		}
		ended := i+1 < len(t.changes) && t.changes[i+1].at.Before(at.Add(-slack))
		if !ended && strings.Contains(c.states, state) {
			return true
		}
	}
	return false
}

// mcpPeer calls the tools of a tmux-mcp.
type mcpPeer struct{ *client.Client }

func (s *promptStage) serve() *mcpPeer {
	s.Helper()
	c, err := client.NewStdioMCPClient(filepath.Join(s.dir, "tmux-mcp"), nil, "-S", s.socket(), "--results", "json", "--safety", "destructive")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { c.Close() })
	if _, err := c.Initialize(s.Context(), mcp.InitializeRequest{}); err != nil {
		s.Fatal(err)
	}
	return &mcpPeer{c}
}

// call calls a tool; said is its text, or that of its error.
func (p *mcpPeer) call(tool string, args map[string]any, into any) (said string, ok bool) {
	r, err := p.CallTool(context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool, Arguments: args}})
	if err != nil || len(r.Content) == 0 {
		return fmt.Sprintf("no answer: %v", err), false
	}
	if into != nil && !r.IsError {
		text, _ := json.Marshal(r.StructuredContent)
		_ = json.Unmarshal(text, into)
	}
	return mcp.GetTextFromContent(r.Content[0]), !r.IsError
}

// agentRow is what agent_status reports about %0.
type agentRow struct {
	State, Agent    string
	Version         *string
	Question, Input *string
	Choices         []struct {
		Keys  []string
		Label string
	}
}

func (p *mcpPeer) status() (a agentRow) {
	var out struct{ Agents []agentRow }
	said, ok := p.call("agent_status", map[string]any{"panes": []string{"%0"}}, &out)
	if ok && len(out.Agents) == 1 {
		return out.Agents[0]
	}
	return agentRow{State: "none: " + said}
}

// awaits waits for a state.
func (s *promptStage) awaits(state string) agentRow {
	s.Helper()
	var a agentRow
	for deadline := time.Now().Add(playing); time.Now().Before(deadline); time.Sleep(30 * time.Millisecond) {
		if a = s.mcp.status(); a.State == state {
			return a
		}
	}
	s.Fatalf("%s is %+v, and not %s:\n%s", s.agentClient.name, a, state, s.screen())
	return a
}

func newPromptStage(t *testing.T, c agentClient) *promptStage {
	s := &promptStage{agentClient: c}
	s.stage = newStage(t, c.modelClient)
	s.tmuxMCP()
	model, err := start(Script{Server: "none", Final: "Title", Reply: s.reply}, c.api)
	if err != nil {
		t.Fatal(err)
	}
	s.model = model
	t.Cleanup(model.Close)
	fill := strings.NewReplacer("{URL}", model.URL, "{HOME}", s.dir)
	for name, text := range c.files {
		s.write(name, fill.Replace(text))
	}
	run := "cd " + s.dir + "\n"
	for _, kv := range c.env {
		run += "export '" + fill.Replace(kv) + "'\n"
	}
	run += "exec " + c.name
	for _, a := range c.typed {
		run += " '" + a + "'"
	}
	s.write("run", run+"\n")
	s.mcp, s.eyes = s.serve(), s.serve()
	s.tmux("respawn-pane", "-k", "-t", "%0", "sh "+s.dir+"/run")
	if c.first != "" {
		s.awaits("asks")
		s.tmux("send-keys", "-t", "%0", c.first)
	}
	s.awaits("idle")
	return s
}

const (
	slowly = "Take your time over this: "
	asking = "Touch a file: "
	whole  = "In full: "
	// understood is the answer to other prompts.
	understood = "Understood, all of it."
)

func (s *promptStage) reply(prompt string) Reply {
	switch {
	case strings.Contains(prompt, slowly):
		return Reply{Text: strings.Repeat("And so on, word by word. ", 3), Lasts: 3 * time.Second}
	case strings.Contains(prompt, whole):
		return Reply{Text: wholeAnswer, Lasts: time.Second}
	case strings.Contains(prompt, asking):
		return Reply{Calls: []Call{s.shell}, Text: "It is there."}
	}
	return Reply{Text: understood, Lasts: 300 * time.Millisecond}
}

// follow records what the model does until done is closed.
func (s *promptStage) follow(done chan struct{}) {
	was := Waiting
	for {
		select {
		case <-done:
			return
		case <-time.After(5 * time.Millisecond):
		}
		doing, _ := s.model.Doing()
		if doing == was {
			continue
		}
		was = doing
		if doing == Called {
			// What the client does before it asks is its own.
			s.truth.now("working asks")
			for doing == was && !strings.Contains(s.screen(), s.dialog) {
				time.Sleep(10 * time.Millisecond)
				doing, _ = s.model.Doing()
			}
			s.truth.asked(time.Now())
		}
		s.truth.now(map[Doing]string{Waiting: "idle", Answering: "working", Called: "asks"}[was])
	}
}

// marked matches the markers that the newest claude puts around a collapsed paste.
var marked = regexp.MustCompile(`^\s*<pasted_content id="\w+">\n((?s:.*))\n</pasted_content id="\w+">\s*$`)

// heard counts how often the model got exactly this text, and how often one with the token.
func (s *promptStage) heard(text, token string) (exactly, parts int) {
	want := strings.TrimSpace(strings.ReplaceAll(text, "\t", s.tabs))
	for _, block := range s.model.Heard() {
		if strings.Contains(block, token) {
			parts++
		}
		if m := marked.FindStringSubmatch(block); m != nil {
			block = m[1]
		}
		if strings.TrimSpace(block) == want {
			exactly++
		}
	}
	return exactly, parts
}
