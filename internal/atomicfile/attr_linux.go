package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const errNoAttr = unix.ENODATA

// madeBySystem are attributes that the kernel makes for each file (the
// signatures of its bytes), and that of programs, which a config is not.
var madeBySystem = map[string]bool{"security.ima": true, "security.evm": true, "security.capability": true}

// isACL reports whether an attribute gives access: the lists of POSIX and NFSv4.
func isACL(name string) bool {
	return strings.HasPrefix(name, "system.") && strings.Contains(name, "acl")
}

// The lists are attributes like others here.
func refuseACL(*os.File) error { return nil }

// ID distinguishes a file from any other that has or had its name, whatever its
// content; "" if the system cannot.
func ID(path string) string {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return fmt.Sprintf("%d-%d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec)
}

// dropACL takes a directory's own list and the one that its new files would
// get.
func dropACL(dir string) error {
	for _, name := range []string{"system.posix_acl_default", "system.posix_acl_access"} {
		err := unix.Removexattr(dir, name)
		if err != nil && !errors.Is(err, errNoAttr) && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.ENOSYS) {
			return fmt.Errorf("remove %s of %s: %w", name, dir, err)
		}
	}
	return nil
}
