// Package owned opens files that only this user or root can have put at a path.
//
// Nobody else can replace what a path names if nobody else can write to any directory on the way, or
// to the directory of a symbolic link on the way. A directory with the sticky bit may be writable by
// all, since only the owner of a file in it can replace that.
package owned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Above returns an error if someone else could rename a file, or create it first, by writing to the
// directories above it. There may be no link on the way.
func Above(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err == nil {
			err = directory(dir, info)
		}
		if err != nil || dir == "/" {
			return err
		}
	}
}

// directory returns an error if someone else could replace what is in a directory.
func directory(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if owner := By(info); owner != 0 && owner != os.Geteuid() && !outside(owner) {
		return foreign(dir, info)
	}
	if shared(info) && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("%s can be changed by other users (mode %04o, not sticky): chmod go-w makes it yours", dir, info.Mode().Perm())
	}
	return nil
}

// shared reports whether others may write to a file or directory.
func shared(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

func foreign(path string, info fs.FileInfo) error {
	return fmt.Errorf("%s belongs to another user (uid %d)", path, By(info))
}

// Resolve returns a path without symbolic links, as filepath.EvalSymlinks does. It returns an
// error if someone else could make the path name another file.
func Resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	at, rest, public := "/", path, false
	for links := 0; ; {
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return "", err
		case public && By(info) != 0 && By(info) != os.Geteuid():
			return "", foreign(at, info)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(at)
			if links++; links > 40 {
				err = &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
			}
			if err != nil {
				return "", err
			}
			if at = filepath.Dir(at); filepath.IsAbs(to) {
				at = "/"
			}
			public = false // of at, which was checked on the way
			rest = to + "/" + rest
			continue
		}
		name := ""
		for name == "" || name == "." {
			if rest == "" {
				return at, nil
			}
			name, rest, _ = strings.Cut(rest, "/")
		}
		if err := directory(at, info); err != nil {
			return "", err
		}
		// There are no links in at, so that this is right for .. too.
		at, public = filepath.Join(at, name), shared(info)
	}
}

// Directory resolves a path to a directory in which only this user and root can put files.
func Directory(path string) (string, error) {
	dir, err := Resolve(path)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err == nil {
		err = directory(dir, info)
	}
	return dir, err
}

// Open opens a regular file that only this user and root can have written or put there.
func Open(path string) (*os.File, error) {
	real, err := Resolve(path)
	if err != nil {
		return nil, err
	}
	// Opening a named pipe does not block, and is refused.
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("is not a regular file")
	case By(info) != 0 && By(info) != os.Geteuid():
		err = errors.New("belongs to another user")
	case shared(info):
		err = fmt.Errorf("others may write to it (mode %04o): chmod go-w makes it yours", info.Mode().Perm())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// By returns the uid of a file's owner, or -1.
func By(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// outside reports whether a uid stands for all users that do not exist in this user
// namespace. In a sandbox, root's directories look like that.
func outside(uid int) bool {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(overflow)) != strconv.Itoa(uid) {
		return false
	}
	mapped, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(mapped)) {
		var inner, outer, count int
		if n, _ := fmt.Sscan(line, &inner, &outer, &count); n != 3 || inner <= uid && uid < inner+count {
			return false
		}
	}
	return true
}
