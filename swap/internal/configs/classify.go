package configs

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/commands"
	"tmuxmcp/swap/internal/machine"
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
	// By is the server's program, if TagCommand was written by its setup.
	By string `json:"by,omitempty"`
	// Through is a program or package that perhaps runs the checkout asked about: it is not a known
	// launcher, and its arguments name something there that can be run.
	Through string `json:"through,omitempty"`
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
	if t.Through != "" {
		return "perhaps this repo (" + t.Through + " runs something in it)"
	}
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
		how := "given to use-local"
		if t.By != "" {
			how = "set up by " + t.By
		}
		switch {
		case t.Missing:
			return how + ", but " + t.Path + " does not exist"
		case t.ThisRepo:
			return "local (this repo), as " + how
		}
		return how
	}
	return t.Kind
}

var pullRef = lazy.Regexp(`^git\+.+@refs/pull/([0-9]+)/head$`)

// Classify tags a client's entry, which is one for a project or for all. repo is the directory
// asked about, or "". Only if it is a checkout does what runs in it count as its own.
func Classify(sys machine.System, c *clients.Client, value map[string]any, project bool, repo string) Tag {
	value = c.Dialect.Flat(value)
	if project && repo != "" {
		value = here(c, value, repo)
	}
	if !checkout.Is(repo) {
		repo = ""
	}
	t := tagOf(sys, c.Dialect.ReadArgv(value), value, repo)
	t.look()
	return t
}

// here returns a flat entry of a project as its client reads it in a directory of the project, where
// it starts the server.
func here(c *clients.Client, value map[string]any, dir string) map[string]any {
	if c.Workspace != "" {
		value = replaced(value, strings.NewReplacer(c.Workspace, dir)).(map[string]any)
	}
	value = maps.Clone(value)
	cwd, _ := value["cwd"].(string)
	if c.NoCwd {
		cwd = ""
	}
	value["cwd"] = checkout.AbsIn(dir, cwd)
	return value
}

// replaced returns a value with its texts replaced.
func replaced(value any, r *strings.Replacer) any {
	switch v := value.(type) {
	case string:
		return r.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = replaced(v[i], r)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name := range v {
			out[name] = replaced(v[name], r)
		}
		return out
	}
	return value
}

// look checks whether Path still exists.
func (t *Tag) look() {
	if filepath.IsAbs(t.Path) {
		_, err := os.Stat(t.Path)
		t.Missing = errors.Is(err, fs.ErrNotExist)
	}
}

// stale returns what was edited after the build of the checkout that a tagged entry runs, or "".
func (t Tag) stale(env Env, repo string) string {
	if !t.ThisRepo || t.Missing {
		return ""
	}
	return env.builtBefore(repo, t.Path)
}

func tagOf(sys machine.System, argv []string, value map[string]any, repo string) Tag {
	if len(argv) == 0 || argv[0] == "" {
		if url := clients.Remote(value); url != "" {
			return Tag{Kind: TagRemote, URL: url}
		}
		return Tag{Kind: TagOther}
	}
	own := func(r commands.Started) bool {
		return repo != "" && (r.Place != "" && commands.OfRepo(r.Place, repo) ||
			r.Program != "" && (commands.OfRepo(r.Program, repo) || commands.OfVenv(r.Program, repo) || Inside(r.Program, filepath.Join(sys.BuildDir(), checkout.BuildName(repo)))))
	}
	r := commands.Starts(argv, value, sys.Home)
	t := startedTag(sys, r)
	switch t.ThisRepo = own(r); {
	case t.ThisRepo && t.Kind != TagLocal:
		t = Tag{Kind: TagLocal, Path: r.Program, ThisRepo: true}
	case !t.ThisRepo && commands.MayStart(argv, value, sys.Home, own):
		t.Through = ask.ShowURL(cmp.Or(r.Package, commands.Program(argv)))
	}
	return t
}

// startedTag tags what a command starts, whatever the checkout asked about.
func startedTag(sys machine.System, r commands.Started) Tag {
	switch pkg := r.Package; {
	case r.Place != "":
		return Tag{Kind: TagLocal, Path: r.Place}
	case r.Program != "" && Inside(r.Program, sys.BuildDir()):
		return Tag{Kind: TagLocal, Path: r.Program}
	case pullRef().MatchString(pkg):
		return Tag{Kind: TagPR, PR: pullRef().FindStringSubmatch(pkg)[1], Package: pkg}
	case pinned(pkg):
		return Tag{Kind: TagPinned, Package: pkg}
	case pkg != "":
		return Tag{Kind: TagUnpinned, Package: pkg}
	}
	return Tag{Kind: TagOther}
}

// Inside reports whether a path is a directory or in it, with links resolved.
func Inside(p, dir string) bool {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

var (
	version = lazy.Regexp(`.(?:==|@|#)([^@/#]+)$`) // the first character may be the @ of an npm scope
	moving  = lazy.Regexp(`^(?:[\^~<>*x].*|latest|next|beta|alpha|canary|rc|dev|main|master|HEAD)$`)
)

// pinned reports whether a package name includes a version, which is not one that moves.
func pinned(pkg string) bool {
	m := version().FindStringSubmatch(pkg)
	return m != nil && !moving().MatchString(m[1]) || pullRef().MatchString(pkg)
}

// Publishes returns the package that a checkout publishes, without a version, or "".
func Publishes(co *checkout.Checkout) string {
	argv, _, err := co.Command(checkout.ModeReleased, "", "")
	if err != nil {
		return ""
	}
	return commands.Bare(commands.Starts(argv, nil, "").Package)
}

// RunsServer returns which form of a checkout's server an entry runs, by its tag: the checkout, the
// package that it publishes, or "" for neither. perhaps is "perhaps " if that is uncertain.
func (t Tag) RunsServer(published string) (runs, perhaps string) {
	switch {
	case t.ThisRepo:
		return "this repository", ""
	case t.Package != "" && commands.Bare(t.Package) == published:
		return t.Package, ""
	case t.Through != "":
		return "this repository, through " + t.Through, "perhaps "
	}
	return "", ""
}
