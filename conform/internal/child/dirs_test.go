package child

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where the usual directory for temporary files has a long name, sockets still
// have room.
func TestLongTempDir(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := RunDir(long)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	if path := Socket(filepath.Join(dir, "12345")); len(path) > maxSocketPath {
		t.Errorf("%s is too long", path)
	}
}
