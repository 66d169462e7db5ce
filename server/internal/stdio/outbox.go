package stdio

import (
	"io"
	"sync"
)

// outbox holds the lines waiting to be written. Nothing in it is dropped while the client
// is there; producers are held back instead.
type outbox struct {
	limit int // how many bytes may wait before reading from the client stops

	mu     sync.Mutex
	came   sync.Cond
	lines  [][]byte
	held   int           // bytes of the lines, including the one being written
	most   int           // the maximum of held so far
	full   chan struct{} // closed when there is room again; nil while there is
	closed bool
}

func newOutbox(limit int) *outbox {
	o := &outbox{limit: limit}
	o.came.L = &o.mu
	return o
}

// put adds a line; nil adds nothing.
func (o *outbox) put(line []byte) {
	if line == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, append(line, '\n'))
	o.held += len(line) + 1
	o.most = max(o.most, o.held)
	if o.held >= o.limit && o.full == nil {
		o.full = make(chan struct{})
	}
	o.came.Signal()
}

// room returns a channel that is closed once less than the limit is held.
func (o *outbox) room() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.full == nil {
		return always
	}
	return o.full
}

var always = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// close makes write return once it has written what is there.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.came.Signal()
}

// write writes whole lines to w, in order of arrival, until the outbox is closed. If w
// fails, it calls lost, and discards the rest.
func (o *outbox) write(w io.Writer, lost func()) {
	var err error
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.lines) == 0 {
			if o.closed {
				return
			}
			o.came.Wait()
		}
		line := o.lines[0]
		o.lines[0], o.lines = nil, o.lines[1:]
		o.mu.Unlock()
		if err == nil {
			if _, err = w.Write(line); err != nil {
				lost()
			}
		}
		o.mu.Lock()
		if o.held -= len(line); o.held < o.limit && o.full != nil {
			close(o.full)
			o.full = nil
		}
	}
}
