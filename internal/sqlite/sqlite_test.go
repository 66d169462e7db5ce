package sqlite

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

const plenty = 1 << 30

// A writer is a sqlite3 that has a database open.
type writer struct {
	t       testing.TB
	path    string
	in      io.WriteCloser
	lines   *bufio.Scanner
	process *os.Process
	done    chan bool
}

// newWriter starts a sqlite3 with an empty database in WAL mode, which is not checkpointed
// unless the test does.
func newWriter(t testing.TB, pageSize int) *writer {
	t.Helper()
	w := startWriter(t, filepath.Join(t.TempDir(), "test.db"))
	w.do(fmt.Sprintf("PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0;", pageSize))
	return w
}

// startWriter starts a sqlite3 with a database.
func startWriter(t testing.TB, path string) *writer {
	t.Helper()
	w := &writer{t: t, path: path, done: make(chan bool)}
	cmd := exec.Command(testtool.Path(t, "sqlite3"), "-batch", "-init", "/dev/null", w.path)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = out
	w.in, err = cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.process = cmd.Process
	w.lines = bufio.NewScanner(in)
	go func() {
		defer close(w.done)
		cmd.Wait()
		in.Close()
		if errs.Len() > 0 {
			t.Errorf("sqlite3 says: %s", errs.String())
		}
	}()
	t.Cleanup(w.close)
	return w
}

// close ends sqlite3.
func (w *writer) close() {
	w.in.Close()
	<-w.done
}

// do returns what sqlite3 prints for some SQL. It does not flush what it prints into a pipe.
func (w *writer) do(sql string) []string {
	w.t.Helper()
	answer := w.path + ".answer"
	fmt.Fprintf(w.in, ".output %s\n%s\n.output\n.shell echo done\n", answer, sql)
	if !w.lines.Scan() {
		w.t.Fatalf("sqlite3 ended during %.200s", sql)
	}
	printed, err := os.ReadFile(answer)
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(printed)))
}

// files opens the files of the database.
func (w *writer) files() (files [3]*os.File) {
	w.t.Helper()
	for i, suffix := range []string{"", "-wal", "-shm"} {
		f, err := os.Open(w.path + suffix)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { f.Close() })
		files[i] = f
	}
	return files
}

// query returns the rows of one query.
func (w *writer) query(q Query) (rows [][]any, err error) {
	w.t.Helper()
	files := w.files()
	err = readFiles(files, plenty, func(s *Snapshot) error {
		rows, err = collect(s, q)
		return err
	})
	return rows, err
}

func collect(s *Snapshot, q Query) (rows [][]any, err error) {
	for row, err := range s.Rows(q) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// literal returns a value as SQL, as sqlite3's quote() does.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case []byte:
		return fmt.Sprintf("X'%X'", v)
	case float64:
		return fmt.Sprintf("%x", math.Float64bits(v))
	}
	return fmt.Sprint(v)
}

// same compares the rows of a query with what sqlite3 says.
func (w *writer) same(q Query, where string) {
	w.t.Helper()
	var parts []string
	for _, c := range q.Columns {
		parts = append(parts, "quote("+c+")")
	}
	want := w.do("SELECT " + strings.Join(parts, "||'|'||") + " FROM " + q.Table + " " + where + ";")
	rows, err := w.query(q)
	if err != nil {
		w.t.Fatalf("%+v: %v", q, err)
	}
	var got []string
	for _, row := range rows {
		var parts []string
		for _, v := range row {
			parts = append(parts, literal(v))
		}
		got = append(got, strings.Join(parts, "|")+"\n")
	}
	if !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				w.t.Fatalf("%+v: row %d is %.300s, want %.300s", q, i, got[i], want[i])
			}
		}
		w.t.Fatalf("%+v: %d rows, want %d", q, len(got), len(want))
	}
}

// opencode is a schema like the one of opencode.
const opencode = "CREATE TABLE `session` (\n\t`id` text PRIMARY KEY,\n\t`directory` text NOT NULL, `title` text, time_updated integer NOT NULL\n);" +
	"CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL," +
	" CONSTRAINT `fk_message_session` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE);" +
	"CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL, `data` text NOT NULL);" +
	"CREATE INDEX `message_session_idx` ON `message` (`session_id`,`time_created`,`id`);" +
	"CREATE INDEX `part_message_idx` ON `part` (`message_id`,`id`);"

// fill returns SQL that inserts messages of three sessions, and two parts for each.
func fill(messages, length int) string {
	return fmt.Sprintf("BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%d) "+
		"INSERT INTO message SELECT printf('msg_%%06d',i), printf('ses_%%d',i%%3), (i*7919)%%10007, i, "+
		"printf('{\"n\":%%d,\"é\":\"%%.*c\"}',i,(i*%d)%%1000*%d/1000,'x') FROM n;"+
		"INSERT INTO part SELECT id||'a', id, session_id, data FROM message UNION ALL SELECT id||'b', id, session_id, 'ü' FROM message;"+
		"INSERT INTO session SELECT DISTINCT session_id, '/home/'||session_id, NULL, 17 FROM message; COMMIT;", messages, 337, length)
}

var (
	messages = Query{Table: "message", Columns: []string{"id", "session_id", "time_created", "data"}}
	ofOne    = Query{Table: "message", Columns: []string{"data", "ID"}, Index: []string{"session_id", "time_created"}, Key: "ses_1"}
	parts    = Query{Table: "Part", Columns: []string{"id", "data"}, Index: []string{"message_id"}, Key: "msg_000001"}
	session  = Query{Table: "session", Columns: []string{"directory", "title", "time_updated"}}
)

func (w *writer) sameOpencode() {
	w.t.Helper()
	w.same(messages, "ORDER BY rowid")
	w.same(ofOne, "WHERE session_id='ses_1' ORDER BY time_created, id")
	w.same(parts, "WHERE message_id='msg_000001' ORDER BY id")
	w.same(session, "ORDER BY rowid")
	down, from := ofOne, messages
	down.Descending, from.Descending = true, true
	w.same(down, "WHERE session_id='ses_1' ORDER BY time_created DESC, id DESC")
	w.same(from, "ORDER BY rowid DESC")
	for _, key := range []string{"", "ses_", "ses_00", "zzz"} {
		down.Key = key
		w.same(down, "WHERE session_id='"+key+"'")
	}
}

// Rows are those that sqlite3 shows, for all sizes of pages and tables, wherever its pages
// are: in the log, in the database, or in both.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, pageSize := range []int{512, 1024, 4096, 65536} {
		for _, n := range []int{1, 100, testtool.Size(3000, 20000) / testtool.RaceFactor} {
			if n > 100 && pageSize != 512 && (pageSize != 4096 || !testtool.Full) {
				continue // the smaller the pages, the more the tree has of them
			}
			t.Run(fmt.Sprintf("%d rows in pages of %d", n, pageSize), func(t *testing.T) {
				t.Parallel()
				w := newWriter(t, pageSize)
				w.do(opencode)
				w.do(fill(n, 2400000/(n+200)))
				w.sameOpencode()
				for _, mode := range []string{"PASSIVE", "RESTART", "TRUNCATE"} {
					w.do("PRAGMA wal_checkpoint(" + mode + ");")
					w.sameOpencode()
					w.do("UPDATE message SET data=data||'" + mode + "' WHERE time_updated%5=1; DELETE FROM part WHERE id LIKE '%7b';")
					w.sameOpencode()
				}
				w.do("VACUUM;")
				w.sameOpencode()
			})
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 4096)
	w.do("CREATE TABLE v(a, [b b], \"c\"\"c\" BLOB /* , no, column ( */, `d``d` DEFAULT (1+(2)) -- nor, this\n, 'e' DEFAULT 'primary, )');")
	values := []string{"NULL", "0", "1", "-1", "127", "-128", "32767", "-32768", "8388607", "-8388608", "2147483647", "-2147483648",
		"140737488355327", "-140737488355328", "9223372036854775807", "-9223372036854775808", "'text'", "''", "'日本 ''x'''", "x''", "x'00ff'",
		"printf('%.*c',3900,'l')", "printf('%.*c',4061,'m')", "printf('%.*c',4062,'m')", "printf('%.*c',100000,'n')", "zeroblob(8182)"}
	for i := range values {
		row := make([]string, 5)
		for j := range row {
			row[j] = values[(i+j*7)%len(values)]
		}
		w.do("INSERT INTO v VALUES(" + strings.Join(row, ",") + ");")
	}
	w.same(Query{Table: "v", Columns: []string{"a", "e"}}, "")
	for _, columns := range [][]string{{"a", "b b", `c"c`, "d`d", "E"}, {"E", "d`d", `c"c`, "b b", "a"}} {
		rows, err := w.query(Query{Table: "v", Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		printed := w.do("SELECT quote(a)||'|'||quote([b b])||'|'||quote([c\"c])||'|'||quote([d`d])||'|'||quote(e) FROM v;")
		for i, row := range rows {
			if columns[0] == "E" {
				slices.Reverse(row)
			}
			var got []string
			for _, v := range row {
				got = append(got, literal(v))
			}
			if got := strings.Join(got, "|") + "\n"; got != printed[i] {
				t.Errorf("row %d is %.300s, want %.300s", i, got, printed[i])
			}
		}
	}

	w.do("DELETE FROM v; INSERT INTO v VALUES(1.5, -1e300, 9e999, -0.25, 0.1);")
	rows, err := w.query(Query{Table: "v", Columns: []string{"a", "b b", "c\"c", "d`d", "e"}})
	if want := []any{1.5, -1e300, math.Inf(1), -0.25, 0.1}; err != nil || len(rows) != 1 || !slices.Equal(rows[0], want) {
		t.Errorf("%v (%v), want %v", rows, err, want)
	}
}

// Rows and entries of indexes may have any length: in their page, or partly in others.
func TestLengths(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 512)
	w.do("CREATE TABLE t(k TEXT, v TEXT); CREATE INDEX i ON t(k, v); " +
		"WITH RECURSIVE i(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM i WHERE i<1600) INSERT INTO t SELECT printf('%.*c',i%3*600,'k'), printf('%.*c',i,'v') FROM i;")
	w.same(Query{Table: "t", Columns: []string{"k", "v"}}, "")
	for _, n := range []int{0, 1, 599, 600, 601, 1200, 1201} {
		key := strings.Repeat("k", n)
		w.same(Query{Table: "t", Columns: []string{"v", "k"}, Index: []string{"k"}, Key: key}, "WHERE k='"+key+"' ORDER BY v")
	}
}

// Columns that a row lacks are nil, and the column that is the row's id is that.
func TestSchemas(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 1024)
	w.do("CREATE TABLE added(a TEXT); INSERT INTO added VALUES('x'); ALTER TABLE added ADD COLUMN b TEXT; ALTER TABLE added ADD COLUMN c INTEGER NOT NULL DEFAULT 7;" +
		"INSERT INTO added VALUES('y','z',8);" +
		"CREATE TABLE alias(name TEXT, id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL); INSERT INTO alias VALUES('a',-5),('b',9223372036854775807);" +
		"CREATE TABLE alias2(id Integer NOT NULL PRIMARY KEY, name TEXT); CREATE INDEX i2 ON alias2(name); INSERT INTO alias2 VALUES(3,'a'),(4,'b'); " +
		"CREATE TABLE noalias(id INT PRIMARY KEY, name TEXT); INSERT INTO noalias VALUES(3,'a'),(NULL,'b'); " +
		"CREATE TABLE renamed(a, b); ALTER TABLE renamed RENAME COLUMN a TO \"x y\"; ALTER TABLE renamed DROP COLUMN b; ALTER TABLE renamed RENAME TO [new name]; INSERT INTO [new name] VALUES(1);" +
		"CREATE TABLE made AS SELECT 'q' AS one, 2 AS \"t,w\"; CREATE TABLE strict(a TEXT, 'b' ANY) STRICT; INSERT INTO strict VALUES('s',x'00');")
	for _, c := range []struct {
		table, columns, want string
	}{
		{"added", "a,b,c", "x,<nil>,<nil>;y,z,8"},
		{"alias", "ID,name", "-5,a;9223372036854775807,b"},
		{"alias2", "id,name", "3,a;4,b"},
		{"noalias", "id,name", "3,a;<nil>,b"},
		{"new name", "x y", "1"},
		{"made", "one", "q"},
		{"strict", "a,b", "s,[0]"},
		{"sqlite_sequence", "name,seq", "alias,9223372036854775807"},
	} {
		rows, err := w.query(Query{Table: c.table, Columns: strings.Split(c.columns, ",")})
		if err != nil {
			t.Errorf("%s: %v", c.table, err)
		}
		var lines []string
		for _, row := range rows {
			lines = append(lines, strings.Join(fmtRow(row), ","))
		}
		if got := strings.Join(lines, ";"); got != c.want {
			t.Errorf("%s: %s, want %s", c.table, got, c.want)
		}
	}
	w.same(Query{Table: "alias2", Columns: []string{"id"}, Index: []string{"name"}, Key: "b"}, "WHERE name='b'")
}

func fmtRow(row []any) (out []string) {
	for _, v := range row {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// What is not understood for certain is refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWriter(t, 1024)
	w.do("CREATE TABLE t(a TEXT, b TEXT COLLATE NOCASE, c TEXT, d TEXT, e TEXT); CREATE VIEW v AS SELECT a FROM t; CREATE INDEX i1 ON t(b); CREATE INDEX i2 ON t(a DESC);" +
		"CREATE INDEX i3 ON t(c) WHERE d IS NOT NULL; CREATE INDEX i4 ON t(d COLLATE NOCASE); CREATE INDEX i5 ON t(lower(e)); CREATE INDEX i6 ON t(e ASC, a);" +
		"CREATE TABLE w(a TEXT PRIMARY KEY) WITHOUT ROWID; CREATE TABLE g(a, b AS (a+1)); CREATE TABLE p(a INTEGER, b, PRIMARY KEY(a)); CREATE TABLE pd(a INTEGER PRIMARY KEY DESC);" +
		"CREATE TABLE pq(a 'INTEGER' PRIMARY KEY); CREATE TABLE u(a TEXT PRIMARY KEY);" +
		"CREATE VIRTUAL TABLE f USING fts5(a);")
	for _, c := range []struct{ table, column, index, want string }{
		{"t", "a", "b", "no index"}, {"t", "a", "a", "no index"}, {"t", "a", "c", "no index"}, {"t", "a", "d", "no index"}, {"t", "a", "lower", "no index"},
		{"t", "a", "e", ""}, {"t", "a", "f", "no index"}, {"t", "f", "", "no column f"}, {"x", "a", "", "no table x"}, {"v", "a", "", "no table v"},
		{"w", "a", "", "WITHOUT ROWID"}, {"g", "a", "", "generated"}, {"p", "a", "", "separate primary key"}, {"pd", "a", "", "unusual"}, {"pq", "a", "", "unusual"},
		{"u", "a", "a", "no index"}, {"f", "a", "", "not an ordinary table"},
	} {
		q := Query{Table: c.table, Columns: []string{c.column}}
		if c.index != "" {
			q.Index = []string{c.index}
		}
		if _, err := w.query(q); c.want == "" && err != nil || c.want != "" && !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%+v: %v, want %q", c, err, c.want)
		}
	}
}
