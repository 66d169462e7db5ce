package screen

import (
	"strings"
	"testing"
	"time"
)

// TestTimesInCursors: a time in a cursor keeps its place among those of this process, whatever
// becomes of the wall clock, and one of another process is before all of them.
func TestTimesInCursors(t *testing.T) {
	t.Parallel()
	for _, want := range []time.Time{time.Now(), clock().began.Add(-time.Hour), {}} {
		stamp := stamped(want)
		if len(stamp) != stampSize {
			t.Fatalf("%d bytes", len(stamp))
		}
		got := timeOf(stamp)
		if !want.IsZero() && (!got.Equal(want) || !strings.Contains(got.String(), " m=")) {
			t.Errorf("%v became %v", want, got)
		}
		if want.IsZero() && got.After(time.Now().Add(-time.Hour)) {
			t.Errorf("no time became %v", got)
		}
		stamp[0]++
		if got := timeOf(stamp); !got.IsZero() {
			t.Errorf("of another process it is %v", got)
		}
	}
}
