package hint

import (
	"errors"
	"fmt"
	"testing"
)

// What helps comes before what a program has printed.
func TestAdvise(t *testing.T) {
	late := errors.New("late\n    the program's last line")
	err := fmt.Errorf("failed: %w", Advise(Advise(late, "give it longer"), "or do not wait"))
	if want := "failed: late; give it longer; or do not wait\n    the program's last line"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if !errors.Is(err, late) {
		t.Error("it hides the error")
	}
}
