// Package atomicfile writes files so that a reader, a crash or a full disk
// never sees half of one.
//
// [Disk.Replace] puts new bytes in the place of a file: they are written to a
// temporary file beside it, with the same owner and mode, synced, and renamed
// over it; then the directory is synced. It can be told which bytes the file
// must still hold, and gives [ErrChanged] with the file as it was found when
// another program has saved meanwhile. Where the system can exchange two names
// in one step (Linux, macOS), what was displaced is looked at again after the
// exchange, so that a save which fell between the comparison and the rename is
// put back too.
//
// [Disk.Create] makes a file that did not exist, whole or not at all.
//
// It follows no symbolic link: the caller says which file it means, and gets
// an error for anything but a regular one. Locking is the caller's.
package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrChanged says that the file no longer holds the bytes that
// [Disk.Replace] was told to expect; the file is as the other program left it.
var ErrChanged = errors.New("file was changed by another program meanwhile")

// ErrNotDurable is wrapped by the error of a write whose bytes are in place,
// but whose directory could not be synced: a power cut may still undo it.
var ErrNotDurable = errors.New("written, but the directory could not be synced")

// tempMark is in the name of every temporary file, after the name of the file
// it stands in for; [Disk.Sweep] knows them by it.
const tempMark = ".mcp-swap-tmp-"

// An Op names one kind of step on the disk.
type Op string

// The steps a write is made of.
const (
	OpRead     Op = "read"
	OpCreate   Op = "create"
	OpWrite    Op = "write"
	OpOwn      Op = "own"
	OpSync     Op = "sync"
	OpLink     Op = "link"
	OpRename   Op = "rename"
	OpExchange Op = "exchange"
	OpRemove   Op = "remove"
	OpMkdir    Op = "mkdir"
	OpSyncDir  Op = "syncdir"
)

// A Step is what [Disk.Before] is told. Data and File are set for [OpWrite].
type Step struct {
	Op   Op
	Path string
	Data []byte
	File *os.File
}

// A Disk does the steps. Its zero value is the real disk.
type Disk struct {
	// Before, if set, is asked before every step; its error is the step's
	// error and the step is not done. It is how tests make a disk fail or a
	// process die at each step in turn.
	Before func(Step) error
}

func (d Disk) step(op Op, path string) error {
	if d.Before == nil {
		return nil
	}
	if err := d.Before(Step{Op: op, Path: path}); err != nil {
		return &fs.PathError{Op: string(op), Path: path, Err: err}
	}
	return nil
}

// Read returns the content of a regular file and what it was when it was
// opened. It neither follows a final symbolic link to something that is no
// regular file nor waits for the writer of a FIFO.
func (d Disk) Read(path string) ([]byte, fs.FileInfo, error) {
	if err := d.step(OpRead, path); err != nil {
		return nil, nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, nil, err
	}
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(f); err != nil {
		return nil, nil, err
	}
	return buf.Bytes(), info, nil
}

func regular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s is %s, not a regular file", path, kind(info.Mode()))
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "of type " + m.Type().String()
}

// Replace puts data in the place of path. If old is not nil, the file must
// still hold exactly those bytes, else nothing is written and the error wraps
// [ErrChanged]. A file that is not there is made, with mode perm; one that is
// there keeps its mode and owner, and is never replaced if it cannot.
func (d Disk) Replace(path string, data, old []byte, perm fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil:
		if err := regular(path, info); err != nil {
			return err
		}
		perm = info.Mode()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case old != nil:
		return fmt.Errorf("%s has gone: %w", path, ErrChanged)
	default:
		info = nil
	}
	tmp, err := d.writeTemp(path, data, perm, info)
	if err != nil {
		return err
	}
	if err := d.swapIn(tmp, path, data, old); err != nil {
		return err
	}
	if err := d.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%s: %w: %w", path, ErrNotDurable, err)
	}
	return nil
}

// swapIn moves tmp over path, if path still holds old (nil: in any case).
func (d Disk) swapIn(tmp, path string, data, old []byte) (err error) {
	disposable := true
	defer func() {
		if err != nil && disposable {
			_ = os.Remove(tmp)
		}
	}()
	if old == nil {
		if err := d.step(OpRename, path); err != nil {
			return err
		}
		return os.Rename(tmp, path)
	}
	before, err := d.mustHold(path, old)
	if err != nil {
		return err
	}
	ours, err := os.Lstat(tmp)
	if err != nil {
		return err
	}
	if err := d.step(OpExchange, path); err != nil {
		return err
	}
	err = exchange(tmp, path)
	if errors.Is(err, errors.ErrUnsupported) {
		return os.Rename(tmp, path)
	}
	if err != nil {
		return err
	}
	// tmp now is what was displaced.
	displaced, err := os.Lstat(tmp)
	if err == nil && sameVersion(displaced, before) {
		if d.step(OpRemove, tmp) == nil { // else the next Sweep takes it
			_ = os.Remove(tmp)
		}
		return nil
	}
	// A save came in after the comparison and is newer than what data was made
	// from: it goes back, at once. Should yet another save have landed on top
	// of data by then, that is the newest, and now in tmp: so that one goes
	// back, until what comes out is what was put in.
	disposable = false
	for in := ours; ; in, displaced = displaced, in {
		if err := exchange(tmp, path); err != nil {
			return fmt.Errorf("put back a change made meanwhile, now in %s: %w", tmp, err)
		}
		out, err := os.Lstat(tmp)
		if err != nil || sameVersion(out, in) {
			disposable = err == nil
			return errors.Join(fmt.Errorf("%s: %w", path, ErrChanged), err)
		}
		in = out
	}
}

// mustHold compares a file with the bytes it is to have, and gives what it was
// then.
func (d Disk) mustHold(path string, want []byte) (fs.FileInfo, error) {
	got, before, err := d.Read(path)
	if err != nil {
		return nil, err
	}
	// Reading a large file takes long enough for a save to come in behind the
	// reader; one more look makes the window as small as a system call.
	after, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(got, want) || !sameVersion(before, after) {
		return nil, fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return after, nil
}

// sameVersion says whether two looks at a name saw the same file, not written
// to in between.
func sameVersion(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Create makes path, which must not exist (fs.ErrExist), with exactly mode
// perm, the owner of like (if not nil) and data in it. A crash leaves a
// temporary file that [Disk.Sweep] knows, never half of path; an error leaves
// nothing. The file is synced; its name is after the next [Disk.SyncDir].
func (d Disk) Create(path string, data []byte, perm fs.FileMode, like fs.FileInfo) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	tmp, err := d.writeTemp(path, data, perm, like)
	if err != nil {
		return err
	}
	if err := d.linkIn(tmp, path); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	if err := d.Remove(tmp); err != nil {
		_ = os.Remove(tmp)
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// linkIn gives tmp the name path, unless that is taken.
func (d Disk) linkIn(tmp, path string) error {
	if err := d.step(OpLink, path); err != nil {
		return err
	}
	err := os.Link(tmp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// No hard links here (FAT, some network file systems).
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return os.Rename(tmp, path)
}

// writeTemp makes a synced temporary file beside path. like, if not nil, is
// the file whose owner it gets.
func (d Disk) writeTemp(path string, data []byte, perm fs.FileMode, like fs.FileInfo) (tmp string, err error) {
	tmp = fmt.Sprintf("%s%s%d-%d", path, tempMark, os.Getpid(), time.Now().UnixNano())
	if err := d.step(OpCreate, tmp); err != nil {
		return "", err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			_ = os.Remove(tmp)
		}
	}()
	if err := d.write(f, data); err != nil {
		return "", err
	}
	if err := d.step(OpOwn, tmp); err != nil {
		return "", err
	}
	if err := sameOwner(f, like); err != nil {
		return "", fmt.Errorf("keep the owner of %s: %w", path, err)
	}
	// After the owner: changing that one clears set-id bits.
	if err := f.Chmod(perm.Perm()); err != nil {
		return "", err
	}
	if err := d.step(OpSync, tmp); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	return tmp, nil
}

func (d Disk) write(f *os.File, data []byte) error {
	if d.Before != nil {
		if err := d.Before(Step{Op: OpWrite, Path: f.Name(), Data: data, File: f}); err != nil {
			return &fs.PathError{Op: string(OpWrite), Path: f.Name(), Err: err}
		}
	}
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// Remove deletes a file; one that is not there is no error.
func (d Disk) Remove(path string) error {
	if err := d.step(OpRemove, path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Mkdir makes one directory, which must not exist.
func (d Disk) Mkdir(path string, perm fs.FileMode) error {
	if err := d.step(OpMkdir, path); err != nil {
		return err
	}
	return os.Mkdir(path, perm)
}

// MkdirAll makes a directory and its parents.
func (d Disk) MkdirAll(path string, perm fs.FileMode) error {
	if err := d.step(OpMkdir, path); err != nil {
		return err
	}
	return os.MkdirAll(path, perm)
}

// SyncDir makes the names in a directory durable.
func (d Disk) SyncDir(dir string) error {
	if err := d.step(OpSyncDir, dir); err != nil {
		return err
	}
	return syncDir(dir)
}

// Leftovers lists the temporary files that a killed run has left beside path.
func (d Disk) Leftovers(path string) []string {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // an unreadable directory is reported by whoever reads path
	}
	var names []string
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), base); ok && strings.Contains(rest, tempMark) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

// Sweep removes the [Disk.Leftovers] of path. Only the holder of the lock that
// guards all writers of path may call it.
func (d Disk) Sweep(path string) error {
	var errs []error
	for _, name := range d.Leftovers(path) {
		errs = append(errs, d.Remove(name))
	}
	return errors.Join(errs...)
}
