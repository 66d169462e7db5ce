package server

import (
	_ "embed"
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

// instructionsFor returns the text that clients show to the model. What the environment adds is
// omitted if it does not fit.
func instructionsFor(cfg Config) string {
	text := strings.TrimSpace(baseInstructions)
	if cfg.Tier == Readonly {
		text += "\nThis server is read-only: tools that type or change are not offered."
	}
	c := cfg.Caller
	if c.Pane == "" {
		return text
	}
	pane, marked := "\n\nYou run in pane "+string(c.Pane), `, marked "caller" in lists.`
	socket := ""
	if c.Socket != "" {
		socket = " (socket " + filepath.Base(c.Socket) + ")"
	}
	for _, where := range []string{pane + socket + marked, pane + marked} {
		if len(text+where) <= maxInstructions {
			return text + where
		}
	}
	return text
}
