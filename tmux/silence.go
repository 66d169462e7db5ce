package tmux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// A lateError is the cause of a context that has ended because tmux did not answer.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string { return fmt.Sprintf("tmux did not answer in %v", e.limit) }
func (*lateError) Unwrap() error   { return context.DeadlineExceeded }

// WithTimeout returns a context for calls that tmux should answer within d. If it does not, it
// counts as stopped: later calls to that server fail at once with [ErrNoAnswer], until it reacts
// again. No other deadline has that effect. Do not use it for commands that wait by nature. The
// Timeout of [Config] is such a limit.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &lateError{d})
}

// silences are the servers that have not answered, by socket. All handles on a server share
// one.
var silences sync.Map

// A silence is a server that has not answered by the deadline of a call. Each later call looks
// whether it reacts to a connection that was closed on this side: tmux, of any version, then
// closes the other. That connection is made once and kept, so that a server that is stopped has
// only one in its queue, and one that goes on has reacted before the next call looks.
type silence struct {
	since time.Time
	file  os.FileInfo   // the socket; another server may take its place
	turn  chan struct{} // held by the call that looks
	// looked is when the last look began, and over is set once the server has reacted.
	looked time.Time
	over   bool
	conn   *net.UnixConn
}

const (
	// firstLook is how long a server may take to react at first: it may only be busy.
	firstLook = time.Second
	// nextLook is how long it may take when it has not reacted yet.
	nextLook = 20 * time.Millisecond
)

// fellSilent records that a server has not answered a call that began at a time.
func (s socket) fellSilent(began time.Time) {
	file, err := os.Lstat(s.path)
	if err == nil {
		silences.LoadOrStore(s.path, &silence{since: began, file: file, turn: make(chan struct{}, 1)})
	}
}

// silent returns an [ErrNoAnswer] while the server has not answered an earlier call and does
// not react.
func (s socket) silent(ctx context.Context) error {
	known, ok := silences.Load(s.path)
	if !ok {
		return nil
	}
	q, called := known.(*silence), time.Now()
	select {
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
	case <-ctx.Done():
		return q.error(ctx)
	}
	if !q.over && (q.replaced(s) || !q.looked.After(called) && q.reacts(ctx, s)) {
		q.over = true
		silences.CompareAndDelete(s.path, q)
	}
	if q.over {
		return nil
	}
	return q.error(ctx)
}

// error returns why a call sends nothing: the server, unless the caller has given up.
func (q *silence) error(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.As(cause, new(*lateError)) {
		return cause
	}
	return fmt.Errorf("%w since %s: it may be stopped, and calls work again once it goes on", ErrNoAnswer, q.since.Format(time.TimeOnly))
}

// replaced reports whether another server, or none, has taken the place of the one that did not
// answer.
func (q *silence) replaced(s socket) bool {
	now, err := os.Lstat(s.path)
	is := err != nil || !os.SameFile(now, q.file) || !now.ModTime().Equal(q.file.ModTime())
	if is && q.conn != nil {
		q.conn.Close()
	}
	return is
}

// reacts reports whether the server reacts, or is no longer there.
func (q *silence) reacts(ctx context.Context, s socket) bool {
	most := nextLook
	if q.looked.IsZero() {
		most = firstLook
	}
	q.looked = time.Now()
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if q.conn == nil {
		conn, err := s.dial(ctx)
		if err != nil {
			return ctx.Err() == nil // what is wrong, the call itself reports
		}
		conn.CloseWrite()
		q.conn = conn
	}
	q.conn.SetReadDeadline(time.Time{})
	late := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		q.conn.SetReadDeadline(time.Unix(1, 0))
		close(late)
	})
	_, err := q.conn.Read(make([]byte, 1))
	if !stop() {
		<-late // or it could end the next look
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	q.conn.Close()
	return true
}
