package format

import (
	"encoding/json"
	"errors"
	"testing"
)

// The last line of defence: whatever mistake an edit makes, a text in which anything else
// reads differently is not returned.
func TestProof(t *testing.T) {
	const text = `{"a": 1, "m": {"s": {}, "t": 2}}`
	path := []string{"m", "s"}
	for name, s := range map[string]splice{
		"another value":   {6, 7, "3"},
		"a sibling":       {29, 30, "3"},
		"a new sibling":   {20, 22, `{}, "u": 1`},
		"a sibling lost":  {20, 30, `{}`},
		"a renamed one":   {25, 26, `x`},
		"a broken text":   {20, 22, `{`},
		"a second text":   {32, 32, ` {}`},
		"the entry's own": {20, 22, `{"x": 1}`},
		"a type":          {14, 31, `[]`},
	} {
		d := parse(t, JSON, text)
		if e, err := d.tree.(*jsonDoc).finish(s, path, map[string]any{}); !errors.Is(err, errProof) && !isTypeError(err) {
			t.Errorf("%s: %v, gives %s", name, err, e.Out)
		}
		if e, err := d.tree.(*jsonDoc).finish(s, path, gone{}); err == nil && name != "the entry's own" {
			t.Errorf("dropped, %s, gives %s", name, e.Out)
		}
	}

	const table = "a = 1\n[m.s]\nx = 2\n[m.t]\ny = 3\n"
	for name, s := range map[string]splice{
		"another value": {4, 5, "3"},
		"a sibling":     {28, 29, "4"},
		"a new sibling": {30, 30, "z = 1\n"},
		"a lost one":    {18, 30, ""},
		"a value":       {16, 17, "5"},
	} {
		d := parse(t, TOML, table)
		ed := d.tree.(*tomlDoc).edit([]string{"m", "s"})
		if ed.do(s); ed.err != nil {
			t.Fatalf("%s: %v", name, ed.err)
		}
		if e, err := d.tree.(*tomlDoc).finish(ed, []string{"m", "s"}, map[string]any{"x": json.Number("2")}); !errors.Is(err, errProof) {
			t.Errorf("TOML, %s: %v, gives %s", name, err, e.Out)
		}
	}

	const lines = "a: 1\nm:\n  s:\n    x: 2\n  t:\n    y: 3\n"
	for name, s := range map[string]splice{
		"another value": {3, 4, "3"},
		"a sibling":     {34, 35, "4"},
		"a new sibling": {36, 36, "  u: {}\n"},
		"a lost one":    {22, 36, ""},
		"a value":       {20, 21, "5"},
		"a broken text": {20, 20, "["},
	} {
		d := parse(t, YAML, lines)
		want := map[string]any{"x": json.Number("2")}
		if e, err := d.tree.(*yamlDoc).finish(applied(d.src, s), []string{"m", "s"}, want); !errors.Is(err, errProof) {
			t.Errorf("YAML, %s: %v, gives %s", name, err, e.Out)
		}
	}
	d := parse(t, YAML, lines).tree.(*yamlDoc)
	if e, err := d.finish(applied(d.src, splice{22, 36, ""}), []string{"m", "s"}, nil); !errors.Is(err, errProof) {
		t.Errorf("YAML, another entry removed: %v, gives %s", err, e.Out)
	}
}

func isTypeError(err error) bool {
	return errors.As(err, new(*TypeError))
}
