// Package commands finds out what a command starts, by the words of the programs that people
// and installers write in front of a server: wrappers, runners of scripts, fetchers of
// packages.
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
	"tmuxmcp/swap/internal/machine"
)

// Started is what a command starts: a file or directory, or a published package.
type Started struct {
	Place   string // "" also if it is relative and the directory is not known
	Program string // a program that is given by its path, and is not in the table
	Package string
	nearest bool // a package of that name in the directory, or above, comes before the published one
}

// A way is how a program goes on after its flags.
type way int

const (
	script    way = iota + 1 // the next word is a file
	either                   // … if it looks like one; else a script of the project in the directory
	project                  // it runs the project in the directory, whatever the words
	inProject                // the rest is a command in the environment of the project in the directory
	wrap                     // the rest is a command
	dashed                   // … after --, if there is one
	fetch                    // the next word is a package, or a path to one
	goRun                    // … or a directory of the module in the directory
)

// A launcher is a program that starts others. Flags that it does not list have no value.
type launcher struct {
	ways  map[string]way // by its leading words; "": without such
	takes string         // flags with a value
	dirs  string         // flags that change the directory
	files string         // flags that name a file in the project's directory
	runs  string         // flags that name the file to run
	pkgs  string         // flags that name the package
	texts string         // flags with a text for a shell
	skip  int            // words before the command
}

const (
	nodeTakes = "-r --require --import --loader --experimental-loader --env-file -C --conditions --tsconfig --watch-path"
	npmTakes  = "-w --workspace --cache --registry --loglevel --userconfig -F --filter --call"
	uvTakes   = "--with --with-requirements --with-editable -p --python --extra --group --env-file --index --index-url --default-index --extra-index-url -f --find-links --cache-dir --config-file -w --constraints -c --refresh-package"
)

var (
	runsScript = map[string]way{"": script}
	wraps      = map[string]way{"": wrap}
	npm        = map[string]way{"start": project, "run": project, "run-script": project, "test": project, "exec": fetch, "x": fetch}
	python     = launcher{ways: runsScript, takes: "-W -X --check-hash-based-pycs"}
	node       = launcher{ways: map[string]way{"": script}, takes: nodeTakes}
	shells     = launcher{ways: runsScript, texts: "-c -lc -ic -lic -ilc -ec -cl -xc -euc", takes: "-o --rcfile --init-file"}
)

var launchers = map[string]launcher{
	"node": node, "nodejs": node, "nodemon": node, "ts-node": {ways: runsScript, takes: nodeTakes + " -P --project -O", dirs: "--cwd"},
	"ts-node-esm": node, "tsx": {ways: map[string]way{"watch": script, "": script}, takes: nodeTakes},
	"bun":  {ways: map[string]way{"run": either, "x": fetch, "": either}, takes: nodeTakes + " --preload -c --config", dirs: "--cwd", pkgs: "-p --package"},
	"deno": {ways: map[string]way{"run": script, "task": project, "": script}, takes: "-c --config --import-map --lock --env-file --location --seed", dirs: "--cwd"},
	"npm":  {ways: npm, takes: npmTakes, dirs: "--prefix -C", pkgs: "-p --package", texts: "-c"},
	"npx":  {ways: map[string]way{"": fetch}, takes: npmTakes, pkgs: "-p --package", texts: "-c --call"},
	"pnpm": {ways: map[string]way{"dlx": fetch, "exec": inProject, "start": project, "run": project, "": inProject}, takes: npmTakes, dirs: "-C --dir", pkgs: "--package"},
	"yarn": {ways: map[string]way{"dlx": fetch, "exec": inProject, "start": project, "run": inProject, "node": script, "": inProject}, takes: npmTakes, dirs: "--cwd", pkgs: "-p --package"},
	"pnpx": {ways: map[string]way{"": fetch}, pkgs: "--package"},
	"bunx": {ways: map[string]way{"": fetch}, pkgs: "-p --package"},

	"python": python, "pythonw": python, "py": python,
	"uv":       {ways: map[string]way{"run": inProject, "tool run": fetch}, takes: uvTakes, dirs: "--directory --project", runs: "-s --script", pkgs: "--from"},
	"uvx":      {ways: map[string]way{"": fetch}, takes: uvTakes, pkgs: "--from", dirs: "--directory --project"},
	"pipx":     {ways: map[string]way{"run": fetch}, takes: "--python --index-url --pip-args --backend", pkgs: "--spec"},
	"poetry":   {ways: map[string]way{"run": inProject}, dirs: "-C --directory -P --project"},
	"pdm":      {ways: map[string]way{"run": inProject}, dirs: "-p --project", takes: "-c --config --venv"},
	"hatch":    {ways: map[string]way{"run": project}, takes: "-e --env", dirs: "-p --project"},
	"pipenv":   {ways: map[string]way{"run": inProject}},
	"rye":      {ways: map[string]way{"run": inProject}},
	"mcp":      {ways: map[string]way{"run": script, "dev": script}, takes: "-t --transport --with"},
	"fastmcp":  {ways: map[string]way{"run": script, "dev": script}, takes: "-t --transport --with --with-editable --host --port"},
	"coverage": {ways: map[string]way{"run": script}},

	"go":     {ways: map[string]way{"run": goRun}, dirs: "-C", takes: "-tags -ldflags -gcflags -mod -modfile -exec -p"},
	"cargo":  {ways: map[string]way{"run": project, "r": project}, dirs: "-C", files: "--manifest-path", takes: "--bin -p --package --features --example --target --target-dir --profile"},
	"dotnet": {ways: map[string]way{"run": project, "exec": script, "": script}, takes: "-c --configuration -f --framework --launch-profile", runs: "--project"},
	"java":   {ways: runsScript, takes: "-cp -classpath --class-path -p --module-path --add-opens --add-modules", runs: "-jar"},
	"ruby":   {ways: runsScript, takes: "-I -r"}, "php": {ways: runsScript, takes: "-d -c"}, "perl": {ways: runsScript},
	"swift": {ways: map[string]way{"run": project}, dirs: "--package-path", takes: "-c --configuration"},
	"make":  {ways: map[string]way{"": project}, dirs: "-C --directory", files: "-f --file"},
	"just":  {ways: map[string]way{"": project}, dirs: "-d --working-directory", files: "-f --justfile"},
	"nix":   {ways: map[string]way{"run": fetch}, takes: "--override-input"},

	"env": {ways: wraps, takes: "-u --unset", dirs: "-C --chdir", texts: "-S --split-string"}, "cross-env": {ways: wraps},
	"nice": {ways: wraps, takes: "-n --adjustment"}, "ionice": {ways: wraps, takes: "-c -n"}, "time": {ways: wraps, takes: "-f -o"},
	"stdbuf": {ways: wraps, takes: "-i -o -e"}, "timeout": {ways: wraps, takes: "-k -s --kill-after --signal", skip: 1},
	"nohup": {ways: wraps}, "setsid": {ways: wraps}, "exec": {ways: wraps, takes: "-a"}, "command": {ways: wraps},
	"sudo": {ways: wraps, takes: "-u -g", dirs: "-D --chdir"}, "caffeinate": {ways: wraps, takes: "-t -w"}, "arch": {ways: wraps},
	"xvfb-run": {ways: wraps, takes: "-n -s"}, "tini": {ways: wraps}, "dumb-init": {ways: wraps}, "corepack": {ways: wraps}, "nvm-exec": {ways: wraps},
	"fnm": {ways: map[string]way{"exec": wrap}, takes: "--using"}, "volta": {ways: map[string]way{"run": wrap}, takes: "--node --npm --yarn --pnpm"},
	"direnv": {ways: map[string]way{"exec": wrap}, skip: 1}, "asdf": {ways: map[string]way{"exec": wrap}},
	"mise":   {ways: map[string]way{"exec": dashed, "x": dashed}, texts: "-c --command", dirs: "-C --cd"},
	"dotenv": {ways: map[string]way{"run": dashed, "": dashed}, takes: "-e -f --file -c -v"}, "dotenvx": {ways: map[string]way{"run": dashed}, takes: "-f --env-file -e"},
	"op": {ways: map[string]way{"run": dashed}}, "doppler": {ways: map[string]way{"run": dashed}, texts: "--command"},
	"infisical": {ways: map[string]way{"run": dashed}, texts: "--command"},
	"wsl":       {ways: map[string]way{"": dashed}, takes: "-d --distribution -u --user", dirs: "--cd"},
	"cmd":       {ways: wraps},
	"sh":        shells, "bash": shells, "zsh": shells, "dash": shells, "ksh": shells, "fish": shells,
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

var pythonVersion = lazy.Regexp(`^python[0-9][0-9.]*$`)

func launcherOf(word string) (launcher, bool) {
	name := Program([]string{word})
	if pythonVersion().MatchString(name) {
		name = "python"
	}
	l, ok := launchers[name]
	return l, ok
}

// A starter is what a command is started with.
type starter struct {
	dir  string // "" if it is not known
	home string
	path []string // PYTHONPATH
}

// at returns a path in the directory; "" if it is relative and the directory is not known.
func (s starter) at(p string) string {
	switch {
	case filepath.IsAbs(p):
		return filepath.Clean(p)
	case s.dir == "" || p == "":
		return ""
	}
	return filepath.Join(s.dir, p)
}

func (s starter) in(dir string) starter {
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
	name, args := Program(argv), argv[1:]
	if name == "docker" || name == "podman" {
		return s.container(args)
	}
	l, ok := launcherOf(argv[0])
	if !ok {
		return Started{}
	}
	var how way
	var pkg, text, file string
	module := ""
	i := 0
scan:
	for ; i < len(args); i++ {
		arg := args[i]
		flag, value, joined := strings.Cut(arg, "=")
		windows := name == "cmd" && strings.HasPrefix(arg, "/")
		switch {
		case arg == "--":
			i++
			break scan
		case windows, name == "arch" && strings.HasPrefix(arg, "-"):
			continue
		case (name == "env" || name == "cross-env") && assignment().MatchString(arg):
			continue
		case !strings.HasPrefix(arg, "-") || arg == "-":
			two := strings.Join(args[i:min(i+2, len(args))], " ")
			if w := l.ways[two]; w != 0 && how == 0 {
				how, i = w, i+1
				continue
			}
			if w := l.ways[arg]; w != 0 && how == 0 && arg != "" {
				how = w
				continue
			}
			if how == project || how == 0 && l.ways[""] == project {
				continue // its flags may also be behind
			}
			break scan
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		takes := true
		switch {
		case has(l.dirs, flag):
			s = s.in(value)
		case has(l.files, flag):
			s = s.in(filepath.Dir(value))
		case has(l.runs, flag):
			file = value
		case has(l.pkgs, flag) && how != inProject:
			if pkg == "" {
				pkg = value
			}
		case has(l.texts, flag):
			text = value
		case flag == "-m" && l.ways[""] == script || flag == "--module" && name == "uv", flag == "-m" && name == "uv":
			module = value
		case has(l.takes, flag):
		default:
			takes = false
			if (flag == "-c" || flag == "-e" || flag == "--eval") && l.ways[""] == script {
				return Started{} // a program in the command line
			}
		}
		if takes && !joined {
			i++
		}
		if module != "" || text != "" && name == "env" {
			i++
			break
		}
	}
	rest := args[min(i, len(args)):]
	if how == 0 {
		how = l.ways[""]
	}
	switch {
	case how == 0:
		return Started{}
	case text != "" && name == "env":
		return s.command(slices.Concat([]string{"env"}, Words(text, ""), rest))
	case text != "":
		return s.shell(text)
	case file != "":
		return Started{Place: s.at(file)}
	case module != "":
		return s.module(module, how == inProject)
	case how == project:
		return Started{Place: s.dir}
	case how == dashed:
		if j := slices.Index(rest, "--"); j >= 0 {
			rest = rest[j+1:]
		}
		return s.command(rest)
	case how == wrap:
		rest = rest[min(l.skip, len(rest)):]
		if len(rest) == 1 && name == "cmd" {
			return s.shell(rest[0])
		}
		return s.command(rest).or(s.itself(rest))
	case how == fetch:
		r := s.fetched(pkg, rest)
		r.nearest = r.nearest || r.Package != "" && (name == "npx" || name == "npm")
		return r
	case len(rest) == 0:
		return Started{}
	case how == goRun:
		return s.goPackage(rest[0])
	case how == inProject:
		if _, ok := launcherOf(rest[0]); ok {
			return s.command(rest).or(Started{Place: s.dir})
		}
		if isFile(rest[0]) {
			return Started{Place: s.at(rest[0])}
		}
		return Started{Place: s.dir}
	case how == either && !isFile(rest[0]):
		return Started{Place: s.dir}
	}
	if pkg, ok := strings.CutPrefix(rest[0], "npm:"); ok {
		return Started{Package: pkg}
	}
	if strings.HasPrefix(rest[0], "jsr:") || strings.Contains(rest[0], "://") && !strings.HasPrefix(rest[0], "file:") {
		return Started{Package: rest[0]}
	}
	name, _, _ = strings.Cut(local(rest[0]), ".py:") // mcp run FILE:OBJECT
	if name != local(rest[0]) {
		name += ".py"
	}
	return Started{Place: s.at(name)}
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
	return filepath.IsAbs(word) || strings.HasPrefix(word, ".") || strings.Contains(word, "/") && !strings.HasPrefix(word, "@") ||
		slices.Contains([]string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb"}, filepath.Ext(word))
}

// fetched returns what a fetcher starts: a package or, if the package is a runner, what that
// starts.
func (s starter) fetched(pkg string, rest []string) Started {
	if pkg == "" && len(rest) == 0 {
		return Started{}
	}
	run := rest
	if pkg == "" {
		pkg = rest[0]
	}
	// npx takes owner/repo for a repository on GitHub.
	if p, _, _ := strings.Cut(local(pkg), "#"); strings.HasPrefix(pkg, "file:") || filepath.IsAbs(p) || strings.HasPrefix(p, ".") {
		return Started{Place: s.at(p)}
	}
	if len(run) > 0 && (!strings.HasPrefix(run[0], "@") || strings.HasPrefix(run[0], "@dotenvx/")) {
		word := path.Base(Bare(run[0]))
		if word == "dotenv-cli" {
			word = "dotenv"
		}
		if _, ok := launchers[word]; ok {
			if r := s.command(append([]string{word}, run[1:]...)); r != (Started{}) {
				return r
			}
		}
	}
	return Started{Package: pkg}
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
// installation finds it, or in PYTHONPATH.
func (s starter) module(name string, project bool) Started {
	if project {
		return Started{Place: s.dir}
	}
	first, _, _ := strings.Cut(name, ".")
	for _, root := range append([]string{s.dir, s.at("src")}, s.path...) {
		if filepath.IsAbs(root) && (!machine.Missing(filepath.Join(root, first)) || !machine.Missing(filepath.Join(root, first+".py"))) {
			return Started{Place: root}
		}
	}
	return Started{}
}

// container returns what a container starts from a directory of this machine.
func (s starter) container(args []string) Started {
	const takes = "-e --env -p --publish -u --user --name --network --net -l --label --env-file --entrypoint --platform --add-host -h --hostname --memory -m --cpus --pull --gpus --ip --dns --cap-add --cap-drop --device --tmpfs --ulimit --restart --security-opt --log-driver"
	i := slices.Index(args, "run")
	if i < 0 {
		return Started{}
	}
	in, mounts := starter{}, map[string]string{}
	for i++; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(flag, "-") {
			break
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case flag == "-v" || flag == "--volume":
			if from, to, ok := strings.Cut(value, ":"); ok {
				to, _, _ = strings.Cut(to, ":")
				mounts[to] = from
			}
		case flag == "--mount":
			fields := map[string]string{}
			for _, f := range strings.Split(value, ",") {
				k, v, _ := strings.Cut(f, "=")
				fields[k] = v
			}
			from, to := fields["src"]+fields["source"], fields["dst"]+fields["target"]+fields["destination"]
			mounts[to] = from
		case flag == "-w" || flag == "--workdir":
			in.dir = value
		case !has(takes, flag):
			joined = true
		}
		if !joined {
			i++
		}
	}
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
				s = s.in(dir)
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

// Starts returns what an entry with a command starts.
func Starts(argv []string, value map[string]any, home string) Started {
	from := starter{home: home}
	if cwd, _ := value["cwd"].(string); filepath.IsAbs(cwd) {
		from.dir = cwd
	}
	vars, _ := value["env"].(map[string]any)
	if text, _ := vars["PYTHONPATH"].(string); text != "" {
		from.path = strings.Split(text, string(os.PathListSeparator))
	}
	r := from.command(argv).or(from.itself(argv))
	if r == (Started{}) && isFile(argv[0]) {
		r.Program = from.at(argv[0]) // such as the Python of a checkout
	}
	return r
}

// Unpublished returns why a command that names the npm package of a checkout does not run the
// published one there; "" if it does, or names another.
func Unpublished(argv []string, value map[string]any, repo string) string {
	if len(argv) == 0 || argv[0] == "" {
		return ""
	}
	r := Starts(argv, value, "")
	name, version := checkout.Package(repo)
	if !r.nearest || name == "" || r.Package != name && (version == "" || r.Package != name+"@"+version) {
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
