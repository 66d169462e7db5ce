package agents

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/conversation"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/tmux"
)

// An Exchange is a prompt, as far as it is known, and what the agent has answered.
type Exchange struct {
	Agent
	Prompt string
	Answer string // Markdown
	Began  time.Time
	Ended  time.Time // of the last message so far
	// Complete is set once the agent has answered to the end.
	Complete bool
	// Messages are all messages since the cursor of the call, if it had one.
	Messages []conversation.Message
	// Cursor is where the next call continues.
	Cursor string
	// Why says why the answer is what the screen shows instead of the agent's own text.
	Why string
}

func (f *Finder) one(ctx context.Context, srv *tmux.Server, id tmux.PaneID) (Agent, error) {
	return reply.Within(ctx, f.LookTime, func(ctx context.Context) (Agent, error) {
		seen, err := f.In(ctx, srv, []tmux.PaneID{id})
		switch {
		case err != nil:
			return Agent{}, err
		case len(seen) == 0:
			return Agent{}, NoAgent(id)
		}
		return seen[0], nil
	})
}

// conversation returns the conversation of an agent: the last prompt and what followed or,
// with a cursor, everything since. If it cannot be read, why says so, and the screen is all
// there is.
func (f *Finder) conversation(ctx context.Context, s Agent, cursor string) (c *conversation.Conversation, why string, err error) {
	switch {
	case f.NoTranscripts:
		return nil, "this server reads no transcripts", nil
	case s.State == Ended:
		return nil, "the agent has ended", nil
	}
	c, err = conversation.Read(ctx, s.writer(), cursor)
	var cannot *conversation.Unreadable
	if errors.As(err, &cannot) {
		return nil, cannot.Why, nil
	}
	return c, "", err
}

// LastAnswer returns the last answer of the agent in a pane, and everything since a cursor
// if there is one.
func (f *Finder) LastAnswer(ctx context.Context, srv *tmux.Server, id tmux.PaneID, since string) (*Exchange, error) {
	s, err := f.one(ctx, srv, id)
	if err != nil {
		return nil, err
	}
	return f.AnswerOf(ctx, s, since)
}

// AnswerOf returns the last answer of an agent that was seen, and everything since a cursor
// if there is one.
func (f *Finder) AnswerOf(ctx context.Context, s Agent, since string) (*Exchange, error) {
	c, why, err := f.conversation(ctx, s, since)
	var bad conversation.BadCursor
	switch {
	case errors.As(err, &bad):
		return nil, reply.Argument("since", "%s", bad).Suggest("leave since out: the last answer comes with a new cursor")
	case err != nil:
		return nil, err
	case why != "":
		return s.shown(why), nil
	}
	if since != "" {
		c.Portion(mostSince)
	}
	e := exchangeOf(s, c.Messages)
	e.Cursor = c.Cursor
	if since != "" {
		e.Messages = c.Messages
	}
	return e, nil
}

// mostSince bounds the messages since a cursor that one call returns, in bytes.
const mostSince = 100_000

func exchangeOf(s Agent, messages []conversation.Message) *Exchange {
	e := &Exchange{Agent: s}
	for _, m := range messages {
		if m.User {
			*e = Exchange{Agent: s, Prompt: m.Text, Began: m.At}
			continue
		}
		e.Answer, e.Ended, e.Complete = m.Text, m.At, m.Ends
	}
	return e
}

// shown returns what the screen shows of an answer.
func (s Agent) shown(why string) *Exchange {
	rows := make([]string, len(s.Rows))
	for i, row := range s.Rows {
		rows[i] = strings.TrimRight(row, " ")
	}
	return &Exchange{Agent: s, Answer: strings.Trim(strings.Join(rows, "\n"), "\n"), Why: why}
}

// A Question is a prompt to an agent whose answer is awaited.
type Question struct {
	finder *Finder
	srv    *tmux.Server
	pane   tmux.PaneID
	text   string // the prompt
	prompt string // its letters and digits
	cursor string
	asked  time.Time
	passed bool // the agent has gone on to another prompt
}

// Ask prepares to wait for the answer to a prompt, before it is sent.
func (f *Finder) Ask(ctx context.Context, srv *tmux.Server, id tmux.PaneID, prompt string) *Question {
	q := f.question(prompt)
	q.srv, q.pane = srv, id
	// Whoever sends the prompt finds out if no agent runs there.
	if s, err := f.one(ctx, srv, id); err == nil {
		if c, _, _ := f.conversation(ctx, s, ""); c != nil {
			q.cursor = c.Cursor
		}
	}
	return q
}

func (f *Finder) question(prompt string) *Question {
	return &Question{finder: f, text: strings.TrimSpace(prompt), prompt: Letters(prompt), asked: time.Now()}
}

const (
	// readEvery is the time between two readings of the conversation while the agent works.
	readEvery = time.Second
	// writtenWithin is how long an agent may take to write down what its screen shows.
	writtenWithin = 3 * time.Second
	// beginsWithin is the default of BeginsWithin.
	beginsWithin = 10 * time.Second
)

// Answer waits until the agent has answered, asks something or has ended, and returns what
// there is of the answer. If time is up, it is not complete.
func (q *Question) Answer(ctx context.Context, budget time.Duration) (*Exchange, error) {
	start := time.Now()
	deadline := start.Add(budget)
	var rested time.Time // since when the agent has not been working
	worked := false
	for {
		left := time.Until(deadline)
		// What it says before it uses a tool may look complete, and the answer may be while it
		// works at another prompt.
		a, err := q.finder.Await(ctx, q.srv, Want{Panes: []tmux.PaneID{q.pane}, States: []State{Idle, Asks, Ended}, Budget: min(left, readEvery)})
		if err != nil {
			return nil, err
		}
		if len(a.Agents) == 0 {
			return nil, NoAgent(q.pane)
		}
		e, err := q.read(ctx, a.Agents[0])
		switch {
		case err != nil:
			return nil, err
		case e.State == Asks, e.State == Ended, left <= 0, e.Complete && (e.State != Working || q.passed):
			return e, nil
		case !a.Reached[q.pane] || e.State == Working:
			worked, rested = true, time.Time{}
		case rested.IsZero():
			rested = time.Now()
		}
		// A screen may be idle before the work begins, and before the answer is written.
		settled := e.Why != "" || time.Since(rested) > writtenWithin
		if !worked && e.Prompt == "" && !q.taken(e.Agent) {
			settled = time.Since(q.asked) > q.finder.BeginsWithin
		}
		if settled && !rested.IsZero() {
			return e, nil
		}
		stdio.Waited(ctx, "pane "+string(q.pane), start, budget)
		if err := pause.For(ctx, awaitPause); err != nil {
			return nil, err
		}
	}
}

// taken reports whether a screen shows the end of the prompt outside the box.
func (q *Question) taken(s Agent) bool {
	shown := Letters(strings.Join(s.Rows, ""))
	if s.Box != nil {
		shown = strings.Replace(shown, Letters(s.Box.Text), "", 1)
	}
	return strings.Contains(shown, q.prompt[max(0, len(q.prompt)-enoughOfPrompt):])
}

// read returns what there is of the answer.
func (q *Question) read(ctx context.Context, s Agent) (*Exchange, error) {
	c, why, err := q.finder.conversation(ctx, s, q.cursor)
	if errors.As(err, new(conversation.BadCursor)) {
		q.cursor = "" // the prompt has begun another conversation
		c, why, err = q.finder.conversation(ctx, s, "")
	}
	if err != nil {
		return nil, err
	}
	if why != "" {
		return s.shown(why), nil
	}
	// An agent may put words of its own around a prompt; one that is the same comes first.
	first := slices.IndexFunc(c.Messages, func(m conversation.Message) bool { return m.User && q.same(m.Text) })
	if first < 0 {
		first = slices.IndexFunc(c.Messages, func(m conversation.Message) bool { return m.User && q.within(m.Text) })
	}
	if first < 0 {
		return q.found(s, nil, c.Cursor), nil
	}
	own := c.Messages[first:]
	for i, m := range own {
		if i > 0 && m.User && own[i-1].Ends {
			own, q.passed = own[:i], true
			break
		}
	}
	return q.found(s, own, c.Cursor), nil
}

// same reports whether a text is the prompt. Only letters and digits count, if it has any,
// as agents change white space and signs.
func (q *Question) same(text string) bool {
	if q.prompt == "" {
		return strings.TrimSpace(text) == q.text
	}
	return Letters(text) == q.prompt
}

// within reports whether a text contains the prompt, if that is long enough to be recognized.
func (q *Question) within(text string) bool {
	return len(q.prompt) >= enoughOfPrompt && strings.Contains(Letters(text), q.prompt)
}

// enoughOfPrompt is how many letters and digits of a prompt do not occur elsewhere by chance.
const enoughOfPrompt = 40

func (q *Question) found(s Agent, own []conversation.Message, cursor string) *Exchange {
	e := exchangeOf(s, own)
	e.Cursor = cursor
	return e
}

// Letters returns the letters and digits of a text, which every screen and every agent leaves
// unchanged.
func Letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
