// Package atomicfile writes files so that a reader, a crash or a full disk never sees half
// of one.
//
// [Disk.Replace] replaces the contents of a file: the new bytes are written to a temporary
// file beside it, with the same owner, mode, access control list and extended attributes
// ([Meta]), synced, and renamed over it; then the directory is synced. Given the bytes that
// the file must still have, it leaves the file alone and returns [ErrChanged] if another
// program has saved it meanwhile, or changed who may read it. On systems that can exchange
// two names in one step (Linux, macOS), the displaced file is checked again after the
// exchange, so that a save between the comparison and the rename is put back too.
//
// [Disk.Create] creates a file that does not exist, whole or not at all. [Disk.RemoveIf]
// removes one that is still as expected, and looks at what it took before that is gone.
//
// Symbolic links are not followed: the caller says which file it means, and gets an error
// for anything but a regular file. Locking is up to the caller.
package atomicfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrChanged is returned by [Disk.Replace] if the file no longer has the expected bytes.
// The file stays as the other program wrote it.
var ErrChanged = errors.New("file was changed by another program meanwhile")

// ErrNotDurable is wrapped by the error of a write whose bytes are in place, but whose
// directory could not be synced: a power cut may still undo it.
var ErrNotDurable = errors.New("written, but the directory could not be synced")

// An Op is a kind of disk operation.
type Op string

// Operations that a write consists of.
const (
	OpRead     Op = "read"
	OpCreate   Op = "create"
	OpWrite    Op = "write"
	OpOwn      Op = "own"
	OpAttr     Op = "attr"
	OpMode     Op = "mode"
	OpSync     Op = "sync"
	OpLink     Op = "link"
	OpRename   Op = "rename"
	OpExchange Op = "exchange"
	OpRemove   Op = "remove"
	OpMkdir    Op = "mkdir"
	OpSyncDir  Op = "syncdir"
)

// A Step is passed to [Disk.Before]. Data and File are set for [OpWrite].
type Step struct {
	Op   Op
	Path string
	Data []byte
	File *os.File
}

// A Disk performs the steps. The zero value is the real disk.
type Disk struct {
	// TempMark follows the name of the replaced file in the name of every temporary file;
	// [Disk.Sweep] recognises them by it. If "", it is ".tmp-".
	TempMark string
	// Before, if set, is called before every step. If it returns an error, the step is not
	// done and fails with it. Tests use it to make a disk fail, or a process die, at each
	// step in turn.
	Before func(Step) error
}

func (d Disk) tempMark() string { return cmp.Or(d.TempMark, ".tmp-") }

func (d Disk) step(s Step) error {
	if d.Before == nil {
		return nil
	}
	if err := d.Before(s); err != nil {
		return &fs.PathError{Op: string(s.Op), Path: s.Path, Err: err}
	}
	return nil
}

func (d Disk) do(op Op, path string, step func() error) error {
	if err := d.step(Step{Op: op, Path: path}); err != nil {
		return err
	}
	return named(op, path, step())
}

// named returns an error that names a file, as the errors of package os do and those of system calls
// do not.
func named(op Op, path string, err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) {
		return err
	}
	return &fs.PathError{Op: string(op), Path: path, Err: err}
}

// MaxSize is the size of the largest file that [Disk.Read] reads. A sparse file may claim
// any size.
const MaxSize = 512 << 20

// Read returns the content of a regular file and its FileInfo when it was opened. It
// rejects anything but a regular file, even at the end of a symbolic link, and one larger
// than [MaxSize], and does not block on a FIFO.
func (d Disk) Read(path string) ([]byte, fs.FileInfo, error) {
	if err := d.step(Step{Op: OpRead, Path: path}); err != nil {
		return nil, nil, err
	}
	f, info, err := open(path, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > MaxSize {
		return nil, nil, tooLarge(path)
	}
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(f, MaxSize+1)); err != nil {
		return nil, nil, err
	}
	if buf.Len() > MaxSize {
		return nil, nil, tooLarge(path)
	}
	return buf.Bytes(), info, nil
}

func tooLarge(path string) error {
	return fmt.Errorf("%s is larger than %d MiB, so it was not read: make it smaller", path, MaxSize>>20)
}

// open opens a regular file for reading. Anything else is not opened: that could have
// effects, on a device.
func open(path string, flags int) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait|flags, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil { // another file may have the name now
		err = regular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
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

// Replace replaces the contents of path with data. If old is not nil and the file does not
// have exactly those bytes, nothing is written and the error wraps [ErrChanged]. The new
// file gets the metadata in like before it gets its name. If like is nil, that is the old
// file's metadata, or [Private] if there was no file. If the metadata cannot be set,
// nothing is written and the error wraps [ErrMeta].
func (d Disk) Replace(path string, data, old []byte, like *Meta) error {
	info, err := os.Lstat(path)
	var was *Meta
	switch {
	case err == nil:
		if err := regular(path, info); err != nil {
			return err
		}
		m, err := d.Meta(path)
		if err != nil {
			return err
		}
		was = &m
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case old != nil:
		return fmt.Errorf("%s has gone: %w", path, ErrChanged)
	}
	tmp, err := d.writeTemp(path, data, *cmp.Or(like, was, &Private))
	if err != nil {
		return err
	}
	if err := d.swapIn(tmp, path, old, was); errors.Is(err, syscall.EBUSY) {
		return fmt.Errorf("%s is mounted, so it cannot be replaced by another file: mount its directory instead, or edit it where it comes from: %w", path, err)
	} else if err != nil {
		return err
	}
	return d.settle(path)
}

// settle makes a change of the name path durable.
func (d Disk) settle(path string) error {
	if err := d.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%s: %w: %w", path, ErrNotDurable, err)
	}
	return nil
}

// swapIn moves tmp over path. Unless old is nil, path must still have the bytes old and the
// metadata was: a mode or a list that was made stricter meanwhile must not be undone.
func (d Disk) swapIn(tmp, path string, old []byte, was *Meta) (err error) {
	exchanged := false // tmp is another program's file
	defer func() {
		if err != nil && !exchanged {
			_ = os.Remove(tmp)
		}
	}()
	if old == nil {
		return d.do(OpRename, path, func() error { return os.Rename(tmp, path) })
	}
	before, err := d.mustHold(path, old, *was)
	if err != nil {
		return err
	}
	ours, err := os.Lstat(tmp)
	if err != nil {
		return err
	}
	if err := d.step(Step{Op: OpExchange, Path: path}); err != nil {
		return err
	}
	err = exchange(tmp, path)
	if errors.Is(err, errors.ErrUnsupported) {
		return os.Rename(tmp, path)
	}
	if err != nil {
		return named(OpExchange, path, err)
	}
	exchanged = true
	displaced, err := os.Lstat(tmp)
	if err != nil || !sameVersion(displaced, before) || !d.has(tmp, *was) {
		return putBack(tmp, path, displaced, ours)
	}
	_ = d.Remove(tmp) // otherwise the next Sweep removes it
	return nil
}

// putBack undoes an exchange that displaced a save: one that came in after the comparison,
// and is newer than what ours was made from. If yet another save has landed on ours by then,
// that is the newest, and comes out: it is put back in turn, until what comes out is what
// was put in.
func putBack(tmp, path string, displaced, ours fs.FileInfo) error {
	inPath, inTemp := ours, displaced
	for {
		if err := exchange(tmp, path); err != nil {
			return fmt.Errorf("%s: another program saved it meanwhile; that save is in %s now, and could not be put back: %w", path, tmp, err)
		}
		out, err := os.Lstat(tmp)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", path, ErrChanged), err)
		}
		if sameVersion(out, inPath) {
			_ = os.Remove(tmp)
			return fmt.Errorf("%s: %w", path, ErrChanged)
		}
		inPath, inTemp = inTemp, out
	}
}

// has reports whether a file still has the metadata was.
func (d Disk) has(path string, was Meta) bool {
	now, err := d.Meta(path)
	return err == nil && now.Equal(was)
}

// mustHold checks a file's bytes and metadata, and returns its FileInfo.
func (d Disk) mustHold(path string, want []byte, was Meta) (fs.FileInfo, error) {
	got, before, err := d.Read(path)
	if err != nil {
		return nil, err
	}
	// Reading a large file takes long enough for a save to follow the reader; another look
	// makes the window as small as a system call.
	after, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(got, want) || !sameVersion(before, after) || !d.has(path, was) {
		return nil, fmt.Errorf("%s: %w", path, ErrChanged)
	}
	return after, nil
}

// sameVersion reports whether two FileInfos are of the same file, with no write between.
func sameVersion(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Create creates path, which must not exist (fs.ErrExist), with the given data and
// metadata. A crash may leave a temporary file for [Disk.Sweep], but never half of path; an
// error leaves nothing. The file is synced; its name is durable after the next
// [Disk.SyncDir].
func (d Disk) Create(path string, data []byte, like Meta) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	tmp, err := d.writeTemp(path, data, like)
	if err != nil {
		return err
	}
	if err := d.do(OpLink, path, func() error { return place(tmp, path) }); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	return nil
}

// Aside ends the name of a temporary file that was renamed to be removed.
const Aside = "-aside"

func (d Disk) tempName(path string) string {
	return fmt.Sprintf("%s%s%d-%d", path, d.tempMark(), os.Getpid(), time.Now().UnixNano())
}

// writeTemp creates a synced temporary file beside path, with the metadata in like.
func (d Disk) writeTemp(path string, data []byte, like Meta) (_ string, err error) {
	tmp := d.tempName(path)
	if err := d.step(Step{Op: OpCreate, Path: tmp}); err != nil {
		return "", err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	var pe *fs.PathError
	if errors.As(err, &pe) {
		pe.Op, pe.Path = "write", path // which the caller knows
	}
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			_ = os.Remove(tmp)
		}
	}()
	if err := d.step(Step{Op: OpWrite, Path: tmp, Data: data, File: f}); err != nil {
		return "", err
	}
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	if err := like.apply(d, f); err != nil {
		return "", fmt.Errorf("%s: %w: %w", path, ErrMeta, err)
	}
	if err := d.do(OpSync, tmp, f.Sync); err != nil {
		return "", err
	}
	return tmp, f.Close()
}

// Remove deletes a file. It is not an error if the file does not exist.
func (d Disk) Remove(path string) error {
	err := d.do(OpRemove, path, func() error { return os.Remove(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveIf deletes a file that still has the content old, and makes that durable; otherwise
// its error wraps [ErrChanged]. It follows no link. The file is renamed first, so that what
// another program saves between the comparison and the removal is noticed, and put back.
func (d Disk) RemoveIf(path string, old []byte) error {
	was, err := d.Meta(path)
	if err != nil {
		return err
	}
	before, err := d.mustHold(path, old, was)
	if err != nil {
		return err
	}
	aside := d.tempName(path) + Aside
	if err := d.do(OpRename, path, func() error { return os.Rename(path, aside) }); err != nil {
		return err
	}
	taken, err := os.Lstat(aside)
	if err != nil || !sameVersion(taken, before) || !d.has(aside, was) {
		return giveBack(aside, path, ErrChanged)
	}
	if err := d.Remove(aside); err != nil {
		return giveBack(aside, path, err)
	}
	return d.settle(path)
}

// giveBack undoes a rename that why does not allow. If there is a new file by then, that is
// the newer one, and stays.
func giveBack(aside, path string, why error) error {
	err := place(aside, path)
	if errors.Is(err, fs.ErrExist) {
		err = os.Remove(aside)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; it is in %s now, and could not be put back: %w", path, why, aside, err)
	}
	return fmt.Errorf("%s: %w", path, why)
}

// place renames a file or directory to a name that nothing has; otherwise its error wraps
// fs.ErrExist.
func place(from, to string) error {
	err := renameNew(from, to)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err = os.Link(from, to); err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// Hard links are not supported here either (FAT, some network file systems).
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

// RemoveDir deletes an empty directory, and nothing else. It is not an error if it does not
// exist or is not empty.
func (d Disk) RemoveDir(path string) error {
	err := d.do(OpRemove, path, func() error { return rmdir(path) })
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// RemoveDirIf deletes an empty directory if is says, of what was taken away, that it is the
// right one; otherwise its error wraps [ErrChanged].
func (d Disk) RemoveDirIf(path string, is func(fs.FileInfo) bool) error {
	aside := d.tempName(path) + Aside
	if err := d.do(OpRemove, path, func() error { return os.Rename(path, aside) }); err != nil {
		return err
	}
	taken, err := os.Lstat(aside)
	if err != nil || !is(taken) {
		return giveBack(aside, path, ErrChanged)
	}
	if err := rmdir(aside); err != nil {
		return giveBack(aside, path, err)
	}
	return nil
}

// Mkdir creates one directory, which must not exist.
func (d Disk) Mkdir(path string, perm fs.FileMode) error {
	return d.do(OpMkdir, path, func() error { return os.Mkdir(path, perm) })
}

// PrivateDir creates a directory that only its owner may enter, and its parents, and makes
// their names durable. An existing directory is restricted too. Files created in it inherit
// no access control list.
func (d Disk) PrivateDir(path string) error {
	if err := d.step(Step{Op: OpMkdir, Path: path}); err != nil {
		return err
	}
	var in []string // the parents of missing directories
	for dir := path; ; dir = in[len(in)-1] {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		in = append(in, filepath.Dir(dir))
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for _, dir := range in {
		if err := d.SyncDir(dir); err != nil {
			return err
		}
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm() != 0o700 && ownerOf(info) != nil {
		// Before removing its list: without it, the group bits have another meaning.
		err = os.Chmod(path, 0o700)
	}
	if err != nil {
		return err
	}
	return dropACL(path)
}

// SyncDir makes the names in a directory durable.
func (d Disk) SyncDir(dir string) error {
	return d.do(OpSyncDir, dir, func() error { return syncDir(dir) })
}

// Leftovers returns, of the names in the directory of path, the paths of the temporary files that
// a killed run has left beside path.
func (d Disk) Leftovers(path string, names []string) (left []string) {
	dir, base := filepath.Split(path)
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, base); ok && strings.Contains(rest, d.tempMark()) {
			left = append(left, filepath.Join(dir, name))
		}
	}
	return left
}

// Sweep removes those [Disk.Leftovers] of a path whose bytes are known and may go, and returns
// the others: what was exchanged or renamed may be another program's newest save. Only the
// holder of the lock that guards all writers of the path may call it.
func (d Disk) Sweep(left []string, known func(name string, text []byte) bool) (kept []string, err error) {
	var errs []error
	for _, name := range left {
		text, spare := d.Spare(name, known)
		var err error
		switch {
		case !spare:
			kept = append(kept, name)
			continue
		case text == nil:
			err = d.RemoveDir(name)
		default:
			err = d.RemoveIf(name, text)
		}
		if errors.Is(err, ErrChanged) {
			kept = append(kept, name)
		} else {
			errs = append(errs, err)
		}
	}
	return kept, errors.Join(errs...)
}

// Spare reports whether one of the [Disk.Leftovers] is an empty directory, which has no
// text, or a file whose bytes are known.
func (d Disk) Spare(name string, known func(name string, text []byte) bool) (text []byte, spare bool) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, false
	case info.IsDir():
		names, err := os.ReadDir(name)
		return nil, err == nil && len(names) == 0
	case !info.Mode().IsRegular():
		return nil, false
	}
	text, _, err = d.Read(name)
	return text, err == nil && known(name, text)
}
