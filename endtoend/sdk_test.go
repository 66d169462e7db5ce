package endtoend

import (
	"os/exec"
	"path/filepath"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// TestTypeScriptSDKs makes a client of each do everything that one does, in a pane.
func TestTypeScriptSDKs(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("testdata/sdk.cjs")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ modules, pkg, era string }{
		"v1":           {"mcp-sdk-v1", "@modelcontextprotocol/sdk", "legacy"},
		"v2":           {"mcp-sdk-v2", "@modelcontextprotocol/client", "legacy"},
		"v2 stateless": {"mcp-sdk-v2", "@modelcontextprotocol/client", "2026-07-28"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			modules := npm(t, c.modules)
			s := newStage(t)
			if got := s.inPane(node(t), script, modules, c.pkg, c.era); got != "all of it\n" {
				t.Errorf("it ends with %q", got)
			}
			s.checkRecords()
		})
	}
}

// TestGoSDK does the same with the Go SDK, which is in a separate module because it needs
// many others.
func TestGoSDK(t *testing.T) {
	t.Parallel()
	npm(t, "mcp-conformance") // has the schemas
	client := filepath.Join(t.TempDir(), "client")
	build := exec.Command("go", "build", "-o", client, ".")
	build.Dir, build.Env = "gosdk", ownModule()
	if out, err := build.CombinedOutput(); err != nil {
		testtool.Missing(t, "cannot get the Go SDK: %v\n%s", err, out)
	}
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if got := s.inPane(client, revision); got != "all of it\n" {
				t.Errorf("it ends with %q", got)
			}
			s.checkRecords()
		})
	}
}
