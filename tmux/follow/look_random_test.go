//go:build linux

package follow_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/paneprog"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

var (
	runs           = paneprog.NewRuns("TestFollowingRandomPrograms", testtool.Size(10, 30), 500)
	programRules   = flag.String("program-rules", "1234", "the rules to hold looks to; see TestFollowingRandomPrograms")
	programHistory = flag.Int("program-history", -1, "the history limit of all programs; -1 leaves it to them")
)

// TestFollowingRandomPrograms compares Look with the pane itself. A program of package
// paneprog runs step by step, and after each piece of output the test reads the pane with
// tmux's own capture-pane, so that it knows which step removed which word. Each look must
// satisfy the following:
//
// 1. No word of a line that did not change since it was reported is in New again. 2. Every
// readable word was in New by now. The normal screen is readable once the alternate one
// does not hide it. 3. Every word that was printed but is no longer readable was in New,
// unless the program overwrote it on the screen, or what removed it left no trace; see
// traceless. 4. Missed is never set while a program only prints.
//
// Missed excuses all but the last: it means that what was printed until then may be
// missing.
func TestFollowingRandomPrograms(t *testing.T) {
	if runs.Text != "" {
		p := check.Must[paneprog.Program](t)(paneprog.Parse(runs.Text))
		var total follower
		f := check.Must[*follower](t)(followed(t.Context(), testserver.New(t), p, false))
		total.add(f)
		t.Logf("%s\n%s", total.String(), strings.Join(f.log, "\n"))
		check.Equal(t, "failure", "", f.failure)
		return
	}
	var (
		mu    sync.Mutex
		total follower
		died  int // tmux servers that died by themselves
	)
	speed := runs.Run(t, func() func(uint64) (func() string, error) {
		srv := testserver.New(t)
		return func(seed uint64) (func() string, error) {
			r := rand.New(rand.NewPCG(seed, 0))
			plain := seed%8 == 0
			p := paneprog.Generate(r)
			if plain {
				p = paneprog.GeneratePlain(r)
			} else if *programHistory >= 0 {
				p.History = *programHistory
			}
			f, err := followed(t.Context(), srv, p, plain)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && ended(srv):
				t.Logf("program %d: tmux itself died: %v\n%s", seed, err, p)
				srv = testserver.New(t)
				died++
				return nil, nil
			case err != nil:
				return nil, fmt.Errorf("%w\n%s", err, p)
			}
			if total.add(f); f.failure == "" {
				return nil, nil
			}
			return func() string { return shrink(t, srv, p, f, plain) }, nil
		}
	})
	if died > runs.Programs/1000 {
		t.Errorf("tmux died %d times", died)
	}
	t.Logf("%s; tmux died %d times; %.1f programs a second", total.String(), died, speed)
}

// ended reports whether nothing listens on a server's socket.
func ended(srv *tmux.Server) bool {
	c, err := net.Dial("unix", srv.SocketPath())
	if err == nil {
		c.Close()
	}
	return err != nil
}

// shrink describes a failure by the shortest program that fails in the same way.
func shrink(t *testing.T, srv *tmux.Server, p paneprog.Program, f *follower, plain bool) string {
	last := f.failure
	short := paneprog.Shrink(p, runs.Shrink, func(q paneprog.Program) bool {
		g, err := followed(t.Context(), srv, q, plain)
		if err != nil || g.rule != f.rule {
			return false
		}
		last = g.failure
		return true
	})
	binary := ""
	if srv.Binary() != "tmux" {
		binary = "TMUX_TEST_BINARY=" + srv.Binary() + " "
	}
	return fmt.Sprintf("%s\n%sgo test ./tmux/follow -run TestFollowingRandomPrograms -program '%s'", last, binary, short)
}

// A follower runs one program and counts what it saw.
type follower struct {
	looks, words, missed, lost, drawn, erased int
	programs, failed                          int

	pane    *paneprog.Pane
	now     *snapshot
	places  []place // of words, now
	pending []atom  // to be written
	steps   []int   // that write these
	pieces  int     // that were written
	over    bool    // the program needs too many pieces: the rest is omitted
	known   []word
	fresh   map[int]bool // words being written
	mark    []byte
	before  *snapshot // at the last look
	was     *grid     // at the last look
	is      *grid     // at this one
	step    int
	plain   bool
	limit   int // of the history
	rule    int
	failure string
	log     []string // of the looks of the only program
}

// A place is where a word can be read.
type place struct {
	area  area
	line  string
	shown string // what the alternate screen does not hide of the line
	row   int    // of the screen, the last one
	twice bool
}

type area int

const (
	nowhere area = iota
	above        // in the history
	onScreen
	hidden
)

// A word is what is known about a word that was printed.
type word struct {
	step     int
	reported bool
	line     string // when it was reported
	changed  bool   // the line, since
	excused  bool   // it need not be reported
	odd      bool   // it was on the screen more than once
	drawn    bool   // overwritten
	at       int    // the step that removed it
}

func (f *follower) add(g *follower) {
	f.looks += g.looks
	f.words += len(g.known)
	f.missed += g.missed
	f.lost += g.lost
	f.drawn += g.drawn
	f.erased += g.erased
	f.programs++
	if g.failure != "" {
		f.failed++
	}
}

func (f *follower) String() string {
	return fmt.Sprintf("%d programs, %d failed; %d looks, %.1f%% of them missed; %d words, %d gone unseen: %d drawn over, %d erased without a trace",
		f.programs, f.failed, f.looks, 100*float64(f.missed)/float64(max(1, f.looks)), f.words, f.lost, f.drawn, f.erased)
}

// followed runs a program in a new pane until it ends or fails.
func followed(ctx context.Context, srv *tmux.Server, p paneprog.Program, plain bool) (*follower, error) {
	f := &follower{plain: plain, limit: p.History, fresh: map[int]bool{}}
	var err error
	if f.pane, err = paneprog.Open(ctx, srv, p); err != nil {
		return nil, err
	}
	defer f.pane.Close(context.WithoutCancel(ctx))
	if err := f.see(ctx, effectPlain, nil); err != nil {
		return nil, err
	}
	for i, s := range p.Steps {
		f.step = i
		switch s.Op {
		case "raw":
			f.queue(atom{bytes: f.expand(s), effect: effectUnknown})
			continue
		case "out":
			f.queue(atomsOf(f.expand(s))...)
			continue
		}
		if err = f.flush(ctx); f.over {
			break
		}
		if f.step = i; err == nil && s.Op == "look" {
			err = f.look(ctx)
		} else if err == nil {
			if err = f.pane.Do(ctx, s); err == nil {
				err = f.see(ctx, effectPlain, func(at place) bool { return at.area == onScreen && f.now.Alternate })
			}
		}
		if err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", i, s, err)
		}
		if f.failure != "" {
			break
		}
	}
	return f, nil
}

func (f *follower) expand(s paneprog.Step) string {
	return paneprog.Expand(func() string {
		f.known = append(f.known, word{step: f.step})
		return paneprog.Word(len(f.known) - 1)
	}, s)
}

func (f *follower) queue(atoms ...atom) {
	for range atoms {
		f.steps = append(f.steps, f.step)
	}
	f.pending = append(f.pending, atoms...)
}

// flush writes what steps have to write, in pieces each of which can remove words in one
// way only.
func (f *follower) flush(ctx context.Context) error {
	for len(f.pending) > 0 {
		if f.pieces++; f.pieces > 1000 {
			f.over = true
			return nil
		}
		n, piece := 1, f.pending[0]
		join := func(to int, effect effect) {
			var all strings.Builder
			for _, a := range f.pending[:to] {
				all.WriteString(a.bytes)
			}
			n, piece = to, atom{bytes: all.String(), effect: effect}
		}
		if to := f.together(f.pending); to > 1 {
			join(to, effectDraws)
		}
		// Lines in blank places can be printed at once: they remove nothing.
		if f.now.feeds() && f.now.blank() {
			to := 0
			for to < len(f.pending) && f.pending[to].isPlain() {
				to++
			}
			if to >= n {
				join(to, effectPlain)
			}
		}
		f.step = f.steps[n-1]
		if err := f.write(ctx, piece); err != nil {
			return err
		}
		f.pending, f.steps = f.pending[n:], f.steps[n:]
	}
	f.pending, f.steps = nil, nil
	return nil
}

// together returns how many atoms can be written at once, because all they do to the
// history is add to it: what is then gone from the screen was overwritten.
func (f *follower) together(atoms []atom) int {
	room := f.limit - f.now.History
	for i, a := range atoms {
		switch a.effect {
		case effectErases, effectAlternates, effectUnknown:
			return i
		case effectDraws:
			if a.erasesBelow() {
				return i // from the first cell on it erases
			}
		case effectScrolls:
			room -= f.now.Rows
		case effectText:
			room -= 1 + 2*len(a.bytes)/f.now.Columns
			if strings.HasSuffix(a.bytes, "b") {
				room -= f.now.Rows
			}
		}
		if !f.now.Alternate && room <= 0 {
			return i
		}
	}
	return len(atoms)
}

func (f *follower) write(ctx context.Context, a atom) error {
	if err := f.pane.Write(a.bytes); err != nil {
		return err
	}
	before := f.now
	effect := a.effect
	if effect == effectDraws && before.CursorX == 0 && before.CursorY == 0 && a.erasesBelow() {
		effect = effectErases // all of the screen
	}
	for _, n := range paneprog.Words(a.bytes, len(f.known)) {
		f.fresh[n] = true
	}
	defer clear(f.fresh)
	return f.see(ctx, effect, func(at place) bool {
		visible, fresh := at.area == onScreen, at.area == nowhere
		inRegion := before.Upper > 0 && before.Upper <= at.row && at.row <= before.Lower
		switch {
		case visible && before.Alternate:
			return true
		case effect == effectDraws, effect == effectUnknown,
			before.Columns == 1 && (effect == effectPlain || effect == effectText): // where a wide character has no room
			return fresh || visible
		case effect == effectText:
			return fresh && !before.feeds() || visible && (at.row >= before.CursorY || inRegion)
		}
		return effect == effectScrolls && visible && inRegion
	})
}

// see reads the pane after a step, or part of one, and finds which words that removed, and
// which of them it overwrote.
func (f *follower) see(ctx context.Context, effect effect, drawn func(before place) bool) error {
	before, last := f.places, f.now
	var earlier *snapshot
	switch effect {
	case effectText, effectScrolls, effectDraws, effectMoves:
		earlier = f.now // the hidden screen stays as it is
	}
	var err error
	if f.now, err = snapshotOf(ctx, f.pane, earlier); err != nil {
		return err
	}
	f.places = make([]place, len(f.known))
	find := func(lines []string, in area) {
		for _, l := range lines {
			for _, n := range paneprog.Words(l, len(f.known)) {
				at := &f.places[n]
				if at.area != nowhere {
					at.twice = true
				} else {
					at.area, at.line, at.shown = in, l, l
				}
			}
		}
	}
	find(f.now.Lines, above)
	for y, row := range f.now.Screen {
		for _, n := range paneprog.Words(row, len(f.known)) {
			f.places[n].area, f.places[n].row = onScreen, y
		}
	}
	// Wrapped words are in no row as a whole.
	for _, l := range f.now.Lines[max(0, len(f.now.Lines)-len(f.now.Screen)-1):] {
		for _, n := range paneprog.Words(l, len(f.known)) {
			if at := &f.places[n]; at.area == above {
				if y := f.now.rowOf(n); y >= 0 {
					at.area, at.row = onScreen, y
				}
			}
		}
	}
	if f.now.Alternate {
		for _, l := range f.now.Normal {
			for _, n := range paneprog.Words(l, len(f.known)) {
				at := &f.places[n]
				if at.area == nowhere {
					at.area, at.shown = hidden, l
				}
				at.line = l // the alternate screen may hide the rest of it
			}
		}
		// Nothing says that the first row of the hidden screen continues the history's
		// last.
		for i := range len(f.now.Normal) - 1 {
			for _, n := range paneprog.Words(f.now.Normal[i]+f.now.Normal[i+1], len(f.known)) {
				if f.places[n].area == nowhere {
					f.places[n].area, f.known[n].excused = hidden, true
				}
			}
		}
	}
	// A region that begins below the first row sends its rows between that and the history:
	// a line that continues from there begins with other cells, even if they look the same.
	otherStart := last != nil && last.Upper > 0 && last.History != f.now.History
	// A line wrapped at another width may stay so in the history, even at the old width.
	otherWidth := last != nil && last.Columns != f.now.Columns
	// What was on the alternate screen and is left on the normal one is new there.
	left := last != nil && last.Alternate && !f.now.Alternate
	for n := range f.known {
		w, at := &f.known[n], f.places[n]
		if at.twice {
			w.odd = true
		}
		// Of a line that is partly in the history, the alternate screen hides the rest.
		cut := f.now.Alternate && at.area != onScreen && strings.Contains(w.line, at.line)
		otherRows := otherWidth && len(at.line) > min(last.Columns, f.now.Columns) // as if each byte had a cell
		if at.area == nowhere || at.line != w.line && !cut || otherRows || otherStart && at.area == onScreen && f.beginsAbove(at) ||
			left && n < len(before) && before[n].area == onScreen {
			w.changed = true
		}
		switch {
		case at.area != nowhere:
			w.drawn = false
		case f.fresh[n] || n < len(before) && before[n].area != nowhere:
			was := place{}
			if n < len(before) {
				was = before[n]
			}
			w.drawn, w.at = drawn(was), f.step
		}
	}
	return nil
}

// beginsAbove reports whether the line of a word on the screen begins in the history.
func (f *follower) beginsAbove(at place) bool {
	for first := range at.row + 1 {
		if strings.HasPrefix(at.line, strings.Join(f.now.Screen[first:at.row+1], "")) {
			return false
		}
	}
	return true
}

func (f *follower) look(ctx context.Context) error {
	grid, err := f.now.grid(ctx, f.pane)
	if err != nil {
		return err
	}
	f.was, f.is = f.is, grid
	var since *follow.Mark
	if f.mark != nil {
		since = new(follow.Mark)
		if err := since.UnmarshalBinary(f.mark); err != nil {
			return err
		}
	}
	look, err := follow.LookAt(ctx, f.pane.Server, f.pane.Server.Pane(f.pane.ID), since)
	if err != nil {
		return err
	}
	if f.mark, err = look.Mark().MarshalBinary(); err != nil {
		return err
	}
	if runs.Text != "" {
		f.log = append(f.log, fmt.Sprintf("step %d: missed %v, new %q", f.step, look.Missed, look.New))
	}
	first := since == nil
	f.looks++
	if look.Missed {
		f.missed++
	}
	if !first && look.Missed && f.plain {
		f.fail(4, "the look is missed, though the program only printed", look)
	}
	if first {
		for n := range f.known {
			w := &f.known[n]
			w.excused = true
			if f.places[n].area != nowhere {
				w.reported, w.line, w.changed = true, f.places[n].shown, false
			}
		}
	}
	reported := map[int]bool{}
	for _, l := range look.New {
		for _, n := range paneprog.Words(l, len(f.known)) {
			w := &f.known[n]
			if !first && !look.Missed && !w.odd && (reported[n] || w.reported && !w.changed) {
				f.fail(1, fmt.Sprintf("%s, of step %d, is reported again, though its line %q did not change", paneprog.Word(n), w.step, w.line), look)
			}
			reported[n] = true
		}
	}
	for n := range reported {
		w := &f.known[n]
		w.reported, w.line, w.changed = true, f.places[n].shown, f.places[n].area == nowhere
	}
	for n := range f.known {
		w, at := &f.known[n], f.places[n]
		switch {
		case look.Missed:
			w.excused = true
		case w.reported || w.excused || at.area == hidden:
		case at.area != nowhere:
			f.fail(2, fmt.Sprintf("%s, of step %d, can be read, and was not reported", paneprog.Word(n), w.step), look)
		default:
			f.lost++
			switch {
			case w.drawn:
				f.drawn++
			case f.traceless():
				f.erased++
			default:
				f.fail(3, fmt.Sprintf("%s, of step %d, was taken away by step %d, and was not reported", paneprog.Word(n), w.step, w.at), look)
			}
			w.excused = true
		}
	}
	f.before = f.now
	return nil
}

// traceless reports whether everything readable since the last look could also come from a
// pane in which the program only printed and drew. This is what Look documents, for real
// rows.
func (f *follower) traceless() bool {
	then, now, a, b := f.before, f.now, f.before.Counters, f.now.Counters
	counted := len(a) > 0 && len(b) > 0
	still := then.History == now.History && f.was.Cursor == f.is.Cursor && slices.Equal(f.was.Rows, f.is.Rows)
	step := max(f.limit/10, 1) // rows tmux removes from a full history at a time
	switch {
	case then.PID != now.PID, then.Columns != now.Columns, counted && a[0] != b[0],
		f.lower() != 0 && (f.limit == 0 || textBelow(f.was) || textBelow(f.is)):
		return false
	case f.limit == 0:
		first := slices.IndexFunc(f.was.Rows, func(row string) bool { return row != "" })
		return still || first >= 0 && f.inPlace(first, 0) && f.different(0, f.was.Cursor) >= 3 && f.holds(0, 0)
	case counted:
		return f.holds(b[2]-a[2], b[1]-a[1])
	case still:
		return true
	case now.History+now.Rows <= f.limit-step:
		return f.holds(0, 0)
	}
	proofs := 0
	for trimmed := 0; trimmed <= then.History; trimmed += step {
		if f.holds(trimmed, 0) && f.different(trimmed, f.fence()) >= 3 {
			proofs++
		}
	}
	return proofs == 1
}

// lower returns by how much the normal screen is lower than at the last look.
func (f *follower) lower() int {
	return len(f.was.Rows) - f.before.History - (len(f.is.Rows) - f.now.History)
}

// fence returns the first row that was on the screen at the last look or, if the pane is
// higher now, since.
func (f *follower) fence() int { return max(0, f.before.History+min(0, f.lower())) }

// textBelow reports whether there is text below the row of the cursor.
func textBelow(g *grid) bool {
	return slices.ContainsFunc(g.Rows[g.Cursor+1:], func(row string) bool { return row != "" })
}

// inPlace reports whether a row of the last look is where it was, less the trimmed rows.
func (f *follower) inPlace(n, trimmed int) bool {
	return n >= trimmed && n-trimmed < len(f.is.Rows) && f.was.Rows[n] == f.is.Rows[n-trimmed]
}

// holds reports whether all rows above the screen that the last look remembers are in
// place, none are missing at its end, and it does not look erased.
func (f *follower) holds(trimmed, added int) bool {
	remembered := 100
	if f.looks == 2 {
		remembered = 40 // by the first look
	}
	if f.fence() < f.before.History-remembered {
		return false
	}
	for n := max(trimmed, f.before.History-remembered); n < f.fence(); n++ {
		if !f.inPlace(n, trimmed) {
			return false
		}
	}
	return trimmed <= f.fence() && len(f.is.Rows)+trimmed+max(0, f.lower()) >= len(f.was.Rows)+added && !f.wiped(trimmed)
}

// wiped reports whether the whole screen looks erased: none of the rows with text above the
// cursor's line that have not scrolled off is left. If there were none, it does if text is
// there now, the cursor is higher or its line is gone.
func (f *follower) wiped(trimmed int) bool {
	screen, line := f.is.Rows[f.now.History:], f.was.Line
	gone, drawn := false, false
	for n := f.before.History; n < line; n++ {
		switch row, same := f.was.Rows[n], f.inPlace(n, trimmed); {
		case row == "":
			drawn = drawn || !same
		case same && n-trimmed < f.now.History:
		case slices.Contains(screen, row):
			return false
		default:
			gone = true
		}
	}
	row, at := f.was.Rows[line], line-trimmed
	blank := at < 0 || at >= len(f.is.Rows) || f.is.Rows[at] == ""
	return gone || drawn || f.is.Cursor+trimmed < line || row != "" && blank && !slices.Contains(screen, row)
}

// different returns how many different rows with text are in place, of the last look's rows
// from 40 above the screen down to end.
func (f *follower) different(trimmed, end int) int {
	seen := map[string]bool{}
	for n := max(trimmed, f.before.History-40); n < end; n++ {
		if row := f.was.Rows[n]; row != "" && f.inPlace(n, trimmed) {
			seen[row] = true
		}
	}
	return len(seen)
}

// fail keeps the first failure, with the pane at the last look and now.
func (f *follower) fail(rule int, what string, look *follow.Look) {
	if f.failure != "" || !strings.Contains(*programRules, strconv.Itoa(rule)) {
		return
	}
	f.rule = rule
	show := func(s *snapshot) string {
		if s == nil {
			return "nothing"
		}
		lines := slices.Clone(s.Lines)
		if len(lines) > 40 {
			lines = append([]string{"…"}, lines[len(lines)-40:]...)
		}
		return fmt.Sprintf("%dx%d, cursor %d,%d, %d rows above, alternate %v, counters %v\n    %s", s.Columns, s.Rows, s.CursorX, s.CursorY, s.History, s.Alternate, s.Counters,
			strings.Join(lines, "\n    "))
	}
	news := slices.Clone(look.New)
	if len(news) > 40 {
		news = append(news[:40], "…")
	}
	f.failure = fmt.Sprintf("rule %d at step %d: %s\n  last look: %s\n  now: %s\n  missed %v, new:\n    %s", rule, f.step, what, show(f.before), show(f.now), look.Missed, strings.Join(news, "\n    "))
}
