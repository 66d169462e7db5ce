// Package testssh runs an sshd on loopback, which stands for another machine in tests.
package testssh

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// Name is what ssh calls the other machine.
const Name = "devbox"

// Host is the other machine. Its user is the one that runs the test, with another home
// directory and another directory for the sockets of tmux.
type Host struct {
	testing.TB
	dir string
	// Home is the home directory there.
	Home string
	// Bin is a directory with an ssh that reads the configuration Config instead of the user's.
	// Put it first on PATH.
	Bin, Config string
	// Key is the private key that opens the host.
	Key string
}

// Need returns the path of sshd. The test is skipped if there is none, or it cannot run here.
func Need(t testing.TB) (sshd string) {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd" // often not on the PATH of a user
	}
	if _, err := os.Stat(sshd); err != nil {
		// The gate does without; what installs agent CLIs and SDKs for tests wants it.
		if os.Getenv("MCP_CLIENTS_BIN") != "" {
			testtool.Missing(t, "sshd is not installed: it is in Debian's openssh-server")
		}
		t.Skip("sshd is not installed: it is in Debian's openssh-server")
	}
	if os.Getuid() == 0 { // as what starts sshd at boot does
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Skipf("sshd cannot run here as root: %v", err)
		}
	}
	return sshd
}

// New starts a host, with its files in a directory whose path must be short. It has no tmux
// server yet. The test is skipped as by [Need].
func New(t testing.TB, dir string) *Host {
	t.Helper()
	sshd := Need(t)
	h := &Host{
		TB: t, dir: dir, Home: filepath.Join(dir, "home"), Bin: filepath.Join(dir, "bin"),
		Config: filepath.Join(dir, "config"), Key: filepath.Join(dir, "key"),
	}
	for _, d := range []string{h.Home, h.Bin, filepath.Join(dir, "run")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{h.Key, filepath.Join(dir, "host")} {
		if out, err := exec.Command(testtool.Path(t, "ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	port := h.listen(sshd)
	host, err := os.ReadFile(filepath.Join(dir, "host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	h.write(filepath.Join(dir, "known"), fmt.Sprintf("[127.0.0.1]:%d %s", port, host))
	h.write(h.Config, fmt.Sprintf("Host %s\n\tHostName 127.0.0.1\n\tPort %d\n\tIdentitiesOnly yes\n\tIdentityFile %s\n\tUserKnownHostsFile %s\n",
		Name, port, h.Key, filepath.Join(dir, "known")))
	if err := testtool.WriteProgram(filepath.Join(h.Bin, "ssh"), fmt.Appendf(nil, "#!/bin/sh\nexec %s -F %s \"$@\"\n", testtool.Path(t, "ssh"), h.Config)); err != nil {
		t.Fatal(err)
	}
	return h
}

// listen starts sshd until the test ends, and returns its port.
func (h *Host) listen(sshd string) (port int) {
	h.Helper()
	config := filepath.Join(h.dir, "sshd_config")
	log := filepath.Join(h.dir, "sshd.log")
	for range 10 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			h.Fatal(err)
		}
		port = l.Addr().(*net.TCPAddr).Port
		l.Close() // another process may be faster: then it is tried again
		h.write(config, fmt.Sprintf(`ListenAddress 127.0.0.1
Port %d
HostKey %s
AuthorizedKeysFile %s.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv HOME=%s TMUX_TMPDIR=%s XDG_RUNTIME_DIR=%[5]s LANG=C.UTF-8
ForceCommand exec /bin/sh -c 'cd "$HOME" && eval "$SSH_ORIGINAL_COMMAND"'
`, port, filepath.Join(h.dir, "host"), h.Key, h.Home, filepath.Join(h.dir, "run")))
		out, err := os.Create(log)
		if err != nil {
			h.Fatal(err)
		}
		cmd := exec.Command(sshd, "-D", "-e", "-f", config)
		cmd.Stderr = out
		err = cmd.Start()
		out.Close()
		if err != nil {
			h.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = cmd.Wait() }()
		listens := false
		testtool.Eventually(h, "sshd listens, or ends", func() bool {
			text, _ := os.ReadFile(log)
			listens = bytes.Contains(text, []byte("Server listening on"))
			select {
			case <-ended:
				return true
			default:
				return listens
			}
		})
		if listens {
			h.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
			return port
		}
	}
	text, _ := os.ReadFile(log)
	h.Fatalf("sshd does not start:\n%s", text)
	return 0
}

func (h *Host) write(path, text string) {
	h.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
}

// Install puts a program into ~/.local/bin there.
func (h *Host) Install(name string, program []byte) {
	h.Helper()
	path := filepath.Join(h.Home, ".local", "bin", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.Fatal(err)
	}
	if err := testtool.WriteProgram(path, program); err != nil {
		h.Fatal(err)
	}
}

// Configure adds lines to the configuration of ssh for the host.
func (h *Host) Configure(lines string) {
	h.Helper()
	text, err := os.ReadFile(h.Config)
	if err != nil {
		h.Fatal(err)
	}
	h.write(h.Config, string(text)+lines)
}

// Run runs a command line there, by a connection of its own, and returns what it prints.
func (h *Host) Run(line string) string {
	h.Helper()
	out, err := exec.Command(filepath.Join(h.Bin, "ssh"), "-o", "BatchMode=yes", "-o", "ControlPath=none", Name, line).CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(h.dir, "sshd.log"))
		h.Fatalf("ssh %s %s: %v\n%s\nsshd: %s", Name, line, err, out, log)
	}
	return strings.TrimSpace(string(out))
}

// Tmux starts the user's tmux server there, with a shell in %0, until the test ends.
func (h *Host) Tmux() {
	h.Helper()
	h.Run(`tmux -f /dev/null new-session -d -s work -x 80 -y 24 'PS1="$ " exec sh'`)
	h.Cleanup(func() { h.Run("tmux kill-server") })
}

// Processes returns the command lines of the programs there that have been called by this
// name, as far as they are seen here.
func (h *Host) Processes(program string) (all []string) {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range found {
		env, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(env, []byte("HOME="+h.Home+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if words := strings.Split(string(line), "\x00"); filepath.Base(words[0]) == program {
			all = append(all, strings.Join(words, " "))
		}
	}
	return all
}
