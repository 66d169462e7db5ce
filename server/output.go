package server

import "strings"

// output separates what a pane printed since a certain moment from what was there
// before.
//
// The anchor is the row of the cursor at that moment, and not the one below: the
// next line of a quiet pane lands exactly there. From the anchor on, a row is old if
// it still holds what it held, such as a prompt or what a program painted below the
// cursor. Rows are identified by their numbers, so a line that is printed again is
// new.
//
// What a program paints on the alternate screen is not output.
type output struct {
	pid    string
	shown  *grid // the last grid
	last   *grid // the last one that was not of the alternate screen
	anchor int
	stale  []string // what stood in the rows from the anchor on
	// staleLines is set once rows cannot be identified by their numbers: see
	// knowByText.
	staleLines map[string]bool
	// seen is the row up to which everything was looked at.
	seen int
	// missed is that lines may have come and gone unseen.
	missed bool
}

// newOutput begins at the moment of a grid of the normal screen.
func newOutput(g *grid) *output {
	return &output{pid: g.PID, shown: g, last: g, anchor: g.cursor(), seen: g.cursor(), stale: g.from(g.cursor())}
}

// lookBack is how many rows above the screen are looked at again, so that a line
// that was wrapped there is seen whole.
const lookBack = 100

// from is the row to read the next grid from. What has left the screen cannot
// change any more, so it need not be looked at again.
func (o *output) from() int { return max(o.anchor, o.seen-lookBack) }

// readFrom is from, and what a trace needs.
func (o *output) readFrom() int { return max(0, min(o.from(), o.last.History-traceRows)) }

// follow takes in the next grid. It corrects the numbers of the rows when they
// have changed, and reports false when it cannot. Whole reads the whole history.
func (o *output) follow(g *grid, whole func() (*grid, error)) (bool, error) {
	o.shown = g
	if g.Alternate {
		return true, nil
	}
	last, shift := o.last, 0
	switch {
	case g.Width != last.Width:
		// Lines are wrapped anew, and what is above the cursor may be anywhere.
		o.knowByText()
		if block := o.block(); !g.holds(block, last.cursor()) {
			all, err := whole()
			if err != nil {
				return false, err
			}
			end, ok := all.find(block)
			if !ok {
				return false, nil
			}
			shift = last.cursor() - end
		}
	case g.mayTrim():
		var ok bool
		if shift, ok = o.trimmed(g); !ok {
			// So much was printed that the numbers are lost, or the screen was painted
			// anew.
			o.knowByText()
			o.anchor, o.seen = g.History, g.History
		}
	case last.History-g.History > max(0, g.Height-last.Height):
		// Cleared. A pane that gets higher takes rows back, which keep their numbers.
		return false, nil
	}
	kept := o.last.trace().holds(g, shift)
	o.anchor -= shift
	o.seen -= shift
	o.missed = o.missed || !kept || g.top > o.seen
	if g.top <= o.from() {
		o.seen = max(o.seen, g.History)
	}
	o.last = g
	return true, nil
}

// block are the last rows above the cursor of the last grid: they only move up.
func (o *output) block() []string {
	const most = 10
	cursor := o.last.cursor()
	rows := o.last.from(max(o.last.top, cursor-most))
	return rows[:min(len(rows), cursor-max(o.last.top, cursor-most))]
}

// holds reports whether a block of rows ends before row end.
func (g *grid) holds(block []string, end int) bool {
	for i, want := range block {
		if row, ok := g.row(end - len(block) + i); !ok || row != want {
			return false
		}
	}
	return true
}

// find is the row after the only place where a block of rows is.
func (g *grid) find(block []string) (end int, ok bool) {
	for n := g.top + len(block); n <= g.top+len(g.rows); n++ {
		if g.holds(block, n) {
			if ok {
				return 0, false
			}
			end, ok = n, true
		}
	}
	return end, ok
}

// trimmed is by how much the numbers of the rows fell because tmux trimmed the
// history, which it does by the same number of rows each time.
func (o *output) trimmed(g *grid) (shift int, ok bool) {
	block := o.block()
	if len(block) == 0 {
		return 0, true
	}
	step := g.trimStep()
	for shift := 0; shift <= o.last.cursor(); shift += step {
		// So many rows were printed meanwhile, and each trim needs a full history.
		printed := g.History - o.last.History + shift + max(0, g.Height-o.last.Height)
		if printed >= 0 && (shift == 0 || printed >= g.Limit-o.last.History) && g.holds(block, o.last.cursor()-shift) {
			return shift, true
		}
	}
	return 0, false
}

// knowByText takes what was looked at so far for old by its text from now on, as
// the numbers of rows say nothing any more. A line that is printed again is not
// seen to be new then.
func (o *output) knowByText() {
	if o.staleLines == nil {
		o.staleLines = map[string]bool{}
	}
	for _, row := range o.stale {
		o.staleLines[row] = true
	}
	for _, l := range o.last.lines {
		o.staleLines[l.text] = true
	}
}

// fresh are the lines of the last grid that are new.
func (o *output) fresh() []string {
	lines := o.last.lines
	if o.last.top > max(o.anchor, 0) && len(lines) > 0 && lines[0].rows < lookBack {
		// Perhaps the rest of a line: it was looked at before.
		lines = lines[1:]
	}
	var fresh []string
	for _, l := range lines {
		if l.end() > o.anchor && o.isFresh(l) && !o.isDeathNote(l) {
			fresh = append(fresh, l.text)
		}
	}
	return fresh
}

// tail are the lines that show now, from the anchor on.
func (o *output) tail() []string {
	var all []string
	for _, l := range o.shown.lines {
		if l.end() > o.anchor {
			all = append(all, l.text)
		}
	}
	return withoutBlankEnd(all)
}

func (o *output) isFresh(l gridLine) bool {
	if o.staleLines != nil {
		return l.text != "" && !o.staleLines[l.text]
	}
	for n := max(l.first, o.anchor); n < l.end(); n++ {
		text, _ := o.last.row(n)
		old := ""
		if i := n - o.anchor; i < len(o.stale) {
			old = o.stale[i]
		}
		// A blank row is output when the cursor has gone past it.
		if text != old && text != "" || text == "" && old == "" && n < o.last.cursor() {
			return true
		}
	}
	return false
}

// isDeathNote reports whether a line is what tmux itself writes at the bottom of a
// pane whose program has ended.
func (o *output) isDeathNote(l gridLine) bool {
	g := o.last
	return g.Dead && l.end() == g.History+g.Height && strings.HasPrefix(l.text, "Pane is dead")
}
