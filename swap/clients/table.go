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

// system returns where gemini and qwen keep the administrator's files. defaults are for the
// weakest file, which is beside the other.
func system(env, name, darwin string) (settings, defaults location) {
	at := func(file string, named ...candidate) location {
		return location{Dirs: map[string][]candidate{
			"":        append(named[:len(named):len(named)], candidate{Dir: "/etc/" + name}),
			"darwin":  append(named[:len(named):len(named)], candidate{Dir: "/Library/Application Support/" + darwin}),
			"windows": append(named[:len(named):len(named)], candidate{Env: "ProgramData", Dir: name}),
		}, Files: []string{file}}
	}
	settings = at("settings.json", candidate{Env: env + "_SYSTEM_SETTINGS_PATH", File: true})
	defaults = at("system-defaults.json",
		candidate{Env: env + "_SYSTEM_DEFAULTS_PATH", File: true}, candidate{Env: env + "_SYSTEM_SETTINGS_PATH", Dir: ".."})
	return settings, defaults
}

var (
	geminiSystem, geminiDefaults = system("GEMINI_CLI", "gemini-cli", "GeminiCli")
	qwenSystem, qwenDefaults     = system("QWEN_CODE", "qwen-code", "QwenCode")
)

var (
	ampManaged = administrators("/etc/ampcode", "/Library/Application Support/ampcode", "ProgramData", "ampcode", "managed-settings.json")
	ampRules   = off{Path: []string{"amp.mcpPermissions"}, Rules: true}
)

// codexSystem returns where codex keeps an administrator's file.
func codexSystem(file string) location {
	return location{Dirs: map[string][]candidate{
		"": {{Dir: "/etc/codex"}}, "windows": {{Env: "ProgramData", Dir: "OpenAI/Codex"}},
	}, Files: []string{file}}
}

// geminiTrust, geminiList and the two lists are shared by gemini and its fork qwen. Gemini
// asks for trust unless that is switched off, qwen only if it is switched on.
func geminiTrust(dir location, open bool, env string) *trust {
	return &trust{
		File: &dir, Yes: []string{"TRUST_FOLDER", "TRUST_PARENT"},
		Gate: []string{"security", "folderTrust", "enabled"}, Open: open, Env: env,
		Needs: "starts no MCP server",
	}
}

var geminiList = ask.Listed(`(?m)^\S+ NAME(?: \(from .*\))?: (?P<command>.*) \((?:stdio|http|sse)\) - (?P<says>.+)$`, `(?m)^(Configured MCP servers:|No MCP servers configured)`)

// geminiOff are the lists in the config and in the administrator's files; gemini, but not
// qwen, ignores the case of names.
func geminiOff(system location, fold bool) []off {
	excluded := off{Path: []string{"mcp", "excluded"}, Fold: fold}
	allowed := off{Path: []string{"mcp", "allowed"}, Allow: true, Fold: fold}
	return []off{excluded, allowed, inFile(system, excluded), inFile(system, allowed)}
}

// inFile returns an off in a separate file.
func inFile(at location, o off) off {
	o.File = &at
	return o
}

var grokTrust = under("GROK_HOME", "~/.grok", "trusted_folders.toml")

var copilotTrust = under("COPILOT_HOME", "~/.copilot", "config.json")

// openCode are the files in a directory of opencode's, and kilo those of its fork kilo.
var (
	openCode = []string{"opencode.jsonc", "opencode.json"}
	kilo     = []string{"opencode.json", "opencode.jsonc", "kilo.json", "kilo.jsonc"}
)

var environment = map[string]string{"env": "environment"}

// openCodeList reads the output of "mcp list" of both. For a server that failed, the reason
// comes before the command.
var openCodeList = ask.Listed(
	`(?m)^\S +\S NAME (?P<says>.+)\n(?:\S {6}.*\n)*\S {6}(?P<command>.+)\n\S\s*$`,
	`\d+ server\(s\)|No MCP servers`,
)

// administrators returns a layer of files in a directory on Linux, on macOS, and, below the
// value of a variable, on Windows.
func administrators(linux, darwin, windows, dir string, files ...string) Layer {
	return managed(location{Dirs: map[string][]candidate{
		"":        {{Dir: linux}},
		"darwin":  {{Dir: darwin}},
		"windows": {{Env: windows, Dir: dir}},
	}, Files: files})
}

// vsCode returns a build of VS Code, with the directories of its app and of its server,
// which runs on machines without the app. A profile with its own servers has no others.
func vsCode(name, app, server string, binaries ...string) *Client {
	return &Client{
		Name: name, Binaries: binaries, Editor: true,
		Layers: []Layer{
			project(".vscode/mcp.json"), managed(perSystem(app+"/User/profiles/*", "mcp.json")).when("in that profile"),
			own(perSystem(app+"/User", "mcp.json")), own(at(server + "/data/User/mcp.json")),
		},
		Kind: format.JSONC, Scopes: userOnly("servers"), Dialect: dialect{Type: "stdio", URL: "url", HTTP: "http"},
	}
}

// All is the table of all agent CLIs, in the order of all output.
var All = []*Client{
	{
		Name:     "claude",
		Binaries: []string{"claude"},
		Layers: []Layer{
			administrators(
				"/etc/claude-code", "/Library/Application Support/ClaudeCode", "ProgramFiles", "ClaudeCode", "managed-mcp.json",
			).alone(),
			project(".mcp.json").when("once it is approved"),
			own(filled(under("CLAUDE_CONFIG_DIR", "~/.claude", ".config.json"))),
			own(under("CLAUDE_CONFIG_DIR", "~", ".claude.json")),
		},
		Kind: format.JSON,
		Scopes: map[Scope][][]string{
			ScopeUser:    {{"mcpServers"}},
			ScopeProject: {{"projects", projectKey, "mcpServers"}},
		},
		Parent: format.Object{
			{Name: "allowedTools", Value: []any{}}, {Name: "mcpContextUris", Value: []any{}},
			{Name: "mcpServers", Value: nil}, {Name: "env", Value: format.Object{}},
		},
		Dialect: dialect{Type: "stdio", EnvAlways: true, URL: "url", HTTP: "http"},
		Lock:    ".lock",
		Off:     []off{{Path: []string{"projects", projectKey, "disabledMcpServers"}}},
		Ask: &ask.Row{
			Args: []string{"mcp", "get", ask.ServerName},
			Env:  []string{"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
			Read: ask.Listed(`(?m)^NAME:\n +Scope: (?P<place>\w+).*\n +Status: \S+ (?P<says>.+)(?:\n +Type: \w+\n +(?:Command|URL): (?P<command>.*)(?:\n +Args:(?P<args>.*))?)?`, `No MCP server`),
			// It reports a server in disabledMcpServers like any other.
			Blind: true, Remote: true,
		},
		Also:  []location{under("CLAUDE_CONFIG_DIR", "~/.claude", "settings.json")},
		Login: []string{"ANTHROPIC_API_KEY"},
	},
	{
		Name:     "codex",
		Binaries: []string{"codex"},
		Layers: []Layer{
			managed(location{Dirs: map[string][]candidate{
				"": {{Dir: "/etc/codex"}}, "windows": {{Env: "CODEX_HOME"}, {Dir: "~/.codex"}},
			}, Files: []string{"managed_config.toml"}}),
			trusted(".codex/config.toml"), own(under("CODEX_HOME", "~/.codex", "config.toml")),
			managed(codexSystem("config.toml")),
		},
		Merges:  true,
		Kind:    format.TOML,
		Scopes:  userOnly("mcp_servers"),
		Dialect: dialect{URL: "url"},
		Bare:    true,
		Off:     []off{enabled, inFile(codexSystem("requirements.toml"), off{Path: []string{"mcp_servers"}, Identity: true})},
		Trust:   &trust{Path: []string{"projects"}, Field: "trust_level", Yes: []string{"trusted"}},
		Ask:     &ask.Row{Args: []string{"app-server"}, Send: ask.CodexDialogue, Read: ask.Codex, Remote: true},
		Login:   []string{"OPENAI_API_KEY"},
	},
	{
		Name:     "cursor",
		Binaries: []string{"cursor-agent", "cursor", "agent"},
		Editor:   true,
		Layers:   []Layer{project(".cursor/mcp.json"), own(at(".cursor/mcp.json"))},
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Dialect:  dialect{URL: "url"},
		Off:      []off{disabled},
	},
	{
		Name:     "gemini",
		Binaries: []string{"gemini"},
		Layers: []Layer{
			managed(geminiSystem), trusted(".gemini/settings.json"),
			own(under("GEMINI_CLI_HOME", "~", ".gemini/settings.json")), managed(geminiDefaults),
			managed(under("GEMINI_CLI_HOME", "~", "gemini-extension.json").each(".gemini/extensions/*")),
		},
		Kind:    format.JSONComments,
		NoBOM:   true,
		Scopes:  userOnly("mcpServers"),
		Dialect: dialect{URL: "url", HTTP: "http"},
		Expands: true,
		Off: append(geminiOff(geminiSystem, true), inFile(
			under("GEMINI_CLI_HOME", "~", ".gemini/mcp-server-enablement.json"), off{Field: "enabled", Fold: true},
		)),
		Trust: geminiTrust(under("GEMINI_CLI_HOME", "~", ".gemini/trustedFolders.json"), false, "GEMINI_CLI_TRUST_WORKSPACE"),
		Ask:   &ask.Row{Args: []string{"mcp", "list"}, Read: geminiList, Remote: true},
		Login: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	},
	{
		Name:     "grok",
		Binaries: []string{"grok"},
		// It also reads claude's and cursor's files, with lower precedence.
		Layers:  []Layer{trusted(".grok/config.toml"), own(under("GROK_HOME", "~/.grok", "config.toml"))},
		Kind:    format.TOML,
		Scopes:  userOnly("mcp_servers"),
		Dialect: dialect{Extra: format.Object{{Name: "enabled", Value: true}}},
		Off:     []off{enabled, {Path: []string{"disabled_mcp_servers"}}},
		Trust: &trust{
			File: &grokTrust, Path: []string{"folders"}, Field: "trusted", Yes: []string{"true"},
			Gate: []string{"folder_trust", "enabled"}, Quiet: "GROK_FOLDER_TRUST",
		},
		Ask:   &ask.Row{Args: []string{"mcp", "doctor", ask.ServerName, "--json"}, Read: ask.Grok},
		Login: []string{"XAI_API_KEY", "GROK_API_KEY"},
	},
	{
		Name:     "agy",
		Aliases:  []string{"antigravity"},
		Binaries: []string{"agy"},
		Layers:   []Layer{project(".agents/mcp_config.json"), own(at(".gemini/config/mcp_config.json"))},
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Dialect:  dialect{URL: "serverUrl"},
		Off:      []off{disabled},
	},
	{
		Name:     "opencode",
		Binaries: []string{"opencode"},
		Layers: []Layer{
			administrators("/etc/opencode", "/Library/Application Support/opencode", "ProgramData", "opencode", openCode...),
			{Role: Variable, Var: "OPENCODE_CONFIG_CONTENT"},
			other(named(candidate{Env: "OPENCODE_CONFIG_DIR"}, openCode...)),
			other(at(".opencode/opencode.jsonc", ".opencode/opencode.json")),
			project(in(".opencode", openCode)...).outer().unless("OPENCODE_DISABLE_PROJECT_CONFIG"),
			project(openCode...).unless("OPENCODE_DISABLE_PROJECT_CONFIG"),
			other(named(candidate{Env: "OPENCODE_CONFIG", File: true})),
			own(under("XDG_CONFIG_HOME", "~/.config", "opencode/opencode.jsonc", "opencode/opencode.json", "opencode/config.json")),
		},
		Merges: true, Made: "opencode.jsonc",
		Kind: format.JSONC,
		// opencode 1.18 also reads mcp.servers.
		Scopes:  map[Scope][][]string{ScopeUser: {{"mcp"}, {"mcp", "servers"}}},
		Seed:    format.Object{{Name: "$schema", Value: "https://opencode.ai/config.json"}},
		Dialect: dialect{Type: "local", Argv: true, Names: environment, URL: "url", HTTP: "remote"},
		Off:     []off{enabled},
		Ask: &ask.Row{
			Args: []string{"mcp", "list"},
			Env:  []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_PURE=1"},
			Read: openCodeList, Remote: true,
		},
	},
	{
		Name:     "pi",
		Binaries: []string{"pi"},
		Layers: []Layer{
			{Role: Project, At: location{Files: []string{".pi/mcp.json", ".mcp.json"}}, Here: true},
			own(underTilde("PI_CODING_AGENT_DIR", "~/.pi/agent", "mcp.json")),
			other(at(".agents/mcp/mcp.json", ".agents/mcp.json", ".config/mcp/mcp.json")),
		},
		Merges:  true,
		Kind:    format.JSONC,
		NoBOM:   true,
		Scopes:  map[Scope][][]string{ScopeUser: {{"mcpServers"}, {"mcp-servers"}}},
		Dialect: dialect{URL: "url"},
		Note:    "read by the pi-mcp-adapter extension, not by pi itself",
		Off:     []off{disabled},
	},
	{
		Name:   "claude-desktop",
		Editor: true,
		Layers: []Layer{own(packaged(
			perSystem("Claude", "claude_desktop_config.json"), "Packages/Claude_*/LocalCache/Roaming/Claude",
		))},
		Kind:   format.JSON,
		NoBOM:  true,
		Scopes: userOnly("mcpServers"),
	},
	vsCode("vscode", "Code", ".vscode-server", "code"),
	vsCode("vscode-insiders", "Code - Insiders", ".vscode-server-insiders", "code-insiders"),
	vsCode("vscodium", "VSCodium", ".vscodium-server", "codium"),
	{
		Name:     "windsurf",
		Aliases:  []string{"devin"}, // its name since 2026
		Binaries: []string{"windsurf"},
		Editor:   true,
		Layers: []Layer{
			project(".devin/mcp_config.json"),
			own(location{Dirs: map[string][]candidate{
				"": {{Dir: "~/.config/devin"}}, "windows": {{Env: "APPDATA", Dir: "devin"}, {Dir: "~/AppData/Roaming/devin"}},
			}, Files: []string{"mcp_config.json"}}),
			own(at(".codeium/windsurf/mcp_config.json")),
		},
		Kind:    format.JSON,
		Scopes:  userOnly("mcpServers"),
		Dialect: dialect{URL: "serverUrl"},
		Off:     []off{disabled},
	},
	{
		Name:     "zed",
		Binaries: []string{"zed", "zeditor"},
		Editor:   true,
		Layers: []Layer{project(".zed/settings.json"), own(location{
			Dirs: map[string][]candidate{
				"":        {{Env: "XDG_CONFIG_HOME", AbsOnly: true, Dir: "zed"}, {Dir: "~/.config/zed"}},
				"darwin":  {{Dir: "~/.config/zed"}},
				"windows": {{Env: "APPDATA", Dir: "Zed"}, {Dir: "~/AppData/Roaming/Zed"}},
			},
			Files: []string{"settings.json"},
		})},
		Kind:    format.JSONC,
		Scopes:  userOnly("context_servers"),
		Dialect: dialect{Zed: true, Inner: "command", URL: "url"},
		Off:     []off{enabled},
	},
	{
		Name:     "qwen",
		Binaries: []string{"qwen"},
		Layers: []Layer{
			managed(qwenSystem), trusted(".qwen/settings.json"),
			own(underTilde("QWEN_HOME", "~/.qwen", "settings.json")), managed(qwenDefaults),
			managed(underTilde("QWEN_HOME", "~/.qwen", "qwen-extension.json").each("extensions/*")),
		},
		Kind:    format.JSONComments,
		NoBOM:   true,
		Scopes:  userOnly("mcpServers"),
		Dialect: dialect{URL: "httpUrl"},
		Expands: true,
		Off:     geminiOff(qwenSystem, false),
		Trust:   geminiTrust(underTilde("QWEN_HOME", "~/.qwen", "trustedFolders.json"), true, ""),
		Ask:     &ask.Row{Args: []string{"mcp", "list"}, Read: geminiList, Blind: true, Remote: true},
	},
	{
		Name:     "copilot",
		Binaries: []string{"copilot"},
		Layers:   []Layer{trusted(".mcp.json", ".github/mcp.json"), own(under("COPILOT_HOME", "~/.copilot", "mcp-config.json"))},
		Made:     ".github/mcp.json", // the other one is also claude's
		Kind:     format.JSONC,
		Scopes:   userOnly("mcpServers"),
		Dialect:  dialect{Type: "local", Extra: format.Object{{Name: "tools", Value: []string{"*"}}}, URL: "url", HTTP: "http"},
		Locked:   ".mcp-writer.lock",
		Off:      []off{inFile(under("COPILOT_HOME", "~/.copilot", "settings.json"), off{Path: []string{"disabledMcpServers"}})},
		Trust:    &trust{File: &copilotTrust, Path: []string{"trustedFolders"}},
		Ask:      &ask.Row{Args: []string{"mcp", "get", ask.ServerName, "--json"}, Read: ask.Config, Lists: true, Remote: true},
	},
	{
		Name:     "droid",
		Binaries: []string{"droid"},
		Layers:   []Layer{project(".factory/mcp.json"), own(at(".factory/mcp.json"))},
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Dialect:  dialect{Type: "stdio", Extra: format.Object{{Name: "disabled", Value: false}}, URL: "url", HTTP: "http"},
		Ask:      &ask.Row{Args: []string{"mcp", "list"}, Read: ask.Listed(`(?m)^ +NAME +(?:stdio|http|sse) +(?P<says>.+?) +\[(?P<place>\w+)\]$`, `Configured MCP servers:|No MCP servers`), Remote: true},
		Off:      []off{disabled},
	},
	{
		Name:     "amp",
		Binaries: []string{"amp"},
		Layers: []Layer{
			ampManaged, project(".amp/settings.json", ".amp/settings.jsonc"),
			// It reads the second only if the first does not exist.
			own(location{Dirs: map[string][]candidate{"": {
				{Env: "AMP_SETTINGS_FILE", File: true},
				{Env: "XDG_CONFIG_HOME", Dir: "amp"}, {Dir: "~/.config/amp"},
			}}, Files: []string{"settings.json", "settings.jsonc"}}),
		},
		Kind:    format.JSONC,
		Scopes:  userOnly("amp.mcpServers"),
		Dialect: dialect{URL: "url"},
		Off:     []off{ampRules, inFile(ampManaged.At, ampRules)},
		Ask:     &ask.Row{Args: []string{"mcp", "list", "--json"}, Read: ask.Config, Lists: true, Remote: true},
	}, {
		Name:     "kilo",
		Aliases:  []string{"kilocode"},
		Binaries: []string{"kilo", "kilocode"},
		Layers: []Layer{
			administrators("/etc/kilo", "/Library/Application Support/kilo", "ProgramData", "kilo", kilo...),
			{Role: Variable, Var: "KILO_CONFIG_CONTENT"},
			other(named(candidate{Env: "KILO_CONFIG_DIR"}, kilo...)),
			other(at(in(".kilo", kilo)...)), other(at(in(".kilocode", kilo)...)),
			project(append(in(".kilo", kilo), in(".kilocode", kilo)...)...).outer().unless("KILO_DISABLE_PROJECT_CONFIG"),
			project("opencode.jsonc", "opencode.json", "kilo.jsonc", "kilo.json").unless("KILO_DISABLE_PROJECT_CONFIG"),
			other(named(candidate{Env: "KILO_CONFIG", File: true})),
			other(under("XDG_CONFIG_HOME", "~/.config", in("kilo", openCode)...)),
			own(under("XDG_CONFIG_HOME", "~/.config", in("kilo", []string{"kilo.jsonc", "kilo.json", "config.json"})...)),
		},
		Merges: true, Made: "kilo.jsonc",
		Kind:    format.JSONC,
		Scopes:  userOnly("mcp"),
		Seed:    format.Object{{Name: "$schema", Value: "https://app.kilo.ai/config.json"}},
		Dialect: dialect{Type: "local", Argv: true, Names: environment, URL: "url", HTTP: "remote"},
		Off:     []off{enabled},
		Ask:     &ask.Row{Args: []string{"mcp", "list"}, Env: []string{"KILO_PURE=1"}, Read: openCodeList, Remote: true},
	},
	{
		Name:     "auggie",
		Binaries: []string{"auggie"},
		Layers: []Layer{
			administrators("/etc/augment", "/etc/augment", "ProgramData", "augment", "settings.json"),
			{Role: Project, At: location{Files: []string{".augment/settings.local.json", ".augment/settings.json"}}, Top: true},
			own(at(".augment/settings.json")),
		},
		Kind:    format.JSONC,
		NoBOM:   true,
		Scopes:  userOnly("mcpServers"),
		Dialect: dialect{Type: "stdio"},
		Shell:   true,
		Off:     []off{disabled},
		Ask:     &ask.Row{Args: []string{"mcp", "list", "--json"}, Read: ask.Config, Lists: true},
	},
	{
		Name:     "kimi",
		Binaries: []string{"kimi"},
		Layers: []Layer{
			{Role: Project, At: location{Files: []string{".kimi-code/mcp.json"}}, Here: true, When: "once the folder is trusted"},
			{Role: Project, At: location{Files: []string{".mcp.json"}}, Top: true, When: "once the folder is trusted"},
			own(under("KIMI_CODE_HOME", "~/.kimi-code", "mcp.json")),
		},
		Kind:   format.JSON,
		NoBOM:  true,
		Scopes: userOnly("mcpServers"),
		Off:    []off{enabled},
	},
	{
		Name:     "cline",
		Binaries: []string{"cline"},
		Layers: []Layer{own(location{Dirs: map[string][]candidate{"": {
			{Env: "CLINE_MCP_SETTINGS_PATH", File: true}, {Env: "CLINE_DATA_DIR", Dir: "settings"},
			{Env: "CLINE_DIR", Dir: "data/settings"}, {Dir: "~/.cline/data/settings"},
		}}, Files: []string{"cline_mcp_settings.json"}})},
		Kind:    format.JSON,
		NoBOM:   true,
		Scopes:  userOnly("mcpServers"),
		Dialect: dialect{Inner: "transport"},
		Off:     []off{disabled},
	},
	{
		// According to its sources of August 2026 (0.90). It also runs crushrc, a script.
		Name:     "crush",
		Binaries: []string{"crush"},
		Layers: []Layer{
			project(".crush/crush.json"), project(".crush.json", "crush.json"),
			managed(location{Dirs: map[string][]candidate{
				"": {{Env: "CRUSH_GLOBAL_DATA"}, {Env: "XDG_DATA_HOME", Dir: "crush"}, {Dir: "~/.local/share/crush"}},
				"windows": {
					{Env: "CRUSH_GLOBAL_DATA"}, {Env: "XDG_DATA_HOME", Dir: "crush"},
					{Env: "LOCALAPPDATA", Dir: "crush"}, {Dir: "~/AppData/Local/crush"},
				},
			}, Files: []string{"crush.json"}}),
			own(location{Dirs: map[string][]candidate{"": {
				{Env: "CRUSH_GLOBAL_CONFIG"}, {Env: "XDG_CONFIG_HOME", Dir: "crush"}, {Dir: "~/.config/crush"},
			}}, Files: []string{"crush.json"}}),
			managed(location{Dirs: map[string][]candidate{"": {{Dir: "/etc/crush"}}, "windows": nil}, Files: []string{"crush.json"}}),
		},
		Merges: true, Made: ".crush.json",
		Kind: format.JSON, NoBOM: true, Expands: true,
		Scopes:  userOnly("mcp"),
		Dialect: dialect{Type: "stdio", URL: "url", HTTP: "http"},
		Note:    "read by crush before each crushrc, whose servers mcp-swap does not see",
		Off:     []off{disabled},
	},
	{
		Name:     "nanocoder",
		Binaries: []string{"nanocoder"},
		Layers: []Layer{
			{Role: Variable, Var: "NANOCODER_MCPSERVERS"},
			managed(named(candidate{Env: "NANOCODER_MCPSERVERS_FILE", File: true})),
			{Role: Project, At: location{Files: []string{".mcp.json"}}, Here: true},
			own(location{Dirs: map[string][]candidate{
				"":        {{Env: "NANOCODER_CONFIG_DIR"}, {Env: "XDG_CONFIG_HOME", Dir: "nanocoder"}, {Dir: "~/.config/nanocoder"}},
				"darwin":  {{Env: "NANOCODER_CONFIG_DIR"}, {Dir: "~/Library/Preferences/nanocoder"}},
				"windows": {{Env: "NANOCODER_CONFIG_DIR"}, {Env: "APPDATA", Dir: "nanocoder"}, {Dir: "~/AppData/Roaming/nanocoder"}},
			}, Files: []string{".mcp.json"}}),
		},
		Kind: format.JSON, NoBOM: true, Expands: true,
		Scopes:  userOnly("mcpServers"),
		Dialect: dialect{Names: map[string]string{"type": "transport"}, Type: "stdio", URL: "url", HTTP: "http"},
		Off:     []off{enabled},
	},
	{
		Name:     "kiro",
		Binaries: []string{"kiro-cli", "kiro"},
		Editor:   true,
		Layers:   []Layer{project(".kiro/settings/mcp.json"), own(under("KIRO_HOME", "~/.kiro", "settings/mcp.json"))},
		Kind:     format.JSON,
		Scopes:   userOnly("mcpServers"),
		Dialect:  dialect{URL: "url"},
		Note:     "read by kiro for agents that have no server of that name themselves",
		Off:      []off{disabled},
	},
	{
		Name:     "goose",
		Binaries: []string{"goose"},
		Layers: []Layer{
			Layer{Role: Variable, Var: "EXTENSIONS"}.alone(),
			own(location{Dirs: map[string][]candidate{
				"": {
					{Env: "GOOSE_PATH_ROOT", AbsOnly: true, Dir: "config"},
					{Env: "XDG_CONFIG_HOME", AbsOnly: true, Dir: "goose"}, {Dir: "~/.config/goose"},
				},
				"windows": {
					{Env: "GOOSE_PATH_ROOT", AbsOnly: true, Dir: "config"},
					{Env: "APPDATA", Dir: "Block/goose/config"}, {Dir: "~/AppData/Roaming/Block/goose/config"},
				},
			}, Files: []string{"config.yaml"}}),
			managed(named(candidate{Env: "GOOSE_ADDITIONAL_CONFIG_FILES", File: true, List: true})),
			administrators("/etc/goose", "/etc/goose", "ProgramData", "goose", "config.yaml"),
		},
		Merges: true,
		Kind:   format.YAML,
		Scopes: userOnly("extensions"),
		Dialect: dialect{
			Names: map[string]string{"command": "cmd", "env": "envs"}, Type: "stdio", URL: "uri", HTTP: "streamable_http",
			Extra: format.Object{
				{Name: "name", Value: ask.ServerName}, {Name: "description", Value: ""}, {Name: "enabled", Value: true},
			},
		},
		Off: []off{enabled},
	},
	{
		// Unlike its editor extensions, it reads no files in .continue/mcpServers.
		Name:     "cn",
		Aliases:  []string{"continue"},
		Binaries: []string{"cn"},
		Layers:   []Layer{own(under("CONTINUE_GLOBAL_DIR", "~/.continue", "config.yaml"))},
		Makes:    true,
		Kind:     format.YAML,
		Scopes:   userOnly("mcpServers", format.List),
		Dialect:  dialect{URL: "url", HTTP: "streamable-http"},
		Note:     "read by cn unless it is logged in, or has another config",
	},
}
