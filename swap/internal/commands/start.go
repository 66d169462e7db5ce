package commands

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/swap/internal/machine"
)

// A starter is the environment in which a command is started.
type starter struct {
	dir  string // "" if unknown
	home string
	path []string // PYTHONPATH
}

// at returns the absolute form of a path. It is "" for a relative path if the directory is unknown,
// and for one that begins with a reference such as ${HOME}, which may make it absolute.
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

// command returns what a command starts.
func (s starter) command(argv []string) Started {
	if len(argv) == 0 {
		return Started{}
	}
	if isContainer(argv) {
		return s.container(argv[1:])
	}
	l, ok := launcherOf(argv[0])
	if !ok {
		return Started{}
	}
	p := l.parse(s, argv[1:])
	switch s := p.from; {
	case p.way == 0 || p.inline:
		return Started{}
	case p.split != "":
		return s.command(slices.Concat(argv[:1], Words(p.split, ""), p.rest))
	case p.text != "":
		r := s.shell(p.text)
		if len(p.pkgs) > 0 {
			r = r.or(s.fetched(p.pkgs, Words(p.text, "")))
		}
		return r
	case p.with != "":
		return s.command(slices.Concat(Words(p.with, ""), p.rest)).or(s.shell(p.with))
	case p.file != "":
		return Started{Place: s.at(p.file)}
	case p.module != "" && p.way == inProject:
		return s.inProject([]string{"-m", p.module}, p.withs)
	case p.module != "":
		return s.module(argv[0], p.module)
	}
	return p.started(l)
}

// started returns what the words after the flags start.
func (p parsed) started(l launcher) Started {
	s, rest := p.from, p.rest
	switch p.way {
	case project:
		return Started{Place: s.dir}
	case dashed:
		if i := slices.Index(rest, "--"); i >= 0 && !p.ended {
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
		r := s.fetched(p.pkgs, rest)
		r.nearest = r.nearest || r.Package != "" && l.nearest
		return r
	}
	if len(rest) == 0 {
		return Started{}
	}
	switch {
	case p.way == goRun:
		return s.goPackage(rest[0])
	case p.way == inProject:
		return s.inProject(rest, p.withs)
	case p.way == either && !isFile(rest[0]):
		return Started{Place: s.dir}
	}
	return s.script(rest[0])
}

// inProject returns what a command starts in the environment of the project in the directory. If
// the directory is unknown, it is one of the packages that are added to the environment.
func (s starter) inProject(argv, withs []string) Started {
	if _, ok := launcherOf(argv[0]); !ok && isFile(argv[0]) {
		return Started{Place: s.at(argv[0])}
	}
	if r := s.command(argv).or(Started{Place: s.dir}); r != (Started{}) {
		return r
	}
	program := argv[0]
	if i := slices.Index(argv, "-m"); i >= 0 && i+1 < len(argv) {
		program, _, _ = strings.Cut(argv[i+1], ".")
	}
	return Started{Package: named(withs, program)}
}

// named returns the package with the name of its program, or "".
func named(pkgs []string, program string) string {
	for _, pkg := range pkgs {
		if path.Base(Bare(pkg)) == Bare(program) {
			return pkg
		}
	}
	return ""
}

// script returns what a script runner starts for a word.
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

// itself returns the program of a command, if it is a path.
func (s starter) itself(argv []string) Started {
	if len(argv) > 0 && isFile(argv[0]) {
		if _, ok := launcherOf(argv[0]); !ok {
			return Started{Program: s.at(argv[0])}
		}
	}
	return Started{}
}

// fetched returns what a package fetcher starts: a package or, if the package is a launcher, what
// that starts. Without pkgs, the first word of run is the package. Of several, the one with the
// name of the program has it, or else the first.
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

// programOf returns the name of the program in a package that may be a launcher.
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
// installation finds it, in PYTHONPATH, or beside the virtual environment of that Python.
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

// local returns the path of a file: URL, and any other text unchanged.
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

func isScript(word string) bool {
	return slices.Contains([]string{".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".rb"}, filepath.Ext(word))
}
