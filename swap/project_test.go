package swap

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
)

// The project file that each client gets in the project scope, in a home where each has its
// sample config. It is created and removed with its directories, and an existing one gets
// an entry; nothing else changes, and revert restores the bytes.
func TestProjectScope(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.Name, func(t *testing.T) {
			home := tempDir(t, map[string]string{"repo/pyproject.toml": pyproject, "repo/.git/HEAD": "", "repo/.git/objects/x": "", "repo/.git/refs/x": ""})
			if err := os.CopyFS(home, os.DirFS("testdata/configs/"+c.Name)); err != nil {
				t.Fatalf("its sample config: %v", err)
			}
			s := swapperAt(home, nil)
			repo := filepath.Join(home, "repo")
			use := UseOptions{Repo: repo, Clients: []string{c.Name}, Scope: clients.ScopeProject, NoPreflight: true}
			file := projectFile(c, s.Sys, repo)
			if file == "" {
				r, err := s.UseLocal(t.Context(), use)
				if err != nil || len(r) != 1 || r[0].Err == nil || !strings.Contains(r[0].Err.Error(), "no servers from files of a project") {
					t.Errorf("it is not refused: %v %+v", err, r)
				}
				return
			}
			sample := readFile(t, c.ConfigPath(s.Sys))
			for _, text := range []string{"", sample} {
				if text != "" && c.InFiles(clients.ScopeProject) {
					writeFiles(t, home, map[string]string{strings.TrimPrefix(file, home+"/"): text})
				}
				before := withoutState(snapshot(t, home))
				r := done(t)(s.UseLocal(t.Context(), use))
				if r[0].Config != file || r[0].Label != c.Name+":project" {
					t.Errorf("use-local edited %s of %s, want %s", r[0].Config, r[0].Label, file)
				}
				st, err := s.Status(StatusOptions{Repo: repo, Clients: []string{c.Name}, Scope: clients.ScopeProject})
				if err != nil || len(st.Clients) != 1 || !st.Clients[0].Found || st.Clients[0].Config != file || !st.Clients[0].Tag.ThisRepo || !st.Swaps[0].Listed {
					t.Errorf("status says %+v, %v", st, err)
				}
				var changed []string
				for path, now := range withoutState(snapshot(t, home)) {
					if old, was := before[path]; was && old != now && !strings.HasPrefix(old, "d") && path != file {
						changed = append(changed, path)
					}
				}
				if len(changed) > 0 {
					t.Errorf("use-local changed %q", changed)
				}
				done(t)(s.Revert(t.Context(), RevertOptions{Selection: Selection{Scope: clients.ScopeProject}}))
				if diff := cmp.Diff(before, withoutState(snapshot(t, home))); diff != "" {
					t.Errorf("revert left (-before +after):\n%s", diff)
				}
			}
		})
	}
}

// failingAt returns a swapper of which a step fails, or that one and all after it, and whether
// it has.
func failingAt(home string, n int, forever bool) (s *Swapper, failed *bool) {
	step, failed := 0, new(bool)
	return swapperAt(home, func(atomicfile.Step) error {
		if step++; step-1 == n || forever && step > n {
			*failed = true
			return fmt.Errorf("step %d", n)
		}
		return nil
	}), failed
}

// If any step of creating or editing a project file fails, the file is as it was before or
// after, and the next revert restores it.
func TestProjectScopeFailsAtEveryStep(t *testing.T) {
	for n := 0; ; n++ {
		home := tempDir(t, map[string]string{
			"repo/pyproject.toml": pyproject, "repo/.git/HEAD": "", "repo/.git/objects/x": "", "repo/.git/refs/x": "",
			"repo/.codex/config.toml": "model = \"o3\" # why\n",
		})
		s, failed := failingAt(home, n, false)
		before := withoutState(snapshot(t, home))
		use := UseOptions{
			Repo: filepath.Join(home, "repo"), Clients: []string{"codex", "cursor"}, Scope: clients.ScopeProject, NoPreflight: true,
		}
		results, err := s.UseLocal(t.Context(), use)
		if *failed && err == nil && !AnyFailed(results) && n < 3 {
			t.Errorf("step %d fails, and nothing is said: %+v", n, results)
		}
		if !*failed && (err != nil || AnyFailed(results)) {
			t.Fatalf("%v %+v", err, results)
		}
		done(t)(swapperAt(home, nil).Revert(t.Context(), RevertOptions{}))
		if diff := cmp.Diff(before, withoutState(snapshot(t, home))); diff != "" {
			t.Fatalf("step %d: revert left (-before +after):\n%s", n, diff)
		}
		if !*failed {
			if n < 10 {
				t.Errorf("only %d steps seen", n)
			}
			return
		}
	}
}

// Any of the files that a client reads exist, with or without an entry; servers are swapped
// in any scope and reverted in any order. At the end all files are as they were.
func TestRandomLayers(t *testing.T) {
	for seed := range uint64(testtool.Size(30, 1500)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		home := tempDir(t, map[string]string{"repo/pyproject.toml": pyproject, "repo/.git/HEAD": "", "repo/.git/objects/x": "", "repo/.git/refs/x": ""})
		s := swapperAt(home, nil)
		repo := filepath.Join(home, "repo")
		c := clients.All()[rnd.IntN(len(clients.All()))]
		var files []string
		for _, p := range c.Places(s.Sys) {
			if strings.HasPrefix(p.Path, home) {
				files = append(files, p.Path)
			}
		}
		inProject, _ := c.ProjectFiles(s.Sys, repo, repo)
		config := c.ConfigPath(s.Sys)
		for _, file := range append(files, inProject...) {
			doc, err := c.Parse(nil)
			if err != nil {
				t.Fatal(err)
			}
			in := c.Containers(clients.ScopeUser, "")[0]
			if c.Map && slices.Contains(inProject, file) && rnd.IntN(2) == 0 {
				in = nil
			}
			var text []byte
			for _, server := range []string{"srv", "two"} {
				if rnd.IntN(3) > 0 {
					continue
				}
				e, err := doc.Set(in, server, c.Change([]string{"x", file}, nil, format.Entry{}, nil))
				if err != nil {
					t.Fatal(err)
				}
				text = e.Out
				if doc, err = c.Parse(text); err != nil {
					t.Fatal(err)
				}
			}
			if len(text) > 0 || file == config {
				writeFiles(t, home, map[string]string{strings.TrimPrefix(file, home+"/"): string(text)})
			}
		}
		before := withoutState(snapshot(t, home))
		did := []string{c.Name}
		for range 1 + rnd.IntN(6) {
			server := []string{"srv", "two"}[rnd.IntN(2)]
			scope := []clients.Scope{"", clients.ScopeUser, clients.ScopeProject}[rnd.IntN(3)]
			if did = append(did, fmt.Sprintf("swap %s %s", server, scope)); rnd.IntN(3) == 0 {
				did[len(did)-1] = fmt.Sprintf("revert %s %s", server, scope)
				if _, err := s.Revert(t.Context(), RevertOptions{Selection: Selection{Server: server, Scope: scope}}); err != nil && !strings.Contains(err.Error(), "nothing to revert") {
					t.Fatalf("seed %d: %q: %v", seed, did, err)
				}
				continue
			}
			use := UseOptions{Repo: repo, Server: server, Clients: []string{c.Name}, Scope: scope, NoPreflight: true}
			r, err := s.UseLocal(t.Context(), use)
			if err != nil || r[0].Err != nil && (scope != clients.ScopeProject || len(inProject) > 0) {
				t.Fatalf("seed %d: %q: %v %+v", seed, did, err, r)
			}
			if r[0].Err != nil {
				continue // it has no projects
			}
			st, err := s.Status(StatusOptions{Repo: repo, Server: server, Clients: []string{c.Name}, Scope: r[0].Scope})
			if err != nil || st.Clients[0].Config != r[0].Config || !st.Clients[0].Tag.ThisRepo {
				t.Fatalf("seed %d: %q: status says %+v, %v", seed, did, st, err)
			}
		}
		if _, err := s.Revert(t.Context(), RevertOptions{}); err != nil {
			t.Fatalf("seed %d: %q: %v", seed, did, err)
		}
		if diff := cmp.Diff(before, withoutState(snapshot(t, home))); diff != "" {
			t.Fatalf("seed %d: %q: revert left (-before +after):\n%s", seed, did, diff)
		}
	}
}
