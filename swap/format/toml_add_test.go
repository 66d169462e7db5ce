package format

// New entries in TOML.
var tomlAddCases = []setCase{
	{
		name: "an empty file",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "grok",
		in: ``,
		want: `[mcp_servers.srv]
command = "uv"
args = ["run", "C:\\x \"y\""]
enabled = true
env = { A = "1", "b.c" = "" }
`,
	},
	{
		name: "a file of space",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "grok",
		in: `  ^M
^M
`,
		want: `[mcp_servers.srv]^M
command = "uv"^M
args = ["run", "C:\\x \"y\""]^M
enabled = true^M
env = { A = "1", "b.c" = "" }^M
`,
	},
	{
		name: "a new table goes to the end behind a blank line",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "grok",
		in: `model = "o3"

[notice]
hide = true
`,
		want: `model = "o3"

[notice]
hide = true

[mcp_servers.srv]
command = "uv"
args = ["run", "C:\\x \"y\""]
enabled = true
env = { A = "1", "b.c" = "" }
`,
	},
	{
		name: "a last line without a newline",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "grok",
		in: `model = "o3"$$
`,
		want: `model = "o3"

[mcp_servers.srv]
command = "uv"
args = ["run", "C:\\x \"y\""]
enabled = true
env = { A = "1", "b.c" = "" }
`,
		back: `model = "o3"
`,
	},
	{
		name: "a blank line at the end is the one before the table",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "grok",
		in: `[notice]
hide = true
# end

`,
		want: `[notice]
hide = true
# end

[mcp_servers.srv]
command = "uv"
args = ["run", "C:\\x \"y\""]
enabled = true
env = { A = "1", "b.c" = "" }
`,
		back: `[notice]
hide = true
# end
`,
	},
	{
		name: "CRLF and a byte order mark",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "grok",
		in: `^BOM[mcp_servers.srv2]^M
command = "b"^M
`,
		want: `^BOM[mcp_servers.srv2]^M
command = "b"^M
^M
[mcp_servers.srv]^M
command = "uv"^M
args = ["run", "C:\\x \"y\""]^M
enabled = true^M
env = { A = "1", "b.c" = "" }^M
`,
	},
	{
		name: "a new entry in an inline map",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "grok",
		in: `mcp_servers = { a = { command = "x" } } # c
`,
		want: `mcp_servers = { a = { command = "x" }, srv = { command = "uv", args = ["run", "C:\\x \"y\""], enabled = true, env = { A = "1", "b.c" = "" } } } # c
`,
	},
	{
		name: "a new entry in an empty inline map",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `mcp_servers = {}
`,
		want: `mcp_servers = { srv = { command = "uv", args = ["run", "x"] } }
`,
	},
	{
		name: "a new entry in an inline map over many lines",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `mcp_servers = {
  a = { command = "x" } # tail, with a comma
  # c
}
`,
		want: `mcp_servers = {
  a = { command = "x" }, # tail, with a comma
  srv = { command = "uv", args = ["run", "x"] }
  # c
}
`,
	},
	{
		name: "a new entry beside dotted ones",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[mcp_servers]
a.command = "x"

[z]
`,
		want: `[mcp_servers]
a.command = "x"

[z]

[mcp_servers.srv]
command = "uv"
args = ["run", "x"]
`,
	},
	{
		name: "headers in strings are none",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[a]
x = """
[mcp_servers.srv]
command = "no"
"""
y = '''
[mcp_servers.srv]'''
[mcp_servers.srv2]
command = "b"
`,
		want: `[a]
x = """
[mcp_servers.srv]
command = "no"
"""
y = '''
[mcp_servers.srv]'''
[mcp_servers.srv2]
command = "b"

[mcp_servers.srv]
command = "uv"
args = ["run", "x"]
`,
	},
	{
		name: "odd names are quoted",
		kind: TOML, container: "mcp_servers", entry: `a.b "c"\é:1`, change: "local",
		in: `[mcp_servers.a]
b.c = 1
`,
		want: `[mcp_servers.a]
b.c = 1

[mcp_servers."a.b \"c\"\\é:1"]
command = "uv"
args = ["run", "x"]
`,
	},
}
