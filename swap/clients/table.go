package clients

import (
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/format"
)

var (
	userOnly = func(path ...string) map[Scope][][]string {
		return map[Scope][][]string{ScopeUser: {path}}
	}
	disabled = off{Field: "disabled", Value: true}
	enabled  = off{Field: "enabled", Value: false}
)

// geminiTrust, geminiList and the two lists are shared by gemini and its fork
// qwen. Gemini asks for trust unless that is switched off, qwen only if it is
// switched on.
func geminiTrust(dir location, open bool, env string) *trust {
	return &trust{
		File: &dir, Yes: []string{"TRUST_FOLDER", "TRUST_PARENT"},
		Gate: []string{"security", "folderTrust", "enabled"}, Open: open, Env: env,
		Needs: "starts no MCP server in an untrusted folder",
	}
}

var geminiList = ask.Listed(`(?m)^\S+ NAME(?: \(from .*\))?: (?P<command>.*) \(stdio\) - (?P<says>.+)$`, `(?m)^(Configured MCP servers:|No MCP servers configured)`)

var geminiOff = []off{
	{Path: []string{"mcp", "excluded"}},
	{Path: []string{"mcp", "allowed"}, Allow: true},
}

// All is the table of all agent CLIs, in the order of all output.
var All = []*Client{
	{
		Name:     "claude",
		Binaries: []string{"claude"},
		Config:   under("CLAUDE_CONFIG_DIR", "~", ".claude.json"),
		Kind:     format.JSON,
		Scopes: map[Scope][][]string{
			ScopeUser:    {{"mcpServers"}},
			ScopeProject: {{"projects", projectKey, "mcpServers"}},
		},
		Parent: format.Object{
			{Name: "allowedTools", Value: []any{}}, {Name: "mcpContextUris", Value: []any{}},
			{Name: "mcpServers", Value: nil}, {Name: "env", Value: format.Object{}},
		},
		Dialect: dialect{Type: "stdio", EnvAlways: true},
		Lock:    ".lock",
		Off:     []off{{Path: []string{"projects", projectKey, "disabledMcpServers"}}},
		Project: []ProjectFile{{Path: ".mcp.json", Kind: format.JSON, Container: []string{"mcpServers"}, Approved: true}},
		Ask: &ask.Row{
			Args: []string{"mcp", "get", ask.ServerName},
			Env:  []string{"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
			Read: ask.Listed(`(?m)^NAME:\n +Scope: (?P<place>\w+).*\n +Status: \S+ (?P<says>.+)(?:\n +Type: stdio\n +Command: (?P<command>.*)\n +Args:(?P<args>.*))?`, `No MCP server`),
			// It reports a server in disabledMcpServers like any other.
			Blind: true,
		},
		Also:  []location{under("CLAUDE_CONFIG_DIR", "~/.claude", "settings.json")},
		Login: []string{"ANTHROPIC_API_KEY"},
	},
	{
		Name:     "codex",
		Binaries: []string{"codex"},
		Config:   under("CODEX_HOME", "~/.codex", "config.toml"),
		Kind:     format.TOML,
		Scopes:   userOnly("mcp_servers"),
		Bare:     true,
		Off:      []off{enabled},
		Project:  []ProjectFile{{Path: ".codex/config.toml", Kind: format.TOML, Container: []string{"mcp_servers"}, Trusted: true}},
		Trust:    &trust{Path: []string{"projects"}, Field: "trust_level", Yes: []string{"trusted"}},
		Ask:      &ask.Row{Args: []string{"app-server"}, Send: ask.CodexDialogue, Read: ask.Codex},
		Login:    []string{"OPENAI_API_KEY"},
	},
	{
		Name:     "cursor",
		Binaries: []string{"cursor-agent", "cursor"},
		Editor:   true,
		Config:   at(".cursor/mcp.json"),
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Off:      []off{disabled},
		Project:  []ProjectFile{{Path: ".cursor/mcp.json", Kind: format.JSON, Container: []string{"mcpServers"}}},
	},
	{
		Name:     "gemini",
		Binaries: []string{"gemini"},
		Config:   under("GEMINI_CLI_HOME", "~", ".gemini/settings.json"),
		Kind:     format.JSONComments,
		Scopes:   userOnly("mcpServers"),
		Expands:  true,
		Off:      geminiOff,
		Project:  []ProjectFile{{Path: ".gemini/settings.json", Kind: format.JSONComments, Container: []string{"mcpServers"}, Trusted: true}},
		Trust:    geminiTrust(under("GEMINI_CLI_HOME", "~", ".gemini/trustedFolders.json"), false, "GEMINI_CLI_TRUST_WORKSPACE"),
		Ask:      &ask.Row{Args: []string{"mcp", "list"}, Read: geminiList},
		Login:    []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	},
	{
		Name:     "grok",
		Binaries: []string{"grok"},
		Config:   under("GROK_HOME", "~/.grok", "config.toml"),
		Kind:     format.TOML,
		Scopes:   userOnly("mcp_servers"),
		Dialect:  dialect{Extra: format.Object{{Name: "enabled", Value: true}}},
		Off:      []off{enabled},
		Project:  []ProjectFile{{Path: ".grok/config.toml", Kind: format.TOML, Container: []string{"mcp_servers"}}},
		Ask:      &ask.Row{Args: []string{"mcp", "doctor", ask.ServerName, "--json"}, Read: ask.Grok},
		Login:    []string{"XAI_API_KEY", "GROK_API_KEY"},
	},
	{
		Name:     "agy",
		Aliases:  []string{"antigravity"},
		Binaries: []string{"agy"},
		Config:   at(".gemini/config/mcp_config.json"),
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Off:      []off{disabled},
	},
	{
		Name:     "opencode",
		Binaries: []string{"opencode"},
		Config: location{
			Dirs:  map[string][]candidate{"": {{Env: "XDG_CONFIG_HOME", AbsOnly: true, Dir: "opencode"}, {Dir: "~/.config/opencode"}}},
			Files: []string{"opencode.jsonc", "opencode.json", "config.json"},
		},
		Kind: format.JSONC,
		// opencode 1.18 reads mcp.servers too.
		Scopes:  map[Scope][][]string{ScopeUser: {{"mcp"}, {"mcp", "servers"}}},
		Seed:    format.Object{{Name: "$schema", Value: "https://opencode.ai/config.json"}},
		Dialect: dialect{Type: "local", Argv: true, Env: "environment"},
		Off:     []off{enabled},
		Project: []ProjectFile{
			{Path: "opencode.jsonc", Kind: format.JSONC, Container: []string{"mcp"}},
			{Path: "opencode.json", Kind: format.JSONC, Container: []string{"mcp"}},
		},
		Ask: &ask.Row{
			Args: []string{"mcp", "list"},
			Env:  []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_PURE=1"},
			// Below a server that failed, the reason comes before the command.
			Read: ask.Listed(`(?m)^\S +\S NAME (?P<says>.+)\n(?:\S {6}.*\n)*\S {6}(?P<command>.+)\n\S\s*$`, `\d+ server\(s\)|No MCP servers`),
		},
	},
	{
		Name:     "pi",
		Binaries: []string{"pi"},
		Config:   at(".pi/agent/mcp.json"),
		Kind:     format.JSONC,
		Scopes:   userOnly("mcpServers"),
		Note:     "read by the pi-mcp-adapter extension, not by pi itself",
		Off:      []off{disabled},
	},
	{
		Name:   "claude-desktop",
		Editor: true,
		Config: perSystem("Claude", "claude_desktop_config.json"),
		Kind:   format.JSON,
		Scopes: userOnly("mcpServers"),
	},
	{
		Name:     "vscode",
		Binaries: []string{"code"},
		Editor:   true,
		Config:   perSystem("Code/User", "mcp.json"),
		Kind:     format.JSONC,
		Scopes:   userOnly("servers"),
		Dialect:  dialect{Type: "stdio"},
		Project:  []ProjectFile{{Path: ".vscode/mcp.json", Kind: format.JSONC, Container: []string{"servers"}}},
	},
	{
		Name:     "windsurf",
		Binaries: []string{"windsurf"},
		Editor:   true,
		Config:   at(".codeium/windsurf/mcp_config.json"),
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Off:      []off{disabled},
	},
	{
		Name:     "zed",
		Binaries: []string{"zed", "zeditor"},
		Editor:   true,
		Config: location{
			Dirs: map[string][]candidate{
				"":        {{Env: "XDG_CONFIG_HOME", AbsOnly: true, Dir: "zed"}, {Dir: "~/.config/zed"}},
				"darwin":  {{Dir: "~/.config/zed"}},
				"windows": {{Env: "APPDATA", Dir: "Zed"}, {Dir: "~/AppData/Roaming/Zed"}},
			},
			Files: []string{"settings.json"},
		},
		Kind:    format.JSONC,
		Scopes:  userOnly("context_servers"),
		Off:     []off{enabled},
		Project: []ProjectFile{{Path: ".zed/settings.json", Kind: format.JSONC, Container: []string{"context_servers"}}},
	},
	{
		Name:     "qwen",
		Binaries: []string{"qwen"},
		Config:   at(".qwen/settings.json"),
		Kind:     format.JSONComments,
		Scopes:   userOnly("mcpServers"),
		Expands:  true,
		Off:      geminiOff,
		Project:  []ProjectFile{{Path: ".qwen/settings.json", Kind: format.JSONComments, Container: []string{"mcpServers"}, Trusted: true}},
		Trust:    geminiTrust(at(".qwen/trustedFolders.json"), true, ""),
		Ask:      &ask.Row{Args: []string{"mcp", "list"}, Read: geminiList, Blind: true},
	},
	{
		Name:     "copilot",
		Binaries: []string{"copilot"},
		Config:   at(".copilot/mcp-config.json"),
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Dialect:  dialect{Type: "local", Extra: format.Object{{Name: "tools", Value: []string{"*"}}}},
	},
	{
		Name:     "droid",
		Binaries: []string{"droid"},
		Config:   at(".factory/mcp.json"),
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Dialect:  dialect{Type: "stdio", Extra: format.Object{{Name: "disabled", Value: false}}},
		Ask:      &ask.Row{Args: []string{"mcp", "list"}, Read: ask.Listed(`(?m)^ +NAME +stdio +(?P<says>.+?) +\[(?P<place>\w+)\]$`, `Configured MCP servers:|No MCP servers`)},
		Off:      []off{disabled},
		Project:  []ProjectFile{{Path: ".factory/mcp.json", Kind: format.JSON, Container: []string{"mcpServers"}}},
	},
	{
		Name:     "amp",
		Binaries: []string{"amp"},
		// It reads the second only where the first is not.
		Config: at(".config/amp/settings.json", ".config/amp/settings.jsonc"),
		Kind:   format.JSONC,
		Scopes: userOnly("amp.mcpServers"),
		Project: []ProjectFile{
			{Path: ".amp/settings.json", Kind: format.JSONC, Container: []string{"amp.mcpServers"}},
			{Path: ".amp/settings.jsonc", Kind: format.JSONC, Container: []string{"amp.mcpServers"}},
		},
	},
}
