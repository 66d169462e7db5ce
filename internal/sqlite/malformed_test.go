package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/reading"
	"tmuxmcp/internal/test/testtool"
)

// A copyOf is the bytes of a database's files, or what became of them.
type copyOf struct{ db, wal, shm []byte }

func (w *writer) copy() (c copyOf) {
	w.t.Helper()
	for suffix, b := range map[string]*[]byte{"": &c.db, "-wal": &c.wal, "-shm": &c.shm} {
		var err error
		if *b, err = os.ReadFile(w.path + suffix); err != nil {
			w.t.Fatal(err)
		}
	}
	return c
}

// sample returns a small database whose pages are in both files.
func sample(t testing.TB, pageSize, rows int) copyOf {
	t.Helper()
	w := newWriter(t, pageSize)
	w.do(opencode)
	w.do("CREATE TABLE big(name TEXT, id INTEGER PRIMARY KEY, data BLOB, more TEXT);" + fill(rows, 1500))
	w.do("PRAGMA wal_checkpoint(TRUNCATE); UPDATE message SET data=data||'x' WHERE time_created%3=1;" +
		"INSERT INTO big VALUES('a',7,zeroblob(3000),'m'),(NULL,9,x'01',2.5);")
	return w.copy()
}

// seal gives the header of a wal-index the checksums that fit the rest and the log.
func (c copyOf) seal() {
	if len(c.shm) < 2*indexHeader {
		return
	}
	frames := int64(native.Uint32(c.shm[16:]))
	if at := logHeader + (frames-1)*int64(frameHeader+pageSize(native.Uint16(c.shm[14:]))); frames > 0 && at+frameHeader <= int64(len(c.wal)) {
		native.PutUint32(c.shm[24:], big.Uint32(c.wal[at+16:]))
		native.PutUint32(c.shm[28:], big.Uint32(c.wal[at+20:]))
	}
	sum := checksum(c.shm[:40])
	native.PutUint32(c.shm[40:], sum[0])
	native.PutUint32(c.shm[44:], sum[1])
	copy(c.shm[indexHeader:], c.shm[:indexHeader])
}

// explore reads all that can be read, and returns how many rows that were.
func (c copyOf) explore(limit int64) (rows int, err error) {
	err, changed := try(reading.Within(context.Background(), limit), bytes.NewReader(c.db), bytes.NewReader(c.wal), bytes.NewReader(c.shm), func(s *Snapshot) error {
		objects, err := s.schema()
		if err != nil {
			return err
		}
		var returned int64
		query := func(q Query) error {
			for row, err := range s.Rows(q) {
				if err != nil {
					return err
				}
				rows++
				for _, v := range row {
					switch v := v.(type) {
					case string:
						returned += int64(len(v))
					case []byte:
						returned += int64(len(v))
					}
				}
			}
			return nil
		}
		var failed error
		for _, o := range objects {
			t, err := s.table(o.table)
			if err != nil {
				failed = err
				continue
			}
			q := Query{Table: o.table, Columns: t.columns}
			if o.kind == "index" {
				q.Index = parseIndex(o.sql)
				q.Key, q.Descending = "ses_1", true
			}
			if err := query(q); err != nil {
				failed = err
			}
		}
		if returned > limit {
			panic("more than the limit")
		}
		return failed
	})
	if changed != nil {
		err = changed
	}
	return rows, err
}

// A malformed file leads to errors or other rows, not to a panic, or to reading without end.
func TestMalformed(t *testing.T) {
	t.Parallel()
	whole := sample(t, 512, 20)
	want, err := whole.explore(plenty)
	if err != nil || want < 60 {
		t.Fatalf("%d rows of the sample: %v", want, err)
	}
	errs := map[string]int{}
	attempt := func(c copyOf) {
		rows, err := c.explore(1 << 20)
		if err != nil {
			errs[err.Error()]++
		} else if rows != want {
			errs["another number of rows"]++
		}
	}
	for _, part := range []int{0, 1, 2} {
		bytesOf := func(c *copyOf) *[]byte { return []*[]byte{&c.db, &c.wal, &c.shm}[part] }
		n := len(*bytesOf(&whole))
		if part == 2 {
			n = 1000 // then the hash table comes, and nothing
		}
		for i := 0; i < n; i += testtool.Size(41, 1) * testtool.RaceFactor {
			for _, mask := range []byte{0xff, 1, 0x80} {
				c := whole
				c.shm = slices.Clone(c.shm[:1000])
				(*bytesOf(&c))[i] ^= mask
				if part == 2 && mask == 1 {
					attempt(c)
				}
				c.seal()
				attempt(c)
				if part < 2 {
					(*bytesOf(&c))[i] ^= mask
				}
			}
		}
		for i := 0; i < n; i += testtool.Size(211, 37) {
			c := whole
			*bytesOf(&c) = (*bytesOf(&c))[:i]
			attempt(c)
		}
	}
	if len(errs) < 10 {
		t.Errorf("only %d different errors", len(errs))
	}
	if testing.Verbose() {
		for text, n := range errs {
			t.Logf("%6d %.100s", n, text)
		}
	}
}

// A b-tree ends even if its pages are their own children, or all children of a page the same.
func TestCycle(t *testing.T) {
	t.Parallel()
	whole := sample(t, 512, 1)
	// It all is in the database, of which the wal-index knows no size.
	whole.wal = nil
	native.PutUint32(whole.shm[16:], 0)
	native.PutUint32(whole.shm[20:], 0)
	whole.seal()
	for _, c := range []struct {
		pages, last int // of the chain of pages, and the number in it of the last one's child
		want        error
	}{{1, 0, errMalformed}, {15, 15, reading.ErrSpent}, {25, 25, errMalformed}} {
		files := whole
		files.db = slices.Clone(whole.db)
		first := len(files.db)/512 + 1
		for i := range c.pages {
			child := first + i + 1
			if i == c.pages-1 {
				child = first + c.last
			}
			page := make([]byte, 512)
			page[0] = 5 // an interior page of a table, with 100 times the same cell
			big.PutUint16(page[3:], 100)
			big.PutUint32(page[8:], uint32(child))
			for i := range 100 {
				big.PutUint16(page[12+2*i:], 500)
			}
			big.PutUint32(page[500:], uint32(child))
			files.db = append(files.db, page...)
		}
		leaf := make([]byte, 512)
		leaf[0] = 13
		files.db = append(files.db, leaf...)
		err, changed := try(reading.Within(t.Context(), 1<<20), bytes.NewReader(files.db), nil, bytes.NewReader(files.shm), func(s *Snapshot) error {
			return s.walk(uint32(first), 1, &walk{})
		})
		if err != c.want || changed != nil {
			t.Errorf("%+v: %v (%v)", c, err, changed)
		}
	}
}

// Any bytes end with rows or an error.
func FuzzRead(f *testing.F) {
	for _, pageSize := range []int{512, 1024} {
		c := sample(f, pageSize, 2)
		f.Add(c.db, c.wal, c.shm[:1024])
		native.PutUint32(c.shm[16:], 0)
		f.Add(c.db, []byte{}, c.shm[:136])
	}
	f.Fuzz(func(t *testing.T, db, wal, shm []byte) {
		c := copyOf{db, wal, slices.Clone(shm)}
		c.seal()
		c.explore(1 << 18)
	})
}

func FuzzParse(f *testing.F) {
	f.Add(opencode)
	f.Add("CREATE TABLE v(a, [b b], \"c\"\"c\" BLOB /* , no */, `d``d` DEFAULT (1+(2)) -- nor, this\n, 'e' DEFAULT 'x, )' UNIQUE, PRIMARY KEY(a)) WITHOUT ROWID")
	f.Add("CREATE UNIQUE INDEX i ON t(a ASC, \"b\", c COLLATE nocase) WHERE (a>1)")
	f.Fuzz(func(t *testing.T, sql string) {
		parseIndex(sql)
		if p, err := parseTable(sql); err == nil && len(p.columns) != len(p.bytewise) {
			t.Error("columns without an order")
		}
	})
}

// Only so much is read as the limit allows, and values that nobody asks for cost little.
func TestLimit(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 4096)
	w.do("CREATE TABLE t(a TEXT, huge BLOB, z TEXT); INSERT INTO t VALUES('first',zeroblob(30000000),'last');")
	files := w.files()
	read := func(limit int64, columns ...string) (rows [][]any, err error) {
		err = readFiles(files, limit, func(s *Snapshot) (err error) {
			rows, err = collect(s, Query{Table: "t", Columns: columns})
			return err
		})
		return rows, err
	}
	for range 2 {
		if rows, err := read(1<<20, "a", "z"); err != nil || fmt.Sprint(rows) != "[[first last]]" {
			t.Errorf("%v (%v)", rows, err)
		}
		if _, err := read(40_000_000, "huge"); err == nil || !strings.Contains(err.Error(), "limit") {
			t.Errorf("huge value: %v", err)
		}
		if rows, err := read(70_000_000, "huge"); err != nil || len(rows[0][0].([]byte)) != 30_000_000 {
			t.Errorf("huge value: %v", err)
		}
		if _, err := read(8000, "a"); err == nil || !strings.Contains(err.Error(), "limit") {
			t.Errorf("small limit: %v", err)
		}
		w.do("PRAGMA wal_checkpoint(TRUNCATE);")
	}
}
