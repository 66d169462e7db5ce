package runner

import (
	"bytes"
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

// The recorder of a command is a shell and a dd, which tmux starts with pipe-pane. They
// append what the pane prints to the files o0, o1, … and know nothing of marks, so they
// outlive the server. It ends when tmux closes its input, when a server asks for it
// by the pipe "done", and otherwise two seconds after the command reported its end there.

const (
	partSize = 7_500_000 // a part of this size is the last of it, give or take a dd's 8 MB
	parts    = 4         // that are kept: never more than 64 MB, at least 22 MB
	ddReads  = 1024      // after so many the recorder looks at the size
)

// Feed is the command for pipe-pane, which must be open in both directions: else tmux
// notices only at the next output that the recorder has ended.
func (s script) Feed() string { return "exec >/dev/null; . " + s.path("feed") }

// feed is the recorder. dd says how many times it has read, after warnings; at the end of
// its input that is less than its count. Everything else here is built into the shell.
// mksh's read goes on after a signal that came just before it, so it gets a line too.
func (s script) feed() string {
	return fmt.Sprintf(`umask 077
export LC_ALL=C
cd %s || exit
exec 3<>done 4<&0 </dev/null
n=0
begin() { dd bs=8192 count=%[2]d <&4 >>o$n 2>s 3<&- & d=$!; }
begin
( read x <&3
test "$x" = TERM || { sleep 2 3<&- & s=$!; trap 'kill $s; exit' TERM; wait $s; }
kill -s TERM $$ ) 4<&- &
w=$!
trap 'kill $w; echo >&3' EXIT
trap 'kill $d; exit' TERM
while wait $d; do
while read r x; do case $r in *[!0-9+]*|'') r=0;; *) break;; esac; done <s
test $((${r:-0})) -ge %[2]d || break
test $(wc -c <o$n) -lt %[3]d || { n=$((n+1)); rm -f o$((n-%[4]d)); }
begin
done
`, s.dir, ddReads, partSize, parts)
}

// Recording reports whether the recorder of a command runs. Then the pane's pipe is its.
func (s script) Recording() bool {
	f, err := os.OpenFile(s.path("done"), os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	f.Close()
	return err == nil // a pipe that nobody reads cannot be opened
}

// began reports whether the recorder has ever run.
func (s script) began() bool {
	_, err := os.Lstat(s.path("s"))
	return err == nil
}

// Stop ends the recorder. tmux notices, and closes the pipe.
func (s script) Stop() {
	if f, err := os.OpenFile(s.path("done"), os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0); err == nil {
		_, _ = f.WriteString("TERM\n")
		f.Close()
		// It may end before it has begun to record, and must be seen to have been there.
		if s, err := os.OpenFile(s.path("s"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			s.Close()
		}
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
	transcript transcript
	ended      bool
	status     int

	begun atomic.Bool
	came  atomic.Int64 // bytes read so far
	lost  atomic.Bool  // parts were removed before they were read
}

func newReading(s script, columns int, sink Sink) *reading {
	return &reading{script: s, part: -1, transcript: transcript{columns: columns, emit: func(line string) {
		if !s.ours(line) {
			sink.Line(line)
		}
	}}}
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
		case !r.skip():
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
	caughtUp := false
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
		if left = f.began() && !f.Recording(); left {
			continue
		}
		if pause = min(2*pause, 20*time.Millisecond); announced {
			pause = 100 * time.Millisecond // what ends says nothing
		}
		select {
		case <-f.stop:
			return
		case <-wakes:
		case <-time.After(pause):
		}
	}
}

// end ends the reading. Afterwards the sink is the caller's.
func (f *follower) end() {
	select {
	case <-f.stop:
		return
	default:
	}
	close(f.stop)
	<-f.done
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
