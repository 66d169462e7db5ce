package wire

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

// WithTimeout returns a context for calls that tmux should answer within d.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &lateError{d})
}

// Silences are the servers that have not answered, by socket. All handles on a server share
// one.
var Silences sync.Map

// A Silence is a server that has not answered by the deadline of a call. Each later call looks
// whether it reacts to a connection that was closed on this side: tmux, of any version, then
// closes the other. That connection is made once and kept, so that a server that is stopped has
// only one in its queue, and one that goes on has reacted before the next call looks.
type Silence struct {
	since time.Time
	file  os.FileInfo   // the socket; another server may take its place
	turn  chan struct{} // held by the call that looks
	// looked is when the last look began, and over is set once the server has reacted.
	looked time.Time
	over   bool
	Conn   *net.UnixConn
}

const (
	// firstLook is how long a server may take to react at first: it may only be busy.
	firstLook = time.Second
	// nextLook is how long it may take when it has not reacted yet.
	nextLook = 20 * time.Millisecond
)

// fellSilent records that the server has not answered a call, which began at the given time.
func (s Socket) fellSilent(began time.Time) {
	file, err := os.Lstat(s.Path)
	if err == nil {
		Silences.LoadOrStore(s.Path, &Silence{since: began, file: file, turn: make(chan struct{}, 1)})
	}
}

// silent returns an [ErrNoAnswer] while the server has not answered an earlier call and does
// not react.
func (s Socket) silent(ctx context.Context) error {
	known, ok := Silences.Load(s.Path)
	if !ok {
		return nil
	}
	q, called := known.(*Silence), time.Now()
	select {
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
	case <-ctx.Done():
		return q.error(ctx)
	}
	if !q.over && (q.replaced(s) || !q.looked.After(called) && q.reacts(ctx, s)) {
		q.over = true
		Silences.CompareAndDelete(s.Path, q)
	}
	if q.over {
		return nil
	}
	return q.error(ctx)
}

// error returns why a call sends nothing: the server, unless the caller has given up.
func (q *Silence) error(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.As(cause, new(*lateError)) {
		return cause
	}
	return fmt.Errorf("%w since %s: it may be stopped, and calls work again once it goes on", ErrNoAnswer, q.since.Format(time.TimeOnly))
}

// replaced reports whether another server, or none, has taken the place of the one that did not
// answer.
func (q *Silence) replaced(s Socket) bool {
	now, err := os.Lstat(s.Path)
	is := err != nil || !os.SameFile(now, q.file) || !now.ModTime().Equal(q.file.ModTime())
	if is && q.Conn != nil {
		q.Conn.Close()
	}
	return is
}

// reacts reports whether the server reacts, or is no longer there.
func (q *Silence) reacts(ctx context.Context, s Socket) bool {
	most := nextLook
	if q.looked.IsZero() {
		most = firstLook
	}
	q.looked = time.Now()
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if q.Conn == nil {
		conn, err := s.dial(ctx)
		if err != nil {
			return ctx.Err() == nil // what is wrong, the call itself reports
		}
		conn.CloseWrite()
		q.Conn = conn
	}
	q.Conn.SetReadDeadline(time.Time{})
	late := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		q.Conn.SetReadDeadline(time.Unix(1, 0))
		close(late)
	})
	_, err := q.Conn.Read(make([]byte, 1))
	if !stop() {
		<-late // or it could end the next look
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	q.Conn.Close()
	return true
}
