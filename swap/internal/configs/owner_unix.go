//go:build unix

package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Owned returns an error if path, or a directory or link on the way to it, belongs to
// another user. That user decides which file is edited, and could choose one that only we
// may write; also, files created there would get in the way of the other user's own runs.
// Root is trusted, and in a user namespace the owner of the root directory. Components that
// do not exist are not checked.
func Owned(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is not an absolute path", path)
	}
	trusted := []uint32{uint32(os.Geteuid()), 0}
	if st, err := lstat("/"); err == nil {
		trusted = append(trusted, st.Uid)
	}
	todo := strings.Split(filepath.Clean(path), "/")
	at := "/"
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if name == "" {
			continue
		}
		if name == ".." { // of a link: what precedes it is resolved already
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		st, err := lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !slices.Contains(trusted, st.Uid) {
			return foreign(next, st.Uid)
		}
		if st.Mode&syscall.S_IFMT != syscall.S_IFLNK {
			at = next
			continue
		}
		if links++; links > 40 {
			return fmt.Errorf("%s: too many links", path)
		}
		to, err := os.Readlink(next)
		if err != nil {
			return err
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	return nil
}

// ownFile returns an error for a file that a rename would take from its owner.
func ownFile(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if uid := os.Geteuid(); !ok || uid == 0 || int(st.Uid) == uid {
		return nil
	}
	return foreign(path, st.Uid)
}

func foreign(path string, uid uint32) error {
	if uid == 0 {
		return fmt.Errorf("%s belongs to root, so it is managed elsewhere, as by a package manager: change it there", path)
	}
	name, as := strconv.Itoa(int(uid)), "'#"+strconv.Itoa(int(uid))+"'"
	if u, err := user.LookupId(name); err == nil {
		name, as = u.Username, u.Username
	}
	me := "this runs as another user"
	what := ""
	if os.Geteuid() == 0 {
		me = "this runs as root"
		what = ", or set HOME to root's own home"
	}
	return fmt.Errorf("%s belongs to user %s, and %s: run it as that user (sudo -u %s …)%s", path, name, me, as, what)
}

func lstat(path string) (*syscall.Stat_t, error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return &st, nil
}
