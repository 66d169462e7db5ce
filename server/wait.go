package server

import (
	"context"
	"fmt"
	"time"

	"tmuxmcp/tmux"
)

// budget is how long a waiting tool may wait: what the caller asked for, at most
// what this server allows.
func (s *Server) budget(seconds float64) (time.Duration, error) {
	if seconds <= 0 {
		return 0, argumentFault("timeout", "must be above 0")
	}
	return min(time.Duration(min(seconds, 1e6)*float64(time.Second)), s.cfg.WaitMax), nil
}

// waited reports to the client how long a tool has been waiting, and how long it
// still may. The message repeats it for clients that show nothing else.
func (c *call) waited(ctx context.Context, on string, start time.Time, budget time.Duration) {
	elapsed := time.Since(start).Seconds()
	total := budget.Seconds()
	c.progress(ctx, elapsed, total, fmt.Sprintf("Waiting on %s: %.1fs elapsed, %.1fs left", on, elapsed, max(0, total-elapsed)))
}

// paneWatch decides when a wait looks at its pane again: at once when the pane
// prints, as far as that can be known without a look, and otherwise at intervals.
//
// A tmux that counts what its panes print can announce it; see
// [tmux.PaneRef.AwaitOutput]. For older ones the kernel announces writes to the
// pane's terminal, on Linux; see ttyWrites. Neither announces everything that may
// happen to a pane, such as its end, and the kernel misses what is written to
// /dev/tty. So the wait looks at the pane anyway, but seldom.
type paneWatch struct {
	pane     tmux.PaneRef
	interval time.Duration // between two looks at a pane that prints; see watch

	ctx  context.Context // of what sends to wakes
	stop context.CancelFunc
	// wakes gets a value when the pane may have printed: false when it is the last.
	wakes     chan bool
	announced bool // something sends to wakes
	asks      bool // it is AwaitOutput
	asked     bool // and AwaitOutput is running

	looked  time.Time     // when the last look began
	cost    time.Duration // of a look
	gap     time.Duration // the least from one look to the next when woken
	settles bool          // the last look came at once after a wake
	changed time.Time     // when something was printed last
}

const (
	// leastGap is the least time between two looks at a pane that was silent.
	leastGap = 2 * time.Millisecond
	// settleGap is how long tmux may take to read what was written to a terminal.
	settleGap = 5 * time.Millisecond
	// safeGap is the time between two looks at a pane whose output is announced.
	safeGap = 200 * time.Millisecond
	// mostGap is the most time that looks are put off for their cost.
	mostGap = 500 * time.Millisecond
)

// watch begins to watch a pane that is in state g. The watch ends with the context,
// or with stop.
func (c *call) watch(ctx context.Context, g paneState, interval time.Duration) *paneWatch {
	now := time.Now()
	w := &paneWatch{pane: c.tmux.Pane(g.ID), interval: interval * 4 / 5, wakes: make(chan bool, 1), looked: now, gap: leastGap, changed: now}
	w.ctx, w.stop = context.WithCancel(ctx)
	w.asks = g.Generation != nil
	w.announced = w.asks || ttyWrites(w.ctx, g, w.wakes)
	return w
}

// saw notes a look that began at a certain moment, and whether the pane had
// printed.
func (w *paneWatch) saw(began time.Time, printed bool) {
	w.looked = began
	if cost := time.Since(began); w.cost == 0 {
		w.cost = cost
	} else {
		w.cost += (cost - w.cost) / 4
	}
	if printed {
		w.changed = time.Now()
	}
}

// pause is how long to wait when nothing announces output: so long that looking takes
// a small part of the time, and less than a hundredth once the pane has been silent
// for a while. Falling asleep and waking up takes time too, which the cost leaves out.
func (w *paneWatch) pause() time.Duration {
	switch {
	case w.settles:
		return max(settleGap, w.gap)
	case w.announced:
		return max(w.interval, safeGap, min(100*w.cost, mostGap))
	case time.Since(w.changed) < time.Second:
		return max(w.interval, min(20*w.cost, mostGap))
	}
	return max(w.interval, min(115*w.cost, mostGap))
}

// next waits until the pane is worth another look, at most until the deadline. The
// pane was in state g at the last one.
func (w *paneWatch) next(ctx context.Context, g paneState, deadline time.Time) error {
	if w.asks && !w.asked && g.Generation != nil {
		w.asked = true
		go func() {
			err := w.pane.AwaitOutput(w.ctx, *g.Generation)
			w.wakes <- err == nil
		}()
	}
	timer := time.NewTimer(min(w.pause()-time.Since(w.looked), time.Until(deadline)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		if !w.settles {
			w.gap = leastGap
		}
		w.settles = false
		return nil
	case more := <-w.wakes:
		w.woken(more)
	}
	// A pane that prints without end is not looked at without end.
	if err := sleep(ctx, min(w.gap-time.Since(w.looked), time.Until(deadline))); err != nil {
		return err
	}
	select {
	case more := <-w.wakes:
		w.woken(more)
	default:
	}
	w.gap = min(2*w.gap, max(w.interval, min(20*w.cost, mostGap)))
	return nil
}

// woken takes a value of wakes.
func (w *paneWatch) woken(more bool) {
	// tmux announces output after it has read it, the kernel before that.
	w.asked, w.settles = false, !w.asks
	if !more {
		w.asks, w.announced = false, false
	}
}
