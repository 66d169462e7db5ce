package agents

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// screens returns real screens of real programs, testdata/NAME-WHAT.screen: what tmux capture-pane -p
// prints, below a line "---". Above it are "agent: NAME" of its rules, "version: ", and the pane's
// "title: " and "cursor: X,Y"; -update adds what the screen shows.
func screens(t *testing.T) map[string]struct {
	View
	want string
} {
	t.Helper()
	files, err := filepath.Glob("testdata/*.screen")
	if err != nil || len(files) == 0 {
		t.Fatal("no screens: ", err)
	}
	all := map[string]struct {
		View
		want string
	}{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, screen, ok := strings.Cut(string(text), "---\n")
		if !ok {
			t.Fatalf("%s has no screen", file)
		}
		s := all[file]
		for line := range strings.Lines(head) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "agent":
				s.Name, s.Rules = value, rulesOf(t, value)
			case "version":
				s.Version = value
			case "title":
				s.Title = value
			case "cursor":
				fmt.Sscanf(value, "%d,%d", &s.X, &s.Y)
			case "shows":
				s.want += value + "\n"
			}
		}
		s.Rows = strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
		all[file] = s
	}
	return all
}

func rulesOf(t *testing.T, name string) *Rules {
	t.Helper()
	for _, r := range BuiltIn() {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("%s has no rules", name)
	return nil
}

var update = flag.Bool("update", false, "write down what the screens show; look at the difference")

func rewrite(t *testing.T, file, shows string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, screen, _ := strings.Cut(string(text), "---\n")
	var lines string
	for line := range strings.Lines(head) {
		if !strings.HasPrefix(line, "shows: ") {
			lines += line
		}
	}
	for line := range strings.Lines(shows) {
		lines += "shows: " + line
	}
	if err := os.WriteFile(file, []byte(lines+"---\n"+screen), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s Status) lines() string {
	text := string(s.State) + "\n"
	if s.Box != nil && s.Box.Text != "" {
		text += fmt.Sprintf("box %q\n", s.Box.Text)
	}
	if s.Question != "" {
		text += fmt.Sprintf("question %q\n", s.Question)
	}
	for _, c := range s.Choices {
		text += fmt.Sprintf("choice %s: %s\n", strings.Join(c.Keys, " "), c.Label)
	}
	return text
}

func TestClassify(t *testing.T) {
	for file, s := range screens(t) {
		got := Classify(s.View).lines()
		if explained := classify(s.View, &trace{}).lines(); explained != got {
			t.Errorf("%s shows\n%sexplained as\n%s", file, got, explained)
		}
		if *update {
			rewrite(t, file, got)
		} else if got != s.want {
			t.Errorf("%s shows\n%snot\n%s", file, got, s.want)
		}
	}
}

// TestEachAgentHasScreens: of each state, and of a text in the box, there is a screen of each agent.
func TestEachAgentHasScreens(t *testing.T) {
	shown := map[string]bool{}
	for _, s := range screens(t) {
		state, more, _ := strings.Cut(s.want, "\n")
		shown[s.Name+" "+state] = true
		if strings.HasPrefix(more, "box ") {
			shown[s.Name+" typed"] = true
		}
	}
	for _, r := range BuiltIn() {
		for _, want := range []string{"idle", "typed", "working", "asks"} {
			if !shown[r.Name+" "+want] {
				t.Errorf("no screen in testdata shows %s %s: see the comment of screens", r.Name, want)
			}
		}
	}
}

// A box in the middle of a tall screen is found, however many blank rows are below it.
func TestTallScreen(t *testing.T) {
	s := screens(t)["testdata/opencode-start.screen"]
	end := slices.IndexFunc(s.Rows, func(row string) bool { return strings.HasPrefix(row, "  ~") })
	s.Rows = slices.Insert(s.Rows, end, make([]string, 40)...)
	if got := Classify(s.View).lines(); got != s.want {
		t.Errorf("it shows %s", got)
	}
}

// The pieces of a prompt are within the program's limits, and together the prompt.
func TestPieces(t *testing.T) {
	r := rulesOf(t, "crush")
	for _, text := range []string{"short", strings.Repeat("\n", 25), strings.Repeat("日本語 ", 1000), strings.Repeat("a line\n", 10), strings.Repeat("long", 251)} {
		pieces := r.Pieces(text)
		if got := strings.Join(pieces, ""); got != text || len(pieces) > 1+len(text)/990+strings.Count(text, "\n")/9 {
			t.Errorf("%.20q: %d pieces, together %.20q", text, len(pieces), got)
		}
		for _, p := range pieces {
			if len(p) > r.Most.Bytes || strings.Count(p, "\n") >= r.Most.Lines || !utf8.ValidString(p) {
				t.Errorf("%.20q: a piece of %d bytes, %d newlines", text, len(p), strings.Count(p, "\n"))
			}
		}
	}
	if got := rulesOf(t, "pi").Pieces(strings.Repeat("x\n", 5000)); len(got) != 1 {
		t.Errorf("%d pieces for pi", len(got))
	}
}

// Whatever a screen shows, and wherever the cursor is, classifying it terminates, and the
// result fits the state.
func FuzzClassify(f *testing.F) {
	files, err := filepath.Glob("testdata/*.screen")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, screen, _ := strings.Cut(string(text), "---\n")
		f.Add(screen, "title", uint8(2), uint8(7))
	}
	f.Add("", "", uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, screen, title string, x, y uint8) {
		for _, r := range BuiltIn() {
			v := View{Program: Program{Name: r.Name, Rules: r}, Title: title, Rows: strings.Split(screen, "\n"), X: int(x), Y: int(y)}
			s := Classify(v)
			switch {
			case s.State == Asks && (len(s.Choices) == 0 || s.Box != nil),
				(s.State == Idle || s.State == Working) && s.Box == nil,
				s.State == Unknown && (s.Box != nil || s.Choices != nil):
				t.Errorf("%s: %+v", r.Name, s)
			}
			if v.Rows = nil; Classify(v).State != Unknown {
				t.Errorf("%s: an empty screen is %+v", r.Name, Classify(v))
			}
		}
	})
}
