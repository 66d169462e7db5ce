// Package sqlite reads a SQLite database that another program has open and writes. It takes
// no lock and changes no file: what it does cannot disturb that program.
//
// # What it reads
//
// It reads databases in WAL mode whose text is in UTF-8, from three files: the database, the
// write-ahead log (-wal) and the wal-index (-shm), which https://sqlite.org/fileformat2.html
// and https://sqlite.org/walformat.html describe. There is no SQL: [Snapshot.Rows] returns all
// rows of a table, or those that an index has for a text.
//
// A database without -wal and -shm cannot be read: no program has it open, or one that is in
// exclusive locking mode. If such a program opens a database beside which a killed program has
// left a -shm, nothing shows that this -shm is out of date.
//
// # Why a snapshot is consistent
//
// The wal-index says how many frames of the log are committed. A page is read from its last
// frame among them or, if it has none, from the database file. Later commits only add frames.
// Two things can overwrite what a snapshot consists of: a checkpoint that copies later frames
// into the database file, and a log that begins again. Before the first, SQLite raises
// nBackfillAttempted in the wal-index (since 3.10), and before the second it replaces the salts
// there. [Read] checks both after all has been read; so does SQLite before it reads an old
// snapshot again (sqlite3_snapshot_open). It also checks that the -shm has not been removed,
// which the last program that closes a database does before another can open it.
//
// # Trust
//
// The files may hold anything. Reading malformed ones ends with an error or with wrong rows,
// and reads no more than the budget.
package sqlite

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"syscall"
	"time"

	"tmuxmcp/internal/reading"
)

// tries is how often a snapshot is tried, over about a quarter of a second.
const tries = 12

// Read calls read with a snapshot of a database, and again if another process has overwritten
// the snapshot meanwhile. What read has seen counts only if Read returns nil. The budget bounds
// what is read and returned, by all tries together.
//
// A process that has the same database open through SQLite must not use Read: closing the
// files would release SQLite's locks.
func Read(b *reading.Budget, db, wal, shm *os.File, read func(*Snapshot) error) error {
	var changed error
	for n := range tries {
		if n > 0 {
			// A process that is interrupted while it writes the wal-index needs time.
			if err := b.Pause(time.Millisecond << min(n, 5)); err != nil {
				return err
			}
		}
		var err error
		err, changed = try(b, db, wal, shm, read)
		if err := b.Err(); err != nil {
			return err
		}
		if changed != nil {
			continue
		}
		info, statErr := shm.Stat()
		if statErr != nil {
			return statErr
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Nlink == 0 {
			return errors.New("the program that used the database has closed it: open its files again")
		}
		return err
	}
	return fmt.Errorf("no snapshot of the database in %d tries: %w", tries, changed)
}

// try reads one snapshot. If changed is not nil, what was read and err do not count.
func try(b *reading.Budget, db, wal, shm io.ReaderAt, read func(*Snapshot) error) (err, changed error) {
	if err := b.Take(headers); err != nil {
		return err, nil
	}
	s := &Snapshot{db: db, wal: wal, shm: shm, budget: b, frames: map[uint32]int64{}, pages: map[uint32][]byte{}}
	if s.index, changed = readIndex(shm); changed != nil {
		return nil, changed
	}
	if err = s.open(); err == nil {
		err = read(s)
	}
	return err, s.holds()
}

// A Query selects rows of a table.
type Query struct {
	Table   string
	Columns []string // whose values make a row, in this order

	// Index has the first columns of an index. Rows are those whose value in the first of
	// them is the text Key, bytewise, in the order of the index. Without Index, all rows are
	// selected, in the order of their ids.
	Index []string
	Key   string

	Descending bool
}

// Rows returns rows, each with nil, an int64, float64, string or []byte for each column. A
// value that was never stored, because its column was added after the row, is nil, whatever
// the column's default is. A whole number in a column of type REAL may be an int64. Nothing
// follows an error.
//
// Rows refuses views, virtual tables, tables WITHOUT ROWID or with generated columns, and some
// that may have an INTEGER PRIMARY KEY in a form that it does not know. It does not use
// indexes that are partial, or have expressions, collations or descending columns, or come from
// a constraint.
func (s *Snapshot) Rows(q Query) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		if err := s.query(q, func(row []any) bool { return yield(row, nil) }); err != nil && err != errStop {
			yield(nil, err)
		}
	}
}

func (s *Snapshot) query(q Query, yield func([]any) bool) error {
	t, err := s.table(q.Table)
	if err != nil {
		return err
	}
	columns := make([]int, len(q.Columns))
	for i, name := range q.Columns {
		if columns[i] = indexFold(t.columns, name); columns[i] < 0 {
			return fmt.Errorf("table %s has no column %s", q.Table, name)
		}
	}
	visit := func(c *cell) error {
		row, err := s.row(c, t, columns)
		if err == nil && !yield(row) {
			err = errStop
		}
		return err
	}
	w := &walk{descending: q.Descending, visit: visit}
	if len(q.Index) == 0 {
		return s.walk(t.root, 1, w)
	}
	root, err := s.indexOf(t, q.Index)
	if err != nil {
		return err
	}
	w.index, w.key = true, q.Key
	w.visit = func(entry *cell) error {
		fields, err := s.fields(&entry.payload)
		if err != nil {
			return err
		}
		if len(fields) == 0 {
			return errMalformed
		}
		id, err := s.value(&entry.payload, fields[len(fields)-1])
		if err != nil {
			return err
		}
		rowid, ok := id.(int64)
		if !ok {
			return errMalformed
		}
		c, err := s.seek(t.root, rowid)
		if err != nil {
			return err
		}
		return visit(&c)
	}
	return s.walk(root, 1, w)
}
