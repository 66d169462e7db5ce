package wire

import "golang.org/x/sys/unix"

// knowsPeers reports whether this system shows who listens on a socket.
const knowsPeers = true

// showsPeers reports whether it shows which process that is.
const showsPeers = true

func peerOfSocket(fd int) (credentials, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return credentials{}, err
	}
	return credentials{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
}
