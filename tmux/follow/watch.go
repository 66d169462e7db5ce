package follow

import (
	"context"
	"slices"
	"time"

	"tmuxmcp/internal/ttywatch"
	"tmuxmcp/tmux"
)

// A watcher decides when panes are due, for a [Follower].
type watcher struct {
	srv      *tmux.Server
	interval time.Duration
	ctx      context.Context // of the goroutines that send to wakes
	stop     context.CancelFunc
	panes    map[tmux.PaneID]*watched
	wakes    chan wake
	ttys     ttywatch.Watch
	asking   *asking // the query that tmux has not answered, if any
}

// asking is a [tmux.Server.AwaitOutput] in progress.
type asking struct {
	panes []tmux.PaneID
	end   context.CancelFunc
}

// wake reports that a pane, or one of those that tmux waits for, may have printed.
type wake struct {
	pane     tmux.PaneID
	over     bool    // no longer announced
	answered *asking // the wait that has ended, if any
}

// watched is what a watcher knows of a pane.
type watched struct {
	state     PaneState
	remove    func()        // stops the kernel's wakes for it; nil if there are none
	announced bool          // something sends wakes for it
	woken     bool          // and has done so since the last look
	settle    time.Duration // until another look, as tmux may not have read yet what woke it; 0: none
	looked    time.Time     // when the last look began
	cost      time.Duration // of a look, and of half as much for what is done with it
	gap       time.Duration // the minimum from one look to the next when woken
	changed   time.Time     // when something was last printed
}

const (
	// leastGap is the minimum time between two looks at a pane that was silent.
	leastGap = 2 * time.Millisecond
	// settleGap is the longest that tmux takes to read what was written to a terminal,
	// unless the machine is busy: further looks follow after eight times that, and after
	// settleMost.
	settleGap  = 5 * time.Millisecond
	settleMost = 64 * settleGap
	// safeGap is the minimum time between two unannounced looks at an announced pane.
	safeGap = 200 * time.Millisecond
	// safest is the maximum of that, and of the intervals between looks at other panes.
	safest = 10 * time.Second
	// mostGap is the longest that looks at a pane are put off because of their cost.
	mostGap = 500 * time.Millisecond
)

func watch(ctx context.Context, srv *tmux.Server, interval time.Duration) *watcher {
	w := &watcher{srv: srv, interval: interval * 4 / 5, panes: map[tmux.PaneID]*watched{}, wakes: make(chan wake, 64)}
	w.ctx, w.stop = context.WithCancel(ctx)
	return w
}

func (w *watcher) forget(pane tmux.PaneID) {
	if p := w.panes[pane]; p != nil {
		delete(w.panes, pane)
		if p.remove != nil {
			p.remove()
		}
	}
}

func (w *watcher) send(k wake) {
	select {
	case w.wakes <- k:
	case <-w.ctx.Done():
	}
}

// looked records a look at a pane: when it began, and whether the pane had printed. The
// first call for a pane starts watching it.
func (w *watcher) looked(state PaneState, began time.Time, printed bool) {
	p := w.panes[state.ID]
	if p == nil {
		p = &watched{gap: leastGap, changed: began}
		w.panes[state.ID] = p
		p.announced = state.Generation != nil
	}
	if !p.announced && state.Generation == nil {
		// It fails, for now, if the pane's program is just being started.
		process, err := w.srv.Process(w.ctx)
		if err == nil && process.Here {
			p.remove, p.announced = w.ttys.Add(w.ctx, state.pid(), state.TTY, func(over bool) { w.send(wake{pane: state.ID, over: over}) })
		}
	}
	printed = printed || state.printedSince(p.state)
	p.state, p.looked = state, began
	if cost := time.Since(began) * 3 / 2; p.cost == 0 {
		p.cost = cost
	} else {
		p.cost += (cost - p.cost) / 4
	}
	switch {
	case printed:
		p.changed = time.Now()
	case p.settle != settleGap || w.busy(p):
		p.gap = leastGap
	}
}

// busy reports whether a pane prints continuously. It is then looked at without being
// announced, until a look finds nothing new.
func (w *watcher) busy(p *watched) bool { return p.gap > leastGap && p.gap >= w.interval }

// ask starts to wait for output that tmux announces.
func (w *watcher) ask() {
	var ids []tmux.PaneID
	for id, p := range w.panes {
		if p.announced && p.state.Generation != nil && !p.woken && !w.busy(p) {
			ids = append(ids, id)
		}
	}
	if w.asking != nil {
		if !slices.ContainsFunc(ids, func(id tmux.PaneID) bool { return !slices.Contains(w.asking.panes, id) }) {
			return
		}
		w.asking.end()
		w.asking = nil
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	ctx, cancel := context.WithCancel(w.ctx)
	a := &asking{panes: ids, end: cancel}
	w.asking = a
	send := func(k wake) {
		select {
		case w.wakes <- k:
		case <-ctx.Done():
		}
	}
	go func() {
		// What was printed before it was armed shows in the next looks.
		err := w.srv.AwaitOutput(ctx, func() { send(wake{}) }, ids...)
		send(wake{answered: a, over: err != nil})
	}()
}

// pause returns how long after a look the next one is due if nothing announces output: so
// long that looking takes a small part of the time, and less than a hundredth once the pane
// has been silent for a while. Falling asleep and waking up takes time too, which the cost
// leaves out.
func (w *watcher) pause(p *watched) time.Duration {
	n, interval := time.Duration(len(w.panes)), min(w.interval, safest)
	switch {
	case p.announced:
		return max(interval, safeGap, min(200*p.cost*n, n*mostGap, safest))
	case time.Since(p.changed) < time.Second:
		return max(interval, min(20*p.cost, mostGap))
	}
	return max(interval, min(115*p.cost, mostGap)*n)
}

// due returns when the next look at a pane is worth its cost.
func (w *watcher) due(p *watched) time.Time {
	switch {
	case p.woken, w.busy(p):
		return p.looked.Add(p.gap)
	case p.settle > 0:
		return p.looked.Add(max(p.settle, p.gap))
	}
	return p.looked.Add(w.pause(p))
}

func (w *watcher) next(ctx context.Context, deadline time.Time) ([]tmux.PaneID, error) {
	for {
		w.ask()
		now := time.Now()
		first := deadline
		var due []tmux.PaneID
		for id, p := range w.panes {
			switch at := w.due(p); {
			case !at.After(now):
				due = append(due, id)
			case at.Before(first):
				first = at
			}
		}
		if len(due) > 0 || !now.Before(deadline) {
			for _, id := range due {
				w.take(w.panes[id])
			}
			slices.Sort(due)
			return due, nil
		}
		timer := time.NewTimer(time.Until(first))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		case k := <-w.wakes:
			timer.Stop()
			w.wake(ctx, k)
		}
	}
}

// take records that a look follows.
func (w *watcher) take(p *watched) {
	switch {
	case p.woken, w.busy(p):
		// Space out the looks at a pane that prints continuously.
		p.gap = min(2*p.gap, max(w.interval, min(20*p.cost, mostGap)))
		if p.settle = settleGap; p.state.Generation != nil {
			p.settle = 0 // tmux itself announced it
		}
	case p.settle > 0:
		if p.settle *= 8; p.settle > settleMost {
			p.settle = 0
		}
	default:
		p.gap = leastGap
	}
	p.woken = false
}

func (w *watcher) wake(ctx context.Context, k wake) {
	if k.pane != "" {
		if p := w.panes[k.pane]; p != nil {
			p.woken, p.announced = true, !k.over
		}
		return
	}
	// One of the panes that tmux announces.
	if k.answered != nil {
		if k.answered != w.asking {
			return
		}
		w.asking.end()
		w.asking = nil
	}
	asked := 0
	for _, p := range w.panes {
		if p.state.Generation != nil {
			p.announced = !k.over
			asked++
		}
	}
	var printed map[tmux.PaneID]int64
	if asked > 1 {
		printed = w.census(ctx)
	}
	for id, p := range w.panes {
		now, ok := printed[id]
		p.woken = p.woken || p.state.Generation != nil && (!ok || now != *p.state.Generation)
	}
}

// census queries what all panes have printed. For a pane that is missing from it, a look
// shows what is wrong.
func (w *watcher) census(ctx context.Context) map[tmux.PaneID]int64 {
	type row struct {
		ID         tmux.PaneID `tmux:"pane_id"`
		Generation int64       `tmux:"pane_output_generation,since=3.8"`
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	rows, _ := tmux.List[row](ctx, w.srv, tmux.ListPanes{All: true})
	all := make(map[tmux.PaneID]int64, len(rows))
	for _, r := range rows {
		all[r.ID] = r.Generation
	}
	return all
}
