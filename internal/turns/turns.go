// Package turns lets one caller at a time use each thing.
package turns

import (
	"context"
	"sync"
	"time"
)

// Turns are the turns with all things. The zero Turns is ready to use.
type Turns struct {
	Most int // callers at a time; 0 means one

	mu   sync.Mutex
	busy map[string]*turn
}

type turn struct {
	taken chan struct{} // holds a token for each caller who has a turn
	users int
}

// Take waits for a turn with a thing, for at most limit; ok is false if it did not come.
// waited is true if another caller had it.
func (t *Turns) Take(ctx context.Context, thing string, limit time.Duration) (release func(), waited, ok bool) {
	t.mu.Lock()
	if t.busy == nil {
		t.busy = map[string]*turn{}
	}
	u := t.busy[thing]
	if u == nil {
		u = &turn{taken: make(chan struct{}, max(1, t.Most))}
		t.busy[thing] = u
	}
	waited = u.users > 0
	u.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if u.users--; u.users == 0 {
			delete(t.busy, thing)
		}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case u.taken <- struct{}{}:
		return func() { <-u.taken; leave() }, waited, true
	case <-timer.C:
	case <-ctx.Done():
	}
	leave()
	return nil, waited, false
}

type listKey struct{}

// WithList returns a context in which package tmux has a turn with tmux itself, for
// [tmux.Server.CaptureAll].
func WithList(ctx context.Context, turn sync.Locker) context.Context {
	return context.WithValue(ctx, listKey{}, turn)
}

// OfList returns the turn that [WithList] has set, or nil.
func OfList(ctx context.Context) sync.Locker {
	turn, _ := ctx.Value(listKey{}).(sync.Locker)
	return turn
}
