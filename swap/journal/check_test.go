package journal

import (
	"math"
	"testing"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/format"
)

// Records that no version could have written, one fault at a time.
func TestCheckRecord(t *testing.T) {
	t.Parallel()
	made := make([]map[string]any, 3)
	for _, c := range []struct {
		name     string
		spoil    func(*Record)
		relative bool
		want     string // "" for none
	}{
		{"as written", func(*Record) {}, false, ""},
		{"all of its containers made", func(r *Record) { r.Undo = format.Undo{Made: made[:2]} }, false, ""},
		{"relative", func(r *Record) { r.Target = ".x/c" }, true, ""},
		{"relative to nothing", func(r *Record) { r.Target = ".x/c" }, false, "record 7 is not complete"},
		{"outside the home directory", func(r *Record) { r.Config = "../c" }, true, "record 7 is not complete"},
		{"no container", func(r *Record) { r.Container = nil }, false, "record 7 has more to undo than its entry had"},
		{"no container, and none made", func(r *Record) { r.Container, r.Undo = nil, format.Undo{} }, false, "record 7 is not complete"},
		{"no write", func(r *Record) { r.Writes = nil }, false, "record 7 is not complete"},
		{"more made than there are", func(r *Record) { r.Undo.Made = made }, false, "record 7 has more to undo than its entry had"},
		{"made from before", func(r *Record) { r.Undo.From = -1 }, false, "record 7 has more to undo than its entry had"},
		{"made from after", func(r *Record) { r.Undo = format.Undo{From: 3} }, false, "record 7 has more to undo than its entry had"},
		{"a negative number", func(r *Record) { r.Seq = -1 }, false, "a number in record 7 is out of range"},
		{"a large number", func(r *Record) { r.Seq = math.MaxInt32 + 1 }, false, "a number in record 7 is out of range"},
		{"a write before the file", func(r *Record) { r.Writes[0].Start = -1 }, false, "a number in record 7 is out of range"},
		{"a write after any file", func(r *Record) { r.Writes[0].Start = atomicfile.MaxSize + 1 }, false, "a number in record 7 is out of range"},
	} {
		r := Record{Seq: 1, Target: "/c", Config: "/c", Container: []string{"servers"}, Undo: format.Undo{From: 1, Made: made[:1]}, Writes: []Write{{}}}
		c.spoil(&r)
		got := ""
		if err := r.check(7, c.relative); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
