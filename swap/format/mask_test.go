package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// CANARY stands for a secret; every place that can hold one has one.
var maskCases = []struct {
	name     string
	kind     Kind
	in, want string
}{
	{"JSON", JSON, `{"k": "CANARY", "say": "shown", "e": "", "n": [1, -22, 4444, 1.5e9, true, null, "CANARY"], "o": {"CANARY KEY": "C\"ANARY"}}`,
		`{"k": "***", "say": "shown", "e": "", "n": [1, -22, ***, ***, true, null, "***"], "o": {"CANARY KEY": "***"}}`},
	{"escaped", JSON, `{"k": "sho\u0077n", "l": "\\"}`, `{"k": "sho\u0077n", "l": "***"}`},
	{"a mark and CRLF", JSON, bom + "{\"a\":\r\n\"CANARY\"\r\n}\r\n", bom + "{\"a\":\r\n\"***\"\r\n}\r\n"},
	{"JSONC", JSONC, "{ // CANARY\n  /* CANARY\n     CANARY */ \"a\" /* CANARY */ : \"CANARY\", // \"a\": 1\n  //\n \"b\": [\"CANARY\" /* : */, ],\n}\n// CANARY",
		"{ //***\n  /****\n     ****/ \"a\" /*****/ : \"***\", //***\n  //\n \"b\": [\"***\" /*****/, ],\n}\n//***"},
	{"not JSON", JSON, "{\"k\": \"CANARY\"\n CANARY\n\n", "***\n ***\n\n"},
	{"TOML", TOML, "# CANARY\n[a.\"b ] c\"] # CANARY\nk = \"CANARY\" # CANARY\n'q = x'.d = 'CANARY'\ns = \"shown\"\nn = 12\nbig = 123456\nd = 1979-05-27 07:32:00Z\nf=inf\n[[t]]\nl = [ # CANARY\n  \"CANARY\", 'CANARY', # CANARY\n  { x = \"CANARY\", \"y]\" = [true] },\n]\n",
		"#***\n[a.\"b ] c\"] #***\nk = \"***\" #***\n'q = x'.d = '***'\ns = \"shown\"\nn = 12\nbig = ***\nd = *** ***\nf=***\n[[t]]\nl = [ #***\n  \"***\", '***', #***\n  { x = \"***\", \"y]\" = [true] },\n]\n"},
	{"TOML of several lines", TOML, "a = \"\"\"\nCANARY \\\"\"\" \n  CANARY\"\"\"\"\"\nb = '''CANARY\n[CANARY]\nk = \"CANARY\"'''\nc = 1\n",
		"a = \"\"\"\n***\n  ***\"\"\"\nb = '''***\n***\n***'''\nc = 1\n"},
	{"not TOML", TOML, "k = \"CANARY\n", "***\n"},
	{"empty", TOML, "", ""},
}

func TestMask(t *testing.T) {
	for _, c := range maskCases {
		t.Run(c.name, func(t *testing.T) {
			got := string(Mask(c.kind, []byte(c.in), func(s string) bool { return s == "shown" || s == "" }))
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// FuzzMask checks that no string survives, unless it is in a key too, and that
// the lines stay.
func FuzzMask(f *testing.F) {
	fixtures(f, func(_ string, kind Kind, text []byte) { f.Add(byte(kind), text) })
	for _, c := range maskCases {
		f.Add(byte(c.kind), []byte(c.in))
	}
	for _, c := range slices.Concat(jsonCases(), tomlCases()) {
		f.Add(byte(c.kind), unnote(c.in))
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte) {
		k := Kind(kind % 4)
		out := Mask(k, text, func(string) bool { return false })
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
