package swap

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/swap/checkout"
	"tmuxmcp/swap/clients"
)

// A Tag classifies what an entry runs.
type Tag struct {
	Kind string `json:"kind"` // one of the Tag constants
	// Path is the checkout or program of TagLocal and TagCommand, as the config spells it.
	Path string `json:"path,omitempty"`
	// ThisRepo is set if it is the checkout asked about.
	ThisRepo bool `json:"this_repo,omitempty"`
	// Missing is set if nothing is at Path any more, so the server cannot start.
	Missing bool `json:"missing,omitempty"`
	// PR is the pull request of TagPR.
	PR string `json:"pr,omitempty"`
	// Package is what TagPinned and TagUnpinned name, and URL the address of TagRemote.
	Package string `json:"package,omitempty"`
	URL     string `json:"url,omitempty"`
}

// Kinds of a [Tag].
const (
	TagLocal    = "local"
	TagPR       = "pr"
	TagPinned   = "pinned"
	TagUnpinned = "unpinned"
	TagRemote   = "remote"
	TagCommand  = "command" // given to UseLocal
	TagOther    = "other"
)

func (t Tag) String() string {
	switch t.Kind {
	case TagLocal:
		switch {
		case t.ThisRepo && t.Missing:
			return "local (this repo), but " + t.Path + " does not exist"
		case t.ThisRepo:
			return "local (this repo)"
		case t.Missing:
			return "local (" + t.Path + "), which does not exist"
		}
		return "local (" + t.Path + ")"
	case TagPR:
		return "PR " + t.PR
	case TagPinned, TagUnpinned:
		return t.Kind + ": " + t.Package
	case TagRemote:
		return "remote: " + t.URL
	case TagCommand:
		if t.Missing {
			return "given to use-local, but " + t.Path + " does not exist"
		}
		if t.ThisRepo {
			return "local (this repo), as given to use-local"
		}
		return "given to use-local"
	}
	return t.Kind
}

// launchers are programs that run a checkout, with the flags that specify its location; a
// launcher without such flags runs the first absolute path among its arguments.
var launchers = map[string][]string{
	"uv":      {"--directory", "--project"},
	"go":      {"-C"},
	"cargo":   {"--manifest-path"},
	"node":    nil,
	"bun":     nil,
	"deno":    nil,
	"tsx":     nil,
	"python":  nil,
	"python3": nil,
}

// fetchers are programs, with their leading words, that run a published package, and the
// flags that name it; without one, the first argument that is not a flag names it. Flags in
// takes have a value.
var fetchers = []struct {
	words []string
	flags []string
	takes []string
}{
	{words: []string{"uvx"}, flags: []string{"--from"}, takes: []string{"--with", "--python", "-p", "--index", "--index-url"}},
	{words: []string{"uv", "tool", "run"}, flags: []string{"--from"}, takes: []string{"--with", "--python", "-p"}},
	{words: []string{"pipx", "run"}, flags: []string{"--spec"}},
	{words: []string{"npx"}, flags: []string{"--package", "-p"}},
	{words: []string{"npm", "exec"}, flags: []string{"--package", "-p"}},
	{words: []string{"bunx"}, flags: []string{"--package", "-p"}},
	{words: []string{"pnpm", "dlx"}, flags: []string{"--package"}},
	{words: []string{"go", "run"}},
}

var pullRef = regexp.MustCompile(`^git\+.+@refs/pull/([0-9]+)/head$`)

// classify tags an entry. repo is the directory asked about, or "". Only if it is a
// checkout does what runs in it count as its own.
func (s *Swapper) classify(argv []string, value map[string]any, repo string) Tag {
	if !checkout.Is(repo) {
		repo = ""
	}
	t := s.tag(argv, value, repo)
	t.look()
	return t
}

// look checks whether Path still exists.
func (t *Tag) look() {
	if filepath.IsAbs(t.Path) {
		_, err := os.Stat(t.Path)
		t.Missing = errors.Is(err, fs.ErrNotExist)
	}
}

func (s *Swapper) tag(argv []string, value map[string]any, repo string) Tag {
	if len(argv) == 0 || argv[0] == "" {
		if url := clients.Remote(value); url != "" {
			return Tag{Kind: TagRemote, URL: url}
		}
		return Tag{Kind: TagOther}
	}
	if place := launched(argv); place != "" {
		return Tag{Kind: TagLocal, Path: place, ThisRepo: repo != "" && inside(place, repo)}
	}
	if filepath.IsAbs(argv[0]) {
		built := filepath.Join(s.Sys.BuildDir(), checkout.BuildName(repo))
		if repo != "" && (inside(argv[0], repo) || inside(argv[0], built)) {
			return Tag{Kind: TagLocal, Path: argv[0], ThisRepo: true}
		}
		if inside(argv[0], s.Sys.BuildDir()) {
			return Tag{Kind: TagLocal, Path: argv[0]}
		}
	}
	if pkg := fetched(argv); pkg != "" {
		if m := pullRef.FindStringSubmatch(pkg); m != nil {
			return Tag{Kind: TagPR, PR: m[1], Package: pkg}
		}
		if pinned(pkg) {
			return Tag{Kind: TagPinned, Package: pkg}
		}
		return Tag{Kind: TagUnpinned, Package: pkg}
	}
	return Tag{Kind: TagOther}
}

// program returns the base name of an argv's first word.
func program(argv []string) string {
	return strings.TrimSuffix(path.Base(filepath.ToSlash(argv[0])), ".exe")
}

// launched returns the location of the checkout that a command runs, or "".
func launched(argv []string) string {
	flags, ok := launchers[program(argv)]
	if !ok {
		return ""
	}
	for i, arg := range argv[1:] {
		if len(flags) == 0 && filepath.IsAbs(arg) {
			return arg
		}
		name, value, joined := strings.Cut(arg, "=")
		if !slices.Contains(flags, name) {
			continue
		}
		if !joined {
			if i+2 >= len(argv) {
				return ""
			}
			value = argv[i+2]
		}
		if name == "--manifest-path" {
			value = filepath.Dir(value)
		}
		return value
	}
	return ""
}

// inside reports whether a path is a directory or in it, with links resolved.
func inside(p, dir string) bool {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// fetched returns the published package that a command runs, or "".
func fetched(argv []string) string {
	words := append([]string{program(argv)}, argv[1:]...)
	for _, f := range fetchers {
		if len(words) <= len(f.words) || !slices.Equal(words[:len(f.words)], f.words) {
			continue
		}
		args := words[len(f.words):]
		for i := 0; i < len(args); i++ {
			name, value, joined := strings.Cut(args[i], "=")
			switch {
			case slices.Contains(f.flags, name) && joined:
				return value
			case slices.Contains(f.flags, name) && i+1 < len(args):
				return args[i+1]
			case slices.Contains(f.takes, args[i]):
				i++
			case !strings.HasPrefix(args[i], "-"):
				return args[i]
			}
		}
	}
	return ""
}

// pinned reports whether a package name includes a version.
func pinned(pkg string) bool {
	if strings.Contains(pkg, "==") {
		return true
	}
	// The first character may be the @ of an npm scope.
	i := strings.LastIndex(pkg, "@")
	return i > 0 && pkg[i+1:] != "" && pkg[i+1:] != "latest"
}
