package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"as it is: a::b ::1 #[fg=red] #{x}\ttab\nline": "as it is: a::b ::1 #[fg=red] #{x}\ttab\nline",
		"\x1b[2J\x00\u009b\x7f":                        `\033[2J\000\233\177`,
		"\xff\ufffe":                                   "\ufffd\ufffd",
		"a\u202eb\u200b\ufeff\u2028\U000e0041":         `a\u202eb\u200b\ufeff\u2028\ue0041`,
		"::error::x\n  ::set-env name=a::b":            `\072:error::x` + "\n" + `  \072:set-env name=a::b`,
		"wraps ::error::x\u00a0::add-mask::y":          `wraps \072:error::x` + "\u00a0" + `\072:add-mask::y`,
		"x ##[error]y ###[a] ##vso[task.x]z":           `x \043#[error]y #\043#[a] \043#vso[task.x]z`,
		"##teamcity[buildStop]":                        `\043#teamcity[buildStop]`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// obeyed finds what a CI system or a terminal would obey in one of its lines.
func obeyed(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for _, r := range line {
			if r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
				return fmt.Sprintf("%U in %q", r, line)
			}
		}
		begin := strings.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) })
		if name, ok := strings.CutPrefix(begin, "::"); ok && len(name) > 0 && unicode.IsLetter(rune(name[0])) || obeyedWord.MatchString(line) {
			return line
		}
	}
	return ""
}

var obeyedWord = regexp.MustCompile(`##[a-zA-Z.]*\[`)

const ordered = "::error file=a::b ##[group]c ::stop-commands::d\n::add-mask::e\n \u00a0::warning::f\n\t##vso[task.setvariable variable=x]g" +
	"\r::debug::h\n\x1b[0Ksection_start:1:i\r\x1b[0K\u202ej\u200b::notice::k ##teamcity[message text='l']\u2028::error::m\u0085::error::n"

// fill makes every text in a value that can have any the given one.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), text)
			}
		}
	}
}

// Whatever a report holds, no line of any format is one that a CI system obeys,
// and nothing in it acts on a terminal.
func TestNothingIsObeyed(t *testing.T) {
	for _, text := range []string{ordered, "::error::x", "##[error]x", strings.Repeat("word ", 30) + "::error::x", strings.Repeat("x\n", 9) + "::error::x"} {
		r := fullReport()
		r.Kept = "kept"
		for i := range r.Cells {
			r.Cells[i].Log, r.Cells[i].Dir = "log", "dir"
		}
		fill(reflect.ValueOf(r), text)
		other := *r
		other.Cells = append([]Cell(nil), r.Cells...)
		other.Cells[0].Status, other.Cells[2].Status = Fail, Fail
		formats := map[string]func(io.Writer) error{
			"text":      func(w io.Writer) error { return Write(w, "text", r, Style{}) },
			"unicode":   func(w io.Writer) error { return Write(w, "text", r, Style{Unicode: true, Width: 40}) },
			"junit":     func(w io.Writer) error { return Write(w, "junit", r, Style{}) },
			"tap":       func(w io.Writer) error { return Write(w, "tap", r, Style{}) },
			"markdown":  func(w io.Writer) error { return Write(w, "markdown", r, Style{}) },
			"html":      func(w io.Writer) error { return Write(w, "html", r, Style{}) },
			"json":      func(w io.Writer) error { return Write(w, "json", r, Style{}) },
			"diff":      func(w io.Writer) error { return WriteDiff(w, "text", Compare(&other, r), Style{}) },
			"diff json": func(w io.Writer) error { return WriteDiff(w, "json", Compare(r, &other), Style{}) },
		}
		for name, write := range formats {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !strings.Contains(b.String(), "error") {
				t.Errorf("%s does not have the text at all", name)
			}
			if line := obeyed(b.String()); line != "" {
				t.Errorf("%s: %s", name, line)
			}
		}
		var b bytes.Buffer
		if err := Write(&b, "json", r, Style{}); err != nil {
			t.Fatal(err)
		}
		var again Report
		if err := json.Unmarshal(b.Bytes(), &again); err != nil {
			t.Fatal(err)
		}
		for i := range again.Cells {
			again.Cells[i].Log = r.Cells[i].Log // which JSON leaves out
		}
		if d := cmp.Diff(r, &again); d != "" {
			t.Errorf("JSON has another text: %s", d)
		}
	}
}
