package checkout

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"tmuxmcp/swap/format"
	"tmuxmcp/swap/hint"
)

// BuildName returns the name of a checkout's directory among all builds.
func BuildName(repo string) string {
	sum := sha256.Sum256([]byte(repo))
	return hex.EncodeToString(sum[:8])
}

func exe(name string) string {
	if filepath.Separator == '\\' {
		return name + ".exe"
	}
	return name
}

var goCheckout = checkoutKind{
	marker: "go.mod",
	read: func(c *Checkout, text []byte, entry string) error {
		c.module = modfile.ModulePath(text)
		if c.module == "" {
			return errors.New("has no module line")
		}
		mains := goMains(c.Dir, c.module)
		if strings.Contains(entry, "/") { // a package's path, if several have the same name
			dir := path.Clean(filepath.ToSlash(entry))
			for name, dirs := range mains {
				if slices.Contains(dirs, dir) {
					c.Entry, c.Server, c.path = name, name, dir
					return nil
				}
			}
		}
		names := slices.Sorted(maps.Keys(mains))
		name, err := choose(names, entry, "main package", "main packages")
		if err != nil {
			return err
		}
		if dirs := mains[name]; len(dirs) > 1 {
			return hint.Errorf(hint.Entry, "has several main packages named %s: ./%s", name, strings.Join(dirs, ", ./"))
		}
		c.Entry, c.Server, c.path = name, name, mains[name][0]
		return nil
	},
	dev: func(c *Checkout) []string {
		return []string{"go", "run", "-C", c.Dir, c.goPackage()}
	},
	build: func(c *Checkout, dir string) ([]string, string) {
		program := filepath.Join(dir, exe(c.Entry))
		return []string{"go", "build", "-C", c.Dir, "-o", program, c.goPackage()}, program
	},
	released: func(c *Checkout, ref string) []string {
		return []string{"go", "run", path.Join(c.module, c.path) + "@" + cmp.Or(ref, "latest")}
	},
}

func (c *Checkout) goPackage() string {
	if c.path == "." {
		return "."
	}
	return "./" + c.path
}

// goMains finds the main packages of a module that build here, by the last element of their
// paths. It reads package clauses and does not run the go command, which would take longer
// than the rest of a swap.
func goMains(dir, modpath string) map[string][]string {
	mains := map[string][]string{}
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // an unreadable directory holds no main package that go could build
		}
		name := e.Name()
		if p != dir {
			if name == "testdata" || name == "vendor" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
				return fs.SkipDir
			}
			if _, err := os.Lstat(filepath.Join(p, "go.mod")); err == nil {
				return fs.SkipDir
			}
		}
		if !isGoMain(p) {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return nil
		}
		rel = filepath.ToSlash(rel)
		if rel == "." {
			prefix, _, _ := module.SplitPathVersion(modpath)
			name = path.Base(prefix)
		}
		mains[name] = append(mains[name], rel)
		return nil
	})
	return mains
}

// isGoMain reads the package clauses that build here: a generator marked "//go:build ignore"
// is not a package of the module. Errors are about single files.
func isGoMain(dir string) bool {
	pkg, _ := build.ImportDir(dir, 0)
	return pkg.Name == "main" && len(pkg.GoFiles)+len(pkg.CgoFiles) > 0
}

var uvCheckout = checkoutKind{
	marker: "pyproject.toml",
	read: func(c *Checkout, text []byte, entry string) error {
		var doc struct {
			Project struct {
				Name    string
				Scripts map[string]any
			}
		}
		if err := decodeTOML(text, &doc); err != nil {
			return err
		}
		if doc.Project.Name == "" {
			return fmt.Errorf("%w: it has no project.name", ErrNoServer)
		}
		c.name, c.Server = doc.Project.Name, doc.Project.Name
		var err error
		names := scripts(text)
		c.Entry, err = choose(names, cmp.Or(entry, script(names, c.name)), "project.scripts entry", "project.scripts entries")
		return err
	},
	dev: func(c *Checkout) []string {
		return []string{"uv", "--directory", c.Dir, "run", c.Entry}
	},
	released: func(c *Checkout, ref string) []string {
		pinned := c.name
		if ref != "" {
			pinned += "==" + ref
		}
		if c.Entry == c.name {
			return []string{"uvx", pinned}
		}
		return []string{"uvx", "--from", pinned, c.Entry}
	},
	pr: func(c *Checkout, url string, n int) []string {
		return []string{"uvx", "--from", "git+" + url + "@refs/pull/" + strconv.Itoa(n) + "/head", c.Entry}
	},
}

// unmarked returns a text without the byte order mark, which npm and cargo skip.
func unmarked(text []byte) []byte { return bytes.TrimPrefix(text, []byte(format.BOM)) }

func decodeTOML(text []byte, v any) error {
	err := toml.Unmarshal(text, v)
	var de *toml.DecodeError
	if errors.As(err, &de) {
		line, col := de.Position()
		return fmt.Errorf("line %d, column %d: %w", line, col, err)
	}
	return err
}

// script picks the server from project.scripts: the only one whose name ends in -mcp; of
// several, the one named like the project; if there is none, the first, as a project often
// lists its program and its aliases. It returns "" if there are no scripts.
func script(names []string, project string) string {
	servers := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasSuffix(n, "-mcp") })
	switch {
	case slices.Contains(servers, project):
		return project
	case len(servers) > 0:
		return servers[0]
	case len(names) > 0:
		return names[0]
	}
	return ""
}

// scripts returns the keys of project.scripts in file order, which a decoded map no longer
// has. The text is known to be valid.
func scripts(text []byte) []string {
	doc, err := format.Parse(format.TOML, text)
	if err != nil {
		return nil
	}
	names, _ := doc.Names([]string{"project", "scripts"})
	return names
}

var npmCheckout = checkoutKind{
	marker: "package.json",
	read: func(c *Checkout, text []byte, entry string) error {
		var doc struct {
			Name            string
			Bin             json.RawMessage
			Scripts         map[string]string
			Dependencies    map[string]any
			DevDependencies map[string]any
		}
		if err := json.Unmarshal(unmarked(text), &doc); err != nil {
			return err
		}
		if doc.Name == "" {
			return fmt.Errorf("%w: it has no name", ErrNoServer)
		}
		bare := path.Base(doc.Name)
		bins := map[string]string{}
		var one string
		if json.Unmarshal(doc.Bin, &one) == nil && one != "" {
			bins[bare] = one
		} else if len(doc.Bin) > 0 {
			_ = json.Unmarshal(doc.Bin, &bins)
		}
		names := slices.Sorted(maps.Keys(bins))
		if _, ok := bins[bare]; ok && entry == "" {
			entry = bare // npx, too, uses the one named like the package
		}
		name, err := choose(names, entry, "bin entry", "bin entries")
		if err != nil {
			return err
		}
		c.name, c.Server, c.Entry, c.path = doc.Name, bare, name, bins[name]
		c.Unbuilt = unbuilt(c, doc.Scripts, len(doc.Dependencies)+len(doc.DevDependencies) > 0)
		return nil
	},
	dev: func(c *Checkout) []string {
		return []string{"node", c.bin()}
	},
	released: func(c *Checkout, ref string) []string {
		pinned := c.name
		if ref != "" {
			pinned += "@" + ref
		}
		if c.Entry == path.Base(c.name) {
			return []string{"npx", "-y", pinned}
		}
		return []string{"npx", "-y", "--package=" + pinned, c.Entry}
	},
}

func (c *Checkout) bin() string { return filepath.Join(c.Dir, filepath.FromSlash(c.path)) }

// unbuilt returns an error if the file that node would run does not exist, with the command
// that makes it according to the scripts of package.json.
func unbuilt(c *Checkout, scripts map[string]string, depends bool) error {
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if exists(c.bin()) || exists(c.bin()+".js") {
		return nil
	}
	npm := "npm"
	for _, lock := range [][2]string{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if exists(filepath.Join(c.Dir, lock[0])) {
			npm = lock[1]
		}
	}
	installed := false // in a workspace, dependencies are above the package
	for dir, last := c.Dir, ""; dir != last && !installed; dir, last = filepath.Dir(dir), dir {
		installed = exists(filepath.Join(dir, "node_modules"))
	}
	var steps []string
	if !installed && (depends || scripts["prepare"] != "") {
		steps = append(steps, npm+" install") // which runs prepare
	}
	switch {
	case scripts["prepare"] != "" && !installed:
	case scripts["build"] != "":
		steps = append(steps, npm+" run build")
	case scripts["prepare"] != "":
		steps = append(steps, npm+" run prepare")
	}
	if steps == nil {
		return fmt.Errorf("%s does not exist, and package.json has no script that builds it: check its bin", c.bin())
	}
	return fmt.Errorf("%s does not exist: build it first, with %s in %s", c.bin(), strings.Join(steps, " && "), c.Dir)
}

var cargoCheckout = checkoutKind{
	marker: "Cargo.toml",
	read: func(c *Checkout, text []byte, entry string) error {
		var doc struct {
			Package struct {
				Name       string
				Autobins   *bool
				DefaultRun string `toml:"default-run"`
			}
			Bin []struct{ Name, Path string }
		}
		if err := decodeTOML(unmarked(text), &doc); err != nil {
			return err
		}
		if doc.Package.Name == "" {
			return fmt.Errorf("%w: it has no package.name; in a workspace, choose the directory of a member", ErrNoServer)
		}
		var names []string
		add := func(name string) {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		mainTaken := false
		for _, b := range doc.Bin {
			add(b.Name)
			mainTaken = mainTaken || path.Clean(b.Path) == "src/main.rs"
		}
		if doc.Package.Autobins == nil || *doc.Package.Autobins {
			for _, name := range cargoAutobins(c.Dir, doc.Package.Name, mainTaken) {
				add(name)
			}
		}
		name, err := choose(names, cmp.Or(entry, doc.Package.DefaultRun), "binary", "binaries")
		if err != nil {
			return err
		}
		c.name, c.Server, c.Entry = doc.Package.Name, doc.Package.Name, name
		return nil
	},
	dev: func(c *Checkout) []string {
		return []string{"cargo", "run", "--quiet", "--manifest-path", filepath.Join(c.Dir, "Cargo.toml"), "--bin", c.Entry}
	},
	build: func(c *Checkout, dir string) ([]string, string) {
		return []string{"cargo", "build", "--quiet", "--release", "--manifest-path", filepath.Join(c.Dir, "Cargo.toml"), "--bin", c.Entry, "--target-dir", dir},
			filepath.Join(dir, "release", exe(c.Entry))
	},
}

// cargoAutobins lists the binaries that cargo finds by their location. A [[bin]] may have
// taken src/main.rs under another name.
func cargoAutobins(dir, pkg string, mainTaken bool) []string {
	var names []string
	exists := func(parts ...string) bool {
		_, err := os.Stat(filepath.Join(append([]string{dir, "src"}, parts...)...))
		return err == nil
	}
	if !mainTaken && exists("main.rs") {
		names = append(names, pkg)
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "src", "bin"))
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".rs"); ok && !e.IsDir() {
			names = append(names, name)
		} else if e.IsDir() && exists("bin", e.Name(), "main.rs") {
			names = append(names, e.Name())
		}
	}
	return names
}
