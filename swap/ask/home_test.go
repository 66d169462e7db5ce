package ask

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/swap/format"
)

// The copy of a config has one server that runs, with the variables, and is otherwise
// unchanged.
func TestOneServerRuns(t *testing.T) {
	o := Alone{Kind: format.JSON, Containers: [][]string{{"m"}}, Server: "srv", Harmless: func(map[string]any) format.Object {
		return format.Object{{Name: "command", Value: "z"}}
	}}
	const text = `{"keep": 1, "m": {"other": {"command": "x"}, "srv": {"command": "y"}}}`
	for _, vars := range []format.Object{nil, {{Name: "HOME", Value: "/h"}}} {
		got, err := o.Of([]byte(text), []string{"m"}, "env", vars)
		if err != nil {
			t.Fatal(err)
		}
		for want, there := range map[string]bool{`"keep": 1`: true, `"y"`: true, `"/h"`: vars != nil, `"other": {"command": "z"}`: true, `"x"`: false} {
			if strings.Contains(string(got), want) != there {
				t.Errorf("%v: %v is not %v in %s", vars, want, there, got)
			}
		}
	}
	if _, err := o.Of([]byte("{"), nil, "", nil); err == nil {
		t.Error("a broken config was copied")
	}
}

func TestHomeIsRemoved(t *testing.T) {
	dir, remove, err := Home()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the home directory is still there: %v", err)
	}
}
