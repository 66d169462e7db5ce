package debian

import (
	"fmt"
	"path/filepath"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// TestMachineMirror has the real apt read entries, and picks Debian's.
func TestMachineMirror(t *testing.T) {
	testtool.Path(t, "apt-get")
	const keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
	for name, c := range map[string]struct {
		files map[string]string
		uri   string
	}{
		"nothing": {},
		"a list":  {map[string]string{"sources.list": "deb http://a.example/debian bookworm main"}, "http://a.example/debian"},
		"options, comments and source code": {map[string]string{"sources.list": `
# deb http://old.example/debian bookworm main
deb-src http://src.example/debian bookworm main
deb	[ arch=amd64,arm64  signed-by=` + keys + ` ]  http://a.example/debian/ bookworm main contrib # ours
`}, "http://a.example/debian"},
		"a CD": {map[string]string{"sources.list": `
deb cdrom:[Debian_12_Official]/debian bookworm main
deb https://a.example/debian/ bookworm main`}, "https://a.example/debian"},
		"security first": {map[string]string{"sources.list": `
deb http://a.example/debian-security bookworm-security main
deb [signed-by=` + keys + `] http://b.example/security bookworm-security main
deb http://old.example/debian stretch/updates main
deb http://c.example/debian bookworm main`}, "http://c.example/debian"},
		"other vendors": {map[string]string{"sources.list": `
deb [signed-by=/etc/apt/keyrings/docker.asc] https://a.example/linux/debian bookworm stable
deb https://b.example/linux/debian bookworm stable
deb http://d.example/ubuntu noble main`}, ""},
		"a snapshot":        {map[string]string{"sources.list": "deb http://a.example/archive/debian/20250520T000000Z bookworm main"}, "http://a.example/archive/debian/20250520T000000Z"},
		"a list of mirrors": {map[string]string{"sources.list": "deb mirror+file:/etc/apt/mirrors/debian.list bookworm main"}, "mirror+file:/etc/apt/mirrors/debian.list"},
		"stanzas, disabled, of others, and ours": {map[string]string{"parts/a.sources": `Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: trixie
Components: main

Types: deb
URIs: http://vendor.example/packages
Suites: trixie
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb deb-src
URIs: http://a.example/x/debian http://b.example/debian
Suites: trixie trixie-updates
Components: main contrib
Signed-By: ` + keys + `
`}, "http://a.example/x/debian"},
		"the order of the files": {map[string]string{
			"parts/c.list":          "deb http://c.example/debian sid main\n",
			"parts/a.list.disabled": "deb http://a.example/debian sid main\n",
			"parts/b.sources":       "Types: deb\nURIs: http://b.example/debian\nSuites: sid\nComponents: main\n",
		}, "http://b.example/debian"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			settings := filepath.Join(dir, "apt.conf")
			writeFile(t, settings, fmt.Sprintf("Dir::Etc::sourcelist %q;\nDir::Etc::sourceparts %q;\n", dir+"/sources.list", dir+"/parts"))
			t.Setenv("APT_CONFIG", settings)
			for name, text := range c.files {
				writeFile(t, filepath.Join(dir, name), text)
			}
			if uri, err := machineMirror(t.Context()); err != nil || uri != c.uri {
				t.Errorf("got %q, %v; want %q", uri, err, c.uri)
			}
		})
	}
}
