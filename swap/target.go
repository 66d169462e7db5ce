package swap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// targetOf resolves all symbolic links of path.
func targetOf(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		return target, nil
	}
	if _, lerr := os.Lstat(path); lerr == nil && errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is a symbolic link to a file that does not exist", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist", path)
	}
	return "", fmt.Errorf("%s: %w", path, err)
}
