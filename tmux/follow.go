package tmux

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// Mark is what a look at a pane leaves behind, so that a later one can say what has become new. It
// holds no text but that of the cursor's line, only digests of lines. A Mark does not change; its
// binary form is the same in every process.
type Mark struct {
	// Pane is the pane that was looked at, and PID its program.
	Pane PaneID
	PID  string

	width, height  int // for which the lines were wrapped, and of the pane
	history, limit int
	cursor         int // the number of the cursor's row
	grown          int
	alternate      bool
	// mixed is set if the pane was resized while the alternate screen showed.
	mixed bool
	// counted is set if this tmux has the counters: see PaneState.
	counted                      bool
	generation, added, collected int64
	// cut is set if the first line may be the rest of one.
	cut   bool
	lines []markLine // of the rows from tailRows above the screen on
	alt   []markLine
	// typed is the text of the cursor's line, where a program may go on writing.
	typed string
}

// markLine is the digest of a line; 0 is that of a blank one.
type markLine struct {
	first, end int
	digest     uint64
}

// mostTyped bounds Mark.typed, in bytes.
const mostTyped = 512

func digestOf(text string) uint64 {
	if text == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:]) | 1
}

// Mark returns what the look leaves behind.
func (l *Look) Mark() *Mark {
	m := &Mark{
		Pane: l.ID, PID: l.PID, width: l.Width, height: l.Height, history: l.History, limit: l.Limit, cursor: l.cursor(),
		grown: l.grown, alternate: l.Alternate, mixed: l.mixed,
	}
	if l.HistoryGeneration != nil && l.HistoryAdded != nil && l.HistoryCollected != nil {
		m.counted, m.generation, m.added, m.collected = true, *l.HistoryGeneration, *l.HistoryAdded, *l.HistoryCollected
	}
	from := max(l.top, l.History-tailRows)
	m.cut = from > 0
	for i, line := range l.all {
		if line.end <= from {
			continue
		}
		digest := digestOf(line.text)
		if l.digests != nil {
			digest = l.digests[i]
		}
		m.lines = append(m.lines, markLine{line.first, line.end, digest})
		if line.first <= m.cursor && m.cursor < line.end && len(line.text) <= mostTyped {
			m.typed = line.text
		}
	}
	if len(m.lines) > 0 && m.lines[0].first < from {
		m.cut = false // the whole of the line is there
	}
	if k := l.kept; k != nil {
		m.width, m.cursor, m.cut, m.lines, m.typed = k.width, k.cursor, k.cut, k.lines, k.typed
	}
	for _, line := range l.alt {
		m.alt = append(m.alt, markLine{line.first, line.end, digestOf(line.text)})
	}
	return m
}

// Foreign reports whether the mark is of no look: nothing but its pane and program is known.
func (m *Mark) Foreign() bool { return m.height == 0 }

// comparison compares a look with an earlier one.
type comparison struct {
	*Mark
	l *Look
	// whole is set if the look has all rows that there are, or all that will be read.
	whole bool
	fence int         // nothing could write to the rows above this one
	byRow map[int]int // the lines of the look by their first rows
}

// fixed reports whether a line was above the screen all the time, where nothing can write.
func (m *comparison) fixed(l markLine) bool { return l.end <= m.fence }

// above reports whether a line was above that of the cursor.
func (m *Mark) above(l markLine) bool { return l.end <= m.cursor }

// seen is the number of the row after the last that was not blank.
func (m *Mark) seen() (end int) {
	for _, l := range m.lines {
		if l.digest != 0 {
			end = l.end
		}
	}
	return end
}

// known is the number of the first row that the mark knows something of.
func (m *Mark) known() int {
	if len(m.lines) == 0 {
		return m.history
	}
	return m.lines[0].first
}

// compare fills in what is new in a later look. If it needs rows above those that were read, it
// fills in nothing and returns the first; unless last is set, when it makes do with what there is.
func (m *Mark) compare(l *Look, last bool) (need int) {
	c := &comparison{Mark: m, l: l, whole: last || l.top == 0, fence: m.history, byRow: make(map[int]int, len(l.all))}
	if !m.alternate || !l.Alternate {
		c.fence = max(0, m.history-max(0, l.Height-m.height)) // a pane that gets higher takes rows back
	}
	if m.alternate && !l.Alternate && m.width == l.Width && !l.mayTrim(0) {
		c.fence = min(c.fence, l.History) // and what was hidden does so when it shows
	}
	l.grown = max(0, l.History-m.history)
	l.digests = make([]uint64, len(l.all))
	for i, line := range l.all {
		l.digests[i], c.byRow[line.first] = digestOf(line.text), i
	}
	p, need := c.find()
	if need < l.top {
		if !last {
			return need
		}
		p.missed = true // even the longest reading has no more
	}
	l.New, l.Missed = c.fresh(p), p.missed
	// tmux does not wrap what the alternate screen hides, and does not show what is too long then.
	l.mixed = l.Alternate && (m.width != l.Width || m.mixed)
	l.Missed = l.Missed || l.New != nil && (l.mixed || m.mixed)
	if l.Alternate && p.now != nil && l.New == nil && !l.Missed && l.History == m.history {
		l.kept = m // which knows more of it than this look, as long as the alternate screen hides it
	}
	l.New = append(l.New, m.drawn(l)...)
	l.Printed = len(l.New) > 0 || l.cursor()+p.shift > m.cursor
	return l.top
}

// place is where the lines of a mark are in a later look.
type place struct {
	// start is the first line of the look that may be new.
	start int
	// now is the line of the look where a line of the mark was; nil if all of them are gone.
	now    func(i int) (line int, ok bool)
	shift  int // by how much the numbers of the rows fell
	missed bool
}

// find finds the lines of the mark in the look. Need is the first row that is needed for it.
func (m *comparison) find() (p place, need int) {
	l := m.l
	from := min(m.history, m.known())
	higher := max(0, l.Height-m.height) // so many rows may have come back from the history
	if m.width != l.Width {
		if l.Alternate && l.History == m.history && from >= l.top && m.holds() {
			return m.at(0), l.top
		}
		l.cut = nil
		return m.findReflowed()
	}
	l.cut = nil
	if l.Limit == 0 {
		if p, ok := m.findBlock(m.above, func(shift int) bool { return shift == 0 }); ok {
			p.start = l.line(m.known()) // the history is what an earlier limit left
			return p, l.top
		}
		return m.gone(), l.top // what scrolls is gone, and counted nowhere
	}
	if m.counted && l.HistoryGeneration != nil && m.generation == *l.HistoryGeneration {
		shift := int(*l.HistoryCollected - m.collected)
		back := m.history + int(*l.HistoryAdded-m.added) - shift - l.History // rows that the screen took since
		m.fence = max(0, m.history-max(0, back))
		return m.at(shift), max(0, from-shift)
	}
	if l.History >= m.history-higher {
		if from < l.top && !m.whole {
			return p, from
		}
		if m.holds() {
			p = m.at(0)
			p.missed = p.missed || m.lost()
			return p, from
		}
	}
	step := l.trimStep()
	if !m.counted && (l.mayTrim(higher) || m.history >= m.limit-step) {
		trims := func(shift int) bool { return shift > 0 && (shift%step == 0 || m.limit != l.Limit) }
		if p, ok := m.findBlock(m.fixed, trims); ok {
			return p, l.top
		}
	}
	if !m.whole {
		return p, 0
	}
	// The history is gone, and the screen may be as it was.
	for _, moved := range []func(shift int) bool{
		func(shift int) bool { return shift == m.history }, func(shift int) bool { return shift > 0 && shift >= m.history-higher },
	} {
		if p, ok := m.findBlock(m.above, moved); ok {
			return p, 0
		}
	}
	if m.alternate {
		return m.findReflowed() // it was resized before this program looked first
	}
	return m.gone(), 0
}

// findReflowed is find for a pane that has become wider or narrower: its lines are wrapped anew,
// and what is above the cursor may be anywhere.
func (m *comparison) findReflowed() (p place, need int) {
	l := m.l
	known, fixed := false, map[uint64]bool{}
	for i, line := range m.lines {
		if line.digest != 0 && (i > 0 || !m.cut) {
			known = known || m.above(line)
			if m.fixed(line) {
				fixed[line.digest] = true
			}
		}
	}
	block := m.above
	if len(fixed) >= enough {
		block = m.fixed
	}
	switch p, ok := m.findBlock(block, nil); {
	case ok:
		return p, l.top
	case !m.whole:
		return p, 0
	case !known && m.history == 0:
		return m.byOrder(0), 0 // nothing was above it
	}
	if p, ok := m.scattered(); ok {
		return p, 0
	}
	return m.gone(), 0
}

// scattered is the place of a mark of whose lines at least a half are somewhere: what is between
// them is likely to be all that is new, and not sure to be.
func (m *comparison) scattered() (p place, ok bool) {
	l := m.l
	first, found, known := len(l.all), 0, 0
	for i, line := range m.lines {
		if line.digest == 0 || i == 0 && m.cut {
			continue
		}
		known++
		if n := slices.Index(l.digests, line.digest); n >= 0 {
			found++
			first = min(first, n)
		}
	}
	if m.lines != nil && m.lines[0].first == 0 {
		first = 0 // the mark knew all lines
	}
	return place{start: first, missed: true, now: func(int) (int, bool) { return 0, false }}, found > 0 && 2*found >= known
}

// lost reports whether rows that the mark did not know are gone, as far as tmux counts them. Of the
// rows that have left the screen since, those that are not in the history were known if there were
// as many above the cursor.
func (m *comparison) lost() bool {
	l := m.l
	return m.counted && l.HistoryAdded != nil && int(*l.HistoryAdded-m.added)-l.History > max(0, min(m.seen(), m.cursor)-m.history)
}

// gone is the place of a mark whose lines are no more.
func (m *comparison) gone() place {
	l := m.l
	if !m.counted || l.HistoryAdded == nil || m.width != l.Width || l.Limit == 0 {
		return place{missed: true}
	}
	p := place{missed: m.lost()}
	for _, line := range m.lines {
		// Perhaps it was drawn again, and perhaps it stayed.
		p.missed = p.missed || line.digest != 0 && !m.fixed(line) && slices.Contains(l.digests, line.digest)
	}
	return p
}

// at is the place of a mark whose rows have the numbers that they had, less shift.
func (m *comparison) at(shift int) place {
	l := m.l
	known, torn := m.known(), false
	for i, line := range m.lines {
		trimmed := line.first < shift && shift < line.end
		switch {
		case m.fixed(line) && (trimmed || i == 0 && m.cut):
			known = line.end // only the rest of it is there
		case trimmed:
			torn = true // and that may have been drawn anew
		}
	}
	return place{
		start: l.line(known - shift),
		now: func(i int) (int, bool) {
			n, ok := m.byRow[m.lines[i].first-shift]
			if !ok && m.fixed(m.lines[i]) {
				return -1, true // above what was read
			}
			return n, ok
		},
		shift:  shift,
		missed: torn || shift > min(m.seen(), m.cursor) || m.fence < m.known(),
	}
}

// byOrder is the place of a mark whose lines follow each other in a look, from one on.
func (m *comparison) byOrder(first int) place {
	l := m.l
	p := place{}
	if m.known() > 0 { // the mark does not know what is above
		p.start, p.missed = max(0, first), !m.fixed(m.lines[0]) || first > l.line(l.History)
		if m.cut && first >= 0 {
			p.start++
		}
	}
	p.now = func(i int) (int, bool) {
		n := first + i
		return n, n < 0 && m.fixed(m.lines[i]) || 0 <= n && n < len(l.all)
	}
	for i, line := range m.lines {
		if n := first + i; m.above(line) && 0 <= n && n < len(l.all) {
			p.shift = line.end - l.all[n].end
		}
	}
	return p
}

// first looks for the first line of the look in the mark, as it need not be the rest of one that was
// trimmed.
func (m *comparison) first(p *place) bool {
	now, known := p.now, slices.IndexFunc(m.lines, func(line markLine) bool { return line.digest == m.l.digests[0] })
	p.now = func(i int) (int, bool) {
		if i == known {
			return 0, true
		}
		return now(i)
	}
	return known >= 0
}

// isCut reports whether a line may be cut.
func (l *Look) isCut(i int) bool { return l.cut != nil && l.cut[i] }

// may reports whether a line has a digest, as far as it can be seen.
func (l *Look) may(i int, digest uint64) bool {
	return l.digests[i] == digest || digest != 0 && l.isCut(i)
}

// line is the first line that ends below a row.
func (l *Look) line(row int) int {
	i := 0
	for i < len(l.all) && l.all[i].end <= row {
		i++
	}
	return i
}

// holds reports whether rows have the numbers that they had: whether those are the same that cannot
// change or, if there are none, one of those down to the cursor. If a program has moved them all, half
// of them must be somewhere; where rows may have been trimmed, that proves nothing.
func (m *comparison) holds() bool {
	l := m.l
	fixed, loose, same, somewhere := 0, 0, 0, 0
	for i, line := range m.lines {
		if i == 0 && m.cut || line.digest == 0 && !m.fixed(line) {
			continue
		}
		n, is := m.byRow[line.first]
		if is && m.typed != "" && line.first <= m.cursor && m.cursor < line.end && strings.HasPrefix(l.all[n].text, m.typed) {
			same++
		}
		is = is && l.may(n, line.digest)
		switch {
		case line.digest == 0 && is: // which proves nothing
		case m.fixed(line):
			if !is {
				return false
			}
			if !l.isCut(n) {
				fixed++
			}
		case m.above(line):
			loose++
			if is && !l.isCut(n) {
				same++
			}
			if slices.Contains(l.digests, line.digest) {
				somewhere++
			}
		}
	}
	if !m.counted && l.mayTrim(max(0, l.Height-m.height)) {
		return fixed > 0 || same > 0
	}
	return fixed > 0 || same > 0 || loose == 0 || somewhere > 1 && 2*somewhere >= loose
}

// enough is how many different lines are taken for proof.
const enough = 3

// findBlock finds lines of a mark that follow each other, which block chooses, in a look. Moved
// says by how much their rows can have fallen; if it is nil, they were wrapped anew. The first of
// the lines may have been trimmed, one of them in part. If they are in several places, the first is
// taken, so that what comes after them is returned twice rather than not at all, or after wrapping,
// when nothing need have been printed, the last. If the look has not all rows, the last place is
// taken, and only lines that are different enough.
func (m *comparison) findBlock(block func(markLine) bool, moved func(shift int) bool) (p place, ok bool) {
	l := m.l
	var want []uint64
	first, last := -1, -1
	for i, line := range m.lines {
		if block(line) && (i > 0 || !m.cut) {
			if first < 0 {
				first = i
			}
			want = append(want, line.digest)
			last = i
		}
	}
	if first < 0 {
		return p, false
	}
	found := 0
	for end := len(l.digests); end > 0; end-- { // the block ends before this line
		n := 0
		different := map[uint64]bool{}
		for n < len(want) && n < end && l.may(end-1-n, want[len(want)-1-n]) {
			if d := l.digests[end-1-n]; d != 0 && !l.isCut(end-1-n) {
				different[d] = true
			}
			n++
		}
		shift := m.lines[last].first - l.all[end-1].first
		if len(different) == 0 || n < len(want) && (n < end-1 || l.top > 0 || len(different) < enough && (shift != m.history || n < end)) {
			continue
		}
		if moved != nil && !moved(shift) {
			continue
		}
		at := func() place {
			p := m.byOrder(end - 1 - last)
			if moved != nil {
				p = m.at(shift)
			}
			if n < len(want) && n < end && !m.first(&p) && moved == nil {
				p.missed = true
			}
			return p
		}
		if !m.whole {
			if len(different) >= enough {
				return at(), true
			}
			continue
		}
		if found++; found == 1 || moved != nil {
			p = at()
		}
	}
	p.missed = p.missed || found > 1
	return p, found > 0
}

// fresh are the new lines of the history and the normal screen.
func (m *comparison) fresh(p place) []string {
	l := m.l
	lines := l.all
	if l.Dead && len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1].text, "Pane is dead") {
		lines = lines[:len(lines)-1] // tmux itself writes that
	}
	var old lineSet
	if p.now != nil {
		old = lineSet{lines: m.lines, cursor: -1, typed: m.typed, cut: l.cut, now: p.now}
		for i, line := range m.lines {
			if line.first <= m.cursor && m.cursor < line.end {
				old.cursor = i
			}
		}
	}
	return old.unseen(lines, l.digests, p.start, m.cursor-p.shift)
}

// drawn are the new lines of the alternate screen.
func (m *Mark) drawn(l *Look) []string {
	digests := make([]uint64, len(l.alt))
	byRow := make(map[int]int, len(l.alt))
	for i, line := range l.alt {
		digests[i], byRow[line.first] = digestOf(line.text), i
	}
	old := lineSet{lines: m.alt, cursor: -1, now: func(i int) (int, bool) {
		n, ok := byRow[m.alt[i].first]
		return n, ok
	}}
	return old.unseen(l.alt, digests, 0, len(l.alt))
}

// lineSet are the lines of a mark that lines of a look are compared with.
type lineSet struct {
	lines []markLine
	now   func(i int) (line int, ok bool) // where they were
	// cursor is that of the cursor, and typed its text, if that is known.
	cursor int
	typed  string
	cut    []bool // which lines of the look are not there as a whole
}

// unseen are the lines from start on that are not where they were, and have not moved either. Blank
// lines count between others, below the row of the cursor.
func (s lineSet) unseen(lines []textLine, digests []uint64, start, cursor int) []string {
	same := map[int]bool{}
	moved := map[uint64]int{} // how many lines with this digest are gone from where they were
	for i, old := range s.lines {
		n, ok := s.now(i)
		switch {
		case ok && n < start:
		case ok && n < len(lines) && digests[n] == old.digest:
			same[n] = true
		case ok && n < len(lines) && s.cut != nil && s.cut[n] && old.digest != 0:
			same[n], digests[n] = true, old.digest // if it is not, that shows with the rest of it
		case old.digest == 0:
		case ok && n < len(lines) && i == s.cursor && s.typed != "" && strings.HasPrefix(lines[n].text, s.typed):
			// It goes on, as a prompt does with what is typed after it.
		default:
			moved[old.digest]++
		}
	}
	var fresh []string
	blank := 0
	for i := start; i < len(lines); i++ {
		switch line := lines[i]; {
		case line.text == "":
			if !same[i] || line.first > cursor {
				blank++
			}
		case same[i]:
			blank = 0
		case moved[digests[i]] > 0:
			moved[digests[i]]--
			blank = 0
		default:
			if line.first > cursor {
				fresh = append(fresh, make([]string, blank)...)
			}
			blank = 0
			fresh = append(fresh, line.text)
		}
	}
	return fresh
}
