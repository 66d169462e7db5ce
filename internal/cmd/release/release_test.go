package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tmuxmcp/internal/test/testtool"
)

const (
	number = "1.2.3-rc.1"
	epoch  = 1700000000
)

// published is a release of this platform, in a directory.
type published struct {
	*testing.T
	dir, prefix string
	os, arch    string
}

// TestRelease builds for this machine, and uses what was built as its users do.
func TestRelease(t *testing.T) {
	if !testtool.Full {
		t.Skip("builds everything: see " + testtool.FullSize)
	}
	p := published{t, t.TempDir(), t.TempDir(), runtime.GOOS, runtime.GOARCH}
	if p.os == "windows" || !slices.Contains(platforms, platform{p.os, p.arch}) {
		t.Skipf("nothing is published for %s/%s", p.os, p.arch)
	}
	t.Setenv("SOURCE_DATE_EPOCH", fmt.Sprint(epoch))
	if err := run(t.Context(), []string{"--out", p.dir, "--platform", p.os + "/" + p.arch, number}); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"--out", p.dir, number}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into a directory with another release: %v", err)
	}
	t.Setenv("HOME", t.TempDir())
	p.run("tar", "-xzf", p.path("tmuxmcp", ".tar.gz"), "-C", p.prefix, "--strip-components", "1")
	t.Setenv("PATH", filepath.Join(p.prefix, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, test := range map[string]func(published){
		"sums": published.sums, "archive": published.archive, "programs": published.programs, "manual": published.manual,
		"completions": published.completions, "deb": published.deb, "bundle": published.bundle,
		"plugin": published.plugin, "registry": published.registry,
	} {
		t.Run(name, func(t *testing.T) { p := p; p.T = t; test(p) })
	}
}

func (p published) path(name, ext string) string {
	return filepath.Join(p.dir, fmt.Sprintf("%s_%s_%s_%s%s", name, number, p.os, p.arch, ext))
}

func (p published) read(path string) []byte {
	p.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		p.Fatal(err)
	}
	return data
}

// run runs a program, which is to succeed and to complain of nothing.
func (p published) run(program string, args ...string) string {
	p.Helper()
	var out, diag bytes.Buffer
	cmd := exec.CommandContext(p.Context(), testtool.Path(p.T, program), args...)
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil || diag.Len() > 0 {
		p.Fatalf("%s %q: %v\n%s%s", program, args, err, &diag, &out)
	}
	return out.String()
}

func (p published) sums() {
	listed := map[string]bool{"SHA256SUMS": true}
	for line := range strings.Lines(string(p.read(filepath.Join(p.dir, "SHA256SUMS")))) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := sumOf(file{data: p.read(filepath.Join(p.dir, name))}); got.SHA256 != want {
			p.Errorf("%s has %s, not %s", name, got.SHA256, want)
		}
		listed[name] = true
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil || len(entries) != len(listed) {
		p.Errorf("%v, %v are there, %v have sums", err, entries, listed)
	}
}

// An archive has nothing of the machine that made it, and leaves directories alone.
func (p published) archive() {
	z, err := gzip.NewReader(bytes.NewReader(p.read(p.path("tmuxmcp", ".tar.gz"))))
	if err != nil {
		p.Fatal(err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			p.Fatal(err)
		}
		mode := int64(0o644)
		if strings.Contains(h.Name, "/bin/") {
			mode = 0o755
		}
		if h.Typeflag != tar.TypeReg || h.Mode != mode || h.Uid != 0 || h.Gid != 0 || h.Uname != "root" || h.ModTime.Unix() != epoch ||
			!strings.HasPrefix(h.Name, "tmuxmcp_"+number) {
			p.Errorf("%+v", h)
		}
	}
	doc := filepath.Join(p.prefix, "share/doc/tmuxmcp")
	for name, fact := range map[string]string{
		"LICENSE": "MIT License", "LICENSES.txt": "github.com/mark3labs/mcp-go@", "README.md": "# tmuxmcp", "docs/tools.md": "list_panes",
	} {
		if !strings.Contains(string(p.read(filepath.Join(doc, name))), fact) {
			p.Errorf("%s does not contain %q", name, fact)
		}
	}
}

// The programs need nothing of the system, know their version, and hold no path of this
// machine.
func (p published) programs() {
	root, err := filepath.Abs("../../..")
	if err != nil {
		p.Fatal(err)
	}
	for name := range commands {
		binary := filepath.Join(p.prefix, "bin", name)
		if out := p.run(binary, "--version"); !strings.HasPrefix(out, name+" "+number) {
			p.Errorf("%s --version: %s", name, out)
		}
		if data := p.read(binary); bytes.Contains(data, []byte(root+"/")) {
			p.Errorf("%s contains the directory it was built in", name)
		}
		if ldd, err := exec.LookPath("ldd"); err == nil {
			if out, _ := exec.Command(ldd, binary).CombinedOutput(); !bytes.Contains(out, []byte("not a dynamic executable")) {
				p.Errorf("%s is not static: %s", name, out)
			}
		}
	}
	if info := p.serverInfo(filepath.Join(p.prefix, "bin/tmux-mcp")); info["version"] != number {
		p.Errorf("the server says it is %v", info)
	}
}

// serverInfo is what an MCP server says that it is.
func (p published) serverInfo(program string) map[string]any {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), program, "-L", "released", "--tmux", "/bin/true")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n")
	out, err := cmd.Output()
	var answer struct {
		Result struct{ ServerInfo map[string]any }
	}
	if jerr := json.Unmarshal(out, &answer); err != nil || jerr != nil {
		p.Fatalf("%s: %v, %v: %s", program, err, jerr, out)
	}
	return answer.Result.ServerInfo
}

func (p published) manual() {
	for name, facts := range map[string][]string{
		"mcp-conform": {"--expect", "mcp-conform explain"},
		"mcp-swap":    {"--keep-env", "mcp-swap use-local"},
		"tmux-mcp":    {"--socket-name", "tmux-mcp call"},
	} {
		page := filepath.Join(p.T.TempDir(), name+".1")
		z, err := gzip.NewReader(bytes.NewReader(p.read(filepath.Join(p.prefix, "share/man/man1", name+".1.gz"))))
		if err != nil {
			p.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			p.Fatal(err)
		}
		if err := os.WriteFile(page, text, 0o600); err != nil {
			p.Fatal(err)
		}
		shown := p.run("groff", "-man", "-ww", "-Tascii", "-Kutf8", "-P-cbou", page)
		for _, fact := range append(facts, "NAME", "SYNOPSIS", "OPTIONS", "SEE ALSO", "tmuxmcp "+number, "2023-11-14") {
			if !strings.Contains(shown, fact) {
				p.Errorf("%s does not show %q:\n%s", name, fact, shown)
			}
		}
		if mandoc, err := exec.LookPath("mandoc"); err == nil {
			if out, err := exec.Command(mandoc, "-T", "lint", "-W", "warning", page).CombinedOutput(); err != nil {
				p.Errorf("mandoc: %v\n%s", err, out)
			}
		}
	}
}

// The shells load what is shipped, which is also what the programs print.
func (p published) completions() {
	share := filepath.Join(p.prefix, "share")
	for name := range commands {
		bash := filepath.Join(share, "bash-completion/completions", name)
		fish := filepath.Join(share, "fish/vendor_completions.d", name+".fish")
		zsh := filepath.Join(share, "zsh/site-functions")
		for shell, path := range map[string]string{"bash": bash, "fish": fish, "zsh": filepath.Join(zsh, "_"+name)} {
			if printed := p.run(name, "completion", shell); printed != string(p.read(path)) {
				p.Errorf("%s completion %s does not print %s", name, shell, path)
			}
		}
		p.Run(name+"/bash", func(t *testing.T) {
			p := p
			p.T = t
			// bash-completion has the first, bash itself the second where Tab is pressed.
			const words = `_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=; }; compopt() { :; }; `
			out := p.run("bash", "--norc", "-c", words+`. "$1" && COMP_WORDS=("$2" compl) COMP_CWORD=1 COMP_TYPE=9 && __start_"$2" && echo "${COMPREPLY[@]}"`, "bash", bash, name)
			if !strings.HasPrefix(out, "completion") {
				p.Errorf("completes to %q", out)
			}
		})
		p.Run(name+"/fish", func(t *testing.T) {
			p := p
			p.T = t
			if out := p.run("fish", "--no-config", "-c", `source $argv[1]; complete -C "$argv[2] compl"`, fish, name); !strings.HasPrefix(out, "completion") {
				p.Errorf("completes to %q", out)
			}
		})
		p.Run(name+"/zsh", func(t *testing.T) {
			p := p
			p.T = t
			if out := p.run("zsh", "-fc", `fpath=("$1" $fpath); autoload -U compinit && compinit -u -D && print $_comps[$2] && autoload +X $_comps[$2]`, "zsh", zsh, name); strings.TrimSpace(out) != "_"+name {
				p.Errorf("completes with %q", out)
			}
		})
	}
}

// dpkg installs, verifies and removes the package, in a directory.
func (p published) deb() {
	if p.os != "linux" {
		p.Skip("Debian packages are for Linux")
	}
	deb := filepath.Join(p.dir, "tmuxmcp_"+number+"_"+p.arch+".deb")
	fields := p.run("dpkg-deb", "--field", deb)
	for _, fact := range []string{"Package: tmuxmcp\n", "Version: 1.2.3~rc.1\n", "Architecture: " + p.arch + "\n", "Maintainer: " + maintainer + "\n"} {
		if !strings.Contains(fields, fact) {
			p.Errorf("there is no %q in\n%s", fact, fields)
		}
	}
	root := p.T.TempDir()
	if os.Geteuid() != 0 {
		p.run("dpkg-deb", "--extract", deb, root)
	} else {
		for _, dir := range []string{"info", "updates"} {
			if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
				p.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
			p.Fatal(err)
		}
		p.run("dpkg", "--root="+root, "--force-architecture", "--install", deb)
		if out := p.run("dpkg", "--root="+root, "--verify", "tmuxmcp"); out != "" {
			p.Errorf("dpkg --verify: %s", out)
		}
	}
	if out := p.run(filepath.Join(root, "usr/bin/mcp-swap"), "--version"); !strings.Contains(out, number) {
		p.Errorf("the installed mcp-swap is %s", out)
	}
	p.read(filepath.Join(root, "usr/share/doc/tmuxmcp/copyright"))
	p.read(filepath.Join(root, "usr/share/zsh/vendor-completions/_mcp-swap"))
	if os.Geteuid() == 0 {
		p.run("dpkg", "--root="+root, "--remove", "tmuxmcp")
		if _, err := os.Stat(filepath.Join(root, "usr")); !os.IsNotExist(err) {
			p.Errorf("something is left of the removed package: %v", err)
		}
	}
}

func (p published) bundle() {
	z, err := zip.OpenReader(p.path("tmux-mcp", ".mcpb"))
	if err != nil {
		p.Fatal(err)
	}
	defer z.Close()
	names := map[string]os.FileMode{}
	for _, f := range z.File {
		names[f.Name] = f.Mode()
	}
	if names["bin/tmux-mcp"] != 0o755 || names["LICENSES.txt"] == 0 {
		p.Errorf("the bundle has %v", names)
	}
	f, err := z.Open("manifest.json")
	if err != nil {
		p.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		p.Fatal(err)
	}
	m := p.manifest("mcpb-manifest-v0.3.schema.json", text, "manifest_version", "name", "version", "description", "author", "server")
	if m["server"].(map[string]any)["entry_point"] != "bin/tmux-mcp" {
		p.Errorf("%s", text)
	}
}

func (p published) plugin() {
	dir := p.T.TempDir()
	p.run("tar", "-xzf", p.path("tmux-mcp-plugin", ".tar.gz"), "-C", dir, "--strip-components", "1")
	plugin := filepath.Join(dir, "plugins/tmux")
	if info := p.serverInfo(filepath.Join(plugin, "bin/tmux-mcp")); info["version"] != number {
		p.Errorf("the server says it is %v", info)
	}
	p.read(filepath.Join(plugin, "LICENSES.txt"))
	for _, m := range []struct {
		path, schema string
		fields       []string
	}{
		{"plugins/tmux/plugin.json", "plugin.schema.json", []string{"$schema", "name", "version"}},
		{"plugins/tmux/mcp.json", "mcp.schema.json", []string{"$schema", "mcpServers"}},
		{"plugins/tmux/.claude-plugin/plugin.json", "", []string{"name", "version", "mcpServers"}},
		{"plugins/tmux/.codex-plugin/plugin.json", "", []string{"name", "version", "mcpServers", "interface"}},
		{".claude-plugin/marketplace.json", "", []string{"name", "owner", "plugins"}},
		{".agents/plugins/marketplace.json", "", []string{"name", "plugins"}},
	} {
		got := p.manifest(m.schema, p.read(filepath.Join(dir, m.path)), m.fields...)
		if v, ok := got["version"]; ok && v != number {
			p.Errorf("%s is of version %v", m.path, v)
		}
	}
}

func (p published) registry() {
	m := p.manifest("server.schema.json", p.read(filepath.Join(p.dir, "server.json")), "$schema", "name", "description", "version", "packages")
	bundle := p.path("tmux-mcp", ".mcpb")
	for _, pkg := range m["packages"].([]any) {
		pkg := pkg.(map[string]any)
		if pkg["fileSha256"] != sumOf(file{data: p.read(bundle)}).SHA256 || filepath.Base(pkg["identifier"].(string)) != filepath.Base(bundle) {
			p.Errorf("%v is not of %s", pkg, bundle)
		}
	}
	if len(description) > 100 {
		p.Errorf("the registry takes 100 characters of description, not %d", len(description))
	}
}

// manifest decodes a manifest that must have these fields. RELEASE_SCHEMAS names a
// directory with the published schemas, which are not in this repository.
func (p published) manifest(schema string, text []byte, fields ...string) map[string]any {
	p.Helper()
	m := map[string]any{}
	if err := json.Unmarshal(text, &m); err != nil {
		p.Fatalf("%v:\n%s", err, text)
	}
	for _, f := range fields {
		if m[f] == nil || m[f] == "" {
			p.Errorf("no %s in\n%s", f, text)
		}
	}
	if dir := os.Getenv("RELEASE_SCHEMAS"); dir != "" && schema != "" {
		c := jsonschema.NewCompiler()
		// Go has no lookahead; the one there is forbids "--" in a name.
		c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
			return regexp.Compile(strings.Replace(s, `(?!.*(?:--|\.\.))`, "", 1))
		})
		compiled, err := c.Compile(filepath.Join(dir, schema))
		if err != nil {
			p.Fatal(err)
		}
		if err := compiled.Validate(m); err != nil {
			p.Errorf("%v:\n%s", err, text)
		}
	}
	return m
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
