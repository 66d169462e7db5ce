// Package lost finds tmux servers that run without the file of their socket, which programs
// that clean /tmp remove. Such a server creates it again on SIGUSR1; a second server on the
// same path would take its place.
package lost

import (
	"fmt"
	"time"
)

// exitsWithin is how long a tmux server that exits may take from removing its socket to its
// end.
const exitsWithin = 500 * time.Millisecond

// Server returns words for a tmux server that still runs without its socket, and what to do;
// "" if none is known to run.
func Server(socket string) (text, hint string) {
	pid := serverOf(socket)
	for begun := time.Now(); pid != 0 && time.Since(begun) < exitsWithin; pid = serverOf(socket) {
		time.Sleep(20 * time.Millisecond)
	}
	if pid == 0 {
		return "", ""
	}
	return fmt.Sprintf("the tmux server at %s still runs as process %d, but the file of its socket was removed", socket, pid),
		fmt.Sprintf("kill -USR1 %d makes it again", pid)
}
