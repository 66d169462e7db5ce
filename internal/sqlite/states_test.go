package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// first returns the only value of a table's only row.
func first(files [3]*os.File) (v any, err error) {
	err = readFiles(files, plenty, func(s *Snapshot) error {
		for row, err := range s.Rows(Query{Table: "t", Columns: []string{"a"}}) {
			if err != nil {
				return err
			}
			v = row[0]
		}
		return nil
	})
	return v, err
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if !strings.Contains(fmt.Sprint(err), text) {
		t.Errorf("error %v, want %q", err, text)
	}
}

// A database that its last user has closed is not read by its old files: those of the next
// user would have to be looked at.
func TestClosed(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"DELETE", "WAL"} {
		w := newWriter(t, 512)
		w.do("CREATE TABLE t(a); INSERT INTO t VALUES(1);")
		files := w.files()
		if v, err := first(files); v != int64(1) || err != nil {
			t.Fatalf("%v (%v)", v, err)
		}
		w.do("PRAGMA journal_mode=DELETE; PRAGMA journal_mode=" + mode + "; UPDATE t SET a=2; PRAGMA wal_checkpoint;")
		_, err := first(files)
		wantError(t, err, "has closed it")
		if mode == "WAL" {
			if v, err := first(w.files()); v != int64(2) || err != nil {
				t.Errorf("%v (%v)", v, err)
			}
		}
	}
}

// The files of a program that was killed are read, and after the next one has recovered the
// database, its.
func TestKilled(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 512)
	w.do("CREATE TABLE t(a); INSERT INTO t VALUES(1); BEGIN; UPDATE t SET a=2;")
	if err := w.process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-w.done
	files := w.files()
	if v, err := first(files); v != int64(1) || err != nil {
		t.Fatalf("%v (%v)", v, err)
	}
	next := startWriter(t, w.path)
	next.do("SELECT * FROM t;")
	if v, err := first(files); v != int64(1) || err != nil {
		t.Fatalf("%v (%v)", v, err)
	}
	next.do("UPDATE t SET a=3; PRAGMA wal_checkpoint(TRUNCATE);")
	if v, err := first(files); v != int64(3) || err != nil {
		t.Fatalf("%v (%v)", v, err)
	}
}

// A program that only reads makes a wal-index that says nothing, not even a page size.
func TestOnlyRead(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 65536)
	w.do("CREATE TABLE t(a); INSERT INTO t VALUES('x');")
	w.close()
	next := startWriter(t, w.path)
	next.do("SELECT * FROM t;")
	if v, err := first(next.files()); v != "x" || err != nil {
		t.Errorf("%v (%v)", v, err)
	}
}

func TestReservedBytes(t *testing.T) {
	t.Parallel()
	w := startWriter(t, t.TempDir()+"/reserved.db")
	w.do(".filectrl reserve_bytes 24")
	w.do("PRAGMA page_size=512; PRAGMA journal_mode=WAL; VACUUM;")
	w.do(opencode + fill(500, 1000))
	if c := w.copy(); c.db[20] != 24 {
		t.Fatalf("%d bytes reserved", c.db[20])
	}
	w.sameOpencode()
}

func TestNotReadable(t *testing.T) {
	t.Parallel()
	w := startWriter(t, t.TempDir()+"/utf16.db")
	w.do("PRAGMA encoding='UTF-16'; PRAGMA journal_mode=WAL; CREATE TABLE t(a);")
	_, err := first(w.files())
	wantError(t, err, "UTF-8")

	for _, c := range []struct {
		what   string
		change func(*copyOf)
	}{
		{"not a SQLite database", func(c *copyOf) { c.db[3] = 'x' }},
		{"not in WAL mode", func(c *copyOf) { c.db[19] = 1 }},
		{"EOF", func(c *copyOf) { c.shm = nil }},
		{"EOF", func(c *copyOf) { c.wal = nil }},
		{"EOF", func(c *copyOf) { c.wal = c.wal[:len(c.wal)-1600] }},
		{"not ready", func(c *copyOf) { clear(c.shm) }},
		{"not ready", func(c *copyOf) { c.shm[16]++ }},
		{"not ready", func(c *copyOf) { c.shm[60]++ }},
		{"version 3007001", func(c *copyOf) { c.shm[0]++; c.seal() }},
		{"does not fit", func(c *copyOf) { c.shm[32]++; c.seal() }},
		{"does not fit", func(c *copyOf) { native.PutUint32(c.shm[20:], 1000); c.seal() }},
		{"does not fit", func(c *copyOf) { c.wal[len(c.wal)-512-frameHeader+16]++ }},
		{"overwritten", func(c *copyOf) { native.PutUint32(c.shm[attemptedAt:], 1000) }},
	} {
		files := sample(t, 512, 5)
		c.change(&files)
		_, err := files.explore(plenty)
		wantError(t, err, c.what)
	}
}

// What read returns comes back, if the snapshot counts.
func TestErrorOfTheCaller(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 512)
	w.do("CREATE TABLE t(a);")
	own := errors.New("own")
	calls := 0
	if err := readFiles(w.files(), plenty, func(*Snapshot) error { calls++; return own }); err != own || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
