package runner

import (
	"context"
	"sync"
	"time"
)

// Turns lets one caller at a time do something with each thing. The zero Turns is
// ready to use.
type Turns struct {
	mu   sync.Mutex
	busy map[string]*turn
}

type turn struct {
	free  chan struct{} // holds a token while nobody has the turn
	users int
}

// Take waits for the turn of a thing, for at most limit; ok is false when it did
// not come. waited is that another one had it.
func (t *Turns) Take(ctx context.Context, thing string, limit time.Duration) (release func(), waited, ok bool) {
	t.mu.Lock()
	if t.busy == nil {
		t.busy = map[string]*turn{}
	}
	u := t.busy[thing]
	if u == nil {
		u = &turn{free: make(chan struct{}, 1)}
		u.free <- struct{}{}
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
	case <-u.free:
		return func() { u.free <- struct{}{}; leave() }, waited, true
	case <-timer.C:
	case <-ctx.Done():
	}
	leave()
	return nil, waited, false
}
