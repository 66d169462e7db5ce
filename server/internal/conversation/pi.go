package conversation

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"tmuxmcp/internal/reading"
)

// pi is pi, seen in 1.6.0. A line of sessions/--DIRECTORY--/TIME_SESSION.jsonl below its
// directory is a message, once it is complete. No file says which process writes it.
type pi struct{}

func (pi) read(b *reading.Budget, a Agent, p *process, since *cursor) (*Conversation, error) {
	h, err := openHome(b, cmp.Or(p.env["PI_CODING_AGENT_DIR"], filepath.Join(p.env["HOME"], ".pi/agent")))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	dir := "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimPrefix(p.dir, "/")) + "--"
	files, err := h.glob("sessions/" + globbed.Replace(dir) + "/*.jsonl")
	if err != nil {
		return nil, unreadable("%v", err)
	}
	return h.shown(a, p, files, parsePi, since)
}

// globbed escapes a name, so that as a pattern it matches only itself.
var globbed = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

func parsePi(line []byte, r *reader) {
	var l struct {
		Type      string
		ID        string
		CWD       string
		Timestamp time.Time
		Message   struct {
			Role       string
			Content    json.RawMessage
			StopReason string
		}
	}
	if json.Unmarshal(line, &l) != nil {
		r.bad = l.Type == "message"
		return
	}
	r.known = r.known || l.Type != ""
	if l.Type == "session" {
		r.session, r.dir = l.ID, l.CWD
	}
	text := strings.Join(texts(l.Message.Content), "\n\n")
	if l.Type != "message" || text == "" {
		return
	}
	switch l.Message.Role {
	case "user":
		r.add(Message{User: true, Text: text, At: l.Timestamp, id: l.ID})
	case "assistant":
		r.add(Message{Text: text, At: l.Timestamp, id: l.ID, Ends: l.Message.StopReason != "toolUse"})
	}
}
