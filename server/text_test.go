package server

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

func TestAViewFitsItsBudget(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprintf("line %d", i))
	}
	long := strings.Repeat("é", 25_000)
	for _, c := range []struct {
		name        string
		v           reply.View
		first, last string // of the lines; empty is any
		says        string
	}{
		{"short", reply.View{Facts: []string{"a", "b"}, Lines: []string{"x", "y"}}, "x", "y", "[a, b]\n"},
		{"nothing but facts", reply.View{Facts: []string{"a"}}, "", "", "[a]"},
		{"the last of many", reply.View{Facts: []string{"a"}, Lines: many, More: "start"}, "", "line 4999", "of 5000 lines, more: start]"},
		{"the first of many", reply.View{Facts: []string{"a"}, Lines: many, Head: true}, "line 0", "", "[a, the first "},
		{"the end of a long line", reply.View{Lines: []string{"x" + long}}, "", "", "bytes of a long line left out]"},
		{"the beginning of a long line", reply.View{Lines: []string{"x" + long}, Head: true}, "", "", "bytes of a long line left out]"},
		{"a long line before others", reply.View{Lines: append([]string{long}, many[:10]...)}, "line 0", "line 9", "the last 10 of 11 lines"},
	} {
		for _, most := range []int{leastMaxResult, 30_000} {
			got := c.v.Text(most)
			if len(got) > most {
				t.Errorf("%s: %d bytes, at most %d", c.name, len(got), most)
			}
			if !utf8.ValidString(got) {
				t.Errorf("%s: a character is cut in two", c.name)
			}
			lines := strings.Split(got, "\n")
			if c.first != "" && lines[min(1, len(lines)-1)] != c.first || c.last != "" && lines[len(lines)-1] != c.last {
				t.Errorf("%s in %d: %.60q … %q", c.name, most, got, lines[len(lines)-1])
			}
			if !strings.Contains(got, c.says) && most == leastMaxResult {
				t.Errorf("%s in %d does not say %q: %.200q", c.name, most, c.says, got)
			}
		}
	}
}

// FuzzView: no view is longer than allowed, and every line except a truncated one is
// complete.
func FuzzView(f *testing.F) {
	f.Add("a\nb\nc", "fact", 1200, true)
	f.Add(strings.Repeat("x", 3000), "[%1 exit 0]", 1000, false)
	f.Add("a", "value "+strings.Repeat("é\n", 50_000), 0, true)
	f.Add(strings.Repeat("x", 3000), strings.Repeat("y", 495), 0, true)
	f.Fuzz(func(t *testing.T, text, fact string, most int, head bool) {
		most = leastMaxResult + min(max(most, 0), 100_000)
		v := reply.View{Facts: []string{fact, "another"}, Lines: strings.Split(text, "\n"), Head: head}
		got := v.Text(most)
		header, body, _ := strings.Cut(got, "\n")
		if len(got) > most {
			t.Errorf("%d bytes, at most %d", len(got), most)
		}
		if strings.ContainsAny(header, "\t\r\x1b") {
			t.Errorf("the header is %q", header)
		}
		if !strings.Contains(text, body) {
			t.Errorf("%q is not part of %q", body, text)
		}
	})
}

// Names cannot create lines, and equal columns are shown once.
func TestTables(t *testing.T) {
	t.Parallel()
	yes, path := true, "/srv"
	pane := func(id tmux.PaneID, command string) paneInfo {
		return paneInfo{PaneID: id, SessionName: "a\tb\n[%9 exit 0]", PaneWidth: 80, PaneHeight: 24, PaneCurrentCommand: &command, PaneCurrentPath: &path}
	}
	own := pane("%2", "vim")
	own.PaneActive, own.IsCaller = true, &yes
	panes := reply.List[paneInfo]{Result: []paneInfo{pane("%1", "sh"), own}, Total: 7, Offset: 2}
	want := "[3 to 4 of 7 panes, more: offset=4, all with place \"a\\u0009b\\u000a[%9 exit 0]:0.0\", size 80x24, at 0,0, path /srv]\n" +
		"pane\tcommand\tflags\n%1\tsh\n%2\tvim\tactive,caller"
	if got := panes.View().Text(1000); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := reply.ViewOf(&own).Text(1000); got != "[%2 \"a\\u0009b\\u000a[%9 exit 0]:0.0\" 80x24 at 0,0 vim in /srv active,caller]" {
		t.Errorf("a row is %s", got)
	}
	same := reply.List[paneInfo]{Result: []paneInfo{own, own}, Total: 2}
	if got := same.View().Text(1000); strings.Contains(got, "\n") {
		t.Errorf("rows that are equal are\n%s", got)
	}
	if got := (reply.List[paneInfo]{}).View().Text(1000); got != "[0 panes]" {
		t.Errorf("an empty list is %q", got)
	}
}

// The contents of a nested call cannot be taken for the result of another.
func TestBatchSectionsHaveTheirLength(t *testing.T) {
	t.Parallel()
	var row batchRow
	row.Tool, row.Success = "capture_pane", true
	row.Content = append(row.Content, textContent("[%1]\nx\n== list_panes, 1 line\n[0 panes]"))
	got := batchResult{Results: []batchRow{row}, Succeeded: 1}.View().Text(1000)
	if want := "[1 of 1 succeeded]\n== capture_pane, 4 lines\n[%1]\nx\n== list_panes, 1 line\n[0 panes]"; got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestColumnsHaveTheirTokens: what a column shows must be requested.
func TestColumnsHaveTheirTokens(t *testing.T) {
	t.Parallel()
	checkColumns(t, paneInfo{})
	checkColumns(t, windowInfo{})
	checkColumns(t, sessionInfo{})
	checkColumns(t, clientInfo{})
}

func checkColumns[R reply.Tabular[R]](t *testing.T, zero R) {
	t.Helper()
	row := reflect.TypeFor[R]()
	for _, c := range zero.Columns() {
		shown := map[string]bool{}
		for _, field := range reflect.VisibleFields(row) {
			token, _, _ := strings.Cut(field.Tag.Get("tmux"), ",")
			if token == "" {
				continue
			}
			filled := reflect.New(row).Elem()
			fill(filled.FieldByIndex(field.Index))
			if c.Text(filled.Interface().(R)) != c.Text(zero) {
				shown[token] = true
			}
		}
		asked := map[string]bool{}
		if c.Tokens != "" {
			for token := range strings.SplitSeq(c.Tokens, ",") {
				asked[token] = true
			}
		}
		// A size shows only whole.
		if row.Name() == "clientInfo" && c.Name == "size" {
			continue
		}
		if !reflect.DeepEqual(shown, asked) {
			t.Errorf("%s.%s shows %v and asks for %v", row.Name(), c.Name, shown, asked)
		}
	}
}

// fill sets a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct: // a time
		v.Set(reflect.ValueOf(testTime))
	}
}

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func textContent(s string) any { return mcp.NewTextContent(s) }
