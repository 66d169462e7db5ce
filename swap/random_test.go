//go:build unix

package swap

import (
	"context"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/machine"
)

// Two servers are swapped, reverted and brought back by the clients, in any order. After
// everything is reverted, each config has its original data, and what a swap created is
// gone.
func TestRandomSequences(t *testing.T) {
	for seed := range uint64(testtool.Size(10, 400)) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		home := faultHome(t)
		s := swapperAt(home, nil)
		before := readConfigs(t, home)
		var did []string
		for range 1 + rnd.IntN(8) {
			server := []string{"srv", "two"}[rnd.IntN(2)]
			steps := map[string]step{
				"swap " + server:                   swapAll(server, ""),
				"swap with a variable " + server:   swapAll(server, "A"),
				"swap in the project " + server:    swapProject(server),
				"revert " + server:                 revertServer(server),
				"have the clients bring back both": revertAndBack,
			}
			name := slices.Sorted(maps.Keys(steps))[rnd.IntN(len(steps))]
			run := steps[name]
			if did = append(did, name); machine.Missing(filepath.Join(home, faultMissing)) && !strings.HasPrefix(name, "swap") {
				continue // nothing is swapped
			}
			if results, err := run(t.Context(), s, home); err != nil || AnyFailed(results) {
				t.Fatalf("seed %d: %q: %v %+v", seed, did, err, results)
			}
		}
		if results, err := revertAll(t.Context(), s, home); err != nil || AnyFailed(results) {
			t.Fatalf("seed %d: %q, and revert: %v %+v", seed, did, err, results)
		}
		for name, text := range readConfigs(t, home) {
			if text != before[name] && !sameData(name, text, before[name]) {
				t.Errorf("seed %d: %q: %s is %q", seed, did, name, text)
			}
		}
		if again, err := revertAll(t.Context(), s, home); len(again) > 0 || err != nil {
			t.Errorf("seed %d: %q: there is something to revert twice: %+v, %v", seed, did, again, err)
		}
		if t.Failed() {
			return
		}
	}
}

func revertServer(server string) step {
	return func(ctx context.Context, s *Swapper, _ string) ([]Result, error) {
		results, err := s.Revert(ctx, RevertOptions{Selection: Selection{Server: server}})
		if err != nil && strings.Contains(err.Error(), "nothing to revert") {
			err = nil
		}
		return results, err
	}
}

func sameData(name, a, b string) bool {
	kind := format.JSONC
	if strings.HasSuffix(name, ".toml") {
		kind = clients.Lookup("codex").Kind
	}
	var data [2]any
	for i, text := range []string{a, b} {
		doc, err := format.Parse(kind, []byte(text))
		if err != nil {
			return false
		}
		data[i], _ = doc.Get()
	}
	return format.Equal(data[0], data[1])
}
