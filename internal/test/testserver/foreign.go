package testserver

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testtool"
)

// OtherUser is the uid of the user that foreign servers run as.
const OtherUser = 65534

// Foreign is a server that another user runs: it reads what it is sent, and asks for a file
// to read and one to write.
type Foreign struct {
	mu sync.Mutex
	// got is the number of bytes received on each connection.
	got []int
}

// Received returns how many bytes the server has been sent so far, on all connections.
func (f *Foreign) Received() (bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.got {
		bytes += n
	}
	return bytes
}

const foreignEnv = "TMUXTEST_FOREIGN_SOCKET"

// The server is the test binary itself, run once more.
func init() {
	socket := os.Getenv(foreignEnv)
	if socket == "" {
		return
	}
	fmt.Fprintln(os.Stderr, serveForeign(socket, os.Getenv("TMUXTEST_READ"), os.Getenv("TMUXTEST_WRITE")))
	os.Exit(1)
}

func serveForeign(socket, read, write string) error {
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		return err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	os.Chmod(socket, 0o777)
	fmt.Println("listening")
	go func() {
		io.Copy(io.Discard, os.Stdin) // the test ended
		os.Exit(0)
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			c.SetDeadline(time.Now().Add(time.Second))
			buf := make([]byte, 1<<16)
			n, _ := c.Read(buf)
			c.Write(Frame(300, append([]byte{3, 0, 0, 0, 255, 255, 255, 255}, read+"\x00"...)))
			c.Write(Frame(303, append([]byte{4, 0, 0, 0, 255, 255, 255, 255, 0, 2, 0, 0}, write+"\x00"...)))
			for {
				more, err := c.Read(buf)
				if n += more; err != nil {
					break
				}
			}
			fmt.Println(n)
		}()
	}
}

// Frame returns a message as a server sends it.
func Frame(typ uint32, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, typ)
	b = binary.LittleEndian.AppendUint32(b, uint32(16+len(data)))
	b = binary.LittleEndian.AppendUint32(b, 8)
	b = binary.LittleEndian.AppendUint32(b, 1)
	return append(b, data...)
}

// NewForeign starts a server of [OtherUser] on a socket, in a directory that this user may
// write to. It asks to read the file read and to create the file write. Only root can start
// it; otherwise the test is skipped.
func NewForeign(t testing.TB, socket, read, write string) *Foreign {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can run a server as another user")
	}
	self, err := os.Executable()
	check.OK(t, err)
	// The test binary is in a place that the other user cannot access.
	content, err := os.ReadFile(self)
	check.OK(t, err)
	dir, err := os.MkdirTemp("", "tf")
	check.OK(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "server")
	check.OK(t, testtool.WriteProgram(program, content))
	check.OK(t, os.Chmod(dir, 0o755))
	cmd := exec.Command(program)
	cmd.Env = []string{foreignEnv + "=" + socket, "TMUXTEST_READ=" + read, "TMUXTEST_WRITE=" + write}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: OtherUser, Gid: OtherUser}}
	cmd.Dir = "/"
	stdin, err := cmd.StdinPipe()
	check.OK(t, err)
	stdout, err := cmd.StdoutPipe()
	check.OK(t, err)
	cmd.Stderr = os.Stderr
	check.OK(t, cmd.Start())
	f := &Foreign{}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatalf("the other user's server does not listen on %s", socket)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines.Scan() {
			n, _ := strconv.Atoi(strings.TrimSpace(lines.Text()))
			f.mu.Lock()
			f.got = append(f.got, n)
			f.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		stdin.Close()
		<-done
		cmd.Wait()
	})
	return f
}
