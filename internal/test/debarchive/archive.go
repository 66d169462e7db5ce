// Package debarchive makes small Debian archives, with dpkg-deb and a signature that apt
// accepts, for tests of what fetches from one.
package debarchive

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// An Archive is an archive in a directory.
type Archive struct {
	Dir     string
	Arch    string // the machine's, in Debian's words
	Keyring string // the file of the public key that it is signed with
	signer  *signer
}

// New makes an empty archive. It ends the test where a program is missing that makes or reads one.
func New(t *testing.T) *Archive {
	t.Helper()
	for _, program := range []string{"apt-get", "dpkg", "dpkg-deb"} {
		testtool.Path(t, program)
	}
	arch, err := exec.Command("dpkg", "--print-architecture").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &Archive{Dir: dir, Arch: strings.TrimSpace(string(arch)), signer: newSigner(t), Keyring: filepath.Join(dir, "keyring.gpg")}
	write(t, a.Keyring, string(a.signer.keyring()))
	return a
}

// Mirror is the archive's URL.
func (a *Archive) Mirror() string { return "file://" + a.Dir }

// Build builds a package of the given files (path in the package to path on
// this machine), and returns its stanza for the index.
func (a *Archive) Build(t *testing.T, name, depends string, files map[string]string) (stanza string) {
	t.Helper()
	tree := t.TempDir()
	stanza = fmt.Sprintf("Package: %s\nVersion: 1:9.9-1\nArchitecture: %s\nMaintainer: nobody <nobody@example.org>\nDescription: test\n", name, a.Arch)
	if depends != "" {
		stanza += "Depends: " + depends + "\n"
	}
	write(t, filepath.Join(tree, "DEBIAN", "control"), stanza)
	for to, from := range files {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(tree, to), string(data))
		if err := os.Chmod(filepath.Join(tree, to), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(tree, "DEBIAN"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("pool", name+".deb")
	if err := os.MkdirAll(filepath.Join(a.Dir, "pool"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, filepath.Join(a.Dir, file)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(a.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%sFilename: %s\nSize: %d\nSHA256: %x\n", stanza, file, len(data), sha256.Sum256(data))
}

// Publish writes the index of a suite and signs it.
func (a *Archive) Publish(t *testing.T, suite string, stanzas ...string) {
	t.Helper()
	index := strings.Join(stanzas, "\n")
	path := "main/binary-" + a.Arch + "/Packages"
	release := fmt.Sprintf("Origin: Debian\nSuite: %s\nCodename: %s\nDate: Sat, 01 Jan 2022 00:00:00 UTC\nArchitectures: %s\nComponents: main\nSHA256:\n %x %d %s\n",
		suite, suite, a.Arch, sha256.Sum256([]byte(index)), len(index), path)
	dir := filepath.Join(a.Dir, "dists", suite)
	write(t, filepath.Join(dir, path), index)
	write(t, filepath.Join(dir, "Release"), release)
	write(t, filepath.Join(dir, "Release.gpg"), a.Signature(release))
}

// PublishTmux makes the suite "testing" of this machine's tmux, with its libraries in a
// package of their own, and returns its version.
func (a *Archive) PublishTmux(t *testing.T) (version string) {
	t.Helper()
	binary := os.Getenv("TMUX_TEST_BINARY")
	if binary == "" {
		var err error
		if binary, err = testtool.LookPath("tmux"); err != nil {
			testtool.Missing(t, "a package needs a tmux of this machine to carry: %v", err)
		}
	}
	list := exec.Command(binary, "-V")
	list.Env = append(os.Environ(), "LD_TRACE_LOADED_OBJECTS=1") // this is all that ldd does
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
	a.Publish(t, "testing",
		a.Build(t, "tmux", "tmux-libraries", map[string]string{"usr/bin/tmux": binary}),
		a.Build(t, "tmux-libraries", "", libraries))
	printed, err := exec.Command(binary, "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(printed)), "tmux ")
}

// PublishScript makes the suite "testing" of a tmux that is a script, for tests in which
// a fetch does not get as far as to look at it.
func (a *Archive) PublishScript(t *testing.T) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "tmux")
	write(t, script, "#!/bin/sh\necho tmux 9.9\n")
	a.Publish(t, "testing", a.Build(t, "tmux", "", map[string]string{"usr/bin/tmux": script}))
}

// Signature is what Release.gpg is to the text of Release.
func (a *Archive) Signature(release string) string { return string(a.signer.detached([]byte(release))) }

// OtherKeyring is a keyring that has not the key of any archive.
func OtherKeyring(t *testing.T) string { return string(newSigner(t).keyring()) }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
