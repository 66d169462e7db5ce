package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// sight says what a tool that types waits for afterwards, and what it then shows. If all of
// it is unset, the tool returns at once.
type sight struct {
	conditions
	Timeout *float64 `json:"timeout,omitempty" desc:"default 8"`
	Show    string   `json:"show,omitempty" enum:"new,screen,none" desc:"default new: lines"`
}

// settleQuiet is how many seconds a pane must be silent if a call only says what to show.
const settleQuiet = 0.3

// waits reports whether the tool should wait.
func (in sight) waits() bool {
	return in.Patterns != nil || in.Stop != nil || in.Quiet > 0 || in.Show != ""
}

func (in sight) check(c *call) error {
	_, err := in.await(context.Background(), c)
	return err
}

// await starts the wait.
func (in sight) await(ctx context.Context, c *call) (*await, error) {
	cond := in.conditions
	if cond.Patterns == nil && cond.Quiet == 0 {
		cond.Quiet = settleQuiet
	}
	timeout := 8.0
	if in.Timeout != nil {
		timeout = *in.Timeout
	}
	return c.newAwait(ctx, cond, false, timeout)
}

// typed records what the call has typed into a pane since began, and how the pane looked
// before.
func (c *call) typed(ctx context.Context, look *tmux.Look, what echo, began time.Time) {
	c.typedLock.Lock()
	defer c.typedLock.Unlock()
	c.typedRow = look.History + look.CursorY
	i := slices.IndexFunc(c.typedInto, func(p bookmark) bool { return p.mark.Pane == look.ID })
	if i < 0 {
		i = len(c.typedInto)
		c.typedInto = append(c.typedInto, bookmark{mark: look.Mark()})
	}
	p := &c.typedInto[i]
	p.echo = what.at(caller.PID(ctx, c.Tmux, look.PaneState), look, p.echo, time.Since(began))
	p.prompt = p.echo.prompt != ""
	c.s.places.set(c.Tmux, *p)
}

// typedText is what a tool that types returns.
type typedText struct {
	reply.PaneText
	Seen *waitForTextResult `json:"seen"`
	also
}

// also lists other panes that got the keys because they are synchronized.
type also struct {
	SynchronizedPanes []tmux.PaneID `json:"synchronized_panes"`
}

func (a also) addTo(v reply.View) reply.View {
	v.FactIf(len(a.SynchronizedPanes) > 0, "also typed into %s, synchronized", strings.Trim(fmt.Sprint(a.SynchronizedPanes), "[]"))
	return v
}

// typeAndSee types, then waits and looks as the call says.
func (c *call) typeAndSee(ctx context.Context, in sight, typing func() (string, error)) (typedText, error) {
	what, err := typing()
	if err != nil {
		return typedText{}, err
	}
	out := typedText{PaneText: reply.PaneText{Result: what, PaneID: string(c.typedInto[0].mark.Pane)}}
	out.SynchronizedPanes = append([]tmux.PaneID{}, c.typedAlso...)
	out.Seen, err = c.see(ctx, in)
	return out, err
}

// see waits for the effect of what was typed; nil if the call does not ask for that.
func (c *call) see(ctx context.Context, in sight) (*waitForTextResult, error) {
	if !in.waits() {
		return nil, nil
	}
	w, err := in.await(ctx, c)
	if err != nil {
		return nil, err
	}
	w.all, w.typed, w.draws = true, true, in.Show == "screen"
	var panes []tmux.PaneID
	before := map[tmux.PaneID]bookmark{}
	for _, p := range c.typedInto {
		panes, before[p.mark.Pane] = append(panes, p.mark.Pane), p
	}
	if err := w.run(ctx, 50*time.Millisecond, panes, func(id tmux.PaneID) begin { return begin{bookmark: before[id]} }); err != nil {
		return nil, err
	}
	switch in.Show {
	case "screen":
		for _, p := range w.panes {
			if err := w.settle(ctx, p); err != nil {
				return nil, err
			}
			p.matched, p.screen = nil, true
		}
	case "none":
		for _, p := range w.panes {
			p.fresh, p.matched = freshLines{}, nil
		}
	}
	return w.result(ctx), nil
}

// settle looks at a pane until it is completely drawn: until nothing changes for a moment,
// at most for half a second, or until the deadline while nothing has been drawn at all. A
// pattern may have matched when only half of the screen was there.
func (w *await) settle(ctx context.Context, p *awaited) error {
	const moment = 50 * time.Millisecond
	for tries := 10; tries > 0; {
		left := moment
		switch {
		case p.outcome == outcomeGone, p.blank && !time.Now().Before(w.deadline):
			return nil
		case p.blank:
		case p.outcome == outcomeQuiet, time.Since(p.printed) >= moment:
			return nil
		default:
			left -= time.Since(p.printed)
			tries--
		}
		if err := pause.For(ctx, left); err != nil {
			return err
		}
		l, err := w.lookAt(ctx, p.id, p.look.Mark())
		if err != nil {
			return nil // show what was there before the pane was gone
		}
		if !p.rests(caller.PID(ctx, w.c.Tmux, l.PaneState), l) && l.Printed {
			p.printed = time.Now()
		}
		p.look = l
		p.sees(l)
		w.c.s.places.set(w.c.Tmux, bookmark{l.Mark(), p.echo, p.prompt})
	}
	return nil
}
