//go:build !linux && !darwin && !freebsd

package tmux

import "errors"

// knowsPeers reports whether this system shows who listens on a socket.
const knowsPeers = false

func peerOfSocket(int) (credentials, error) { return credentials{}, errors.ErrUnsupported }
