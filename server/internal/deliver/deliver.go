// Package deliver types prompts into agent CLIs, and proves that they were accepted.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// A prompt is pasted once and submitted once. Both can be proven: a paste deletes the
// buffer that it comes from, and Enter deletes another one, in the same list of commands. A
// buffer that is gone has therefore been used, whatever happened to the call. tmux sends
// each only if the cursor is still where it was on the screen that was looked at, since it
// leaves the input box when a dialog appears; or, if the program draws its own cursor, only
// if the screen still has the first row of the box.

const (
	promptLook   = 40 * time.Millisecond  // between two looks
	promptSettle = 120 * time.Millisecond // how long a screen must be unchanged to count
	promptStands = 10 * time.Second       // for a paste to show, and for the box to be empty again
	promptFind   = 500 * time.Millisecond // between two looks for the program
)

// Prompt is a prompt for an agent.
type Prompt struct {
	Text          string `json:"prompt" desc:"may have several lines"`
	Command       bool   `json:"command,omitempty" desc:"a leading / or ! is a command"`
	EvenIfWatched bool   `json:"even_if_watched,omitempty" desc:"although a user is looking"`
}

// mostPrompt is the maximum size of a prompt in bytes.
const mostPrompt = 256 << 10

// Check refuses what cannot be delivered.
func (in Prompt) Check() error {
	switch {
	case strings.TrimSpace(in.Text) == "":
		return reply.Argument("prompt", "must not be empty")
	case len(in.Text) > mostPrompt:
		return reply.Argument("prompt", "has %d bytes; the limit is %d", len(in.Text), mostPrompt).Suggest("put it into a file, and name that")
	case strings.ContainsFunc(in.Text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }):
		return reply.Argument("prompt", "must not have control characters other than newlines and tabs")
	}
	return nil
}

// Sender sends prompts to agents.
type Sender struct {
	// Stands is the constant promptStands, except in tests.
	Stands time.Duration
	agents *agents.Finder
}

// New returns a sender.
func New(f *agents.Finder) *Sender { return &Sender{Stands: promptStands, agents: f} }

// prompter delivers one prompt.
type prompter struct {
	*typing.Typist
	sender *Sender
	on     target.Object
	in     Prompt
	start  time.Time
	budget time.Duration
	pasted bool // at least in part

	now    agents.Agent // at the last look
	steady agents.Steady[shown]
}

// shown is what must stay the same for a screen to count as settled.
type shown struct {
	state           agents.State
	input, question string
	x, y            int
}

// Send types a prompt into the agent in a pane, which it waits for as long as budget.
func (s *Sender) Send(ctx context.Context, t *typing.Typist, on target.Object, in Prompt, budget time.Duration) (*Sent, error) {
	p := &prompter{Typist: t, sender: s, on: on, in: in, start: time.Now(), budget: budget}
	var pieces []string
	for {
		if err := p.ready(ctx); err != nil {
			return nil, err
		}
		pieces = p.now.Rules.Pieces(in.Text)
		pasted, err := p.typed(ctx, "perhaps pasted, and not submitted", pieces[0], true)
		if err != nil {
			return nil, err
		}
		if pasted {
			break
		}
		if time.Since(p.start) > 2*budget {
			return nil, p.refused("its screen keeps changing").Suggest("snapshot_pane shows it")
		}
	}
	queued := p.now.State == agents.Working
	for _, piece := range pieces[1:] {
		if err := p.more(ctx, piece); err != nil {
			return nil, err
		}
	}
	if err := p.stands(ctx); err != nil {
		return nil, err
	}
	if err := p.submit(ctx); err != nil {
		return nil, err
	}
	out := &Sent{PaneID: p.now.ID, Agent: p.now.Name, Version: reply.NonEmpty(p.now.Version), Queued: queued, State: string(p.now.State), Notes: p.notes()}
	out.ElapsedSeconds = reply.Seconds(time.Since(p.start))
	return out, nil
}

// look looks at the pane, in one list with the commands that also appends. find looks for
// the agent too.
func (p *prompter) look(ctx context.Context, find bool, also func(*tmux.Batch)) error {
	at := p.on.Target
	if p.now.ID != "" {
		at = p.now.ID
	}
	var runs []string
	if find {
		runs = agents.ProgramTokens
	}
	var b tmux.Batch
	look := agents.AddLook(&b, at, runs...)
	if also != nil {
		also(&b)
	}
	if err := b.Do(ctx, p.Tmux); err != nil {
		return err
	}
	pane := look.Pane()
	if pane.ID == "" {
		return target.Missing(ctx, p.Tmux, p.on.Selection)
	}
	p.now.Pane = pane
	if find {
		if err := p.find(ctx); err != nil {
			return err
		}
	}
	if pane.Dead {
		p.now.Status = agents.Status{State: agents.Ended}
	} else {
		p.now.Status = p.sender.agents.StatusOf(ctx, pane, p.now.Program, look.Rows())
	}
	p.steady.Saw(shown{p.now.State, p.now.Input(), p.now.Question, pane.X, pane.Y}, time.Now())
	return nil
}

// again looks again after a pause.
func (p *prompter) again(ctx context.Context) error {
	if err := pause.For(ctx, promptLook); err != nil {
		return err
	}
	return p.look(ctx, false, nil)
}

// settled reports whether the screen has not changed for a while.
func (p *prompter) settled() bool { return time.Since(p.steady.Since) >= promptSettle }

// ready waits until the agent accepts a prompt.
func (p *prompter) ready(ctx context.Context) error {
	type client struct {
		Name string      `tmux:"client_name"`
		Pane tmux.PaneID `tmux:"pane_id"`
	}
	var found, reported time.Time
	for {
		find := time.Since(found) > promptFind
		if find {
			found = time.Now()
		}
		clients := new([]client)
		err := p.look(ctx, find, func(b *tmux.Batch) {
			if !p.in.EvenIfWatched {
				clients = tmux.AddRows[client](b, tmux.ListClients{})
			}
		})
		if err != nil {
			return err
		}
		for _, c := range slices.Backward(*clients) { // the last that attached first
			if c.Pane == p.now.ID {
				return p.refused("a user is looking at it (client %s)", c.Name).Suggest("ask the user, or pass even_if_watched=true")
			}
		}
		if p.settled() {
			if accepts, err := p.accepts(); accepts || err != nil {
				return err
			}
		}
		if time.Since(p.start) > p.budget {
			return p.late()
		}
		if time.Since(reported) > time.Second {
			reported = time.Now()
			stdio.Waited(ctx, "pane "+string(p.now.ID), p.start, p.budget)
		}
		if err := pause.For(ctx, promptLook); err != nil {
			return err
		}
	}
}

// accepts reports whether the agent, whose screen is settled, accepts the prompt now. An
// error means that waiting will not help.
func (p *prompter) accepts() (bool, error) {
	rules := p.now.Rules
	switch {
	case p.now.State == agents.Asks:
		return false, p.refused("%s asks: %s", p.now.Name, reply.Flat(p.now.Question)).Suggest("agent_status shows the choices and their keys; answer with send_keys")
	case p.now.Input() != "":
		return false, p.refused("the input box is not empty: %s", reply.Flat(p.now.Input())).Suggest("submit or clear it first")
	case p.now.Opening:
		return false, nil
	}
	return p.now.State == agents.Idle || p.now.State == agents.Working && rules.Queues && !rules.IdleOnly.Matches(p.in.Text), nil
}

// late returns the fault for an agent that did not accept the prompt in time.
func (p *prompter) late() *reply.Fault {
	why := "its screen keeps changing"
	switch p.now.State {
	case agents.Working:
		why = "it is still working"
	case agents.Unknown:
		why = "its input box was not found on the screen"
	}
	f := p.refused("%s after %s", why, reply.Elapsed(reply.Seconds(p.budget))).Suggest("snapshot_pane shows the screen")
	f.Kind = reply.KindTimeout
	return f
}

// find checks that an agent runs in the pane, and that the prompt will reach it unchanged.
func (p *prompter) find(ctx context.Context) error {
	running, ended := p.sender.agents.Programs(ctx, p.Tmux, []agents.Pane{p.now.Pane})
	program, ok := running[p.now.ID]
	if !ok {
		if was, ok := ended[p.now.ID]; ok {
			return p.refused("%s has ended there", was.Name).Suggest("start it again")
		}
		return p.refused("it runs %s, not an agent", p.now.Command).
			Suggest("agent_status lists the agents (%s); run_command and send_keys are for other programs", strings.Join(p.sender.agents.Rules().Names(), ", "))
	}
	p.now.Program = program
	if most := program.Rules.Longest; most > 0 && uint(len(p.in.Text)) > most {
		return p.refused("%s would keep only a part of a prompt over %d bytes", program.Name, most).Suggest("put it into a file, and name that")
	}
	for _, r := range program.Rules.Refused {
		if r.Text.Matches(p.in.Text) && !(r.Command && p.in.Command) {
			f := p.refused("%s", r.Why)
			if r.Command {
				return f.Suggest("put words before it, or pass command=true if you mean a command")
			}
			return f.Suggest("end the prompt with another word")
		}
	}
	return nil
}

// refused returns the fault for a prompt of which nothing was typed.
func (p *prompter) refused(format string, args ...any) *reply.Fault {
	return reply.Faultf(reply.KindRefused, "nothing was typed into pane %s: %s", p.now.ID, fmt.Sprintf(format, args...))
}

// unproven returns the fault for a prompt that was typed, perhaps without being sent.
func (p *prompter) unproven(did, format string, args ...any) *reply.Fault {
	shows := "; the screen shows no input box"
	switch {
	case p.now.State == agents.Asks:
		shows = "; now it asks: " + reply.Flat(p.now.Question)
	case p.now.Box != nil && p.now.Box.Text == "":
		shows = "; the input box is empty"
	case p.now.Box != nil:
		shows = "; the input box has: " + reply.Flat(p.now.Box.Text)
	}
	return reply.Faultf(reply.KindUnproven, "%s in pane %s: %s%s", did, p.now.ID, fmt.Sprintf(format, args...), shows).
		Suggest("check with snapshot_pane before sending it again")
}

// unmoved returns the condition that the cursor has not moved, or that the box is still
// there if the cursor says nothing about it.
func (p *prompter) unmoved() tmux.Format {
	same := tmux.MatchEqual("pane_pid", strconv.Itoa(p.now.PID))
	if p.now.Rules.Box.OwnCursor {
		return tmux.And(tmux.MatchContent(p.now.Box.First, tmux.MatchOptions{}), same)
	}
	return tmux.And(tmux.MatchEqual("cursor_x", strconv.Itoa(p.now.X)), tmux.MatchEqual("cursor_y", strconv.Itoa(p.now.Y)), same)
}

// typed sends data to the pane if the cursor has not moved, and reports whether it did: the
// buffer is then gone. did says what may have happened if that cannot be determined. A
// paste reaches only this pane, even if panes are synchronized.
func (p *prompter) typed(ctx context.Context, did, data string, bracket bool) (bool, error) {
	type row struct {
		Name string `tmux:"buffer_name"`
	}
	buffer := p.Tmux.Buffer(prompt.NewBufferName("prompt"))
	used := false
	defer func() {
		if !used {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
			defer cancel()
			_ = buffer.Delete(ctx) // if it or the server is gone, nothing is left
		}
	}()
	load := tmux.LoadBuffer{Buffer: buffer.Name, Path: "-", Data: []byte(data)}
	var refusal *reply.Fault
	var left *[]row
	_, err := p.Type(ctx, target.AtPane(p.now.ID), screen.EchoOf(data), func(to tmux.Target) ([]tmux.Command, error) {
		paste, err := buffer.Pasting(ctx, to, tmux.PasteOptions{Bracket: bracket, Returns: !p.now.Rules.Newlines})
		if err != nil {
			return nil, err
		}
		paste.Delete = true
		return []tmux.Command{tmux.Require{Target: to, Condition: p.unmoved()}, paste}, nil
	}, load)
	switch {
	case errors.As(err, &refusal) && p.pasted:
		return false, p.broken(notSubmitted, err)
	case errors.As(err, &refusal):
		return false, err
	case err == nil, errors.Is(err, tmux.ErrUnmet):
		err = p.look(ctx, false, func(b *tmux.Batch) {
			left = tmux.AddRows[row](b, tmux.ListBuffers{Filter: tmux.MatchEqual("buffer_name", buffer.Name)})
		})
	}
	if err != nil {
		return false, p.broken(did, err)
	}
	used = len(*left) == 0
	p.pasted = p.pasted || used
	return used, nil
}

// notSubmitted is what has been done before Enter.
const notSubmitted = "pasted but not submitted"

// until looks again and again until done says that it is, for as long as what was typed may
// take to show. did says what has happened so far, and missing what has not in the end.
func (p *prompter) until(ctx context.Context, did *string, missing string, done func() (bool, error)) error {
	for deadline := time.Now().Add(p.sender.Stands); ; {
		if is, err := done(); is || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return p.unproven(*did, "%s", missing)
		}
		if err := p.again(ctx); err != nil {
			return p.broken(*did, err)
		}
	}
}

// stands waits until the box shows the prompt.
func (p *prompter) stands(ctx context.Context) error {
	did, mended := notSubmitted, false
	return p.until(ctx, &did, "it does not appear in the input box", func() (stands bool, err error) {
		if !p.settled() || !p.holds() {
			return false, nil
		}
		if !p.now.Box.Collapsed || p.now.Rules.AfterCollapsed == "" || mended {
			return true, nil
		}
		mended, err = p.typed(ctx, "pasted, perhaps mended, and not submitted", p.now.Rules.AfterCollapsed, false)
		p.steady.Since = time.Now()
		return false, err
	})
}

// more pastes a further piece of the prompt once the box shows the ones before it.
func (p *prompter) more(ctx context.Context, piece string) error {
	for deadline := time.Now().Add(p.sender.Stands); ; {
		if err := p.stands(ctx); err != nil {
			return err
		}
		if pasted, err := p.typed(ctx, "pasted in part, and not submitted", piece, true); pasted || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return p.unproven("pasted in part, and not submitted", "its screen keeps changing")
		}
	}
}

// holds reports whether the box has the prompt, or a note in its place.
func (p *prompter) holds() bool {
	if p.now.Box == nil || p.now.Box.Collapsed {
		return p.now.Box != nil
	}
	shown, whole := agents.Letters(p.now.Box.Text), agents.Letters(p.in.Text)
	// A box that is too small shows only a part.
	return p.now.Box.Text != "" && strings.Contains(whole, shown) && (shown != "" || whole == "")
}

// mostNewlines is the most times that Enter may become a newline.
const mostNewlines = 3

// entering is what is known of the Enter that submits a prompt.
type entering struct {
	pressed  bool
	row      int // of the cursor in the box when it was pressed
	newlines int // how often it has become a newline
}

// step is what comes next.
type step int

const (
	waits step = iota
	press
	taken // the agent has the prompt
	dies  // the program has ended
)

// next decides by a screen what comes next. Some programs take an Enter soon after a paste as
// a newline of the paste. If the cursor shows that this happened, Enter is pressed again;
// otherwise never. holds is set if the box has the prompt.
func (e entering) next(now agents.Agent, holds, settled bool) step {
	switch {
	case !e.pressed && holds:
		return press
	case !e.pressed:
		return waits
	case now.State == agents.Asks || now.Box != nil && now.Box.Text == "":
		return taken
	case now.Dead:
		return dies
	case holds && settled && now.Box.Row == e.row+1 && e.newlines < mostNewlines:
		return press
	}
	return waits
}

// submit presses Enter and waits until the box is empty again.
func (p *prompter) submit(ctx context.Context) error {
	did := notSubmitted
	var e entering
	return p.until(ctx, &did, "the input box still contains it", func() (bool, error) {
		next := e.next(p.now, p.holds(), p.settled())
		for next == press {
			if e.pressed {
				e.newlines++
			}
			e.row = p.now.Box.Row
			var err error
			if e.pressed, err = p.typed(ctx, "pasted, and perhaps submitted", "\r", false); !e.pressed || err != nil {
				return false, err
			}
			did = "pasted, and Enter pressed,"
			next = e.next(p.now, p.holds(), p.settled())
		}
		if next == dies {
			return false, p.unproven(did, "the program has ended")
		}
		return next == taken, nil
	})
}

// broken returns the fault for an error after the paste.
func (p *prompter) broken(did string, err error) error {
	f := p.unproven(did, "%v", err)
	f.Cause = err
	return f
}

// notes returns what the agent changes in the prompt.
func (p *prompter) notes() []string {
	notes := []string{}
	for _, change := range p.now.Rules.Changes {
		if change.Text.Matches(p.in.Text) {
			notes = append(notes, change.Note)
		}
	}
	return notes
}
