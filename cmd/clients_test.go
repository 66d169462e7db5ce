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

// TestClientScripts runs one script over every client and three states of its
// config: no entry yet, an entry of its own, an empty file. Each time use-local
// must write what that client reads, and revert must restore the exact bytes.
func TestClientScripts(t *testing.T) {
	dir := t.TempDir()
	for _, c := range clientConfigs {
		for _, state := range []string{"new", "existing", "empty"} {
			if state == "empty" && c.NotEmpty {
				continue
			}
			name := filepath.Join(dir, c.CLI+"-"+state+".txtar")
			if err := os.WriteFile(name, []byte(clientScript(t, c, state)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	runScripts(t, dir)
}

// clientScript is the script for one client and one state of its config.
func clientScript(t *testing.T, c clientConfig, state string) string {
	const templates = "../testdata/swap/clients/"
	format, respelled := "json.tmpl", ", beside another; numbers and escapes that a\n# parser would respell stay."
	kept := ", and their order."
	if c.Container == "" {
		format, respelled, kept = "toml.tmpl", ".", " and comments."
	}
	tmpl := template.Must(template.ParseFiles(templates+"script.tmpl", templates+format))
	render := func(name string, data any) string {
		var b strings.Builder
		if tmpl.Lookup(name) == nil {
			return "" // an empty file
		}
		if err := tmpl.ExecuteTemplate(&b, name, data); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	about := map[string]string{
		"new":      "# A new entry for " + c.CLI + ", in its own dialect" + respelled,
		"existing": "# An entry that " + c.CLI + " has keeps its other fields" + kept,
		"empty":    "# An empty config of " + c.CLI + " becomes a whole one; revert empties it.",
	}
	return render("script.tmpl", struct {
		clientConfig
		About, Before, After string
	}{c, about[state], render(state+".before", c), render(state+".after", c)})
}
