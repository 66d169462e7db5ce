package server

import (
	"fmt"
	"time"
)

// The file of a tmux server's socket may be removed, as programs that clean /tmp do. The
// server goes on without it, and makes it again when it gets SIGUSR1; a second server on the
// same path would take its place.

// exitsWithin is how long a tmux server that exits may take from removing its socket to its
// end.
const exitsWithin = 500 * time.Millisecond

// lost says that a tmux server still runs without its socket, and what to do; "" if none is
// known to.
func lost(socket string) (text, hint string) {
	pid := lostServer(socket)
	for begun := time.Now(); pid != 0 && time.Since(begun) < exitsWithin; pid = lostServer(socket) {
		time.Sleep(20 * time.Millisecond)
	}
	if pid == 0 {
		return "", ""
	}
	return fmt.Sprintf("the tmux server at %s still runs as process %d, but the file of its socket was removed", socket, pid),
		fmt.Sprintf("kill -USR1 %d makes it again", pid)
}

// lostFault is lost as a fault; nil if no such server is known.
func lostFault(socket string) *fault {
	text, hint := lost(socket)
	if text == "" {
		return nil
	}
	return faultf(kindNoServer, "%s", text).suggest("%s", hint)
}
