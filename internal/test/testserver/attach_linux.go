package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/tmux"
)

// Attach attaches a client to a session, on a pseudo-terminal of the given size. Anything
// written to the returned master is the client's input. The client is gone when the test
// ends.
func Attach(t testing.TB, srv *tmux.Server, session string, columns, lines uint16) *os.File {
	t.Helper()
	master, detach, err := AttachClient(srv, session, columns, lines)
	if errors.Is(err, errNoTerminal) {
		t.Skip(err)
	}
	check.OK(t, err)
	t.Cleanup(detach)
	return master
}

var errNoTerminal = errors.New("no pseudo-terminals here")

// AttachClient does what [Attach] does, for use outside tests: detach ends the client.
func AttachClient(srv *tmux.Server, session string, columns, lines uint16) (master *os.File, detach func(), err error) {
	cmd := exec.Command(srv.Binary(), "-u", "-S", srv.SocketPath(), "attach-session", "-t", session)
	cmd.Env = []string{"TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
	return onTerminal(cmd, columns, lines)
}

// OnTerminal starts a program on a pseudo-terminal of its own, until the test ends. Anything
// written to the returned master is the program's input.
func OnTerminal(t testing.TB, cmd *exec.Cmd) *os.File {
	t.Helper()
	master, end, err := onTerminal(cmd, 80, 24)
	if errors.Is(err, errNoTerminal) {
		t.Skip(err)
	}
	check.OK(t, err)
	t.Cleanup(end)
	return master
}

func onTerminal(cmd *exec.Cmd, columns, lines uint16) (master *os.File, end func(), err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := startOn(cmd, int(master.Fd()), columns, lines); err != nil {
		master.Close()
		return nil, nil, err
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for buf := make([]byte, 4096); ; {
			if _, err := master.Read(buf); err != nil {
				return // the last process on the terminal is gone
			}
		}
	}()
	return master, func() { cmd.Process.Kill(); cmd.Wait(); <-drained; master.Close() }, nil
}

// startOn starts a program on the terminal of a master.
func startOn(cmd *exec.Cmd, master int, columns, lines uint16) error {
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &unix.Winsize{Row: lines, Col: columns, Xpixel: columns * 8, Ypixel: lines * 16}); err != nil {
		return err
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	return cmd.Start()
}
