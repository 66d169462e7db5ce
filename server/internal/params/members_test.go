package params

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// slowly does what [Members.Check] does, by way of package json, without saying what is wrong.
func slowly(m Members, raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	var value func(m Members) bool
	value = func(m Members) bool {
		open, _ := d.Token()
		if delim, ok := open.(json.Delim); !ok || delim == '}' || delim == ']' {
			return true
		}
		seen := map[string]bool{}
		for d.More() {
			inner := m
			if open == json.Delim('{') {
				name, _ := d.Token()
				text := name.(string)
				if seen[text] {
					return false
				}
				seen[text] = true
				known := false
				if inner, known = m[text]; !known {
					for other := range m {
						if strings.EqualFold(text, other) {
							return false
						}
					}
					inner = m[""]
				}
			}
			if !value(inner) {
				return false
			}
		}
		d.Token()
		return true
	}
	return value(m)
}

func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{"name":1,"x":{"a":[{"b":1},{"b":2}],"b":"\\"}}`, `{"n\u0061me":1,"name":2}`, `[{"a":{},"a":{}}]`, ` [ 1 , -2.5e3 , "\"{" , null , { "NAME" : true } ] `, `"x"`, `{"\ud800":1,"\ud801":2}`,
		`{"list":[{"kind":1},{"\u212aind":2}]}`, `{"free":{"kind":1,"Kind":2},"any":{"x":{"K":1}}}`, `{"":1,"":2}`, `1e5`, `{"é":1,"\u00e9":1}`,
	} {
		f.Add(seed)
	}
	m := Members{"name": nil, "list": {"kind": nil}, "free": nil, "any": {"": {"k": nil}}}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		if err := m.Check([]byte(text)); (err == nil) != slowly(m, []byte(text)) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

func BenchmarkMembers(b *testing.B) {
	light := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"capture_pane","arguments":{"pane_id":"%1","start":-100}}}`)
	long := []byte("{")
	for i := range 200_000 {
		long = fmt.Appendf(long, `"name%d":1,`, i)
	}
	long[len(long)-1] = '}'
	known := Members{"params": {"name": nil, "arguments": {"": nil}}}
	for name, raw := range map[string][]byte{"light": light, "long": long} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if err := known.Check(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestMembersIn(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		` { "b" : 1 , "a" : { "b" : 2 } } `:    `b=1 a={ "b" : 2 }`,
		`{"n\u0061me":"\"}","":[{}],"x":-1e5}`: `name="\"}" =[{}] x=-1e5`,
		`{}`:                                   `none`,
		`null`:                                 `null`,
		`{"a":1,"\u0061":2}`:                   `"a" appears twice`,
		`{"x":[{"a":1},{"a":1,"a":2}]}`:        `"a" appears twice`,
		`{"x":{"a":1},"y":{"a":1}}`:            `x={"a":1} y={"a":1}`,
		`{"a":1`:                               `is not valid JSON`,
		``:                                     `is not valid JSON`,
		`[{"a":1}]`:                            `is not an object`,
		`"{}"`:                                 `is not an object`,
		`7`:                                    `is not an object`,
	} {
		members, err := membersIn(json.RawMessage(raw))
		var got []string
		for _, m := range members {
			got = append(got, m.name+"="+string(m.value))
		}
		text := strings.Join(got, " ")
		switch {
		case err != nil:
			text = err.Error()
		case members == nil:
			text = "null"
		case got == nil:
			text = "none"
		}
		if text != want {
			t.Errorf("%s: %s, want %s", raw, text, want)
		}
	}
}
