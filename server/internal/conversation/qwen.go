package conversation

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"tmuxmcp/internal/reading"
)

// qwen is Qwen Code, seen in 0.24.4. A line of projects/DIRECTORY/chats/SESSION.jsonl below
// its directory is a message, once it is complete, and SESSION.runtime.json has the process
// and when that began the conversation.
type qwen struct{}

func (qwen) read(b *reading.Budget, a Agent, p *process, since *cursor) (*Conversation, error) {
	h, err := openHome(b, filepath.Join(p.env["HOME"], ".qwen"))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	files, err := h.glob("projects/*/chats/*.runtime.json")
	if err != nil {
		return nil, unreadable("%v", err)
	}
	var found, session string
	for _, name := range files {
		info, err := h.Stat(name)
		if err != nil || info.ModTime().Before(p.began) {
			continue
		}
		text, err := h.small(name)
		if err != nil {
			return nil, err
		}
		var r struct {
			PID       int
			SessionID string  `json:"session_id"`
			StartedAt float64 `json:"started_at"`
		}
		if json.Unmarshal(text, &r) != nil || r.PID != p.pid || !sessionName().MatchString(r.SessionID) {
			continue
		}
		// A file of an earlier process with this number is older.
		if began := time.UnixMilli(int64(r.StartedAt * 1000)); began.Before(p.began) {
			continue
		}
		if found != "" {
			return nil, unreadable("two files say that %s writes them", a.Name)
		}
		found, session = strings.TrimSuffix(name, ".runtime.json")+".jsonl", r.SessionID
	}
	if found == "" || !strings.HasSuffix(found, "/"+session+".jsonl") {
		return nil, unreadable("no file says that %s writes it", a.Name)
	}
	from, err := since.in(session)
	if err != nil {
		return nil, err
	}
	return h.conversation(found, session, from, parseQwen)
}

func parseQwen(line []byte, r *reader) {
	r.known = r.known || bytes.Contains(line, []byte(`"sessionId"`))
	var l struct {
		UUID       string
		Timestamp  time.Time
		Type       string
		Provenance string
		Message    struct {
			Parts []struct {
				Text         string
				Thought      bool
				FunctionCall json.RawMessage
			}
		}
	}
	if json.Unmarshal(line, &l) != nil {
		r.bad = l.Type == "user" || l.Type == "assistant"
		return
	}
	var texts []string
	calls := false
	for _, part := range l.Message.Parts {
		calls = calls || part.FunctionCall != nil
		if part.Text != "" && !part.Thought {
			texts = append(texts, part.Text)
		}
	}
	m := Message{Text: strings.Join(texts, ""), At: l.Timestamp, id: l.UUID}
	switch {
	case m.Text == "":
	case l.Provenance == "real_user" && l.Type == "user":
		m.User = true
		r.add(m)
	case l.Provenance == "assistant_output" && l.Type == "assistant":
		m.Ends = !calls
		r.add(m)
	}
}
