package debian

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// An archive is apt in a separate directory, with its own package lists, downloads and dpkg
// status, in which nothing is installed, so that every library is downloaded too. It uses
// the settings of the machine's apt, including proxies and passwords, but none of its
// sources, pins and hooks.
type archive struct {
	suite, mirror, keyring, arch string
	dir                          string
	expired                      bool // accept a Release file past its Valid-Until
}

// aptSettings clears settings of the machine that are meant for its own packages: hooks
// that apt runs around an update, foreign architectures, and the default release.
const aptSettings = `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
#clear APT::Default-Release;
`

func newArchive(dir, suite, mirror, keyring, arch string, expired bool) (*archive, error) {
	a := &archive{suite: suite, mirror: mirror, keyring: keyring, arch: arch, dir: dir, expired: expired}
	for _, sub := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	// apt's transport for local files leaves packages where they are; "copy:" is the same
	// but copies them here.
	uri := mirror
	if rest, ok := strings.CutPrefix(mirror, "file:"); ok {
		uri = "copy:" + strings.TrimPrefix(rest, "//")
	}
	sources := fmt.Sprintf("Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nTargets: Packages\nSigned-By: %s\n",
		uri, strings.Join(withBase(suite), " "), keyring)
	for name, text := range map[string]string{"status": "", "settings": aptSettings, "debian.sources": sources} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// withBase returns a suite, preceded by the one whose packages it builds on, if any: a
// partial suite has no libraries.
func withBase(suite string) []string {
	if suite == "experimental" || suite == "rc-buggy" {
		return []string{"sid", suite}
	}
	for _, part := range []string{"-backports-sloppy", "-backports", "-proposed-updates", "-updates"} {
		if base, ok := strings.CutSuffix(suite, part); ok {
			return []string{base, suite}
		}
	}
	return []string{suite}
}

// apt runs apt-get in the archive's directory.
func (a *archive) apt(ctx context.Context, args ...string) (string, error) {
	at := func(name string) string { return filepath.Join(a.dir, name) }
	options := []string{
		"-q", "-c", at("settings"),
		"-o", "Dir::State=" + a.dir,
		"-o", "Dir::State::lists=" + at("lists") + "/",
		"-o", "Dir::State::status=" + at("status"),
		"-o", "Dir::Cache=" + a.dir,
		"-o", "Dir::Cache::archives=" + at("archives") + "/",
		"-o", "Dir::Log=" + a.dir,
		"-o", "Dir::Etc::sourcelist=" + at("debian.sources"),
		"-o", "Dir::Etc::sourceparts=/dev/null",
		"-o", "Dir::Etc::preferences=/dev/null",
		"-o", "Dir::Etc::preferencesparts=/dev/null",
		"-o", "APT::Architecture=" + a.arch,
		"-o", "APT::Architectures::=" + a.arch,
		"-o", "APT::Install-Recommends=false",
		"-o", "APT::Install-Suggests=false",
		"-o", "APT::Get::AllowUnauthenticated=false",
		"-o", "Acquire::AllowInsecureRepositories=false",
		"-o", "Acquire::Languages=none",
		// Whatever the machine's setting for its own sources: an old archive has old
		// vulnerabilities.
		"-o", "Acquire::Check-Date=true",
		"-o", fmt.Sprintf("Acquire::Check-Valid-Until=%t", !a.expired),
		// Report a missing network soon, and for every missing list.
		"-o", "Acquire::Retries=1",
		"-o", "Acquire::http::Timeout=10",
		"-o", "Acquire::https::Timeout=10",
		"-o", "APT::Update::Error-Mode=any",
	}
	if os.Geteuid() == 0 {
		// As root, apt downloads as a separate user, and warns if that user cannot access
		// the directory, such as a cache under /root.
		options = append(options, "-o", "APT::Sandbox::User=root")
	}
	out, err := run(ctx, "apt-get", append(options, args...)...)
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
	silent := &Error{Suite: a.suite, Kind: ErrUnreachable, Detail: fmt.Sprintf("no answer from %s in %v", redact(a.mirror, a.mirror), patience)}
	defer time.AfterFunc(patience, func() {
		for _, dir := range []string{"lists", "lists/partial"} {
			files, _ := filepath.Glob(filepath.Join(globQuote(a.dir), dir, "*_*"))
			if len(files) > 0 {
				return
			}
		}
		cancel(silent)
	}).Stop()
	_, err := a.apt(ctx, "update")
	if context.Cause(ctx) == silent {
		return silent
	}
	return err
}

// download fetches tmux, in the suite's own version, with everything that it depends on.
func (a *archive) download(ctx context.Context) (packages []string, err error) {
	_, err = a.apt(ctx, "-y", "--download-only", "-t", a.suite, "install", "tmux/"+a.suite)
	if err != nil {
		return nil, err
	}
	packages, _ = filepath.Glob(filepath.Join(globQuote(a.dir), "archives", "*.deb"))
	if len(packages) == 0 {
		return nil, &Error{Suite: a.suite, Detail: "apt-get reported success and left no package"}
	}
	return packages, nil
}

// globQuote quotes a path so that filepath.Glob takes it literally.
func globQuote(path string) string { return globSpecial.ReplaceAllString(path, `\$0`) }

var globSpecial = regexp.MustCompile(`[\\*?[]`)

// complaints matches the relevant errors and warnings of apt 2.2 to 3.x, the most specific
// first: apt also calls a repository unsigned if its signature is bad or its mirror does
// not answer.
var complaints = []struct {
	kind   error
	text   *regexp.Regexp
	advice string
}{
	{ErrCache, regexp.MustCompile(`No space left on device|You don't have enough free space|Disk quota exceeded|Read-only file system`), ""},
	{ErrExpired, regexp.MustCompile(`Release file for .* is expired`), "the mirror has stood still, or is a snapshot; --allow-expired takes it all the same"},
	{ErrExpired, regexp.MustCompile(`Release file for .* is not valid yet`), "this machine's clock is late, or the mirror's is early"},
	{ErrSignature, regexp.MustCompile(`NO_PUBKEY|Missing key`), "if the suite is newer than this machine, it takes a newer debian-archive-keyring"},
	{ErrSignature, regexp.MustCompile(`GPG error|OpenPGP signature verification failed|Clearsigned file isn't valid`), ""},
	{ErrSignature, regexp.MustCompile(`Hash Sum mismatch|File has unexpected size`), "if the mirror is just being updated, this passes"},
	{ErrSignature, regexp.MustCompile(`copy:.* Undetermined Error`), "apt 3 says no more than this when the hash of a copied file is wrong"},
	{ErrNoTmux, regexp.MustCompile(`Release '.*' for 'tmux' was not found|Unable to locate package tmux|'tmux' has no installation candidate`), ""},
	{ErrMirror, regexp.MustCompile(`The method driver .* could not be found`), ""},
	{ErrUnreachable, regexp.MustCompile(`Failed to fetch`), "the network is needed once for each suite, and not again"},
	{ErrSuite, regexp.MustCompile(`does not have a Release file`), ""},
	{ErrSignature, regexp.MustCompile(`is not signed|cannot be authenticated`), ""},
}

// explain turns the output of a failed apt-get into one error.
func (a *archive) explain(out string, cause error) error {
	e := &Error{Suite: a.suite, Err: cause}
	var said []string
	for line := range strings.Lines(redact(out, a.mirror)) {
		if strings.HasPrefix(line, "E: ") || strings.HasPrefix(line, "W: ") {
			said = append(said, strings.Join(strings.Fields(line[3:]), " "))
		}
	}
	for _, c := range complaints {
		i := slices.IndexFunc(said, c.text.MatchString)
		if i < 0 {
			continue
		}
		e.Kind, e.Detail = c.kind, said[i]
		if e.Kind == ErrSuite {
			e.Detail = redact(a.mirror, a.mirror) + " has none of this name"
		}
		if c.advice != "" {
			e.Detail += " (" + c.advice + ")"
		}
		return e
	}
	e.Detail = "apt-get failed: " + lastLine(strings.Join(said, "\n"), cause)
	return e
}

// redact removes the password of a mirror's URL from a text.
func redact(text, mirror string) string {
	scheme, rest, ok := strings.Cut(mirror, "://")
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndex(authority, "@")
	if !ok || at < 0 {
		return text
	}
	return strings.ReplaceAll(text, scheme+"://"+authority[:at+1], scheme+"://")
}

// lastLine returns the last line of a program's output, or err if there was none.
func lastLine(out string, err error) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return err.Error()
}

// unpack unpacks packages over one another under root. No package is installed: none of
// their scripts run.
func unpack(ctx context.Context, suite, root string, packages []string) error {
	for _, p := range packages {
		out, err := run(ctx, "dpkg-deb", "-x", p, root)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case strings.Contains(out, "No space left"):
			return &Error{Suite: suite, Kind: ErrCache, Detail: lastLine(out, err), Err: errors.Join(err, syscall.ENOSPC)}
		default:
			return &Error{Suite: suite, Detail: "unpack " + filepath.Base(p) + ": " + lastLine(out, err), Err: err}
		}
	}
	return nil
}
