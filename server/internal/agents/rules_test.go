package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"tmuxmcp/internal/test/testserver"
)

// box is the least that rules need besides names.
const box = "[box]\nframes = [{ bottom = '^-' }]\nfirst = '^> (?P<text>.*)'\n"

// writeRules writes rules that only this user can write.
func writeRules(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestFaults: what is wrong with a file is said with its line.
func TestFaults(t *testing.T) {
	t.Parallel()
	const head = "names = ['mine']\n"
	for _, c := range []struct{ text, want string }{
		{head + box, ""},
		{"packages = ['mine']\n" + box, ""},
		{head + "[[dialogs]]\nend = 'x'\nside = '(?P<label>x)'\n" + box, ""},
		{head + "names = ['b']\n" + box, ":2: key names is already defined"},
		{head + "[box\n", ":2: "},
		{head + "\nnmaes = 1\n" + box, ":3: unknown key nmaes"},
		{head + box + "frist = 1\nmroe = 2\n", ":5: unknown key box.frist\n:6: unknown key box.mroe"},
		{"names = 'mine'\n" + box, ":1: names: cannot be a TOML string"},
		{head + box + "more = '('\n", ":5: box.more: missing closing )"},
		{head + box + "more = '^(.*)$'\n", ":5: box.more: want the group (?P<text>…)"},
		{head + box + "more = '^(?P<text>.{1000}){9}$'\n", ":5: box.more: invalid repeat count"},
		{head + box + "more = '^(?P<text>.{600}.{600})$'\n", ":5: box.more: its repeat counts make it larger than 1000 steps; repeat less, or use * or +"},
		{head + "[box]\nframes = [\n{ bottom = 'x' },\n{ bottom = '[' },\n]\nfirst = '(?P<text>)'\n", ":5: box.frames: missing closing ]"},
		{head + "[box]\nframes = [{ bottom = 'x', inner = -1 }]\nfirst = '(?P<text>)'\n", ":3: box.frames: negative integer value -1 cannot be stored in uint8"},
		{head + "[box]\nframes = [{ top = 'x' }]\nfirst = '(?P<text>)'\n", ":3: box.frames: number 1 has no bottom"},
		{head + "[box]\nfirst = '(?P<text>)'\n", ":2: box.frames is missing"},
		{head + "[box]\nfirst = 'x'\n", ":3: box.first: want the group (?P<text>…)"},
		{head, ":1: box.first is missing\n:1: box.frames is missing"},
		{box, ":1: neither names nor packages: no program would be recognized"},
		{"\nnames = ['mine.js']\n" + box, `:2: names: no program has the name "mine.js"; want "mine"`},
		{"names = ['']\n" + box, `:1: names: no program has the name ""; want "."`},
		{head + "packages = ['']\n" + box, ":2: packages: an empty one would be every program"},
		{head + box + "[[dialogs]]\nend = 'x'\n", ":5: dialogs: want either choice or side"},
		{head + box + "[[dialogs]]\nend = 'x'\nside = '(?P<label>x)'\n[[dialogs]] # 2\nside = '(?P<label>x)'\n", ":8: dialogs.end is missing"},
		{head + box + "[[dialogs]]\nend = 'x'\nside = 'x'\n", ":7: dialogs.side: want the group (?P<label>…)"},
		{head + box + "[[dialogs]]\nend = 'x'\nchoice = '(?P<key>1)'\n", ":7: dialogs.choice: want the group (?P<label>…)"},
		{head + box + "[[dialogs]]\nend = 'x'\nchoice = '(?P<key>1)(?P<mark>1)(?P<label>1)'\n", ":7: dialogs.choice: want only one of the groups (?P<key>…), of a key that chooses, and (?P<mark>…), of what marks the current choice"},
		{head + box + "[[refused]]\ntext = 'x'\n", ":5: refused: want text and why"},
		{head + box + "[[changes]]\nnote = 'x'\n", ":5: changes: want text and note"},
		{head + box + strings.Repeat("[[changes]]\nnote = 'x'\ntext = 'x'\n", 31), ":5: changes: there are more than 30"},
	} {
		r, faults := parse("/d/mine.toml", []byte(c.text))
		var got []string
		for _, f := range faults {
			got = append(got, strings.TrimPrefix(f.Error(), "/d/mine.toml"))
		}
		if text := strings.Join(got, "\n"); text != c.want && (c.want != ":2: " || !strings.HasPrefix(text, c.want)) || (r == nil) != (faults != nil) {
			t.Errorf("%s\nis %q, want %q", c.text, text, c.want)
		}
	}
	for _, name := range []string{"a b.toml", "ä.toml", strings.Repeat("a", 33) + ".toml"} {
		if _, faults := parse(name, []byte(head+box)); faults == nil {
			t.Errorf("%s is an agent", name)
		}
	}
}

// TestLoad: the user's files come first and replace built-in rules; one with a fault, or that
// someone else may write, is left out.
func TestLoad(t *testing.T) {
	t.Parallel()
	if known, faults := Load(""); len(known) != len(BuiltIn()) || faults != nil {
		t.Errorf("without a directory: %v %v", known.Names(), faults)
	}
	dir := t.TempDir()
	if known, faults := Load(filepath.Join(dir, "none")); len(known) != len(BuiltIn()) || faults != nil {
		t.Errorf("a directory that does not exist: %v %v", known.Names(), faults)
	}
	writeRules(t, dir, "mine.toml", "names = ['mine', 'codex']\n"+box)
	writeRules(t, dir, "claude.toml", "names = ['claude']\n"+box)
	writeRules(t, dir, "gemini.toml", "names = ['gemini']\n")
	writeRules(t, dir, ".#mine.toml", "(")
	writeRules(t, dir, "notes", "(")
	writeRules(t, dir, "large.toml", "names = ['large']\n"+box+strings.Repeat("#", 64<<10))
	writable := writeRules(t, dir, "writable.toml", "names = ['writable']\n"+box)
	if err := os.Chmod(writable, 0o620); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.toml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("mine.toml", filepath.Join(dir, "link.toml")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"large.toml":    "is larger than 65536 bytes",
		"pipe.toml":     "is not a regular file",
		"writable.toml": "others may write to it (mode 0620): chmod go-w makes it yours",
		"gemini.toml":   "1: box.first is missing; the built-in rules stay\n1: box.frames is missing",
	}
	if os.Geteuid() == 0 {
		foreign := writeRules(t, dir, "foreign.toml", "names = ['foreign']\n"+box)
		if err := os.Chown(foreign, testserver.OtherUser, -1); err != nil {
			t.Fatal(err)
		}
		want["foreign.toml"] = "belongs to another user"
	}
	known, faults := Load(dir)
	got := map[string]string{}
	for _, f := range faults {
		name, text, _ := strings.Cut(strings.TrimPrefix(f.Error(), dir+"/"), ":")
		got[name] = strings.TrimPrefix(got[name]+"\n"+strings.TrimSpace(text), "\n")
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %q, want %q", name, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("faults: %q", got)
	}
	for words, name := range map[string]string{"claude": "claude", "codex": "mine", "gemini": "gemini", "mine": "mine", "writable": "", "foreign": ""} {
		if r, _ := known.Recognize("/bin/"+words, nil); r == nil && name != "" || r != nil && (r.Name != name && r.Name != "link") {
			t.Errorf("%s is %+v, want %s", words, r, name)
		}
	}
	i := slices.IndexFunc(known, func(r *Rules) bool { return r.Name == "claude" })
	if r := known[i]; !r.Replaces || r.File != filepath.Join(dir, "claude.toml") || len(known) != len(BuiltIn())+2 {
		t.Errorf("claude is of %s, replaces %v; known are %v", r.File, r.Replaces, known.Names())
	}
}

// TestLoadOthersDirectory: rules are read from no place where someone else could put them.
func TestLoadOthersDirectory(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, open := filepath.Join(top, "rules"), filepath.Join(top, "open")
	for _, d := range []string{dir, open} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	loads := func(want string) {
		t.Helper()
		known, faults := Load(dir)
		if want == "" && (faults != nil || len(known) != len(BuiltIn())+1) || want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Error(), want) || len(known) != len(BuiltIn())) {
			t.Errorf("%v %v, want %q", known.Names(), faults, want)
		}
	}
	if err := os.Symlink(writeRules(t, open, "theirs.toml", "names = ['mine']\n"+box), filepath.Join(dir, "mine.toml")); err != nil {
		t.Fatal(err)
	}
	loads("")
	chmod(open, 0o777)
	loads("mine.toml: " + open + " can be changed by other users (mode 0777, not sticky): chmod go-w makes it yours")
	chmod(open, 0o700)
	chmod(dir, 0o770)
	loads("rules: " + dir + " can be changed by other users (mode 0770")
	chmod(dir, 0o700)
	chmod(top, 0o777)
	loads(dir + ": " + top + " can be changed by other users")
}

// TestLoadBoundsFiles: only so many files are read, however many faults they have.
func TestLoadBoundsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRules(t, dir, "0.toml", "names = ['a']\n"+box+strings.Repeat("[[refused]]\n", 120))
	for i := range mostFiles + 20 {
		writeRules(t, dir, fmt.Sprintf("z%d.toml", i), "names = ['a']\n"+box)
	}
	known, faults := Load(dir)
	if own := len(known) - len(BuiltIn()); own != mostFiles-1 {
		t.Errorf("%d files of rules", own)
	}
	if last := faults[len(faults)-1]; last.File != dir || last.Text != "has more than 100 files; the others are not read" || len(faults) < 100 {
		t.Errorf("%d faults, the last is %v", len(faults), last)
	}
}

// TestLoadFinder: a finder has the agents that Load returns. Built-in ones have only what they
// are recognized by, and are read whole when they are.
func TestLoadFinder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRules(t, dir, "claude.toml", "names = ['claude']\n"+box)
	writeRules(t, dir, "gemini.toml", "names = ['gemini']\n")
	f, faults := LoadFinder(dir)
	all, wrong := Load(dir)
	if !reflect.DeepEqual(faults, wrong) || len(wrong) != 2 || len(f.Rules()) != len(all) {
		t.Fatalf("%v %v, want %v %v", f.Rules().Names(), faults, all.Names(), wrong)
	}
	for i, known := range f.Rules() {
		want := all[i]
		if known.Name != want.Name || !slices.Equal(known.Names, want.Names) || !slices.Equal(known.Packages, want.Packages) {
			t.Errorf("%d is %s %q %q, want %s %q %q", i, known.Name, known.Names, known.Packages, want.Name, want.Names, want.Packages)
		}
		r, _ := f.Rules().Recognize("/bin/"+want.Names[0], nil)
		if want.File == "" && (r != want || known.Box.Frames != nil) || want.File != "" && r != known {
			t.Errorf("%s is recognized as %s of %q, with %d frames", want.Names[0], r.Name, r.File, len(r.Box.Frames))
		}
	}
}

// FuzzRules: whatever a user's rules are, they are rejected or can be used with any screen.
func FuzzRules(f *testing.F) {
	for _, r := range BuiltIn() {
		f.Add(string(r.Source), "────────────\n❯ a\n b\n────────────\n", uint8(2), uint8(1))
	}
	f.Add("names = ['a']\n"+box, "> a\n-", uint8(2), uint8(0))
	f.Add("names = ['a']\n"+box+"[[dialogs]]\nend = ''\nside = '(?P<label>)'", "", uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, text, screen string, x, y uint8) {
		r, faults := parse("mine.toml", []byte(text))
		if (r == nil) != (faults != nil) {
			t.Fatalf("%v %v", r, faults)
		}
		if r != nil {
			v := View{Program: Program{Rules: r}, Rows: strings.Split(screen, "\n"), X: int(x), Y: int(y)}
			if s, explained := Classify(v), classify(v, &trace{}); !reflect.DeepEqual(s, explained) {
				t.Fatalf("%+v, explained as %+v", s, explained)
			}
		}
	})
}
