package runner

import (
	"bytes"
	_ "embed" // the recorder
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"tmuxmcp/internal/owned"
	"tmuxmcp/internal/transcript"
)

// The recorder of a command is a shell and a dd, which tmux starts with pipe-pane
// (recorder.sh). They append the pane's output to the files o0, o1, … They know nothing of
// marks, and outlive the server.

const (
	partSize = 7_500_000 // a part of this size is complete, give or take dd's 8 MB
	parts    = 4         // kept: never more than 64 MB, at least 22 MB
	ddReads  = 1024      // of at most 8 kB each; after this many the recorder checks the size
)

//go:embed recorder.sh
var recorderScript []byte

// Feed returns the command for pipe-pane. The pipe must be open in both directions:
// otherwise tmux notices the end of the recorder only at the next output. If little space
// is free, it keeps less than usual.
func (s script) Feed() string {
	reads, size := ddReads, partSize
	if most := s.share(); most < 2*parts*partSize {
		reads = int(max(8, most/(2*parts*8192)))
		size = reads * 8192
	}
	_ = os.WriteFile(s.path("most"), []byte(strconv.Itoa(2*parts*size)), 0o600)
	return fmt.Sprintf("exec >/dev/null; cd %s || exit; reads=%d size=%d parts=%d server=%d; . ./recorder.sh", s.alias(), reads, size, parts, os.Getpid())
}

// share returns how many bytes a recording may take: half of what the others that are not
// over leave of a quarter of the free space. So all together take no more than a quarter.
func (s script) share() int64 {
	free, ok := freeIn(s.dir)
	if !ok {
		return 2 * parts * partSize
	}
	home, taken := filepath.Dir(s.dir), int64(0)
	for _, id := range jobsIn(home) {
		other := script{dir: filepath.Join(home, id)}
		status, _ := readOwn(other.path("status"), 4)
		if other.dir != s.dir && !bytes.ContainsAny(status, "0123456789") {
			text, _ := readOwn(other.path("most"), 20)
			most, _ := strconv.ParseInt(string(text), 10, 64)
			taken += most
			free += sizeOf(other.dir)
		}
	}
	return (free/4 - taken) / 2
}

// recorderPID returns the process id of the recorder, once it has begun to record.
func (s script) recorderPID() (pid int, began bool) {
	text, _ := readOwn(s.path("recorder"), 20)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid, err == nil && strings.HasSuffix(string(text), "\n")
}

// Recording reports whether the recorder of a command is running.
func (s script) Recording() bool {
	pid, began := s.recorderPID()
	return began && s.worksHere(pid)
}

// Stop ends the recorder. tmux notices, and closes the pipe.
func (s script) Stop() { s.signalRecorder(syscall.SIGTERM) }

func (s script) signalRecorder(sig syscall.Signal) {
	if pid, began := s.recorderPID(); began && s.worksHere(pid) {
		_ = syscall.Kill(pid, sig)
	}
}

// A Sink takes the lines of a command's output, in order and each once: a line comes when it has left
// the screen and can no longer change, the rest at the end.
type Sink interface{ Line(text string) }

// RawSink is a Sink that also takes what the pane got, at once and unchanged.
type RawSink interface {
	Sink
	Raw(p []byte)
}

// Watcher is a Sink that may also watch the lines, as [transcript.Transcript.Watch] shows them.
// Watches returns nil if it does not. Otherwise it returns a function that reports whether a line,
// or one before it, is what the wait is for.
type Watcher interface {
	Sink
	Watches() func(line string) (found bool)
}

// transcriber reads the parts of a recording, and transcribes what is between the marks.
type transcriber struct {
	script
	part       int
	file, next *os.File // this part, and the next one, held open so that it cannot be lost
	held       []byte   // bytes that may be part of a mark
	buf        []byte
	transcript *transcript.Transcript
	raw        func(p []byte) // may be nil
	ended      bool
	status     int

	answers chan string // of a remote shell; nil for others

	found   bool  // the watcher has
	foundAt int64 // how many bytes had been read before that

	begun atomic.Bool
	size  atomic.Int64 // bytes read so far
	lost  atomic.Bool  // parts were removed before they were read
}

func newTranscriber(j *Job, sink Sink) *transcriber {
	r := &transcriber{script: j.script, part: -1}
	r.transcript = transcript.New(j.Columns, j.Rows, -1, func(line string) {
		if !j.ours(line) {
			sink.Line(line)
		}
	})
	if raw, is := sink.(RawSink); is {
		r.raw = raw.Raw
	}
	if w, is := sink.(Watcher); is {
		if watch := w.Watches(); watch != nil {
			r.transcript.Watch(func(line string) {
				if !j.ours(line) && watch(line) && !r.found {
					r.found, r.foundAt = true, r.size.Load()
				}
			})
		}
	}
	r.transcript.Below() // the command
	r.transcript.Missed = r.transcript.Missed || j.Odd
	return r
}

// more reads some of what is available, and reports whether there was any.
func (r *transcriber) more() bool {
	for !r.ended {
		// A part is complete once there is a next one.
		if r.next == nil {
			r.next, _ = openOwn(r.path("o" + strconv.Itoa(r.part+1)))
		}
		if r.file != nil {
			if r.buf == nil {
				r.buf = make([]byte, 64<<10)
			}
			if n, _ := r.file.Read(r.buf); n > 0 {
				r.size.Add(int64(n))
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

// skip goes to the first remaining part, if the next one was removed.
func (r *transcriber) skip() bool {
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

// parts returns the numbers of the existing parts, in order.
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

// close ends the transcript. The sink gets nothing afterwards.
func (r *transcriber) close() {
	r.file.Close()
	r.next.Close()
	r.transcript.Show()
	r.transcript.Flush()
}

// take looks for the marks in more output, and transcribes what is between them.
func (r *transcriber) take(p []byte) {
	r.held = append(r.held, p...)
	if !r.begun.Load() {
		if r.answers != nil && r.takeAnswers() {
			return
		}
		begin, end := []byte(r.begin()), []byte(r.end())
		at := bytes.Index(r.held, begin)
		if at < 0 {
			// A command that is interrupted as it begins has only the second mark.
			if at = bytes.Index(r.held, end); at < 0 {
				at = max(0, len(r.held)-max(len(begin), len(end))+1)
			} else if status, ok := r.statusIn(r.held[at:]); ok {
				r.begun.Store(true)
				r.answer(AnswerBegun)
				r.held, r.status, r.ended = nil, status, true
				return
			}
			r.held = r.held[at:]
			return
		}
		r.held = r.held[at+len(begin):]
		r.begun.Store(true)
		r.answer(AnswerBegun)
	}
	end := []byte(r.end())
	at := bytes.Index(r.held, end)
	if at >= 0 {
		if status, ok := r.statusIn(r.held[at:]); ok {
			r.pass(at)
			r.held, r.status, r.ended = nil, status, true
			return
		}
	} else {
		at = len(r.held) - partial(r.held, end)
	}
	r.pass(at)
	r.held = append(r.held[:0], r.held[at:]...)
}

// pass passes on the first n of the bytes held.
func (r *transcriber) pass(n int) {
	r.transcript.Write(r.held[:n])
	if r.raw != nil {
		r.raw(r.held[:n])
	}
}

// statusIn returns the exit status in output that begins with the second mark.
func (s script) statusIn(p []byte) (int, bool) {
	digits, _, whole := bytes.Cut(p[len(s.end()):], []byte(s.endOfEnd()))
	status, err := exitStatus(string(digits))
	return status, whole && err == nil
}

// exitStatus parses the status of a command. ksh93 adds 256 to a signal instead of 128.
func exitStatus(digits string) (int, error) {
	status, err := strconv.Atoi(digits)
	if status > 256 {
		status -= 128
	}
	return status, err
}

// farMark is how far from the end of the output the second mark may be, in bytes.
const farMark = 256 << 10

// endMark looks for the second mark in the last bytes of the output.
func (s script) endMark(most int64) (status int, ok bool) {
	numbers := s.parts()
	if len(numbers) == 0 {
		return 0, false
	}
	return s.endMarkIn(numbers[len(numbers)-1], most)
}

// endMarkIn looks for the second mark in the last bytes of a part.
func (s script) endMarkIn(part int, most int64) (status int, ok bool) {
	f, err := openOwn(s.path("o" + strconv.Itoa(part)))
	if err != nil {
		return 0, false
	}
	defer f.Close()
	size, _ := f.Seek(0, io.SeekEnd)
	text, _ := io.ReadAll(io.NewSectionReader(f, max(0, size-most), most))
	if at := bytes.LastIndex(text, []byte(s.end())); at >= 0 {
		return s.statusIn(text[at:])
	}
	return 0, false
}

// anyEndMark looks for the second mark in all of the output. It misses one that is split between
// two parts.
func (s script) anyEndMark() (status int, ok bool) {
	for _, n := range s.parts() {
		if status, ok = s.endMarkIn(n, math.MaxInt32); ok {
			return status, true
		}
	}
	return 0, false
}

func (s script) recorderEnded() bool {
	_, began := s.recorderPID()
	return began && !s.Recording()
}

// linked reports whether an open file still has a name.
func linked(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 0
}

// openOwn opens a file that belongs to the user and is not a link.
func openOwn(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || owned.By(info) != os.Geteuid()) {
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

// follow reads the recording of a command as it grows.
func (c *Command) follow(sink Sink) {
	c.transcriber = newTranscriber(c.Job, sink)
	if c.Remote != "" {
		c.Answers = make(chan string, 8)
		c.transcriber.answers = c.Answers
	}
	c.Ended, c.Over, c.Read, c.Found = make(chan int, 1), make(chan struct{}), make(chan struct{}), make(chan struct{})
	c.stop, c.done = make(chan struct{}), make(chan struct{})
	changes, announced := watch(c.dir, c.stop)
	go func() {
		defer close(c.done)
		c.read(changes, announced)
	}()
}

// mostAfter is how many bytes are read after a line that the watcher has found, before that is
// announced, while there is no end of them.
const mostAfter = 1 << 20

// read reads until the second mark, or until the recorder is gone.
func (c *Command) read(changes <-chan struct{}, announced bool) {
	left := false // the recorder has left, and its output remains to be read
	pause := time.Millisecond
	caughtUp, quiet, said := false, true, false
	found := func() {
		if c.transcriber.found && !said {
			said = true
			close(c.Found)
		}
	}
	for {
		for c.transcriber.more() {
			pause = time.Millisecond
			if c.transcriber.size.Load() > c.transcriber.foundAt+mostAfter {
				found()
			}
			select {
			case <-c.stop:
				return
			default:
			}
		}
		// A line that is not finished is seen once no more of it is there.
		c.transcriber.transcript.Show()
		if !caughtUp {
			caughtUp = true
			close(c.Read)
		}
		if c.transcriber.ended {
			c.Ended <- c.transcriber.status
			found()
			return
		}
		found()
		if left {
			close(c.Over)
			return
		}
		if quiet {
			if _, began := c.recorderPID(); began && !c.Recording() {
				left = true
				continue
			}
			quiet = false
		}
		if pause = min(2*pause, 20*time.Millisecond); announced {
			pause = 100 * time.Millisecond // the end of the recorder is not announced
		}
		select {
		case <-c.stop:
			return
		case <-changes:
		case <-time.After(pause):
			quiet = true
		}
	}
}

// endReading stops the reading, if there is any. Afterwards the sink belongs to the caller.
// With a limit, everything recorded is read first, for at most that long: other programs may
// print for ever. It reports whether everything was read.
func (c *Command) endReading(limit time.Duration) (all bool) {
	r := c.transcriber
	if r == nil || c.stopped {
		return true
	}
	c.stopped = true
	close(c.stop)
	<-c.done
	if limit > 0 && !r.ended {
		for end := time.Now().Add(limit); r.more(); {
			if time.Now().After(end) {
				r.close()
				return false
			}
		}
	}
	if r.ended {
		select {
		case c.Ended <- r.status:
		default: // it is there
		}
	}
	r.close()
	return true
}

// partial returns how many bytes at the end of p are the beginning of mark.
func partial(p, mark []byte) int {
	for n := min(len(p), len(mark)-1); n > 0; n-- {
		if bytes.HasPrefix(mark, p[len(p)-n:]) {
			return n
		}
	}
	return 0
}
