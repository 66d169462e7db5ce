package server

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
)

// maxInstructions bounds the instructions in bytes: some clients cut there.
const maxInstructions = 2048

//go:embed instructions.txt
var baseInstructions string

// instructions returns the text that clients show to the model. Our own part must
// fit; what the environment adds is left out if it does not.
func (s *Server) instructions() (string, error) {
	parts := []string{strings.TrimSpace(baseInstructions)}
	parts = append(parts, fmt.Sprintf("Safety level: %s (readonly, mutating, destructive; %s). Tools beyond it are hidden.", s.cfg.Tier, varSafety.name))
	parts = append(parts, fmt.Sprintf("run_command defaults to suppress_history=%t; send, paste and spawn tools do not inherit it.", s.cfg.SuppressHistory))
	if s.cfg.Tier == Readonly {
		parts = append(parts, "Readonly mode: probe freely when unsure.")
	}
	base := strings.Join(parts, "\n\n")
	context := func(pane, socket string) string {
		if socket != "" {
			socket = " (socket " + socket + ")"
		}
		return fmt.Sprintf("\n\nAgent context: this agent runs in pane %s%s; rows of it have is_caller=true. There is no whoami tool: list_panes with filters {\"is_caller\":\"1\"}.", pane, socket)
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
