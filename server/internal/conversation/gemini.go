package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/reading"
)

// gemini is the Gemini CLI, seen in 0.61.0. A line of tmp/PROJECT/chats/session-*.jsonl
// below its directory is a message, once it is complete; another one with its id replaces
// it. No file says which process writes it.
type gemini struct{}

func (gemini) read(b *reading.Budget, a Agent, p *process, since *cursor) (*Conversation, error) {
	h, err := openHome(b, filepath.Join(cmp.Or(p.env["GEMINI_CLI_HOME"], p.env["HOME"]), ".gemini"))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	text, err := h.small("projects.json")
	if err != nil {
		return nil, err
	}
	var known struct{ Projects map[string]string }
	if json.Unmarshal(text, &known) != nil {
		return nil, unreadable("%s/projects.json has another form than the versions that are known", h.path)
	}
	project := known.Projects[p.dir]
	root, err := h.small(filepath.Join("tmp", project, ".project_root"))
	if project == "" || err != nil || string(root) != p.dir {
		return nil, unreadable("%s has written no conversation in %s", a.Name, p.dir)
	}
	files, err := h.glob(filepath.Join("tmp", globbed.Replace(project), "chats/session-*.jsonl"))
	if err != nil {
		return nil, unreadable("%v", err)
	}
	return h.shown(a, p, files, parseGemini, since)
}

// mostCandidates bounds how many conversations are compared with a screen.
const mostCandidates = 20

// shown returns the conversation of which the screen shows the end, if there is exactly
// one. The files are of conversations of one directory.
func (h *home) shown(a Agent, p *process, files []string, parse func([]byte, *reader), since *cursor) (*Conversation, error) {
	var found *Conversation
	var file string
	written, shown := 0, 0
	for _, name := range files {
		info, err := h.Stat(name)
		if err != nil || info.ModTime().Before(p.began) {
			continue
		}
		if written++; written > mostCandidates {
			return nil, unreadable("more than %d conversations were written in %s since %s began", mostCandidates, p.dir, a.Name)
		}
		f, err := h.open(name)
		if err != nil {
			return nil, err
		}
		first := new(reader)
		parse(firstLine(h.b, f), first)
		r, end, err := readLines(h.b, f, -1, parse)
		f.Close()
		switch {
		case err != nil || !sessionName().MatchString(first.session):
			return nil, unreadable("%s has another form than the versions that are known", name)
		case first.dir != "" && first.dir != p.dir:
			written-- // the name of its directory is spelt alike
		case shows(a.Screen, r.messages):
			shown++
			found, file = &Conversation{Messages: r.messages, Cursor: cursor{first.session, end}.String()}, name
		case lastPrompt(r.messages) < 0 && h.b.Left() == 0:
			return nil, h.b.Take(1) // it may end as the screen does
		}
	}
	if err := only(a, p, written, shown); err != nil || since == nil {
		return found, err
	}
	from, err := since.in(found.session())
	if err != nil {
		return nil, err
	}
	return h.conversation(file, found.session(), from, parse)
}

// only returns an error unless the pane shows the end of exactly one of the conversations
// that were written.
func only(a Agent, p *process, written, shown int) error {
	switch {
	case written == 0:
		return unreadable("%s has written no conversation in %s since it began", a.Name, p.dir)
	case shown == 0:
		return unreadable("the pane does not show the end of any conversation of %s", p.dir)
	case shown > 1:
		return unreadable("the pane shows what %d conversations of %s end with", shown, p.dir)
	}
	return nil
}

// geminiLine is a line of a conversation: its beginning, a message or a change.
type geminiLine struct {
	SessionID string
	ID        string
	Timestamp time.Time
	Type      string
	Content   json.RawMessage
	ToolCalls []json.RawMessage
	// Set replaces what it names.
	Set struct {
		Messages *[]geminiLine
	} `json:"$set"`
	RewindTo string `json:"$rewindTo"`
}

// geminiOwn matches what gemini adds to prompts.
var geminiOwn = lazy.Regexp(`^\s*<(session_context|system-reminder|hook_context)>`)

func parseGemini(line []byte, r *reader) {
	if bytes.HasPrefix(line, []byte(`{"$set":{"lastUpdated"`)) {
		return
	}
	var l geminiLine
	if json.Unmarshal(line, &l) != nil {
		r.bad = l.Type == "user" || l.Type == "gemini"
		return
	}
	l.addTo(r)
	r.session = cmp.Or(r.session, l.SessionID)
	if l.RewindTo != "" {
		i := slices.IndexFunc(r.messages, func(m Message) bool { return m.id == l.RewindTo })
		r.messages = r.messages[:max(0, i)]
	}
	if l.Set.Messages != nil {
		r.messages = nil
		for _, m := range *l.Set.Messages {
			m.addTo(r)
		}
	}
}

func (l geminiLine) addTo(r *reader) {
	m := Message{At: l.Timestamp, id: l.ID, Text: strings.Join(texts(l.Content), "\n")}
	switch {
	case l.Type == "user":
		m.User, m.Text = true, prompt(texts(l.Content), geminiOwn())
	case l.Type == "gemini":
		m.Ends = len(l.ToolCalls) == 0
	default:
		return
	}
	r.known = true
	if m.Text != "" {
		r.add(m)
	}
}
