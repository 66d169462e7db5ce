package shell

import (
	"testing"
	"time"
)

// TestNoMark: a mark is waited for while output is read, then for one settle time if the
// recorder waits for more, otherwise for five.
func TestNoMark(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read    []int64 // at one look after the other; the last one stays
		drained bool
		want    int // the look at which it is given up
	}{
		"drained":                   {[]int64{7}, true, 4 + 1},
		"not drained":               {[]int64{7}, false, 16 + 1},
		"nothing was ever read":     {[]int64{0}, true, 4 + 1},
		"output comes all the time": {[]int64{1, 2, 3, 4, 5, 6, 7, 8}, true, 11 + 1},
		"output comes once more":    {[]int64{1, 1, 1, 2}, true, 7 + 1},
	} {
		l := looks{pause: 100 * time.Millisecond, read: -1}
		got := 0
		for read := c.read; got < 100; {
			got++
			if l.noMark(read[0], 300*time.Millisecond, func() bool { return c.drained }) {
				break
			}
			read = read[min(1, len(read)-1):]
		}
		if got != c.want {
			t.Errorf("%s: given up at look %d, want %d", name, got, c.want)
		}
	}
}
