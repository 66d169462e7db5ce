//go:build linux || darwin

package atomicfile

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// readAttrs reads the extended attributes of a file; it returns nil if there are none, or
// the file system does not support them.
func readAttrs(f *os.File) (map[string][]byte, error) {
	if err := refuseACL(f); err != nil {
		return nil, err
	}
	list, err := readAttr(func(buf []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), buf) })
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var attrs map[string][]byte
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if madeBySystem[name] {
			continue
		}
		v, err := readAttr(func(buf []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, buf) })
		if errors.Is(err, errNoAttr) {
			continue // it is gone, or only listed
		}
		if err != nil {
			return nil, err
		}
		if attrs == nil {
			attrs = map[string][]byte{}
		}
		attrs[name] = v
	}
	return attrs, nil
}

// readAttr calls get with increasingly large buffers.
func readAttr(get func([]byte) (int, error)) ([]byte, error) {
	for {
		n, err := get(nil)
		if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		buf := make([]byte, n+64)
		n, err = get(buf)
		if errors.Is(err, unix.ERANGE) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
}

func setAttr(f *os.File, name string, v []byte) error {
	return unix.Fsetxattr(int(f.Fd()), name, v, 0)
}

func removeAttr(f *os.File, name string) error {
	err := unix.Fremovexattr(int(f.Fd()), name)
	if errors.Is(err, errNoAttr) {
		return nil
	}
	return err
}
