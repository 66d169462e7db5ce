//go:build unix

package swap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/journal"
)

// swapLoop makes the re-executed test swap and revert a few times.
const swapLoop = "SWAP_TEST_LOOP"

// Many processes swap and revert in the same files, each with its own server, while two
// clients save: Claude under its lock, and one that uses no lock. No save is lost, every
// swap is reverted, and files that no client saves end as they began.
func TestManyAtOnce(t *testing.T) {
	if how := os.Getenv(swapLoop); how != "" {
		server, home, _ := strings.Cut(how, " ")
		loopSwaps(home, server)
		return
	}
	home := faultHome(t)
	before := readConfigs(t, home)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var children []*exec.Cmd
	for i := range testtool.Size(3, 16) {
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestManyAtOnce$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=s%d %s", swapLoop, i, home))
		cmd.Stdout = &bytes.Buffer{}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	saving, stop := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for name, lock := range map[string]bool{".claude.json": true, "dot/cursor.json": false} {
		clients.Go(func() { keepSaving(t, saving, filepath.Join(home, name), lock) })
	}
	for i, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, cmd.Stdout)
		}
	}
	stop()
	clients.Wait()
	if text := readFile(t, filepath.Join(home, ".claude.json")); strings.Contains(text, filepath.Join(home, "repo")) {
		t.Errorf("claude still has a swapped entry: %s", text)
	}
	after := readConfigs(t, home)
	for _, name := range []string{".codex/config.toml", ".config/opencode/opencode.jsonc"} {
		if after[name] != before[name] {
			t.Errorf("%s ended as %q", name, after[name])
		}
	}
	if st, err := swapperAt(home, nil).Journal.Load(); err != nil || len(st.Records) > 0 {
		t.Errorf("state: %+v, %v", st, err)
	}
	_ = filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if name := filepath.Base(path); strings.Contains(name, "mcp-swap-") || strings.HasSuffix(name, ".lock") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

// keepSaving acts as a client that saves its config until ctx is done; then everything that
// it saved must be there.
func keepSaving(t *testing.T, ctx context.Context, path string, lock bool) {
	n := 0
	for ; n == 0 || ctx.Err() == nil; n++ {
		if err := clientSave(path, n, lock); err != nil {
			t.Errorf("the client of %s: %v", path, err)
			return
		}
		// A client pauses between two saves; one that never did could not be swapped. Its
		// saves grow each time, and so does the pause.
		time.Sleep(2*time.Millisecond + time.Duration(n/100)*5*time.Millisecond)
	}
	t.Logf("%s was saved %d times meanwhile", path, n)
	text, err := os.ReadFile(path)
	var doc map[string]any
	if err = errors.Join(err, json.Unmarshal(text, &doc)); err != nil {
		t.Errorf("%s is broken: %v", path, err)
		return
	}
	lost := 0
	for i := range n {
		if _, ok := doc[fmt.Sprintf("saved%d", i)]; !ok {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%s: %d of %d saves were lost", path, lost, n)
	}
}

// clientSave adds a member to a JSON file like a client that reads, changes and replaces
// its whole config.
func clientSave(path string, n int, lock bool) error {
	if lock {
		for start := time.Now(); os.Mkdir(path+".lock", 0o700) != nil; runtime.Gosched() {
			if time.Since(start) > time.Minute {
				return errors.New("its lock is not released")
			}
		}
		defer os.Remove(path + ".lock")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		return fmt.Errorf("what the client reads is broken: %w: %q", err, b)
	}
	doc[fmt.Sprintf("saved%d", n)] = n
	if b, err = json.MarshalIndent(doc, "", "  "); err != nil {
		return err
	}
	if err := os.WriteFile(path+".client", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".client", path)
}

// loopSwaps swaps and reverts one server. If a client saves too often, the swap reports
// that and nothing is lost; the next round tries again.
func loopSwaps(home, server string) {
	s := swapperAt(home, nil)
	check := func(results []Result, err error) {
		for _, r := range results {
			err = errors.Join(err, r.Err)
		}
		if err != nil && !errors.Is(err, commit.ErrBusy) {
			fmt.Println(server, err)
			os.Exit(1)
		}
	}
	ctx := context.Background()
	for range testtool.Size(2, 6) {
		check(swapAll(server, "")(ctx, s, home))
		check(s.Revert(ctx, RevertOptions{Selection: Selection{Server: server}}))
	}
	for { // a revert that found its file busy
		st, err := s.Journal.Load()
		check(nil, err)
		if !slices.ContainsFunc(st.Records, func(r journal.Record) bool { return r.Server == server }) {
			return
		}
		check(s.Revert(ctx, RevertOptions{Selection: Selection{Server: server}}))
	}
}
