package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/reading"
	"tmuxmcp/internal/sqlite"
)

// opencode reads opencode, seen in 1.18.33, and kilo, a fork of it. Each keeps a database
// open, NAME.db below its directory, with a row for each message, and one for each part of a
// message, which changes while the model writes. No table says which process writes a
// conversation.
type opencode struct{ name string }

// What is read of a conversation at most.
const (
	mostMessages = 400
	mostSessions = 20
)

func (o opencode) read(b *reading.Budget, a Agent, p *process, since *cursor) (*Conversation, error) {
	data := p.env["XDG_DATA_HOME"]
	if data == "" {
		data = filepath.Join(p.env["HOME"], ".local/share")
	}
	h, err := openHome(b, filepath.Join(data, o.name))
	if err != nil {
		return nil, err
	}
	defer h.Close()
	open, err := h.opened(p, regexp.MustCompile(`^`+o.name+`[\w-]*\.db$`))
	if err != nil {
		return nil, err
	}
	if len(open) != 1 {
		return nil, unreadable("%s has %d databases open", a.Name, len(open))
	}
	var c *Conversation
	err = h.database(open[0], func(s *sqlite.Snapshot) error {
		c, err = o.find(s, a, p, since)
		return err
	})
	switch err.(type) {
	case nil, BadCursor, *Unreadable:
		return c, err
	}
	return nil, unreadable("%s: %v", filepath.Join(h.path, open[0]), err)
}

// database calls read with a snapshot of a database.
func (h *home) database(name string, read func(*sqlite.Snapshot) error) error {
	db, err := h.open(name)
	if err != nil {
		return err
	}
	defer db.Close()
	wal, err := h.open(name + "-wal")
	if err != nil {
		return err
	}
	defer wal.Close()
	shm, err := h.open(name + "-shm")
	if err != nil {
		return err
	}
	defer shm.Close()
	return sqlite.Read(h.b, db, wal, shm, read)
}

// find returns the conversation of which the pane shows the end.
func (o opencode) find(s *sqlite.Snapshot, a Agent, p *process, since *cursor) (*Conversation, error) {
	var written int
	var found []string
	for row, err := range s.Rows(sqlite.Query{Table: "session", Columns: []string{"id", "directory", "parent_id", "time_updated"}}) {
		if err != nil {
			return nil, err
		}
		id, _ := row[0].(string)
		updated, _ := row[3].(int64)
		// A session with a parent is a subagent's.
		if row[1] != p.dir || row[2] != nil || time.UnixMilli(updated).Before(p.began) {
			continue
		}
		if written++; written > mostSessions {
			return nil, unreadable("more than %d conversations were written in %s since %s began", mostSessions, p.dir, a.Name)
		}
		messages, err := o.messages(s, id, -1)
		if err != nil {
			return nil, err
		}
		if shows(a.Screen, messages) {
			found = append(found, id)
		}
	}
	if err := only(a, p, written, len(found)); err != nil {
		return nil, err
	}
	from, err := since.in(found[0])
	if err != nil {
		return nil, err
	}
	messages, err := o.messages(s, found[0], from)
	if err != nil {
		return nil, err
	}
	at := max(from, 0)
	for i, m := range messages {
		if !m.User && !m.written {
			break // the next call reads it, and what follows, again
		}
		at = max(at, m.At.UnixMilli())
		messages[i].end = at
	}
	return &Conversation{Messages: messages, Cursor: cursor{found[0], at}.String()}, nil
}

// messages returns the messages of a session: those after a time in milliseconds or, if that
// is -1, from the last prompt on.
func (o opencode) messages(s *sqlite.Snapshot, session string, after int64) (all []Message, err error) {
	q := sqlite.Query{
		Table: "message", Columns: []string{"id", "time_created", "data"}, Index: []string{"session_id", "time_created"}, Key: session, Descending: true,
	}
	for row, err := range s.Rows(q) {
		if err != nil {
			return nil, err
		}
		id, _ := row[0].(string)
		created, _ := row[1].(int64)
		if created <= after || after < 0 && len(all) >= mostMessages {
			break
		}
		var data struct {
			Role   string
			Finish string
			Time   struct{ Completed int64 }
			Error  json.RawMessage
			// Summary is true for a summary that replaces what was said; in prompts it is
			// an object.
			Summary json.RawMessage
		}
		text, _ := row[2].(string)
		if json.Unmarshal([]byte(text), &data) != nil || data.Role == "" {
			return nil, errors.New("a message has another form than the versions that are known")
		}
		m := Message{User: data.Role == "user", At: time.UnixMilli(created).UTC(), id: id, written: data.Time.Completed > 0}
		m.Ends = m.written && data.Finish != "tool-calls" && (data.Finish != "" || data.Error != nil)
		if m.Text, err = textOf(s, id); err != nil {
			return nil, err
		}
		if m.Text == "" || string(data.Summary) == "true" {
			continue
		}
		all = append(all, m)
		if m.User && after < 0 {
			break
		}
	}
	slices.Reverse(all)
	return all, nil
}

// textOf joins the texts of a message that the user or the model has written.
func textOf(s *sqlite.Snapshot, message string) (string, error) {
	var all []string
	q := sqlite.Query{Table: "part", Columns: []string{"data"}, Index: []string{"message_id", "id"}, Key: message}
	for row, err := range s.Rows(q) {
		if err != nil {
			return "", err
		}
		var part struct {
			Type, Text         string
			Synthetic, Ignored bool
		}
		data, _ := row[0].(string)
		if !strings.HasPrefix(data, `{`) || json.Unmarshal([]byte(data), &part) != nil {
			return "", fmt.Errorf("a part of %s has another form than the versions that are known", message)
		}
		if part.Type == "text" && part.Text != "" && !part.Synthetic && !part.Ignored {
			all = append(all, part.Text)
		}
	}
	return strings.Join(all, "\n\n"), nil
}
