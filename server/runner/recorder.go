package runner

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
)

// recorder makes a transcript of what comes between two marks in the output of a
// pane. The output comes through a named pipe, from a cat that tmux feeds by
// pipe-pane: nothing is lost, however much it is.
type recorder struct {
	fifo *os.File
	// self writes to the fifo too, until the cat does: without any writer it
	// would be at its end.
	self *os.File

	// feeder is the process that writes, known when it has begun.
	feeder int

	begin, end, endOfEnd []byte
	held                 []byte // bytes that may be part of a mark
	begun                atomic.Bool
	came                 atomic.Int64 // how many bytes have
	transcript           transcript

	ended chan int      // gets the exit status that is in the second mark
	over  chan struct{} // closed when nothing more will come
}

// Feed is the command for pipe-pane. It prints the id of its process first. To
// open a pipe for writing alone waits for a reader, for ever if the server was
// killed; so it is a reader itself until it has opened it.
func (s script) Feed() string {
	path := s.path("output")
	return "{ echo $$; exec cat; } 3<>" + path + " >" + path + " 3<&-"
}

func newRecorder(s script, columns int) (*recorder, error) {
	path := s.path("output")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, err
	}
	fifo, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	self, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		fifo.Close()
		return nil, err
	}
	r := &recorder{
		fifo: fifo, self: self, begin: []byte(s.begin()), end: []byte(s.end()), endOfEnd: []byte(s.endOfEnd()),
		transcript: transcript{columns: columns}, ended: make(chan int, 1), over: make(chan struct{}),
	}
	go r.run()
	return r, nil
}

func (r *recorder) run() {
	defer close(r.over)
	buf := make([]byte, 64<<10)
	for {
		n, err := r.fifo.Read(buf)
		if n > 0 {
			r.self.Close()
			r.came.Add(int64(n))
			if status, ok := r.take(buf[:n]); ok {
				r.ended <- status
				return
			}
		}
		if errors.Is(err, io.EOF) || err != nil {
			return
		}
	}
}

// close ends the recording. Afterwards the transcript may be read.
func (r *recorder) close() {
	r.fifo.Close()
	r.self.Close()
	<-r.over
}

// take looks for the marks in more of the output, and writes what is between
// them to the transcript. It reports the status that is in the second one.
func (r *recorder) take(p []byte) (status int, ok bool) {
	r.held = append(r.held, p...)
	if r.feeder == 0 {
		line, rest, whole := bytes.Cut(r.held, []byte("\n"))
		if !whole {
			return 0, false
		}
		r.feeder, _ = strconv.Atoi(string(line))
		r.held = rest
	}
	if !r.begun.Load() {
		at := bytes.Index(r.held, r.begin)
		if at < 0 {
			r.held = r.held[max(0, len(r.held)-len(r.begin)+1):]
			return 0, false
		}
		r.held = r.held[at+len(r.begin):]
		r.begun.Store(true)
	}
	at := bytes.Index(r.held, r.end)
	if at >= 0 {
		digits, _, whole := bytes.Cut(r.held[at+len(r.end):], r.endOfEnd)
		if whole {
			r.transcript.Write(r.held[:at])
			r.held = nil
			status, _ = strconv.Atoi(string(digits))
			return status, true
		}
	} else {
		at = len(r.held) - partial(r.held, r.end)
	}
	r.transcript.Write(r.held[:at])
	r.held = append([]byte{}, r.held[at:]...)
	return 0, false
}

// partial is how many bytes at the end of p are the beginning of mark.
func partial(p, mark []byte) int {
	for n := min(len(p), len(mark)-1); n > 0; n-- {
		if bytes.HasPrefix(mark, p[len(p)-n:]) {
			return n
		}
	}
	return 0
}
