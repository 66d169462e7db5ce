package swap

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/swap/checkout"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/machine"
)

// Where each client reads the server srv, by the files and variables of its
// documentation or program. In all texts, HOME and REPO are directories; the text of a
// link is "-> " and its target.
var layerCases = []struct {
	name, client string
	env, files   map[string]string
	config       string   // that use-local edits, and status names
	runs         string   // the command before; "" where there is no entry
	shadows      []string // what keeps the client from running it
	merged       []string // what weaker files add
	after        string   // in config after use-local, if it is of interest
	mode         checkout.Mode
}{
	// claude 2.1.330
	{
		name: "an older config wins", client: "claude",
		files:  map[string]string{"HOME/.claude.json": `{"mcpServers": {"srv": {"command": "a"}}}`, "HOME/.claude/.config.json": `{"mcpServers": {"srv": {"command": "b"}}}`},
		config: "HOME/.claude/.config.json", runs: "b",
	},
	{
		name: "but not an empty one", client: "claude",
		files:  map[string]string{"HOME/.claude.json": `{"mcpServers": {"srv": {"command": "a"}}}`, "HOME/.claude/.config.json": ``},
		config: "HOME/.claude.json", runs: "a",
	},
	{
		name: "an older config where the variable says", client: "claude",
		env:    map[string]string{"CLAUDE_CONFIG_DIR": "HOME/c"},
		files:  map[string]string{"HOME/c/.claude.json": `{}`, "HOME/c/.config.json": `{"mcpServers": {"srv": {"command": "b"}}}`, "HOME/.claude/.config.json": `{}`},
		config: "HOME/c/.config.json", runs: "b",
	},
	// gemini 0.61
	{
		name: "switched off in a file of its own", client: "gemini",
		files:  map[string]string{"HOME/.gemini/settings.json": `{"security": {"folderTrust": {"enabled": false}}, "mcpServers": {"srv": {"command": "a"}}}`, "HOME/.gemini/mcp-server-enablement.json": `{"srv": {"enabled": false}}`},
		config: "HOME/.gemini/settings.json", runs: "a",
		shadows: []string{"switched off: enabled = false, HOME/.gemini/mcp-server-enablement.json"},
	},
	{
		name: "switched on in it", client: "gemini",
		files:  map[string]string{"HOME/.gemini/settings.json": `{"security": {"folderTrust": {"enabled": false}}, "mcpServers": {"srv": {"command": "a"}}}`, "HOME/.gemini/mcp-server-enablement.json": `{"srv": {"enabled": true}, "other": {"enabled": false}}`},
		config: "HOME/.gemini/settings.json", runs: "a",
	},
	{
		name: "excluded in other letters", client: "gemini",
		files:  map[string]string{"HOME/.gemini/settings.json": `{"security": {"folderTrust": {"enabled": false}}, "mcp": {"excluded": ["SRV"]}, "mcpServers": {"srv": {"command": "a"}}}`},
		config: "HOME/.gemini/settings.json", runs: "a",
		shadows: []string{"switched off: in excluded"},
	},
	// opencode 1.18.33
	{
		name: "an entry in the weakest of three", client: "opencode",
		files: map[string]string{
			"HOME/.config/opencode/opencode.jsonc": `{"theme": "x"}`,
			"HOME/.config/opencode/opencode.json":  `{}`,
			"HOME/.config/opencode/config.json":    `{"mcp": {"srv": {"type": "local", "command": ["a"]}}}`,
		},
		config: "HOME/.config/opencode/config.json", runs: "a",
	},
	{
		name: "switched off in a weaker file", client: "opencode",
		files: map[string]string{
			"HOME/.config/opencode/opencode.json": `{"mcp": {"srv": {"type": "local", "command": ["a"]}}}`,
			"HOME/.config/opencode/config.json":   `{"mcp": {"srv": {"enabled": false, "environment": {"K": "v"}}}}`,
		},
		config: "HOME/.config/opencode/opencode.json", runs: "a",
		shadows: []string{"switched off: enabled = false"},
		merged:  []string{"HOME/.config/opencode/config.json adds to it: enabled, environment"},
	},
	{
		name: "a remote one in a weaker file", client: "opencode",
		files: map[string]string{
			"HOME/.config/opencode/opencode.json": `{"mcp": {"srv": {"enabled": true}}}`,
			"HOME/.config/opencode/config.json":   `{"mcp": {"srv": {"type": "remote", "url": "https://x"}}}`,
		},
		config: "HOME/.config/opencode/opencode.json",
		merged: []string{"HOME/.config/opencode/config.json adds to it: type, url"},
		after:  `"type": "local"`,
	},
	{
		name: "a directory in the home directory", client: "opencode",
		files: map[string]string{
			"HOME/.config/opencode/opencode.json": `{"mcp": {"srv": {"type": "local", "command": ["a"]}}}`,
			"HOME/.opencode/opencode.json":        `{"mcp": {"srv": {"type": "local", "command": ["b"]}}}`,
		},
		config: "HOME/.opencode/opencode.json", runs: "b",
	},
	{
		name: "files that variables name", client: "opencode",
		env: map[string]string{"OPENCODE_CONFIG": "HOME/one.json", "XDG_CONFIG_HOME": "HOME/x"},
		files: map[string]string{
			"HOME/one.json":                       `{"mcp": {"srv": {"type": "local", "command": ["b"]}}}`,
			"HOME/x/opencode/opencode.json":       `{"mcp": {"srv": {"type": "local", "command": ["a"]}}}`,
			"HOME/.config/opencode/opencode.json": `{"mcp": {"srv": {"type": "local", "command": ["c"]}}}`,
			"REPO/opencode.json":                  `{"mcp": {"srv": {"command": ["p"]}}}`,
		},
		config: "HOME/one.json", runs: "b",
		shadows: []string{"REPO/opencode.json has an entry of that name, which wins in command"},
	},
	{
		name: "a directory that a variable names", client: "opencode",
		env: map[string]string{"OPENCODE_CONFIG_DIR": "HOME/d", "OPENCODE_CONFIG_CONTENT": `{"mcp": {"srv": {"enabled": false}}}`},
		files: map[string]string{
			"HOME/d/opencode.jsonc":               `{"mcp": {"srv": {"type": "local", "command": ["b"]}}}`,
			"HOME/.config/opencode/opencode.json": `{}`,
			"REPO/.opencode/opencode.json":        `{"mcp": {"srv": {"type": "local", "command": ["b"], "timeout": 5}}}`,
		},
		config: "HOME/d/opencode.jsonc", runs: "b",
		shadows: []string{"$OPENCODE_CONFIG_CONTENT has an entry of that name, which wins in enabled"},
		merged:  []string{"REPO/.opencode/opencode.json adds to it: timeout"},
	},
	{
		name: "directories of the project", client: "opencode",
		files: map[string]string{
			"HOME/.config/opencode/opencode.json": `{"mcp": {"srv": {"type": "local", "command": ["a"]}}}`,
			"REPO/.opencode/opencode.jsonc":       `{"mcp": {"srv": {"command": ["p"]}}}`,
		},
		config: "HOME/.config/opencode/opencode.json", runs: "a",
		shadows: []string{"REPO/.opencode/opencode.jsonc has an entry of that name, which wins in command"},
	},
	{
		name: "no entry, and a config that is not the strongest place", client: "opencode",
		files:  map[string]string{"HOME/.config/opencode/opencode.json": `{}`, "HOME/.opencode/opencode.json": `{}`},
		config: "HOME/.config/opencode/opencode.json",
	},
	// pi-mcp-adapter 2.36.0
	{
		name: "a shared config", client: "pi",
		files:  map[string]string{"HOME/.pi/agent/mcp.json": `{}`, "HOME/.config/mcp/mcp.json": `{"mcpServers": {"srv": {"command": "a"}}}`},
		config: "HOME/.config/mcp/mcp.json", runs: "a",
	},
	{
		name: "its own over two shared ones", client: "pi",
		env: map[string]string{"PI_CODING_AGENT_DIR": "~/agent"},
		files: map[string]string{
			"HOME/agent/mcp.json":       `{"mcpServers": {"srv": {"command": "a"}}}`,
			"HOME/.agents/mcp.json":     `{"mcpServers": {"srv": {"command": "b", "lifecycle": "eager"}}}`,
			"HOME/.agents/mcp/mcp.json": `{"mcpServers": {"srv": {"disabled": true}}}`,
		},
		config: "HOME/agent/mcp.json", runs: "a",
		shadows: []string{"switched off: disabled = true"},
		merged:  []string{"HOME/.agents/mcp/mcp.json adds to it: disabled", "HOME/.agents/mcp.json adds to it: lifecycle"},
	},
	{
		name: "switched off in the project", client: "pi",
		files: map[string]string{
			"HOME/.pi/agent/mcp.json": `{"mcpServers": {"srv": {"command": "a"}}}`,
			"REPO/.pi/mcp.json":       `{"mcpServers": {"srv": {"disabled": true}}}`,
			"REPO/.mcp.json":          `{"mcpServers": {"srv": {"command": "p"}}}`,
		},
		config: "HOME/.pi/agent/mcp.json", runs: "a",
		shadows: []string{"REPO/.pi/mcp.json has an entry of that name, which wins in disabled", "REPO/.mcp.json has an entry of that name, which wins in command"},
	},
	{
		name: "the other name of its servers is not hidden", client: "pi",
		files:  map[string]string{"HOME/.pi/agent/mcp.json": `{"mcp-servers": {"other": {"command": "a"}}}`},
		config: "HOME/.pi/agent/mcp.json",
		after:  `{"mcp-servers": {"other": {"command": "a"}, "srv":`,
	},
	// copilot 1.0.102
	{
		name: "comments, and the name in its settings", client: "copilot",
		env: map[string]string{"COPILOT_HOME": "HOME/c"},
		files: map[string]string{
			"HOME/c/mcp-config.json":     "{\n  // mine\n  \"mcpServers\": {\"srv\": {\"type\": \"local\", \"command\": \"a\", \"args\": [],},},\n}",
			"HOME/c/settings.json":       "-> HOME/dotfiles/copilot.json",
			"HOME/dotfiles/copilot.json": `{"disabledMcpServers": ["srv"]}`,
			// What another variable would name counts for nothing.
			"HOME/.copilot/mcp-config.json": `{"mcpServers": {"srv": {"command": "b"}}}`,
		},
		config: "HOME/c/mcp-config.json", runs: "a",
		shadows: []string{"switched off: in disabledMcpServers, HOME/c/settings.json"},
		after:   "// mine",
	},
	{
		name: "a file of a trusted project", client: "copilot",
		files: map[string]string{
			"HOME/.copilot/mcp-config.json": `{"mcpServers": {"srv": {"command": "a"}}}`,
			"HOME/.copilot/config.json":     `{"trustedFolders": ["/elsewhere", "REPO"]}`,
			"REPO/.github/mcp.json":         `{"mcpServers": {"srv": {"command": "p"}}}`,
		},
		config: "HOME/.copilot/mcp-config.json", runs: "a",
		shadows: []string{"REPO/.github/mcp.json has an entry of that name, which wins"},
	},
	{
		name: "a file of another project", client: "copilot",
		files: map[string]string{
			"HOME/.copilot/mcp-config.json": `{"mcpServers": {"srv": {"command": "a"}}}`,
			"HOME/.copilot/config.json":     `{"trustedFolders": ["/elsewhere"]}`,
			"REPO/.mcp.json":                `{"mcpServers": {"srv": {"command": "p"}}}`,
		},
		config: "HOME/.copilot/mcp-config.json", runs: "a",
		shadows: []string{"REPO/.mcp.json has an entry of that name, which wins once the folder is trusted"},
	},
	// amp 0.0.1790142911
	{
		name: "the file that a variable names", client: "amp",
		env: map[string]string{"AMP_SETTINGS_FILE": "HOME/a.json", "XDG_CONFIG_HOME": "HOME/x"},
		files: map[string]string{
			"HOME/a.json":                    `{"amp.mcpServers": {"srv": {"command": "b"}}}`,
			"HOME/x/amp/settings.json":       `{"amp.mcpServers": {"srv": {"command": "c"}}}`,
			"HOME/.config/amp/settings.json": `{"amp.mcpServers": {"srv": {"command": "a"}}}`,
		},
		config: "HOME/a.json", runs: "b",
	},
	{
		name: "the directory that a variable names", client: "amp",
		env: map[string]string{"XDG_CONFIG_HOME": "HOME/x"},
		files: map[string]string{
			"HOME/x/amp/settings.jsonc":      `{"amp.mcpServers": {"srv": {"command": "c"}}}`,
			"HOME/.config/amp/settings.json": `{"amp.mcpServers": {"srv": {"command": "a"}}}`,
			"REPO/.amp/settings.jsonc":       `{"amp.mcpServers": {"srv": {"command": "p"}}}`,
		},
		config: "HOME/x/amp/settings.jsonc", runs: "c",
		shadows: []string{"REPO/.amp/settings.jsonc has an entry of that name, which wins"},
	},
	// qwen 0.15.10
	{
		name: "its home, and the folders trusted there", client: "qwen",
		env: map[string]string{"QWEN_HOME": "~/q"},
		files: map[string]string{
			"HOME/q/settings.json":       `{"security": {"folderTrust": {"enabled": true}}, "mcpServers": {"srv": {"command": "a"}}}`,
			"HOME/q/trustedFolders.json": `{"REPO": "DO_NOT_TRUST"}`,
			"HOME/.qwen/settings.json":   `{"mcpServers": {"srv": {"command": "b"}}}`,
		},
		config: "HOME/q/settings.json", runs: "a",
		shadows: []string{"untrusted folder: qwen starts no MCP server in an untrusted folder"},
	},
	// zed, in the spellings of its versions
	{
		name: "an extension's settings become a command", client: "zed",
		files:  map[string]string{"HOME/.config/zed/settings.json": `{"context_servers": {"srv": {"source": "extension", "settings": {}}}}`},
		config: "HOME/.config/zed/settings.json",
		after:  `"source": "custom"`,
	},
	{
		name: "no arguments are spelled", client: "zed",
		files:  map[string]string{"HOME/.config/zed/settings.json": `{"context_servers": {"srv": {"url": "https://x"}}}`},
		config: "HOME/.config/zed/settings.json",
		after:  `"args": []`, mode: checkout.ModeInstalled,
	},
	{
		name: "a command that is an object keeps its variables", client: "zed",
		files:  map[string]string{"HOME/.config/zed/settings.json": `{"context_servers": {"srv": {"command": {"path": "a", "args": ["-x"], "env": {"KEY": "v"}}}}}`},
		config: "HOME/.config/zed/settings.json", runs: "a -x",
		after: `"env": {"KEY": "v"}`,
	},
}

func TestLayers(t *testing.T) {
	for _, c := range layerCases {
		t.Run(c.client+"/"+c.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			home, repo := filepath.Join(root, "home"), filepath.Join(root, "repo")
			place := strings.NewReplacer("HOME", home, "REPO", repo)
			c.files["REPO/pyproject.toml"] = "[project]\nname = \"srv\"\n[project.scripts]\nsrv = \"x\"\n"
			for name, text := range c.files {
				name = place.Replace(name)
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if target, ok := strings.CutPrefix(text, "-> "); ok {
					err = os.Symlink(place.Replace(target), name)
				} else {
					err = os.WriteFile(name, []byte(place.Replace(text)), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			getenv := func(name string) string { return place.Replace(c.env[name]) }
			var warned []string
			s := New(machine.System{GOOS: "linux", Home: home, Getenv: getenv}, func(text string) { warned = append(warned, text) })
			before := tree(t, root)

			state := func() ClientState {
				t.Helper()
				st, err := s.Status(StatusOptions{Repo: repo, Clients: []string{c.client}, Scope: clients.ScopeUser})
				if err != nil || len(st.Clients) != 1 || st.Clients[0].Error != "" {
					t.Fatalf("status: %+v, %v", st, err)
				}
				return st.Clients[0]
			}
			cs := state()
			if cs.Config != place.Replace(c.config) {
				t.Errorf("status names %s, want %s", cs.Config, place.Replace(c.config))
			}
			if got := strings.Join(cs.Command, " "); got != c.runs {
				t.Errorf("it runs %q, want %q", got, c.runs)
			}
			for what, texts := range map[string][2][]string{"shadows": {cs.Shadows, c.shadows}, "merged": {cs.Merged, c.merged}} {
				want := []string{}
				for _, text := range texts[1] {
					want = append(want, place.Replace(text))
				}
				if !slices.Equal(texts[0], want) {
					t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(texts[0], "\n"), strings.Join(want, "\n"))
				}
			}

			r, err := s.UseLocal(t.Context(), UseOptions{Repo: repo, Clients: []string{c.client}, Scope: clients.ScopeUser, Mode: c.mode, NoPreflight: true})
			if err != nil || AnyFailed(r) || r[0].Config != place.Replace(c.config) {
				t.Fatalf("use-local: %+v, %v", r, err)
			}
			if cs = state(); !slices.Equal(cs.Command, r[0].Command) {
				t.Errorf("use-local made it run %q, want %q", cs.Command, r[0].Command)
			}
			// What use-local does not undo it says, as status does.
			for _, text := range cs.Shadows {
				text, _, _ = strings.Cut(text, " in command")
				if !slices.ContainsFunc(warned, func(w string) bool { return strings.Contains(w, text) }) {
					t.Errorf("use-local said nothing of %q: %q", text, warned)
				}
			}
			changed := tree(t, root)
			for name, text := range changed {
				switch {
				case name == place.Replace(c.config):
					if !strings.Contains(text, c.after) {
						t.Errorf("%q is not in\n%s", c.after, text)
					}
				case strings.Contains(name, ".bak.mcp-swap-"), strings.HasPrefix(name, s.Sys.StateDir()):
				case text != before[name]:
					t.Errorf("use-local changed %s to\n%s", name, text)
				}
			}
			if r, err := s.Revert(t.Context(), RevertOptions{}); err != nil || AnyFailed(r) {
				t.Fatalf("revert: %+v, %v", r, err)
			}
			after := tree(t, root)
			maps.DeleteFunc(after, func(name, _ string) bool { return strings.HasPrefix(name, s.Sys.StateDir()) })
			if !maps.Equal(after, before) {
				t.Errorf("revert left\n%v\nwant\n%v", after, before)
			}
		})
	}
}

// tree reads all files below a directory.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
