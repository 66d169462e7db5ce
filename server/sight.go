package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/tmux"
)

// sight says what a tool that types waits for afterwards, and what it then shows. If all of
// it is unset, the tool returns at once.
type sight struct {
	screen.Conditions
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
func (in sight) await(ctx context.Context, c *call) (*screen.Wait, error) {
	cond := in.Conditions
	if cond.Patterns == nil && cond.Quiet == 0 {
		cond.Quiet = settleQuiet
	}
	timeout := 8.0
	if in.Timeout != nil {
		timeout = *in.Timeout
	}
	return c.s.screens.Wait(ctx, c.Source, cond, false, timeout)
}

// typed records what the call has typed into a pane since began, and how the pane looked
// before.
func (c *call) typed(ctx context.Context, look *tmux.Look, what screen.Echo, began time.Time) {
	c.typedLock.Lock()
	defer c.typedLock.Unlock()
	c.typedRow = look.History + look.CursorY
	i := slices.IndexFunc(c.typedInto, func(p screen.Bookmark) bool { return p.Mark.Pane == look.ID })
	if i < 0 {
		i = len(c.typedInto)
		c.typedInto = append(c.typedInto, screen.Bookmark{Mark: look.Mark()})
	}
	c.typedInto[i].Typed(ctx, c.Tmux, look, what, began)
	c.s.screens.Remember(c.Tmux, c.typedInto[i])
}

// typedText is what a tool that types returns.
type typedText struct {
	reply.PaneText
	Seen *screen.Result `json:"seen"`
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
	out := typedText{PaneText: reply.PaneText{Result: what, PaneID: string(c.typedInto[0].Mark.Pane)}}
	out.SynchronizedPanes = append([]tmux.PaneID{}, c.typedAlso...)
	out.Seen, err = c.see(ctx, in)
	return out, err
}

// see waits for the effect of what was typed; nil if the call does not ask for that.
func (c *call) see(ctx context.Context, in sight) (*screen.Result, error) {
	if !in.waits() {
		return nil, nil
	}
	w, err := in.await(ctx, c)
	if err != nil {
		return nil, err
	}
	return w.After(ctx, c.typedInto, in.Show)
}
