// Package pause waits between two looks at something that does not announce its changes.
package pause

import (
	"context"
	"iter"
	"time"
)

// For waits for d. If ctx ends first, it returns the cause.
func For(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// Growing returns pauses of 1 ms, 2 ms, 4 ms and so on, up to most.
func Growing(most time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for d := time.Millisecond; yield(d); d = min(2*d, most) {
		}
	}
}
