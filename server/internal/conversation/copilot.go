package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/reading"
)

// copilot is the GitHub Copilot CLI, seen in 1.0.102. It keeps a file with its process id
// open in the directory of its conversation, session-state/SESSION below its own, and
// writes events.jsonl there.
type copilot struct{}

var copilotHold = lazy.Regexp(`^session-state/([\w-]{8,64})/inuse\.\d+\.hold$`)

func (copilot) read(b *reading.Budget, a Agent, p *process, since *cursor) (*Conversation, error) {
	h, err := openHome(b, cmp.Or(p.env["COPILOT_HOME"], filepath.Join(p.env["HOME"], ".copilot")))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.beside(a, p, copilotHold(), "events.jsonl", parseCopilot, since)
}

// beside returns the conversation in the directory of the only file that a process has open
// and whose name matches. The first group is the session.
func (h *home) beside(a Agent, p *process, open *regexp.Regexp, file string, parse func([]byte, *reader), since *cursor) (*Conversation, error) {
	names, err := h.opened(p, open)
	if err != nil {
		return nil, err
	}
	if len(names) != 1 {
		return nil, unreadable("%s has %d conversations open", a.Name, len(names))
	}
	session := open.FindStringSubmatch(names[0])[1]
	from, err := since.in(session)
	if err != nil {
		return nil, err
	}
	return h.conversation(path.Join(path.Dir(names[0]), file), session, from, parse)
}

func parseCopilot(line []byte, r *reader) {
	r.known = r.known || bytes.HasPrefix(line, []byte(`{"type":"`))
	if !bytes.Contains(line, []byte(`"user.message"`)) && !bytes.Contains(line, []byte(`"assistant.message"`)) {
		return
	}
	var l struct {
		ID        string
		Type      string
		Timestamp time.Time
		Data      struct {
			Content          string
			ToolRequests     []json.RawMessage
			ParentToolCallID string // of a subagent
			Source           string // what copilot itself has added
		}
	}
	err := json.Unmarshal(line, &l)
	ours := l.Type == "user.message" || l.Type == "assistant.message"
	if r.bad = err != nil && ours; err != nil || !ours || l.Data.Content == "" || l.Data.ParentToolCallID != "" || l.Data.Source != "" && l.Data.Source != "user" {
		return
	}
	user := strings.HasPrefix(l.Type, "user")
	r.add(Message{User: user, Text: l.Data.Content, At: l.Timestamp, id: l.ID, Ends: !user && len(l.Data.ToolRequests) == 0})
}
