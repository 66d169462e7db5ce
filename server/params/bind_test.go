package params

import (
	"encoding/json"
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
	for args, want := range map[string]string{
		`{}`:                                     "name is required",
		`{"name":null}`:                          "name is required",
		`{"name":{"k":"sekrit"}}`:                "name must be a string",
		`{"name":"x","count":"sekrit"}`:          "count must be a whole number",
		`{"name":"x","count":1.5}`:               "count must be a whole number",
		`{"name":"x","count":1e300}`:             "count must be a whole number",
		`{"name":"x","count":0}`:                 "count must be at least 1",
		`{"name":"x","most":-2}`:                 "most must be at least 1",
		`{"name":"x","ratio":"NaN"}`:             "ratio must be a number",
		`{"name":"x","ratio":"inf"}`:             "ratio must be a number",
		`{"name":"x","flag":"sekrit"}`:           "flag must be true or false",
		`{"name":"x","mode":"sekrit"}`:           "mode must be one of stop, continue",
		`{"name":"x","patterns":"sekrit"}`:       "patterns must be a list",
		`{"name":"x","patterns":[["sekrit"]]}`:   "patterns[0] must be a string",
		`{"name":"x","environment":"{sekrit"}`:   "environment is not valid JSON",
		`{"name":"x","environment":"[1]"}`:       "environment must be a JSON object, not a list",
		`{"name":"x","environment":{"A":5}}`:     "environment must map names to strings",
		`{"name":"x","nmae":"sekrit"}`:           "nmae is not an argument (is it name?)",
		`{"name":"x","items":[{"ky":"sekrit"}]}`: "items[0].key is required",
		`{"name":"x","items":["sekrit"]}`:        "items[0] arguments must be a JSON object",
		`["sekrit"]`:                             "arguments must be a JSON object",
		`"sekrit"`:                               "arguments must be a JSON object",
		`{"name":"x","zz":1,"aa":2}`:             "zz is not an argument; aa is not",
	} {
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
	err := Bind("probe", json.RawMessage(`{"a":1,"name":5.5e1,"b":2}`), &bindProbe{})
	if err == nil || strings.Join(err.Unknown, ",") != "a,b" || !slices.Contains(err.Takes, "name") {
		t.Errorf("two unknown arguments suggest %v, of %v", err, err.Takes)
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
