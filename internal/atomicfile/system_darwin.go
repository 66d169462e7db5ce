package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const errNoAttr = unix.ENOATTR

// madeBySystem are attributes that macOS sets on files by itself, and nobody else can set.
var madeBySystem = map[string]bool{"com.apple.provenance": true, "com.apple.macl": true}

// isACL reports whether an attribute grants access: no listed one does.
func isACL(string) bool { return false }

// refuseACL returns an error for a file with an access control list: only macOS's C library
// can copy those. ls shows each entry on a separate line.
func refuseACL(f *os.File) error {
	path := f.Name()
	if !strings.HasPrefix(path, "/") {
		path = "./" + path
	}
	out, err := exec.Command("/bin/ls", "-lde", path).Output()
	if err != nil {
		return fmt.Errorf("look for an access control list: %w", err)
	}
	if bytes.Count(out, []byte("\n")) > 1+strings.Count(path, "\n") {
		return fmt.Errorf("it has an access control list, which cannot be copied on macOS: remove it with chmod -N (ls -le shows it)")
	}
	return nil
}

// ID returns an identifier that distinguishes a file from any other that has or had its
// name, whatever the content; "" if the system has none.
func ID(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d-%d.%09d", st.Ino, st.Birthtimespec.Sec, st.Birthtimespec.Nsec)
}

func dropACL(dir string) error {
	if err := exec.Command("/bin/chmod", "-N", dir).Run(); err != nil {
		return fmt.Errorf("remove the access control list of %s: %w", dir, err)
	}
	return nil
}

// exchange swaps the files behind two names in one step. The error is errors.ErrUnsupported
// if the file system cannot (HFS+, network shares).
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}

// renameNew renames a file or directory to a name that nothing has. The error is
// errors.ErrUnsupported if the file system cannot (HFS+, network shares).
func renameNew(from, to string) error {
	err := unix.RenamexNp(from, to, unix.RENAME_EXCL)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return linkError(from, to, err)
}
