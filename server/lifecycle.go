package server

import (
	"context"
	"regexp"
	"time"

	"tmuxmcp/tmux"
)

// Close removes the files of a server that is no longer used. Serve calls it at its end.
func (s *Server) Close() { s.files.Close() }

// bufferName matches the paste buffers that this program creates. No other buffer is ever
// shown, pasted or deleted, since it may hold the user's clipboard.
var bufferName = regexp.MustCompile(`^libtmux_mcp_[0-9a-f]{32}_[A-Za-z0-9_.-]{1,64}$`)

// madeBuffer records that a tmux server holds one of our buffers, to be removed when this
// program ends.
func (s *Server) madeBuffer(srv *tmux.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.withBuffers == nil {
		s.withBuffers = map[string]*tmux.Server{}
	}
	s.withBuffers[srv.SocketPath()] = srv
}

// removalTime bounds the removal of buffers at the end, per server.
var removalTime = 4 * time.Second

// removeBuffers deletes our buffers on the servers where some were created. Other servers
// are not contacted.
func (s *Server) removeBuffers() {
	s.mu.Lock()
	servers := s.withBuffers
	s.withBuffers = nil
	s.mu.Unlock()
	for socket, srv := range servers {
		ctx, cancel := context.WithTimeout(context.Background(), removalTime)
		type buffer struct {
			Name string `tmux:"buffer_name"`
		}
		buffers, err := tmux.List[buffer](ctx, srv, tmux.ListBuffers{Filter: tmux.MatchToken("buffer_name", "libtmux_mcp_*", tmux.Match{Glob: true})})
		for _, b := range buffers {
			if bufferName.MatchString(b.Name) {
				err = srv.Buffer(b.Name).Delete(ctx)
			}
		}
		if err != nil {
			s.cfg.Log.Debug("remove buffers", "socket", socket, "cause", causeOf(err))
		}
		cancel()
	}
}
