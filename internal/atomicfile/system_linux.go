package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const errNoAttr = unix.ENODATA

// madeBySystem are attributes that the kernel computes for each file (signatures of its
// bytes), and one for programs, which a config is not.
var madeBySystem = map[string]bool{"security.ima": true, "security.evm": true, "security.capability": true}

// isACL reports whether an attribute grants access, as the lists of POSIX and NFSv4 do.
func isACL(name string) bool {
	return strings.HasPrefix(name, "system.") && strings.Contains(name, "acl")
}

// refuseACL refuses nothing: on Linux, the lists are attributes like any other.
func refuseACL(*os.File) error { return nil }

// ID returns an identifier that distinguishes a file from any other that has or had its
// name, whatever the content; "" if the system has none.
func ID(path string) string {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return fmt.Sprintf("%d-%d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec)
}

// dropACL removes a directory's own list, and the default one for new files.
func dropACL(dir string) error {
	for _, name := range []string{"system.posix_acl_default", "system.posix_acl_access"} {
		err := unix.Removexattr(dir, name)
		if err != nil && !errors.Is(err, errNoAttr) && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.ENOSYS) {
			return fmt.Errorf("remove %s of %s: %w", name, dir, err)
		}
	}
	return nil
}

// exchange swaps the files behind two names in one step. The error is errors.ErrUnsupported
// if the file system cannot (NFS, some FUSE).
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return errors.ErrUnsupported
	}
	return err
}

// renameNew renames a file or directory to a name that nothing has. The error is
// errors.ErrUnsupported if the file system cannot (NFS).
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return errors.ErrUnsupported
	}
	return linkError(from, to, err)
}
