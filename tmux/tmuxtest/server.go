package tmuxtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/tmux"
)

// Server returns a handle on a private tmux server for tests of code that uses package tmux.
// The server is not running yet: the first session starts it. Its panes run /bin/sh as a
// login shell in the environment that the package comment describes, except that tmux sets
// TERM, TMUX and TMUX_PANE, and /etc/profile may change PATH and the prompt: on Debian, it is
// "# " for root, not "$ ". When the test ends, the server is killed, and so is every other
// one with its socket below TMUX_TMPDIR of that environment.
func Server(t testing.TB) *tmux.Server {
	t.Helper()
	return open(t, tmux.Config{Binary: binary(t)})
}

func open(t testing.TB, cfg tmux.Config) *tmux.Server {
	t.Helper()
	t.TempDir() // the first call creates it; it is removed after the servers that may write into it have ended
	srv, end, err := Open(cfg)
	if err != nil {
		t.Fatalf("prepare a tmux server: %v", err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Errorf("end the tmux server: %v", err)
		}
	})
	return srv
}

// binary returns the tmux program to test with. Without one the test is skipped, or fails.
func binary(t testing.TB) string {
	t.Helper()
	const variable, none = "TMUX_TEST_BINARY", "none"
	name := os.Getenv(variable)
	path, err := exec.LookPath(cmp.Or(name, "tmux"))
	switch {
	case name == none:
		err = errors.New(variable + " is " + none)
	case err == nil:
		return path
	case name != "":
		t.Fatalf("%s: %v", variable, err)
	}
	if os.Getenv("TMUX_TEST_REQUIRED") == "1" {
		t.Fatalf("no tmux: %v (TMUX_TEST_REQUIRED=1)", err)
	}
	t.Skipf("no tmux: %v; install it, or set %s to its path", err, variable)
	return ""
}

// longestTemp is how long the path of a directory for temporary files may be in bytes, so that
// the path of a named socket, in a directory of tmux's in one of ours in it, fits into the 104
// bytes that macOS takes, or 108 on Linux.
const longestTemp = 70

// Open is [Server] without a [testing.TB], for examples and TestMain: end ends the server and
// removes its directory. It sets SocketPath and ConfigFile of cfg, and adds cfg.Env to the
// environment.
func Open(cfg tmux.Config) (srv *tmux.Server, end func() error, err error) {
	// Not t.TempDir, because a socket's path is limited to some 100 bytes.
	root := os.TempDir()
	if len(root) > longestTemp {
		root = "/tmp"
	}
	dir, err := os.MkdirTemp(root, "tt")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, nil, err
	}
	cfg.SocketPath, cfg.ConfigFile = filepath.Join(dir, "s"), "/dev/null"
	cfg.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh", "PS1=$ ", "ENV=",
		"TERM=screen", "LANG=C.UTF-8", "TMUX_TMPDIR=" + dir, "XDG_RUNTIME_DIR=" + dir,
	}, cfg.Env...)
	if srv, err = tmux.New(cfg); err != nil {
		return nil, nil, err
	}
	guard, err := startGuard(srv.Binary(), dir)
	if err != nil {
		return nil, nil, fmt.Errorf("start what ends the tmux server if this process is killed: %w", err)
	}
	return srv, func() error { return errors.Join(removeAll(srv.Binary(), dir), guard()) }, nil
}

// guardScript ends what a killed process has left in the directory $1, with the tmux $0. First
// it gives the directory another name: a server that is being started then either has its
// socket there already, or cannot create one and exits. With the lock of a start beside it, the
// socket may be one on which the server does not listen yet. It kills a program and the rest of
// its session, which Linux shows, only if the file pid and the server agree on it. A server that
// was asked to end may still run commands, and a session that they make would keep it alive.
const guardScript = `while read -r _; do :; done
[ -d "$1" ] && mv -- "$1" "$1.left" || exit 0
d=$1
set -- "$1.left"
for s in "$1"/* "$1"/tmux-*/*; do
	[ -S "$s" ] || continue
	n=0
	until q=$("$0" -S "$s" display-message -p '#{pid} #{pane_pid}') || [ ! -e "$s.lock" ] || [ "$n" -ge 20 ]; do
		n=$((n + 1))
		sleep 0.1
	done
	p=${q#* }
	if [ "$p" ] && [ "$p" = "$(cat "$1/pid")" ]; then
		for f in /proc/[0-9]*/stat; do
			read -r l <"$f" || continue
			set -- "$1" ${l##*) } # state, parent, group, session
			[ "$5" != "$p" ] || { f=${f#/proc/} && kill -s KILL "${f%/stat}"; }
		done
		kill -s KILL -- "-$p"
	fi
	"$0" -S "$s" kill-server
	n=0
	while case $(ps -o args= -p "${q%% *}") in *"$d/"*) ;; *) false ;; esac; do
		[ "$n" -lt 20 ] || { kill -s KILL "${q%% *}"; break; }
		n=$((n + 1))
		sleep 0.1
	done
done
rm -rf -- "$1"`

// startGuard starts a process that outlives this one, and then ends what is in dir. stop
// makes it do so now.
func startGuard(binary, dir string) (stop func() error, err error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, binary, dir)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	// What ends this process may be sent to its whole group, as by Ctrl-C.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// The only open end of a pipe, as no child inherits it, until this process ends.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(stdin.Close(), cmd.Wait()) }, cmd.Start()
}

// removeAll kills the servers whose sockets are in or below a directory, and removes it.
func removeAll(binary, dir string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, socket := range sockets(dir) {
		srv, failed := tmux.New(tmux.Config{Binary: binary, SocketPath: socket})
		if failed == nil {
			failed = srv.Kill(ctx)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("kill the tmux server at %s: %w", socket, failed))
		}
	}
	// A pane's process may still be writing its history into HOME.
	var removed error
	for range 50 {
		if removed = os.RemoveAll(dir); removed == nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.Join(err, fmt.Errorf("remove the test's directory: %w", removed))
}

// sockets returns the sockets in dir and in tmux's directories of named sockets below it.
func sockets(dir string) []string {
	var found []string
	for _, pattern := range []string{"/*", "/tmux-*/*"} {
		paths, _ := filepath.Glob(dir + pattern)
		for _, path := range paths {
			if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
				found = append(found, path)
			}
		}
	}
	return found
}
