package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
)

// clientConfig is how a client writes down its MCP servers.
type clientConfig struct {
	CLI  string
	Path string // below HOME
	// Container is the object with the servers. It is empty for clients whose
	// config is TOML.
	Container     string
	Comments      bool
	TrailingComma bool
	List          bool   // the command and its arguments are one list
	Type          string // of a local server
	// More are the fields of a new entry besides the command and the type;
	// MoreLines are the same fields, formatted as in a new file.
	More, MoreLines string
	// NotEmpty is set where an empty file has a script of its own.
	NotEmpty bool
}

var clientConfigs = []clientConfig{
	{CLI: "agy", Path: ".gemini/config/mcp_config.json", Container: "mcpServers"},
	{CLI: "amp", Path: ".config/amp/settings.json", Container: "amp.mcpServers", Comments: true, TrailingComma: true},
	{CLI: "claude-desktop", Path: ".config/Claude/claude_desktop_config.json", Container: "mcpServers"},
	{CLI: "codex", Path: ".codex/config.toml"},
	{
		CLI: "copilot", Path: ".copilot/mcp-config.json", Container: "mcpServers", Type: "local",
		More: `"tools": ["*"]`, MoreLines: "      \"tools\": [\n        \"*\"\n      ]",
	},
	{CLI: "cursor", Path: ".cursor/mcp.json", Container: "mcpServers"},
	{
		CLI: "droid", Path: ".factory/mcp.json", Container: "mcpServers", Type: "stdio",
		More: `"disabled": false`, MoreLines: `      "disabled": false`,
	},
	{CLI: "gemini", Path: ".gemini/settings.json", Container: "mcpServers", Comments: true},
	{CLI: "grok", Path: ".grok/config.toml", More: "enabled = true"},
	{
		CLI: "opencode", Path: ".config/opencode/opencode.jsonc", Container: "mcp", Comments: true, TrailingComma: true,
		List: true, Type: "local", NotEmpty: true,
	},
	{CLI: "pi", Path: ".pi/agent/mcp.json", Container: "mcpServers", Comments: true, TrailingComma: true},
	{CLI: "qwen", Path: ".qwen/settings.json", Container: "mcpServers", Comments: true},
	{CLI: "vscode", Path: ".config/Code/User/mcp.json", Container: "servers", Comments: true, TrailingComma: true, Type: "stdio"},
	{CLI: "windsurf", Path: ".codeium/windsurf/mcp_config.json", Container: "mcpServers"},
	{CLI: "zed", Path: ".config/zed/settings.json", Container: "context_servers", Comments: true, TrailingComma: true},
}

// TestClientScripts runs one script for each of three states of the configs of all clients:
// no entry yet, an entry of its own, an empty file. Each time use-local must write what that
// client reads, and revert must restore the exact bytes.
func TestClientScripts(t *testing.T) {
	dir := t.TempDir()
	for state, about := range map[string]string{
		"new":      "A new entry in each client's own dialect, beside another; numbers and escapes that a parser would respell stay, and comments.",
		"existing": "An entry that a client has keeps its other fields, their order, and comments.",
		"empty":    "An empty config becomes a whole one; revert empties it.",
	} {
		if err := os.WriteFile(filepath.Join(dir, state+".txtar"), []byte(clientScript(t, state, about)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runScripts(t, dir)
}

// clientScript is the script for one state of the clients' configs.
func clientScript(t *testing.T, state, about string) string {
	const templates = "../testdata/swap/clients/"
	type client struct {
		clientConfig
		Before, After string
	}
	var all []client
	var names []string
	for _, c := range clientConfigs {
		if state == "empty" && c.NotEmpty {
			continue
		}
		format := "json.tmpl"
		if c.Container == "" {
			format = "toml.tmpl"
		}
		tmpl := template.Must(template.ParseFiles(templates + format))
		render := func(name string) string {
			if tmpl.Lookup(name) == nil {
				return "" // an empty file
			}
			return execute(t, tmpl, name, c)
		}
		all = append(all, client{c, render(state + ".before"), render(state + ".after")})
		names = append(names, c.CLI)
	}
	return execute(t, template.Must(template.ParseFiles(templates+"script.tmpl")), "script.tmpl", map[string]any{"About": about, "CLI": strings.Join(names, ","), "Clients": all})
}

func execute(t *testing.T, tmpl *template.Template, name string, data any) string {
	t.Helper()
	var b strings.Builder
	if err := tmpl.ExecuteTemplate(&b, name, data); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
