package server

import (
	"os"
	"strconv"
	"strings"

	"tmuxmcp/internal/procstat"
)

// callerAbove looks for tmux's variables in the environment of a process and
// those above it, up to the tmux server or the end. At the latest the process
// that tmux itself started in the pane has them.
func callerAbove(pid int) Caller {
	for depth := 0; pid > 1 && depth < 64; depth++ {
		p, err := procstat.Of(pid)
		if err != nil || p.Name == "tmux: server" {
			break
		}
		environ, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		var tmuxVar, paneVar string
		for kv := range strings.SplitSeq(string(environ), "\x00") {
			if v, ok := strings.CutPrefix(kv, "TMUX="); ok {
				tmuxVar = v
			} else if v, ok := strings.CutPrefix(kv, "TMUX_PANE="); ok {
				paneVar = v
			}
		}
		if c := callerFrom(tmuxVar, paneVar); c.Pane != "" && c.Socket != "" {
			return c
		}
		pid = p.Parent
	}
	return Caller{}
}
