//go:build !linux

package tmux

import "context"

func (s *Server) versionMismatch(context.Context, *Error) error { return nil }
