package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

// found is an answer of search_panes.
type found struct {
	Matches []struct {
		PaneID      string   `json:"pane_id"`
		WindowName  string   `json:"window_name"`
		SessionName string   `json:"session_name"`
		Lines       []string `json:"matched_lines"`
		Rows        []int    `json:"matched_rows"`
		Context     []struct {
			Row   int    `json:"row"`
			Line  string `json:"line"`
			Match bool   `json:"match"`
		} `json:"context"`
		IsCaller *bool `json:"is_caller"`
	} `json:"matches"`
	Truncated      bool     `json:"truncated"`
	TruncatedPanes []string `json:"truncated_panes"`
	Total          int      `json:"total_panes_matched"`
	Offset         int      `json:"offset"`
	Limit          *int     `json:"limit"`
}

// lines are the panes and their lines.
func (f found) lines() string {
	var all []string
	for _, m := range f.Matches {
		all = append(all, m.PaneID+" "+strings.Join(m.Lines, "|"))
	}
	return strings.Join(all, "; ")
}

func search(p *peer, pattern, more string) found {
	p.t.Helper()
	quoted, err := json.Marshal(pattern)
	if err != nil {
		p.t.Fatal(err)
	}
	return ok[found](p, "search_panes", `{"pattern":`+string(quoted)+more+`}`)
}

func TestSearchFindsWhatShows(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	a := newScreen(t, srv, "a", 60, 8)
	tmuxtest.Run(t, srv, "rename-window", "-t", a.pane, "first")
	b := newScreen(t, srv, "b", 60, 8)
	tmuxtest.Run(t, srv, "new-session", "-d", "-s", "peer", "-t", "=a") // its panes are still one each
	a.print("Hello World\nhost 192.168.1.1 up\nhost 192x168y1z1 no\n100% {done} #S #{pane_id} a,b\\c\n")
	b.print("hello there\n\terror: [x] (y) *z* a?b\nWorld  \n")
	p := serve(t, configFor(srv))
	A, B := a.pane, b.pane
	for _, c := range []struct{ pattern, more, want string }{
		{"hello", ``, A + " Hello World; " + B + " hello there"},
		{"hello", `,"match_case":true`, B + " hello there"},
		{"Hello", `,"match_case":true`, A + " Hello World"},
		{"HELLO W", ``, A + " Hello World"},
		{"hello", `,"session_name":"b"`, B + " hello there"},
		{"hello", `,"session_id":"$0"`, A + " Hello World"},
		{"hello", `,"session_name":"peer"`, A + " Hello World"},
		{"nothing such", ``, ""},
		{"192.168.1.1", ``, A + " host 192.168.1.1 up"},
		{"192.168.1.1", `,"regex":true`, A + " host 192.168.1.1 up|host 192x168y1z1 no"},
		{`h[eo]\w+\s`, `,"regex":true`, A + " Hello World|host 192.168.1.1 up|host 192x168y1z1 no; " + B + " hello there"},
		{"^world$", `,"regex":true`, B + " World"},
		{"^World$", `,"regex":true,"match_case":true`, B + " World"},
		{"world", `,"regex":"true"`, A + " Hello World; " + B + " World"},
		{"{done}", ``, A + ` 100% {done} #S #{pane_id} a,b\c`},
		{"}", ``, A + ` 100% {done} #S #{pane_id} a,b\c`},
		{"#S", ``, A + ` 100% {done} #S #{pane_id} a,b\c`},
		{"##S", ``, ""},
		{"#{pane_id}", ``, A + ` 100% {done} #S #{pane_id} a,b\c`},
		{`,b\c`, ``, A + ` 100% {done} #S #{pane_id} a,b\c`},
		{"100%", ``, A + ` 100% {done} #S #{pane_id} a,b\c`},
		{"*z*", ``, B + " " + tabbed(t, "error: [x] (y) *z* a?b")},
		{"e*d", ``, ""}, {"hell?", ``, ""}, {"[x]", ``, B + " " + tabbed(t, "error: [x] (y) *z* a?b")},
		{"world ", ``, A + " Hello World; " + B + " World"}, // as the end of a line
	} {
		for _, path := range []string{"", `,"content_start":0`} {
			if got := search(p, c.pattern, c.more+path).lines(); got != c.want {
				t.Errorf("search for %q%s%s:\n%s\nwant\n%s", c.pattern, c.more, path, got, c.want)
			}
		}
	}
	m := search(p, "hello", "").Matches[0]
	if m.SessionName != "a" || m.WindowName != "first" || m.IsCaller != nil {
		t.Errorf("the pane is reported as %+v", m)
	}
	p.fails("search_panes", `{"pattern":"a(","regex":true}`, "invalid regex pattern", "missing closing )")
	p.fails("search_panes", `{"pattern":""}`, "empty pattern")
	p.fails("search_panes", `{"pattern":"x","session_name":"none"}`, "Object not found: session none")
	p.fails("search_panes", `{"pattern":"x","limit":0}`, "limit must be at least 1")
	p.fails("search_panes", `{"pattern":"x","max_matched_lines_per_pane":0}`, "max_matched_lines_per_pane must be at least 1")
}

// tabbed is a line with a tab before it as tmux prints it.
func tabbed(t testing.TB, text string) string {
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "tab", 40, 4)
	s.print("\tx")
	line := strings.TrimRight(tmuxtest.Run(t, srv, "capture-pane", "-p", "-J", "-t", s.pane, "-E", "0"), " ")
	return strings.TrimSuffix(line, "x") + text
}

func TestSearchFindsWhatIsWrapped(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	for i, width := range []int{20, 45, 60} {
		s := newScreen(t, srv, fmt.Sprint("w", i), width, 10)
		s.print(strings.Repeat("-", width-4) + "needle in a line that goes on\nsecond\n")
	}
	p := serve(t, configFor(srv))
	for _, pattern := range []string{"needle", "-need", "le in a", "needle in a line that goes on", "e"} {
		for _, path := range []string{"", `,"content_start":0`, `,"regex":true`} {
			got := search(p, pattern, path)
			if got.Total != 3 {
				t.Errorf("%q%s is found in %d panes, want 3: %s", pattern, path, got.Total, got.lines())
			}
		}
	}
	if got := search(p, "needle in a line that goes on$", `,"regex":true,"session_name":"w1"`).Matches[0].Lines; len(got) != 1 || len(got[0]) != 45-4+29 {
		t.Errorf("the wrapped line is reported as %q", got)
	}
}

func TestSearchInHistory(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	s := newScreen(t, srv, "a", 40, 6)
	s.print(numbered(50))
	p := serve(t, configFor(srv))
	for more, want := range map[string]string{
		"": "", `,"content_start":-1000`: s.pane + " line 7", `,"content_start":-38`: "", `,"content_start":"-1000","content_end":-39`: s.pane + " line 7", `,"content_end":-1`: "",
	} {
		if got := search(p, "line 7", more).lines(); got != want {
			t.Errorf("search%s: %q, want %q", more, got, want)
		}
	}
	got := search(p, "line", `,"content_start":-1000,"max_matched_lines_per_pane":3`)
	if want := s.pane + " line 48|line 49|line 50"; got.lines() != want || !got.Truncated || len(got.TruncatedPanes) != 0 {
		t.Errorf("three lines: %s, truncated %t", got.lines(), got.Truncated)
	}
	if got := search(p, "line", `,"content_start":-1000`); len(got.Matches[0].Lines) != 50 || got.Truncated {
		t.Errorf("%d lines, truncated %t", len(got.Matches[0].Lines), got.Truncated)
	}
}

func TestSearchPagesThroughPanes(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	var ids []string
	for i := range 4 {
		args := []string{"-d", "-P", "-F", "#{pane_id}", "-x", "100", "-y", "50", "echo token; exec cat"}
		id := tmuxtest.Run(t, srv, "new-session", append([]string{"-s", fmt.Sprint("z", 9-i)}, args...)...)
		ids = append(ids, id)
		for range 2 {
			id = tmuxtest.Run(t, srv, "split-window", "-t", id, "-d", "-P", "-F", "#{pane_id}", "echo token; exec cat")
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		tmuxtest.WaitScreen(t, srv, id, "token")
	}
	p := serve(t, configFor(srv))
	all := search(p, "token", "")
	var order []string
	for _, m := range all.Matches {
		order = append(order, m.PaneID)
	}
	if want := []string{"%0", "%1", "%2", "%3", "%4", "%5", "%6", "%7", "%8", "%9", "%10", "%11"}; !slices.Equal(order, want) || all.Total != 12 || all.Truncated || *all.Limit != 500 {
		t.Errorf("%d panes, truncated %t, in the order %v", all.Total, all.Truncated, order)
	}
	var paged []string
	for offset := 0; offset < 12; offset += 5 {
		got := search(p, "token", fmt.Sprintf(`,"limit":5,"offset":%d`, offset))
		for _, m := range got.Matches {
			paged = append(paged, m.PaneID)
		}
		if rest := order[min(12, offset+5):]; got.Total != 12 || got.Truncated != (len(rest) > 0) || !slices.Equal(got.TruncatedPanes, rest) || got.Offset != offset || *got.Limit != 5 {
			t.Errorf("page at %d: %+v; left are %v", offset, got, rest)
		}
	}
	if !slices.Equal(paged, order) {
		t.Errorf("the pages hold %v", paged)
	}
	if got := search(p, "token", `,"limit":null`); len(got.Matches) != 12 || got.Offset != 0 || got.Limit != nil {
		t.Errorf("without limit: %d panes, offset %d, limit %v", len(got.Matches), got.Offset, got.Limit)
	}
	p.fails("search_panes", `{"pattern":"token","offset":-3}`, "offset must be at least 0")
	if got := search(p, "token", `,"offset":99`); len(got.Matches) != 0 || got.Total != 12 {
		t.Errorf("beyond the end: %+v", got)
	}
}

func TestSearchTellsTheCaller(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	a, b := newScreen(t, srv, "a", 40, 6), newScreen(t, srv, "b", 40, 6)
	a.print("token\n")
	b.print("token\n")
	cfg := configFor(srv)
	for socket, want := range map[string][2]bool{srv.SocketPath(): {true, false}, "": {}} {
		cfg.Caller = server.Caller{Pane: "%0", Socket: socket}
		got := search(serve(t, cfg), "token", "").Matches
		if *got[0].IsCaller != want[0] || *got[1].IsCaller != want[1] {
			t.Errorf("caller on %q: is_caller %t and %t, want %v", socket, *got[0].IsCaller, *got[1].IsCaller, want)
		}
	}
}

// Whether tmux narrows the panes down first or all are captured, the answer is
// the same, and no pattern runs anything.
func TestSearchIsTheSameOnBothPaths(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	mark := filepath.Join(t.TempDir(), "mark")
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "B", "err", "Error", "#", "#S", "##", "#{", "}", "#{pane_id}", "#(touch " + mark + ")", ",", "*", "?", "[", "]", "\\", "%H", "%", " ", "  ", ":", ";", "|", "$", "^", "x;", "ſ", "K", "ß", "é", "k", "S", "~", "-l", "\t", "'", "\"", "0", "1"}
	text := func(n int) string {
		var b strings.Builder
		for range 1 + r.IntN(n) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	for i, width := range []int{12, 42, 60, 80} {
		s := newScreen(t, srv, fmt.Sprint(i), width, 12)
		for range 5 {
			s.print(text(30) + "\n")
		}
	}
	p := serve(t, configFor(srv))
	matched := 0
	for range testtool.Size(40, 160) {
		pattern := text(4)
		if r.IntN(2) == 0 {
			// What is there: any piece of a line.
			lines := search(p, ".", `,"regex":true,"content_start":0`)
			l := lines.Matches[r.IntN(len(lines.Matches))].Lines
			line := []rune(l[r.IntN(len(l))])
			from := r.IntN(len(line))
			pattern = string(line[from:min(len(line), from+1+r.IntN(12))])
		}
		more := fmt.Sprintf(`,"match_case":%t`, r.IntN(2) == 0)
		fast, slow := search(p, pattern, more), search(p, pattern, more+`,"content_start":0`)
		if diff := cmp.Diff(slow.lines(), fast.lines()); diff != "" {
			t.Errorf("%q%s is found otherwise where tmux looks first (-slow +fast):\n%s", pattern, more, diff)
		}
		matched += slow.Total
	}
	if matched < 30 {
		t.Errorf("only %d matches: the test tries nothing", matched)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a pattern ran a shell command")
	}
}

func TestSearchWhilePanesEnd(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "keep")
	s := newScreen(t, srv, "a", 40, 6)
	s.print("token\n")
	p := serve(t, configFor(srv))
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Panes that are gone as soon as they are listed.
			tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=keep:", "echo token")
		}
	}()
	for range 25 {
		if got := search(p, "token", `,"content_start":0`); !strings.Contains(got.lines(), s.pane+" token") {
			t.Errorf("the lasting pane is not found: %s", got.lines())
		}
	}
	close(stop)
	<-done
}

// TestSearchRowsAreThoseOfCapture: what is found in a row is what capture_pane has
// there, however lines are wrapped, in the history and on the screen.
func TestSearchRowsAreThoseOfCapture(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	r := rand.New(rand.NewPCG(3, 4))
	var screens []*screen
	for i, width := range []int{10, 21, 60} {
		s := newScreen(t, srv, fmt.Sprint(i), width, 7)
		for range testtool.Size(25, 75) {
			var line strings.Builder
			for range r.IntN(30) {
				line.WriteString([]string{"a", "b ", "token", "\u5b57", "  ", "\t", "e\u0301", "\u001b[31mc", "\u001b[K"}[r.IntN(9)])
			}
			s.print(line.String() + "\n")
		}
		screens = append(screens, s)
	}
	screens[1].print("\u001b[3;1Htoken" + strings.Repeat("x", 30) + "\u001b[4;1H\u001b[K\u001b[7;1H")
	p := serve(t, configFor(srv))
	checked := 0
	check := func(more string) {
		t.Helper()
		got := search(p, "token", more)
		for _, m := range got.Matches {
			if len(m.Rows) != len(m.Lines) {
				t.Fatalf("%d rows of %d lines", len(m.Rows), len(m.Lines))
			}
			for i, row := range m.Rows {
				there := ok[map[string]any](p, "capture_pane", args(t, "pane_id", m.PaneID, "start", row, "end", row))["result"].(string)
				if !strings.HasPrefix(m.Lines[i], there) || there == "" && !strings.HasPrefix(m.Lines[i], " ") {
					t.Errorf("search%s in %s: row %d has %q, and is given for %q", more, m.PaneID, row, there, m.Lines[i])
				}
				checked++
			}
		}
	}
	ranges := []string{"", `,"content_start":-1000`, `,"content_start":-100000`, `,"content_start":-20,"content_end":-3`, `,"content_start":3`, `,"content_end":2`, `,"content_end":-2`, `,"content_start":-50,"content_end":99`, `,"content_start":99`, `,"content_start":4,"content_end":1`}
	for _, more := range ranges {
		check(more)
		check(more + `,"regex":true,"context":2`)
	}
	for _, id := range []string{"@0", "@2"} {
		tmuxtest.Run(t, srv, "resize-window", "-t", id, "-x", "33", "-y", "9")
	}
	for _, more := range ranges {
		check(more)
	}
	if checked < 500 {
		t.Errorf("only %d lines were checked", checked)
	}
}

func TestSearchWithContext(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	a, b := newScreen(t, srv, "a", 40, 10), newScreen(t, srv, "b", 40, 10)
	a.print(numbered(30))
	b.print("one\ntwo\nline 9 needle\n")
	other := tmuxtest.Run(t, srv, "split-window", "-t", b.pane, "-d", "-P", "-F", "#{pane_id}", "echo line 9 needle; exec cat")
	tmuxtest.WaitScreen(t, srv, other, "needle")
	tmuxtest.Run(t, srv, "new-window", "-d", "-t", "=b:", "cat")
	p := serve(t, configFor(srv))
	context := func(f found) string {
		var all []string
		for _, m := range f.Matches {
			for _, l := range m.Context {
				all = append(all, fmt.Sprintf("%d%s%s", l.Row, map[bool]string{true: ":", false: "-"}[l.Match], l.Line))
			}
		}
		return strings.Join(all, "|")
	}
	for _, c := range []struct{ pattern, more, want string }{
		{"line 9", `,"context":1,"pane_id":"` + b.pane + `"`, "1-two|2:line 9 needle"},
		{"line 9$", `,"context":1,"regex":true,"content_start":-100000,"pane_id":"` + a.pane + `"`, "-14-line 8|-13:line 9|-12-line 10"},
		{"line (9|11|20)$", `,"context":1,"regex":true,"content_start":-100000` + `,"window_id":"@0"`, "-14-line 8|-13:line 9|-12-line 10|-11:line 11|-10-line 12|-3-line 19|-2:line 20|-1-line 21"},
		{"line 30", `,"context":3,"session_name":"a"`, "5-line 27|6-line 28|7-line 29|8:line 30"},
		{"one", `,"context":2`, "0:one|1-two|2-line 9 needle"},
		{"one", ``, ""},
	} {
		if got := context(search(p, c.pattern, c.more)); got != c.want {
			t.Errorf("search %q%s: %s, want %s", c.pattern, c.more, got, c.want)
		}
	}
	for more, want := range map[string]string{
		`,"pane_id":"` + b.pane + `"`: b.pane, `,"pane_id":"` + other + `"`: other, `,"window_id":"@1"`: b.pane + " " + other, `,"window_id":"@2"`: "", `,"session_name":"b"`: b.pane + " " + other,
	} {
		for _, path := range []string{"", `,"content_start":0`} {
			var ids []string
			for _, m := range search(p, "needle", more+path).Matches {
				ids = append(ids, m.PaneID)
			}
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("search%s%s finds it in %q, want %q", more, path, got, want)
			}
		}
	}
	p.fails("search_panes", `{"pattern":"x","pane_id":"%99"}`, "Pane not found: %99")
	p.fails("search_panes", `{"pattern":"x","window_id":"@99"}`, "Object not found: window @99")
	p.fails("search_panes", `{"pattern":"x","context":-1}`, "context must be at least 0")
	if got := search(p, "line", `,"context":1,"content_start":-100000,"max_matched_lines_per_pane":2,"pane_id":"`+a.pane+`"`); context(got) != "6:line 28|7:line 29|8:line 30" || !got.Truncated {
		t.Errorf("the last two: %s, truncated %t", context(got), got.Truncated)
	}

	cfg := configFor(srv)
	cfg.Results = server.ResultsText
	read := serve(t, cfg)
	read.reads = true
	want := "[1 pane]\n" + a.pane + " a cat\n-14-line 8\n-13:line 9\n-12-line 10\n--\n-3-line 19\n-2:line 20\n-1-line 21"
	if got := read.tool("search_panes", `{"pattern":"line (9|20)$","regex":true,"context":1,"content_start":-100000,"pane_id":"`+a.pane+`"}`).text(); got != want {
		t.Errorf("as text:\n%s\nwant\n%s", got, want)
	}
	want = "[2 panes]\n" + b.pane + " b cat\t2:line 9 needle\n" + other + " b cat\t0:line 9 needle"
	if got := read.tool("search_panes", `{"pattern":"needle"}`).text(); got != want {
		t.Errorf("as text:\n%s\nwant\n%s", got, want)
	}
}
