package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/reading"
)

// grok is the Grok CLI, seen in 1.0.41. It keeps events.jsonl open in the directory of its
// conversation, sessions/DIRECTORY/SESSION below its own, and writes chat_history.jsonl
// there.
type grok struct{}

var grokEvents = lazy.Regexp(`^sessions/[^/]+/([\w-]{8,64})/events\.jsonl$`)

func (grok) read(b *reading.Budget, a Agent, p *process, since *cursor) (*Conversation, error) {
	h, err := openHome(b, cmp.Or(p.env["GROK_HOME"], filepath.Join(p.env["HOME"], ".grok")))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.beside(a, p, grokEvents(), "chat_history.jsonl", parseGrok, since)
}

// grokQuery matches what the user has said; all else is grok's own.
var grokQuery = lazy.Regexp(`(?s)^<user_query>\n(.*)\n</user_query>$`)

func parseGrok(line []byte, r *reader) {
	r.known = r.known || bytes.HasPrefix(line, []byte(`{"type":"`))
	var l struct {
		Type      string
		Content   json.RawMessage
		ToolCalls []json.RawMessage `json:"tool_calls"`
	}
	if json.Unmarshal(line, &l) != nil {
		r.bad = l.Type == "user" || l.Type == "assistant"
		return
	}
	parts := texts(l.Content)
	if l.Type == "assistant" && len(parts) > 0 {
		r.add(Message{Text: strings.Join(parts, "\n"), Ends: len(l.ToolCalls) == 0})
	}
	for _, part := range parts {
		if query := grokQuery().FindStringSubmatch(part); query != nil && l.Type == "user" {
			r.add(Message{User: true, Text: query[1]})
		}
	}
}
