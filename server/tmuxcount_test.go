package server_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"

	"tmuxmcp/server"
)

// countedTmux counts the command lists that a server with this configuration sends, over
// either transport. Each is a round trip.
func countedTmux(t testing.TB, cfg *server.Config) func() int {
	t.Helper()
	c := &listCounter{Handler: slog.DiscardHandler}
	cfg.Log = slog.New(c)
	return func() int { return int(c.count.Load()) }
}

// listCounter counts the records about them.
type listCounter struct {
	slog.Handler
	count atomic.Int64
}

func (c *listCounter) Enabled(context.Context, slog.Level) bool { return true }

func (c *listCounter) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "tmux" {
		c.count.Add(1)
	}
	return nil
}
