package ask

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/swap/format"
)

// The copy of a config has one server, with the variables, and the rest as it was.
func TestHome(t *testing.T) {
	c := Config{
		Path: filepath.Join("sub", "c.json"), Kind: format.JSON,
		Text:       []byte(`{"keep": 1, "m": {"other": {"command": "x"}, "srv": {"command": "y"}}}`),
		Containers: [][]string{{"m"}}, Container: []string{"m"}, Server: "srv",
		Env: "env", Vars: format.Object{{Name: "HOME", Value: "/h"}},
	}
	dir, remove, err := Home(c, []File{{Path: "f", Text: []byte("text")}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, c.Path))
	if err != nil {
		t.Fatal(err)
	}
	for want, there := range map[string]bool{`"keep": 1`: true, `"y"`: true, `"/h"`: true, "other": false} {
		if strings.Contains(string(got), want) != there {
			t.Errorf("%s: %v is not %v in %s", c.Path, want, there, got)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "f")); string(text) != "text" {
		t.Errorf("f: %q, %v", text, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the home directory is still there: %v", err)
	}
	if _, _, err := Home(Config{Kind: format.JSON, Text: []byte("{")}, nil); err == nil {
		t.Error("a broken config was copied")
	}
}
