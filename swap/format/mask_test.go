package format

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMask(t *testing.T) {
	for _, c := range textCases(t, "mask.txtar") {
		t.Run(c.kind.String()+"/"+c.name, func(t *testing.T) {
			got := Mask(c.kind, []byte(c.before), Visible{Value: func(s string) bool { return s == "shown" || s == "" }})
			if diff := cmp.Diff(c.after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzMask checks that no string survives unless it is also in a key, and that the lines
// stay.
func FuzzMask(f *testing.F) {
	fixtures(f, func(_ string, kind Kind, text []byte) { f.Add(byte(kind), text) })
	for _, c := range textCases(f, "*.txtar") {
		f.Add(byte(c.kind), []byte(c.before))
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte) {
		k := Kind(int(kind) % len(kinds))
		out := Mask(k, text, Visible{Value: func(string) bool { return false }})
		if bytes.Count(out, []byte("\n")) != bytes.Count(text, []byte("\n")) {
			t.Fatalf("lines of %q: %q", text, out)
		}
		d, err := Parse(k, text)
		if err != nil {
			return
		}
		v, _ := d.Get()
		var keys, leaves []string
		collect(v, &keys, &leaves)
		names := strings.Join(keys, "\n")
		for _, leaf := range leaves {
			if len(leaf) >= 4 && !strings.Contains(leaf, "*") && !strings.Contains(names, leaf) && bytes.Contains(out, []byte(leaf)) &&
				!strings.Contains("true false null", leaf) && strings.ContainsAny(leaf, "abcdefghijklmnopqrstuvwxyz") {
				t.Errorf("%q is still in %q, from %q", leaf, out, text)
			}
		}
	})
}

func collect(v any, keys, leaves *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			*keys = append(*keys, k)
			collect(e, keys, leaves)
		}
	case []any:
		for _, e := range v {
			collect(e, keys, leaves)
		}
	default:
		*leaves = append(*leaves, fmt.Sprint(v))
	}
}
