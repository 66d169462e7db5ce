//go:build !linux && !darwin && !freebsd

package wire

import "errors"

// knowsPeers reports whether this system shows who listens on a socket.
const knowsPeers = false

// showsPeers reports whether it shows which process that is.
const showsPeers = false

func peerOfSocket(int) (credentials, error) { return credentials{}, errors.ErrUnsupported }
