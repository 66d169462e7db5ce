package format

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesAndGet(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
	}{
		{JSON, `{"m": {"old": 1}, "m": {"b": {"x": 1.0}, "a": {}, "b": {"on": false}}}`},
		{JSONC, "{\"m\": { // c\n \"b\": {\"x\": 1.0, \"on\": false}, \"a\": {},},}"},
		{TOML, "[m.b]\non = false\n[m.a]\n[z]\n[m.b.c]\n"},
		{TOML, "m = { b.on = false, a = {} }"},
		{TOML, "m.b.on = false\n[m.a]"},
	} {
		d := parse(t, c.kind, c.text)
		names, err := d.Names([]string{"m"})
		if diff := cmp.Diff([]string{"b", "a"}, names); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.text, err, diff)
		}
		if v, ok := d.Get("m", "b", "on"); v != false || !ok {
			t.Errorf("%s: Get gives %v, %v", c.text, v, ok)
		}
		if v, ok := d.Get("m", "b", "on", "x"); ok {
			t.Errorf("%s: Get goes through a boolean to %v", c.text, v)
		}
		if e, err := d.Lookup([]string{"m"}, "c"); e.Found || err != nil {
			t.Errorf("%s: Lookup finds %v, %v", c.text, e, err)
		}
		if e, err := d.Lookup([]string{"m", "no"}, "c"); e.Found || err != nil {
			t.Errorf("%s: Lookup finds %v, %v", c.text, e, err)
		}
	}
	for _, text := range []string{"", "{}", `{"m": null}`, `{"m": {}}`} {
		if names, err := parse(t, JSON, text).Names([]string{"m"}); len(names) != 0 || err != nil {
			t.Errorf("%s: %v, %v", text, names, err)
		}
	}
}

// An entry's value can be stored in a journal, and compared with what is there later.
func TestValuesMarshal(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
	}{
		{JSON, `{"m": {"s": {"n": 9007199254740993, "f": 1.0, "e": 1e400, "z": null, "a": [true, "\ud800"]}}}`},
		{TOML, "[m.s]\nd = 1979-05-27T07:32:00.5Z\nl = 1979-05-27\nt = 07:32:00\ni = 0xff\nf = [inf, -inf, nan, 1.0, 1e300]\n"},
	} {
		e, err := parse(t, c.kind, c.text).Lookup([]string{"m"}, "s")
		if err != nil || !e.Found {
			t.Fatalf("%v %v", e, err)
		}
		kept, err := json.Marshal(e.Value)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var later map[string]any
		if err := json.Unmarshal([]byte(`{"f": 1}`), &later); err != nil || Equal(e.Value, later) {
			t.Errorf("%v is equal to %v", e.Value, later)
		}
		later = nil
		dec := json.NewDecoder(strings.NewReader(string(kept)))
		dec.UseNumber()
		if err := dec.Decode(&later); err != nil || !Equal(e.Value, later) {
			t.Errorf("%s: %v is not equal to itself, kept as %s", c.text, e.Value, kept)
		}
	}
}

func TestEqual(t *testing.T) {
	num := func(s string) any { return json.Number(s) }
	for _, c := range []struct {
		a, b any
		want bool
	}{
		{num("1"), num("1.0"), true},
		{num("1e2"), num("100"), true},
		{num("100"), 100.0, true},
		{100, num("1E2"), true},
		{num("0"), num("-0"), true},
		{num("9007199254740993"), num("9007199254740992"), true}, // JavaScript reads both as the second, and writes the second
		{num("1"), num("2"), false},
		{num("1"), "1", false},
		{num("0"), nil, false},
		{num("0"), false, false},
		{nil, nil, true},
		{"a", "a", true},
		{"a", "b", false},
		{Literal("07:32:00"), "07:32:00", true},
		{[]string{"a"}, []any{"a"}, true},
		{[]any{"a"}, []any{"a", "b"}, false},
		{[]any{}, map[string]any{}, false},
		{Object{{"a", 1}, {"b", []string{}}}, map[string]any{"b": []any{}, "a": num("1")}, true},
		{map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		{map[string]any{"a": nil}, map[string]any{}, false},
	} {
		if got := Equal(c.a, c.b); got != c.want {
			t.Errorf("Equal(%v, %v) is %v", c.a, c.b, got)
		}
		if got := Equal(c.b, c.a); got != c.want {
			t.Errorf("Equal(%v, %v) is %v", c.b, c.a, got)
		}
	}
}
