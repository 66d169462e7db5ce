package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tmuxmcp/internal/procstat"

	"golang.org/x/sys/unix"
)

// checkDir makes the path of a working directory absolute, and refuses one that the server
// is known not to be able to enter: tmux would take another.
func checkDir(ctx context.Context, s *Server, dir *string) error {
	if *dir == "" {
		return nil
	}
	abs, err := filepath.Abs(*dir)
	if err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	*dir = abs
	process, err := s.Process(ctx)
	switch {
	case errors.Is(err, ErrNoServer) || errors.Is(err, ErrServerGone): // one that is started here
	case err != nil:
		return err
	case !process.Here || !procstat.SharesFiles(process.PID):
		return nil
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", abs)
	}
	if err == nil {
		if err = unix.Access(abs, unix.X_OK); err != nil {
			err = &os.PathError{Op: "enter", Path: abs, Err: err}
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: directory: %w", ErrArgument, err)
	}
	return err
}
