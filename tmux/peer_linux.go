package tmux

import (
	"context"
	"fmt"
	"os"
)

// versionMismatch explains a connection that broke at once: an older client program cannot
// talk to a newer server, and neither says so. It finds the server's process through the
// socket and its program in /proc. It returns nil if the versions are equal or unknown.
func (s *Server) versionMismatch(ctx context.Context, e *Error) error {
	if e.Err != ErrServerGone {
		return nil
	}
	conn, err := s.at.dial(ctx)
	if err != nil {
		return nil
	}
	defer conn.Close()
	peer, err := peerOf(conn)
	if err != nil {
		return nil
	}
	// The pid may have been reused by now. The open directory stays that of one process,
	// and belongs to the user who runs it.
	proc, err := os.Open(fmt.Sprintf("/proc/%d", peer.pid))
	if err != nil {
		return nil
	}
	defer proc.Close()
	info, err := proc.Stat()
	if err != nil {
		return nil
	}
	if uid, _ := ownerOf(info); uid != os.Geteuid() {
		return nil
	}
	theirs, err := programVersion(ctx, fmt.Sprintf("/proc/%d/fd/%d/exe", os.Getpid(), proc.Fd()), s.cfg.Env)
	if err != nil {
		return nil
	}
	ours, err := s.ProgramVersion(ctx)
	if err != nil || ours == theirs {
		return nil
	}
	return fmt.Errorf("%w: the program is %s, the server on %s is %s", ErrVersionMismatch, ours, s.at.path, theirs)
}
