package conform

import (
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
)

// What is wrong with a file of targets, or a dialect, is one line with what it may have.
func TestWrongFiles(t *testing.T) {
	for _, c := range cases.Load(t, "testdata/wrong.txtar", "says") {
		var err error
		if text, ok := c.Texts["t.toml"]; ok {
			_, err = ParseTargets("t.toml", "/", []byte(text))
		} else {
			_, err = ParseDialect("d.toml", []byte(c.Texts["d.toml"]))
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.One("says")) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.Name, err, c.One("says"))
		}
	}
}
