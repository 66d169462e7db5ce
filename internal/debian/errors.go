package debian

import (
	"errors"
	"strings"
)

// Kinds of [Error], for errors.Is.
var (
	// ErrSuite: the name is not a suite's, or the mirror has no such suite.
	ErrSuite = errors.New("no such suite")
	// ErrNoTmux: the suite exists but has no tmux for this architecture.
	ErrNoTmux = errors.New("the suite has no tmux")
	// ErrVersion: no suite has the requested version of tmux.
	ErrVersion = errors.New("no suite has this version")
	// ErrNoApt: apt-get, dpkg or dpkg-deb is missing on this machine.
	ErrNoApt = errors.New("no apt on this machine")
	// ErrMirror: no mirror was given and this machine's apt configuration has no Debian
	// mirror, or the given mirror is not a URL.
	ErrMirror = errors.New("no Debian mirror")
	// ErrUnreachable: the mirror could not be reached, or refused to answer.
	ErrUnreachable = errors.New("the mirror cannot be reached")
	// ErrKeyring: Debian's archive keys are not on this machine.
	ErrKeyring = errors.New("no Debian archive keyring")
	// ErrSignature: the keyring did not sign the archive, or its signature does not match.
	ErrSignature = errors.New("the archive cannot be trusted")
	// ErrExpired: the archive is signed, but too old or from the future.
	ErrExpired = errors.New("the archive is out of date")
	// ErrCache: the cache directory cannot be written, or its disk is full.
	ErrCache = errors.New("the cache directory cannot be used")
	// ErrBinary: the suite's tmux was fetched but does not run here.
	ErrBinary = errors.New("the fetched tmux does not run")
	// ErrNotFetched: the suite for [Fetcher.Path] or [Fetcher.Remove] is not in the cache.
	ErrNotFetched = errors.New("not fetched")
)

// Error explains on one line why a suite's tmux is unavailable. It reports a set-up
// problem, never a finding about tmux.
type Error struct {
	Suite  string
	Kind   error  // one of this package's Err variables; nil if apt failed in an unforeseen way
	Detail string // what was found, or what to do; one line
	Err    error  // the cause, if any; its text is already in Detail
}

func (e *Error) Error() string {
	parts := []string{"debian:" + e.Suite}
	if e.Kind != nil {
		parts = append(parts, e.Kind.Error())
	}
	if e.Detail != "" {
		parts = append(parts, e.Detail)
	}
	return strings.Join(parts, ": ")
}

func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// cacheError returns the error for a failed file operation under the cache directory.
func cacheError(suite string, err error) error {
	return &Error{Suite: suite, Kind: ErrCache, Detail: err.Error(), Err: err}
}
