package cmd

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// TestWhatIsLinked: text/template looks up methods by name, and so the linker keeps all methods
// of all types in a program that executes one: two megabytes, most of which are mapped. mcp-go's
// server compiles JSON schemas at each start, and only tmux-mcp needs it.
func TestWhatIsLinked(t *testing.T) {
	if !testtool.Full {
		t.Skip("links two programs: see " + testtool.FullSize)
	}
	t.Parallel()
	dir := t.TempDir()
	for program, without := range map[string][]string{
		"tmux-mcp": {"reflect.Value.MethodByName"}, "mcp-swap": {"reflect.Value.MethodByName", "santhosh-tekuri/jsonschema"},
	} {
		if out, err := exec.Command("go", "build", "-o", dir, "./"+program).CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dir, program))
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range without {
			if bytes.Contains(text, []byte(function)) {
				t.Errorf("%s has %s", program, function)
			}
		}
		if !bytes.Contains(text, []byte("reflect.Value.MapIndex")) {
			t.Errorf("%s does not name what it has", program)
		}
	}
}
