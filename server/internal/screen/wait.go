package screen

import (
	"context"
	"errors"
	"slices"
	"time"

	"tmuxmcp/internal/pause"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/ledger"
	"tmuxmcp/server/internal/match"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// Conditions end a wait: the parameters of wait_for_text and of the tools that type.
type Conditions struct {
	Patterns []string `json:"patterns,omitempty" desc:"wait for any of these texts"`
	Stop     []string `json:"stop,omitempty" desc:"or these: a failure"`
	Regex    bool     `json:"regex,omitempty" desc:"RE2"`
	Quiet    float64  `json:"quiet,omitempty" min:"0" desc:"or so many seconds without output"`
}

// The outcomes of a wait.
const (
	outcomeMatched   = "matched"
	outcomeAnyOutput = "any_output"
	outcomeStopped   = "stopped"
	outcomeQuiet     = "quiet"
	outcomeEnded     = "program_ended"
	outcomeBell      = "bell"
	outcomeState     = "state"
	outcomeGone      = "pane_gone"
	outcomeTimeout   = "timeout"
)

// Limits on the new lines of a pane that a wait keeps and shows.
const (
	keptLines, keptBytes = 1000, 200_000
	// ShownLines is the number of lines shown.
	ShownLines, shownBytes = 20, 2000
)

// Wait is a wait for something to happen in panes.
type Wait struct {
	reader         *Reader
	src            rows.Source
	All            bool // until all panes are done, not the first
	patterns, stop []*match.Matcher
	anything       bool // any output ends it
	quiet          time.Duration
	states         []agents.State // of a coding agent, that end it
	unasked        bool           // the states were not asked for: there may be no agent
	typed          bool           // the call typed, so a pane that is gone is an outcome
	draws          bool           // silence counts only once a program has printed something after Enter
	start          time.Time
	deadline       time.Time
	budget         time.Duration

	watch *follow.Follower
	panes []*waitedPane
	look  match.Search
	sent  time.Time // when progress was last sent
	// warned is set once the client has been warned that a pane's history is nearly full.
	warned bool
}

type waitedPane struct {
	id       tmux.PaneID
	look     *follow.Look
	began    time.Time // when the look began
	fresh    freshLines
	echo     *Echo     // of what was typed before the wait
	drew     bool      // the program has printed something since
	text     bool      // the screen has shown text
	blank    bool      // it was switched or cleared, and nothing has been drawn yet
	atEntry  bool      // a pattern was on the screen already and does not count
	alt      bool      // the alternate screen has been seen
	prompt   bool      // the cursor is at the prompt of a shell
	left     string    // what is left of the cursor, without trailing blanks
	above    rowsAbove // at the last look
	size     [2]int    // of the pane at the last look, 0 if unknown
	onScreen []string  // what its screen showed then
	before   []string  // what it showed when it was resized, shortly before, at a prompt
	resized  time.Time
	missed   bool
	printed  time.Time // when it last printed, or when the wait began

	state agents.Steady[agents.State] // of its agent, if it is one of the awaited states
	asked time.Time                   // when it was last read
	gap   time.Duration               // to the next reading that nobody asked for

	ending
	returned *returned // what run_command has returned of what is new to the wait

	outcome string // empty: still waiting
	screen  bool   // show the screen
	index   *int   // of the matched pattern
	matched []string
}

// Wait returns a wait, which has begun, if the conditions are valid.
func (r *Reader) Wait(ctx context.Context, src rows.Source, in Conditions, matchCase bool, timeout float64) (w *Wait, err error) {
	w = &Wait{reader: r, src: src, start: time.Now(), quiet: time.Duration(in.Quiet * float64(time.Second))}
	if w.budget, err = r.Budget(timeout, WaitAgain); err != nil {
		return nil, err
	}
	w.deadline = w.start.Add(w.budget)
	if in.Quiet > MaxWait.Seconds() {
		return nil, reply.Argument("quiet", "must be at most %v seconds", MaxWait.Seconds())
	}
	if in.Patterns != nil && len(in.Patterns) == 0 {
		return nil, reply.Argument("patterns", "must not be empty; null waits for any output")
	}
	if w.patterns, err = match.All(ctx, "patterns", in.Patterns, in.Regex, matchCase); err != nil {
		return nil, err
	}
	if w.stop, err = match.All(ctx, "stop", in.Stop, in.Regex, matchCase); err != nil {
		return nil, err
	}
	w.anything = len(w.patterns) == 0 && len(w.stop) == 0 && w.quiet == 0
	return w, nil
}

// AlsoFor makes the wait end too when an agent is in one of these states. Without any, it
// ends when an agent asks something, if there is one.
func (w *Wait) AlsoFor(states []agents.State) {
	w.states = states
	w.anything = w.anything && states == nil
	if states == nil {
		w.states, w.unasked = []agents.State{agents.Asks}, true
	}
}

// Begin is where the wait for a pane begins: at a mark, with nothing so far, or with what
// is on the screen.
type Begin struct {
	Bookmark
	Screen bool // with what is on the screen
	Given  bool // the caller named the mark, so the pane must still run its program
}

// Run waits. It returns an error if the only pane is gone.
func (w *Wait) Run(ctx context.Context, interval time.Duration, panes []tmux.PaneID, from func(tmux.PaneID) Begin) error {
	w.watch = follow.New(ctx, w.src.Tmux, interval)
	defer w.watch.Close()
	for _, id := range panes {
		p := &waitedPane{id: id, printed: w.start, ending: ending{since: w.start, row: -1, y: -1}}
		w.panes = append(w.panes, p)
		if err := w.first(ctx, p, from(id)); err != nil {
			return err
		}
	}
	if err := w.readStates(ctx); err != nil {
		return err
	}
	for !w.over() {
		w.progress(ctx)
		due, err := w.watch.Next(ctx, w.next())
		if err != nil {
			return err
		}
		for _, p := range w.panes {
			if p.outcome == "" && (slices.Contains(due, p.id) || !time.Now().Before(w.nextOf(p))) {
				if err := w.again(ctx, p); err != nil {
					return err
				}
			}
		}
		if err := w.readStates(ctx); err != nil {
			return err
		}
	}
	for _, p := range w.panes {
		w.remember(p)
	}
	return nil
}

// remember records how far the wait has read a pane, and what its answer reports of it.
func (w *Wait) remember(p *waitedPane) {
	if p.look.ID == "" {
		return
	}
	if p.outcome == outcomeEnded || p.verdict == ledger.Ended && (p.drew || p.sure) {
		w.reader.Ledger.Report(p.pane, p.line.Number())
	}
	if p.changed || p.runs || p.sure {
		w.reader.Ledger.Read(p.pane, p.line.Number())
	}
	w.reader.Ledger.Answer(p.pane, p.line.Number())
	at := w.reader.bookmark(w.src.Tmux, p.look, p.began, p.prompt)
	at.echo, at.size, at.text = p.echo, p.size, p.onScreen
	w.reader.bookmarks.set(w.src.Tmux, at)
}

// lookAt looks at a pane, within a time.
func (w *Wait) lookAt(ctx context.Context, id tmux.PaneID, since *follow.Mark) (*follow.Look, error) {
	return reply.Within(ctx, w.reader.LookTime, func(ctx context.Context) (*follow.Look, error) { return w.watch.Look(ctx, id, since) })
}

func (w *Wait) first(ctx context.Context, p *waitedPane, from Begin) error {
	now := time.Now()
	p.echo = from.echo.clone()
	if from.Mark != nil && from.Mark.Pane != p.id {
		return otherPaneOf(from.Mark, p.id)
	}
	l, err := w.lookAt(ctx, p.id, from.Mark)
	respawned := errors.Is(err, follow.ErrEnded)
	switch {
	case respawned && from.Given:
		err = Respawned(l, from.Mark.PID, nil)
	case respawned:
		w.watch.Forget(p.id)
		l, err = w.lookAt(ctx, p.id, nil) // the mark is of another program in this pane
	}
	if w.typed && (IsGone(err) || respawned && err != nil) {
		p.look = &follow.Look{}
		return w.gone(p, err)
	}
	if err != nil {
		return err
	}
	if l.Dead && !w.typed {
		return died(l)
	}
	fresh, rows := l.New, l.NewRows
	if from.Screen {
		fresh, rows = l.Lines(), nil
	}
	at, err := w.firstOf(ctx, w.patterns, l.Lines())
	if err != nil {
		return err
	}
	p.atEntry = at >= 0
	p.runs = inForeground(caller.PID(ctx, w.src.Tmux, l.PaneState))
	p.foreign = p.runs
	p.prompt = from.prompt
	if from.Mark != nil {
		p.text, p.left, p.above, p.since = !from.Mark.Blank(), from.Mark.Typed(), from.above, from.at
		p.size, p.onScreen = from.size, from.text
	}
	if p.echo.prompt != "" {
		p.row, p.y = p.echo.promptRow, p.echo.promptY
	}
	if !from.Given && !respawned && !from.Screen {
		p.returned = from.returned
	}
	return w.processLook(ctx, p, l, now, fresh, rows)
}

func (w *Wait) again(ctx context.Context, p *waitedPane) error {
	began := time.Now()
	l, err := w.lookAt(ctx, p.id, nil)
	var ended *follow.EndedError
	switch {
	case !errors.As(err, &ended):
	case ended.How == follow.PaneRespawned:
		return w.gone(p, Respawned(l, reply.Value(p.look.PID), ended.Last))
	default:
		return w.gone(p, closed(w.src.Tmux, ended))
	}
	if err != nil {
		return err
	}
	return w.processLook(ctx, p, l, began, l.New, l.NewRows)
}

// gone records that a pane no longer exists, or runs another program.
func (w *Wait) gone(p *waitedPane, err error) error {
	w.reader.Ledger.Forget(p.pane)
	if len(w.panes) == 1 && !w.typed {
		return err
	}
	p.outcome = outcomeGone
	w.watch.Forget(p.id)
	return nil
}

// processLook processes a look with the lines that are new to the wait.
func (w *Wait) processLook(ctx context.Context, p *waitedPane, l *follow.Look, began time.Time, fresh []string, rows []int) error {
	bell := p.look != nil && !p.look.Bell && l.Bell
	p.sized(l)
	pid := caller.PID(ctx, w.src.Tmux, l.PaneState)
	p.pane = inLedger(w.src.Tmux, l)
	p.line, p.known = w.reader.Ledger.Of(p.pane)
	redrawn := p.rests(ctx, w.src.Tmux, l)
	p.sees(pid, l)
	if p.wipes(l) {
		p.fresh.onScreen(l)
		redrawn, fresh, rows, p.missed = false, l.Lines(), nil, true
	} else {
		fresh, rows = p.unknown(l, redrawn, fresh, rows)
	}
	if !redrawn && p.prints(l) {
		p.printed = time.Now()
	}
	w.warn(ctx, l)
	p.look, p.began = l, began
	p.missed, p.alt = p.missed || l.Missed && !redrawn, p.alt || l.Alternate
	p.draws(l)
	p.fresh.add(l, fresh, rows)
	printed := p.echo.output(l, fresh, rows)
	p.drew = p.drew || len(printed) > 0 || l.Alternate
	if matched, err := w.matches(ctx, p, printed); matched || err != nil {
		return err
	}
	if l.Dead {
		return w.gone(p, died(l))
	}
	printed = p.withoutPrompt(l, printed)
	blank := l.Printed && !redrawn && !p.proven && !p.blank && p.returned == nil && p.before == nil
	switch {
	case w.anything && len(printed) > 0:
		p.outcome, p.matched = outcomeAnyOutput, printed
	case w.anything && blank && began.After(w.start):
		p.outcome, p.matched = outcomeAnyOutput, []string{""}
	case bell:
		p.outcome = outcomeBell
	}
	return nil
}

// unknown returns the new lines of a look, and their rows, without those that were only drawn
// again or returned before.
func (p *waitedPane) unknown(l *follow.Look, redrawn bool, fresh []string, rows []int) ([]string, []int) {
	switch {
	case redrawn:
		return p.echo.atCursor(l, fresh, rows)
	case p.before != nil:
		n := len(fresh)
		fresh, rows = without(p.before, fresh, rows)
		p.missed = p.missed || len(fresh) < n // it may have been printed again
	case p.returned != nil && p.look == nil: // what is printed from now on was not returned
		return p.returned.after(fresh, rows)
	}
	return fresh, rows
}

// prints reports whether a pane has printed since the last look.
func (p *waitedPane) prints(l *follow.Look) bool {
	switch {
	case p.look == nil:
		return false
	case l.Printed:
		return true
	}
	return l.Generation != nil && p.look.Generation != nil && *l.Generation != *p.look.Generation
}

// matches ends the wait for a pane if a pattern matches a line. A failure and a success may
// appear in the same look, and a broad success pattern must not hide the failure.
func (w *Wait) matches(ctx context.Context, p *waitedPane, lines []string) (bool, error) {
	for _, m := range []struct {
		patterns []*match.Matcher
		outcome  string
	}{{w.stop, outcomeStopped}, {w.patterns, outcomeMatched}} {
		i, err := w.firstOf(ctx, m.patterns, lines)
		if err != nil {
			return false, err
		}
		if i >= 0 {
			p.outcome, p.index = m.outcome, &i
			p.matched, err = w.look.Lines(ctx, m.patterns[i], lines)
			return true, err
		}
	}
	return false, nil
}

// sized records the size of a pane. A shell that is at its prompt when it changes draws the
// prompt again, in another row, and which of the other rows have moved is not known.
func (p *waitedPane) sized(l *follow.Look) {
	const drawing = 500 * time.Millisecond
	size := [2]int{l.Width, l.Height}
	switch {
	case p.prompt && p.size[0] > 0 && p.size != size:
		p.before, p.resized = p.onScreen, time.Now()
	case time.Since(p.resized) > drawing:
		p.before = nil
	}
	p.size, p.onScreen = size, l.Lines()
}

// without returns new lines and their rows, except those that were on a screen, of whatever
// width: what a prompt shows on the right has moved.
func without(screen, fresh []string, rows []int) (left []string, at []int) {
	was := map[string]int{}
	for _, line := range screen {
		was[unspaced(withoutDigits(line))]++
	}
	for i, line := range fresh {
		if key := unspaced(withoutDigits(line)); was[key] > 0 {
			was[key]--
			continue
		}
		if left = append(left, line); i < len(rows) {
			at = append(at, rows[i])
		}
	}
	return left, at
}

// draws records whether the screen has been drawn. An empty alternate screen is about to be,
// and so is a normal screen that had text and has been cleared.
func (p *waitedPane) draws(l *follow.Look) {
	blank := l.Blank()
	p.text = p.text || !blank
	p.blank = blank && (l.Alternate || p.text)
}

// next returns when to look, or to read a state, even if nothing is printed.
func (w *Wait) next() time.Time {
	next := w.deadline
	for _, p := range w.panes {
		if p.outcome != "" {
			continue
		}
		next = earlier(next, w.nextOf(p))
		if due := w.stateDue(p); !due.IsZero() {
			next = earlier(next, due)
		}
	}
	return next
}

// nextOf returns when to look at a pane even if nothing is printed.
func (w *Wait) nextOf(p *waitedPane) time.Time {
	next := w.deadline
	for _, e := range w.endings(p) {
		next = earlier(next, e.at)
	}
	if !p.again.IsZero() {
		next = earlier(next, p.again)
	}
	if held := p.echo.due(); !held.IsZero() {
		next = earlier(next, held)
	}
	return next
}

// due is a time at which the wait for a pane ends if a look that begins after it finds
// nothing: on a busy machine the last look may be old.
type due struct {
	at      time.Time
	outcome string
}

func (w *Wait) endings(p *waitedPane) (all []due) {
	switch {
	case !p.back.IsZero(): // which says more than that it is quiet
		all = append(all, due{p.ending.due(p.printed), outcomeEnded})
	case w.quiet > 0 && !p.blank && !(w.draws && p.echo.Entered && !p.drew):
		all = append(all, due{p.printed.Add(w.quiet), outcomeQuiet})
	}
	return append(all, due{w.deadline, outcomeTimeout})
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// over reports whether the wait is over, and records why for panes whose time is up.
func (w *Wait) over() bool {
	ended, early := 0, false
	for _, p := range w.panes {
		for _, e := range w.endings(p) {
			if p.outcome == "" && !p.began.Before(e.at) {
				p.outcome = e.outcome
			}
		}
		if p.outcome != "" {
			ended++
			early = early || p.outcome != outcomeTimeout
		}
	}
	if ended == len(w.panes) {
		return true
	}
	// One failure ends a wait for all panes. At the timeout, each gets one more look.
	return early && !w.All || slices.ContainsFunc(w.panes, func(p *waitedPane) bool { return p.outcome == outcomeStopped })
}

// firstOf does what [match.Search.First] does, with a limit that suits a long wait.
func (w *Wait) firstOf(ctx context.Context, patterns []*match.Matcher, lines []string) (int, error) {
	w.look.Most = match.MaxTime + time.Since(w.start)/10
	return w.look.First(ctx, patterns, lines)
}

// progress reports the wait to the client once a second.
func (w *Wait) progress(ctx context.Context) {
	if now := time.Now(); now.Sub(w.sent) >= time.Second {
		w.sent = now
		on := "pane " + string(w.panes[0].id)
		if len(w.panes) > 1 {
			on = reply.Count(len(w.panes), "pane")
		}
		stdio.Waited(ctx, on, w.start, w.budget)
	}
}

// warn warns once that tmux may drop lines before they are seen.
func (w *Wait) warn(ctx context.Context, l *follow.Look) {
	if w.warned || l.Limit <= 0 || l.History < l.Limit-max(l.Limit/10, 1) {
		return
	}
	w.warned = true
	stdio.Warn(ctx, "the history of pane "+string(l.ID)+" is nearly full: lines that tmux drops at once may be missed; wait_for_channel misses nothing")
}

// shown returns what an answer shows of a pane: the screen if requested, otherwise the last
// new lines, preceded by those that matched. cut is the number of new lines omitted before
// them.
func (p *waitedPane) shown() (shown []string, cut int) {
	if p.screen {
		return p.look.Lines(), 0
	}
	last, cut := p.fresh.last(ShownLines, shownBytes)
	if cut == 0 || len(p.matched) == 0 || slices.Contains(last, p.matched[0]) {
		return last, cut
	}
	lines, size := ShownLines, shownBytes
	first, _, _ := reply.Limited(p.matched, &lines, &size)
	return append(append(slices.Clone(first), "..."), last...), cut
}

// After waits for the effect of what was typed into panes, and returns what show says of
// them: what is new, their screens, or nothing.
func (w *Wait) After(ctx context.Context, typedInto []Bookmark, show string) (*Result, error) {
	w.All, w.typed, w.draws = true, true, show == "screen"
	var panes []tmux.PaneID
	before := map[tmux.PaneID]Bookmark{}
	for _, p := range typedInto {
		panes, before[p.Mark.Pane] = append(panes, p.Mark.Pane), p
	}
	if err := w.Run(ctx, 50*time.Millisecond, panes, func(id tmux.PaneID) Begin { return Begin{Bookmark: before[id]} }); err != nil {
		return nil, err
	}
	switch show {
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
	return w.Result(ctx), nil
}

// settle looks at a pane until it is completely drawn: until nothing changes for a moment,
// at most for half a second, or until the deadline while nothing has been drawn at all. A
// pattern may have matched when only half of the screen was there.
func (w *Wait) settle(ctx context.Context, p *waitedPane) error {
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
		began := time.Now()
		l, err := w.lookAt(ctx, p.id, nil)
		if err != nil {
			return nil // show what was there before the pane was gone
		}
		if !p.rests(ctx, w.src.Tmux, l) && l.Printed {
			p.printed = time.Now()
		}
		p.look, p.began = l, began
		p.draws(l)
		w.remember(p)
	}
	return nil
}
