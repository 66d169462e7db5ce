package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"tmuxmcp/internal/reading"
	"tmuxmcp/internal/test/testtool"
)

// A snapshot never shows part of a transaction, while a writer commits, checkpoints and starts
// its log again as fast as it can.
func TestConsistent(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]string{
		"checkpoints by itself": "",
		"passive":               "PRAGMA wal_checkpoint(PASSIVE);",
		"restart":               "PRAGMA wal_checkpoint(RESTART);",
		"truncate":              "PRAGMA wal_checkpoint(TRUNCATE);",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t, 512)
			w.do("CREATE TABLE a(n INT, pad TEXT); CREATE TABLE b(n INT, pad TEXT);" +
				"WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM i WHERE i<40) INSERT INTO a SELECT 0, printf('%.*c',i*10,'x') FROM i; INSERT INTO b SELECT * FROM a;" +
				"PRAGMA wal_autocheckpoint=300;")
			files := w.files()

			// Each transaction makes another number of all rows, in both tables, and has some more rows.
			stop, stopped := make(chan bool), make(chan error, 1)
			go func() {
				for n := 1; ; n++ {
					select {
					case <-stop:
						stopped <- nil
						return
					default:
					}
					sql := fmt.Sprintf("BEGIN; UPDATE a SET n=%[1]d; UPDATE b SET n=%[1]d; DELETE FROM a WHERE rowid>40; DELETE FROM b WHERE rowid>40;", n)
					for range n % 4 {
						sql += fmt.Sprintf("INSERT INTO a VALUES(%[1]d,'%[2]s'); INSERT INTO b VALUES(%[1]d,'%[2]s');", n, strings.Repeat("y", 1500))
					}
					sql += "COMMIT;"
					if n%5 == 0 {
						sql += between
					}
					if _, err := io.WriteString(w.in, ".output /dev/null\n"+sql+"\n"); err != nil {
						stopped <- err
						return
					}
				}
			}()
			seen := map[int64]bool{}
			busy := 0
			enough := testtool.Size(100, 300) / testtool.RaceFactor
			for len(seen) < enough && busy < 3000 {
				var rows []int64
				err := readFiles(files, plenty, func(s *Snapshot) error {
					rows = nil
					for _, table := range []string{"a", "b"} {
						for row, err := range s.Rows(Query{Table: table, Columns: []string{"n", "pad"}}) {
							if err != nil {
								return err
							}
							rows = append(rows, row[0].(int64))
						}
					}
					return nil
				})
				if err != nil {
					if !strings.Contains(err.Error(), "tries") {
						t.Errorf("%v", err)
						break
					}
					busy++
					continue
				}
				if n := 2 * (40 + rows[0]%4); int64(len(rows)) != n {
					t.Errorf("%d rows in transaction %d, want %d", len(rows), rows[0], n)
				}
				for _, n := range rows {
					if n != rows[0] {
						t.Errorf("rows of transactions %d and %d in one snapshot", rows[0], n)
						break
					}
				}
				seen[rows[0]] = true
				if t.Failed() {
					break
				}
			}
			close(stop)
			if err := <-stopped; err != nil {
				t.Error(err)
			}
			t.Logf("%d transactions seen, %d times no snapshot", len(seen), busy)
			if len(seen) < enough {
				t.Errorf("only %d transactions seen", len(seen))
			}
		})
	}
}

// What happens between reading two tables makes Read begin again only if it has overwritten
// the snapshot.
func TestOverwritten(t *testing.T) {
	t.Parallel()
	const change = "BEGIN; UPDATE a SET n=2; UPDATE b SET n=2; COMMIT;"
	for _, c := range []struct {
		before, between string
		reads           int
	}{
		{"", "", 1},
		{"", change, 1},
		{"", "BEGIN; UPDATE a SET n=2;", 1},
		{"", "PRAGMA wal_checkpoint(PASSIVE);", 1},
		{"", "PRAGMA wal_checkpoint(RESTART);", 1},
		{"", "PRAGMA wal_checkpoint(TRUNCATE);", 2},
		{"", change + "PRAGMA wal_checkpoint(PASSIVE);", 2},
		{"", change + "PRAGMA wal_checkpoint(TRUNCATE);", 2},
		{"PRAGMA wal_checkpoint(PASSIVE);", "", 1},
		{"PRAGMA wal_checkpoint(PASSIVE);", change, 2}, // begins the log again
		{"PRAGMA wal_checkpoint(TRUNCATE);", change, 1},
		{"PRAGMA wal_checkpoint(TRUNCATE);", change + "PRAGMA wal_checkpoint(PASSIVE);", 2},
	} {
		w := newWriter(t, 512)
		w.do("CREATE TABLE a(n INT); CREATE TABLE b(n INT); INSERT INTO a VALUES(1); INSERT INTO b VALUES(1);" + c.before)
		reads := 0
		var a, b [][]any
		err := readFiles(w.files(), plenty, func(s *Snapshot) (err error) {
			reads++
			if a, err = collect(s, Query{Table: "a", Columns: []string{"n"}}); err != nil {
				return err
			}
			if reads == 1 {
				w.do(c.between)
			}
			b, err = collect(s, Query{Table: "b", Columns: []string{"n"}})
			return err
		})
		if err != nil || reads != c.reads || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%q, %q: %v and %v after %d reads (%v), want %d", c.before, c.between, a, b, reads, err, c.reads)
		}
	}
}

// All tries together read no more than the budget.
func TestTriesShareTheBudget(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 512)
	w.do("CREATE TABLE a(n INT, pad TEXT); INSERT INTO a VALUES(1,printf('%.*c',20000,'x'));")
	reads := 0
	err := readFiles(w.files(), 100_000, func(s *Snapshot) error {
		reads++
		_, err := collect(s, Query{Table: "a", Columns: []string{"pad"}})
		w.do("UPDATE a SET n=n+1; PRAGMA wal_checkpoint(TRUNCATE);") // overwrites the snapshot
		return err
	})
	if !errors.Is(err, reading.ErrSpent) || reads < 2 || reads > 4 {
		t.Errorf("%v after %d tries", err, reads)
	}
}

func readFiles(files [3]*os.File, limit int64, read func(*Snapshot) error) error {
	return Read(reading.Within(context.Background(), limit), files[0], files[1], files[2], read)
}
