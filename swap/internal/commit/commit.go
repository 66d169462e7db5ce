// Package commit writes changes to configs and undoes them, under the lock, with the record of
// swaps in the journal, so that a run that fails or is killed at any step loses nothing.
package commit

import (
	"context"
	"errors"
	"fmt"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/journal"
)

// Actions of an [Outcome], besides journal.Added and journal.Replaced.
const (
	Unchanged = "unchanged" // the entry already was as wanted
	Reverted  = "reverted"
	Failed    = "failed"
)

// A Commit writes configs and the record of swaps. One that [Begin] returned holds the lock.
type Commit struct {
	configs.Env
	State  *journal.State // the record of swaps
	unlock func()
}

// Begin takes the lock, reads the record of swaps, and cleans up after killed runs. Call
// End afterwards.
func Begin(ctx context.Context, env configs.Env) (*Commit, error) {
	waiting := func(path string) { env.Warn("waiting for another run to finish (it holds " + path + ")") }
	unlock, err := env.Journal.Lock(ctx, waiting)
	if err != nil {
		return nil, configs.OnceWritable(err, "nothing was changed: run it again")
	}
	c, err := Read(env.Anew())
	if err != nil {
		unlock()
		return nil, err
	}
	c.unlock = unlock
	c.sweep()
	return c, nil
}

// Read reads the record of swaps without the lock, for commands that write nothing.
func Read(env configs.Env) (*Commit, error) {
	st, err := env.Recorded()
	return &Commit{Env: env, State: st, unlock: func() {}}, err
}

// End releases the lock.
func (c *Commit) End() { c.unlock() }

// maxRedos limits how often a write is tried while other programs keep saving.
const maxRedos = 5

// ErrBusy ends the retries.
var ErrBusy = fmt.Errorf("another program saved it %d times meanwhile: close it and run again", maxRedos)

// replace replaces old with text, under the client's own lock if it has one. like is the
// metadata for the file; nil keeps it.
func (c *Commit) replace(ctx context.Context, client *clients.Client, config, target string, text, old []byte, like *atomicfile.Meta) error {
	release, err := c.clientLock(ctx, client, config)
	if err != nil {
		return err
	}
	return released(c.Disk.Replace(target, text, old, like), release)
}

// inPlace is an error after the new bytes were put in place.
type inPlace struct{ error }

// released releases a client's lock after a write that ended with err.
func released(err error, release func() error) error {
	rerr := release()
	if rerr != nil && err == nil {
		return inPlace{rerr}
	}
	return errors.Join(err, rerr)
}

// label returns the name that output has for the client of a record.
func label(r *journal.Record) string {
	if c := clients.Lookup(r.Client); c != nil {
		return c.Label(clients.Scope(r.Scope))
	}
	return r.Client
}
