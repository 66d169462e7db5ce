package server

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
)

// Some clients show a model only the first bytes of the instructions, and one repeats them
// in each tool's description. So everything is short, what matters most comes first, within
// firstBytes, and where the agent itself is comes last.
const (
	firstBytes      = 240
	maxInstructions = 1000
)

//go:embed instructions.txt
var baseInstructions string

// instructions returns the text that clients show to the model. Our own part must fit; what
// the environment adds is omitted if it does not.
func (s *Server) instructions() (string, error) {
	base := strings.TrimSpace(baseInstructions)
	if s.cfg.Tier == Readonly {
		base += "\nThis server is read-only: tools that type or change are not offered."
	}
	context := func(pane, socket string) string {
		if socket != "" {
			socket = " (socket " + socket + ")"
		}
		return fmt.Sprintf("\n\nYou run in pane %s%s, marked \"caller\" in lists.", pane, socket)
	}
	if n := len(base + context("%000", "")); n > maxInstructions {
		return "", fmt.Errorf("the instructions have %d bytes, more than %d", n, maxInstructions)
	}
	c := s.cfg.Caller
	if c.Pane == "" {
		return base, nil
	}
	socket := ""
	if c.Socket != "" {
		socket = filepath.Base(c.Socket)
	}
	for _, add := range []string{context(string(c.Pane), socket), context(string(c.Pane), ""), ""} {
		if len(base+add) <= maxInstructions {
			return base + add, nil
		}
	}
	return base, nil
}
