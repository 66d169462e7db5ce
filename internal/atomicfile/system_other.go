//go:build !linux && !darwin

package atomicfile

import (
	"errors"
	"os"
)

// Extended attributes are not supported on other systems.

func readAttrs(*os.File) (map[string][]byte, error) { return nil, nil }
func setAttr(*os.File, string, []byte) error        { return nil }
func removeAttr(*os.File, string) error             { return nil }
func isACL(string) bool                             { return false }
func dropACL(string) error                          { return nil }

// ID returns "": this system has no identifier that distinguishes a file from another that
// has or had its name.
func ID(string) string { return "" }

func exchange(string, string) error { return errors.ErrUnsupported }

func renameNew(string, string) error { return errors.ErrUnsupported }
