package format

// Entries that are there, in TOML.
var tomlChangeCases = []setCase{
	{
		name: "only the two values change",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `# top
model = "o3"   # al

[mcp_servers.srv]  # hdr
  command = 'uvx' # cmd
args = [ "srv", # why
  "x" ] # end
startup_timeout_sec = 20
enabled = true
[mcp_servers.srv.env]
K = "v"

[mcp_servers.srv.tools.foo]
approval_mode = "approve"

# about notice
[notice]
hide = true
`,
		want: `# top
model = "o3"   # al

[mcp_servers.srv]  # hdr
  command = "uv" # cmd
args = [ "run", "x" ] # end
startup_timeout_sec = 20
enabled = true
[mcp_servers.srv.env]
K = "v"

[mcp_servers.srv.tools.foo]
approval_mode = "approve"

# about notice
[notice]
hide = true
`,
	},
	{
		name: "spellings of other values stay",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `d = 1979-05-27T07:32:00Z
t = 07:32:00
i = 0xDEAD_BEEF
f = [1.0, 1e6, inf, nan, -0.0, +1]
[mcp_servers.srv]
command = "A" # note
x = 1_000
s = '''a
b'''
`,
		want: `d = 1979-05-27T07:32:00Z
t = 07:32:00
i = 0xDEAD_BEEF
f = [1.0, 1e6, inf, nan, -0.0, +1]
[mcp_servers.srv]
command = "uv" # note
x = 1_000
s = '''a
b'''
args = ["run", "x"]
`,
	},
	{
		name: "an array over many lines",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[mcp_servers.srv]
  command="x"
  args = [
    "a",
    "b",
  ]
  z = 1
`,
		want: `[mcp_servers.srv]
  command="uv"
  args = [
    "run",
    "x",
  ]
  z = 1
`,
	},
	{
		name: "an inline entry",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `mcp_servers.srv = { command = "a", env = { K = "v" } } # c
z = 1
`,
		want: `mcp_servers.srv = { command = "uv", env = { K = "v" }, args = ["run", "x"] } # c
z = 1
`,
	},
	{
		name: "an inline map",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `mcp_servers = { a = { command = "x" }, srv = {url="y",command="z"} }
`,
		want: `mcp_servers = { a = { command = "x" }, srv = {command="uv",args=["run", "x"]} }
`,
	},
	{
		name: "dotted keys in an inline map",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `mcp_servers = { a = { command = "x" }, srv.url = "x" }
`,
		want: `mcp_servers = { a = { command = "x" }, srv.command = "uv", srv.args = ["run", "x"] }
`,
	},
	{
		name: "inline tables over many lines",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `mcp_servers = {
  a = { command = "x" }, # tail
  srv = {
    command = "y",
    url = "z", # the url
  },
}
`,
		want: `mcp_servers = {
  a = { command = "x" }, # tail
  srv = {
    command = "uv",
    # the url
    args = ["run", "x"],
  },
}
`,
	},
	{
		name: "dotted keys",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `mcp_servers.srv.command = "a"
mcp_servers.srv.env.K = "v"
[x]
y=1
`,
		want: `mcp_servers.srv.command = "uv"
mcp_servers.srv.env.K = "v"
mcp_servers.srv.args = ["run", "x"]
[x]
y=1
`,
	},
	{
		name: "dotted keys under the map's header",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[mcp_servers]
a.command = "x"
  srv . "command"="y" # c
b = { command = "z" }
`,
		want: `[mcp_servers]
a.command = "x"
  srv . "command"="uv" # c
  srv.args=["run", "x"]
b = { command = "z" }
`,
	},
	{
		name: "a quoted and spaced header",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[ "mcp_servers" . 'srv' ] # c
command = """
a\
  b"""
args = [
  "x"
]
`,
		want: `[ "mcp_servers" . 'srv' ] # c
command = "uv"
args = [
  "run",
  "x"
]
`,
	},
	{
		name: "only a sub-table",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `model = "x"

  [ mcp_servers . "srv".env ]
  K = "v"
`,
		want: `model = "x"

  [mcp_servers . "srv"]
  command = "uv"
  args = ["run", "x"]

  [ mcp_servers . "srv".env ]
  K = "v"
`,
	},
	{
		name: "scattered sub-tables",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "env",
		in: `[mcp_servers.srv.env]
A = "1"

[other]
x = 1

[mcp_servers.srv.tools.a]
b = "c"

[mcp_servers.srv]
timeout = 5

[z]
`,
		want: `[mcp_servers.srv.env]
A = "1"
B = "3"
"C.d" = "a=\"b\""

[other]
x = 1

[mcp_servers.srv.tools.a]
b = "c"

[mcp_servers.srv]
timeout = 5
command = "uv"

[z]
`,
	},
	{
		name: "a header without keys",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[mcp_servers.srv]

[mcp_servers.srv.env]
A = "1"
`,
		want: `[mcp_servers.srv]
command = "uv"
args = ["run", "x"]

[mcp_servers.srv.env]
A = "1"
`,
	},
	{
		name: "a header at the end of the file",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[mcp_servers.srv]$$
`,
		want: `[mcp_servers.srv]
command = "uv"
args = ["run", "x"]$$
`,
	},
	{
		name: "a remote entry becomes a local one",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[mcp_servers.srv]
# the url
url = "https://x" # prod
bearer_token_env_var = "T"
timeout = 5

[mcp_servers.srv.headers]
A = "b"

# about other
[other]
x = 1
`,
		want: `[mcp_servers.srv]
# the url
# prod
timeout = 5
command = "uv"
args = ["run", "x"]

# about other
[other]
x = 1
`,
	},
	{
		name: "a remote entry in the last line",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[mcp_servers.srv]
url = "https://x"$$
`,
		want: `[mcp_servers.srv]
command = "uv"
args = ["run", "x"]$$
`,
	},
	{
		name: "inline env is merged",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "env",
		in: `[mcp_servers.srv]
command = "x"
env = { A = "1", B = "2" } # e
`,
		want: `[mcp_servers.srv]
command = "uv"
env = { A = "1", B = "3", "C.d" = "a=\"b\"" } # e
`,
	},
	{
		name: "dotted env is merged",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "env",
		in: `[mcp_servers.srv]
env.A = "1"
env.B = "2"
command = "x"
`,
		want: `[mcp_servers.srv]
env.A = "1"
env.B = "3"
env."C.d" = "a=\"b\""
command = "uv"
`,
	},
	{
		name: "env in a sub-table is merged",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "env",
		in: `[mcp_servers.srv]
command = "x"
[mcp_servers.srv.env]
  A = "1"
  B = "2" # b
# about z
[z]
`,
		want: `[mcp_servers.srv]
command = "uv"
[mcp_servers.srv.env]
  A = "1"
  B = "3" # b
  "C.d" = "a=\"b\""
# about z
[z]
`,
	},
	{
		name: "env that is missing is made",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "env",
		in: `[mcp_servers.srv]
command = "x"
`,
		want: `[mcp_servers.srv]
command = "uv"
env = { B = "3", "C.d" = "a=\"b\"" }
`,
	},
	{
		name: "a field that has the value keeps its spelling",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[mcp_servers.srv]
command = 'uv'
args = ['run',
'x']
`,
		want: `[mcp_servers.srv]
command = 'uv'
args = ['run',
'x']
`,
	},
	{
		name: "odd names are found",
		kind: TOML, container: "mcp_servers", entry: `a.b`, change: "local",
		in: `[mcp_servers.a]
b = {}
[mcp_servers."a.b"]
command = "x"
`,
		want: `[mcp_servers.a]
b = {}
[mcp_servers."a.b"]
command = "uv"
args = ["run", "x"]
`,
	},
	{
		name: "arrays of tables below the entry",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "local",
		in: `[[mcp_servers.srv.list]]
a = 1
[[mcp_servers.srv.list]]
a = 2
[other]

`,
		want: `[mcp_servers.srv]
command = "uv"
args = ["run", "x"]

[[mcp_servers.srv.list]]
a = 1
[[mcp_servers.srv.list]]
a = 2
[other]

`,
	},
	{
		name: "every type",
		kind: TOML, container: "mcp_servers", entry: `srv`, change: "types",
		in: `[mcp_servers.srv]
`,
		want: `[mcp_servers.srv]
"" = "\u0000\n\r\t\u0008\\<&>"
i = -5
l = 4611686018427387904
n = 1000.0
t = true
a = ["x", 1, [], {}]
o = { p = { q = false } }
`,
	},
}
