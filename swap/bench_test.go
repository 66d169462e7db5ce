package swap

import (
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/swap/clients"
)

// All clients with small configs; the goal for the whole process is 100 ms. The additional
// cost of a large config is measured in package format.
func BenchmarkUseLocalAllClients(b *testing.B) {
	home := b.TempDir() // syncs count
	s := swapperAt(home, nil)
	files := map[string]string{"repo/pyproject.toml": pyproject}
	for _, c := range clients.All() {
		files[strings.TrimPrefix(c.ConfigPath(s.Sys), home)] = ""
	}
	writeFiles(b, home, files)
	for b.Loop() {
		done(b)(s.UseLocal(b.Context(), UseOptions{Repo: filepath.Join(home, "repo"), Clients: clients.Names(), NoPreflight: true}))
		b.StopTimer()
		done(b)(s.Revert(b.Context(), RevertOptions{}))
		b.StartTimer()
	}
}
