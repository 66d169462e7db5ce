package follow

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"tmuxmcp/tmux"
)

// Mark is what a look at a pane leaves behind, so that a later one can report what is new.
// It holds the text of the cursor's line, and only digests of other rows. A Mark is
// immutable; its binary form is the same in every process.
type Mark struct {
	// Pane is the pane that was looked at, and PID its program, 0 if that had closed its
	// terminal.
	Pane tmux.PaneID
	PID  int

	width, height  int // height is that of the normal screen
	history, limit int
	cursor         int // the number of the cursor's row
	grown          int
	alternate      bool
	mixed          bool // see Look
	// counted is set if this tmux has the counters: see PaneState.
	counted                      bool
	generation, added, collected int64
	// far is the number of rows above rows that are known only by a common digest.
	far       int
	farDigest uint64
	rows      knownRows // from tailRows above the screen on
	alt       knownRows
	// typed is the cursor's line up to the cursor, where a program may continue it.
	typed string
}

// mostTyped bounds Mark.typed, in bytes.
const mostTyped = 512

// knownRows are the digests of rows. The lowest bit of a digest is set if the row continues
// the line of the row above; without it, 0 is a blank row.
type knownRows struct {
	first  int // the number of the first row
	digest []uint64
	// long has a digest for each line of several rows: a pane whose width changed and
	// changed back may have the text in other rows.
	long []uint64
}

// digestOf returns the digest of a text, 0 if it is empty.
func digestOf(text string) uint64 {
	if text == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])&^1 | 2
}

// newRows returns the digests of the rows that make up lines.
func newRows(first int, rows []string, lines []textLine) knownRows {
	k := knownRows{first: first, digest: make([]uint64, len(rows))}
	for i, text := range rows {
		k.digest[i] = digestOf(strings.TrimRight(text, " "))
	}
	for _, l := range lines {
		for n := l.first + 1; n < l.end; n++ {
			k.digest[n-first] |= 1
		}
		if l.end > l.first+1 {
			k.long = append(k.long, digestOf(l.text))
		}
	}
	return k
}

func (k knownRows) end() int { return k.first + len(k.digest) }

// at returns the digest of the text of row n.
func (k knownRows) at(n int) (digest uint64, ok bool) {
	if n < k.first || n >= k.end() {
		return 0, false
	}
	return k.digest[n-k.first] &^ 1, true
}

// textBelow reports whether any row below the given one has text.
func (k knownRows) textBelow(row int) bool {
	for n := max(row+1, k.first); n < k.end(); n++ {
		if d, _ := k.at(n); d != 0 {
			return true
		}
	}
	return false
}

func (k knownRows) from(n int) knownRows {
	n = min(max(n, k.first), k.end())
	long := k.long
	for l := range k.lines() {
		if l.first >= n {
			break
		}
		if l.long {
			long = long[1:]
		}
	}
	return knownRows{n, k.digest[n-k.first:], long}
}

// goesOn reports whether row n continues the line of the row above.
func (k knownRows) goesOn(n int) bool {
	return k.first <= n && n < k.end() && k.digest[n-k.first]&1 != 0
}

// knownLine is a line of known rows.
type knownLine struct {
	first, end int
	digest     uint64 // of its text; 0 if it is blank or begins above the first row
	long       bool
}

func (k knownRows) lines() iter.Seq[knownLine] {
	return func(yield func(knownLine) bool) {
		long := k.long
		for first := k.first; first < k.end(); {
			l := knownLine{first: first, end: first + 1}
			for k.goesOn(l.end) {
				l.end++
			}
			switch {
			case k.goesOn(first):
			case l.end > first+1 && len(long) > 0:
				l.digest, l.long, long = long[0], true, long[1:]
			default:
				l.digest, _ = k.at(first)
			}
			if !yield(l) {
				return
			}
			first = l.end
		}
	}
}

// sum returns one digest for a range of rows, 0 if they are blank.
func (k knownRows) sum(first, end int) (sum uint64) {
	for n := first; n < end; n++ {
		d, _ := k.at(n)
		sum = (sum ^ d) * 0x9E3779B97F4A7C15
	}
	return sum
}

// known returns the digests of the look's rows.
func (l *Look) known() knownRows {
	if l.digests.digest == nil {
		l.digests = newRows(l.top, l.rows, l.all)
	}
	return l.digests
}

// Mark returns the mark of this look, for a later one.
func (l *Look) Mark() *Mark {
	m := &Mark{
		Pane: l.ID, PID: l.pid(), width: l.Width, height: l.normal, history: l.History, limit: l.Limit, cursor: l.cursor(),
		grown: l.grown, alternate: l.Alternate, mixed: l.mixed,
	}
	if l.counted() {
		m.counted, m.generation, m.added, m.collected = true, *l.HistoryGeneration, *l.HistoryAdded, *l.HistoryCollected
	}
	known := l.known()
	m.rows = known.from(l.History - tailRows)
	far := known.from(l.History - tailRows - farRows).first
	m.far, m.farDigest = m.rows.first-far, known.sum(far, m.rows.first)
	for _, line := range l.all {
		if line.first <= m.cursor && m.cursor < line.end && len(line.text) <= mostTyped {
			m.typed = l.typed(line, m.cursor)
		}
	}
	if l.Alternate {
		m.alt = newRows(0, l.altRows, l.alt)
	}
	return m
}

// Typed returns the text of the cursor's line up to the cursor or, where cells are not
// bytes, of all of it; "" if it is long.
func (m *Mark) Typed() string { return m.typed }

// part returns the line that the cursor was in, nil if it was blank.
func (m *Mark) part() *part {
	if d, _ := m.rows.at(m.cursor); d == 0 {
		return nil
	}
	return &part{m.cursor, m.typed}
}

// Blank reports whether the screen showed no text.
func (m *Mark) Blank() bool {
	if m.alternate {
		return !m.alt.textBelow(-1)
	}
	return !m.rows.textBelow(m.history - 1)
}

// compare fills in what is new in a later look. If it needs rows above those that were
// read, it returns the first one it needs instead, unless last is set.
func (m *Mark) compare(l *Look, last bool) (need int) {
	l.grown = max(0, l.History-m.history)
	shift, proven, need := m.shift(l)
	if need < l.top && !last {
		return need
	}
	if m.width == l.Width && !(m.alternate && m.mixed) {
		l.mixed = false // it was not resized behind the alternate screen
	}
	proven = proven && need >= l.top
	if m.PID == l.pid() && !m.alternate && !l.Alternate && (proven || l.History == m.history) {
		l.WasRow, l.WasY = m.cursor-shift, m.cursor-m.history
	}
	if !proven {
		l.Shift, l.Missed, l.Printed = -1, true, true
		l.New, l.NewRows = l.printed()
		return l.top
	}
	l.Shift, l.New, l.NewRows = shift, nil, nil
	m.addNew(l, shift)
	l.Missed = m.cut(l)
	l.Printed = l.Missed || len(l.New) > 0 || l.cursor()+shift > m.cursor
	return l.top
}

// cut reports whether rows may have been cut off. When a pane gets lower, tmux first cuts
// off the rows below the cursor: blank ones, unless a program draws there. A pane that is
// higher now may have been lower in between.
func (m *Mark) cut(l *Look) bool {
	return m.height != l.normal && (m.rows.textBelow(m.cursor) || l.known().textBelow(l.cursor()))
}

// shift determines by how much the row numbers fell because tmux trimmed the history. Unless
// that is proven, nothing is known about what is new. need is the first row that the proof
// needs: what the mark knows of the rows above the screen must fit what is there now.
//
//	at the mark                                        at a look, with shift 2
//	  0                     ┐                                 trimmed
//	  1                     ┘ unknown                         trimmed
//	  2  rows.first-far     ┐ known by                   0    need
//	  3                     ┘ one digest                 1
//	  4  rows.first         ┐                            2
//	  5                     │ known by                   3
//	  6  history, the first │ a digest each              4
//	  7  row of the screen  │                            5
//	  8  cursor             ┘                            6    may have changed
//	                                                     7    the screen now
func (m *Mark) shift(l *Look) (shift int, proven bool, need int) {
	need = m.rows.first - m.far
	counted := m.counted && l.counted()
	switch {
	case m.PID != l.pid() && l.PID != nil:
		return 0, false, l.top // respawned, which clears the screen
	case m.width != l.Width || m.mixed && !(l.Alternate && m.unchanged(l)):
		return 0, false, l.top // rewrapped
	case counted && m.generation != *l.HistoryGeneration:
		return 0, false, l.top // cleared, or rewrapped
	case l.Limit == 0:
		return 0, m.unchanged(l) || m.stays(l), l.top
	case counted:
		shift = int(*l.HistoryCollected - m.collected)
		need = max(0, need-shift)
		return shift, need >= l.top && m.holds(l, shift), need
	case m.limit != l.Limit:
		return 0, false, l.top // rows may be trimmed at any time
	case need < l.top:
		return 0, false, need
	case m.unchanged(l):
		return 0, true, need
	}
	return m.searchShift(l, need)
}

// searchShift tries all numbers of rows that tmux may have trimmed. The one that fits is
// proven if no other fits.
func (m *Mark) searchShift(l *Look, need int) (shift int, proven bool, needed int) {
	step := max(l.Limit/10, 1) // what tmux takes off a full history at a time
	if l.History+l.normal <= l.Limit-step {
		return 0, m.holds(l, 0), need // not full, even if the pane was lower in between
	}
	found := 0
	for s := 0; s <= m.history; s += step {
		if max(need-s, 0) >= l.top && m.holds(l, s) && m.distinct(l, s, m.fence(l)) >= enough {
			shift, found = s, found+1
		}
	}
	if found == 0 {
		need = 0
	}
	return shift, found == 1, need
}

// stays reports whether, in a pane without history, the lines that are left show that
// nothing has scrolled off: the first row with text and enough other lines are where they
// were.
func (m *Mark) stays(l *Look) bool {
	if m.height != l.normal || m.distinct(l, 0, m.cursor) < enough || !m.holds(l, 0) {
		return false
	}
	for n := m.history; n < m.cursor; n++ {
		if d, _ := m.rows.at(n); d != 0 {
			return m.same(l, n, 0)
		}
	}
	return false
}

// enough is how many different lines must be where they were to prove the numbers of rows
// in a history that tmux may have trimmed. They must be above the screen: while a part of
// it scrolls, the history grows and may be trimmed, but the lines on the rest of the screen
// keep their numbers.
const enough = 3

// fence returns the number of the first row that may have been on the screen since: nothing
// could write to the rows above it.
func (m *Mark) fence(l *Look) int { return max(0, m.history-max(0, l.normal-m.height)) }

// same reports whether row n of the mark is now in row n-shift.
func (m *Mark) same(l *Look, n, shift int) bool {
	was, _ := m.rows.at(n)
	is, ok := l.known().at(n - shift)
	return ok && is == was
}

// holds reports whether everything known about the mark's rows fits their numbers having
// fallen by shift and nothing else.
func (m *Mark) holds(l *Look, shift int) bool {
	fence, far := m.fence(l), m.rows.first-m.far
	entered := 0
	if m.counted && l.counted() {
		entered = int(*l.HistoryAdded - m.added)
	}
	switch {
	case shift > fence:
		return false // some of what was trimmed may be new
	case l.History+l.normal+shift < m.rows.end()+entered-max(0, m.height-l.normal):
		return false // more rows are gone at the end than a lower pane loses
	case fence < far:
		return false // rows above the known ones may have been written to
	case far >= shift && l.known().sum(far-shift, m.rows.first-shift) != m.farDigest:
		return false
	}
	for n := max(m.rows.first, shift); n < fence; n++ {
		if !m.same(l, n, shift) {
			return false
		}
	}
	return !m.erased(l, shift)
}

// unchanged reports whether nothing has changed on the normal screen.
func (m *Mark) unchanged(l *Look) bool {
	return l.History == m.history && l.normal == m.height && l.cursor() == m.cursor && slices.Equal(l.known().from(m.rows.first).digest, m.rows.digest) && m.holds(l, 0)
}

// holdsLine reports whether all rows of a line are where they were, less shift.
func (m *Mark) holdsLine(l *Look, line knownLine, shift int) bool {
	for n := line.first; n < line.end; n++ {
		if !m.same(l, n, shift) {
			return false
		}
	}
	return true
}

// erased reports whether the whole screen seems to have been erased: none is left of the
// lines above the cursor's that have not scrolled off. If there were none, the signs are a
// higher cursor, a cursor's line that became blank, or text above it.
func (m *Mark) erased(l *Look, shift int) bool {
	known := l.known()
	left := map[uint64]bool{}
	for line := range known.lines() {
		if line.end > l.History {
			left[line.digest] = true
		}
	}
	gone := false
	for line := range m.rows.lines() {
		if line.end > m.cursor { // the cursor's line
			now, _ := known.at(line.first - shift)
			return gone || l.cursor()+shift < line.first || line.digest != 0 && now == 0 && !left[line.digest] || m.above(l, line.first, shift)
		}
		switch {
		case line.end <= m.history || line.digest == 0 || line.end-shift <= l.History && m.holdsLine(l, line, shift):
		case left[line.digest]:
			return false
		default:
			gone = true
		}
	}
	return gone
}

// above reports whether the screen has text where rows above the given one were blank.
func (m *Mark) above(l *Look, row, shift int) bool {
	for n := max(m.history, shift+l.top); n < row; n++ {
		if was, _ := m.rows.at(n); was == 0 && !m.same(l, n, shift) {
			return true
		}
	}
	return false
}

// distinct returns how many different lines above row end are where they were, less shift.
func (m *Mark) distinct(l *Look, shift, end int) int {
	different := map[uint64]bool{}
	for line := range m.rows.from(shift).lines() {
		if line.end <= end && line.digest != 0 && m.holdsLine(l, line, shift) {
			different[line.digest] = true
		}
	}
	return len(different)
}

// addNew adds the new lines of the history and the normal screen, and those of the
// alternate screen.
func (m *Mark) addNew(l *Look, shift int) {
	lines := l.all
	if l.Dead && len(lines) > 0 && isNotice(lines[len(lines)-1].text) {
		lines = lines[:len(lines)-1]
	}
	for _, line := range unseen(m.rows, l.known(), lines, shift, m.cursor, m.typed) {
		l.New, l.NewRows = append(l.New, line.text), append(l.NewRows, line.first)
	}
	for _, line := range unseen(m.alt, newRows(0, l.altRows, l.alt), l.alt, 0, len(l.alt), "") {
		l.New, l.NewRows = append(l.New, line.text), append(l.NewRows, -1-line.first)
	}
}

// unseen returns the lines that are new: neither where they were, less shift, nor moved.
//
//	before               now, with shift 2
//	  0  $ make                                trimmed
//	  1  building                              trimmed
//	  2  one               0  one              where it was
//	  3  two               1  three            new
//	  4  four              2  two              moved
//	  5  $ , the cursor    3  $ echo           new: it continues the line at the cursor
//	  6                    4                   new, since it is below the cursor and followed by
//	  7                    5  done             a new line
func unseen(old, now knownRows, lines []textLine, shift, cursor int, typed string) (fresh []textLine) {
	a := aligned{old, now, shift}
	f := a.former(lines, cursor, typed)
	var blank []textLine
	for _, line := range lines {
		stays := a.same(line.first+shift, line.end+shift)
		below := line.first+shift > cursor
		switch {
		case line.text == "":
			if !stays || below {
				blank = append(blank, line)
			}
			continue
		case stays, f.moved(line.text), f.began(line, shift):
		default:
			if below {
				fresh = append(fresh, blank...)
			}
			fresh = append(fresh, line)
		}
		blank = nil
	}
	return fresh
}

// aligned are the rows of two looks: row n of old is row n-shift of now, unless it has changed.
type aligned struct {
	old, now knownRows
	shift    int
}

// same reports whether old rows are where they were. What is above the known ones counts as
// such.
func (a aligned) same(first, end int) bool {
	for n := first; n < end; n++ {
		was, known := a.old.at(n)
		is, ok := a.now.at(n - a.shift)
		if !ok || n >= a.old.first && !(known && is == was) {
			return false
		}
	}
	return true
}

// formerLines are the lines of the old rows.
type formerLines struct {
	gone  map[uint64]int // by digest, how many are gone from where they were
	begin map[int]uint64 // by row, the digest of the line that began there
}

// former returns the old lines. The text typed at the cursor may have been continued: the line
// that begins with it now replaces the old one, as a prompt with a command after it does, unless
// it is another line that has moved there.
func (a aligned) former(lines []textLine, cursor int, typed string) formerLines {
	f := formerLines{gone: map[uint64]int{}, begin: map[int]uint64{}}
	continued, unfinished := "", uint64(0)
	for l := range a.old.lines() {
		f.begin[l.first] = l.digest
		if a.same(max(l.first, a.shift), l.end) {
			continue
		}
		f.gone[l.digest]++
		if typed == "" || cursor < l.first || l.end <= cursor {
			continue
		}
		i, ok := slices.BinarySearchFunc(lines, l.first-a.shift, func(l textLine, first int) int { return l.first - first })
		if ok && strings.HasPrefix(lines[i].text, typed) {
			continued, unfinished = lines[i].text, l.digest
		}
	}
	if continued != "" && f.gone[digestOf(continued)] == 0 {
		f.gone[unfinished]--
	}
	return f
}

// moved reports whether a line is one that is gone from elsewhere. Each is found once.
func (f formerLines) moved(text string) bool {
	digest := digestOf(text)
	f.gone[digest]--
	return f.gone[digest] >= 0
}

// began reports whether a line with the same text began in one of the line's rows: blank rows may
// have become part of it, or no longer be.
func (f formerLines) began(line textLine, shift int) bool {
	digest := digestOf(line.text)
	for n := line.first; n < line.end; n++ {
		if f.begin[n+shift] == digest {
			return true
		}
	}
	return false
}
