// Package commands finds out what a command line really starts, behind the programs that users
// and installers put in front of a server: wrappers, script runners and package fetchers.
package commands

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/swap/internal/checkout"
)

// Started is what a command starts: a file or directory, or a published package.
type Started struct {
	Place   string // "" also if it is relative to an unknown directory
	Program string // a program given by its path that is not in the launcher table
	Package string
	nearest bool // a package of that name in the directory, or above, is preferred to the published one
}

func (r Started) or(other Started) Started {
	if r == (Started{}) {
		return other
	}
	return r
}

// Program returns the base name of an argv's first word.
func Program(argv []string) string {
	name := path.Base(strings.ReplaceAll(argv[0], `\`, "/"))
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		if base, ok := strings.CutSuffix(strings.ToLower(name), ext); ok {
			return name[:len(base)]
		}
	}
	return name
}

// Starts returns what an entry with a command starts.
func Starts(argv []string, value map[string]any, home string) Started {
	from := starterOf(value, home)
	r := from.command(argv).or(from.itself(argv))
	if r == (Started{}) && isFile(argv[0]) {
		r.Program = from.at(argv[0]) // such as the Python of a checkout
	}
	return r
}

func starterOf(value map[string]any, home string) starter {
	from := starter{home: home}
	if cwd, _ := value["cwd"].(string); filepath.IsAbs(cwd) {
		from.dir = cwd
	}
	vars, _ := value["env"].(map[string]any)
	if text, _ := vars["PYTHONPATH"].(string); text != "" {
		from.path = strings.Split(text, string(os.PathListSeparator))
	}
	return from
}

// MayStart reports whether the arguments of a command contain another command that starts what
// own accepts: its program may be a launcher that is not in the table.
func MayStart(argv []string, value map[string]any, home string, own func(Started) bool) bool {
	from := starterOf(value, home)
	for i := 1; i < len(argv); i++ {
		r := from.command(argv[i:])
		word, flag := argv[i], argv[i-1]
		if name, value, joined := strings.Cut(word, "="); joined && strings.HasPrefix(name, "-") {
			word, flag = value, name
		}
		switch {
		case strings.ContainsAny(word, " \t\n"):
			r = r.or(from.shell(word))
		case strings.HasPrefix(flag, "-") && (flag == "-c" || strings.HasSuffix(flag, "config")): // which may be a script
		case runnable(from.at(word)):
			r = r.or(from.itself(append([]string{word}, argv[i+1:]...)))
		}
		if own(r) {
			return true
		}
	}
	return false
}

// runnable reports whether a file is a script, or executable.
func runnable(file string) bool {
	info, err := os.Stat(file)
	return isScript(file) || err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Here returns how many words of a command come before it changes the directory, or before what
// runs in a container: relative paths in them are relative to where the command is started.
func Here(argv []string) int {
	if isContainer(argv) {
		return 1 + image(argv[1:], func(string, string) {})
	}
	l, _ := launcherOf(argv[0])
	for i, word := range argv {
		flag, _, joined := strings.Cut(word, "=")
		if has(l.dirs, flag) && has("-C --directory --cwd --chdir", flag) {
			if joined {
				return i + 1
			}
			return min(i+2, len(argv))
		}
	}
	return len(argv)
}

// OfVenv reports whether a program is a script in the virtual environment of a checkout. The
// environment may be a link.
func OfVenv(p, repo string) bool {
	_, runner := launcherOf(p)
	return !runner && filepath.Dir(p) == filepath.Join(repo, ".venv", "bin")
}

// OfRepo reports whether a path belongs to a checkout: it is below it, and not in a dependency.
func OfRepo(p, repo string) bool {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	rel, err := filepath.Rel(repo, p)
	return err == nil && filepath.IsLocal(rel) && !slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), "node_modules")
}

// Unpublished returns why a command that names the npm package of a checkout does not run the
// published package there. It is "" if the command does, or names another package.
func Unpublished(argv []string, value map[string]any, repo string) string {
	if len(argv) == 0 || argv[0] == "" {
		return ""
	}
	r := Starts(argv, value, "")
	if !r.nearest {
		return ""
	}
	name, version := checkout.Package(repo)
	if name == "" || r.Package != name && (version == "" || r.Package != name+"@"+version) {
		return ""
	}
	return fmt.Sprintf("started in this repository, npx takes %s for the checkout, not for the published package; %s@latest is the published one", r.Package, name)
}

var (
	versioned = lazy.Regexp(`(.)(@|\[|[=<>~!]=|[<>]).*$`)
	separator = lazy.Regexp(`[-_.]+`)
)

// Bare returns the name of a package without version and extras, normalized as Python's index
// compares names.
func Bare(pkg string) string {
	return separator().ReplaceAllString(strings.ToLower(versioned().ReplaceAllString(pkg, "$1")), "-")
}
