//go:build unix

package swap

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/machine"
)

// A diffTrial compares the diffs of dry runs with what is written then.
type diffTrial struct {
	*Swapper
	repo, config, server string
	client               *clients.Client
	scope                clients.Scope
	secrets              []string // none of which may be shown
}

// run tries use-local and revert, and reports whether their diffs were masked.
func (d diffTrial) run(t *testing.T) (masked bool) {
	t.Helper()
	use := UseOptions{Repo: d.repo, Server: d.server, Clients: []string{d.client.Name}, Scope: d.scope, NoPreflight: true}
	before := d.read(t)
	use.DryRun = true
	dry := done(t)(d.UseLocal(t.Context(), use))
	patched := d.patched(t, dry[0])
	use.DryRun = false
	done(t)(d.UseLocal(t.Context(), use))
	d.equal(t, dry[0], patched)

	back := done(t)(d.Revert(t.Context(), RevertOptions{DryRun: true}))
	patched = d.patched(t, back[0])
	done(t)(d.Revert(t.Context(), RevertOptions{}))
	d.equal(t, back[0], patched)
	if got := d.read(t); got != before {
		t.Fatalf("reverted to\n%s\nfrom\n%s", got, before)
	}
	if dry[0].Masked != back[0].Masked {
		t.Errorf("masked, there: %v, and back: %v\n%s\n%s", dry[0].Masked, back[0].Masked, dry[0].Diff, back[0].Diff)
	}
	return dry[0].Masked
}

func (d diffTrial) read(t *testing.T) string {
	t.Helper()
	return readFile(t, d.config)
}

// patched returns what patch(1) makes of the config by a diff. The config stays as it is. patch must
// refuse a diff with masks.
func (d diffTrial) patched(t *testing.T, r Result) string {
	t.Helper()
	for _, secret := range d.secrets {
		if strings.Contains(r.Diff, secret) {
			t.Errorf("%s is shown:\n%s", secret, r.Diff)
		}
	}
	text := d.read(t)
	cmd := exec.Command("patch", "--binary", "-s", "-N", "-r", "-", "--no-backup-if-mismatch", "-p1", "-d", "/")
	cmd.Stdin = strings.NewReader(r.Diff)
	out, err := cmd.CombinedOutput()
	got := d.read(t)
	if werr := os.WriteFile(d.config, []byte(text), 0o600); werr != nil {
		t.Fatal(werr)
	}
	if (err != nil) != r.Masked || r.Masked && got != text {
		t.Errorf("masked: %v, and patch: %v: %s\n%s", r.Masked, err, out, r.Diff)
	}
	return got
}

func (d diffTrial) equal(t *testing.T, r Result, patched string) {
	t.Helper()
	if got := d.read(t); !r.Masked && got != patched {
		t.Errorf("patched, it is\n%s\nwritten, it is\n%s", patched, got)
	}
}

// secretSamples are the sample configs of which a line that changes has the value of a variable or of
// a header, or (claude.minified) all of the config.
var secretSamples = []string{
	"auggie/user/docs", "claude.minified/project/new", "claude.minified/user/new", "cline/user/tmux", "cn/user/docs", "codex/user/figma", "codex.dotted/user/tmux",
	"codex.inline/user/new", "codex.inline/user/tmux", "codex.inline/user/git", "crush/user/docs", "cursor/user/github", "gemini/user/docs", "goose/user/docs",
	"kilo/user/tmux", "kiro/user/new", "kiro/user/docs",
}

// The diffs of the sample configs are patches, unless a line that changes has a value that may be a
// secret.
func TestDiffsOfSampleConfigs(t *testing.T) {
	testtool.Path(t, "patch")
	homes, err := filepath.Glob("testdata/configs/*")
	if err != nil {
		t.Fatal(err)
	}
	var masked []string
	for _, src := range homes {
		name, _, _ := strings.Cut(filepath.Base(src), ".")
		c := clients.Lookup(name)
		if c == nil {
			continue
		}
		home := tempDir(t, map[string]string{"repo/pyproject.toml": pyproject})
		if err := os.CopyFS(home, os.DirFS(src)); err != nil {
			t.Fatal(err)
		}
		s := New(machine.System{GOOS: "linux", Home: home, Getenv: func(string) string { return "" }}, nil)
		config, repo := c.ConfigPath(s.Sys), filepath.Join(home, "repo")
		doc, err := c.Parse([]byte(readFile(t, config)))
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range c.ScopesInOrder() {
			if c.InFiles(scope) {
				continue
			}
			servers := []string{"new"}
			container := c.Containers(scope, repo)[0]
			names, _ := doc.Names(container)
			for _, server := range names {
				if e, err := doc.Lookup(container, server); err == nil && e.Found && (c.Dialect.ReadArgv(e.Value) != nil || clients.Remote(e.Value) != "") {
					servers = append(servers, server)
				}
			}
			for _, server := range servers {
				id := filepath.Base(src) + "/" + string(scope) + "/" + server
				t.Run(id, func(t *testing.T) {
					if (diffTrial{s, repo, config, server, c, scope, nil}).run(t) {
						masked = append(masked, id)
					}
				})
			}
		}
	}
	if diff := cmp.Diff(secretSamples, masked); diff != "" {
		t.Errorf("masked (-want +got):\n%s", diff)
	}
}

// Words of entries: those that may be shown, and secrets, with the flags or names that say so.
var (
	plainArgs = []string{
		"-y", "@acme/demo-mcp@1.2.3", "skaffold-mcp-server", "npm-check-updates", "--port", "8080", "--timeout=30000", "--model", "claude-sonnet-4-5-20250929", "--max-tokens", "4096",
		"/srv/acme/dist/index.js", "https://acme.example/mcp", "ghcr.io/acme/srv@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "v1.2.3", "f4a50a7cee2a", "--no-auth", "it's", "ü",
	}
	secretArgs = [][]string{
		{"--token", "S%d-hush"}, {"--api-key=S%d-hush"}, {"-H", "Authorization: Bearer S%d-hush"}, {"TOKEN=S%d-hush"}, {"https://u:S%d-hush@h.example/"}, {"https://h.example/?key=S%d-hush"},
		{"ghp_S%dhush0123456789abcdef"}, {"sk-S%d-hush0123456789"}, {"postgres://me:S%d-hush@db/x"}, {"--password", "S%d-hush"}, {"-e", "A=S%d-hush"},
	}
	secretFields = []string{
		`"env": {"A": "S%d-hush"}`, `"env": {"LOG": "S%d-hush", "B": "1"}`, `"headers": {"X": "S%d-hush"}`, `"token": "S%d-hush"`, `"auth": {"id": "S%d-hush", "n": 123456789}`, `"x": ["S%d-hush"]`,
	}
	plainFields = []string{`"timeout": 30000`, `"timeout": 1.5e3`, `"disabled": false`, `"alwaysAllow": ["read_file", "list"]`, `"cwd": "/srv/acme"`, `"type": "stdio"`, `"trust": true`}
)

// What acts on a terminal is left out of a diff with the lines around a change, and masked in it.
func TestDiffsThatActOnTerminals(t *testing.T) {
	testtool.Path(t, "patch")
	for name, c := range map[string]struct {
		text   string
		masked bool
	}{
		"around":  {"{\n  \"x\": \"\u202e\",\n  \"mcpServers\": {\n    \"srv\": {\n      \"command\": \"x\"\n    }\n  }\n}\n", false},
		"in it":   {"{\n  \"mcpServers\": {\n    \"srv\": {\"command\": \"x\", \"cwd\": \"/\u202e\"}\n  }\n}\n", true},
		"CRLF":    {"{\r\n\t\"mcpServers\": {\r\n\t\t\"srv\": {\"command\": \"x\"}\r\n\t}\r\n}", false},
		"a mark":  {"\ufeff{\"mcpServers\": {\"srv\": {\"command\": \"x\"}}}", false},
		"no text": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			home := tempDir(t, map[string]string{"repo/pyproject.toml": pyproject, ".cursor/mcp.json": c.text})
			s := swapperAt(home, nil)
			d := diffTrial{s, filepath.Join(home, "repo"), filepath.Join(home, ".cursor/mcp.json"), "srv", clients.Lookup("cursor"), clients.ScopeUser, []string{"\u202e"}}
			if masked := d.run(t); masked != c.masked {
				t.Errorf("masked: %v", masked)
			}
		})
	}
}

// The diffs of random entries are patches if nothing in them is a secret, and show no secret in any
// case: neither one of the entry nor of what is around it.
func TestDiffsOfRandomEntries(t *testing.T) {
	testtool.Path(t, "patch")
	secrets, patches := 0, 0
	for seed := range uint64(testtool.Size(60, 2000)) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var hushed []string
		hush := func(form string) string {
			if !strings.Contains(form, "%d") {
				return form
			}
			n := len(hushed) + 10
			hushed = append(hushed, fmt.Sprintf("S%d", n))
			return fmt.Sprintf(form, n)
		}
		entry := func(secret bool) string {
			var args []string
			for range rnd.IntN(5) {
				args = append(args, plainArgs[rnd.IntN(len(plainArgs))])
				if secret && rnd.IntN(2) == 0 {
					for _, word := range secretArgs[rnd.IntN(len(secretArgs))] {
						args = append(args, hush(word))
					}
				}
			}
			args = append(args, "end")
			list, _ := json.Marshal(args)
			fields := []string{`"command": "acme-mcp"`, `"args": ` + string(list)}
			for _, field := range plainFields {
				if name, _, _ := strings.Cut(field, ":"); rnd.IntN(3) == 0 && !strings.Contains(strings.Join(fields, ""), name) {
					fields = append(fields, field)
				}
			}
			if secret {
				fields = append(fields, hush(secretFields[rnd.IntN(len(secretFields))]))
			}
			rnd.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
			if rnd.IntN(2) == 0 {
				return "{" + strings.Join(fields, ", ") + "}"
			}
			return "{\n      " + strings.Join(fields, ",\n      ") + "\n    }"
		}
		secret := rnd.IntN(2) == 0
		text := "{\n  \"apiKey\": \"" + hush("S%d-hush") + "\",\n  \"mcpServers\": {\n    \"one\": " + entry(secret) + ",\n    \"srv\": " + entry(secret) +
			",\n    \"two\": " + entry(secret) + "\n  },\n  \"prompt\": \"" + hush("S%d hush") + "\"\n}\n"
		home := tempDir(t, map[string]string{"repo/pyproject.toml": pyproject, ".cursor/mcp.json": text})
		s := swapperAt(home, nil)
		d := diffTrial{s, filepath.Join(home, "repo"), filepath.Join(home, ".cursor/mcp.json"), []string{"srv", "new", "two"}[rnd.IntN(3)], clients.Lookup("cursor"), clients.ScopeUser, hushed}
		switch masked := d.run(t); {
		case masked && !secret:
			t.Errorf("masked, without a secret in it")
		case masked:
			secrets++
		default:
			patches++
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
	if secrets == 0 || patches == 0 {
		t.Errorf("%d masked, %d patches", secrets, patches)
	}
}
