// Package swap points the agent CLIs of a machine at a local checkout of an MCP server,
// shows what each of them runs, and restores everything.
//
// # Model
//
// A [clients.Client] is a row of the table clients: where its config is, in which format,
// in which container of it the servers are, and how it spells an entry. A
// [checkout.Checkout] is a directory with the sources of a server, and knows the command
// that starts it. [Swapper] brings them together in its verbs:
//
//	Detect    which clients are installed
//	Status    what each runs under a server's name, and what shadows it
//	UseLocal  write the checkout's command, or a given one, into the entry
//	Verify    start the server, and query the clients
//	Revert    undo the swap
//	Forget    remove the record of a swap
//	Doctor    check for problems
//
// # What a swap may change
//
// Only the entry, and no byte outside it: package format edits text, not data. Before a
// config is written, its bytes are backed up and package journal records the edit with the
// bytes it replaced. So Revert restores the exact file if nothing else has written to it,
// and otherwise only the entry. A write is a rename of a synced file, done only while the
// config still has the bytes that the edit was made from. All writers of this package take
// one lock. Clients take none when they write their own configs, except Claude, whose lock
// is taken too.
//
// All processes are started by package ask: the server itself, the compiler for
// [checkout.ModeBuild], and the clients' own programs, in separate home directories.
// No package here imports anything about tmux.
package swap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// A Swapper implements the verbs for one machine. Create one with [New].
type Swapper struct {
	// Env has the machine, its disk, the record of swaps, and the functions that reach the
	// user: Warn, Progress and Confirm.
	configs.Env
}

// New returns a Swapper for a system. warn may be nil.
func New(sys machine.System, warn func(string)) *Swapper {
	if warn == nil {
		warn = func(string) {}
	}
	disk := atomicfile.Disk{TempMark: ".mcp-swap-tmp-"}
	return &Swapper{configs.Env{Sys: sys, Disk: disk, Journal: journal.Journal{Dir: sys.StateDir(), Disk: disk, Home: sys.Home}, Warn: warn}}
}

// ClientState is one scope of one client.
type ClientState = configs.State

// A Tag classifies what an entry runs.
type Tag = configs.Tag

// Kinds of a [Tag].
const (
	TagLocal    = configs.TagLocal
	TagPR       = configs.TagPR
	TagPinned   = configs.TagPinned
	TagUnpinned = configs.TagUnpinned
	TagRemote   = configs.TagRemote
	TagCommand  = configs.TagCommand // given to UseLocal
	TagOther    = configs.TagOther
)

// Outcomes of a [Result].
const (
	Added     = journal.Added    // the entry is new
	Replaced  = journal.Replaced // an existing entry was changed
	Unchanged = "unchanged"      // the entry already was as wanted
	Reverted  = "reverted"
	Forgotten = "forgotten" // only its record was removed
	Failed    = "failed"
)

// A Result is the outcome for one client.
type Result struct {
	Client  string        `json:"client"`
	Scope   clients.Scope `json:"scope,omitempty"`
	Label   string        `json:"-"` // the client, with the scope if it has several
	Server  string        `json:"server,omitempty"`
	Repo    string        `json:"repo,omitempty"` // the checkout, or where the command was given
	Config  string        `json:"config"`
	Command []string      `json:"command,omitempty"` // what UseLocal wanted it to run, without secrets
	Tag     *Tag          `json:"tag,omitempty"`     // or the address that UseLocal wanted it to use
	Outcome string        `json:"outcome,omitempty"` // for a dry run: what it would be
	Detail  string        `json:"detail,omitempty"`  // how it was done, in a few words
	Backup  string        `json:"backup,omitempty"`  // "" if there is none now
	Diff    string        `json:"diff,omitempty"`    // of a dry run
	Masked  bool          `json:"masked,omitempty"`  // Diff contains masks, so it is only for reading
	// Cautions are what the user should know about what was done; Shadows and Merged are as
	// in [ClientState].
	Cautions []string `json:"cautions,omitempty"`
	Shadows  []string `json:"shadows,omitempty"`
	Merged   []string `json:"merged,omitempty"`
	Err      error    `json:"-"` // for Failed; with another outcome, a reservation about it
}

// AnyFailed reports whether a result has an error.
func AnyFailed(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.Err != nil })
}

// begin takes the lock, reads the state, and cleans up.
func (s *Swapper) begin(ctx context.Context) (st *journal.State, unlock func(), err error) {
	if unlock, err = s.Journal.Lock(ctx, s.waiting); err != nil {
		return nil, nil, configs.OnceWritable(err, "nothing was changed: run it again")
	}
	if st, err = s.Journal.Load(); err != nil {
		unlock()
		return nil, nil, err
	}
	s.sweep(st)
	return st, unlock, nil
}

// sweep removes temporary files and spare backups of killed runs, and expired records. It
// needs the lock.
func (s *Swapper) sweep(st *journal.State) {
	if st.Stale {
		if err := s.Journal.Save(st); err != nil {
			s.Warn(fmt.Sprintf("remove old records: %v", err))
		}
	}
	var errs []error
	said := map[string]bool{}
	for _, t := range s.temps(st) {
		kept, err := s.Disk.Sweep(t.stem, t.known)
		errs = append(errs, err)
		for _, name := range kept {
			if !said[name] {
				s.Warn(t.unknown(name))
			}
			said[name] = true
		}
	}
	for _, f := range s.strays(st) {
		if f.Kind == FoundSpareBackup {
			text, _, err := s.Disk.Read(f.Path)
			if err == nil {
				err = s.Disk.RemoveIf(f.Path, text)
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		s.Warn(fmt.Sprintf("clean up after a killed run: %v", err))
	}
}

// A temp says beside which path a killed run may have left temporary files, and which texts
// of them may go.
type temp struct {
	stem   string // of their names
	config string // whose text they may have; "" in the state directory
	client string
	known  func(name string, text []byte) bool
}

// unknown returns a message about a file that may be a client's save.
func (t temp) unknown(name string) string {
	if t.config == "" {
		return name + " was left by a killed run, and its text is not known; inspect it before deleting it"
	}
	return fmt.Sprintf("%s was left by a killed run, and its text is not known: it may be the newest save of %s; "+
		"compare them, then move it there or delete it", name, t.config)
}

func (s *Swapper) temps(st *journal.State) (temps []temp) {
	owner := s.configs(st)
	for _, config := range slices.Sorted(maps.Keys(owner)) {
		known := func(name string, text []byte) bool {
			if strings.Contains(name, backupMark) && !strings.HasSuffix(name, atomicfile.Aside) {
				return true // a backup that was not finished: nothing else was written under that name
			}
			now, _, _ := s.Disk.Read(config)
			return cmp.Or(st, &journal.State{}).Knows(config, now, text)
		}
		temps = append(temps, temp{config, config, owner[config], known})
		temps = append(temps, temp{s.Journal.Beside(config), config, owner[config], known})
	}
	temps = append(temps, temp{stem: s.Journal.Path(), known: journal.Written})
	// Of what else is in the state directory, such as backups of other homes, nothing is known.
	others := temp{stem: s.Journal.Dir + string(filepath.Separator), known: func(string, []byte) bool { return false }}
	return append(temps, others)
}

// backup writes text beside a config under a new name. For a project file, or in another
// work tree of git, where it would be a stray file, it uses the state directory.
func (s *Swapper) backup(d *configs.Document, ofProject bool, text []byte) (string, error) {
	stem := d.Path
	if _, tracked := checkout.FindRepo(filepath.Dir(configs.InRealDir(d.Path))); tracked || ofProject {
		stem = s.Journal.Beside(d.Target)
	}
	stem += backupMark + time.Now().Format("20060102150405")
	name := stem
	var err error
	for n := 1; n < 1000; n++ {
		err = s.Disk.Create(name, text, atomicfile.Meta{Mode: d.Meta.Mode & 0o600, Owner: d.Meta.Owner})
		if !errors.Is(err, fs.ErrExist) {
			break
		}
		name = fmt.Sprintf("%s-%d", stem, n)
	}
	if dir := filepath.Dir(name); err == nil && dir != filepath.Dir(d.Target) {
		// Otherwise the write of the config syncs the directory.
		if err = s.Disk.SyncDir(dir); err != nil {
			err = errors.Join(err, s.Disk.Remove(name))
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot make a backup, so nothing was changed: %w", err)
	}
	return name, nil
}

// backupMark is in the name of every backup, after the config's.
const backupMark = ".bak.mcp-swap-"

// maxRedos limits how often a write is tried while other programs keep saving.
const maxRedos = 5

// errBusy ends the retries.
var errBusy = fmt.Errorf("another program saved it %d times meanwhile: close it and run again", maxRedos)

// replace replaces old with text, under the client's own lock if it has one. like is the
// metadata for the file; nil keeps it.
func (s *Swapper) replace(ctx context.Context, c *clients.Client, config, target string, text, old []byte, like *atomicfile.Meta) error {
	release, err := s.clientLock(ctx, c, config)
	if err != nil {
		return err
	}
	return released(s.Disk.Replace(target, text, old, like), release)
}

// inPlace is an error after a write whose bytes are in place.
type inPlace struct{ error }

// released ends a write that is done under a client's lock.
func released(err error, release func() error) error {
	rerr := release()
	if rerr != nil && err == nil {
		return inPlace{rerr}
	}
	return errors.Join(err, rerr)
}

// Claude's lock is a directory created beside its config (npm's proper-lockfile): the
// process that creates it holds the lock, touches it every few seconds, and loses it when
// it is older than staleLock. Copilot's is a lock on a file that it has created.
const (
	staleLock = 10 * time.Second
	lockWait  = 15 * time.Second
)

func (s *Swapper) clientLock(ctx context.Context, c *clients.Client, config string) (release func() error, err error) {
	var lock, advice string
	var take func() (release func() error, err error) // fs.ErrExist: another process has it
	switch {
	case c.Lock != "":
		lock, advice = config+c.Lock, "quit it, or remove that directory if it is not running"
		take = func() (func() error, error) { return s.makeLock(c, lock) }
	case c.Locked != "":
		lock, advice = filepath.Join(filepath.Dir(config), c.Locked), "quit it"
		take = func() (func() error, error) { return lockFile(lock) }
	default:
		return func() error { return nil }, nil
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ; {
		release, err := take()
		if err == nil {
			return release, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("take the lock of %s: %w", c.Name, err)
		}
		if time.Since(start) > lockWait {
			return nil, fmt.Errorf("%s holds its lock %s: %s", c.Name, lock, advice)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock %s of %s: %w", lock, c.Name, ctx.Err())
		}
	}
}

// makeLock creates the directory of a lock, or takes over an old one.
func (s *Swapper) makeLock(c *clients.Client, dir string) (release func() error, err error) {
	stale := func(info fs.FileInfo) bool { return time.Since(info.ModTime()) > staleLock }
	err = s.Disk.Mkdir(dir, 0o700)
	if info, lerr := os.Lstat(dir); errors.Is(err, fs.ErrExist) && lerr == nil && stale(info) {
		switch terr := s.Disk.RemoveDirIf(dir, stale); {
		case errors.Is(terr, atomicfile.ErrChanged): // another process was quicker
			return nil, err
		case terr != nil && !errors.Is(terr, fs.ErrNotExist):
			return nil, fmt.Errorf("take over %s: %v", dir, terr)
		}
		err = s.Disk.Mkdir(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	made, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	ours := func(info fs.FileInfo) bool { return os.SameFile(info, made) }
	return func() error {
		err := s.Disk.RemoveDirIf(dir, ours)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, atomicfile.ErrChanged) { // lost, or taken over
			return fmt.Errorf("release the lock of %s: %w", c.Name, err)
		}
		return nil
	}, nil
}
