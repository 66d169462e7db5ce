package tmux

import (
	"encoding/binary"
	"errors"
)

// markVersion is that of the binary form of a Mark.
const markVersion = 1

// MarshalBinary returns the mark in a form for [Mark.UnmarshalBinary]: about eight bytes for each
// row of the screen.
func (m *Mark) MarshalBinary() ([]byte, error) {
	b := []byte{markVersion}
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	number := func(all ...int) {
		for _, n := range all {
			b = binary.AppendVarint(b, int64(n))
		}
	}
	lines := func(all []markLine) {
		number(len(all))
		last := 0
		for _, l := range all {
			number(l.first-last, l.end-l.first)
			last = l.first
			b = binary.LittleEndian.AppendUint64(b, l.digest)
		}
	}
	text(string(m.Pane))
	text(m.PID)
	text(m.typed)
	flags := 0
	for i, is := range []bool{m.alternate, m.counted, m.cut, m.mixed} {
		if is {
			flags |= 1 << i
		}
	}
	number(flags, m.width, m.height, m.history, m.limit, m.cursor, m.grown, int(m.generation), int(m.added), int(m.collected))
	lines(m.lines)
	lines(m.alt)
	return b, nil
}

// UnmarshalBinary reads what [Mark.MarshalBinary] returned. It rejects everything else, but cannot
// know whether a Mark that it reads is of the pane that it names.
func (m *Mark) UnmarshalBinary(data []byte) error {
	broken := false
	number := func() int {
		n, size := binary.Varint(data)
		if size <= 0 || n < -1<<40 || n > 1<<40 {
			broken, data = true, nil
			return 0
		}
		data = data[size:]
		return int(n)
	}
	text := func() string {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			broken, data = true, nil
			return ""
		}
		s := string(data[size:][:n])
		data = data[size+int(n):]
		return s
	}
	lines := func() []markLine {
		n := number()
		if n < 0 || n > len(data)/10 {
			broken = broken || n != 0
			return nil
		}
		all := make([]markLine, n)
		last := 0
		for i := range all {
			last += number()
			all[i] = markLine{first: last, end: last + number()}
			if len(data) < 8 || all[i].end < last || last < 0 {
				broken = true
				return nil
			}
			all[i].digest = binary.LittleEndian.Uint64(data)
			data = data[8:]
		}
		return all
	}
	if len(data) == 0 || data[0] != markVersion {
		return errors.New("tmux: not a mark of this version")
	}
	data = data[1:]
	r := Mark{Pane: PaneID(text()), PID: text(), typed: text()}
	flags := number()
	r.alternate, r.counted, r.cut, r.mixed = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0
	r.width, r.height, r.history, r.limit, r.cursor, r.grown = number(), number(), number(), number(), number(), number()
	r.generation, r.added, r.collected = int64(number()), int64(number()), int64(number())
	r.lines, r.alt = lines(), lines()
	if broken || len(data) > 0 || !r.Pane.Valid() || min(r.width, r.height, r.history, r.limit, r.cursor, r.grown) < 0 || r.grown > mostRows {
		return errors.New("tmux: a broken mark")
	}
	*m = r
	return nil
}
