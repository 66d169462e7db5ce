package configs

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// An Env is what the verbs work with: the machine, its disk, the record of swaps, and the user.
type Env struct {
	// Words are the names that messages use.
	Words   Words
	Sys     machine.System
	Disk    atomicfile.Disk
	Journal journal.Journal
	// Warn reports what the user should know in addition to the results; never nil. It may
	// be called from another goroutine.
	Warn func(string)
	// Progress shows what a long wait is for, replacing what it showed before; "" removes
	// that. It is called from another goroutine. If nil, Warn reports it once.
	Progress func(string)
	files    *files
	// Confirm asks the user a yes-or-no question; nil if there is no terminal.
	Confirm func(question string) bool
}

// Words are how the user writes entries, undoes that, and names clients and the server.
type Words struct{ Write, Undo, Client, Server string }

// OwnHome returns an error if the home or the state directory belongs to another
// user, as when sudo keeps HOME.
func (env Env) OwnHome() error {
	return cmp.Or(Owned(env.Sys.Home), Owned(env.Journal.Path()))
}

// Watch reports what is being waited for until stop is called: every second to Progress, or once to
// Warn.
func (env Env) Watch(what string, limit time.Duration) (stop func()) {
	if env.Progress == nil {
		slow := time.AfterFunc(5*time.Second, func() { env.Warn(what) })
		return func() { slow.Stop() }
	}
	what, why, _ := strings.Cut(what, ";")
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer env.Progress("")
		start := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				env.Progress(fmt.Sprintf("%s (%v of %v);%s", what, time.Since(start).Round(time.Second), limit, why))
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// OnceWritable adds advice to the error of a read-only file system, or of a file that not even its
// owner may change.
func OnceWritable(err error, then string) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; %s once that is writable", err, then)
	case errors.Is(err, syscall.EPERM) && !errors.Is(err, atomicfile.ErrMeta):
		return fmt.Errorf("%w; %s once that may be changed: %s", err, then, immutable)
	}
	return err
}
