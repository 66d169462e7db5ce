package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// SQLite's own bounds.
const (
	maxDepth  = 20    // of a b-tree
	maxHeader = 98307 // bytes of a row that say what its values are
)

// errStop ends a walk that has seen enough.
var errStop = errors.New("stop")

// A node is a page of a b-tree. One that is no leaf has a child before each cell and one after
// the last.
type node struct {
	page        []byte
	index, leaf bool
	cells       []byte // where each cell begins
	right       uint32 // the child after the last cell
}

func (n *node) len() int { return len(n.cells) / 2 }

// A cell is a row of a table or of an index, or a bound between two children.
type cell struct {
	child uint32
	rowid int64 // in a table
	payload
}

// A payload is the bytes of a row: some in its page, the others in a chain of pages.
type payload struct {
	size  int64
	local []byte
	next  uint32 // first page of the chain
}

// node returns a page of an index or a table.
func (s *Snapshot) node(no uint32, index bool) (*node, error) {
	page, err := s.page(no)
	if err != nil {
		return nil, err
	}
	n := &node{page: page[:s.usable], index: index}
	head := n.page
	if no == 1 {
		head = head[100:]
	}
	kind, begin := byte(5), 8 // of a table
	if index {
		kind = 2
	}
	if n.leaf = head[0] == kind|8; !n.leaf {
		n.right, begin = big.Uint32(head[8:]), 12
	}
	size := 2 * int(big.Uint16(head[3:]))
	if head[0]|8 != kind|8 || begin+size > len(head) {
		return nil, errMalformed
	}
	n.cells = head[begin : begin+size]
	return n, nil
}

// cell returns a cell of a page. The one after the last has only a child.
func (s *Snapshot) cell(n *node, i int) (c cell, err error) {
	if i == n.len() {
		return cell{child: n.right}, nil
	}
	at := int(big.Uint16(n.cells[2*i:]))
	if at >= len(n.page) {
		return c, errMalformed
	}
	b, ok := n.page[at:], true
	number := func() (v uint64) {
		if ok {
			v, b, ok = varint(b)
		}
		return v
	}
	if !n.leaf {
		if len(b) < 4 {
			return c, errMalformed
		}
		c.child, b = big.Uint32(b), b[4:]
	}
	most := (s.usable-12)*64/255 - 23 // of a payload that has no chain
	if n.index || n.leaf {
		c.size = int64(number())
	}
	if !n.index {
		c.rowid = int64(number())
		most = s.usable - 35
	}
	if !ok || c.size < 0 {
		return c, errMalformed
	}
	local := int(min(c.size, int64(most)))
	if c.size > int64(most) {
		least := (s.usable-12)*32/255 - 23
		if local = least + int((c.size-int64(least))%int64(s.usable-4)); local > most {
			local = least
		}
		if len(b) < local+4 {
			return c, errMalformed
		}
		c.next = big.Uint32(b[local:])
	}
	if len(b) < local {
		return c, errMalformed
	}
	c.local = b[:local]
	return c, nil
}

// varint decodes a number of one to nine bytes.
func varint(b []byte) (v uint64, rest []byte, ok bool) {
	for i, c := range b {
		if i == 8 {
			return v<<8 | uint64(c), b[9:], true
		}
		if v = v<<7 | uint64(c&0x7f); c < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}

// search returns the first cell of a page for which found returns true.
func (s *Snapshot) search(n *node, found func(*cell) (bool, error)) (int, error) {
	var failed error
	i := sort.Search(n.len(), func(i int) bool {
		c, err := s.cell(n, i)
		ok := false
		if err == nil {
			ok, err = found(&c)
		}
		failed = cmp.Or(failed, err)
		return ok
	})
	return i, failed
}

// A walk visits the cells of a b-tree in their order: all of a table, or those of an index
// whose first value is the key.
type walk struct {
	index      bool
	key        string
	descending bool
	visit      func(*cell) error
}

func (s *Snapshot) walk(no uint32, depth int, w *walk) error {
	if depth > maxDepth {
		return errMalformed
	}
	n, err := s.node(no, w.index)
	if err != nil {
		return err
	}
	first, end := 0, n.len()
	if w.index {
		for least, bound := range []*int{&first, &end} {
			*bound, err = s.search(n, func(c *cell) (bool, error) {
				order, err := s.compare(&c.payload, w.key)
				return order >= least, err
			})
			if err != nil {
				return err
			}
		}
	}
	// Steps with even numbers are children, the others the cells after them.
	for step := 2 * first; step <= 2*end; step++ {
		at := step
		if w.descending {
			at = 2*first + 2*end - step
		}
		if at%2 == 0 && n.leaf || at%2 == 1 && !n.leaf && !n.index {
			continue
		}
		// Children may be one page and cells may share their bytes, so what is read is no
		// bound of how many there are.
		if err := s.budget.Take(64); err != nil {
			return err
		}
		c, err := s.cell(n, at/2)
		switch {
		case err != nil:
		case at%2 == 0:
			err = s.walk(c.child, depth+1, w)
		default:
			err = w.visit(&c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// seek returns the row of a table with the given id.
func (s *Snapshot) seek(no uint32, rowid int64) (cell, error) {
	for range maxDepth {
		n, err := s.node(no, false)
		if err != nil {
			return cell{}, err
		}
		i, err := s.search(n, func(c *cell) (bool, error) { return c.rowid >= rowid, nil })
		if err != nil {
			return cell{}, err
		}
		c, err := s.cell(n, i)
		if err != nil {
			return cell{}, err
		}
		if n.leaf {
			if i == n.len() || c.rowid != rowid {
				return cell{}, errMalformed
			}
			return c, nil
		}
		no = c.child
	}
	return cell{}, errMalformed
}

// bytes returns n bytes of a payload, which the caller must not change. Of pages before them
// only the link to the next is read.
func (s *Snapshot) bytes(p *payload, at, n int64) ([]byte, error) {
	if n > p.size-at {
		return nil, errMalformed
	}
	if err := s.budget.Take(n); err != nil {
		return nil, err
	}
	if end := at + n; end <= int64(len(p.local)) {
		return p.local[at:end], nil
	}
	out := make([]byte, 0, n)
	if at < int64(len(p.local)) {
		out = append(out, p.local[at:]...)
	}
	room := int64(s.usable - 4)
	page := p.next
	for begin := int64(len(p.local)); ; begin += room {
		from, to := max(0, at-begin), min(room, at+n-begin)
		if from >= room {
			to = 0
		}
		b, err := s.start(page, int(4+to))
		if err != nil {
			return nil, err
		}
		if from < to {
			out = append(out, b[4+from:]...)
		}
		if int64(len(out)) == n {
			return out, nil
		}
		page = big.Uint32(b)
	}
}

// A field is where a value of a row is.
type field struct {
	kind     uint64
	at, size int64
}

func (f field) text() bool { return f.kind >= 13 && f.kind%2 == 1 }

func (s *Snapshot) fields(p *payload) ([]field, error) {
	b, err := s.bytes(p, 0, min(9, p.size))
	if err != nil {
		return nil, err
	}
	size, first, ok := varint(b)
	if !ok || size > maxHeader || int(size) < len(b)-len(first) {
		return nil, errMalformed
	}
	head, err := s.bytes(p, 0, int64(size))
	if err != nil {
		return nil, err
	}
	head = head[len(b)-len(first):]
	fields := make([]field, 0, len(head))
	for at := int64(size); len(head) > 0; {
		f := field{at: at}
		if f.kind, head, ok = varint(head); !ok || f.kind == 10 || f.kind == 11 {
			return nil, errMalformed
		}
		if f.size = int64(f.kind-12) / 2; f.kind < 12 {
			f.size = [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[f.kind]
		}
		if f.size < 0 || f.size > p.size-at {
			return nil, errMalformed
		}
		at += f.size
		fields = append(fields, f)
	}
	return fields, nil
}

func (s *Snapshot) value(p *payload, f field) (any, error) {
	b, err := s.bytes(p, f.at, f.size)
	switch {
	case err != nil || f.kind == 0:
		return nil, err
	case f.text():
		return string(b), nil
	case f.kind >= 12:
		return slices.Clone(b), nil
	case f.kind >= 8:
		return int64(f.kind - 8), nil
	}
	v := int64(int8(b[0]))
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	if f.kind == 7 {
		return math.Float64frombits(uint64(v)), nil
	}
	return v, nil
}

// compare compares the first value of a row with a text, bytewise. Texts come after numbers
// and before blobs.
func (s *Snapshot) compare(p *payload, text string) (int, error) {
	fields, err := s.fields(p)
	if err != nil {
		return 0, err
	}
	if len(fields) == 0 {
		return 0, errMalformed
	}
	f := fields[0]
	if !f.text() {
		return cmp.Compare(f.kind, 11), nil
	}
	b, err := s.bytes(p, f.at, min(f.size, int64(len(text))))
	return cmp.Or(cmp.Compare(string(b), text[:len(b)]), cmp.Compare(f.size, int64(len(text)))), err
}

// row returns the values of the given columns of a row.
func (s *Snapshot) row(c *cell, t *table, columns []int) ([]any, error) {
	fields, err := s.fields(&c.payload)
	if err != nil {
		return nil, err
	}
	row := make([]any, len(columns))
	for i, column := range columns {
		if column < len(fields) { // else it was added later
			if row[i], err = s.value(&c.payload, fields[column]); err != nil {
				return nil, fmt.Errorf("column %s: %w", t.columns[column], err)
			}
		}
		if row[i] == nil && column == t.alias {
			row[i] = c.rowid
		}
	}
	return row, nil
}
