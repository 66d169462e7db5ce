package rows

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// Names cannot create lines, and equal columns are shown once.
func TestTables(t *testing.T) {
	t.Parallel()
	yes, path := true, "/srv"
	pane := func(id tmux.PaneID, command string) Pane {
		return Pane{PaneID: id, SessionName: "a\tb\n[%9 exit 0]", PaneWidth: 80, PaneHeight: 24, PaneCurrentCommand: &command, PaneCurrentPath: &path}
	}
	own := pane("%2", "vim")
	own.PaneActive, own.IsCaller = true, &yes
	panes := reply.List[Pane]{Result: []Pane{pane("%1", "sh"), own}, Total: 7, Offset: 2}
	want := "[3 to 4 of 7 panes, more: offset=4, all: place \"a\\u0009b\\u000a[%9 exit 0]:0.0\", size 80x24, at 0,0, path /srv]\n" +
		"pane\tcommand\tflags\n%1\tsh\n%2\tvim\tactive,caller"
	if got := panes.View().Text(1000); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := reply.ViewOf(&own).Text(1000); got != "[%2 \"a\\u0009b\\u000a[%9 exit 0]:0.0\" 80x24 at 0,0 vim in /srv active,caller]" {
		t.Errorf("a row is %s", got)
	}
	same := reply.List[Pane]{Result: []Pane{own, own}, Total: 2}
	if got := same.View().Text(1000); strings.Contains(got, "\n") {
		t.Errorf("rows that are equal are\n%s", got)
	}
	if got := (reply.List[Pane]{}).View().Text(1000); got != "[0 panes]" {
		t.Errorf("an empty list is %q", got)
	}
}

// TestColumnsHaveTheirTokens: what a column shows must be requested.
func TestColumnsHaveTheirTokens(t *testing.T) {
	t.Parallel()
	checkColumns(t, Pane{})
	checkColumns(t, Window{})
	checkColumns(t, Session{})
	checkColumns(t, Client{})
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
		if row.Name() == "Client" && c.Name == "size" {
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
