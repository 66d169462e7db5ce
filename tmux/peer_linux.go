package tmux

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// versionMismatch explains a connection that broke at once: an older client
// program cannot talk to a newer server, and neither says so. The server's
// process is known from the socket, its program from /proc. Nil when the
// versions are the same or cannot be told.
func (s *Server) versionMismatch(ctx context.Context, e *Error) error {
	if e.Err != ErrServerGone {
		return nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.socket)
	if err != nil {
		return nil
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return nil
	}
	var cred *unix.Ucred
	raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || cred == nil {
		return nil
	}
	theirs, err := programVersion(ctx, fmt.Sprintf("/proc/%d/exe", cred.Pid), s.cfg.Env)
	if err != nil {
		return nil
	}
	ours, err := s.ProgramVersion(ctx)
	if err != nil || ours == theirs {
		return nil
	}
	return fmt.Errorf("%w: the program is %s, the server on %s is %s", ErrVersionMismatch, ours, s.socket, theirs)
}
