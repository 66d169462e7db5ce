// Package conversation reads what agent CLIs write down of their conversations: the user's
// prompts and the agent's answers as the model wrote them, which a screen shows wrapped,
// without their Markdown, and cut by what has scrolled off.
//
// # Whose conversation it is
//
// A conversation is read for a pane, so it must belong to a process there; the newest file
// proves nothing. Some agents say so themselves: claude and qwen have a file with the process
// id, and the time at which the process, or its conversation, began; codex, copilot and grok
// keep a file open. gemini, pi, opencode and kilo do not say which process writes a
// conversation. Theirs counts only if the pane shows its end, and the end of no other
// conversation of the same directory that was written since the process began.
//
// # What is read
//
// Files of this user's below the agent's own directory, links resolved: at most 16 MB in all,
// and of a conversation its end or what follows a cursor. A line that is not complete yet is
// left for the next call. Only texts of the user and the agent are returned: no results of
// tools, no thinking, nothing that the agent adds to prompts. Everything that does not look
// as expected is [Unreadable], never an error of the call: the screen is still there.
package conversation

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/reading"
)

// Agent is an agent CLI that runs in a pane.
type Agent struct {
	// Name is the agent's name, as its rules have it.
	Name string
	// PIDs are the processes that were recognised as the agent.
	PIDs []int
	// Screen is what its pane shows.
	Screen []string
}

// Message is what the user or the agent has said.
type Message struct {
	// User is set for a prompt.
	User bool
	// Text is Markdown, as the model wrote it.
	Text string
	At   time.Time
	// Ends is set for the message with which an agent ends its answer.
	Ends bool

	id      string // the agent's name for it
	written bool   // it no longer changes
	end     int64  // where the next one begins, as in a cursor
}

// Conversation is a part of a conversation: its end, or what followed a cursor.
type Conversation struct {
	// Messages are the messages, oldest first. Without a cursor, the first is the last
	// prompt, unless that is too far back.
	Messages []Message
	// Cursor is where the next call continues. It has no blanks.
	Cursor string
}

// Portion keeps the first messages, at least one and no more than most bytes of text, and
// sets the cursor behind them.
func (c *Conversation) Portion(most int) {
	for i, m := range c.Messages {
		if most -= len(m.Text); most < 0 && i > 0 && c.Messages[i-1].end > 0 {
			c.Cursor = cursor{c.session(), c.Messages[i-1].end}.String()
			c.Messages = c.Messages[:i]
			return
		}
	}
}

func lastPrompt(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].User {
			return i
		}
	}
	return -1
}

// Unreadable says why the conversation of an agent cannot be read.
type Unreadable struct{ Why string }

func (u *Unreadable) Error() string { return u.Why }

func unreadable(format string, args ...any) error {
	return &Unreadable{fmt.Sprintf(format, args...)}
}

// A source is where one agent CLI writes its conversations.
type source interface {
	// read returns the conversation of a process: its end or, if cursor is not nil, what
	// followed.
	read(b *reading.Budget, a Agent, p *process, since *cursor) (*Conversation, error)
}

// sources by the names of the agents.
var sources = map[string]source{
	"claude": claude{}, "codex": codex{}, "gemini": gemini{}, "copilot": copilot{}, "grok": grok{}, "pi": pi{}, "qwen": qwen{}, "opencode": opencode{"opencode"}, "kilo": opencode{"kilo"},
}

// turn is held by the call that reads, so that no more is in memory than one call's limit.
var turn = make(chan struct{}, 1)

// Read returns the conversation of an agent: the last prompt and what followed or, with a
// cursor, everything since then. The error is an *Unreadable, a [BadCursor] or, once ctx has
// ended, its cause.
func Read(ctx context.Context, a Agent, since string) (*Conversation, error) {
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	b := reading.Within(ctx, mostRead)
	c, err := read(b, a, since)
	// What was not read might have proven something else.
	switch why := b.Err(); {
	case why == reading.ErrSpent:
		return nil, unreadable("there is more to read than %d MB, the most of a call", mostRead>>20)
	case why != nil:
		return nil, why
	}
	return c, err
}

func read(b *reading.Budget, a Agent, since string) (*Conversation, error) {
	s, ok := sources[a.Name]
	if !ok {
		return nil, unreadable("where %s writes its conversations is not known", a.Name)
	}
	at, err := parseCursor(since)
	if err != nil {
		return nil, err
	}
	var found *Conversation
	why := unreadable("the process of %s is not known", a.Name)
	for _, pid := range a.PIDs {
		p, err := processOf(b, pid)
		if err != nil {
			why = err
			continue
		}
		c, err := s.read(b, a, p, at)
		switch _, bad := err.(BadCursor); {
		case bad:
			return nil, err
		case err != nil:
			why = err
		case found != nil && found.session() != c.session():
			return nil, unreadable("two processes of %s in the pane have conversations", a.Name)
		default:
			found = c
		}
	}
	if found == nil {
		return nil, why
	}
	return found, nil
}

// A cursor is a place in a conversation: the agent's name for the conversation, and how far
// it was read.
type cursor struct {
	session string
	at      int64
}

func (c cursor) String() string { return c.session + ":" + strconv.FormatInt(c.at, 10) }

func (c *Conversation) session() string {
	session, _, _ := strings.Cut(c.Cursor, ":")
	return session
}

// BadCursor says what is wrong with a cursor.
type BadCursor string

func (b BadCursor) Error() string { return string(b) }

var cursorForm = lazy.Regexp(`^([\w-]{8,64}):(\d{1,18})$`)

func parseCursor(text string) (*cursor, error) {
	if text == "" {
		return nil, nil
	}
	m := cursorForm().FindStringSubmatch(text)
	if m == nil {
		return nil, BadCursor("is not a cursor of an agent's conversation")
	}
	at, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return nil, BadCursor("is not a cursor of an agent's conversation")
	}
	return &cursor{m[1], at}, nil
}

// in returns where to continue in a conversation; -1 is its end.
func (c *cursor) in(session string) (int64, error) {
	switch {
	case c == nil:
		return -1, nil
	case c.session != session:
		return 0, BadCursor("is of another conversation: the agent has begun a new one")
	}
	return c.at, nil
}

const (
	// enoughLetters is how many letters of a conversation's end a screen must show, if it
	// has that many, and leastLetters how many it must have to be recognized.
	enoughLetters, leastLetters = 40, 10
	// mostWrapped is the most rows that a line with fewer letters may take.
	mostWrapped = 4
)

// shows reports whether a screen shows the end of a conversation: its last lines, up to
// enough letters of them, or all since the last prompt. Only letters count, as Markdown,
// frames, line numbers and wrapping leave those as they are. A short line must be all that
// there is in some rows, or in their columns.
func shows(screen []string, messages []Message) bool {
	rows := map[string]bool{}
	for i, row := range screen {
		for _, part := range columns().Split(row, -1) {
			rows[letters(part)] = true
		}
		for n := 1; n <= mostWrapped && i+n <= len(screen); n++ {
			rows[letters(strings.Join(screen[i:i+n], ""))] = true
		}
	}
	shown := letters(strings.Join(screen, ""))
	var lines []string
	for _, m := range messages[max(0, lastPrompt(messages)):] {
		lines = append(lines, strings.Split(m.Text, "\n")...)
	}
	seen := 0
	for _, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			continue // the language of a block of code is not shown
		}
		line := []rune(letters(line))
		seen += len(line)
		switch {
		case len(line) >= enoughLetters && !strings.Contains(shown, string(line[len(line)-enoughLetters:])):
			return false
		case len(line) > 0 && len(line) < enoughLetters && !rows[string(line)]:
			return false
		case seen >= enoughLetters:
			return true
		}
	}
	return seen >= leastLetters
}

// columns separates what is beside each other in a row.
var columns = lazy.Regexp(` {2,}|[│┃║▌▐]`)

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, s)
}
