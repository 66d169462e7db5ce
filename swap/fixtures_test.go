package swap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/machine"
)

// Each sample config is a home with one client in it. Every server it has, and one that it
// does not have, is swapped in every scope; everything outside the entry is unchanged, and
// revert restores the bytes: the exact ones, or, if the file was saved since, with what was
// saved.
func TestSampleConfigs(t *testing.T) {
	const configs = "testdata/configs"
	homes, err := os.ReadDir(configs)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range homes {
		if !e.IsDir() {
			continue
		}
		src := filepath.Join(configs, e.Name())
		name, _, _ := strings.Cut(e.Name(), ".")
		c := clients.Lookup(name)
		if c == nil {
			t.Errorf("%s is of no client", src)
			continue
		}
		seen[name] = true
		home := tempDir(t, map[string]string{"repo/pyproject.toml": pyproject})
		if err := os.CopyFS(home, os.DirFS(src)); err != nil {
			t.Fatal(err)
		}
		s := New(machine.System{GOOS: "linux", Home: home, Getenv: func(string) string { return "" }}, nil)
		config := c.ConfigPath(s.Sys)
		original := readFile(t, config)
		repo := filepath.Join(home, "repo")
		doc, err := format.Parse(c.Kind, []byte(original))
		if err != nil {
			t.Fatalf("%s: %v", config, err)
		}
		for _, scope := range c.ScopesInOrder() {
			names := []string{"a new.one", "a.new-one", "a_new-one"}
			servers := slices.DeleteFunc(names, func(name string) bool { return !c.Server.Takes(name, false) })[:1]
			for _, container := range c.Containers(scope, repo) {
				names, _ := doc.Names(container)
				servers = append(servers, names...)
			}
			for _, server := range servers {
				if e, err := doc.Lookup(c.Containers(scope, repo)[0], server); err != nil || e.Found && c.Dialect.ReadArgv(e.Value) == nil && clients.Remote(e.Value) == "" {
					continue // not a server, but another member of the client's
				}
				t.Run(filepath.Base(src)+"/"+string(scope)+"/"+server, func(t *testing.T) {
					swapSample(t, s, c, scope, server, repo, config, original)
				})
			}
		}
	}
	for _, name := range clients.Names() {
		if !seen[name] {
			t.Errorf("there is no sample config of %[1]s: make a home with it in %[2]s/%[1]s; %[2]s/README.md says how", name, configs)
		}
	}
}

func swapSample(t *testing.T, s *Swapper, c *clients.Client, scope clients.Scope, server, repo, config, original string) {
	use := func() {
		t.Helper()
		r := done(t)(s.UseLocal(t.Context(), UseOptions{
			Repo: repo, Server: server, Clients: []string{c.Name}, Scope: scope,
			Env: []clients.EnvVar{{Name: "K", Value: "v"}}, NoPreflight: true,
		}))
		if r[0].Outcome != Added && r[0].Outcome != Replaced {
			t.Fatalf("use-local: %+v", r)
		}
	}
	revert := func() string {
		t.Helper()
		done(t)(s.Revert(t.Context(), RevertOptions{}))
		return readFile(t, config)
	}
	use()
	st, err := s.Status(StatusOptions{Repo: repo, Server: server, Clients: []string{c.Name}, Scope: scope})
	if err != nil || !st.Clients[0].Found || !st.Clients[0].Tag.ThisRepo || !slices.Contains(st.Clients[0].Env, "K") {
		b, _ := json.Marshal(st)
		t.Errorf("status: %s, %v", b, err)
	}
	swapped := readFile(t, config)
	if got := revert(); got != original {
		t.Errorf("revert gave\n%s\nwant\n%s", got, original)
	}

	use()
	eol := "\n"
	if strings.Contains(original, "\r\n") {
		eol = "\r\n"
	}
	save := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save(readFile(t, config) + eol)
	if got := revert(); got != original+eol {
		t.Errorf("revert of a file saved since gave\n%s\nwant\n%s", got, original+eol)
	}

	// What a client brings back is reverted in the same ways.
	for _, more := range []string{eol, ""} {
		save(swapped + more)
		if got := revert(); got != original+more {
			t.Errorf("revert of what came back gave\n%s\nwant\n%s", got, original+more)
		}
	}
	if again, err := s.Revert(t.Context(), RevertOptions{}); len(again) > 0 || err != nil {
		t.Errorf("there is something to revert twice: %+v, %v", again, err)
	}
}
