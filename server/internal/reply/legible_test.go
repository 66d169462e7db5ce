package reply

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

func TestWhatIsInvisibleIsShownByItsNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain é 漢字 ⚠️ \\u202e": "plain é 漢字 ⚠️ \\u202e",
		"a\u202eb\u2066c":       `a\u202eb\u2066c`,
		"a\u200bb\u200dc\ufeff": `a\u200bb\u200dc\ufeff`,
		"\x1b]0;x\a\x7f\u0085":  `\u001b]0;x\u0007\u007f\u0085`,
		"a\nb\t\u2028":          `a\u000ab\u0009\u2028`,
		"\U000e0041\U000e0100":  `\U000e0041\U000e0100`,
		"\u00ad\u061c\u180e":    `\u00ad\u061c\u180e`,
		"\u115f\u3164\uffa0":    `\u115f\u3164\uffa0`,
	} {
		if got := Legible(text, ""); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.Is(unicode.Bidi_Control, r) && !invisible(r) {
			t.Errorf("%U reorders text and is not shown", r)
		}
	}
}

// FuzzLegibleJSON: the texts of an output are legible, exact ones are unchanged, and the
// JSON is otherwise the same.
func FuzzLegibleJSON(f *testing.F) {
	f.Add("x", "y", "k")
	f.Add("a\u202e\"\\\n\x1b", "\u200b{}[],:", "\u2066\"")
	type row struct {
		Name  string            `json:"name"`
		Names map[string]string `json:"names"`
		Exact map[string]string `json:"exact" exact:"true"`
		Lines []string          `json:"lines" exact:"true"`
		After *string           `json:"after"`
		N     float64           `json:"n"`
	}
	f.Fuzz(func(t *testing.T, name, screen, key string) {
		name, screen, key = strings.ToValidUTF8(name, ""), strings.ToValidUTF8(screen, ""), strings.ToValidUTF8(key, "")
		in := List[row]{Total: 1, Result: []row{{name, map[string]string{key: name}, map[string]string{key: screen}, []string{screen, name}, &name, 1.5}}}
		raw, err := in.Encode(MaxResult)
		if err != nil {
			t.Fatal(err)
		}
		var out List[row]
		raw, err = LegibleJSON(raw, reflect.TypeOf(in))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatalf("%v of %s", err, raw)
		}
		shown := Legible(name, "")
		want := List[row]{Total: 1, Result: []row{{shown, map[string]string{Legible(key, ""): shown}, map[string]string{key: screen}, []string{screen, name}, &shown, 1.5}}}
		if !reflect.DeepEqual(out, want) {
			t.Errorf("%+v is shown as %+v", in, out)
		}
	})
}
