package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"
)

// A logWriter writes the records that it is given, one by each Write, in order. Its callers
// never wait, even if nothing reads the log: a record is dropped if the queue is full. Where
// records are missing, another one counts them as soon as it can be written.
type logWriter struct {
	to io.Writer
	// other is another log, which reports lost records; nil if there is none.
	other *slog.Logger
	done  chan struct{}

	mu         sync.Mutex
	added      sync.Cond
	queue      []logRecord // with the one that is being written
	held       int         // their bytes
	dropped    int         // since the last of them
	closed     bool
	unreported int       // lost records
	reported   time.Time // when lost ones were
}

type logRecord struct {
	text    []byte // may be empty
	dropped int    // before it
}

// Limits of the queue.
const mostBytes, mostRecords = 4 << 20, 10_000

func newLogWriter(to io.Writer, other *slog.Logger, torn bool) *logWriter {
	w := &logWriter{to: to, other: other, done: make(chan struct{})}
	w.added.L = &w.mu
	go w.run(torn)
	return w
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held+len(p) > mostBytes || len(w.queue) == mostRecords {
		w.dropped++
		w.lost(1, "nobody reads them")
	} else {
		w.add(bytes.Clone(p))
	}
	return len(p), nil
}

func (w *logWriter) add(text []byte) {
	w.queue, w.held, w.dropped = append(w.queue, logRecord{text, w.dropped}), w.held+len(text), 0
	w.added.Signal()
}

// lost reports lost records in the other log, at most once a minute, and at the end.
func (w *logWriter) lost(n int, why string) {
	w.unreported += n
	if w.other != nil && w.unreported > 0 && time.Since(w.reported) > time.Minute {
		w.other.Error(fmt.Sprintf("%d audit records were lost", w.unreported), "cause", why)
		w.unreported, w.reported = 0, time.Now()
	}
}

// run writes. torn means that the log ends in the middle of a record, as when its disk was
// full.
func (w *logWriter) run(torn bool) {
	defer close(w.done)
	missing := 0
	write := func(p []byte) error {
		if torn {
			p = append([]byte{'\n'}, p...)
		}
		n, err := w.to.Write(p)
		if n > 0 {
			torn = p[n-1] != '\n'
		}
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.queue) == 0 {
			if w.closed {
				return
			}
			w.added.Wait()
		}
		r := w.queue[0]
		w.mu.Unlock()
		var err error
		if missing += r.dropped; missing > 0 {
			var notice bytes.Buffer
			slog.New(slog.NewJSONHandler(&notice, nil)).Warn(fmt.Sprintf("%d records dropped", missing))
			if err = write(notice.Bytes()); err == nil {
				missing = 0
			}
		}
		if err == nil && len(r.text) > 0 {
			err = write(r.text)
		}
		w.mu.Lock()
		w.queue, w.held = w.queue[1:], w.held-len(r.text)
		if err != nil && len(r.text) > 0 {
			missing++
			w.lost(1, err.Error())
		}
		if len(w.queue) == 0 && w.dropped > 0 {
			w.add(nil)
		}
	}
}

// close waits for the queue to be written, but not longer than limit.
func (w *logWriter) close(limit time.Duration) {
	w.mu.Lock()
	w.add(nil)
	w.closed = true
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(limit):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reported = time.Time{}
	w.lost(max(0, len(w.queue)-1), "nobody reads them") // the last is that of close
}

// openLog opens a file for appending, and reports whether it ends in the middle of a line. It
// does not wait for the reader of a named pipe.
func openLog(path string) (f *os.File, torn bool, err error) {
	f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	info, serr := os.Stat(path)
	switch {
	case errors.Is(err, syscall.ENXIO) && serr == nil && info.Mode()&fs.ModeNamedPipe != 0:
		err = fmt.Errorf("no program reads the named pipe %s: start its reader first", path)
	case err == nil && serr == nil && info.Mode().IsRegular() && info.Size() > 0:
		last := []byte{'\n'}
		if old, err := os.Open(path); err == nil {
			_, _ = old.ReadAt(last, info.Size()-1)
			old.Close()
		}
		torn = last[0] != '\n'
	}
	return f, torn, err
}
