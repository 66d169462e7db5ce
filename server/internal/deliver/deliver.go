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
	Text          string `json:"prompt"`
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
	sender  *Sender
	on      target.Object
	in      Prompt
	pane    tmux.PaneID
	program agents.Program
	rules   *agents.Rules
	start   time.Time
	budget  time.Duration
	pasted  bool // at least in part

	now   seenPrompt
	since time.Time // when the screen last changed
}

// seenPrompt is the pane at one look.
type seenPrompt struct {
	agents.Pane
	agents.Status
	watched string   // the client of a user who is looking at the pane
	buffers []string // buffers of this server's that are still unused
}

// input returns the text in the input box, or "" if there is no box.
func (s seenPrompt) input() string {
	if s.Box == nil {
		return ""
	}
	return s.Box.Text
}

// Send types a prompt into the agent in a pane, which it waits for as long as budget.
func (s *Sender) Send(ctx context.Context, t *typing.Typist, on target.Object, in Prompt, budget time.Duration) (*Sent, error) {
	p := &prompter{Typist: t, sender: s, on: on, in: in, start: time.Now(), budget: budget}
	if err := p.look(ctx); err != nil {
		return nil, err
	}
	var pieces []string
	for {
		if err := p.ready(ctx); err != nil {
			return nil, err
		}
		pieces = p.rules.Pieces(in.Text)
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
	out := &Sent{PaneID: p.pane, Agent: p.program.Name, Version: reply.NonEmpty(p.program.Version), Queued: queued, State: string(p.now.State), Notes: p.notes()}
	out.ElapsedSeconds = reply.Seconds(time.Since(p.start))
	return out, nil
}

// look looks at the pane, and at which buffers are left.
func (p *prompter) look(ctx context.Context) error {
	at := p.on.Target
	if p.pane != "" {
		at = p.pane
	}
	type client struct {
		Name string      `tmux:"client_name"`
		Pane tmux.PaneID `tmux:"pane_id"`
	}
	type buffer struct {
		Name string `tmux:"buffer_name"`
	}
	var b tmux.Batch
	panes := tmux.AddRows[agents.Pane](&b, tmux.DisplayMessage{Target: at})
	clients := tmux.AddRows[client](&b, tmux.ListClients{})
	buffers := tmux.AddRows[buffer](&b, tmux.ListBuffers{})
	shown := tmux.Add(&b, tmux.CapturePane{Target: at, Print: true})
	if err := b.Do(ctx, p.Tmux); err != nil {
		return err
	}
	was := p.now
	p.now = seenPrompt{Pane: (*panes)[0]}
	if p.now.ID == "" {
		return target.Missing(ctx, p.Tmux, p.on.Selection)
	}
	p.pane = p.now.ID
	for _, c := range *clients {
		if c.Pane == p.pane {
			p.now.watched = c.Name
		}
	}
	for _, b := range *buffers {
		p.now.buffers = append(p.now.buffers, b.Name)
	}
	if p.now.Dead {
		p.now.Status = agents.Status{State: agents.Ended}
	} else {
		p.now.Status = p.sender.agents.StatusOf(ctx, p.now.Pane, p.program, agents.ScreenRows(*shown))
	}
	if same := was.State == p.now.State && was.input() == p.now.input() && was.Question == p.now.Question && was.X == p.now.X && was.Y == p.now.Y; !same {
		p.since = time.Now()
	}
	return nil
}

// again looks again after a pause.
func (p *prompter) again(ctx context.Context) error {
	if err := pause.For(ctx, promptLook); err != nil {
		return err
	}
	return p.look(ctx)
}

// settled reports whether the screen has not changed for a while.
func (p *prompter) settled() bool { return time.Since(p.since) >= promptSettle }

// ready waits until the agent accepts a prompt.
func (p *prompter) ready(ctx context.Context) error {
	var found, reported time.Time
	for {
		if time.Since(found) > promptFind {
			found = time.Now()
			if err := p.find(ctx); err != nil {
				return err
			}
			if err := p.look(ctx); err != nil {
				return err
			}
		}
		if p.now.watched != "" && !p.in.EvenIfWatched {
			return p.refused("a user is looking at it (client %s)", p.now.watched).Suggest("ask the user, or pass even_if_watched=true")
		}
		if p.settled() {
			switch {
			case p.now.State == agents.Asks:
				return p.refused("%s asks: %s", p.program.Name, reply.Flat(p.now.Question)).Suggest("agent_status shows the choices and their keys; answer with send_keys")
			case p.now.Box != nil && p.now.input() != "":
				return p.refused("the input box is not empty: %s", reply.Flat(p.now.input())).Suggest("submit or clear it first")
			case p.now.Opening:
			case p.now.State == agents.Idle || p.now.State == agents.Working && p.rules.Queues && !p.rules.IdleOnly.Matches(p.in.Text):
				return nil
			}
		}
		if time.Since(p.start) > p.budget {
			why := map[agents.State]string{
				agents.Working: "it is still working", agents.Unknown: "its input box was not found on the screen",
			}[p.now.State]
			if why == "" {
				why = "its screen keeps changing"
			}
			f := p.refused("%s after %s", why, reply.Elapsed(reply.Seconds(p.budget))).Suggest("snapshot_pane shows the screen")
			f.Kind = reply.KindTimeout
			return f
		}
		if time.Since(reported) > time.Second {
			reported = time.Now()
			stdio.Waited(ctx, "pane "+string(p.pane), p.start, p.budget)
		}
		if err := p.again(ctx); err != nil {
			return err
		}
	}
}

// find checks that an agent runs in the pane, and that the prompt will reach it unchanged.
func (p *prompter) find(ctx context.Context) error {
	running, ended := p.sender.agents.Programs(ctx, p.Tmux, []agents.Pane{p.now.Pane})
	program, ok := running[p.pane]
	if !ok {
		if was, ok := ended[p.pane]; ok {
			return p.refused("%s has ended there", was.Name).Suggest("start it again")
		}
		return p.refused("it runs %s, not an agent", p.now.Command).
			Suggest("agent_status lists the agents (%s); run_command and send_keys are for other programs", strings.Join(p.sender.agents.Known().Names(), ", "))
	}
	p.program, p.rules = program, program.Rules
	if most := p.rules.Longest; most > 0 && uint(len(p.in.Text)) > most {
		return p.refused("%s would keep only a part of a prompt over %d bytes", program.Name, most).Suggest("put it into a file, and name that")
	}
	for _, r := range p.rules.Refused {
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
	return reply.Faultf(reply.KindRefused, "nothing was typed into pane %s: %s", p.pane, fmt.Sprintf(format, args...))
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
	return reply.Faultf(reply.KindUnproven, "%s in pane %s: %s%s", did, p.pane, fmt.Sprintf(format, args...), shows).
		Suggest("check with snapshot_pane before sending it again")
}

// unmoved returns the condition that the cursor has not moved, or that the box is still
// there if the cursor says nothing about it.
func (p *prompter) unmoved() tmux.Format {
	same := tmux.MatchEqual("pane_pid", strconv.Itoa(p.now.PID))
	if p.rules.Box.OwnCursor {
		return tmux.And(tmux.MatchContent(p.now.Box.First, tmux.MatchOptions{}), same)
	}
	return tmux.And(tmux.MatchEqual("cursor_x", strconv.Itoa(p.now.X)), tmux.MatchEqual("cursor_y", strconv.Itoa(p.now.Y)), same)
}

// typed sends data to the pane if the cursor has not moved, and reports whether it did: the
// buffer is then gone. did says what may have happened if that cannot be determined. A
// paste reaches only this pane, even if panes are synchronized.
func (p *prompter) typed(ctx context.Context, did, data string, bracket bool) (bool, error) {
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
	_, err := p.Type(ctx, target.AtPane(p.pane), screen.EchoOf(data), func(to tmux.Target) ([]tmux.Command, error) {
		paste, err := buffer.Pasting(ctx, to, tmux.PasteOptions{Bracket: bracket, Returns: !p.rules.Newlines})
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
		err = p.look(ctx)
	}
	if err != nil {
		return false, p.broken(did, err)
	}
	used = !slices.Contains(p.now.buffers, buffer.Name)
	p.pasted = p.pasted || used
	return used, nil
}

// notSubmitted is what has been done before Enter.
const notSubmitted = "pasted but not submitted"

// stands waits until the box shows the prompt.
func (p *prompter) stands(ctx context.Context) error {
	pressed := false
	for deadline := time.Now().Add(p.sender.Stands); ; {
		if p.settled() && p.now.Box != nil && p.holds() {
			if p.now.Box.Collapsed && p.rules.AfterCollapsed != "" && !pressed {
				var err error
				if pressed, err = p.typed(ctx, "pasted, perhaps mended, and not submitted", p.rules.AfterCollapsed, false); err != nil {
					return err
				}
				p.since = time.Now()
				continue
			}
			return nil
		}
		if time.Now().After(deadline) {
			return p.unproven(notSubmitted, "it does not appear in the input box")
		}
		if err := p.again(ctx); err != nil {
			return p.broken(notSubmitted, err)
		}
	}
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
	if p.now.Box.Collapsed {
		return true
	}
	shown, whole := agents.Letters(p.now.Box.Text), agents.Letters(p.in.Text)
	// A box that is too small shows only a part.
	return p.now.Box.Text != "" && strings.Contains(whole, shown) && (shown != "" || whole == "")
}

// mostNewlines is the most times that Enter may become a newline.
const mostNewlines = 3

// submit presses Enter and waits until the box is empty again. Some programs take an Enter
// soon after a paste as a newline of the paste. If the cursor shows that this happened,
// Enter is pressed again; otherwise never.
func (p *prompter) submit(ctx context.Context) error {
	did := notSubmitted
	deadline := time.Now().Add(p.sender.Stands)
	row, newlines := 0, 0
	for entered := false; ; {
		switch {
		case entered && (p.now.State == agents.Asks || p.now.Box != nil && p.now.Box.Text == ""):
			return nil
		case entered && p.now.Dead:
			return p.unproven(did, "the program has ended")
		case entered && p.now.Box != nil && p.settled() && p.now.Box.Row == row+1 && p.holds() && newlines < mostNewlines:
			entered, newlines = false, newlines+1
			continue
		case !entered && p.now.Box != nil && p.holds():
			row = p.now.Box.Row
			var err error
			if entered, err = p.typed(ctx, "pasted, and perhaps submitted", "\r", false); err != nil {
				return err
			}
			if entered {
				did = "pasted, and Enter pressed,"
				continue
			}
		}
		if time.Now().After(deadline) {
			return p.unproven(did, "the input box still contains it")
		}
		if err := p.again(ctx); err != nil {
			return p.broken(did, err)
		}
	}
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
	for _, change := range p.rules.Changes {
		if change.Text.Matches(p.in.Text) {
			notes = append(notes, change.Note)
		}
	}
	return notes
}
