//go:build unix

package swap

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// linkedHome is a home in which a config is a link.
func linkedHome(t *testing.T) string {
	return tempDir(t, map[string]string{
		"repo/pyproject.toml": pyproject, "dot/c.json": `{"mcpServers": {"srv": {"command": "old"}}}`,
		".cursor/mcp.json": "-> ../dot/c.json",
	})
}

// replaceLink puts what a client reads in the place of the link to it, with something added.
func replaceLink(t *testing.T, home string) {
	t.Helper()
	path := filepath.Join(home, ".cursor/mcp.json")
	text := strings.Replace(readFile(t, path), "{", `{"theme": 1, `, 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, home, map[string]string{".cursor/mcp.json": text})
}

// If any step of a revert in two files fails, each has its text of before or after, the swap stays
// recorded unless both are done, and the next revert finishes it.
func TestReplacedLinkFailsAtEveryStep(t *testing.T) {
	for _, forever := range []bool{false, true} {
		for n := 0; ; n++ {
			home := linkedHome(t)
			old := readFile(t, filepath.Join(home, "dot/c.json"))
			saved := strings.Replace(old, "{", `{"theme": 1, `, 1)
			use := UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{"cursor"}, NoPreflight: true}
			done(t)(swapperAt(home, nil).UseLocal(t.Context(), use))
			swapped := readFile(t, filepath.Join(home, "dot/c.json"))
			replaceLink(t, home)
			savedSwapped := readFile(t, filepath.Join(home, ".cursor/mcp.json"))
			s, failed := failingAt(home, n, forever)
			results, err := s.Revert(t.Context(), RevertOptions{})
			said := err != nil || AnyFailed(results)
			files := map[string][2]string{"dot/c.json": {swapped, old}, ".cursor/mcp.json": {savedSwapped, saved}}
			for name, texts := range files {
				text := readFile(t, filepath.Join(home, name))
				if text != texts[0] && text != texts[1] {
					t.Errorf("step %d: %s is neither old nor new: %q", n, name, text)
				}
				if !said && text != texts[1] {
					t.Errorf("step %d: %s is not reverted, and nothing is said: %+v", n, name, results)
				}
			}
			if _, err := swapperAt(home, nil).Revert(t.Context(), RevertOptions{}); err != nil && !strings.Contains(err.Error(), "nothing to revert") {
				t.Errorf("step %d, and revert again: %v", n, err)
			}
			for name, texts := range files {
				if text := readFile(t, filepath.Join(home, name)); text != texts[1] {
					t.Errorf("step %d: %s is %q after a second revert", n, name, text)
				}
			}
			if st, err := swapperAt(home, nil).Journal.Load(); err != nil || len(st.Records) > 0 {
				t.Errorf("step %d: still recorded: %+v, %v", n, st, err)
			}
			if t.Failed() {
				return
			}
			if !*failed {
				if n < 10 {
					t.Errorf("only %d steps seen", n)
				}
				break
			}
		}
	}
}

// A config that is a link is swapped, saved in place of the link, copied, led elsewhere and
// reverted, in any order. At the end no file has a swap, and nothing is recorded.
func TestRandomLinks(t *testing.T) {
	for seed := range uint64(testtool.Size(20, 1000)) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		home := linkedHome(t)
		s := swapperAt(home, nil)
		config := filepath.Join(home, ".cursor/mcp.json")
		var did []string
		for range 1 + rnd.IntN(8) {
			target := filepath.Join(home, "dot", fmt.Sprintf("%d.json", rnd.IntN(3)))
			switch what := rnd.IntN(6); what {
			case 0, 1:
				use := UseOptions{Repo: filepath.Join(home, "repo"), Server: []string{"srv", "two"}[what], Clients: []string{"cursor"}, NoPreflight: true}
				if did = append(did, "swap "+use.Server); AnyFailed(done(t)(s.UseLocal(t.Context(), use))) {
					t.Fatalf("seed %d: %q", seed, did)
				}
			case 2:
				did = append(did, "the client saves")
				replaceLink(t, home)
			case 3:
				did = append(did, "lead it to a copy, "+filepath.Base(target))
				text := readFile(t, config)
				_ = os.Remove(config)
				writeFiles(t, home, map[string]string{strings.TrimPrefix(target, home+"/"): text})
				if err := os.Symlink(target, config); err != nil {
					t.Fatal(err)
				}
			case 4:
				did = append(did, "move it to "+filepath.Base(target))
				real, err := filepath.EvalSymlinks(config)
				if err != nil {
					t.Fatal(err)
				}
				if real == target {
					continue
				}
				if err := os.Rename(real, target); err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(config)
				if err := os.Symlink(target, config); err != nil {
					t.Fatal(err)
				}
			default:
				did = append(did, "revert")
				if r, err := s.Revert(t.Context(), RevertOptions{}); err != nil && !strings.Contains(err.Error(), "nothing to revert") || AnyFailed(r) {
					t.Fatalf("seed %d: %q: %+v, %v", seed, did, r, err)
				}
			}
		}
		if r, err := s.Revert(t.Context(), RevertOptions{}); err != nil && !strings.Contains(err.Error(), "nothing to revert") || AnyFailed(r) {
			t.Fatalf("seed %d: %q: %+v, %v", seed, did, r, err)
		}
		if text := readFile(t, config); strings.Contains(text, "--directory") || !strings.Contains(text, `"srv": {"command": "old"}`) {
			t.Fatalf("seed %d: %q: the client reads %s", seed, did, text)
		}
		if st, err := s.Journal.Load(); err != nil || len(st.Records) > 0 {
			t.Fatalf("seed %d: %q: still recorded: %+v, %v", seed, did, st, err)
		}
	}
}
