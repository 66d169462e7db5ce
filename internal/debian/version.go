package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// versionName matches a tmux version given instead of a suite, such as 3.7c.
var versionName = regexp.MustCompile(`^[0-9]+\.[0-9]+[a-z]?$`)

// searched are the suites in which a version is searched for, the most wanted first. By
// these names Debian means whichever release it currently is.
var searched = []string{"unstable", "stable-backports", "stable", "oldstable", "testing", "oldstable-backports", "oldoldstable", "experimental"}

// cached returns the suite in the cache that has a version of tmux.
func (f *Fetcher) cached(version string) (suite string, ok bool) {
	list, err := f.List()
	if err != nil {
		return "", false
	}
	for _, got := range list {
		if got.Version == version {
			return got.Suite, true
		}
	}
	return "", false
}

// known returns the suite in the cache that a name stands for: the name itself, unless it
// is a version.
func (f *Fetcher) known(name string) string {
	if suite, ok := f.cached(name); ok && versionName.MatchString(name) {
		return suite
	}
	return name
}

// waits returns the patience with an unresponsive mirror.
func (f *Fetcher) waits() time.Duration {
	if f.patience > 0 {
		return f.patience
	}
	return 15 * time.Second
}

// find returns the suite that has a version of tmux, in the cache or else at the mirror,
// whose suites are queried one after the other.
func (f *Fetcher) find(ctx context.Context, version string) (string, error) {
	if suite, ok := f.cached(version); ok {
		return suite, nil
	}
	timeout := f.Timeout
	if timeout == 0 {
		timeout = 5 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done within %v: %w", timeout, context.DeadlineExceeded))
	defer cancel()
	var seen []string
	for _, suite := range searched {
		if f.Progress != nil {
			f.Progress(fmt.Sprintf("debian:%s: looking in %s", version, suite))
		}
		has, err := f.offers(ctx, suite)
		var known *Error
		switch {
		case err == nil:
		case errors.Is(err, ErrSuite), errors.Is(err, ErrNoTmux):
			continue
		case errors.As(err, &known):
			e := *known
			e.Suite = version
			return "", &e
		default:
			return "", fmt.Errorf("debian:%s: look in %s: %w", version, suite, err)
		}
		if has == version {
			return suite, nil
		}
		seen = append(seen, has+" in "+suite)
	}
	e := &Error{Suite: version, Kind: ErrVersion, Detail: "the mirror has no tmux"}
	if len(seen) > 0 {
		e.Detail = "there is " + strings.Join(seen, ", ")
	}
	return "", e
}

// offers returns the version of tmux that a suite of the mirror has.
func (f *Fetcher) offers(ctx context.Context, suite string) (string, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "", &Error{Suite: suite, Kind: ErrNoApt, Detail: "fetching Debian's tmux needs apt-get", Err: err}
	}
	mirror, keyring, err := f.origin(ctx, suite)
	if err != nil {
		return "", err
	}
	arch, err := run(ctx, "dpkg", "--print-architecture")
	if err != nil {
		return "", fmt.Errorf("ask dpkg for the architecture: %w", err)
	}
	dir, err := os.MkdirTemp("", "mcp-conform-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	a, err := newArchive(dir, suite, mirror, keyring, strings.TrimSpace(arch), f.AllowExpired)
	if err != nil {
		return "", err
	}
	if err := a.update(ctx, f.waits()); err != nil {
		return "", err
	}
	out, err := a.apt(ctx, "-y", "--print-uris", "-t", suite, "install", "tmux/"+suite)
	if err != nil {
		return "", err
	}
	m := tmuxPackage.FindStringSubmatch(out)
	if m == nil {
		return "", &Error{Suite: suite, Kind: ErrNoTmux}
	}
	return m[1], nil
}

// tmuxPackage matches tmux's own version in the name of its package file, as listed by apt:
// tmux_3.7c-1~bpo13+1_amd64.deb, perhaps with an epoch.
var tmuxPackage = regexp.MustCompile(`\btmux_(?:[0-9]+%3a)?([0-9]+\.[0-9]+[a-z]?)[^_/ ]*_[a-z0-9]+\.deb`)
