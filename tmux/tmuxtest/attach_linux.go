package tmuxtest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tmuxmcp/tmux"
)

// Attach attaches a client to a session, on a pseudo-terminal of the given size. Anything
// written to the returned master is the client's input. The client is gone when the test
// ends.
func Attach(t testing.TB, srv *tmux.Server, session string, columns, lines uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	fd := int(master.Fd())
	check(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	check(t, err)
	check(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: lines, Col: columns, Xpixel: columns * 8, Ypixel: lines * 16}))
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	check(t, err)
	defer slave.Close()
	cmd := exec.Command(srv.Binary(), "-u", "-S", srv.SocketPath(), "attach-session", "-t", session)
	cmd.Env = []string{"TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	check(t, cmd.Start())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for buf := make([]byte, 4096); ; {
			if _, err := master.Read(buf); err != nil {
				return // the last process on the terminal is gone
			}
		}
	}()
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); <-drained; master.Close() })
	return master
}
