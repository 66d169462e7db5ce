package server

import (
	"context"
	"fmt"
	"time"
)

// budget is how long a waiting tool may wait: what the caller asked for, at most
// what this server allows.
func (s *Server) budget(seconds float64) (time.Duration, error) {
	if seconds <= 0 {
		return 0, argumentFault("timeout", "must be above 0")
	}
	return min(time.Duration(min(seconds, 1e6)*float64(time.Second)), s.cfg.WaitMax), nil
}

// waited tells the client how long a tool has been waiting, and how long it still
// may. The message says it too, for clients that show nothing else.
func (c *call) waited(ctx context.Context, on string, start time.Time, budget time.Duration) {
	elapsed := time.Since(start).Seconds()
	total := budget.Seconds()
	c.progress(ctx, elapsed, total, fmt.Sprintf("Waiting on %s: %.1fs elapsed, %.1fs left", on, elapsed, max(0, total-elapsed)))
}
