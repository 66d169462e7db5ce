package swap

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/machine"
)

func benchHome(b *testing.B, configs map[string][]byte) (*Swapper, string) {
	b.Helper()
	home, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s := New(machine.System{GOOS: runtime.GOOS, Home: home, Getenv: func(string) string { return "" }}, nil)
	for name, text := range configs {
		path := clients.Lookup(name).ConfigPath(s.Sys)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	repo := filepath.Join(home, "repo")
	if err := os.Mkdir(repo, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo, "pyproject.toml"), []byte("[project]\nname = \"srv\"\n[project.scripts]\nsrv = \"x\"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return s, repo
}

func benchSwap(b *testing.B, s *Swapper, repo string, clients []string) {
	b.Helper()
	for b.Loop() {
		r, err := s.UseLocal(b.Context(), UseOptions{Repo: repo, Clients: clients, NoPreflight: true})
		if err != nil || AnyFailed(r) {
			b.Fatal(err, r)
		}
		b.StopTimer()
		if r, err = s.Revert(b.Context(), RevertOptions{}); err != nil || AnyFailed(r) {
			b.Fatal(err, r)
		}
		b.StartTimer()
	}
}

// All clients with small configs; the aim for the whole process is 100 ms.
func BenchmarkUseLocalAllClients(b *testing.B) {
	configs := map[string][]byte{}
	for i := range clients.All {
		configs[clients.All[i].Name] = nil
	}
	s, repo := benchHome(b, configs)
	benchSwap(b, s, repo, clients.Names())
}

// largeClaude is as large as a .claude.json gets in a year.
func largeClaude() []byte {
	var text bytes.Buffer
	text.WriteString("{\n  \"numStartups\": 5,\n  \"projects\": {")
	for i := 0; text.Len() < 26e6; i++ {
		if i > 0 {
			text.WriteString(",")
		}
		fmt.Fprintf(&text, "\n    \"/home/me/p%d\": {\n      \"allowedTools\": [],\n      \"history\": [", i)
		for j := range 60 {
			if j > 0 {
				text.WriteString(",")
			}
			fmt.Fprintf(&text, "\n        {\n          \"display\": \"a prompt, \\\"quoted\\\", \\u00e9, number %d of %d\",\n          \"pastedContents\": {}\n        }", j, i)
		}
		text.WriteString("\n      ],\n      \"mcpServers\": {},\n      \"lastCost\": 1.25\n    }")
	}
	text.WriteString("\n  }\n}")
	return text.Bytes()
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
		if r, err := s.UseLocal(b.Context(), UseOptions{Repo: repo, Clients: []string{"claude"}, NoPreflight: true}); err != nil || AnyFailed(r) {
			b.Fatal(err, r)
		}
		text, err := os.ReadFile(config)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(config, bytes.Replace(text, []byte("\"numStartups\": "), []byte("\"numStartups\": 1"), 1), 0o600); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if r, err := s.Revert(b.Context(), RevertOptions{}); err != nil || AnyFailed(r) {
			b.Fatal(err, r)
		}
	}
}
