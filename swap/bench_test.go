package swap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/swap/clients"
)

func benchHome(b *testing.B, configs map[string][]byte) (*Swapper, string) {
	b.Helper()
	home := b.TempDir() // syncs count
	writeFiles(b, home, map[string]string{"repo/pyproject.toml": pyproject})
	s := swapperAt(home, nil)
	for name, text := range configs {
		path := strings.TrimPrefix(clients.Lookup(name).ConfigPath(s.Sys), home)
		writeFiles(b, home, map[string]string{path: string(text)})
	}
	return s, filepath.Join(home, "repo")
}

func benchSwap(b *testing.B, s *Swapper, repo string, clients []string) {
	b.Helper()
	for b.Loop() {
		done(b)(s.UseLocal(b.Context(), UseOptions{Repo: repo, Clients: clients, NoPreflight: true}))
		b.StopTimer()
		done(b)(s.Revert(b.Context(), RevertOptions{}))
		b.StartTimer()
	}
}

// All clients with small configs; the aim for the whole process is 100 ms.
func BenchmarkUseLocalAllClients(b *testing.B) {
	configs := map[string][]byte{}
	for _, name := range clients.Names() {
		configs[name] = nil
	}
	s, repo := benchHome(b, configs)
	benchSwap(b, s, repo, clients.Names())
}

// largeClaude is as large as a .claude.json gets in a year.
func largeClaude() []byte {
	prompt := `
        {
          "display": "a prompt, \"quoted\", \u00e9",
          "pastedContents": {}
        }`
	history := prompt + strings.Repeat(","+prompt, 59)
	var projects []string
	for i := range 26_000_000 / len(history) {
		projects = append(projects, fmt.Sprintf(`
    "/home/me/p%d": {
      "allowedTools": [],
      "history": [%s
      ],
      "mcpServers": {},
      "lastCost": 1.25
    }`, i, history))
	}
	return []byte("{\n  \"numStartups\": 5,\n  \"projects\": {" + strings.Join(projects, ",") + "\n  }\n}")
}

// A .claude.json of 26 MB; the aim for the whole process is 1 s.
func BenchmarkUseLocalLargeClaude(b *testing.B) {
	s, repo := benchHome(b, map[string][]byte{"claude": largeClaude()})
	benchSwap(b, s, repo, []string{"claude"})
}

// The same file, saved since: the entry alone goes back.
func BenchmarkRevertLargeClaudeSaved(b *testing.B) {
	s, repo := benchHome(b, map[string][]byte{"claude": largeClaude()})
	config := clients.Lookup("claude").ConfigPath(s.Sys)
	for b.Loop() {
		b.StopTimer()
		done(b)(s.UseLocal(b.Context(), UseOptions{Repo: repo, Clients: []string{"claude"}, NoPreflight: true}))
		text := strings.Replace(readFile(b, config), "\"numStartups\": ", "\"numStartups\": 1", 1)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		done(b)(s.Revert(b.Context(), RevertOptions{}))
	}
}
