package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/internal/wire"
)

// EventKind is what an [Event] is about.
type EventKind string

const (
	// EventBegan: the pane is followed from now on. Look shows what was there. It is each
	// pane's first event, unless what ran there at its mark has ended.
	EventBegan EventKind = "began"
	// EventLines: the program printed lines, or changed some on the screen. Lines may be empty
	// if Missed is set.
	EventLines EventKind = "lines"
	// EventScreen: the program drew on the alternate screen, as editors do. Lines holds the
	// lines of the screen that are new or have changed.
	EventScreen EventKind = "screen"
	// EventQuiet: after the program had printed, it printed nothing for the time in
	// [Options].
	EventQuiet EventKind = "quiet"
	// EventEnded: the program has ended or the pane is gone, as Ended says. It is the pane's
	// last event.
	EventEnded EventKind = "ended"
)

// Event is something that happened in a pane: see [Panes].
type Event struct {
	Pane tmux.PaneID
	Kind EventKind
	// Lines holds the new lines, for EventLines and EventScreen. A line of the normal screen
	// comes when it is finished: when the cursor has left it, or at the end.
	Lines []string
	// Missed is set if lines may be missing before or among Lines: see [Look]. Lines then
	// holds what the screen shows below the last lines, which may have come before. It is
	// also set at the end of a pane that does not remain, or in which another program runs.
	Missed bool
	// Look is the look that found the event. If the pane is gone or runs another program, it is
	// the last one before, nil if there was none.
	Look *Look
	// Ended says how the pane ended, for EventEnded; otherwise nil.
	Ended *EndedError
}

// Options are the options of [PanesWith]. The zero value is what [Panes] uses.
type Options struct {
	// Quiet is the time without output after which a pane that had printed is quiet; 0: no
	// events for that.
	Quiet time.Duration
	// Interval is the time between two looks at a pane that prints continuously; 0 means
	// 100 milliseconds. A pane that was silent is looked at sooner.
	Interval time.Duration
	// Parts makes a line come before it is finished too, each time as it is then: a prompt, or
	// a progress bar.
	Parts bool
	// Since are marks of earlier looks, by pane. What is new since then comes right after
	// the pane's first event. A pane without one is followed from now on.
	Since map[tmux.PaneID]*Mark
}

// Panes follows what panes print, in a range loop, until each of them has ended:
//
//	for event, err := range follow.Panes(ctx, srv, "%1", "%2") {
//		if err != nil {
//			return err
//		}
//		for _, line := range event.Lines {
//			fmt.Println(event.Pane, line)
//		}
//	}
//
// Each pane's first event is an EventBegan, and its last an EventEnded. In between, no line
// is lost without Missed being set, with the exceptions that [LookAt] names, and each
// comes once, unless the program changes it on the screen. The echo of what is typed counts
// as printed. A pane whose size changes, as when one beside it closes, may have missed lines.
//
// What a program prints right before its pane closes is lost, and Missed set. To read it,
// make the pane remain, and close it yourself:
//
//	err := srv.Pane(id).Options().Set(ctx, "remain-on-exit", "on")
//
// Even then tmux itself, before 3.8, may drop the last that a program prints.
//
// The loop runs in the caller's goroutine: while its body works, what the panes print waits
// in tmux, up to the option history-limit. A loop that is left early leaves nothing behind,
// and each loop begins anew.
//
// An error ends the loop. It is the context's cause if that ends, [tmux.ErrArgument] without
// panes or if an id is malformed, and [tmux.ErrNotFound] if a pane without a mark does not exist
// at first. If the server does not answer a look within the Timeout of [tmux.Config], that is an
// error too, whatever deadline the context has. A pane given twice counts once. A pane in
// which another program starts has ended: follow it anew.
func Panes(ctx context.Context, srv *tmux.Server, panes ...tmux.PaneID) iter.Seq2[Event, error] {
	return PanesWith(ctx, srv, Options{}, panes...)
}

// PanesWith does what [Panes] does, with options.
func PanesWith(ctx context.Context, srv *tmux.Server, options Options, panes ...tmux.PaneID) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &following{options: options, yield: func(e Event) bool { return yield(e, nil) }}
		if err := f.run(ctx, srv, panes); err != nil {
			yield(Event{}, err)
		}
	}
}

const defaultInterval = 100 * time.Millisecond

// following is the state of a loop over events.
type following struct {
	*Follower
	options Options
	yield   func(Event) bool
}

// followed is a pane of the loop.
type followed struct {
	id   tmux.PaneID
	last *Look
	part *part // nil if no line is unfinished, or if these come too
	// quiet is when the pane will have been quiet for long enough; zero unless it has
	// printed since it last was.
	quiet time.Time
}

// part is a line that the program has not finished: the one that the cursor was in.
type part struct {
	row  int // of the cursor; -1 if unknown
	text string
}

// finished returns the new lines of the normal screen, without the one that the cursor is in,
// which is kept as the part; the one that it was in is among them when it has left it.
func (p *followed) finished(l *Look, lines []string, rows []int) []string {
	cursor, text := l.LineAt(l.cursor())
	if l.Dead {
		cursor = -1 // the cursor is below tmux's notice
	}
	was := p.part
	p.part = nil
	at := slices.Index(rows, cursor)
	if cursor >= 0 && at >= 0 {
		p.part = &part{l.cursor(), text}
		lines = slices.Delete(slices.Clone(lines), at, at+1)
		rows = slices.Delete(slices.Clone(rows), at, at+1)
	}
	if was == nil {
		return lines
	}
	first, now := -1, was.text
	if was.row >= 0 && !l.Missed {
		if row, text := l.LineAt(was.row - l.Shift); row >= 0 {
			first, now = row, text
		}
	}
	goesOn := func(line string) bool {
		return first < 0 && was.text != "" && strings.HasPrefix(line, was.text)
	}
	switch {
	case cursor >= 0 && (cursor == first || goesOn(text)):
		p.part = &part{l.cursor(), text}
	case now == "", slices.Contains(rows, first), slices.ContainsFunc(lines, goesOn):
	default:
		i := 0
		for i < len(rows) && rows[i] < first {
			i++
		}
		lines = slices.Insert(slices.Clone(lines), i, now)
	}
	return lines
}

func (f *following) check(ctx context.Context, srv *tmux.Server, panes []tmux.PaneID) error {
	if _, err := srv.Do(ctx); err != nil { // which asks nothing, and refuses what is no server
		return err
	}
	if len(panes) == 0 {
		return wire.Argument("no panes to follow")
	}
	for _, id := range panes {
		if !id.Valid() {
			return wire.Argument("%q is not a pane id", id)
		}
		if mark := f.options.Since[id]; mark != nil && mark.Pane != id {
			return wire.Argument("a mark of pane %s, for pane %s", mark.Pane, id)
		}
	}
	if f.options.Quiet < 0 || f.options.Interval < 0 {
		return wire.Argument("a negative time: %+v", f.options)
	}
	return nil
}

// run follows panes until all have ended or the body of the loop breaks.
func (f *following) run(ctx context.Context, srv *tmux.Server, ids []tmux.PaneID) error {
	if err := f.check(ctx, srv, ids); err != nil {
		return err
	}
	f.Follower = New(ctx, srv, cmp.Or(f.options.Interval, defaultInterval))
	defer f.Close()
	var panes []*followed
	for _, id := range ids {
		if !slices.ContainsFunc(panes, func(p *followed) bool { return p.id == id }) {
			panes = append(panes, &followed{id: id})
		}
	}
	for due := ids; ; {
		next := time.Now().Add(time.Hour)
		for _, p := range slices.Clone(panes) {
			if !slices.Contains(due, p.id) && (p.quiet.IsZero() || time.Now().Before(p.quiet)) {
				continue
			}
			events, err := f.look(ctx, p)
			if err != nil {
				return err
			}
			for _, e := range events {
				if e.Kind == EventEnded {
					panes = slices.DeleteFunc(panes, func(o *followed) bool { return o == p })
				}
				if !f.yield(e) {
					return nil
				}
			}
		}
		if len(panes) == 0 {
			return nil
		}
		for _, p := range panes {
			if !p.quiet.IsZero() && p.quiet.Before(next) {
				next = p.quiet
			}
		}
		var err error
		if due, err = f.Next(ctx, next); err != nil {
			return err
		}
	}
}

// look looks at a pane, and returns what has happened.
func (f *following) look(ctx context.Context, p *followed) (events []Event, err error) {
	bound, cancel := f.srv.Limited(ctx)
	defer cancel()
	began, last := time.Now(), p.last
	var since *Mark
	if last == nil {
		since = f.options.Since[p.id]
	}
	l, err := f.Look(bound, p.id, since)
	if err != nil && since != nil {
		err = f.gone(bound, p.id, nil, err) // it was there at the mark
	}
	var ended *EndedError
	switch {
	case errors.As(err, &ended):
		f.Forget(p.id)
		if p.part != nil {
			events = append(events, Event{Pane: p.id, Kind: EventLines, Lines: []string{p.part.text}, Look: last})
		}
		return append(events, Event{Pane: p.id, Kind: EventEnded, Missed: true, Look: last, Ended: ended}), nil
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("follow pane %s: %w", p.id, err)
	}
	p.last = l
	if last == nil {
		events = append(events, Event{Kind: EventBegan})
		if since != nil && !f.options.Parts {
			p.part = since.part()
		}
	}
	events = append(events, p.printed(l, f.options.Parts)...)
	switch {
	case l.Dead && l.Respawned:
		f.Forget(p.id)
		events = append(events, Event{Kind: EventEnded, Missed: true, Ended: endedAs(p.id, PaneRespawned, last)})
	case l.Dead:
		f.Forget(p.id)
		events = append(events, Event{Kind: EventEnded, Ended: died(bound, f.srv, l)})
	case f.options.Quiet == 0:
	case l.Printed || last != nil && l.printedSince(last.PaneState):
		p.quiet = time.Now().Add(f.options.Quiet)
	case !p.quiet.IsZero() && !began.Before(p.quiet):
		p.quiet = time.Time{}
		events = append(events, Event{Kind: EventQuiet})
	}
	for i := range events {
		events[i].Pane, events[i].Look = p.id, l
	}
	return events, nil
}

// printed returns the events for what is new in a look; with parts, lines come before they are
// finished, too.
func (p *followed) printed(l *Look, parts bool) (events []Event) {
	drawn := slices.IndexFunc(l.NewRows, func(row int) bool { return row < 0 })
	if drawn < 0 {
		drawn = len(l.New)
	}
	lines := l.New[:drawn:drawn]
	if !parts {
		lines = p.finished(l, lines, l.NewRows[:drawn])
	}
	if len(lines) > 0 || l.Missed {
		events = append(events, Event{Kind: EventLines, Lines: lines, Missed: l.Missed})
	}
	if drawn < len(l.New) {
		events = append(events, Event{Kind: EventScreen, Lines: l.New[drawn:]})
	}
	return events
}

// died returns the error for a pane whose program has ended. tmux may not know yet how.
func died(ctx context.Context, srv *tmux.Server, l *Look) *EndedError {
	e := endedAs(l.ID, ProgramExited, l)
	type row struct {
		Status *int    `tmux:"pane_dead_status"`
		Signal *string `tmux:"pane_dead_signal,since=3.3"`
	}
	e.Status = l.DeadStatus
	for tries := 10; tries > 0 && e.Status == nil && e.Signal == nil; tries-- {
		rows, err := tmux.List[row](ctx, srv, tmux.DisplayMessage{Target: l.ID})
		if err != nil || len(rows) == 0 {
			break
		}
		if e.Status, e.Signal = rows[0].Status, rows[0].Signal; e.Status == nil && e.Signal == nil && !sleep(ctx, 20*time.Millisecond) {
			break
		}
	}
	return e
}

// WaitFor waits until the pane shows one of the texts: in a line that is on its screen now,
// or that it prints later, also if that has scrolled off meanwhile. It returns the text, the
// first of them that is in the line, and the line. A line that wraps is one line. The case of
// letters counts; spaces at the end of a text do not have to be there at the end of a line.
// A tab is one only from tmux 3.6 on, before which it is spaces.
//
// What is typed shows as well: after typing "make && echo done", the text "done" is there at
// once, in the echo. So wait for a text that is not part of what was typed; package tmux/shell
// runs a command and returns its own output. To leave out what was on the screen before, use
// [WaitForNew].
//
// If the pane's program ends first, the error is an [EndedError], which is an [ErrEnded] and
// quotes the last lines. If the context ends first, the error wraps its cause and quotes them
// too. Without texts, or if a text is blank or has several lines or control characters, it is
// an [tmux.ErrArgument]; otherwise errors are those of [Panes].
func WaitFor(ctx context.Context, pane tmux.PaneRef, texts ...string) (text, line string, err error) {
	return waitFor(ctx, pane, nil, true, texts)
}

// WaitForNew waits as [WaitFor] does, but only for what is new since a look:
//
//	look, err := follow.LookAt(ctx, srv, pane, nil)
//	err = pane.SendLine(ctx, "make")
//	text, line, err := follow.WaitForNew(ctx, pane, look.Mark(), "ok", "FAIL")
//
// If the mark is nil, it waits for what is new since the call. The line that the cursor was in
// is new as a whole once something is added to it, a prompt for example. If the pane runs
// another program than at the mark, it has ended.
func WaitForNew(ctx context.Context, pane tmux.PaneRef, since *Mark, texts ...string) (text, line string, err error) {
	return waitFor(ctx, pane, since, false, texts)
}

func waitFor(ctx context.Context, pane tmux.PaneRef, since *Mark, shown bool, texts []string) (text, line string, err error) {
	if len(texts) == 0 {
		return "", "", wire.Argument("no text to wait for")
	}
	for _, t := range texts {
		if strings.TrimSpace(t) == "" || !utf8.ValidString(t) || strings.ContainsFunc(t, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
			return "", "", wire.Argument("%q cannot be waited for: it is blank, or no text of one line", t)
		}
	}
	var last *Look
	missed := ""
	for event, err := range PanesWith(ctx, pane.Server(), Options{Parts: true, Since: map[tmux.PaneID]*Mark{pane.ID: since}}, pane.ID) {
		if err != nil {
			err = fmt.Errorf("wait for %q in pane %s: %w%s", texts, pane.ID, err, missed)
			if last != nil {
				err = fmt.Errorf("%w%s", err, quoteLast(last.withoutNotice(last.Tail())))
			}
			return "", "", err
		}
		last = event.Look
		lines := event.Lines
		if event.Kind == EventBegan && shown {
			lines = event.Look.withoutNotice(event.Look.Lines())
		}
		for _, line := range lines {
			for _, text := range texts {
				if has(line, text) {
					return text, line, nil
				}
			}
		}
		if event.Missed {
			missed = "; lines may have been missed"
		}
		if event.Ended != nil {
			return "", "", fmt.Errorf("wait for %q in %w", texts, event.Ended)
		}
	}
	panic("a loop without a last event")
}

// has reports whether a line has a text. The spaces at the end of a line are unknown.
func has(line, text string) bool {
	return strings.Contains(line+text[len(strings.TrimRight(text, " ")):], text)
}
