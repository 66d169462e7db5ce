//go:build !linux

package script

import (
	"errors"
	"os"
)

func openTerminal(cols, rows int) (master, slave *os.File, err error) {
	return nil, nil, errors.ErrUnsupported
}
