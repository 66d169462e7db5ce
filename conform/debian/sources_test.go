package debian

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSources(t *testing.T) {
	for name, c := range map[string]struct {
		parse func(string) []source
		text  string
		want  string // URI of the first of Debian's entries
	}{
		"list": {parseLines, "deb http://a.example/debian bookworm main", "http://a.example/debian"},
		"list with comments, options and source code": {parseLines, `
# deb http://old.example/debian bookworm main
deb-src http://src.example/debian bookworm main
deb	[ arch=amd64,arm64  signed-by=/usr/share/keyrings/debian-archive-keyring.gpg ]  http://a.example/mirror/ bookworm main contrib # ours
`, "http://a.example/mirror/"},
		"list of a CD": {parseLines, `
deb cdrom:[Debian GNU/Linux 12 _Bookworm_ - Official amd64 NETINST]/debian bookworm main
deb https://a.example/debian/ bookworm main`, "https://a.example/debian/"},
		"list with security first": {parseLines, `
deb http://a.example/debian-security bookworm-security main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://b.example/security bookworm-security main
deb http://old.example/debian stretch/updates main
deb http://c.example/debian bookworm main`, "http://c.example/debian"},
		"list of other vendors": {parseLines, `
deb [arch=amd64 signed-by=/etc/apt/keyrings/docker.asc] https://a.example/linux/debian bookworm stable
deb https://b.example/linux/debian bookworm stable
deb [signed-by=/usr/share/keyrings/vendor.gpg] https://c.example/gitlab/debian bookworm main
deb http://d.example/ubuntu noble main`, ""},
		"list that is broken": {parseLines, "deb\ndeb [\ndeb [a=b] \ndeb http://a.example/debian\ndebug http://a.example/debian x main\n\x00", ""},
		"snapshot":            {parseLines, "deb http://a.example/archive/debian/20250520T000000Z bookworm main", "http://a.example/archive/debian/20250520T000000Z"},
		"list of mirrors":     {parseLines, "deb mirror+file:/etc/apt/mirrors/debian.list bookworm main", "mirror+file:/etc/apt/mirrors/debian.list"},
		"stanzas": {parseStanzas, `
# a comment

Types: deb deb-src
URIs: http://a.example/debian http://b.example/debian
# in between
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`, "http://a.example/debian"},
		"stanzas, disabled, of source code, of security, of others": {parseStanzas, `Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: trixie
Components: main

Types: deb-src
URIs: http://src.example/debian
Suites: trixie
Components: main

Types: deb
URIs: http://security.example/debian
Suites: trixie-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.pgp

Types: deb
URIs: http://vendor.example/debian
Suites: trixie
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----

types: deb
uris:
 http://a.example/remote
suites: trixie
components: main
  contrib
signed-by: /usr/share/keyrings/debian-archive-keyring.pgp`, "http://a.example/remote"},
		"stanzas with Windows line ends": {parseStanzas, "Types: deb\r\nURIs: http://a.example/debian\r\nSuites: sid\r\nComponents: main\r\n\r\n", "http://a.example/debian"},
		"stanzas that are broken":        {parseStanzas, " x\n:\nTypes\n\n\nURIs: http://a.example/debian\n\nTypes: deb\nComponents: main\n", ""},
		"nothing":                        {parseStanzas, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, s := range c.parse(c.text) {
				if s.isDebian() {
					got = s.uri
					break
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s\nread: %+v", diff, c.parse(c.text))
			}
		})
	}
}

// TestMachineSource has the real apt-config say where sources are.
func TestMachineSource(t *testing.T) {
	if _, err := exec.LookPath("apt-config"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	settings := filepath.Join(dir, "apt.conf")
	writeFile(t, settings, fmt.Sprintf("Dir::Etc::sourcelist %q;\nDir::Etc::sourceparts %q;\n", dir+"/sources.list", dir+"/parts"))
	t.Setenv("APT_CONFIG", settings)

	want := func(uri string) {
		t.Helper()
		s, ok, err := machineSource(t.Context())
		if err != nil || s.uri != uri || ok != (uri != "") {
			t.Errorf("got %+v, %v, %v; want %q", s, ok, err, uri)
		}
	}
	want("")
	writeFile(t, dir+"/parts/c.list", "deb http://c.example/debian sid main\n")
	writeFile(t, dir+"/parts/a.list.disabled", "deb http://a.example/debian sid main\n")
	want("http://c.example/debian")
	writeFile(t, dir+"/parts/b.sources", "Types: deb\nURIs: http://b.example/debian\nSuites: sid\nComponents: main\n")
	want("http://b.example/debian")
	writeFile(t, dir+"/sources.list", "deb http://d.example/debian sid main\n")
	want("http://d.example/debian")
}
