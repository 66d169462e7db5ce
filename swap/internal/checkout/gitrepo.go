package checkout

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tmuxmcp/internal/atomicfile"
)

// A Repo is what git's own files say about a directory's repository.
type Repo struct {
	Top    string // top of the work tree that contains the directory
	dir    string // the git directory of that work tree
	common string // the git directory shared by all its work trees
}

// FindRepo finds the work tree that contains dir, a real path. It reads git's files and
// runs nothing, so it works the same without git installed.
func FindRepo(dir string) (Repo, bool) {
	for top := dir; ; top = filepath.Dir(top) {
		if r, ok := repoAt(top); ok {
			return r, r.Top != ""
		}
		if isGitDir(top) {
			return Repo{}, false // a bare repository, or inside .git: no work tree
		}
		if top == filepath.Dir(top) {
			return Repo{}, false
		}
	}
}

func repoAt(top string) (Repo, bool) {
	dot := filepath.Join(top, ".git")
	info, err := os.Stat(dot)
	if err != nil {
		return Repo{}, false
	}
	dir := dot
	if !info.IsDir() {
		link, ok := strings.CutPrefix(firstLine(dot), "gitdir:")
		if !ok {
			return Repo{}, false
		}
		dir = AbsIn(top, strings.TrimSpace(link))
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil || !isGitDir(dir) {
		return Repo{}, false
	}
	r := Repo{Top: top, dir: dir, common: dir}
	if c := firstLine(filepath.Join(dir, "commondir")); c != "" {
		if real, err := filepath.EvalSymlinks(AbsIn(dir, c)); err == nil {
			r.common = real
		}
		return r, true
	}
	// Only the main work tree obeys these two; a linked one has its own top.
	config := readGitConfig(filepath.Join(dir, "config"))
	if tree := config["core.worktree"]; tree != "" {
		if real, err := filepath.EvalSymlinks(AbsIn(dir, tree)); err == nil {
			r.Top = real
		}
	} else if config["core.bare"] == "true" {
		r.Top = ""
	}
	return r, true
}

// AbsIn returns a path made absolute, relative to dir.
func AbsIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// isGitDir reports whether git would accept dir as the directory of a repository.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common := dir
	if c := firstLine(filepath.Join(dir, "commondir")); c != "" {
		common = AbsIn(dir, c)
	}
	for _, sub := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, sub)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// ClaudeProject returns the key of Claude's project node for a directory: the main work
// tree, however deep inside it, or in which of its linked work trees, the directory is
// (seen with Claude 2.1). A submodule is its own project, a bare repository with linked
// work trees is the project of these, and without git the directory itself is.
func ClaudeProject(dir string) string {
	key := dir
	if r, ok := FindRepo(dir); ok {
		key = r.Top
		if filepath.Dir(r.dir) == filepath.Join(r.common, "worktrees") {
			key = r.common
			if filepath.Base(key) == ".git" {
				key = filepath.Dir(key)
			}
		}
	}
	return filepath.ToSlash(key)
}

// originURL returns the URL of the remote named origin, or "".
func originURL(dir string) string {
	r, ok := FindRepo(dir)
	if !ok {
		return ""
	}
	return readGitConfig(filepath.Join(r.common, "config"))["remote.origin.url"]
}

// readGitConfig reads the single values of a git config; of duplicates, the last.
func readGitConfig(path string) map[string]string {
	values := map[string]string{}
	text, _, err := atomicfile.Disk{}.Read(path)
	if err != nil {
		return values
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			head, _, _ := strings.Cut(line[1:], "]")
			name, sub, _ := strings.Cut(head, " ")
			section = strings.ToLower(name)
			if sub = strings.TrimSpace(sub); sub != "" {
				section += "." + strings.Trim(sub, `"`)
			}
		default:
			key, value, found := strings.Cut(line, "=")
			if !found {
				value = "true"
			}
			values[section+"."+strings.ToLower(strings.TrimSpace(key))] = gitValue(strings.TrimSpace(value))
		}
	}
	return values
}

func gitValue(v string) string {
	if s, err := strconv.Unquote(v); err == nil {
		return s
	}
	if i := strings.IndexAny(v, "#;"); i >= 0 {
		v = strings.TrimSpace(v[:i])
	}
	return v
}

func firstLine(path string) string {
	b, _, err := atomicfile.Disk{}.Read(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line, "\r")
}
