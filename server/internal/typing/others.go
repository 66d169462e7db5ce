package typing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// A user may type into the same pane from a terminal, and tmux would mix the keys of both. It
// knows when each client last sent a key, in whole seconds; nothing is read of the keys. Every
// list that types requires that nobody else has typed there lately, so a call makes further
// round trips only beside somebody who has.

const (
	// lately is for how many seconds answers mention that somebody typed in the pane.
	lately = 10
	// yieldTimes is how many times as long as the pause itself a call waits for one.
	yieldTimes = 5
	// halfLine is how many seconds a line that somebody has begun at a prompt is left alone.
	halfLine = 30
	// yieldLook is the time between two looks at when somebody last typed.
	yieldLook = 200 * time.Millisecond
)

// defaultYield is how long somebody else must have paused if nothing else is asked for, and
// mostYield the longest that can be.
const defaultYield, mostYield = 2 * time.Second, time.Minute

// ParseYield returns the pause, for [New], that a text of whole seconds asks for.
func ParseYield(seconds string) (time.Duration, error) {
	n, err := strconv.Atoi(seconds)
	switch most := int(mostYield / time.Second); {
	case err != nil || n < 0 || n > most:
		return 0, fmt.Errorf("must be 0 to %d whole seconds", most)
	case n == 0:
		return -1, nil
	default:
		return time.Duration(n) * time.Second, nil
	}
}

var (
	// errOthers: nothing was typed, as somebody else may have typed there lately; or because of
	// a condition of the commands themselves.
	errOthers = errors.New("somebody may have typed there lately")
	// errTyping: nothing was typed, as somebody else is typing there.
	errTyping = errors.New("somebody is typing there")
	// errHalfLine: a line was not discarded, as somebody else has just begun it.
	errHalfLine = errors.New("somebody has begun a line there")
)

// beside is what a call does beside somebody who is typing in the pane.
type beside int

const (
	waits   beside = iota // for a pause, and fails if there is none
	fails                 // at once
	ignores               // the user has just agreed, or the pane is new
)

// quiet returns the condition that nobody has typed into a pane for a number of seconds. It
// may be false although nobody has: whatever counts for tmux as activity in a session that
// shows the window makes it so, such as attaching, or keys for another pane. keyOf knows more.
func quiet(seconds int) tmux.Format {
	const since = "#{e|-:#{T:#{l:%s}},#{session_activity}}" // by the clock of the tmux server
	recent := "#{S:#{?#{e|<:" + since + "," + strconv.Itoa(seconds) + "},#{window_id} ,}}"
	return tmux.Format("#{?window_active_clients,#{?#{m:* #{window_id} *, " + recent + "},0,1},1}")
}

// others are when somebody else last typed into the panes that a call types into.
type others struct {
	mu   sync.Mutex
	last []lastKey
}

type lastKey struct {
	pane   tmux.PaneID
	at     time.Time
	waited time.Duration // by the call, for a pause
}

// ActivePane is a pane, or the one that is active for a client.
type ActivePane struct {
	Window       tmux.WindowID `tmux:"window_id"`
	Pane         tmux.PaneID   `tmux:"pane_id"`
	Synchronized bool          `tmux:"pane_synchronized"`
}

// keyOf returns the pane that on names, and how many seconds ago a client last sent a key for it,
// give or take one; typed is false if no client is known to have.
//
// A client's keys are for the active pane of its current window, and for what is synchronized
// with that. Of a client with an active pane of its own, they may be for any pane of the
// window. A control client sends none, and neither does a read-only one. One that has sent
// nothing since the second in which it started has just attached.
func keyOf(ctx context.Context, srv *tmux.Server, on target.Object) (pane tmux.PaneID, age int, typed bool, err error) {
	var b tmux.Batch
	panes := tmux.AddRows[ActivePane](&b, tmux.DisplayMessage{Target: on.Target})
	now := tmux.Add(&b, tmux.ListClients{Format: "#{T:#{l:%s}}"})
	clients := tmux.AddRows[struct {
		ActivePane
		Activity time.Time `tmux:"client_activity"`
		Created  time.Time `tmux:"client_created"`
		Control  bool      `tmux:"client_control_mode"`
		Readonly bool      `tmux:"client_readonly"`
		Flags    []string  `tmux:"client_flags"`
	}](&b, tmux.ListClients{})
	if err := target.NoneIsEmpty(b.Do(ctx, srv)); err != nil || len(*panes) == 0 {
		return "", 0, false, err
	}
	into := (*panes)[0]
	first, _, _ := strings.Cut(string(*now), "\n") // the same for each client
	seconds, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return into.Pane, 0, false, nil
	}
	for _, c := range *clients {
		reaches := c.Pane == into.Pane || c.Synchronized && into.Synchronized || slices.Contains(c.Flags, "active-pane")
		since := int(seconds - c.Activity.Unix())
		if c.Window == into.Window && reaches && !c.Control && !c.Readonly && !c.Activity.Equal(c.Created) &&
			since >= 0 && (!typed || since < age) { // a clock that was set back says nothing
			age, typed = since, true
		}
	}
	return into.Pane, age, typed, nil
}

// turn is how a call comes to type beside somebody else.
type turn struct {
	t     *Typist
	how   beside
	least int           // for how many seconds nobody must have typed; 0 if that does not matter
	quiet int           // what the next list requires; see [sending.quiet]
	line  bool          // what is typed may discard a line
	most  time.Duration // the longest wait
	since time.Time     // when the call began to wait; zero if it has not

	reported time.Time // when the client last got a report of the wait
}

// turnOf returns the turn of a call that has not typed yet.
func turnOf(t *Typist, how beside) *turn {
	w := &turn{t: t, how: how, most: yieldTimes * t.keyboard.yield}
	if t.patience > 0 {
		w.most = min(w.most, t.patience)
	}
	if how != ignores {
		w.least = t.keyboard.pauseSeconds()
		w.quiet = max(lately, w.least)
	}
	return w
}

// pauseSeconds returns for how many whole seconds, as tmux counts them, nobody must have
// typed: the second of the last key may have been over when it came.
func (k *Keyboard) pauseSeconds() int {
	if k.yield <= 0 {
		return 0
	}
	return int((k.yield+time.Second-1)/time.Second) + 1
}

// interrupting has the turn leave alone a line that somebody else has begun since this server
// last typed in the pane.
func (w *turn) interrupting(pane tmux.PaneID) {
	if w.least == 0 {
		return
	}
	own := halfLine
	if last, _ := w.t.keyboard.terminals.of(w.t.Tmux, pane); !last.typed.IsZero() {
		own = min(halfLine, w.meanwhile(last.typed))
	}
	w.quiet, w.least, w.line = own, own, true
}

// meanwhile returns for how many seconds nobody has typed if nobody has since something was
// typed in this turn.
func (w *turn) meanwhile(typed time.Time) int {
	if w.least == 0 {
		return 0
	}
	return w.least + int(time.Since(typed)/time.Second)
}

// again decides, given the error of a list that types, whether it is to be sent again, and
// with which condition. It waits for a pause first if there must be one.
func (w *turn) again(ctx context.Context, on target.Object, failed error) (again bool, err error) {
	if !errors.Is(failed, errOthers) {
		return false, failed
	}
	pane, age, typed, err := keyOf(ctx, w.t.Tmux, on)
	switch {
	case err != nil:
		return false, err
	case !typed, age >= w.least && w.quiet <= w.least:
		w.quiet = 0 // it was no key for this pane
	case age >= w.least:
		w.quiet = w.least
	case w.how == fails:
		return false, w.refused(pane, age)
	default:
		w.quiet = w.least
		return true, w.await(ctx, pane)
	}
	if typed && age <= lately {
		w.t.others.note(pane, age, 0)
	}
	return true, nil
}

// await waits until nobody has typed into a pane for as long as the turn needs. Meanwhile
// other calls go on.
func (w *turn) await(ctx context.Context, pane tmux.PaneID) (err error) {
	begun := time.Now()
	resume := w.t.Pause()
	for {
		var age int
		var typed bool
		if _, age, typed, err = keyOf(ctx, w.t.Tmux, target.AtPane(pane)); err != nil || !typed {
			break
		}
		w.t.others.note(pane, age, 0)
		if age >= w.least {
			break
		}
		if w.over() {
			err = w.refused(pane, age)
			break
		}
		if err = w.pause(ctx, pane); err != nil {
			break
		}
	}
	if late := resume(ctx); late != nil {
		err = late
	}
	if err == nil {
		w.t.others.note(pane, -1, time.Since(begun))
	}
	return err
}

// over reports whether the call has waited long enough.
func (w *turn) over() bool { return !w.since.IsZero() && time.Since(w.since) >= w.most }

// pause waits for a moment, and reports it to the client now and then.
func (w *turn) pause(ctx context.Context, pane tmux.PaneID) error {
	if w.since.IsZero() {
		w.since, w.reported = time.Now(), time.Now()
	}
	if time.Since(w.reported) >= time.Second {
		w.reported = time.Now()
		stdio.Waited(ctx, "somebody who types in pane "+string(pane), w.since, w.most)
	}
	return pause.For(ctx, yieldLook)
}

// refused returns the fault for a pane in which somebody typed so many seconds ago.
func (w *turn) refused(pane tmux.PaneID, age int) *reply.Fault {
	if w.line && age >= w.t.keyboard.pauseSeconds() {
		f := reply.Faultf(reply.KindRefused, "nothing was typed: somebody typed in pane %s %s, and left a line at its prompt, which would be discarded", pane, ago(age))
		f.Cause = errHalfLine
		return f.Suggest("use another pane, or ask the user to run or delete the line; C-u, typed with send_keys, deletes it")
	}
	f := reply.Faultf(reply.KindTimeout, "nothing was typed: somebody is typing in pane %s, and has not paused for %v in %v", pane, w.t.keyboard.yield, w.most)
	f.Cause = errTyping
	return f.Suggest("call again later, or use another pane; a server that is started with --yield 0 does not wait")
}

// cutIn returns the fault for a pane in which somebody has begun to type between two bursts,
// less than so many seconds ago; nil if what tmux took for that were no keys for this pane.
func (w *turn) cutIn(ctx context.Context, on target.Object, within int) error {
	pane, age, typed, err := keyOf(ctx, w.t.Tmux, on)
	if err != nil || !typed || age >= within {
		return err
	}
	w.t.others.note(pane, age, 0)
	return reply.Faultf(reply.KindRefused, "somebody has begun to type there").
		Suggest("capture_pane shows what it has now; type the rest only if that fits")
}

// note records that somebody typed into a pane age seconds ago, unless that is negative, and how long
// the call has waited for them.
func (o *others) note(pane tmux.PaneID, age int, waited time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.last, func(k lastKey) bool { return k.pane == pane })
	if i < 0 {
		if age < 0 {
			return // they have left
		}
		i = len(o.last)
		o.last = append(o.last, lastKey{pane: pane})
	}
	if age >= 0 {
		o.last[i].at = time.Now().Add(-time.Duration(age) * time.Second)
	}
	o.last[i].waited += waited
}

// OthersSeconds names, in _meta, how many seconds ago somebody else last typed.
const OthersSeconds = "typed_by_others_seconds_ago"

// report has the answer of a call say who else has typed; here is set if it types into one pane.
func (o *others) report(ctx context.Context, here bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	least := -1
	for _, k := range o.last {
		age := int(time.Since(k.at) / time.Second)
		if least < 0 || age < least {
			least = age
		}
		where := reply.Words("here")
		if !here {
			where = reply.Say("in %s", k.pane)
		}
		text := reply.Say("somebody typed %s %s", where, ago(age))
		if waited := k.waited.Round(time.Second); waited > 0 {
			text += reply.Say(", waited %.0f s for them", waited.Seconds())
		}
		reply.Note(ctx, "%s", text)
	}
	if least >= 0 {
		reply.Mark(ctx, OthersSeconds, least)
	}
}

func ago(seconds int) string { return fmt.Sprintf("%d s ago", max(seconds, 1)) }

// Alone runs what types with TypeCommands. If that has typed nothing because somebody else was
// typing, it waits for a pause, as long as most, and runs it again.
func Alone(ctx context.Context, t *Typist, pane tmux.PaneID, most time.Duration, run func() error) error {
	w := turnOf(t, waits)
	w.most = min(w.most, most)
	for {
		err := run()
		switch {
		case errors.Is(err, errTyping):
			if err := w.await(ctx, pane); err != nil {
				return err
			}
		case errors.Is(err, errHalfLine) && !w.over():
			resume := t.Pause()
			err := w.pause(ctx, pane)
			if late := resume(ctx); late != nil {
				return late
			}
			if err != nil {
				return err
			}
		default:
			return err
		}
	}
}
