package debian

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// A testArchive is a small Debian archive in a directory, made with dpkg-deb and signed.
type testArchive struct {
	dir, arch string
	keyring   string // the file of the public key that it is signed with
	signer    *signer
}

func newTestArchive(t *testing.T) *testArchive {
	t.Helper()
	for _, program := range []string{"apt-get", "dpkg", "dpkg-deb"} {
		testtool.Path(t, program)
	}
	arch, err := exec.Command("dpkg", "--print-architecture").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &testArchive{dir: dir, arch: strings.TrimSpace(string(arch)), signer: newSigner(t), keyring: filepath.Join(dir, "keyring.gpg")}
	writeFile(t, a.keyring, string(a.signer.keyring()))
	return a
}

// mirror returns the archive's URL.
func (a *testArchive) mirror() string { return "file://" + a.dir }

// build builds a package of the given files (path in the package to path on
// this machine), and returns its stanza for the index.
func (a *testArchive) build(t *testing.T, name, depends string, files map[string]string) (stanza string) {
	t.Helper()
	tree := t.TempDir()
	stanza = fmt.Sprintf("Package: %s\nVersion: 1:9.9-1\nArchitecture: %s\nMaintainer: nobody <nobody@example.org>\nDescription: test\n", name, a.arch)
	if depends != "" {
		stanza += "Depends: " + depends + "\n"
	}
	writeFile(t, filepath.Join(tree, "DEBIAN", "control"), stanza)
	for to, from := range files {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(tree, to), string(data))
		if err := os.Chmod(filepath.Join(tree, to), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(tree, "DEBIAN"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("pool", name+".deb")
	if err := os.MkdirAll(filepath.Join(a.dir, "pool"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, filepath.Join(a.dir, file)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(a.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%sFilename: %s\nSize: %d\nSHA256: %x\n", stanza, file, len(data), sha256.Sum256(data))
}

// publish writes the index of a suite and signs it.
func (a *testArchive) publish(t *testing.T, suite string, stanzas ...string) {
	t.Helper()
	index := strings.Join(stanzas, "\n")
	path := "main/binary-" + a.arch + "/Packages"
	release := fmt.Sprintf("Origin: Debian\nSuite: %s\nCodename: %s\nDate: Sat, 01 Jan 2022 00:00:00 UTC\nArchitectures: %s\nComponents: main\nSHA256:\n %x %d %s\n",
		suite, suite, a.arch, sha256.Sum256([]byte(index)), len(index), path)
	dir := filepath.Join(a.dir, "dists", suite)
	writeFile(t, filepath.Join(dir, path), index)
	writeFile(t, filepath.Join(dir, "Release"), release)
	writeFile(t, filepath.Join(dir, "Release.gpg"), string(a.signer.detached([]byte(release))))
}

// publishTmux makes the suite "testing" from this machine's tmux, with its libraries in a
// separate package, and returns its version.
func (a *testArchive) publishTmux(t *testing.T) (version string) {
	t.Helper()
	binary := os.Getenv("TMUX_TEST_BINARY")
	if binary == "" {
		var err error
		if binary, err = testtool.LookPath("tmux"); err != nil {
			testtool.Missing(t, "a package needs a tmux of this machine to carry: %v", err)
		}
	}
	list := exec.Command(binary, "-V")
	list.Env = append(os.Environ(), "LD_TRACE_LOADED_OBJECTS=1") // that is all that ldd does
	out, err := list.Output()
	if err != nil || !strings.Contains(string(out), "libc.") {
		t.Skipf("%s has no loader that lists its libraries: %v\n%s", binary, err, out)
	}
	libraries := map[string]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if i := slices.IndexFunc(fields, filepath.IsAbs); i >= 0 {
			libraries["usr/lib/test-linux-gnu/"+filepath.Base(fields[i])] = fields[i]
		}
	}
	a.publish(t, "testing",
		a.build(t, "tmux", "tmux-libraries", map[string]string{"usr/bin/tmux": binary}),
		a.build(t, "tmux-libraries", "", libraries))
	printed, err := exec.Command(binary, "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(printed)), "tmux ")
}

// publishScript makes the suite "testing" with a script as its tmux, for tests in which a
// fetch does not get as far as checking it.
func (a *testArchive) publishScript(t *testing.T) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "tmux")
	writeFile(t, script, "#!/bin/sh\necho tmux 9.9\n")
	a.publish(t, "testing", a.build(t, "tmux", "", map[string]string{"usr/bin/tmux": script}))
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantSlot checks what a suite's directory in the cache holds.
func wantSlot(t *testing.T, cache, suite string, want ...string) {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(filepath.Join(cache, "debian", suite+"_"+runtime.GOARCH))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("the cache of %s holds %q, want %q", suite, names, want)
	}
}
