package runner

import (
	"bytes"
	_ "embed" // the recorder
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// The recorder of a command is a shell and a dd, which tmux starts with pipe-pane
// (recorder.sh). They append what the pane prints to the files o0, o1, … and know nothing of
// marks, so they outlive the server.

const (
	partSize = 7_500_000 // a part of this size is the last of it, give or take a dd's 8 MB
	parts    = 4         // that are kept: never more than 64 MB, at least 22 MB
	ddReads  = 1024      // of at most 8 kB; after so many the recorder looks at the size
)

//go:embed recorder.sh
var recorder []byte

// Feed is the command for pipe-pane, which must be open in both directions: else tmux
// notices only at the next output that the recorder has ended. Where little space is
// free, it keeps less than usual, at most a quarter of that.
func (s script) Feed() string {
	reads, size := ddReads, partSize
	if free, ok := freeIn(s.dir); ok && free/4 < 2*parts*partSize {
		reads = int(max(8, free/4/(2*parts*8192)))
		size = reads * 8192
	}
	return fmt.Sprintf("exec >/dev/null; cd %s || exit; reads=%d size=%d parts=%d server=%d; . ./recorder.sh", s.dir, reads, size, parts, os.Getpid())
}

// recorder returns the process id of the recorder, once it has begun to record.
func (s script) recorder() (pid int, began bool) {
	text, _ := readOwn(s.path("recorder"), 20)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid, err == nil && strings.HasSuffix(string(text), "\n")
}

// Recording reports whether the recorder of a command runs.
func (s script) Recording() bool {
	pid, began := s.recorder()
	return began && s.worksHere(pid)
}

// Stop ends the recorder. tmux notices, and closes the pipe.
func (s script) Stop() { s.signalRecorder(syscall.SIGTERM) }

func (s script) signalRecorder(sig syscall.Signal) {
	if pid, began := s.recorder(); began && s.worksHere(pid) {
		_ = syscall.Kill(pid, sig)
	}
}

// A Sink takes the lines of a command's output in their order, each once.
type Sink interface{ Line(text string) }

// reading reads the parts of a recording, and makes a transcript of what is between
// the marks.
type reading struct {
	script
	part       int
	file, next *os.File // this part and, so that it cannot be lost, the next one
	held       []byte   // bytes that may be part of a mark
	buf        []byte
	transcript *transcript
	ended      bool
	status     int

	begun atomic.Bool
	came  atomic.Int64 // bytes read so far
	lost  atomic.Bool  // parts were removed before they were read
}

func newReading(j *Job, sink Sink) *reading {
	r := &reading{script: j.script, part: -1}
	r.transcript = newTranscript(j.Columns, j.Rows, -1, func(line string) {
		if !j.ours(line) {
			sink.Line(line)
		}
	})
	r.transcript.below() // the command
	r.transcript.missed = r.transcript.missed || j.Odd
	return r
}

// more reads some of what there is, and reports whether it was anything.
func (r *reading) more() bool {
	for !r.ended {
		// What the next part follows is complete.
		if r.next == nil {
			r.next, _ = openOwn(r.path("o" + strconv.Itoa(r.part+1)))
		}
		if r.file != nil {
			if r.buf == nil {
				r.buf = make([]byte, 64<<10)
			}
			if n, _ := r.file.Read(r.buf); n > 0 {
				r.came.Add(int64(n))
				r.take(r.buf[:n])
				return true
			}
		}
		switch {
		case r.next != nil:
			r.part++
		case r.file != nil && linked(r.file) || !r.skip():
			return false
		}
		r.file.Close()
		r.file, r.next = r.next, nil
	}
	return false
}

// skip goes to the first part that is left, if the next one was removed.
func (r *reading) skip() bool {
	for _, n := range r.parts() {
		if n > r.part+1 {
			if r.next, _ = openOwn(r.path("o" + strconv.Itoa(n))); r.next != nil {
				r.part = n
				r.lost.Store(true)
				r.begun.Store(true)
				return true
			}
		}
	}
	return false
}

// parts are the numbers of the parts that there are, in order.
func (s script) parts() (numbers []int) {
	names, _ := filepath.Glob(s.path("o[0-9]*"))
	for _, name := range names {
		if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(name), "o")); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// close gives the transcript its end. The sink gets nothing afterwards.
func (r *reading) close() {
	r.file.Close()
	r.next.Close()
	r.transcript.flush()
}

// take looks for the marks in more of the output, and writes what is between
// them to the transcript.
func (r *reading) take(p []byte) {
	r.held = append(r.held, p...)
	if !r.begun.Load() {
		begin := []byte(r.begin())
		at := bytes.Index(r.held, begin)
		if at < 0 {
			r.held = r.held[max(0, len(r.held)-len(begin)+1):]
			return
		}
		r.held = r.held[at+len(begin):]
		r.begun.Store(true)
	}
	end := []byte(r.end())
	at := bytes.Index(r.held, end)
	if at >= 0 {
		if status, ok := r.statusIn(r.held[at:]); ok {
			r.transcript.Write(r.held[:at])
			r.held, r.status, r.ended = nil, status, true
			return
		}
	} else {
		at = len(r.held) - partial(r.held, end)
	}
	r.transcript.Write(r.held[:at])
	r.held = append(r.held[:0], r.held[at:]...)
}

// statusIn is the exit status in output that begins with the second mark.
func (s script) statusIn(p []byte) (int, bool) {
	digits, _, whole := bytes.Cut(p[len(s.end()):], []byte(s.endOfEnd()))
	status, err := strconv.Atoi(string(digits))
	return status, whole && err == nil
}

// endMark looks for the second mark in the last of the output.
func (s script) endMark() (status int, ok bool) {
	numbers := s.parts()
	for _, n := range numbers[max(0, len(numbers)-1):] {
		f, err := openOwn(s.path("o" + strconv.Itoa(n)))
		if err != nil {
			return 0, false
		}
		defer f.Close()
		const most = 256 << 10
		if size, _ := f.Seek(0, io.SeekEnd); size > most {
			_, _ = f.Seek(-most, io.SeekEnd)
		} else {
			_, _ = f.Seek(0, io.SeekStart)
		}
		text, _ := io.ReadAll(io.LimitReader(f, most))
		if at := bytes.LastIndex(text, []byte(s.end())); at >= 0 {
			return s.statusIn(text[at:])
		}
	}
	return 0, false
}

// linked reports whether an open file has not been removed.
func linked(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 0
}

// openOwn opens a file that is the user's own, and no link.
func openOwn(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || ownerOf(info) != os.Geteuid()) {
		err = fmt.Errorf("%s is not a file of this user", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readOwn reads the first bytes of such a file.
func readOwn(path string, most int64) ([]byte, error) {
	f, err := openOwn(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// follower reads a recording as it grows.
type follower struct {
	*reading
	recorded chan int      // gets the exit status that is in the second mark
	read     chan struct{} // closed when all that was there at first has been read
	over     chan struct{} // closed when nothing more will come
	done     chan struct{} // closed when it reads no more
	stop     chan struct{}
}

func follow(r *reading) *follower {
	f := &follower{reading: r, recorded: make(chan int, 1), read: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{}), stop: make(chan struct{})}
	wakes, err := watch(r.dir, f.stop)
	go func() {
		defer close(f.done)
		f.run(wakes, err == nil)
	}()
	return f
}

// run reads until the second mark, or until the recorder is gone.
func (f *follower) run(wakes <-chan struct{}, announced bool) {
	left := false // the recorder has, and what it left is to be read
	pause := time.Millisecond
	caughtUp, quiet := false, true
	for {
		for f.more() {
			pause = time.Millisecond
			select {
			case <-f.stop:
				return
			default:
			}
		}
		if !caughtUp {
			caughtUp = true
			close(f.read)
		}
		if f.ended {
			f.recorded <- f.status
			return
		}
		if left {
			close(f.over)
			return
		}
		if quiet {
			if _, began := f.recorder(); began && !f.Recording() {
				left = true
				continue
			}
			quiet = false
		}
		if pause = min(2*pause, 20*time.Millisecond); announced {
			pause = 100 * time.Millisecond // what ends says nothing
		}
		select {
		case <-f.stop:
			return
		case <-wakes:
		case <-time.After(pause):
			quiet = true
		}
	}
}

// end ends the reading. Afterwards the sink is the caller's. With all, what has been
// recorded is read first: no more must come.
func (f *follower) end(all bool) {
	select {
	case <-f.stop:
		return
	default:
	}
	close(f.stop)
	<-f.done
	if all && !f.ended {
		for f.more() {
		}
		if f.ended {
			f.recorded <- f.status
		}
	}
	f.close()
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

var errNoWatch = errors.New("changes of files are not announced")
