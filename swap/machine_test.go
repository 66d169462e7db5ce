package swap

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"tmuxmcp/swap/checkout"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/machine"
)

// Where each client's config is, on each system. Where home variables are
// honoured is in the scripts.
func TestConfigPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are joined with the separator of the system the test runs on")
	}
	same := func(p string) [3]string { return [3]string{p, p, p} }
	want := map[string][3]string{ // Linux, macOS, Windows
		"claude":         same("/h/.claude.json"),
		"codex":          same("/h/.codex/config.toml"),
		"cursor":         same("/h/.cursor/mcp.json"),
		"gemini":         same("/h/.gemini/settings.json"),
		"grok":           same("/h/.grok/config.toml"),
		"agy":            same("/h/.gemini/config/mcp_config.json"),
		"opencode":       same("/h/.config/opencode/opencode.jsonc"),
		"pi":             same("/h/.pi/agent/mcp.json"),
		"claude-desktop": {"/h/.config/Claude/claude_desktop_config.json", "/h/Library/Application Support/Claude/claude_desktop_config.json", "/h/roaming/Claude/claude_desktop_config.json"},
		"vscode":         {"/h/.config/Code/User/mcp.json", "/h/Library/Application Support/Code/User/mcp.json", "/h/roaming/Code/User/mcp.json"},
		"windsurf":       same("/h/.codeium/windsurf/mcp_config.json"),
		"zed":            {"/h/.config/zed/settings.json", "/h/.config/zed/settings.json", "/h/roaming/Zed/settings.json"},
		"qwen":           same("/h/.qwen/settings.json"),
		"copilot":        same("/h/.copilot/mcp-config.json"),
		"droid":          same("/h/.factory/mcp.json"),
		"amp":            same("/h/.config/amp/settings.json"),
	}
	if len(want) != len(clients.All) {
		t.Errorf("%d clients in the table, %d here", len(clients.All), len(want))
	}
	for i, sys := range systems(t) {
		for _, c := range clients.All {
			if got := c.ConfigPath(sys); got != want[c.Name][i] {
				t.Errorf("%s on %s: %s, want %s", c.Name, sys.GOOS, got, want[c.Name][i])
			}
		}
	}
}

// systems are a home on Linux, macOS and Windows.
func systems(t *testing.T) (all []machine.System) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		sys, err := machine.SystemFor(goos, func(name string) string {
			return map[string]string{"HOME": "/h", "USERPROFILE": "/h", "APPDATA": "/h/roaming"}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sys)
	}
	return all
}

// Every name and alias means its own client, and no two clients keep the same entries:
// a swap of one would change the other.
func TestClientsAreDistinct(t *testing.T) {
	for _, c := range clients.All {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if got := clients.Lookup(name); got != c {
				t.Errorf("%s is %s, want %s", name, got.Name, c.Name)
			}
		}
	}
	if c := clients.Lookup("antigravity"); c == nil || c.Name != "agy" {
		t.Errorf("antigravity is %v", c)
	}
	for _, sys := range systems(t) {
		owner := map[string]string{}
		for _, c := range clients.All {
			for scope, containers := range c.Scopes {
				for _, container := range containers {
					place := fmt.Sprintf("%s %q", c.ConfigPath(sys), container)
					if other := owner[place]; other != "" {
						t.Errorf("on %s, %s (%s) and %s share %s", sys.GOOS, c.Name, scope, other, place)
					}
					owner[place] = c.Name
				}
			}
		}
	}
}

func TestRemoteSpellings(t *testing.T) {
	for _, spelling := range []string{
		"https://github.com/o/n", "https://github.com/o/n.git", "https://github.com/o/n/", "http://github.com/o/n.git",
		"https://user@github.com/o/n", "https://user:token@github.com/o/n.git",
		"git@github.com:o/n.git", "github.com:o/n", "me@github.com:/o/n.git",
		"ssh://git@github.com/o/n.git", "ssh://git@github.com:2222/o/n", "git+ssh://git@github.com/o/n.git", "git+https://github.com/o/n.git",
		"git://github.com/o/n.git",
	} {
		got, err := checkout.HTTPSURL(spelling)
		if err != nil || got != "https://github.com/o/n" {
			t.Errorf("%s: %s, %v", spelling, got, err)
		}
	}
	if got, err := checkout.HTTPSURL("https://git.example.com:8443/g/sub/n.git"); err != nil || got != "https://git.example.com:8443/g/sub/n" {
		t.Errorf("a port of https stays: %s, %v", got, err)
	}
	for _, spelling := range []string{"/srv/git/n.git", "../n", "file:///srv/n.git", "https://", "ssh://host"} {
		if got, err := checkout.HTTPSURL(spelling); err == nil {
			t.Errorf("%s became %s", spelling, got)
		}
	}
}

func TestClassify(t *testing.T) {
	repo, s := tempDir(t, nil), swapperAt("/h", nil)
	for command, want := range map[string]string{
		"uv --directory REPO run x":                         "local (this repo)",
		"uv --directory=REPO run x":                         "local (this repo)",
		"/usr/bin/uv --project /a run x":                    "local (/a)",
		"go run -C REPO ./cmd/x":                            "local (this repo)",
		"go run -C":                                         "other",
		"cargo run --quiet --manifest-path REPO/Cargo.toml": "local (this repo)",
		"node REPO/dist/x.js":                               "local (this repo)",
		"node /a/x.js":                                      "local (/a/x.js)",
		"python3 -m x":                                      "other",
		"REPO/bin/x":                                        "local (this repo)",
		"/h/.cache/mcp-swap/build/" + checkout.BuildName(repo) + "/x": "local (this repo)",
		"/h/.cache/mcp-swap/build/0123/x":                             "local (/h/.cache/mcp-swap/build/0123/x)",
		"/usr/bin/x":                                                  "other",
		"uvx --from git+https://h/o/n@refs/pull/12/head x":            "PR 12",
		"uvx --from git+https://h/o/n@v1 x":                           "pinned: git+https://h/o/n@v1",
		"uvx x==1.2":                                                  "pinned: x==1.2",
		"uvx --python 3.12 x@1.2":                                     "pinned: x@1.2",
		"uvx x@latest":                                                "unpinned: x@latest",
		"uv tool run x":                                               "unpinned: x",
		"npx -y @me/x":                                                "unpinned: @me/x",
		"npx -y @me/x@1.0.0":                                          "pinned: @me/x@1.0.0",
		"npx -y --package=x@2 y":                                      "pinned: x@2",
		"pipx run x":                                                  "unpinned: x",
		"go run example.com/m@latest":                                 "unpinned: example.com/m@latest",
		"go run example.com/m@v1.2.3":                                 "pinned: example.com/m@v1.2.3",
		"docker run -i x":                                             "other",
		"":                                                            "other",
	} {
		argv := strings.Fields(strings.ReplaceAll(command, "REPO", repo))
		if runtime.GOOS != "linux" && strings.Contains(command, "/h/.cache") {
			continue
		}
		if got := s.tag(argv, nil, repo).String(); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
