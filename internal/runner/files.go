package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/owned"
	"tmuxmcp/internal/turns"
)

// The files of a command are named in what is typed into a shell, and a shell may use these
// names late: when it reads the line, when the command ends after its timeout, or when
// someone recalls the line from the history. So no other user may ever be able to create files
// with these names:
//
//   - They are in a directory that belongs to the user alone, the home. It is created once
//     and never removed, so that its name never becomes available in the public directory
//     around it. It is checked at every use, with all directories above it.
//   - In it each command has a directory with a random name, which is also the id of the
//     job (job.go). No name is ever used twice.
//
// A directory outlives the server that created it, so that another server finds the job.
// See sweep.go for when it is removed.

// ErrNoHome means that no directory can hold the files of commands, because none of the
// candidates belongs to the user alone.
var ErrNoHome = errors.New("no private directory for the files of a command")

// NoSpace reports whether an error means that a disk, or the user's quota, is full.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// NoSpace reports whether there is no space for the job's files, and returns the directory
// that holds the job.
func (j *Job) NoSpace() (dir string, is bool) {
	probe := j.path("probe")
	err := os.WriteFile(probe, make([]byte, 4<<10), 0o600)
	os.Remove(probe)
	return filepath.Dir(j.dir), NoSpace(err)
}

// Files is where a server keeps its commands' files. The zero Files is ready to use.
type Files struct {
	mu   sync.Mutex
	home string
	kept *os.File // the open home

	turns turns.Turns // of this server's commands, by pane

	resting map[Place]resting   // by pane
	closing map[Place]time.Time // when recorders that were resting were ended
}

var jobID = lazy.Regexp(`^j[a-z2-7]{12}$`)

// command creates a directory for one command.
func (f *Files) command() (dir string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.find(); err != nil {
		return "", err
	}
	for range 100 {
		dir = newDir(f.home)
		if err = os.Mkdir(dir, 0o700); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("make a directory for the command: %w", err)
}

// find makes sure that there is a home: the one in use, or the first usable one.
func (f *Files) find() error {
	if f.home != "" && checkHome(f.home) == nil && isDir(f.home, f.kept) {
		return nil
	}
	f.release()
	homes, refusals := candidates()
	for _, home := range homes {
		err := makeHome(home)
		if err == nil {
			// Cleaners of temporary directories skip locked directories.
			f.home, f.kept = home, lockDir(home)
			return nil
		}
		refusals = append(refusals, err.Error())
	}
	return fmt.Errorf("%w: %s", ErrNoHome, strings.Join(refusals, "; "))
}

// Take waits, for at most limit, until no other command runs in a pane, from this server or
// another server of this user. ok is false if one still does, and waited is true if one
// did.
func (f *Files) Take(ctx context.Context, at Place, limit time.Duration) (release func(), waited, ok bool) {
	begun, pane := time.Now(), fmt.Sprint(at.Server, at.Started, at.Pane)
	leave, waited, ok := f.turns.Take(ctx, pane, limit)
	if !ok {
		return nil, waited, false
	}
	unlock, others, ok := f.lock(ctx, pane, limit-time.Since(begun))
	if !ok {
		leave()
		return nil, true, false
	}
	return func() { unlock(); leave() }, waited || others, true
}

// locks opens the file whose bytes are locked while a command runs in a pane.
func (f *Files) locks() (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.find(); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(f.home, "turns"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
}

// newDir returns a name for the directory of a command.
func newDir(home string) string {
	return filepath.Join(home, "j"+strings.ToLower(rand.Text()[:12]))
}

// remove removes the directory of a command after renaming it: otherwise a shell that has
// not quite ended the command would create files in it meanwhile.
func remove(dir string) {
	os.Remove(script{dir: dir}.alias())
	if aside := newDir(filepath.Dir(dir)); os.Rename(dir, aside) == nil {
		dir = aside
	}
	for range 5 { // whatever is left is swept later
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond) // a recorder that has just begun creates files in it
	}
}

// Home returns the directory that holds the files, or "" if there is none yet.
func (f *Files) Home() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.home
}

// Close stops using the home. Jobs stay in it.
func (f *Files) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for at, r := range f.resting {
		delete(f.resting, at)
		r.timer.Stop()
		r.Stop()
		remove(r.dir)
	}
	f.release()
}

func (f *Files) release() {
	f.kept.Close()
	f.home, f.kept = "", nil
}

// lockDir opens and locks a directory; if it cannot, it returns nil, like a closed file.
func lockDir(dir string) *os.File {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil || syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	return f
}

func isDir(path string, f *os.File) bool {
	named, err := os.Lstat(path)
	if err != nil {
		return false
	}
	opened, err := f.Stat()
	return err == nil && os.SameFile(named, opened)
}

// private returns an error if a directory does not belong to the user alone.
func private(info fs.FileInfo) error {
	owner := owned.By(info)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("is a symbolic link")
	case !info.IsDir():
		return errors.New("is not a directory")
	case owner != os.Geteuid():
		return fmt.Errorf("belongs to another user (uid %d)", owner)
	case info.Mode().Perm() != 0o700:
		return fmt.Errorf("has mode %04o, not 0700", info.Mode().Perm())
	}
	return nil
}
