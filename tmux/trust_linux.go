package tmux

import (
	"net"

	"golang.org/x/sys/unix"
)

// knowsPeers says whether this system shows who listens on a socket.
const knowsPeers = true

// peerOf is the process that made the other end of a connection listen.
func peerOf(conn *net.UnixConn) (credentials, error) {
	return askSocket(conn, func(fd int) (credentials, error) {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return credentials{}, err
		}
		return credentials{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
	})
}
