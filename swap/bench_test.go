package swap

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// A config of 28 MB, as claude's becomes. The metric is how often one could read the file and
// check that it is JSON in that time, in the same run: the least that a verb can take is 1.
func BenchmarkLargeConfig(b *testing.B) {
	home := b.TempDir()
	var text strings.Builder
	text.WriteString(`{"mcpServers": {"srv": {"command": "x"}}, "projects": {`)
	for i := range 2000 {
		fmt.Fprintf(&text, `"/p/%d": {"mcpServers": {}, "history": [%s""]}, `, i, strings.Repeat(`{"display": "what is this?"}, `, 480))
	}
	text.WriteString(`"/last": {}}}`)
	writeFiles(b, home, map[string]string{"repo/pyproject.toml": pyproject, ".claude.json": text.String()})
	config, repo := filepath.Join(home, ".claude.json"), filepath.Join(home, "repo")
	s := swapperAt(home, nil)
	use := func() {
		done(b)(s.UseLocal(b.Context(), UseOptions{Repo: repo, Clients: []string{"claude"}, NoPreflight: true}))
	}
	revert := func() { done(b)(s.Revert(b.Context(), RevertOptions{})) }
	status := func() {
		if _, err := s.Status(StatusOptions{Repo: repo, Clients: []string{"claude"}}); err != nil {
			b.Fatal(err)
		}
	}
	doctor := func() {
		if _, err := s.Doctor(DoctorOptions{Repo: repo}); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		verb               string
		before, run, after func()
	}{
		{"status", nil, status, nil}, {"doctor", nil, doctor, nil}, {"use-local", nil, use, revert},
		{"status of a swap", use, status, revert}, {"doctor of a swap", use, doctor, revert}, {"revert", use, revert, nil},
	} {
		b.Run(c.verb, func(b *testing.B) {
			var check time.Duration
			for b.Loop() {
				b.StopTimer()
				begin := time.Now()
				if got, err := os.ReadFile(config); err != nil || !json.Valid(got) {
					b.Fatal(err)
				}
				check += time.Since(begin)
				if c.before != nil {
					c.before()
				}
				b.StartTimer()
				c.run()
				b.StopTimer()
				if c.after != nil {
					c.after()
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(check), "checks")
		})
	}
}
