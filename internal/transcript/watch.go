package transcript

// Watch has see get each line of the output as the pane shows it: when the program has
// written it, and not only when it has left the screen, after which it can change no more.
//
// A line is seen when the cursor leaves it or goes back in it, since whatever overwrites,
// erases or clears it comes after that, however close. So a progress bar is seen in each of
// its states, and a line that is drawn over, or cleared with its screen, before anybody could
// have read it. Looking at the rows after each piece would miss those, and find half a line
// at the end of every piece. Colors and what moves the cursor to the right do not end a line.
// One that the cursor is still in, such as a prompt, is seen at [Transcript.Show]. So see may
// get a line several times, and parts of it.
//
// What is drawn on the alternate screen is seen too, row by row, as far as a transcript knows how
// full-screen programs draw, but it is not output.
//
// A line takes time in proportion to its length each time it is seen. A long one in which the
// cursor goes back again and again is seen less often.
func (t *Transcript) Watch(see func(line string)) {
	credit := maxLine
	t.see, t.credit = see, &credit
}

// Show passes on the line that the cursor is in. Call it when no more output has come.
func (t *Transcript) Show() {
	if t.show(); t.full != nil {
		t.full.show()
	}
}

const (
	// seenBytes is how many bytes of lines may be seen for each byte of output.
	seenBytes = 64
	// mostCredit bounds how many can be saved up; there are some at the beginning.
	mostCredit = 16 * maxLine
)

// show passes on the cursor's line, if it was written to.
func (t *Transcript) show() {
	if t.see == nil || !t.unseen {
		return
	}
	from := t.row
	for from > 0 && t.screen[from-1].wrapped {
		from--
	}
	joins, size := from == 0 && t.joins, (t.row-from+1)*t.columns
	if joins {
		size += len(t.line)
	}
	if *t.credit < size {
		return
	}
	*t.credit -= size
	if t.unseen, t.seen = false, t.seen[:0]; joins {
		t.seen = append(t.seen, t.line...)
	}
	for y := from; y < t.rows; y++ {
		if t.seen = t.screen[y].appendTo(t.seen); !t.screen[y].wrapped {
			break
		}
	}
	t.see(string(t.seen))
}

// switched begins or ends the alternate screen.
func (t *Transcript) switched() {
	if t.full != nil {
		t.full.show()
	}
	if t.full = nil; t.alternate {
		t.full = New(t.columns, t.rows, 0, func(string) {})
		t.full.see, t.full.credit = t.see, t.credit
	}
}
