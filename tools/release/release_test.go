package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
)

const number = "1.2.3-rc.1"

// TestRelease builds for this machine, and uses what was built as its users do: the script is
// testdata/release.txtar.
func TestRelease(t *testing.T) {
	if !testtool.Full {
		t.Skip("builds everything: see " + testtool.FullSize)
	}
	here := platform{runtime.GOOS, runtime.GOARCH}
	if here.OS == "windows" || !slices.Contains(platforms, here) {
		t.Skipf("nothing is published for %s that this test can use", here)
	}
	for _, program := range []string{"unzip", "groff", "bash", "fish", "zsh", "ldd"} {
		testtool.Path(t, program)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	if err := run(t.Context(), []string{"--out", out, "--platform", here.String(), number}); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"--out", out, number}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into a directory with another release: %v", err)
	}
	every := t.TempDir()
	for _, f := range allCatalogues(t) {
		if err := os.WriteFile(filepath.Join(every, f.name), f.data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := serve(t, out)
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{
				"OUT": out, "EVERY": every, "SYSTEM": here.OS + "-" + here.Arch, "ROOT": root, "NUMBER": number, "PLACE": number + "_" + here.OS + "_" + here.Arch,
				"SERVER": address, "DOWNLOADS": downloads, "SCOPE": npmScope, "PROGRAMS": strings.Join(slices.Sorted(maps.Keys(commands)), " "), "HOME": env.WorkDir, "schema": "$schema",
				"PATH": env.WorkDir + "/prefix/bin" + string(os.PathListSeparator) + env.Getenv("PATH"),
			} {
				env.Setenv(name, value)
			}
			if here.OS != "linux" {
				return nil
			}
			if err := os.Mkdir(filepath.Join(env.WorkDir, "deb"), 0o755); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(out, "tmuxmcp_"+number+"_"+here.Arch+".deb"), filepath.Join(env.WorkDir, "deb/tmuxmcp.deb"))
		},
		Condition: condition,
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"manifest": manifest},
	})
}

// condition knows root, and missing:PROGRAM. In CI nothing is missing: what uses it fails.
func condition(cond string) (bool, error) {
	program, ok := strings.CutPrefix(cond, "missing:")
	if !ok {
		return os.Geteuid() == 0, nil
	}
	_, err := testtool.LookPath(program)
	return err != nil && os.Getenv(testtool.Required) != "1", nil
}

// allCatalogues returns the catalogues of a release for every platform, without the files that
// they are about.
func allCatalogues(t *testing.T) []file {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &release{number: number, root: root}
	for _, p := range platforms {
		if name := r.archiveName(p) + ".tar.gz"; p.OS != "windows" {
			r.written = append(r.written, sumOf(file{name: name, data: []byte(r.archiveName(p))}))
		}
		os, cpu := p.node()
		r.npm = append(r.npm, npmScope+"/"+npmPackage+"-"+os+"-"+cpu)
	}
	all, err := r.catalogues()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// manifest FILE SCHEMA FIELDS succeeds if FILE has these fields, and the release's version if
// it has any. RELEASE_SCHEMAS names a directory with the published schemas, which are not in
// this repository.
func manifest(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	m := map[string]any{}
	ts.Check(json.Unmarshal([]byte(text), &m))
	for _, f := range args[2:] {
		if m[f] == nil || m[f] == "" {
			ts.Fatalf("no %s in\n%s", f, text)
		}
	}
	if v, ok := m["version"].(string); ok && v != number {
		ts.Fatalf("%s is of version %s", args[0], v)
	}
	if dir := os.Getenv("RELEASE_SCHEMAS"); dir != "" && args[1] != "-" {
		c := jsonschema.NewCompiler()
		c.UseLoader(schemas(dir))
		// Go has no lookahead; the one there is forbids "--" in a name.
		c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
			return regexp.Compile(strings.Replace(s, `(?!.*(?:--|\.\.))`, "", 1))
		})
		schema, err := c.Compile(filepath.Join(dir, args[1]))
		ts.Check(err)
		ts.Check(schema.Validate(m))
	}
}

// schemas is a directory of schemas, also of those that one of them names.
type schemas string

func (dir schemas) Load(url string) (any, error) {
	text, err := os.ReadFile(filepath.Join(string(dir), path.Base(url)))
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// What a person can choose when the server is installed, the server has: a variable or a flag.
// A choice without a default would reach it as ${user_config.NAME}.
func TestChoices(t *testing.T) {
	r := &release{number: number, written: []sum{{"a.mcpb", "0"}}}
	var bundle struct {
		Server struct {
			Config struct{ Env map[string]string } `json:"mcp_config"`
		}
		Choices map[string]struct{ Default *string } `json:"user_config"`
	}
	text, err := r.fill("manifest.json", map[string]any{"OS": "linux"})
	if err == nil {
		err = json.Unmarshal(text, &bundle)
	}
	if err != nil || len(bundle.Server.Config.Env) != len(bundle.Choices) {
		t.Fatalf("%v\n%s", err, text)
	}
	for name, value := range bundle.Server.Config.Env {
		choice := strings.TrimSuffix(strings.TrimPrefix(value, "${user_config."), "}")
		if c := bundle.Choices[choice]; c.Default == nil || !strings.Contains(server.Environment(0), name+",") {
			t.Errorf("%s is %s", name, value)
		}
	}
	var entry struct {
		Packages []struct {
			Arguments []struct{ Name string } `json:"packageArguments"`
		}
	}
	registry, err := r.serverJSON()
	if err == nil {
		err = json.Unmarshal(registry.data, &entry)
	}
	if err != nil || len(entry.Packages) != 1 || len(entry.Packages[0].Arguments) != 2 {
		t.Fatalf("%v\n%s", err, registry.data)
	}
	for _, a := range entry.Packages[0].Arguments {
		if commands["tmux-mcp"]().PersistentFlags().Lookup(strings.TrimPrefix(a.Name, "--")) == nil {
			t.Errorf("tmux-mcp has no %s", a.Name)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, args := range [][]string{
		nil, {"1.2"}, {"latest"}, {"1.2.3", "1.2.4"}, {"--platform", "plan9/amd64", "1.2.3"}, {"1.2.3;x"},
	} {
		if err := run(t.Context(), append([]string{"--out", t.TempDir() + "/none"}, args...)); err == nil {
			t.Errorf("%q was not refused", args)
		}
	}
}

// Text that looks like a request of roff is shown as text.
func TestRoff(t *testing.T) {
	const text = ".so /etc/passwd\n'br\n\\fBx\\fR \"q\" --flag ^~`'"
	cmd := exec.Command(testtool.Path(t, "groff"), "-Tascii", "-P-cbou", "-ww")
	cmd.Stdin = strings.NewReader(".nf\n" + roff(text) + "\n")
	out, err := cmd.CombinedOutput()
	if got := strings.TrimRight(string(out), "\n"); err != nil || got != text {
		t.Errorf("%v:\n%s\nnot\n%s", err, got, text)
	}
}
