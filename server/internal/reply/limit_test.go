package reply

import (
	"strings"
	"testing"
)

// TestShrink: what is too large loses its beginning, and the note of that says so.
func TestShrink(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":1,"lines":["first","second","third"],"lines_truncated":false}`:      `{"a":1,"lines":["third"],"lines_truncated":true}`,
		`{"a":1,"lines":["` + strings.Repeat("x", 90) + `end"]}`:                  `{"a":1,"lines":["` + strings.Repeat("x", 27) + `end"]}`,
		`{"a":1,"lines":[{"b":"` + strings.Repeat("x", 90) + `"}]}`:               `{"a":1,"lines":[]}`,
		`{"text":"` + strings.Repeat("\\\"", 40) + `end","text_truncated":false}`: `{"text":"` + strings.Repeat("\\\"", 7) + `end","text_truncated":true}`,
	} {
		if got := string(shrink([]byte(in), 50)); got != want {
			t.Errorf("%s\nbecame\n%s\nwant\n%s", in, got, want)
		}
	}
}
