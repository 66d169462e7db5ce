// Package commands finds out what a command starts, by the words of the programs that people
// and installers write in front of a server: wrappers, runners of scripts, fetchers of
// packages.
package commands

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/machine"
)

// Started is what a command starts: a file or directory, or a published package.
type Started struct {
	Place   string // "" also if it is relative and the directory is not known
	Program string // a program that is given by its path, and is not in the table
	Package string
	nearest bool // a package of that name in the directory, or above, comes before the published one
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

// A starter is what a command is started with.
type starter struct {
	dir  string // "" if it is not known
	home string
	path []string // PYTHONPATH
}

// at returns a path in the directory; "" if it is relative and the directory is not known, or
// begins with a reference such as ${HOME}, which may make it absolute.
func (s starter) at(p string) string {
	switch {
	case filepath.IsAbs(p):
		return filepath.Clean(p)
	case s.dir == "" || p == "" || strings.ContainsAny(p[:1], "$%{~"):
		return ""
	}
	return filepath.Join(s.dir, p)
}

// to returns s in another directory.
func (s starter) to(dir string) starter {
	s.dir = s.at(dir)
	return s
}

// has reports whether a flag is in a list.
func has(list, flag string) bool { return slices.Contains(strings.Fields(list), flag) }

var assignment = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*=`)

// command returns what a command starts.
func (s starter) command(argv []string) Started {
	if len(argv) == 0 {
		return Started{}
	}
	if name := Program(argv); name == "docker" || name == "podman" {
		return s.container(argv[1:])
	}
	l, ok := launcherOf(argv[0])
	if !ok {
		return Started{}
	}
	g := l.read(s, argv[1:])
	switch s := g.in; {
	case g.how == 0 || g.inline:
		return Started{}
	case g.split != "":
		return s.command(slices.Concat(argv[:1], Words(g.split, ""), g.rest))
	case g.text != "":
		r := s.shell(g.text)
		if len(g.pkgs) > 0 {
			r = r.or(s.fetched(g.pkgs, Words(g.text, "")))
		}
		return r
	case g.with != "":
		return s.command(slices.Concat(Words(g.with, ""), g.rest)).or(s.shell(g.with))
	case g.file != "":
		return Started{Place: s.at(g.file)}
	case g.module != "" && g.how == inProject:
		return g.inProject([]string{"-m", g.module})
	case g.module != "":
		return s.module(argv[0], g.module)
	}
	return g.started(l)
}

// given is what the words after a launcher say, up to what it starts.
type given struct {
	how    way
	in     starter // with the directory that they change to
	file   string  // to run
	module string
	pkgs   []string
	withs  []string // packages beside the project's
	text   string   // for a shell
	split  string   // more words for the launcher
	with   string   // the command for the rest
	inline bool     // there is a program in the command line
	ended  bool     // the flags ended with -- or the like
	rest   []string // what comes after the flags
}

// read returns what the words after a launcher say.
func (l launcher) read(s starter, args []string) given {
	g := given{in: s}
	for len(args) > 0 && !g.ended && !g.inline && g.module == "" && g.split == "" {
		word, n := args[0], 1
		switch {
		case word == "--" || has(l.then, word):
			g.ended = true
		case l.windows && strings.HasPrefix(word, "/"), l.vars && assignment().MatchString(word):
		case strings.HasPrefix(word, "-") && word != "-":
			n = g.flag(l, args)
		default:
			n = g.lead(l, args)
		}
		if n == 0 {
			break
		}
		args = args[n:]
	}
	g.rest, g.how = args, cmp.Or(g.how, l.ways[""])
	return g
}

// lead reads the leading words, and those among flags that count for nothing. It returns how
// many they are; 0 if what is started begins there.
func (g *given) lead(l launcher, args []string) int {
	for n := min(2, len(args)); n > 0 && g.how == 0; n-- {
		lead := strings.Join(args[:n], " ")
		if w := l.ways[lead]; w != 0 && lead != "" {
			g.how = w
			return n
		}
	}
	switch {
	case cmp.Or(g.how, l.ways[""]) == project:
		return 1
	case l.then != "" && g.how == inProject:
		if dir, _, _ := strings.Cut(strings.TrimPrefix(args[0], "path:"), "#"); isFile(dir) {
			g.in = g.in.to(dir)
		}
		return 1
	}
	return 0
}

// flag reads a flag, and returns how many words it takes.
func (g *given) flag(l launcher, args []string) int {
	flag, value, joined := strings.Cut(args[0], "=")
	n := 1
	if !joined && len(args) > 1 {
		value, n = args[1], 2
	}
	scripts := l.ways[""] == script
	switch {
	case has(l.dirs, flag):
		g.in = g.in.to(value)
	case has(l.files, flag):
		g.in = g.in.to(filepath.Dir(value))
	case has(l.runs, flag):
		g.file = value
	case has(l.pkgs, flag) && g.how != inProject:
		g.pkgs = append(g.pkgs, value)
	case has(l.withs, flag):
		g.withs = append(g.withs, strings.Split(value, ",")...)
	case has(l.texts, flag):
		g.text = value
	case has(l.splits, flag):
		g.split = value
	case has(l.with, flag):
		g.with = value
	case has(l.modules, flag), scripts && flag == "-m":
		g.module = value
	case has(l.takes, flag):
	case scripts && has("-c -e --eval", flag):
		g.inline = true
	default:
		return 1
	}
	return n
}

// started returns what the rest of the words starts.
func (g given) started(l launcher) Started {
	s, rest := g.in, g.rest
	switch g.how {
	case project:
		return Started{Place: s.dir}
	case dashed:
		if i := slices.Index(rest, "--"); i >= 0 && !g.ended {
			rest = rest[i+1:]
		}
		return s.command(rest).or(s.itself(rest))
	case wrap:
		rest = rest[min(l.skip, len(rest)):]
		if len(rest) == 1 && l.windows {
			return s.shell(rest[0])
		}
		return s.command(rest).or(s.itself(rest))
	case fetch:
		r := s.fetched(g.pkgs, rest)
		r.nearest = r.nearest || r.Package != "" && l.nearest
		return r
	}
	if len(rest) == 0 {
		return Started{}
	}
	switch {
	case g.how == goRun:
		return s.goPackage(rest[0])
	case g.how == inProject:
		return g.inProject(rest)
	case g.how == either && !isFile(rest[0]):
		return Started{Place: s.dir}
	}
	return s.script(rest[0])
}

// inProject returns what a command starts in the environment of the project in the directory
// or, if that is not known, of the packages that are added to it.
func (g given) inProject(argv []string) Started {
	if _, ok := launcherOf(argv[0]); !ok && isFile(argv[0]) {
		return Started{Place: g.in.at(argv[0])}
	}
	if r := g.in.command(argv).or(Started{Place: g.in.dir}); r != (Started{}) {
		return r
	}
	program := argv[0]
	if i := slices.Index(argv, "-m"); i >= 0 && i+1 < len(argv) {
		program, _, _ = strings.Cut(argv[i+1], ".")
	}
	return Started{Package: named(g.withs, program)}
}

// named returns the package that is called like its program, or "".
func named(pkgs []string, program string) string {
	for _, pkg := range pkgs {
		if path.Base(Bare(pkg)) == Bare(program) {
			return pkg
		}
	}
	return ""
}

// script returns what a runner of scripts starts by a word.
func (s starter) script(word string) Started {
	if pkg, ok := strings.CutPrefix(word, "npm:"); ok {
		return Started{Package: pkg}
	}
	if strings.HasPrefix(word, "jsr:") || strings.Contains(word, "://") && !strings.HasPrefix(word, "file:") {
		return Started{Package: word}
	}
	file := local(word)
	if before, _, ok := strings.Cut(file, ".py:"); ok { // mcp run FILE:OBJECT
		file = before + ".py"
	}
	return Started{Place: s.at(file)}
}

func (r Started) or(other Started) Started {
	if r == (Started{}) {
		return other
	}
	return r
}

// itself returns the program of a command, if it is given by a path.
func (s starter) itself(argv []string) Started {
	if len(argv) > 0 && isFile(argv[0]) {
		if _, ok := launcherOf(argv[0]); !ok {
			return Started{Program: s.at(argv[0])}
		}
	}
	return Started{}
}

// local returns the path of a file: URL, and any other text as it is.
func local(p string) string {
	if strings.HasPrefix(p, "git+file:") {
		p = p[len("git+"):]
	}
	if rest, ok := strings.CutPrefix(p, "file:"); ok {
		if r, ok := strings.CutPrefix(rest, "//"); ok {
			return r
		}
		return rest
	}
	return p
}

// isFile reports whether a word looks like a path, or has the extension of a script.
func isFile(word string) bool {
	return filepath.IsAbs(word) || strings.HasPrefix(word, ".") || strings.Contains(word, "/") && !strings.HasPrefix(word, "@") || isScript(word)
}

// isScript reports whether a word has the extension of a script.
func isScript(word string) bool {
	return slices.Contains([]string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb"}, filepath.Ext(word))
}

// fetched returns what a fetcher starts: a package or, if the package is a runner, what that
// starts. Without packages, the first word is the package; of several, the one that is called
// like the program has it, or else the first.
func (s starter) fetched(pkgs, run []string) Started {
	var pkg string
	switch {
	case len(pkgs) > 1 && len(run) > 0:
		pkg = cmp.Or(named(pkgs, run[0]), pkgs[0])
	case len(pkgs) > 0:
		pkg = pkgs[0]
	case len(run) > 0:
		pkg = run[0]
	default:
		return Started{}
	}
	// npx takes owner/repo for a repository on GitHub.
	if p, _, _ := strings.Cut(local(pkg), "#"); strings.HasPrefix(pkg, "file:") || filepath.IsAbs(p) || strings.HasPrefix(p, ".") {
		return Started{Place: s.at(p)}
	}
	if len(run) > 0 {
		if word := programOf(run[0]); launchers[word].ways != nil {
			if r := s.command(append([]string{word}, run[1:]...)); r != (Started{}) {
				return r
			}
		}
	}
	return Started{Package: pkg}
}

// programOf returns the program of a package that may be a launcher.
func programOf(pkg string) string {
	switch name := Bare(pkg); name {
	case "dotenv-cli":
		return "dotenv"
	case "@dotenvx/dotenvx":
		return "dotenvx"
	case "@modelcontextprotocol/inspector":
		return "mcp-inspector"
	default:
		if strings.HasPrefix(name, "@") {
			return ""
		}
		return path.Base(name)
	}
}

// goPackage returns what go run starts.
func (s starter) goPackage(pkg string) Started {
	switch {
	case strings.Contains(pkg, "@"):
		return Started{Package: pkg}
	case filepath.IsAbs(pkg):
		return Started{Place: pkg}
	case strings.HasPrefix(pkg, "../"):
		return Started{Place: s.at(pkg)}
	}
	return Started{Place: s.dir}
}

// module returns where a Python module is: in the directory or its src, where an editable
// installation finds it, or in PYTHONPATH. So it is beside the virtual environment of the Python.
func (s starter) module(python, name string) Started {
	first, _, _ := strings.Cut(name, ".")
	roots := append([]string{s.dir, s.at("src")}, s.path...)
	if bin := filepath.Dir(python); filepath.IsAbs(python) && !machine.Missing(filepath.Join(bin, "..", "pyvenv.cfg")) {
		top := filepath.Dir(filepath.Dir(bin))
		roots = append(roots, top, filepath.Join(top, "src"))
	}
	for _, root := range roots {
		if filepath.IsAbs(root) && (!machine.Missing(filepath.Join(root, first)) || !machine.Missing(filepath.Join(root, first+".py"))) {
			return Started{Place: root}
		}
	}
	return Started{}
}

// image returns where in the arguments of docker the image of docker run is, or len(args), and
// calls flag with the flags before it, and what may be their values.
func image(args []string, flag func(name, value string)) int {
	const takes = "-v --volume --mount -w --workdir -e --env -p --publish -u --user --name --network --net -l --label --env-file --entrypoint --platform --add-host -h --hostname --memory -m --cpus --pull --gpus --ip --dns --cap-add --cap-drop --device --tmpfs --ulimit --restart --security-opt --log-driver"
	i := slices.Index(args, "run")
	if i < 0 {
		return len(args)
	}
	for i++; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "-") {
			return i
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		flag(name, value)
		if !joined && has(takes, name) {
			i++
		}
	}
	return len(args)
}

// container returns what a container starts from a directory of this machine.
func (s starter) container(args []string) Started {
	in, mounts := starter{}, map[string]string{}
	i := image(args, func(flag, value string) {
		switch flag {
		case "-v", "--volume":
			if from, to, ok := strings.Cut(value, ":"); ok {
				to, _, _ = strings.Cut(to, ":")
				mounts[to] = from
			}
		case "--mount":
			fields := map[string]string{}
			for _, f := range strings.Split(value, ",") {
				k, v, _ := strings.Cut(f, "=")
				fields[k] = v
			}
			from, to := fields["src"]+fields["source"], fields["dst"]+fields["target"]+fields["destination"]
			mounts[to] = from
		case "-w", "--workdir":
			in.dir = value
		}
	})
	if i+1 >= len(args) {
		return Started{}
	}
	at := in.command(args[i+1:]).Place
	for to, from := range mounts {
		if rel, err := filepath.Rel(to, at); at != "" && to != "" && err == nil && filepath.IsLocal(rel) {
			return Started{Place: s.at(filepath.Join(from, rel))}
		}
	}
	return Started{}
}

// shell returns what a text for a shell starts.
func (s starter) shell(text string) (out Started) {
	var argv []string
	end := func() {
		for len(argv) > 0 && assignment().MatchString(argv[0]) {
			argv = argv[1:]
		}
		switch {
		case len(argv) == 0:
		case argv[0] == "cd" || argv[0] == "pushd":
			if dir := argv[len(argv)-1]; len(argv) > 1 {
				s = s.to(dir)
			}
		default:
			out = s.command(argv).or(s.itself(argv)).or(out)
		}
		argv = nil
	}
	for _, word := range Words(text, s.home) {
		if slices.Contains([]string{"&&", "||", ";", "|", "&", "\n"}, word) {
			end()
		} else {
			argv = append(argv, word)
		}
	}
	end()
	return out
}

// Words splits a text as a shell does: quotes, operators, and the home directory if it is
// given. Other expansions stay as they are.
func Words(text, home string) (out []string) {
	var word strings.Builder
	quote, open := rune(0), false
	end := func() {
		if open {
			w := word.String()
			if home != "" && (w == "~" || strings.HasPrefix(w, "~/")) {
				w = home + w[1:]
			}
			out = append(out, w)
		}
		word.Reset()
		open = false
	}
	if home != "" {
		text = strings.NewReplacer("${HOME}", home, "$HOME", home).Replace(text)
	}
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, open = r, true
		case strings.ContainsRune(" \t", r):
			end()
		case strings.ContainsRune(";\n", r):
			end()
			out = append(out, ";")
		case strings.ContainsRune("&|", r):
			end()
			if n := len(out); n > 0 && out[n-1] == string(r) {
				out[n-1] += string(r)
			} else {
				out = append(out, string(r))
			}
		default:
			word.WriteRune(r)
			open = true
		}
	}
	end()
	return out
}

// starterOf returns what the command of an entry is started with.
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

// Starts returns what an entry with a command starts.
func Starts(argv []string, value map[string]any, home string) Started {
	from := starterOf(value, home)
	r := from.command(argv).or(from.itself(argv))
	if r == (Started{}) && isFile(argv[0]) {
		r.Program = from.at(argv[0]) // such as the Python of a checkout
	}
	return r
}

// MayStart reports whether a command, whose program may be a runner that is not known, has
// another command in its arguments, which starts what own accepts.
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

// Here returns how many words of a command come before a change of the directory, or are not
// for what runs in a container: paths in them are below the directory in which it is started.
func Here(argv []string) int {
	if name := Program(argv); name == "docker" || name == "podman" {
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

// OfVenv reports whether a program is a script in the virtual environment of a checkout, which may
// be a link to where it is.
func OfVenv(p, repo string) bool {
	_, runner := launcherOf(p)
	return !runner && filepath.Dir(p) == filepath.Join(repo, ".venv", "bin")
}

// runnable reports whether a file is a script, or executable.
func runnable(file string) bool {
	info, err := os.Stat(file)
	return isScript(file) || err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Unpublished returns why a command that names the npm package of a checkout does not run the
// published one there; "" if it does, or names another.
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

// OfRepo reports whether a path is a checkout's own: in its directory, and not a package that
// it depends on.
func OfRepo(p, repo string) bool {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	rel, err := filepath.Rel(repo, p)
	return err == nil && filepath.IsLocal(rel) && !slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), "node_modules")
}

var (
	versioned = lazy.Regexp(`(.)(@|\[|[=<>~!]=|[<>]).*$`)
	separator = lazy.Regexp(`[-_.]+`)
)

// Bare returns the name of a package without version and extras, in the form that Python's
// index compares.
func Bare(pkg string) string {
	return separator().ReplaceAllString(strings.ToLower(versioned().ReplaceAllString(pkg, "$1")), "-")
}
