// Package checkout determines which MCP server a directory contains the sources of, and the
// commands that run it, for Go, uv, npm and Cargo projects under git.
package checkout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/nearest"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/hint"
)

// A Mode says which build of a server the clients run.
type Mode string

// Modes of [Checkout.Command].
const (
	ModeDev       Mode = "dev"       // the working tree: edits take effect at the next start
	ModeBuild     Mode = "build"     // compiled once, for a fast start (Go, Cargo)
	ModeInstalled Mode = "installed" // the entry's name as found on PATH
	ModeReleased  Mode = "released"  // a published version, without the checkout
)

// Modes lists all modes.
var Modes = []Mode{ModeDev, ModeBuild, ModeInstalled, ModeReleased}

// A Checkout is a directory that contains the sources of an MCP server.
type Checkout struct {
	Dir    string // absolute, links resolved
	Server string // name to register it under: its name without a trailing -mcp
	Entry  string // its program that is the server
	kind   *checkoutKind
	name   string // package name, for --mode released
	path   string // path of the entry, relative to Dir, slash-separated, in the form that the kind uses
	module string // Go

	version string // npm

	// Unbuilt says what to do if the program for ModeDev does not exist yet.
	Unbuilt error
}

// A checkoutKind is a row of the table of build systems. Each function may use the fields that read
// filled in.
type checkoutKind struct {
	marker string
	// read fills in the checkout; an error that wraps ErrNoServer makes another marker in
	// the same directory be tried.
	read     func(c *Checkout, text []byte, entry string) error
	dev      func(c *Checkout) []string
	build    func(c *Checkout, dir string) (command []string, program string) // nil: no build needed
	released func(c *Checkout, ref string) []string
	pr       func(c *Checkout, url string, n int) []string
}

var checkoutKinds = []*checkoutKind{&goCheckout, &uvCheckout, &npmCheckout, &cargoCheckout}

// The markers of the kinds are here, so that looking for one needs nothing else.
const (
	goMarker    = "go.mod"
	uvMarker    = "pyproject.toml"
	npmMarker   = "package.json"
	cargoMarker = "Cargo.toml"
)

// ErrNoServer is wrapped by the error for a directory that has a marker, but no program that could be
// a server.
var ErrNoServer = errors.New("no server in it")

// ErrNone is wrapped by the error for a directory that is not in a checkout.
var ErrNone = errors.New("no checkout of a server")

// errSeveral is wrapped by the error for a directory with several programs that could be one.
var errSeveral = errors.New("has several")

// Read determines what is in a directory. entry, if not "", names the program to use.
func Read(dir, entry string) (*Checkout, error) {
	real, err := RealDir(dir)
	if err != nil {
		return nil, err
	}
	c, err := read(real, entry)
	switch {
	case errors.Is(err, ErrNoServer), errors.Is(err, ErrNone):
		err = inWorkspace(real, err)
	case entry != "" && errors.As(err, new(*unknownEntry)):
		err = &hint.UsageError{Msg: err.Error()}
	}
	return c, err
}

// An unknownEntry is the error that a checkout has no program of a name, which the caller or the
// checkout itself gave.
type unknownEntry struct{ msg string }

func (e *unknownEntry) Error() string { return e.msg }

// read determines what is in a directory, a real path.
func read(real, entry string) (*Checkout, error) {
	var markers []string
	var none error
	for _, kind := range checkoutKinds {
		markers = append(markers, kind.marker)
		text, _, err := atomicfile.Disk{}.Read(filepath.Join(real, kind.marker))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c := &Checkout{Dir: real, kind: kind}
		err = kind.read(c, text, entry)
		if err == nil {
			c.Server = strings.TrimSuffix(c.Server, "-mcp")
			return c, nil
		}
		err = fmt.Errorf("%s: %w", filepath.Join(real, kind.marker), err)
		if !errors.Is(err, ErrNoServer) {
			return nil, err
		}
		none = errors.Join(none, err)
	}
	if none != nil {
		return nil, none
	}
	if above := checkoutAbove(real); above != "" {
		return nil, fmt.Errorf("%s is %v: it has none of %s; a directory above has one: --repo %s",
			real, ErrNone, strings.Join(markers, ", "), ask.CommandLine([]string{above}))
	}
	return nil, fmt.Errorf("%s is %w: it has none of %s; choose another directory with --repo", real, ErrNone, strings.Join(markers, ", "))
}

// checkoutAbove returns the nearest parent directory that has a marker; "" if none has. It
// is only mentioned, never used: the user decides which server is meant.
func checkoutAbove(dir string) string {
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if Is(parent) {
			return parent
		}
	}
	return ""
}

// Is reports whether a directory has a marker.
func Is(dir string) bool {
	for _, marker := range []string{goMarker, uvMarker, npmMarker, cargoMarker} {
		if info, err := os.Stat(filepath.Join(dir, marker)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// RecordedDir returns a directory as it is in records, even if it was deleted; "" for "".
func RecordedDir(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	real, err := RealDir(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	gone, err := filepath.Abs(dir)
	if above, rerr := RealDir(filepath.Dir(gone)); rerr == nil {
		gone = filepath.Join(above, filepath.Base(gone))
	}
	return gone, err
}

// RealDir returns dir made absolute, with all links resolved.
func RealDir(dir string) (string, error) {
	abs, err := Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("repository %s: %w", abs, unwrapPath(err))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("repository %s is not a directory", abs)
	}
	return real, nil
}

// Abs makes a path absolute.
func Abs(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the current directory does not exist any more; cd to another, or give --repo an absolute path")
	}
	return abs, err
}

// unwrapPath removes the path from an error whose message already has it.
func unwrapPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// choose picks one of several programs: the named one, otherwise the only one whose name
// ends in -mcp, otherwise the only one.
func choose(names []string, entry, what, several string) (string, error) {
	all := strings.Join(names, ", ")
	servers := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasSuffix(n, "-mcp") })
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("%w: it has no %s", ErrNoServer, what)
	case slices.Contains(names, entry):
		return entry, nil
	case entry != "":
		if len(names) > 1 {
			all += nearest.Meant(entry, names)
		}
		return "", &unknownEntry{fmt.Sprintf("has no %s named %q; it has: %s", what, entry, all)}
	case len(servers) == 1:
		return servers[0], nil
	case len(servers) > 1:
		all = strings.Join(servers, ", ")
	case len(names) == 1:
		return names[0], nil
	}
	return "", fmt.Errorf("%w %s: %s; choose one with --entry", errSeveral, several, all)
}

// Command returns the program and arguments that start the server in a mode. ref is the
// version for ModeReleased, "" for the newest. For ModeBuild, compile is the command to run
// first to build it.
func (c *Checkout) Command(mode Mode, ref, buildDir string) (argv, compile []string, err error) {
	switch mode {
	case ModeDev, "":
		return c.kind.dev(c), nil, nil
	case ModeInstalled:
		return []string{c.Entry}, nil, nil
	case ModeBuild:
		if c.kind.build == nil {
			return nil, nil, hint.Usagef("--mode build is not supported for a %s checkout: there is nothing to compile", c.kind.marker)
		}
		compile, program := c.kind.build(c, filepath.Join(buildDir, BuildName(c.Dir)))
		return []string{program}, compile, nil
	case ModeReleased:
		if c.kind.released == nil {
			return nil, nil, hint.Usagef("--mode released is not supported for a %s checkout", c.kind.marker)
		}
		return c.kind.released(c, ref), nil, nil
	}
	return nil, nil, hint.Usagef("--mode %q is not one of dev, build, installed, released", mode)
}

// Package returns the name and the version of the npm package in a directory, or "".
func Package(dir string) (name, version string) {
	text, _, err := atomicfile.Disk{}.Read(filepath.Join(dir, npmMarker))
	if err != nil {
		return "", ""
	}
	doc, err := format.Parse(format.JSON, text)
	if err != nil {
		return "", ""
	}
	return textAt(doc, "name"), textAt(doc, "version")
}

// CheckPR refuses a directory of a kind without pull requests.
func CheckPR(dir string) error {
	var err error
	for _, kind := range checkoutKinds {
		if _, serr := os.Lstat(filepath.Join(dir, kind.marker)); serr != nil {
			continue
		}
		if kind.pr != nil {
			return nil
		}
		if err == nil {
			err = noPR(kind)
		}
	}
	return err
}

func noPR(kind *checkoutKind) error {
	return hint.Usagef("--pr is not supported for a %s checkout, only for pyproject.toml: check the pull request out and use that directory", kind.marker)
}

// PRCommand returns the program and arguments that start the head of pull request n.
func (c *Checkout) PRCommand(n int) ([]string, error) {
	if c.kind.pr == nil {
		return nil, noPR(c.kind)
	}
	raw := originURL(c.Dir)
	if raw == "" {
		return nil, fmt.Errorf("%s has no git remote named origin to fetch the pull request from", c.Dir)
	}
	url, err := httpsURL(raw)
	if err != nil {
		return nil, err
	}
	return c.kind.pr(c, url, n), nil
}

// remotes match the spellings of a git remote; their groups are its host and path. A port is
// for that scheme only, unless it is for https.
var remotes = []func() *regexp.Regexp{
	lazy.Regexp(`^(?:git\+)?https?://(?:[^/]*@)?([^/]+)/([^/].*)$`),
	lazy.Regexp(`^(?:git\+)?(?:ssh|git)://(?:[^/]*@)?([^/]+?)(?::[^]/]*)?/([^/].*)$`),
	lazy.Regexp(`^(?:git\+)?(?:[^/:]*@)?([^/.:][^/:]*):/?([^/].*)$`),
}

// httpsURL rewrites a git remote in any spelling as https without a user and a trailing
// .git: a pull request is fetched over https, however the checkout was cloned.
func httpsURL(remote string) (string, error) {
	for _, re := range remotes {
		if m := re().FindStringSubmatch(remote); m != nil {
			return "https://" + m[1] + "/" + strings.TrimSuffix(strings.TrimRight(m[2], "/"), ".git"), nil
		}
	}
	return "", fmt.Errorf("the git remote origin is %q, which has no https address to fetch a pull request from", ask.ShowURL(remote))
}
