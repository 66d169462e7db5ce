package params

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type bindProbe struct {
	Name     string    `json:"name"`
	Count    int       `json:"count" default:"3" min:"1"`
	Most     *int      `json:"most" default:"500" min:"1"`
	Ratio    float64   `json:"ratio,omitempty"`
	Flag     bool      `json:"flag" default:"true"`
	Mode     string    `json:"mode" default:"stop" enum:"stop,continue"`
	Patterns []string  `json:"patterns,omitempty"`
	Env      StringMap `json:"environment,omitempty"`
	Items    []struct {
		Key string `json:"key"`
		N   int    `json:"n,omitempty"`
	} `json:"items,omitempty"`
	SocketName string `json:"socket_name,omitempty"`
}

func TestBindTakesWhatModelsSend(t *testing.T) {
	five, none := 500, (*int)(nil)
	base := func(change func(p *bindProbe)) bindProbe {
		p := bindProbe{Name: "x", Count: 3, Most: &five, Flag: true, Mode: "stop"}
		if change != nil {
			change(&p)
		}
		return p
	}
	for args, want := range map[string]bindProbe{
		`{"name":"x"}`:                               base(nil),
		`{"name":"x","count":null}`:                  base(nil),
		`{"name":"x","count":"7"}`:                   base(func(p *bindProbe) { p.Count = 7 }),
		`{"name":"x","count":7.0}`:                   base(func(p *bindProbe) { p.Count = 7 }),
		`{"name":"x","most":null}`:                   base(func(p *bindProbe) { p.Most = none }),
		`{"name":"x","ratio":"0.5"}`:                 base(func(p *bindProbe) { p.Ratio = 0.5 }),
		`{"name":"x","flag":"false"}`:                base(func(p *bindProbe) { p.Flag = false }),
		`{"name":"x","flag":0}`:                      base(func(p *bindProbe) { p.Flag = false }),
		`{"name":"x","mode":"continue"}`:             base(func(p *bindProbe) { p.Mode = "continue" }),
		`{"name":7}`:                                 base(func(p *bindProbe) { p.Name = "7" }),
		`{"name":"x","patterns":["a","b"]}`:          base(func(p *bindProbe) { p.Patterns = []string{"a", "b"} }),
		`{"name":"x","patterns":"[\"a\"]"}`:          base(func(p *bindProbe) { p.Patterns = []string{"a"} }),
		`{"name":"x","environment":{"A":"1"}}`:       base(func(p *bindProbe) { p.Env = StringMap{"A": "1"} }),
		`{"name":"x","environment":"{\"A\":\"1\"}"}`: base(func(p *bindProbe) { p.Env = StringMap{"A": "1"} }),
		`{"name":"x","socket_name":"s"}`:             base(func(p *bindProbe) { p.SocketName = "s" }),
	} {
		var got bindProbe
		if err := Bind("probe", json.RawMessage(args), &got); err != nil {
			t.Errorf("%s: %v", args, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: bound %+v, want %+v", args, got, want)
		}
	}
}

func TestBindNamesWhatIsWrongAndRepeatsNoValue(t *testing.T) {
	text, err := os.ReadFile("testdata/wrong.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		args, want, found := strings.Cut(strings.TrimSpace(line), " => ")
		if !found {
			continue // a comment
		}
		var got bindProbe
		err := Bind("probe", json.RawMessage(args), &got)
		if err == nil {
			t.Errorf("%s: bound %+v", args, got)
			continue
		}
		if !strings.Contains(err.Message, want) || !strings.HasPrefix(err.Message, "probe: ") {
			t.Errorf("%s: %q does not say %q", args, err.Message, want)
		}
		if strings.Contains(err.Message, "sekrit") {
			t.Errorf("%s: the value is repeated in %q", args, err.Message)
		}
	}
	unknown := Bind("probe", json.RawMessage(`{"a":1,"name":5.5e1,"b":2}`), &bindProbe{})
	if unknown == nil || strings.Join(unknown.Unknown, ",") != "a,b" || !slices.Contains(unknown.Takes, "name") {
		t.Errorf("two unknown arguments suggest %v", unknown)
	}
}

func FuzzBind(f *testing.F) {
	f.Add(`{"name":"x","items":[{"key":"k","n":"3"}],"environment":"{}"}`)
	f.Add(`{"name":"x","patterns":"[","count":1e999}`)
	f.Fuzz(func(t *testing.T, args string) {
		var p bindProbe
		if err := Bind("probe", json.RawMessage(args), &p); err == nil && p.Count < 1 {
			t.Errorf("%q bound a count of %d", args, p.Count)
		}
	})
}
