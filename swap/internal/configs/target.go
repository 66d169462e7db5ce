package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Target resolves all symbolic links of path.
func Target(path string) (string, error) {
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

// InRealDir returns path with the links on the way to it resolved; a link at its end stays.
func (env Env) InRealDir(path string) string {
	if dir, err := env.Real(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
