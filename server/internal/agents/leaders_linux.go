package agents

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"tmuxmcp/internal/procstat"
	"tmuxmcp/tmux"
)

// leaders are the programs that a tmux server has started on terminals of their own: those of
// its panes, and of popups.
type leaders struct {
	of       int    // the server's process; 0 is none
	children string // all that it has started, as the kernel lists them
	pids     []int
}

func (l leaders) equal(m leaders) bool { return l.of == m.of && slices.Equal(l.pids, m.pids) }

// leadersOf returns the leaders of a server, given those of an earlier look, or none if they
// cannot be seen from here. alive is false if the server is known to be gone.
func leadersOf(server tmux.Process, was leaders) (now leaders, alive bool) {
	if !server.Here {
		return leaders{}, true
	}
	// A tmux server has one thread.
	pid := strconv.Itoa(server.PID)
	text, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	if err != nil { // or the kernel was built without such files
		_, err := procstat.Of(server.PID)
		return leaders{}, err == nil
	}
	if now = (leaders{of: server.PID, children: string(text)}); now.of == was.of && now.children == was.children {
		return was, true
	}
	for _, field := range strings.Fields(now.children) {
		child, _ := strconv.Atoi(field)
		if p, err := procstat.Of(child); err == nil && p.Session == child && p.Terminal != 0 {
			now.pids = append(now.pids, child)
		}
	}
	return now, true
}
