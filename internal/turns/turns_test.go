package turns

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestTurnsAreForgotten: nothing is kept of things that nobody has or waits for, however
// many there were.
func TestTurnsAreForgotten(t *testing.T) {
	turns := Turns{Most: 2}
	for i := range 1000 {
		thing := fmt.Sprint(i)
		one, waited, ok := turns.Take(t.Context(), thing, time.Minute)
		two, waited2, ok2 := turns.Take(t.Context(), thing, time.Minute)
		if waited || !waited2 || !ok || !ok2 {
			t.Fatalf("two turns of %d: %t, %t, %t, %t", i, waited, ok, waited2, ok2)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, ok := turns.Take(ended, thing, time.Minute); ok {
			t.Fatal("a third has a turn")
		}
		if _, _, ok := turns.Take(t.Context(), thing, time.Nanosecond); ok {
			t.Fatal("a third has a turn in no time")
		}
		one()
		if three, _, ok := turns.Take(t.Context(), thing, time.Minute); !ok {
			t.Fatal("a turn that was given back is not free")
		} else {
			three()
		}
		two()
	}
	if n := len(turns.busy); n != 0 {
		t.Errorf("%d things are remembered", n)
	}
}
