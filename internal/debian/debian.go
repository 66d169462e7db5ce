// Package debian fetches the tmux of a Debian suite, to run beside the machine's own.
//
// # Model
//
// [Fetcher.Get] has the machine's apt fetch tmux from the suite's archive, with every
// library it needs down to libc and its loader, and check their signatures against Debian's
// archive keys. It needs no root and does not touch the machine's own packages: apt works
// in a private directory in which nothing is installed. The packages are unpacked, not
// installed, into a directory in the user's cache, and a script there starts tmux with the
// loader and libraries beside it. Programs started in its panes use the machine's
// libraries, unaffected by these. Terminal descriptions and locales are the machine's: on
// Debian and its descendants they are essential packages, kept where every suite looks for
// them.
//
// This happens once per suite. Afterwards Get only looks into the cache: no network, no
// apt, no process. The copy does not follow the suite; Remove and Get update it.
//
// The cache has one directory for each suite and machine architecture. It is valid once it
// has a record, installed.json, which is written last and atomically: anything that the
// record does not name is left over from an interrupted fetch, and the next fetch removes
// it. A lock keeps two fetches of one suite apart, in one process or in two.
//
// No mirror is built in: the one given is used, else the first Debian entry in the machine's
// own apt configuration.
package debian

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Fetcher fetches and finds the tmux of Debian's suites. The zero value is ready to use,
// even by several goroutines at once.
type Fetcher struct {
	// CacheDir is where binaries are kept, about 20 MB per suite. Default: mcp-conform in
	// the user's cache directory (see os.UserCacheDir).
	CacheDir string
	// Mirror is the URL of an archive, the one that has dists/ below it. Default: the
	// environment variable DEBIAN_MIRROR, otherwise the machine's first Debian entry.
	Mirror string
	// Keyring is the file with the archive's public keys. Default: the one in the package
	// debian-archive-keyring.
	Keyring string
	// AllowExpired accepts an archive whose Release file is past its date (Valid-Until),
	// such as a snapshot's. Otherwise apt refuses it, since an attacker on the network
	// could keep serving a tmux with known vulnerabilities.
	AllowExpired bool
	// Timeout bounds a fetch. Default: 5 minutes. (Without a network it fails in seconds.)
	Timeout time.Duration
	// Progress, if not nil, is called with a line for each stage of a fetch, and not at all
	// if there is nothing to fetch.
	Progress func(line string)

	patience time.Duration // with an unresponsive mirror; default 15 seconds
}

// Installed is a suite's tmux in the cache.
type Installed struct {
	Suite    string    `json:"suite"`
	Version  string    `json:"version"`  // what tmux -V says after "tmux ": 3.5a
	Package  string    `json:"package"`  // Debian's version of the package: 3.5a-3
	Binary   string    `json:"binary"`   // the absolute path of the program, which another fetch does not change
	Arch     string    `json:"arch"`     // Debian's name of the architecture: amd64
	Mirror   string    `json:"mirror"`   // where it came from, without a password
	Packages []string  `json:"packages"` // file names of all packages, including tmux's
	Fetched  time.Time `json:"fetched"`
}

// Default is the suite whose tmux is used if none is installed.
const Default = "trixie-backports"

// ErrNotFetched is the error of [Fetcher.Path] and [Fetcher.Remove] for a suite that is not
// in the cache. All other errors only have a text, on one line: they report a set-up
// problem, never a finding about tmux.
var ErrNotFetched = errors.New("not fetched")

var (
	suiteName = regexp.MustCompile(`^[a-z][a-z0-9]*([.-][a-z0-9]+)*$`)
	// versionName matches a tmux version given instead of a suite, such as 3.7c.
	versionName = regexp.MustCompile(`^[0-9]+\.[0-9]+[a-z]?$`)
)

// Get returns the suite's tmux, from the cache or else from the mirror. Instead of a suite,
// the name may be a version of tmux, such as 3.7c, for the suite that has it, in the cache
// or else at the mirror. If ctx ended, the error wraps its cause.
func (f *Fetcher) Get(ctx context.Context, suite string) (got Installed, err error) {
	name := suite
	defer func() { err = about(name, err) }()
	timeout := cmp.Or(f.Timeout, 5*time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done within %v: %w", timeout, context.DeadlineExceeded))
	defer cancel()
	s, err := f.slot(name)
	if errors.Is(err, ErrNotFetched) {
		if suite, err = f.find(ctx, name); err == nil {
			s, err = f.slot(suite)
		}
	}
	if err != nil {
		return Installed{}, err
	}
	got, ok := s.installed()
	if !ok {
		if got, err = f.fill(ctx, s); err != nil {
			return got, err
		}
	}
	if versionName.MatchString(name) && got.Version != name {
		// The cached copy is older or newer than the mirror's.
		err = fmt.Errorf("no suite has this version: %s has it, and the cache has %s of %[1]s; remove debian:%[1]s and get it again", s.suite, got.Version)
	}
	return got, err
}

// about adds to an error which suite it is about; a failed file operation is about the cache.
func about(suite string, err error) error {
	if err == nil {
		return nil
	}
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		err = fmt.Errorf("the cache directory cannot be used: %w", err)
	}
	return fmt.Errorf("debian:%s: %w", suite, err)
}

// Path returns the binary of a cached suite, or an [ErrNotFetched] error.
func (f *Fetcher) Path(suite string) (string, error) {
	s, err := f.slot(suite)
	got, ok := s.installed()
	if err == nil && !ok || errors.Is(err, ErrNotFetched) {
		err = fmt.Errorf("%w (fetch it with mcp-conform tmux get debian:%s)", ErrNotFetched, suite)
	}
	return got.Binary, about(suite, err)
}

// List returns the contents of the cache for this architecture, sorted by suite. It is not
// an error if the cache is empty or missing.
func (f *Fetcher) List() ([]Installed, error) {
	dir, err := f.cacheDir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := []Installed{}
	for _, entry := range entries {
		if suite, mine := strings.CutSuffix(entry.Name(), mark); mine {
			if got, ok := (slot{suite, filepath.Join(dir, entry.Name())}).installed(); ok {
				list = append(list, got)
			}
		}
	}
	return list, nil
}

// Remove removes a suite from the cache, including what interrupted fetches left of it. It
// fails with [ErrNotFetched] if there was nothing. A running server from it keeps running,
// but new clients of it do not start.
func (f *Fetcher) Remove(suite string) error {
	s, err := f.slot(suite)
	if err != nil {
		return about(suite, err)
	}
	if _, err := os.Stat(s.dir); err != nil {
		return about(suite, ErrNotFetched)
	}
	unlock, err := s.lock(context.Background())
	if err != nil {
		return about(suite, err)
	}
	defer unlock()
	return about(suite, s.remove())
}

// say reports the progress of a fetch.
func (f *Fetcher) say(suite, format string, args ...any) {
	if f.Progress != nil {
		f.Progress("debian:" + suite + ": " + fmt.Sprintf(format, args...))
	}
}

// waits returns how long to wait for a mirror that does not answer.
func (f *Fetcher) waits() time.Duration { return cmp.Or(f.patience, 15*time.Second) }

// searched are the suites to search for a version, in order of preference. Debian moves these
// names from release to release.
var searched = []string{"unstable", "stable-backports", "stable", "oldstable", "testing", "oldstable-backports", "oldoldstable", "experimental"}

// find returns the suite of the mirror that has a version of tmux.
func (f *Fetcher) find(ctx context.Context, version string) (string, error) {
	dir, err := os.MkdirTemp("", "mcp-conform-")
	if err != nil {
		return "", fmt.Errorf("make a directory for apt: %v", err)
	}
	defer os.RemoveAll(dir)
	a, err := f.newArchive(ctx, dir, searched...)
	if err != nil {
		return "", err
	}
	f.say(version, "looking in %s", strings.Join(searched, ", "))
	updateErr := a.update(ctx, f.waits())
	if ctx.Err() != nil {
		return "", updateErr
	}
	// A mirror may lack some of the suites, and this machine the key of the newest: try the
	// others all the same.
	out, err := a.apt(ctx, "apt-cache", "madison", "tmux")
	if err != nil {
		return "", cmp.Or(updateErr, err)
	}
	var seen []string
	for _, suite := range searched {
		for _, m := range offered.FindAllStringSubmatch(out, -1) {
			if m[2] == suite && m[1] == version {
				return suite, nil
			}
			if m[2] == suite {
				seen = append(seen, m[1]+" in "+suite)
			}
		}
	}
	switch {
	case updateErr != nil && !errors.Is(updateErr, errNoSuite):
		return "", updateErr
	case len(seen) == 0:
		return "", errors.New("no suite has this version: the mirror has no tmux")
	}
	return "", errors.New("no suite has this version: there is " + strings.Join(seen, ", "))
}

// offered matches a line of apt's list, and captures the version of tmux, without Debian's
// revision, and the suite: "tmux | 1:3.7c-1~bpo13+1 | http://HOST/debian unstable/main amd64 Packages".
var offered = regexp.MustCompile(`(?m)^ *tmux \| *(?:[0-9]+:)?([0-9]+\.[0-9]+[a-z]?)\S* \| \S+ ([^/ ]+)/`)

// fill fetches the suite into its slot, unless another fetch does.
func (f *Fetcher) fill(ctx context.Context, s slot) (got Installed, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	if got, ok := s.installed(); ok {
		return got, nil // by the previous holder of the lock
	}
	if err := cmp.Or(s.remove(), os.MkdirAll(s.dir, 0o755)); err != nil {
		return Installed{}, err
	}
	defer os.Remove(s.dir) // does nothing unless it is empty after a failure
	root, err := os.MkdirTemp(s.dir, "root-")
	if err != nil {
		return Installed{}, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(root)
		}
	}()

	work := filepath.Join(root, "apt")
	defer os.RemoveAll(work)
	a, err := f.newArchive(ctx, work, withBase(s.suite)...)
	if err != nil {
		return Installed{}, err
	}
	f.say(s.suite, "fetching package lists from %s", redact(a.mirror))
	if err := a.update(ctx, f.waits()); err != nil {
		return Installed{}, err
	}
	f.say(s.suite, "fetching tmux and its libraries")
	packages, err := a.download(ctx, s.suite)
	if err != nil {
		return Installed{}, err
	}
	f.say(s.suite, "unpacking packages: %d", len(packages))
	if err := a.unpack(ctx, root, packages); err != nil {
		return Installed{}, err
	}
	script, version, err := prepare(ctx, root)
	if err != nil {
		return Installed{}, err
	}
	got = Installed{
		Suite: s.suite, Version: version, Arch: a.arch, Mirror: redact(a.mirror),
		Packages: packages, Fetched: time.Now().UTC().Truncate(time.Second),
	}
	// NAME_VERSION_ARCH.deb, in which apt writes a colon in the version as %3a.
	i := slices.IndexFunc(packages, func(p string) bool { return strings.HasPrefix(p, "tmux_") })
	if fields := strings.Split(packages[max(i, 0)], "_"); len(fields) == 3 {
		got.Package, _ = url.PathUnescape(fields[1])
	}
	if err := s.install(script, &got); err != nil {
		return Installed{}, err
	}
	f.say(s.suite, "tmux %s is ready", version)
	return got, nil
}

// prepare makes the unpacked binary run with the libraries under root, through a script
// that starts it with their loader. It returns the script and the version that it prints.
func prepare(ctx context.Context, root string) (script, version string, err error) {
	// Debian keeps libraries in a directory named after the architecture. libc has been in
	// /lib and in /usr/lib, and links to the loader may be absolute and lead out of root.
	loaders, _ := fs.Glob(os.DirFS(root), "lib/*/ld*.so.[0-9]")
	more, _ := fs.Glob(os.DirFS(root), "usr/lib/*/ld*.so.[0-9]")
	if loaders = append(loaders, more...); len(loaders) == 0 {
		return "", "", errors.New("the fetched tmux does not run: its packages have no loader")
	}
	arch := filepath.Base(filepath.Dir(loaders[0]))
	libraries := filepath.Join(root, "usr/lib", arch) + ":" + filepath.Join(root, "lib", arch)
	script = filepath.Join(root, "tmux")
	// tmux shows the name for a pane's process that is only forked, and in the shell's
	// privileged mode no file named by the environment is run. A script does not pass on
	// the prompts in its environment, which the shells in tmux need.
	text := fmt.Sprintf("#!/bin/bash -p\n"+
		`while IFS= read -rd '' v; do case $v in PS[12]=*) export "$v" ;; esac; done </proc/$$/environ`+"\n"+
		"exec -a tmux %s --inhibit-cache --library-path %s %s \"$@\"\n",
		quote(filepath.Join(root, loaders[0])), quote(libraries), quote(filepath.Join(root, "usr/bin/tmux")))
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		return "", "", err
	}
	soon, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := run(soon, script, "-V")
	version, ok := strings.CutPrefix(strings.TrimSpace(out), "tmux ")
	switch {
	case ctx.Err() != nil:
		return "", "", err
	case err != nil:
		return "", "", fmt.Errorf("the fetched tmux does not run: tmux -V: %s", lastLine(out, err))
	case !ok || strings.ContainsAny(version, " \n"):
		return "", "", fmt.Errorf("the fetched tmux does not run: tmux -V printed %q", out)
	}
	return script, version, nil
}

// quote quotes a path for the shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
