package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testtool"
)

func TestWriteUndoesItself(t *testing.T) {
	texts := []string{"", "a", "ab", "aba", "abba", "xaby", "aa", "aaa", "{\"a\": 1}", "{\"a\": \u00e9}", "{\"a\": \u00e8}", strings.Repeat("x", 1000)}
	for _, base := range texts {
		for _, after := range texts {
			w := NewWrite([]byte(base), []byte(after), nil)
			got, ok := w.Undo([]byte(after))
			if !ok || string(got) != base {
				t.Errorf("%q to %q: undone to %q, %v", base, after, got, ok)
			}
			if _, ok := w.Undo([]byte(after + "later")); ok && base != after {
				t.Errorf("%q to %q: undid a text that is another", base, after)
			}
		}
	}
}

func record(dir string) Record {
	in := []string{"mcpServers"}
	return Record{
		Others:  []Reader{{"kiro", "user", filepath.Join(dir, "k")}},
		Already: []Entry{{filepath.Join(dir, "a"), in}, {"$NAME", in}, {"/elsewhere", in}}, Refused: []string{filepath.Join(dir, "r")},
		Seq: 1, Time: time.Now().UTC().Truncate(time.Second), Client: "cursor", Server: "srv", Repo: "/repo",
		Config: filepath.Join(dir, "c"), Target: filepath.Join(dir, "c"),
		Container: []string{"mcpServers"}, Writes: []Write{NewWrite([]byte("\xc3\xa9"), []byte("\xc3\xa8"), map[string]any{"command": "x"})},
	}
}

func TestStateRoundTrip(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	j := Journal{Dir: home, Home: home}
	st, err := j.Load()
	if err != nil || len(st.Records) != 0 {
		t.Fatalf("no state file: %+v, %v", st, err)
	}
	st.Seq, st.Records = 1, []Record{record(j.Dir)}
	st.Files = map[string]File{st.Records[0].Target: {Created: true, Dirs: []string{home}}}
	if err := j.Save(st); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(j.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info, err)
	}
	got, err := j.Load()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(st, got); d != "" {
		t.Error(d)
	}
	// If the home directory is elsewhere next time, so are the paths below it.
	if j.Home = filepath.Join(filepath.Dir(home), "elsewhere"); os.Rename(home, j.Home) != nil {
		t.Fatal("the home was not moved")
	}
	j.Dir = j.Home
	want := record(j.Home)
	moved, err := j.Load()
	if err != nil || moved.Files[want.Target].Dirs[0] != j.Home {
		t.Fatalf("%+v, %v", moved, err)
	}
	want.Time = moved.Records[0].Time
	if d := cmp.Diff(want, moved.Records[0]); d != "" {
		t.Error(d)
	}
	// With the last record the file goes.
	got.Records = nil
	if err := j.Save(got); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(j.Path()); !os.IsNotExist(err) {
		t.Errorf("the state file is still there: %v", err)
	}
}

func TestUnreadableStateSaysWhere(t *testing.T) {
	for name, text := range map[string]string{
		"empty":      "",
		"cut":        `{"version": 1, "records": [`,
		"second":     `{"version": 1} {}`,
		"newer":      `{"version": 4}`,
		"older":      `{"records": []}`,
		"outside":    `{"version": 2, "records": [{"target": "../c", "config": "c", "container": ["a"], "writes": [{}]}]}`,
		"homeless":   `{"version": 3, "records": [{"target": "c", "config": "c", "container": ["a"], "writes": [{}]}]}`,
		"in a home":  `{"version": 3, "homes": [{"home": {"dir": "/h"}, "records": [{"target": "../c", "config": "c", "container": ["a"], "writes": [{}]}]}]}`,
		"no writes":  `{"version": 1, "records": [{"target": "/c", "config": "/c", "container": ["a"]}]}`,
		"start":      `{"version": 2, "records": [{"target": "c", "config": "c", "container": ["a"], "writes": [{"start": 9223372036854775807, "is": "eHh4"}]}]}`,
		"negative":   `{"version": 2, "records": [{"target": "c", "config": "c", "container": ["a"], "writes": [{"start": -1}]}]}`,
		"from":       `{"version": 2, "records": [{"target": "c", "config": "c", "container": ["a"], "undo": {"made": [{}], "from": 2}, "writes": [{}]}]}`,
		"from below": `{"version": 2, "records": [{"target": "c", "config": "c", "container": ["a"], "undo": {"made": [{}], "from": -1}, "writes": [{}]}]}`,
		"no number":  `{"version": 2, "records": [{"target": "c", "config": "c", "container": ["a"], "writes": [{"start": 1e400}]}]}`,
		"seq":        `{"version": 2, "seq": 9223372036854775807}`,
		"twice":      `{"version": 2, "seq": 1, "records": [{"seq": 1, "target": "c", "config": "c", "container": ["a"], "writes": [{}]}, {"seq": 1, "target": "d", "config": "d", "container": ["a"], "writes": [{}]}]}`,
		"other type": `[]`,
	} {
		j := Journal{Dir: t.TempDir()}
		if err := os.WriteFile(j.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := j.Load()
		var se *StateError
		if !errors.As(err, &se) || se.Path != j.Path() || !strings.Contains(err.Error(), j.Path()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	j := Journal{Dir: t.TempDir()}
	if err := os.Mkdir(j.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Load(); err == nil {
		t.Error("a directory was read as state")
	}
}

func TestLockWaitsAndSaysSo(t *testing.T) {
	j := Journal{Dir: filepath.Join(t.TempDir(), "new"), patience: time.Hour}
	lock := func() (unlock func()) {
		t.Helper()
		unlock, err := j.Lock(t.Context(), func(string) { t.Error("it says that it waits, before its time") })
		if err != nil {
			t.Fatal(err)
		}
		return unlock
	}
	unlock := lock()
	reported := make(chan string, 1)
	got := make(chan error, 1)
	go func() {
		impatient := Journal{Dir: j.Dir, patience: time.Millisecond}
		second, err := impatient.Lock(t.Context(), func(path string) { reported <- path })
		if err == nil {
			second()
		}
		got <- err
	}()
	select {
	case path := <-reported:
		if path != filepath.Join(j.Dir, "lock") {
			t.Errorf("reported %s", path)
		}
	case err := <-got:
		t.Fatalf("the lock was given twice: %v", err)
	}
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
	// An interrupted wait ends, and does not keep the lock.
	unlock = lock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Lock(ctx, func(string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	unlock()
	testtool.Eventually(t, "the interrupted wait has let go", func() bool {
		stacks := make([]byte, 1<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "journal.Journal.Lock.func")
	})
	lock()()
}

// TestNothingRecorded: with the last record goes what was made for it, and no process has the
// lock of a directory that is gone.
func TestNothingRecorded(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".local"), 0o700); err != nil {
		t.Fatal(err)
	}
	j := Journal{Dir: filepath.Join(home, ".local/state/mcp-swap"), Home: home}
	lock := func() (unlock func()) {
		t.Helper()
		unlock, err := j.Lock(t.Context(), func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return unlock
	}
	left := func() string {
		t.Helper()
		names, err := filepath.Glob(home + "/.local/*")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(names, " ")
	}
	lock()()
	if left() != "" {
		t.Errorf("left is %s", left())
	}
	unlock := lock()
	if err := j.Save(&State{Version: Version, Records: []Record{{Seq: 1, Target: home + "/config"}}}); err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Stat(j.Path()); err != nil {
		t.Error(err)
	}
	unlock = lock()
	if err := j.Save(&State{Version: Version}); err != nil {
		t.Fatal(err)
	}
	unlock()
	if left() != "" {
		t.Errorf("left is %s", left())
	}
	// Of many that want it at once, one has it at a time, whichever removes it.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				unlock, err := j.Lock(t.Context(), func(string) {})
				if err != nil {
					t.Error(err)
					return
				}
				// What is made here lets a second one that has the lock be seen.
				if err := os.Mkdir(filepath.Join(j.Dir, "held"), 0o700); err != nil {
					t.Errorf("two have the lock: %v", err)
				} else if err := os.Remove(filepath.Join(j.Dir, "held")); err != nil {
					t.Error(err)
				}
				unlock()
			}
		})
	}
	wg.Wait()
	if _, err := os.Stat(j.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state directory: %v", err)
	}
}

// What an older version has recorded relative to a home that it did not name belongs to the
// home that has a file of it, and stays for that one if this is another.
func TestStateWithoutHomes(t *testing.T) {
	dir := t.TempDir()
	mine, other := filepath.Join(dir, "mine"), filepath.Join(dir, "other")
	for _, home := range []string{mine, other} {
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	state := `{"version": 2, "seq": 1, "records": [{"seq": 1, "config": "c", "target": "c", "container": ["a"], "server": "srv",
		"backup": "c.bak", "before_sha256": "` + Hash([]byte("old")) + `", "writes": [{}]}], "files": {"c": {"meta": {"mode": 384}}}}`
	for name, text := range map[string]string{"state.json": state, "mine/c.bak": "old", "other/c.bak": "another"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, home := range []string{other, mine, other} {
		j := Journal{Dir: dir, Home: home}
		st, err := j.Load()
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(home, "c")
		if _, ok := st.Files[target]; ok != (home == mine) || len(st.Records) != len(st.Files) || ok && st.Records[0].Target != target {
			t.Errorf("in %s: %+v", home, st)
		}
		if err := j.Save(st); err != nil {
			t.Fatal(err)
		}
	}
}

// A text that a swapped file had is known beside it, also by the name that a client has for it.
func TestKnows(t *testing.T) {
	st := &State{Records: []Record{{Target: "/dot/c", Config: "/c", Others: []Reader{{Config: "/k"}}, Before: Hash([]byte("old"))}}}
	for target, want := range map[string]bool{"/dot/c": true, "/c": true, "/k": true, "/other": false} {
		if st.Knows(target, nil, []byte("old")) != want {
			t.Errorf("of %s: %v", target, !want)
		}
	}
}
