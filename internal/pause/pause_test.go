package pause

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

func TestGrowing(t *testing.T) {
	t.Parallel()
	var got []int
	for d := range Growing(5 * time.Millisecond) {
		if got = append(got, int(d/time.Millisecond)); len(got) == 5 {
			break
		}
	}
	if want := []int{1, 2, 4, 5, 5}; !slices.Equal(got, want) {
		t.Errorf("pauses of %v ms, want %v", got, want)
	}
}

func TestFor(t *testing.T) {
	t.Parallel()
	if err := For(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if err := For(ctx, time.Hour); !errors.Is(err, gone) {
		t.Errorf("%v, want %v", err, gone)
	}
}
