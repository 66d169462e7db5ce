package debian

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An archive is apt in a separate directory, with its own package lists, downloads and dpkg
// status, in which nothing is installed, so that every library is downloaded too. It uses
// the settings of the machine's apt, including proxies and passwords, but none of its
// sources, pins and hooks.
type archive struct {
	dir          string
	mirror, arch string
	options      []string
}

//go:embed apt.conf
var aptConf string

// newArchive makes the archive of some suites of the mirror. Its errors on files are those
// of dir.
func (f *Fetcher) newArchive(ctx context.Context, dir string, suites ...string) (*archive, error) {
	for _, program := range []string{"apt-get", "dpkg", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, errors.New("no apt on this machine: fetching Debian's tmux needs " + program)
		}
	}
	mirror, keyring, err := f.origin(ctx)
	if err != nil {
		return nil, err
	}
	arch, err := run(ctx, "dpkg", "--print-architecture")
	if err != nil {
		return nil, fmt.Errorf("ask dpkg for the architecture: %w", err)
	}
	for _, sub := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	a := &archive{dir: dir, mirror: mirror, arch: strings.TrimSpace(arch)}
	settings, sources := filepath.Join(dir, "apt.conf"), filepath.Join(dir, "debian.sources")
	a.options = []string{"-q", "-c", settings}
	for _, option := range []string{
		"Dir::State=" + dir, "Dir::Cache=" + dir, "Dir::Log=" + dir, "Dir::Etc::sourcelist=" + sources,
		"APT::Architecture=" + a.arch, "APT::Architectures::=" + a.arch,
		fmt.Sprintf("Acquire::Check-Valid-Until=%t", !f.AllowExpired),
	} {
		a.options = append(a.options, "-o", option)
	}
	// apt's transport for local files leaves packages where they are; "copy:" is the same
	// but copies them here.
	if rest, ok := strings.CutPrefix(mirror, "file:"); ok {
		mirror = "copy:" + strings.TrimPrefix(rest, "//")
	}
	source := fmt.Sprintf("Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nTargets: Packages\nSigned-By: %s\n",
		mirror, strings.Join(suites, " "), keyring)
	for file, text := range map[string]string{settings: aptConf, sources: source, filepath.Join(dir, "status"): ""} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (f *Fetcher) origin(ctx context.Context) (mirror, keyring string, err error) {
	mirror = cmp.Or(f.Mirror, os.Getenv("DEBIAN_MIRROR"))
	if mirror == "" {
		if mirror, err = machineMirror(ctx); err != nil {
			return "", "", fmt.Errorf("read the machine's apt configuration: %w", err)
		}
	}
	switch {
	case mirror == "":
		return "", "", errors.New("no Debian mirror: this machine's apt configuration has no entry for Debian; give one with --debian-mirror URL or DEBIAN_MIRROR")
	case !mirrorURL.MatchString(mirror):
		return "", "", fmt.Errorf("no Debian mirror: %q is no URL of an archive, like http://HOST/debian", redact(mirror))
	}
	candidates := []string{"/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"}
	if f.Keyring != "" {
		candidates = []string{f.Keyring}
	}
	for _, file := range candidates {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && !strings.ContainsAny(file, " \t\n,") && filepath.IsAbs(file) {
			return mirror, file, nil
		}
	}
	return "", "", fmt.Errorf("no Debian archive keyring: %s is no file that can be used; the package debian-archive-keyring brings one", candidates[0])
}

// mirrorURL matches what may appear in apt's sources; apt decides which schemes exist.
var mirrorURL = regexp.MustCompile(`^[a-z][a-z0-9+]*:/[^\s#\[\]]*$`)

// machineMirror returns the mirror of the first Debian entry in this machine's apt
// configuration, in the order in which apt reads it; empty if there is none.
func machineMirror(ctx context.Context) (string, error) {
	out, err := run(ctx, "apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI) $(COMPONENT) $(RELEASE)", "Created-By: Packages")
	if err != nil {
		return "", errors.New(lastLine(out, err))
	}
	for line := range strings.Lines(out) {
		if m := debianEntry.FindStringSubmatch(line); m != nil && !otherEntry.MatchString(line) {
			return m[1], nil
		}
	}
	return "", nil
}

var (
	// debianEntry matches an entry for Debian's own archive by its path, including daily
	// snapshots and the list of mirrors in cloud images
	// (mirror+file:/etc/apt/mirrors/debian.list).
	debianEntry = regexp.MustCompile(`^([^ ]*/debian(?:/[0-9]{8}T[0-9]{6}Z|\.list)?)/* main `)
	// otherEntry matches an entry for a disc, or for security updates only.
	otherEntry = regexp.MustCompile(`^cdrom:|(-security|/updates)\s*$`)
)

// withBase returns a suite, preceded by the one whose packages it builds on, if any: a
// partial suite has no libraries.
func withBase(suite string) []string {
	if suite == "experimental" || suite == "rc-buggy" {
		return []string{"sid", suite}
	}
	if at := partial.FindStringIndex(suite); at != nil {
		return []string{suite[:at[0]], suite}
	}
	return []string{suite}
}

var partial = regexp.MustCompile(`-(backports-sloppy|backports|proposed-updates|updates)$`)

// apt runs a program of apt's in the archive's directory.
func (a *archive) apt(ctx context.Context, program string, args ...string) (string, error) {
	out, err := run(ctx, program, append(slices.Clone(a.options), args...)...)
	if err != nil && ctx.Err() == nil {
		err = a.explain(out, err)
	}
	return out, err
}

// update fetches the package lists and checks their signatures. A mirror, or a proxy before
// it, that has sent nothing within patience counts as unreachable: apt itself would keep
// trying for more than a minute.
func (a *archive) update(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := fmt.Errorf("the mirror cannot be reached: no answer from %s in %v", redact(a.mirror), patience)
	defer time.AfterFunc(patience, func() {
		fetched, _ := fs.Glob(os.DirFS(a.dir), "lists/*_*")
		begun, _ := fs.Glob(os.DirFS(a.dir), "lists/partial/*_*")
		if len(fetched)+len(begun) == 0 {
			cancel(silent)
		}
	}).Stop()
	_, err := a.apt(ctx, "apt-get", "update")
	if context.Cause(ctx) == silent {
		return silent
	}
	return err
}

// download fetches tmux, in the suite's own version, with everything that it depends on,
// and returns the names of the packages.
func (a *archive) download(ctx context.Context, suite string) (packages []string, err error) {
	_, err = a.apt(ctx, "apt-get", "-y", "--download-only", "-t", suite, "install", "tmux/"+suite)
	if err != nil {
		return nil, err
	}
	packages, _ = fs.Glob(os.DirFS(filepath.Join(a.dir, "archives")), "*.deb")
	if len(packages) == 0 {
		return nil, errors.New("apt-get reported success and left no package")
	}
	return packages, nil
}

// unpack unpacks packages over one another under root. No package is installed: none of
// their scripts run.
func (a *archive) unpack(ctx context.Context, root string, packages []string) error {
	for _, p := range packages {
		out, err := run(ctx, "dpkg-deb", "-x", filepath.Join(a.dir, "archives", p), root)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case strings.Contains(out, "No space left"):
			return fmt.Errorf("the cache directory cannot be used: %s", lastLine(out, err))
		default:
			return fmt.Errorf("unpack %s: %s", p, lastLine(out, err))
		}
	}
	return nil
}

var errNoSuite = errors.New("no such suite")

// complaints matches the relevant errors and warnings of apt 2.2 to 3.x, the most specific
// first: apt also calls a repository unsigned if its signature is bad or its mirror does
// not answer.
var complaints = []struct {
	kind   string
	text   *regexp.Regexp
	advice string
}{
	{"the cache directory cannot be used", regexp.MustCompile(`No space left on device|You don't have enough free space|Disk quota exceeded|Read-only file system`), ""},
	{"the archive is out of date", regexp.MustCompile(`Release file for .* is expired`), "the mirror has stood still, or is a snapshot; --allow-expired takes it all the same"},
	{"the archive is out of date", regexp.MustCompile(`Release file for .* is not valid yet`), "this machine's clock is late, or the mirror's is early"},
	{"the archive cannot be trusted", regexp.MustCompile(`NO_PUBKEY|Missing key`), "if the suite is newer than this machine, it takes a newer debian-archive-keyring"},
	{"the archive cannot be trusted", regexp.MustCompile(`GPG error|OpenPGP signature verification failed|Clearsigned file isn't valid`), ""},
	{"the archive cannot be trusted", regexp.MustCompile(`Hash Sum mismatch|File has unexpected size`), "if the mirror is just being updated, this passes"},
	{"the archive cannot be trusted", regexp.MustCompile(`copy:.* Undetermined Error`), "apt 3 says no more than this when the hash of a copied file is wrong"},
	{"the suite has no tmux", regexp.MustCompile(`Release '.*' for 'tmux' was not found|Unable to locate package tmux|'tmux' has no installation candidate`), ""},
	{"no Debian mirror", regexp.MustCompile(`The method driver .* could not be found`), ""},
	{"the mirror cannot be reached", regexp.MustCompile(`Failed to fetch`), "the network is needed once for each suite, and not again"},
	{errNoSuite.Error(), regexp.MustCompile(`does not have a Release file`), ""},
	{"the archive cannot be trusted", regexp.MustCompile(`is not signed|cannot be authenticated`), ""},
}

// explain turns the output of a failed program of apt's into one error.
func (a *archive) explain(out string, cause error) error {
	var said []string
	for line := range strings.Lines(redact(out)) {
		if strings.HasPrefix(line, "E: ") || strings.HasPrefix(line, "W: ") {
			said = append(said, strings.Join(strings.Fields(line[3:]), " "))
		}
	}
	for _, c := range complaints {
		i := slices.IndexFunc(said, c.text.MatchString)
		switch {
		case i < 0:
			continue
		case c.kind == errNoSuite.Error():
			return fmt.Errorf("%w: %s has none of this name", errNoSuite, redact(a.mirror))
		case c.advice != "":
			said[i] += " (" + c.advice + ")"
		}
		return errors.New(c.kind + ": " + said[i])
	}
	return errors.New("apt-get failed: " + lastLine(strings.Join(said, "\n"), cause))
}

// redact removes the passwords of URLs from a text.
func redact(text string) string { return password.ReplaceAllString(text, "://") }

var password = regexp.MustCompile(`://[^/\s]*@`)

// lastLine returns the last line of a program's output, or err if there was none.
func lastLine(out string, err error) string {
	out = strings.TrimSpace(out)
	if last := out[strings.LastIndexByte(out, '\n')+1:]; last != "" {
		return last
	}
	return err.Error()
}
