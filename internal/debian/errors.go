package debian

import (
	"errors"
	"strings"
)

// The kinds of [Error], for errors.Is.
var (
	// ErrSuite: the name is no suite's name, or the mirror has no such suite.
	ErrSuite = errors.New("no such suite")
	// ErrNoTmux: the suite exists and carries no tmux for this architecture.
	ErrNoTmux = errors.New("the suite has no tmux")
	// ErrVersion: no suite carries the version of tmux that was asked for.
	ErrVersion = errors.New("no suite has this version")
	// ErrNoApt: apt-get, dpkg or dpkg-deb is missing on this machine.
	ErrNoApt = errors.New("no apt on this machine")
	// ErrMirror: no mirror was given and this machine's apt configuration names none of Debian's,
	// or the mirror given is no URL.
	ErrMirror = errors.New("no Debian mirror")
	// ErrUnreachable: the mirror could not be reached, or refused to answer.
	ErrUnreachable = errors.New("the mirror cannot be reached")
	// ErrKeyring: Debian's archive keys are not on this machine.
	ErrKeyring = errors.New("no Debian archive keyring")
	// ErrSignature: what the mirror sent is not signed by the keyring, or is not what was signed.
	ErrSignature = errors.New("the archive cannot be trusted")
	// ErrExpired: what the mirror sent is signed, and too old or from the future.
	ErrExpired = errors.New("the archive is out of date")
	// ErrCache: the cache directory cannot be written, or its disk is full.
	ErrCache = errors.New("the cache directory cannot be used")
	// ErrBinary: the suite's tmux was fetched and does not run here.
	ErrBinary = errors.New("the fetched tmux does not run")
	// ErrNotFetched: [Fetcher.Path] or [Fetcher.Remove] was asked for a suite that
	// is not in the cache.
	ErrNotFetched = errors.New("not fetched")
)

// Error explains on one line why a suite's tmux is unavailable. It reports a
// set-up problem, never a finding about tmux.
type Error struct {
	Suite  string
	Kind   error  // one of the Err variables of this package; nil when apt failed in a way not foreseen
	Detail string // what was seen, or what to do; one line
	Err    error  // the cause, if one was returned; its text is already in Detail
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

// cacheError is what a failed file operation under the cache directory becomes.
func cacheError(suite string, err error) error {
	return &Error{Suite: suite, Kind: ErrCache, Detail: err.Error(), Err: err}
}
