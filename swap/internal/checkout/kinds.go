package checkout

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"tmuxmcp/swap/format"
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
	marker: goMarker,
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
			return fmt.Errorf("%w main packages named %s: ./%s; choose one with --entry", errSeveral, name, strings.Join(dirs, ", ./"))
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
	marker: uvMarker,
	read: func(c *Checkout, text []byte, entry string) error {
		doc, err := format.Parse(format.TOML, text)
		if err != nil {
			return err
		}
		if c.name = textAt(doc, "project", "name"); c.name == "" {
			return fmt.Errorf("%w: it has no project.name", ErrNoServer)
		}
		c.Server = c.name
		names, err := doc.Names([]string{"project", "scripts"})
		if err != nil {
			return err
		}
		c.Entry, err = choose(names, cmp.Or(entry, script(names, c.name)), "project.scripts entry", "project.scripts entries")
		return err
	},
	// Not every Python project is run by uv: poetry, pip and hatch, too, make a .venv.
	dev: func(c *Checkout) []string {
		if _, err := exec.LookPath("uv"); err != nil {
			if script, err := exec.LookPath(venvScript(c.Dir, c.Entry)); err == nil {
				return []string{script}
			}
		}
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

// venvScript returns where the virtual environment of a project has a script.
func venvScript(dir, name string) string {
	bin := "bin"
	if filepath.Separator == '\\' {
		bin = "Scripts"
	}
	return filepath.Join(dir, ".venv", bin, exe(name))
}

func textAt(doc *format.Doc, path ...string) string {
	v, _ := doc.Get(path...)
	text, _ := v.(string)
	return text
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

var npmCheckout = checkoutKind{
	marker: npmMarker,
	read: func(c *Checkout, text []byte, entry string) error {
		doc, err := format.Parse(format.JSON, text)
		if err != nil {
			return err
		}
		if c.name = textAt(doc, "name"); c.name == "" {
			return fmt.Errorf("%w: it has no name", ErrNoServer)
		}
		bare := path.Base(c.name)
		bins := map[string]string{}
		several, _ := doc.Names([]string{"bin"})
		for _, name := range several {
			bins[name] = textAt(doc, "bin", name)
		}
		if one := textAt(doc, "bin"); one != "" {
			bins[bare] = one
		}
		names := slices.Sorted(maps.Keys(bins))
		if _, ok := bins[bare]; ok && entry == "" {
			entry = bare // npx, too, uses the one named like the package
		}
		name, err := choose(names, entry, "bin entry", "bin entries")
		if err != nil {
			return err
		}
		c.Server, c.Entry, c.path, c.version = bare, name, bins[name], textAt(doc, "version")
		c.Unbuilt = unbuilt(c, doc)
		return nil
	},
	dev: func(c *Checkout) []string {
		return []string{"node", c.bin()}
	},
	// In a directory of the package, npx runs what is there if its version fits, and a name
	// without a version fits always. A tag or an alias never does.
	released: func(c *Checkout, ref string) []string {
		pinned := c.name + "@" + cmp.Or(ref, "latest")
		if ref != "" && ref == c.version {
			pinned = c.name + "@npm:" + pinned
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
func unbuilt(c *Checkout, doc *format.Doc) error {
	build, prepare := textAt(doc, "scripts", "build"), textAt(doc, "scripts", "prepare")
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if exists(c.bin()) || exists(c.bin()+".js") {
		return nil
	}
	npm := npmOf(c.Dir)
	installed := false // in a workspace, dependencies are above the package
	for dir, last := c.Dir, ""; dir != last && !installed; dir, last = filepath.Dir(dir), dir {
		installed = exists(filepath.Join(dir, "node_modules"))
	}
	var steps []string
	needs, _ := doc.Names([]string{"dependencies"})
	tools, _ := doc.Names([]string{"devDependencies"})
	if !installed && (len(needs)+len(tools) > 0 || prepare != "") {
		steps = append(steps, npm+" install") // which runs prepare
	}
	switch {
	case prepare != "" && !installed:
	case build != "":
		steps = append(steps, npm+" run build")
	case prepare != "":
		steps = append(steps, npm+" run prepare")
	}
	if steps == nil {
		return fmt.Errorf("%s does not exist, and package.json has no script that builds it: check its bin", c.bin())
	}
	return fmt.Errorf("%s does not exist: build it first, with %s in %s", c.bin(), strings.Join(steps, " && "), c.Dir)
}

// npmOf returns the program that manages an npm package, by its lock file.
func npmOf(dir string) string {
	npm := "npm"
	for _, lock := range [][2]string{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if has(dir, ".", lock[0]) {
			npm = lock[1]
		}
	}
	return npm
}

var cargoCheckout = checkoutKind{
	marker: cargoMarker,
	read: func(c *Checkout, text []byte, entry string) error {
		doc, err := format.Parse(format.TOML, text)
		if err != nil {
			return err
		}
		if c.name = textAt(doc, "package", "name"); c.name == "" {
			return fmt.Errorf("%w: it has no package.name", ErrNoServer)
		}
		c.Server = c.name
		var names []string
		add := func(name string) {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		mainTaken := false
		bins, _ := doc.Get("bin")
		list, _ := bins.([]any)
		for _, v := range list {
			bin, _ := v.(map[string]any)
			name, _ := bin["name"].(string)
			file, _ := bin["path"].(string)
			add(name)
			mainTaken = mainTaken || path.Clean(file) == "src/main.rs"
		}
		if auto, _ := doc.Get("package", "autobins"); auto != false {
			for _, name := range cargoAutobins(c.Dir, c.name, mainTaken) {
				add(name)
			}
		}
		c.Entry, err = choose(names, cmp.Or(entry, textAt(doc, "package", "default-run")), "binary", "binaries")
		return err
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
