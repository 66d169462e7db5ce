package typing

import (
	"context"
	"slices"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// Sight says what a tool that types waits for afterwards, and what it then shows. If all of
// it is unset, the tool returns at once.
type Sight struct {
	screen.Conditions
	Timeout *float64 `json:"timeout,omitempty" desc:"default 8"`
	Show    string   `json:"show,omitempty" enum:"new,screen,none" desc:"default new: lines"`
}

// settleQuiet is how many seconds a pane must be silent if a call only says what to show.
const settleQuiet = 0.3

// Waits reports whether the tool should wait.
func (in Sight) Waits() bool {
	return in.Patterns != nil || in.Stop != nil || in.Quiet > 0 || in.Show != ""
}

// Check refuses a wait that would be refused, before anything is typed. No wait is longer
// than most.
func (in Sight) Check(most time.Duration) error {
	_, err := in.await(context.Background(), &screen.Reader{WaitMax: most}, rows.Source{})
	return err
}

// await starts the wait.
func (in Sight) await(ctx context.Context, r *screen.Reader, src rows.Source) (*screen.Wait, error) {
	cond := in.Conditions
	if cond.Patterns == nil && cond.Quiet == 0 {
		cond.Quiet = settleQuiet
	}
	timeout := 8.0
	if in.Timeout != nil {
		timeout = *in.Timeout
	}
	return r.Wait(ctx, src, cond, false, timeout)
}

// remember records what the call has typed into a pane since began, and how the pane looked
// before.
func (t *Typist) remember(ctx context.Context, look *follow.Look, what screen.Echo, began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row, t.last = look.History+look.CursorY, look.Mark()
	i := slices.IndexFunc(t.into, func(p screen.Bookmark) bool { return p.Mark.Pane == look.ID })
	if i < 0 {
		i = len(t.into)
		t.into = append(t.into, screen.Bookmark{})
	}
	t.into[i] = t.keyboard.Screens.Typed(ctx, t.Tmux, look, what, began, t.into[i])
}

// Line returns the bookmark of what the call has typed last into a pane, for a tool that knows
// what comes of it; false if it has typed nothing there.
func (t *Typist) Line(pane tmux.PaneID) (screen.Bookmark, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, at := range t.into {
		if at.Mark.Pane == pane {
			return at, true
		}
	}
	return screen.Bookmark{}, false
}

// Typed is what a tool that types returns.
type Typed struct {
	reply.PaneText
	Seen *screen.Result `json:"seen"`
	Synchronized
}

// Synchronized lists other panes that got the keys because they are synchronized.
type Synchronized struct {
	SynchronizedPanes []tmux.PaneID `json:"synchronized_panes"`
}

// AddTo adds them to a view.
func (a Synchronized) AddTo(v reply.View) reply.View {
	v.FactIf(len(a.SynchronizedPanes) > 0, "also typed into %s, synchronized", reply.Listed(a.SynchronizedPanes, " "))
	return v
}

// AndSee types, then waits and looks as the call says, or until an interrupt is taken.
func (t *Typist) AndSee(ctx context.Context, in Sight, typing func() (reply.Words, error)) (Typed, error) {
	if in.Timeout != nil && in.Waits() {
		t.patience = time.Duration(*in.Timeout * float64(time.Second))
	}
	what, err := typing()
	if err != nil {
		return Typed{}, err
	}
	out := Typed{PaneText: reply.PaneText{Result: what, PaneID: string(t.into[0].Mark.Pane)}}
	out.SynchronizedPanes = t.Others()
	if !in.Waits() {
		return out, t.InterruptTaken(ctx)
	}
	out.Seen, err = t.See(ctx, in)
	return out, err
}

// Others returns the other panes that got keys, as they are synchronized.
func (t *Typist) Others() []tmux.PaneID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]tmux.PaneID{}, t.also...)
}

// HasTyped reports whether anything was typed that SeePane has not seen.
func (t *Typist) HasTyped() bool { return len(t.into) > 0 }

// SeePane does what See does for one of the panes. What is typed into it later is new again.
func (t *Typist) SeePane(ctx context.Context, id tmux.PaneID, in Sight) (*screen.Result, error) {
	i := slices.IndexFunc(t.into, func(p screen.Bookmark) bool { return p.Mark.Pane == id })
	others := slices.Delete(slices.Clone(t.into), i, i+1)
	t.into = t.into[i : i+1]
	defer func() { t.into = others }()
	return t.See(ctx, in)
}

// See waits for the effect of what was typed; nil if the call does not ask for that.
func (t *Typist) See(ctx context.Context, in Sight) (*screen.Result, error) {
	if !in.Waits() {
		return nil, nil
	}
	w, err := in.await(ctx, t.keyboard.Screens, t.Source)
	if err != nil {
		return nil, err
	}
	return w.After(ctx, t.into, in.Show)
}

// View shows what was typed, or what came of it.
func (t Typed) View() reply.View {
	if t.Seen == nil {
		return t.AddTo(t.PaneText.View())
	}
	return t.AddTo(t.Seen.View())
}
