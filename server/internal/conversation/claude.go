package conversation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/reading"
)

// claude is Claude Code, seen in 2.1.197 and 2.1.332. The file sessions/PID.json below its
// directory has the process's start, the session and what claude is doing; a line of
// projects/DIRECTORY/SESSION.jsonl is a message, once it is complete.
type claude struct{}

type claudeSession struct {
	PID        int
	SessionID  string
	ProcStart  string
	Status     string
	WaitingFor string
}

// claudeHome opens claude's directory, and reads the file of a process.
func claudeHome(b *reading.Budget, p *process) (*home, *claudeSession, error) {
	h, err := openHome(b, cmp.Or(p.env["CLAUDE_CONFIG_DIR"], filepath.Join(p.env["HOME"], ".claude")))
	if err != nil {
		return nil, nil, err
	}
	s := new(claudeSession)
	text, err := h.small("sessions/" + strconv.Itoa(p.pid) + ".json")
	switch {
	case err != nil:
	case json.Unmarshal(text, s) != nil, !sessionName().MatchString(s.SessionID):
		err = unreadable("the file of process %d has another form than the versions that are known", p.pid)
	case s.PID != p.pid || s.ProcStart != strconv.FormatInt(p.started, 10):
		err = unreadable("the file of process %d is of another process", p.pid)
	}
	if err != nil {
		h.Close()
		return nil, nil, err
	}
	return h, s, nil
}

// sessionName is what agents name their sessions.
var sessionName = lazy.Regexp(`^[\w-]{8,64}$`)

func (claude) read(b *reading.Budget, _ Agent, p *process, since *cursor) (*Conversation, error) {
	h, s, err := claudeHome(b, p)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	from, err := since.in(s.SessionID)
	if err != nil {
		return nil, err
	}
	files, err := h.glob("projects/*/" + s.SessionID + ".jsonl")
	if err != nil || len(files) != 1 {
		return nil, unreadable("%d files have the conversation %s", len(files), s.SessionID)
	}
	return h.conversation(files[0], s.SessionID, from, parseClaude)
}

type claudeLine struct {
	Type      string
	UUID      string
	Timestamp time.Time
	// Of subagents, of claude's own additions, and of a summary that replaces what was said.
	IsSidechain, IsMeta, IsCompactSummary bool
	Origin                                *struct{ Kind string }
	ToolUseResult                         json.RawMessage
	Message                               struct {
		ID         string
		Content    json.RawMessage
		StopReason string `json:"stop_reason"`
	}
	// A prompt that was queued while claude worked.
	Attachment struct {
		Type   string
		Prompt json.RawMessage
		Origin *struct{ Kind string }
	}
}

// claudeOwn matches texts in prompts that claude has written.
var claudeOwn = lazy.Regexp(`^\s*(<(system-reminder|command-name|command-message|local-command-\w+|bash-(input|stdout|stderr)|task-notification)>|\[Request interrupted by user)`)

func parseClaude(line []byte, r *reader) {
	if !bytes.Contains(line, []byte(`"user"`)) && !bytes.Contains(line, []byte(`"assistant"`)) && !bytes.Contains(line, []byte(`"queued_command"`)) {
		r.known = r.known || bytes.Contains(line, []byte(`"sessionId"`))
		return
	}
	var l claudeLine
	if json.Unmarshal(line, &l) != nil {
		r.bad = l.Type == "user" || l.Type == "assistant"
		return
	}
	r.known = r.known || l.Type != ""
	if l.IsSidechain || l.IsMeta || l.IsCompactSummary {
		return
	}
	m := Message{At: l.Timestamp, id: l.UUID}
	switch {
	case l.Type == "assistant":
		m.Text = strings.Join(texts(l.Message.Content), "\n\n")
		m.Ends = slices.Contains([]string{"end_turn", "stop_sequence", "max_tokens", "refusal"}, l.Message.StopReason)
	case l.Type == "user" && l.ToolUseResult == nil && (l.Origin == nil || l.Origin.Kind == "human"):
		m.User, m.Text = true, prompt(texts(l.Message.Content), claudeOwn())
	case l.Type == "attachment" && l.Attachment.Type == "queued_command" && (l.Attachment.Origin == nil || l.Attachment.Origin.Kind == "human"):
		m.User, m.Text = true, prompt(texts(l.Attachment.Prompt), claudeOwn())
	}
	if m.Text != "" {
		r.add(m)
	}
}

// texts returns the texts of a content: a string, or a list of parts some of which have a
// text and a type that says so.
func texts(content json.RawMessage) []string {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return []string{one}
	}
	var parts []struct {
		Type    string
		Text    string
		Thought bool
	}
	if json.Unmarshal(content, &parts) != nil {
		return nil
	}
	var all []string
	for _, p := range parts {
		switch p.Type {
		case "", "text", "Text", "input_text", "output_text":
			if p.Text != "" && !p.Thought {
				all = append(all, p.Text)
			}
		}
	}
	return all
}

// prompt joins the texts of a prompt that are not the agent's own.
func prompt(texts []string, own *regexp.Regexp) string {
	return strings.Join(slices.DeleteFunc(texts, own.MatchString), "\n")
}

// State is what claude says of itself.
type State struct {
	// Doing is busy, waiting (for the user's answer) or idle.
	Doing string
	// For is what it waits for, such as "permission prompt".
	For string
}

// StateOf returns what an agent has written down of its state; nil if it has not.
func StateOf(ctx context.Context, a Agent) *State {
	if a.Name != "claude" {
		return nil
	}
	b := reading.Within(ctx, mostRead)
	for _, pid := range a.PIDs {
		p, err := processOf(b, pid)
		if err != nil {
			continue
		}
		if h, s, err := claudeHome(b, p); err == nil {
			h.Close()
			return &State{s.Status, s.WaitingFor}
		}
	}
	return nil
}
