package swap

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/machine"
)

// Each sample config is a home with one client in it. Every server it has, and
// one it has not, is swapped in every scope; what is outside of the entry stays,
// and revert gives the bytes back: the exact ones, and, where the file was saved
// since, with what was saved.
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
		home, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(home, os.DirFS(src)); err != nil {
			t.Fatal(err)
		}
		s := New(machine.System{GOOS: "linux", Home: home, Getenv: func(string) string { return "" }}, nil)
		config := c.ConfigPath(s.Sys)
		original, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		repo := filepath.Join(home, "repo")
		_ = os.Mkdir(repo, 0o755)
		if err := os.WriteFile(filepath.Join(repo, "pyproject.toml"), []byte("[project]\nname = \"srv\"\n[project.scripts]\nsrv = \"x\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		doc, err := format.Parse(c.Kind, original)
		if err != nil {
			t.Fatalf("%s: %v", config, err)
		}
		for _, scope := range c.ScopesInOrder() {
			servers := []string{"a new.one"}
			for _, container := range c.Containers(scope, repo) {
				names, _ := doc.Names(container)
				servers = append(servers, names...)
			}
			for _, server := range servers {
				if e, err := doc.Lookup(c.Containers(scope, repo)[0], server); err != nil || e.Found && c.Dialect.ReadArgv(e.Value) == nil && clients.Remote(e.Value) == "" {
					continue // not a server, but a member that a client has beside them
				}
				t.Run(filepath.Base(src)+"/"+string(scope)+"/"+server, func(t *testing.T) {
					swapSample(t, s, c, scope, server, repo, config, original)
				})
			}
		}
	}
	for _, name := range clients.Names() {
		if !seen[name] {
			t.Errorf("there is no sample config of %s", name)
		}
	}
}

func swapSample(t *testing.T, s *Swapper, c *clients.Client, scope clients.Scope, server, repo, config string, original []byte) {
	use := func() {
		t.Helper()
		r, err := s.UseLocal(t.Context(), UseOptions{Repo: repo, Server: server, Clients: []string{c.Name}, Scope: scope, Env: []clients.EnvVar{{Name: "K", Value: "v"}}, NoPreflight: true})
		if err != nil || AnyFailed(r) || r[0].Outcome != Added && r[0].Outcome != Replaced {
			t.Fatalf("use-local: %v %+v", err, r)
		}
	}
	revert := func() string {
		t.Helper()
		r, err := s.Revert(t.Context(), RevertOptions{})
		if err != nil || AnyFailed(r) {
			t.Fatalf("revert: %v %+v", err, r)
		}
		b, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	use()
	st, err := s.Status(StatusOptions{Repo: repo, Server: server, Clients: []string{c.Name}, Scope: scope})
	if err != nil || !st.Clients[0].Found || !st.Clients[0].Tag.ThisRepo || !slices.Contains(st.Clients[0].Env, "K") {
		b, _ := json.Marshal(st)
		t.Errorf("status: %s, %v", b, err)
	}
	if got := revert(); got != string(original) {
		t.Errorf("revert gave\n%s\nwant\n%s", got, original)
	}

	use()
	text, _, err := atomicfile.Disk{}.Read(config)
	if err != nil {
		t.Fatal(err)
	}
	eol := "\n"
	if bytes.Contains(original, []byte("\r\n")) {
		eol = "\r\n"
	}
	if err := os.WriteFile(config, append(text, eol...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := revert(); got != string(original)+eol {
		t.Errorf("revert of a file saved since gave\n%s\nwant\n%s", got, string(original)+eol)
	}
	if err := os.WriteFile(config, original, 0o600); err != nil {
		t.Fatal(err)
	}
}
