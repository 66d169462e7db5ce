package configs

import (
	"cmp"
	"errors"
	"fmt"
	"syscall"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// An Env is what the verbs work with: the machine, its disk, the record of swaps, and the user.
type Env struct {
	// Words are what messages call things.
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

// OnceWritable adds what to do to the error of a read-only file system.
func OnceWritable(err error, then string) error {
	if !errors.Is(err, syscall.EROFS) {
		return err
	}
	return fmt.Errorf("%w; %s once that is writable", err, then)
}
