package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/reading"
)

// codex is OpenAI's Codex, seen in 0.160.0 and 0.171.0. It keeps the file of its
// conversation open, sessions/YEAR/MONTH/DAY/rollout-TIME-SESSION.jsonl below its directory,
// and writes a message there once it is complete.
type codex struct{}

var rollout = lazy.Regexp(`^sessions/.*/rollout-[\dT-]+-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.jsonl$`)

func (codex) read(b *reading.Budget, _ Agent, p *process, since *cursor) (*Conversation, error) {
	h, err := openHome(b, cmp.Or(p.env["CODEX_HOME"], filepath.Join(p.env["HOME"], ".codex")))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	open, err := h.opened(p, rollout())
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(name string) bool { return !h.ofUser(name) })
	switch len(open) {
	case 0:
		return nil, unreadable("codex has no conversation open; it begins with the first prompt")
	case 1:
	default:
		return nil, unreadable("codex has %d conversations open", len(open))
	}
	session := rollout().FindStringSubmatch(open[0])[1]
	from, err := since.in(session)
	if err != nil {
		return nil, err
	}
	return h.conversation(open[0], session, from, parseCodex)
}

// opened returns the files below the directory that a process has open and whose names match.
func (h *home) opened(p *process, name *regexp.Regexp) (names []string, err error) {
	real, err := filepath.EvalSymlinks(h.path)
	if err != nil {
		return nil, unreadable("%v", err)
	}
	open, err := p.openFiles(h.b)
	if err != nil {
		return nil, unreadable("%v", err)
	}
	for _, path := range open {
		if below, err := filepath.Rel(real, path); err == nil && name.MatchString(below) && !slices.Contains(names, below) {
			names = append(names, below)
		}
	}
	return names, nil
}

// ofUser reports whether a conversation of codex is the user's, and not a subagent's.
func (h *home) ofUser(name string) bool {
	f, err := h.open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var meta struct {
		Payload struct {
			Source       json.RawMessage
			ThreadSource string `json:"thread_source"`
		}
	}
	return json.Unmarshal(firstLine(h.b, f), &meta) == nil && cmp.Or(meta.Payload.ThreadSource, "user") == "user" && !bytes.Contains(meta.Payload.Source, []byte("subagent"))
}

// codexLine is a line of a conversation. Newer versions write item_completed where older
// ones write user_message and agent_message.
type codexLine struct {
	Timestamp time.Time
	Type      string
	Payload   struct {
		Type    string
		Message string
		Item    struct {
			Type, ID string
			Content  json.RawMessage
		}
	}
}

func parseCodex(line []byte, r *reader) {
	if !bytes.Contains(line, []byte(`"event_msg"`)) {
		r.known = r.known || bytes.Contains(line, []byte(`"payload"`))
		return
	}
	var l codexLine
	if json.Unmarshal(line, &l) != nil {
		r.bad = l.Payload.Type == "user_message" || l.Payload.Type == "agent_message"
		return
	}
	if l.Type != "event_msg" {
		return
	}
	r.known = true
	m := Message{At: l.Timestamp, Text: l.Payload.Message, id: l.Payload.Item.ID}
	switch l.Payload.Type {
	case "user_message":
		m.User = true
	case "agent_message":
	case "item_completed":
		m.Text = strings.Join(texts(l.Payload.Item.Content), "\n")
		switch l.Payload.Item.Type {
		case "UserMessage":
			m.User = true
		case "AgentMessage":
		default:
			return
		}
	case "task_complete", "turn_complete", "turn_aborted":
		r.end()
		return
	default:
		return
	}
	if m.Text != "" {
		r.add(m)
	}
}
