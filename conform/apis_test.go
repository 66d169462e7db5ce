package conform

import (
	"strings"
	"testing"
)

// TestIsName: a name begins with a letter or digit of any script, and has at most eighty.
func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{
		"libtmux 0.56": true, "日本 (x)/y+z@1_-": true, "3": true, strings.Repeat("é", 80): true, strings.Repeat("é", 81): false,
		"": false, " x": false, "-x": false, "a\nb": false, "a|b": false, "a\n": false,
	} {
		if isName(name) != want {
			t.Errorf("%q is a name: %t", name, !want)
		}
	}
}
