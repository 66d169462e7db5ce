package adapter

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// page returns docs/adapters.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/adapters.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestVerbsOfPage: the page has all verbs, in order, with their parameters and what they answer.
func TestVerbsOfPage(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(page(t), "\n## Verbs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	answers := map[Returns]string{
		Nothing: "nothing", Description: "`protocol`, `name`, `version`", TextAnswer: "text", Row: "`row`", Rows: "`rows`", RowOrNothing: "`row` or nothing",
	}
	name := regexp.MustCompile("`(\\w+)`(\\?)?")
	var found []string
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], " `") {
			continue
		}
		verb := name.FindStringSubmatch(cells[0])[1]
		found = append(found, verb)
		v := verbOf(verb)
		if v == nil {
			t.Errorf("there is no verb %s", verb)
			continue
		}
		var params, want []string
		for _, m := range name.FindAllStringSubmatch(cells[1], -1) {
			params = append(params, m[1]+m[2])
		}
		for _, p := range v.Params {
			if p.Optional {
				p.Name += "?"
			}
			want = append(want, p.Name)
		}
		if !slices.Equal(params, want) {
			t.Errorf("%s: the page has the parameters %q, want %q", verb, params, want)
		}
		answer := strings.TrimSpace(cells[2])
		if begin := answers[v.Returns]; !regexp.MustCompile("^" + regexp.QuoteMeta(begin) + `([.:,]|$)`).MatchString(answer) {
			t.Errorf("%s: the page has the answer %q, want %s", verb, answer, begin)
		}
		for _, extra := range v.Extra {
			if !strings.Contains(answer, "`"+extra+"`?") {
				t.Errorf("%s: the page does not have %s", verb, extra)
			}
		}
	}
	var want []string
	for _, v := range Verbs {
		want = append(want, v.Name)
		for _, p := range v.Params {
			for _, value := range p.Values {
				if !strings.Contains(section, "`"+value+"`") {
					t.Errorf("%s: the page does not have %s", v.Name, value)
				}
			}
		}
	}
	if !slices.Equal(found, want) {
		t.Errorf("the page has the verbs %q, want %q", found, want)
	}
}

// TestConversationOfPage: the messages that the page shows are as the schemas say.
func TestConversationOfPage(t *testing.T) {
	t.Parallel()
	requests, n := requestSchema(t), int64(0)
	for line := range strings.Lines(page(t)) {
		if text, is := strings.CutPrefix(line, "→ "); is {
			n++
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err == nil {
				err = requests.Validate(value)
			}
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		if text, is := strings.CutPrefix(line, "← "); is {
			if _, err := readAnswer([]byte(strings.TrimSpace(text)), n); err != nil {
				if _, wrapper := err.(*Error); !wrapper {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("the page has %d requests", n)
	}
}
