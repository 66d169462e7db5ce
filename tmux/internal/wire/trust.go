package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Socket is where a server listens or will listen. Before the first byte is sent, it is
// checked that the server is run by this user or by root:
//
//   - the directory of named sockets must be the user's own and closed to others, as tmux
//     itself demands;
//   - the process at the other end of each connection must be the user's own or root's;
//   - the tmux program makes its own connection, so before it is started nobody else may be
//     able to replace the socket.
type Socket struct {
	Path string
	// Named is set if the socket is in tmux's directory of named sockets.
	Named bool
}

// untrusted returns an [ErrUntrusted] that says what was found and what to do.
func untrusted(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUntrusted, fmt.Sprintf(format, args...))
}

// dial connects to the server and checks who runs it. It waits for a server that is slow to
// accept, as the tmux program does with its blocking socket.
func (s Socket) dial(ctx context.Context) (*net.UnixConn, error) {
	if err := s.checkDirectory(); err != nil {
		return nil, err
	}
	if err := s.checkFile(); err != nil {
		return nil, err
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.Path)
		if err == nil {
			conn := conn.(*net.UnixConn)
			if err := s.checkPeer(conn); err != nil {
				conn.Close()
				return nil, err
			}
			return conn, nil
		}
		if errors.Is(err, context.DeadlineExceeded) {
			<-ctx.Done() // the dialer reads the clock, and may be ahead of the timer of ctx
		}
		if !errors.Is(err, syscall.EAGAIN) {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// checkDirectory refuses directories that tmux refuses to keep named sockets in. One that
// does not exist is created, and checked, by tmux.
func (s Socket) checkDirectory() error {
	if !s.Named {
		return nil
	}
	dir := filepath.Dir(s.Path)
	info, err := os.Lstat(dir)
	if err != nil {
		return nil // connecting reports why
	}
	uid, _ := ownerOf(info)
	switch {
	case uid != os.Getuid() || !info.IsDir():
		return untrusted("tmux keeps its sockets in a directory of yours, and %s: remove it, or set TMUX_TMPDIR to a directory of your own", found(dir, info))
	case info.Mode().Perm()&0o007 != 0:
		return untrusted("other users can reach the directory of tmux's sockets: %s: kill the servers that you do not recognize, and run chmod 700 %s", found(dir, info), dir)
	}
	return nil
}

// checkFile refuses a path that is too long for a socket, and one that is something other
// than a socket: tmux would remove it to listen there.
func (s Socket) checkFile() error {
	if most := len(syscall.RawSockaddrUnix{}.Path) - 1; len(s.Path) > most {
		return Argument("the path of the socket has %d bytes, and this system takes %d: use a shorter one, or a shorter TMUX_TMPDIR: %s", len(s.Path), most, s.Path)
	}
	info, err := os.Stat(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Lstat(s.Path) // a dangling link
	}
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		return Argument("%s is not a socket (%v), and tmux would remove it to listen there: use another path", s.Path, info.Mode())
	}
	return nil // connecting reports why
}

// checkLock refuses a file in the place of the one that the tmux program locks while it
// starts a server, and then removes. tmux's own lock is empty.
func (s Socket) checkLock() error {
	lock := s.Path + ".lock"
	info, err := os.Lstat(lock)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > 0) {
		return Argument("%s exists (%v), and tmux would remove it to start a server on %s: use another path", lock, info.Mode(), s.Path)
	}
	return nil
}

// checkPeer refuses a server that another user runs: it could read what it is sent, and ask
// for files.
func (s Socket) checkPeer(conn *net.UnixConn) error {
	if !knowsPeers {
		return nil // only the tmux program is used, on a path that others cannot change
	}
	peer, err := peerOf(conn)
	if err != nil {
		return untrusted("cannot find out who runs the server on %s: %v", s.Path, err)
	}
	if peer.uid != os.Geteuid() && peer.uid != 0 {
		what := s.Path
		if real, err := filepath.EvalSymlinks(s.Path); err == nil {
			if info, err := os.Lstat(real); err == nil {
				what = found(real, info)
			}
		}
		return untrusted("the server on this socket is run by uid %d, not by you or root: %s; use a socket of your own", peer.uid, what)
	}
	return nil
}

// credentials identify the process that listens on a socket.
type credentials struct{ uid, pid int }

// peerOf returns the process that listened at the other end of a connection.
func peerOf(conn *net.UnixConn) (cred credentials, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return credentials{}, err
	}
	if ctl := raw.Control(func(fd uintptr) { cred, err = peerOfSocket(int(fd)) }); ctl != nil {
		return credentials{}, ctl
	}
	return cred, err
}

// Listens reports whether the process that listens on the socket has this number here. On systems
// that do not show the process, that is assumed.
func (s Socket) Listens(ctx context.Context, pid int) (bool, error) {
	if !showsPeers {
		return true, nil
	}
	conn, err := s.dial(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	peer, err := peerOf(conn)
	return peer.pid == pid && pid != 0, err // 0 stands for all that this namespace does not have
}

// errOthersMayCreate means that nothing exists at a path where another user may create it.
var errOthersMayCreate = errors.New("free for others")

// checkPath refuses a socket that another user could replace between now and the time the
// tmux program connects: every directory on the way must belong to this user or root and be
// writable by no other, or have the sticky bit, as /tmp does; what is in such a directory
// must belong to the user or root too.
func (s Socket) checkPath() error {
	top, err := os.Stat("/")
	if err != nil {
		return err
	}
	// In a container, root's files may be mapped to another user: the owner of the root
	// directory.
	root, _ := ownerOf(top)
	path := s.Path
	if !filepath.IsAbs(path) {
		path = workingDirectory() + "/" + path
	}
	dir, shared := "/", false
	rest := strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			dir, shared = filepath.Dir(dir), false
			continue
		}
		at := filepath.Join(dir, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			if shared && !s.Named {
				dirInfo, _ := os.Lstat(dir)
				return fmt.Errorf("%w: %w", errOthersMayCreate, untrusted("%s does not exist, and others may create it in %s: use a socket in a directory of your own, or start this server yourself", at, found(dir, dirInfo)))
			}
			return nil // tmux checks the directory of named sockets after creating it
		}
		if err != nil {
			return nil // tmux cannot go there either
		}
		uid, gid := ownerOf(info)
		if uid != os.Geteuid() && uid != 0 && uid != root {
			return untrusted("%s, so others can put a server of their own in the place of %s: use a socket in a directory of your own", found(at, info), s.Path)
		}
		switch info.Mode().Type() {
		case fs.ModeSymlink:
			if links++; links > 40 {
				return syscall.ELOOP
			}
			to, err := os.Readlink(at)
			if err != nil {
				return err
			}
			if filepath.IsAbs(to) {
				dir, shared = "/", false
			}
			rest = append(strings.Split(to, "/"), rest...)
		case fs.ModeDir:
			// A group with the same number as its owner is private to that user.
			perm := info.Mode().Perm()
			open := perm&0o002 != 0 || perm&0o020 != 0 && gid != uid
			if open && info.Mode()&fs.ModeSticky == 0 {
				return untrusted("%s, so others can put a server of their own in the place of %s: use a socket in a directory of your own, or run chmod go-w %s", found(at, info), s.Path, at)
			}
			dir, shared = at, open
		}
	}
	return nil
}

// found describes a file for an error.
func found(path string, info fs.FileInfo) string {
	uid, _ := ownerOf(info)
	return fmt.Sprintf("%s belongs to uid %d (%v)", path, uid, info.Mode())
}

func ownerOf(info fs.FileInfo) (uid, gid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid)
	}
	return -1, -1
}

// noServer returns what the tmux program prints when it cannot connect.
func (s Socket) noServer(err error) (Reply, error) {
	var errno syscall.Errno
	ok := errors.As(err, &errno)
	if err = Exhausted(err); !ok || errors.Is(err, ErrExhausted) {
		return Reply{Code: -1}, err
	}
	if errno == syscall.EACCES {
		what := s.Path
		if info, err := os.Lstat(s.Path); err == nil {
			what = found(s.Path, info)
		}
		return Reply{Code: -1}, untrusted("this user may not connect to the socket: %s; use a socket of your own", what)
	}
	text := fmt.Sprintf("error connecting to %s (%s)", s.Path, ErrnoText(errno))
	if errno == syscall.ECONNREFUSED {
		text = "no server running on " + s.Path
	}
	return Reply{Code: 1, Stderr: []byte(text)}, nil
}

// ErrnoText returns strerror's text; Go's begins with a lower-case letter.
func ErrnoText(errno syscall.Errno) string {
	s := errno.Error()
	return strings.ToUpper(s[:1]) + s[1:]
}
