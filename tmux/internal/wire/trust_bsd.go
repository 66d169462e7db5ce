//go:build darwin || freebsd

package wire

import "golang.org/x/sys/unix"

// knowsPeers reports whether this system shows who listens on a socket.
const knowsPeers = true

// showsPeers reports whether it shows which process that is.
const showsPeers = false

// peerOfSocket returns only the user: these systems do not show the process.
func peerOfSocket(fd int) (credentials, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return credentials{}, err
	}
	return credentials{uid: int(cred.Uid)}, nil
}
