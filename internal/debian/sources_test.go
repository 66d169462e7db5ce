package debian

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/testtool"
)

// TestMachineMirror has the real apt read entries, and picks Debian's.
func TestMachineMirror(t *testing.T) {
	testtool.Path(t, "apt-get")
	const keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
	for _, c := range cases.Load(t, "testdata/sources.txtar", "uri") {
		t.Run(c.Name, func(t *testing.T) {
			dir := t.TempDir()
			settings := filepath.Join(dir, "apt.conf")
			writeFile(t, settings, fmt.Sprintf("Dir::Etc::sourcelist %q;\nDir::Etc::sourceparts %q;\n", dir+"/sources.list", dir+"/parts"))
			t.Setenv("APT_CONFIG", settings)
			for name, text := range c.Texts {
				writeFile(t, filepath.Join(dir, name), strings.ReplaceAll(text, "KEYS", keys))
			}
			if uri, err := machineMirror(t.Context()); err != nil || uri != c.One("uri") {
				t.Errorf("got %q, %v; want %q", uri, err, c.One("uri"))
			}
		})
	}
}
