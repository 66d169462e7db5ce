package tmux_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// matching returns the panes for which a filter is true.
func matching(t testing.TB, srv *tmux.Server, filter tmux.Format) []tmux.PaneID {
	t.Helper()
	type row struct {
		ID tmux.PaneID `tmux:"pane_id"`
	}
	rows := check.Must[[]row](t)(tmux.List[row](testserver.Context(t), srv, tmux.ListPanes{All: true, Filter: filter}))
	ids := []tmux.PaneID{}
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

// FuzzMatchContent shows the text in one pane of two and looks for it.
func FuzzMatchContent(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	for _, s := range []string{"foo}bar", "l{2}", "E.ror", "[x", "x]", `a\*b`, "a,b#,c}", "#}", "x#{C:nomatch}", "a##b", "#[fg=red]", "UPPER lower"} {
		f.Add(s)
	}
	srv := testserver.Started(f)
	testserver.Run(f, srv, "respawn-pane", "-k", "-t", "%0", "exec sleep 1000") // no prompt
	dir := f.TempDir()
	marker := filepath.Join(dir, "marker")
	f.Add("#(touch " + marker + ")")
	f.Add("}#(touch " + marker + ")")
	shown := filepath.Join(dir, "shown")
	cmd := "stty -echo; while read -r line; do printf '\\033[H\\033[2J'; cat " + shown + "; printf '\\033]2;%s\\033\\\\' \"$line\"; done"
	pane := srv.Pane(tmux.PaneID(testserver.Run(f, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", cmd)))
	serial := 0
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' || unicode.Is(unicode.M, r) }) {
			t.Skip("not what a screen can show")
		}
		text = strings.TrimSpace(text)
		if text == "" || len(text) > 60 {
			t.Skip("nothing to look for, or more than a line")
		}
		check.OK(t, os.WriteFile(shown, []byte("before "+text+" after"), 0o600))
		serial++
		title := "shown " + string(rune('a'+serial%26)) + strings.Repeat("x", serial/26%50)
		check.OK(t, pane.SendLine(testserver.Context(t), title))
		testserver.WaitDisplay(t, pane, "#{pane_title}", title)
		want := []tmux.PaneID{pane.ID}
		for what, filter := range map[string]tmux.Format{
			"text":            tmux.MatchContent(text, tmux.MatchOptions{}),
			"any case":        tmux.MatchContent(text, tmux.MatchOptions{IgnoreCase: true}),
			"glob":            tmux.MatchContent("before "+tmux.Glob(text)+" aft?r", tmux.MatchOptions{Glob: true}),
			"regexp":          tmux.MatchContent("before "+regexp.QuoteMeta(text)+" after", tmux.MatchOptions{Regexp: true}),
			"regexp any case": tmux.MatchContent("BEFORE "+regexp.QuoteMeta(text)+" aft.r", tmux.MatchOptions{Regexp: true, IgnoreCase: true}),
			"and":             tmux.And(tmux.MatchContent(text, tmux.MatchOptions{}), tmux.Not(tmux.MatchEqual("pane_id", "%0"))),
		} {
			check.Equal(t, fmt.Sprintf("%s %q: %s", what, text, filter), want, matching(t, srv, filter))
		}
		for what, filter := range map[string]tmux.Format{
			"text":   tmux.MatchContent(text+"!", tmux.MatchOptions{}),
			"glob":   tmux.MatchContent("!"+tmux.Glob(text)+"*", tmux.MatchOptions{Glob: true}),
			"regexp": tmux.MatchContent("!"+regexp.QuoteMeta(text), tmux.MatchOptions{Regexp: true}),
		} {
			if got := matching(t, srv, filter); len(got) > 0 {
				t.Errorf("%s that is not there, %q: %s matches %v", what, text, filter, got)
			}
		}
		check.Absent(t, marker)
	})
}

// FuzzMatchToken looks for a pane by the value of one of its options.
func FuzzMatchToken(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	srv := testserver.Started(f)
	testserver.Run(f, srv, "new-window", "-d")
	pane := srv.Pane("%1")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
			t.Skip("no text")
		}
		ctx := testserver.Context(t)
		check.OK(t, pane.Options().Set(ctx, "@v", text))
		check.OK(t, srv.Pane("%0").Options().Set(ctx, "@v", text+"!"))
		for what, filter := range map[string]tmux.Format{
			"equal":   tmux.MatchEqual("@v", text),
			"text":    tmux.MatchToken("@v", text, tmux.MatchOptions{}),
			"glob":    tmux.MatchToken("@v", tmux.Glob(text), tmux.MatchOptions{Glob: true}),
			"not":     tmux.Not(tmux.MatchEqual("@v", text+"!")),
			"or":      tmux.Or(tmux.MatchEqual("@v", text), tmux.MatchEqual("@v", "x!y")),
			"and all": tmux.And(tmux.MatchEqual("@v", text), tmux.MatchEqual("pane_id", "%1"), tmux.Not(tmux.Or())),
		} {
			check.Equal(t, fmt.Sprintf("%s %q: %s", what, text, filter), []tmux.PaneID{"%1"}, matching(t, srv, filter))
		}
	})
}

func TestMatchContentLimits(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	pane := testserver.Drawn(t, srv, `i=0; while [ $i -lt 60 ]; do echo "old $i."; i=$((i+1)); done; echo Visible; printf ready`)
	testserver.WaitScreen(t, srv, string(pane.ID), "ready")
	for _, test := range []struct {
		filter tmux.Format
		want   []tmux.PaneID
	}{
		{tmux.MatchContent("old 1.", tmux.MatchOptions{}), nil}, // in the history
		{tmux.MatchContent("visible", tmux.MatchOptions{}), nil},
		{tmux.MatchContent("visible", tmux.MatchOptions{IgnoreCase: true}), []tmux.PaneID{pane.ID}},
		{tmux.MatchContent("^Visible$", tmux.MatchOptions{Regexp: true}), []tmux.PaneID{pane.ID}},
		{tmux.MatchContent("o{2}", tmux.MatchOptions{Regexp: true}), nil},
		{tmux.MatchContent("[0-9]{2}[.]", tmux.MatchOptions{Regexp: true}), []tmux.PaneID{pane.ID}},
		{tmux.MatchContent("(", tmux.MatchOptions{Regexp: true}), nil},
		{tmux.MatchContent("", tmux.MatchOptions{}), []tmux.PaneID{"%0", pane.ID}},
	} {
		if got := matching(t, srv, test.filter); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.filter, got, test.want)
		}
	}
}

func TestMatchOneOf(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	for range 12 {
		testserver.Run(t, srv, "new-window", "-d")
	}
	many := make([]tmux.PaneID, 3000)
	for i := range many {
		many[i] = tmux.PaneID(fmt.Sprint("%", i+11))
	}
	for _, test := range []struct {
		filter tmux.Format
		want   []tmux.PaneID
	}{
		{tmux.MatchOneOf("pane_id", tmux.PaneID("%1"), "%12", "%99"), []tmux.PaneID{"%1", "%12"}},
		{tmux.MatchOneOf("window_index", 3), []tmux.PaneID{"%3"}},
		{tmux.MatchOneOf("pane_id", many...), []tmux.PaneID{"%11", "%12"}},
		{tmux.MatchOneOf[int]("window_index"), nil},
		{tmux.And(tmux.MatchToken("session_name", "MAI*", tmux.MatchOptions{Glob: true, IgnoreCase: true}), "#{==:#{pane_id},%3}"), []tmux.PaneID{"%3"}},
		{tmux.And(tmux.MatchOneOf("window_index", 1, 2), tmux.Not(tmux.MatchOneOf("pane_id", tmux.PaneID("%1")))), []tmux.PaneID{"%2"}},
	} {
		if got := matching(t, srv, test.filter); !slices.Equal(got, test.want) {
			t.Errorf("%.80s: %v, want %v", test.filter, got, test.want)
		}
	}
}
