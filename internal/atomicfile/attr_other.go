//go:build !linux && !darwin

package atomicfile

import "os"

// Extended attributes of other systems are not looked at.

func readAttrs(*os.File) (map[string][]byte, error) { return nil, nil }
func setAttr(*os.File, string, []byte) error        { return nil }
func removeAttr(*os.File, string) error             { return nil }
func isACL(string) bool                             { return false }
func dropACL(string) error                          { return nil }

// ID would distinguish a file from any other that has or had its name; this
// system cannot.
func ID(string) string { return "" }
