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
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
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

var suiteName = regexp.MustCompile(`^[a-z][a-z0-9]*([.-][a-z0-9]+)*$`)

// Get returns the suite's tmux, from the cache or else from the mirror. Instead of a suite,
// the name may be a version of tmux, such as 3.7c, for the suite that has it, in the cache
// or else at the mirror. Its errors are of type *[Error], unless ctx ended: then they wrap
// its cause.
func (f *Fetcher) Get(ctx context.Context, suite string) (Installed, error) {
	if versionName.MatchString(suite) {
		version := suite
		var err error
		if suite, err = f.find(ctx, version); err != nil {
			return Installed{}, err
		}
		got, err := f.Get(ctx, suite)
		if err == nil && got.Version != version {
			// The cached copy is older or newer than the mirror's.
			err = &Error{Suite: version, Kind: ErrVersion, Detail: fmt.Sprintf("%s has it, and the cache has %s of %[1]s; remove debian:%[1]s and get it again", suite, got.Version)}
		}
		return got, err
	}
	slot, err := f.slot(suite)
	if err != nil {
		return Installed{}, err
	}
	if got, ok := slot.installed(); ok {
		return got, nil
	}
	got, err := f.fill(ctx, slot)
	known := (*Error)(nil)
	switch {
	case err == nil || errors.As(err, &known):
	case ctx.Err() != nil:
		err = fmt.Errorf("debian:%s: %w", suite, err)
	default:
		err = &Error{Suite: suite, Detail: err.Error(), Err: err}
	}
	return got, err
}

// fill fetches the suite into its slot, unless another fetch does.
func (f *Fetcher) fill(ctx context.Context, slot slot) (Installed, error) {
	timeout := f.Timeout
	if timeout == 0 {
		timeout = 5 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done within %v: %w", timeout, context.DeadlineExceeded))
	defer cancel()
	unlock, err := slot.lock(ctx)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	if got, ok := slot.installed(); ok {
		return got, nil // by the previous holder of the lock
	}
	return f.fetch(ctx, slot)
}

// Path returns the binary of a cached suite, or an [ErrNotFetched] error.
func (f *Fetcher) Path(suite string) (string, error) {
	suite = f.known(suite)
	slot, err := f.slot(suite)
	if err != nil {
		return "", err
	}
	got, ok := slot.installed()
	if !ok {
		return "", &Error{Suite: suite, Kind: ErrNotFetched}
	}
	return got.Binary, nil
}

// List returns the contents of the cache for this architecture, sorted by suite. It is not
// an error if the cache is empty or missing.
func (f *Fetcher) List() ([]Installed, error) {
	dir, err := f.cacheDir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var list []Installed
	for _, entry := range entries {
		suite, mine := strings.CutSuffix(entry.Name(), "_"+runtime.GOARCH)
		if !mine {
			continue
		}
		if got, ok := (slot{suite: suite, dir: filepath.Join(dir, entry.Name())}).installed(); ok {
			list = append(list, got)
		}
	}
	return list, nil
}

// Remove removes a suite from the cache, including what interrupted fetches left of it. It
// fails with [ErrNotFetched] if there was nothing. A running server from it keeps running,
// but new clients of it do not start.
func (f *Fetcher) Remove(suite string) error {
	suite = f.known(suite)
	slot, err := f.slot(suite)
	if err != nil {
		return err
	}
	if _, err := os.Stat(slot.dir); err != nil {
		return &Error{Suite: suite, Kind: ErrNotFetched}
	}
	unlock, err := slot.lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	// The record first: without it, the rest is invalid.
	if err := os.Remove(slot.record()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return cacheError(suite, err)
	}
	if err := os.RemoveAll(slot.dir); err != nil {
		return cacheError(suite, err)
	}
	return nil
}

func (f *Fetcher) cacheDir() (string, error) {
	dir := f.CacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(user, "mcp-conform")
	}
	dir, err := filepath.Abs(dir)
	if strings.ContainsAny(dir, ":;$") {
		// The loader would not take these as part of a path.
		return "", fmt.Errorf("%s has one of : ; $ in its path", dir)
	}
	return filepath.Join(dir, "debian"), err
}

func (f *Fetcher) slot(suite string) (slot, error) {
	if versionName.MatchString(suite) {
		return slot{}, &Error{Suite: suite, Kind: ErrNotFetched}
	}
	if !suiteName.MatchString(suite) {
		return slot{}, &Error{Suite: suite, Kind: ErrSuite, Detail: "a suite's name is like trixie or trixie-backports"}
	}
	dir, err := f.cacheDir()
	if err != nil {
		return slot{}, cacheError(suite, err)
	}
	return slot{suite: suite, dir: filepath.Join(dir, suite+"_"+runtime.GOARCH)}, nil
}

// fetch fills the slot, which is locked.
func (f *Fetcher) fetch(ctx context.Context, s slot) (_ Installed, err error) {
	say := func(format string, args ...any) {
		if f.Progress != nil {
			f.Progress("debian:" + s.suite + ": " + fmt.Sprintf(format, args...))
		}
	}
	for _, program := range []string{"apt-get", "dpkg", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			return Installed{}, &Error{Suite: s.suite, Kind: ErrNoApt, Detail: "fetching Debian's tmux needs " + program, Err: err}
		}
	}
	mirror, keyring, err := f.origin(ctx, s.suite)
	if err != nil {
		return Installed{}, err
	}
	arch, err := run(ctx, "dpkg", "--print-architecture")
	if err != nil {
		return Installed{}, fmt.Errorf("ask dpkg for the architecture: %w", err)
	}
	arch = strings.TrimSpace(arch)

	if err := s.clean(); err != nil {
		return Installed{}, cacheError(s.suite, err)
	}
	defer os.Remove(s.dir) // does nothing unless it is empty after a failure
	work, err := os.MkdirTemp(s.dir, "work-")
	if err != nil {
		return Installed{}, cacheError(s.suite, err)
	}
	defer os.RemoveAll(work)
	root, err := os.MkdirTemp(s.dir, "root-")
	if err != nil {
		return Installed{}, cacheError(s.suite, err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(root)
		}
	}()

	a, err := newArchive(work, s.suite, mirror, keyring, arch, f.AllowExpired)
	if err != nil {
		return Installed{}, cacheError(s.suite, err)
	}
	say("fetching package lists from %s", redact(mirror, mirror))
	if err := a.update(ctx, f.waits()); err != nil {
		return Installed{}, err
	}
	say("fetching tmux and its libraries")
	packages, err := a.download(ctx)
	if err != nil {
		return Installed{}, err
	}
	say("unpacking %d packages", len(packages))
	if err := unpack(ctx, s.suite, root, packages); err != nil {
		return Installed{}, err
	}
	got := Installed{
		Suite: s.suite, Binary: filepath.Join(root, "usr", "bin", "tmux"),
		Arch: arch, Mirror: redact(mirror, mirror), Fetched: time.Now().UTC().Truncate(time.Second),
	}
	for _, p := range packages {
		name := filepath.Base(p)
		got.Packages = append(got.Packages, name)
		// NAME_VERSION_ARCH.deb, in which apt writes a colon in the version as %3a.
		if fields := strings.Split(name, "_"); fields[0] == "tmux" && len(fields) == 3 {
			got.Package, _ = url.PathUnescape(fields[1])
		}
	}
	if got.Binary, got.Version, err = prepare(ctx, root, got.Binary); err != nil {
		if ctx.Err() != nil {
			return Installed{}, err
		}
		return Installed{}, &Error{Suite: s.suite, Kind: ErrBinary, Detail: err.Error(), Err: err}
	}
	if got.Binary, err = s.link(got.Binary); err != nil {
		return Installed{}, cacheError(s.suite, err)
	}
	if err := s.write(got); err != nil {
		return Installed{}, cacheError(s.suite, err)
	}
	say("tmux %s is ready", got.Version)
	return got, nil
}

// origin determines the mirror and the keyring.
func (f *Fetcher) origin(ctx context.Context, suite string) (mirror, keyring string, err error) {
	mirror, keyring = f.Mirror, f.Keyring
	if mirror == "" {
		mirror = os.Getenv("DEBIAN_MIRROR")
	}
	if mirror == "" {
		own, err := machineMirror(ctx)
		if err != nil {
			return "", "", fmt.Errorf("read the machine's apt configuration: %w", err)
		}
		if own == "" {
			return "", "", &Error{Suite: suite, Kind: ErrMirror, Detail: "this machine's apt configuration has no entry for Debian; give one with --debian-mirror URL or DEBIAN_MIRROR"}
		}
		mirror = own
	}
	if !mirrorURL.MatchString(mirror) {
		return "", "", &Error{Suite: suite, Kind: ErrMirror, Detail: fmt.Sprintf("%q is no URL of an archive, like http://HOST/debian", redact(mirror, mirror))}
	}
	candidates := []string{keyring}
	if keyring == "" {
		candidates = []string{"/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"}
	}
	for _, file := range candidates {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && !strings.ContainsAny(file, " \t\n,") && filepath.IsAbs(file) {
			return mirror, file, nil
		}
	}
	return "", "", &Error{Suite: suite, Kind: ErrKeyring, Detail: candidates[0] + " is no file that can be used; the package debian-archive-keyring brings one"}
}

// mirrorURL matches what may appear in apt's sources; apt decides which schemes exist.
var mirrorURL = regexp.MustCompile(`^[a-z][a-z0-9+]*:/[^\s#\[\]]*$`)

// prepare makes the unpacked binary run with the libraries under root, through a script
// that starts it with their loader. It returns the script and the version that it prints.
func prepare(ctx context.Context, root, binary string) (script, version string, err error) {
	// Debian keeps libraries in a directory named after the architecture. libc has been in
	// /lib and in /usr/lib, and links to the loader may be absolute and lead out of root.
	var loader string
	for _, lib := range []string{"usr/lib", "lib"} {
		if found, _ := filepath.Glob(filepath.Join(globQuote(root), lib, "*", "ld*.so.[0-9]")); len(found) > 0 {
			loader = found[0]
		}
	}
	if loader == "" {
		return "", "", errors.New("its packages have no loader")
	}
	arch := filepath.Base(filepath.Dir(loader))
	libraries := filepath.Join(root, "usr/lib", arch) + ":" + filepath.Join(root, "lib", arch)
	script = filepath.Join(root, "tmux")
	// tmux shows the name for a pane's process that is only forked, and in the shell's
	// privileged mode no file named by the environment is run. A script does not pass on
	// the prompts in its environment, which the shells in tmux need.
	text := fmt.Sprintf("#!/bin/bash -p\n"+
		`while IFS= read -rd '' v; do case $v in PS[12]=*) export "$v" ;; esac; done </proc/$$/environ`+"\n"+
		"exec -a tmux %s --inhibit-cache --library-path %s %s \"$@\"\n",
		quote(loader), quote(libraries), quote(binary))
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := run(ctx, script, "-V")
	if err != nil {
		return "", "", fmt.Errorf("tmux -V: %s", lastLine(out, err))
	}
	version, ok := strings.CutPrefix(strings.TrimSpace(out), "tmux ")
	if !ok || strings.ContainsAny(version, " \n") {
		return "", "", fmt.Errorf("tmux -V printed %q", out)
	}
	return script, version, nil
}

// quote quotes a path for the shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
