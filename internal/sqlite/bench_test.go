package sqlite

import "testing"

// BenchmarkRead reads the messages of one session, of 100, and the parts of each.
func BenchmarkRead(b *testing.B) {
	w := newWriter(b, 4096)
	w.do(opencode)
	w.do(fill(300, 1500))
	files := w.files()
	b.ReportAllocs()
	for b.Loop() {
		if err := readFiles(files, 16<<20, func(s *Snapshot) error {
			rows, err := collect(s, Query{Table: "message", Columns: []string{"id", "data"}, Index: []string{"session_id"}, Key: "ses_1"})
			if err != nil {
				return err
			}
			for _, row := range rows {
				if _, err := collect(s, Query{Table: "part", Columns: []string{"data"}, Index: []string{"message_id"}, Key: row[0].(string)}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
}
