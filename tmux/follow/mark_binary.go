package follow

import (
	"encoding/binary"
	"errors"
	"strconv"

	"tmuxmcp/tmux"
)

// markVersion is the version of the binary form of a Mark.
const markVersion = 4

// MarshalBinary returns the mark in a form for [Mark.UnmarshalBinary]: about eight bytes
// for each row of the screen.
func (m *Mark) MarshalBinary() ([]byte, error) {
	b := []byte{markVersion}
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	number := func(all ...int) {
		for _, n := range all {
			b = binary.AppendVarint(b, int64(n))
		}
	}
	rows := func(all []uint64) {
		number(len(all))
		for _, d := range all {
			b = binary.LittleEndian.AppendUint64(b, d)
		}
	}
	text(string(m.Pane))
	if m.PID == 0 {
		text("")
	} else {
		text(strconv.Itoa(m.PID))
	}
	text(m.typed)
	flags := 0
	for i, is := range []bool{m.alternate, m.counted, m.mixed} {
		if is {
			flags |= 1 << i
		}
	}
	number(flags, m.width, m.height, m.history, m.limit, m.cursor, m.grown, int(m.generation), int(m.added), int(m.collected), m.rows.first, m.far)
	rows([]uint64{m.farDigest})
	for _, known := range [][]uint64{m.rows.digest, m.rows.long, m.alt.digest, m.alt.long} {
		rows(known)
	}
	return b, nil
}

// UnmarshalBinary reads what [Mark.MarshalBinary] returned. It rejects everything else, but
// cannot know whether the mark really is of the pane that it names.
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
	rows := func() []uint64 {
		n := number()
		if n < 0 || n > len(data)/8 {
			broken = true
			return nil
		}
		all := make([]uint64, n)
		for i := range all {
			all[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		data = data[8*n:]
		return all
	}
	if len(data) == 0 || data[0] != markVersion {
		return errors.New("tmux: not a mark of this version")
	}
	data = data[1:]
	r := Mark{Pane: tmux.PaneID(text())}
	if pid := text(); pid != "" {
		var err error
		if r.PID, err = strconv.Atoi(pid); err != nil || r.PID <= 0 {
			return errors.New("tmux: a broken mark")
		}
	}
	r.typed = text()
	flags := number()
	r.alternate, r.counted, r.mixed = flags&1 != 0, flags&2 != 0, flags&4 != 0
	r.width, r.height, r.history = number(), number(), number()
	r.limit, r.cursor, r.grown = number(), number(), number()
	r.generation, r.added, r.collected = int64(number()), int64(number()), int64(number())
	r.rows.first, r.far = number(), number()
	far := rows()
	r.rows.digest, r.rows.long, r.alt.digest, r.alt.long = rows(), rows(), rows(), rows()
	good := !broken && len(data) == 0 && len(far) == 1 && r.Pane.Valid() && min(r.width, r.height-1, r.history, r.limit, r.cursor, r.grown, r.far) >= 0 &&
		r.far <= r.rows.first && r.rows.first <= r.history && r.rows.end() == r.history+r.height && r.cursor < r.rows.end()
	if !good {
		return errors.New("tmux: a broken mark")
	}
	r.farDigest = far[0]
	*m = r
	return nil
}
