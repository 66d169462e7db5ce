package tmux

import (
	"context"
	"fmt"
)

// versionMismatch explains a connection that broke at once: an older client program cannot
// talk to a newer server, and neither says so. The server is asked over the native
// transport, which has no version. It returns nil if the versions are equal or unknown.
func (s *Server) versionMismatch(ctx context.Context, e *Error) error {
	if e.Err != ErrServerGone || !nativeUsable {
		return nil
	}
	m := s.newMark()
	rep, err := s.transport.native.run(ctx, request{words: []string{"display-message", "-p", string(m.around("#{version}"))}, needs: needsNone})
	if err != nil {
		return nil
	}
	version, _ := m.inside(string(rep.stdout))
	theirs, err := ParseVersion(version)
	if err != nil {
		return nil
	}
	ours, err := s.ProgramVersion(ctx)
	if err != nil || ours == theirs {
		return nil
	}
	return fmt.Errorf("%w: the program is %s, the server on %s is %s", ErrVersionMismatch, ours, s.at.path, theirs)
}
