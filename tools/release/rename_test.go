package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// otherModule is what the module becomes. It is in two parts, as it is not to be replaced here
// when it becomes something else.
const otherModule = "example.org/" + "someone/tmuxmcp"

// renamedCopy is set where a test renames the module that this is, and tests it.
const renamedCopy = "RELEASE_RENAMED_COPY"

// A checkout is a copy of this repository in a git repository of its own.
type checkout struct {
	*testing.T
	dir string
	env []string
}

func newCheckout(t *testing.T) checkout {
	t.Helper()
	testtool.Path(t, "git")
	if os.Getenv(renamedCopy) != "" {
		t.Skip("this is the copy")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	here := checkout{t, root, os.Environ()}
	if _, err := command(t.Context(), root, nil, "git", "rev-parse"); err != nil {
		t.Skip("this is no checkout of a git repository")
	}
	c := checkout{t, filepath.Join(t.TempDir(), "copy"), append(os.Environ(), renamedCopy+"=1", "TMUX_TEST_FULL=")}
	for name := range strings.FieldsFuncSeq(here.run("git", "ls-files", "-z"), func(r rune) bool { return r == 0 }) {
		info, err := os.Lstat(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, but not yet for git
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(c.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if info.Mode()&os.ModeSymlink != 0 {
			to, err := os.Readlink(filepath.Join(root, name))
			if err == nil {
				err = os.Symlink(to, filepath.Join(c.dir, name))
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(c.dir, name), text, info.Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.run("git", "init", "-q")
	c.run("git", "add", "--all", "--force")
	c.run("git", "-c", "user.name=test", "-c", "user.email=test", "commit", "-q", "-m", "x")
	return c
}

// run returns what a program prints, which must succeed.
func (c checkout) run(name string, args ...string) string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// rename renames the copy, and returns what it says.
func (c checkout) rename(args ...string) (string, error) {
	var out bytes.Buffer
	err := rename(c.Context(), c.dir, args, &out)
	return out.String(), err
}

func (c checkout) write(name, text string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}

// TestRename renames a copy of this repository in several ways, each after undoing the one
// before.
func TestRename(t *testing.T) {
	if !testtool.Full {
		t.Skip("compiles a copy of everything: see " + testtool.FullSize)
	}
	c := newCheckout(t)
	before := strings.TrimSpace(c.run("go", "list", "-m"))
	for _, part := range []struct {
		name string
		test func(c checkout, before string)
	}{{"refused", testRefused}, {"addresses", testAddresses}, {"module", testModule}} {
		t.Run(part.name, func(t *testing.T) {
			c := checkout{t, c.dir, c.env}
			part.test(c, before)
			c.run("git", "reset", "-q", "--hard", "HEAD")
		})
	}
}

// Nothing is changed without a module path that can be one, over changes that are not
// committed, or silently if something cannot be renamed.
func testRefused(c checkout, before string) {
	refused := func(want string, args ...string) {
		c.Helper()
		if said, err := c.rename(args...); err == nil || !strings.Contains(err.Error(), want) {
			c.Errorf("%q: %v, which is not about %q\n%s", args, err, want, said)
		}
	}
	refused("missing dot", "tools")
	refused("invalid char", "example.org/a b")
	refused("got 2 arguments", otherModule, otherModule)
	refused("unknown flag", "--nothing", "x", otherModule)
	c.run("git", "diff", "--exit-code", "HEAD")
	// It has no directories of these names, so what they are cannot be known.
	c.write("PAGE.md", "one\nimport "+before+"/nowhere, or "+before+"_/there\n")
	c.run("git", "add", "PAGE.md")
	refused("uncommitted changes", otherModule)
	refused("PAGE.md:2: import", "--force", otherModule)
}

// Each constant of project.go has a flag, which sets it and whatever else names it.
func testAddresses(c checkout, _ string) {
	said, err := c.rename()
	if err != nil || !strings.Contains(said, " "+homepage+"\n") || !strings.Contains(said, " "+downloads+"\n") {
		c.Fatalf("%v\n%s", err, said)
	}
	c.write("PAGE.md", "See <"+homepage+"> and "+downloads+"/v1.\n")
	c.run("git", "add", "PAGE.md")
	said, err = c.rename("--force", "--homepage", "https://git.example.net/x/y", "--downloads", "https://files.example.net", "--author", "Some One", "--namespace", "net.example")
	c.Log(said)
	if err != nil {
		c.Fatal(err)
	}
	if said, err := c.rename("--force"); err != nil || said != "" {
		c.Errorf("renamed to the same: %v\n%s", err, said)
	}
	if said, err = c.rename(); err != nil {
		c.Fatal(err)
	}
	for _, want := range []string{"https://git.example.net/x/y", "https://files.example.net", "net.example", "Some One", maintainer, description} {
		if !strings.Contains(said, " "+want+"\n") {
			c.Errorf("no %q in\n%s", want, said)
		}
	}
	for file, want := range map[string]string{"PAGE.md": "See <https://git.example.net/x/y> and https://files.example.net/v1.\n", "LICENSE": "Some One\n"} {
		if text, err := os.ReadFile(filepath.Join(c.dir, file)); err != nil || !bytes.Contains(text, []byte(want)) {
			c.Errorf("%s: %v\n%s", file, err, text)
		}
	}
	if unformatted := c.run("gofmt", "-l", "tools/release"); unformatted != "" {
		c.Errorf("gofmt would change\n%s", unformatted)
	}
}

// With another path the copy finds all that it imports, and all its tests pass. With the first
// path again it is as it was.
func testModule(c checkout, before string) {
	said, err := c.rename(otherModule)
	c.Log(said)
	if err != nil {
		c.Fatal(err)
	}
	if unformatted := c.run("gofmt", "-l", "."); unformatted != "" {
		c.Errorf("gofmt would change\n%s", unformatted)
	}
	if left, _ := exec.CommandContext(c.Context(), "git", "-C", c.dir, "grep", "-F", `"`+before+`/`).Output(); len(left) > 0 {
		c.Errorf("what still has the old path:\n%s", left)
	}
	for _, module := range []string{".", "endtoend/library"} {
		c.run("go", "list", "-C", module, "-deps", "-test", "./...") // all imports are there
	}
	c.run("go", "vet", "./...")
	c.Log(c.run("go", "test", "./..."))
	if err := (renaming{root: c.dir, from: otherModule, to: before}).run(c.Context(), io.Discard); err != nil {
		c.Error(err)
	}
	c.run("git", "diff", "--exit-code", "HEAD")
}

// TestReplaceWhole: a path is replaced only where it is one.
func TestReplaceWhole(t *testing.T) {
	for _, r := range []renaming{
		{from: "tools", to: "example.org/x/tools", tops: []string{"cmd", "docs"}},
		{from: "example.net/tools", to: "tools"},
	} {
		path := r.from
		for _, test := range []struct{ text, want string }{
			{`"` + path + `/cmd/x"`, `"` + r.to + `/cmd/x"`},
			{"go doc " + path + "/docs, and", "go doc " + r.to + "/docs, and"},
			{"-require=" + path + "@v0 -replace=" + path + "=/", "-require=" + r.to + "@v0 -replace=" + r.to + "=/"},
			{"share/" + path + "/docs", ""},
			{"my" + path + "/docs my-" + path + "/docs", ""},
			{path + "-x/docs", ""},
			{path + "s/docs", ""},
		} {
			if test.want == "" {
				test.want = test.text
			}
			if got := replaceWhole(test.text, r.from, r.to, r.isPath); got != test.want {
				t.Errorf("%s became %s, not %s", test.text, got, test.want)
			}
		}
	}
	r := renaming{from: "tools", to: "example.org/tools", tops: []string{"cmd"}}
	const prose = "the tools in /usr/tools/cmd, tools/nowhere"
	if got := replaceWhole(prose, r.from, r.to, r.isPath); got != prose {
		t.Errorf("prose became %s", got)
	}
}
