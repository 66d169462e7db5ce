package format

// New entries among comments and trailing commas.
var jsoncAddCases = []setCase{
	{
		name: "an empty file is seeded",
		kind: JSONC, container: "mcp", entry: `srv`, change: "opencode",
		in: ``,
		want: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "srv": {
      "type": "local",
      "command": [
        "uv",
        "run"
      ]
    }
  }
}
`,
	},
	{
		name: "a file of comments is seeded behind them",
		kind: JSONC, container: "mcp", entry: `srv`, change: "opencode",
		in: `// see the docs
/* nothing
   yet */
`,
		want: `// see the docs
/* nothing
   yet */
{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "srv": {
      "type": "local",
      "command": [
        "uv",
        "run"
      ]
    }
  }
}
`,
	},
	{
		name: "a key with a dot in it is one key",
		kind: JSONC, container: "amp.mcpServers", entry: `srv`, change: "local",
		in: `{
  "amp.url": "https://ampcode.com",
  "amp": {"mcpServers": {}},
  "amp.mcpServers": {}
}
`,
		want: `{
  "amp.url": "https://ampcode.com",
  "amp": {"mcpServers": {}},
  "amp.mcpServers": {
    "srv": {
      "command": "uv",
      "args": [
        "run",
        "x"
      ]
    }
  }
}
`,
	},
	{
		name: "a trailing comma gets a fellow, not a double",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "a": {"command": "x"}, // about a
    // "old": {},
  },
}
`,
		want: `{
  "mcpServers": {
    "a": {"command": "x"}, // about a
    "srv": {"command": "uv", "args": ["run", "x"]},
    // "old": {},
  },
}
`,
	},
	{
		name: "the tail comment stays with the last member",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "a": {"command": "x"} // about a
    // "old": {},
  }
}
`,
		want: `{
  "mcpServers": {
    "a": {"command": "x"}, // about a
    "srv": {"command": "uv", "args": ["run", "x"]}
    // "old": {},
  }
}
`,
	},
	{
		name: "a block comment that goes on in the next line",
		kind: JSONComments, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "a": {"command": "x"} /* about a
       more */ // and
  }
}
`,
		want: `{
  "mcpServers": {
    "a": {"command": "x"}, /* about a
       more */ // and
    "srv": {"command": "uv", "args": ["run", "x"]}
  }
}
`,
	},
	{
		name: "a line comment in a one-line object",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{ "mcpServers": { "a": {"command": "x"} // c
  } }
`,
		want: `{ "mcpServers": { "a": {"command": "x"}, // c
  "srv": {"command": "uv", "args": ["run", "x"]}
  } }
`,
	},
	{
		name: "trailing commas on one line",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{"a":{},},}
`,
		want: `{"mcpServers":{"a":{},"srv":{"command":"uv","args":["run","x"]},},}
`,
	},
	{
		name: "a comment before the trailing comma",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{"a":{} /* x */ , }, // y
}
`,
		want: `{"mcpServers":{"a":{} /* x */ ,"srv":{"command":"uv","args":["run","x"]}, }, // y
}
`,
	},
	{
		name: "comments in an empty container",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": { // none
    // yet
  }
}
`,
		want: `{
  "mcpServers": { // none
    // yet
    "srv": {
      "command": "uv",
      "args": [
        "run",
        "x"
      ]
    }
  }
}
`,
	},
	{
		name: "a block comment in an empty container",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": { /* none */ }
}
`,
		want: `{
  "mcpServers": { /* none */
    "srv": {
      "command": "uv",
      "args": [
        "run",
        "x"
      ]
    }
  }
}
`,
	},
	{
		name: "a block comment in an empty container on one line",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{ "mcpServers": { /* none */ } }
`,
		want: `{ "mcpServers": { /* none */ "srv": { "command": "uv", "args": ["run", "x"] } } }
`,
	},
	{
		name: "a last line comment without a newline",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers": {}} // end$$
`,
		want: `{"mcpServers": {"srv": {"command": "uv", "args": ["run", "x"]}}} // end$$
`,
	},
	{
		name: "what looks like the entry in comments and strings is not",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  // "mcpServers": {"srv": {"command": "no"}},
  "note": "\"mcpServers\": {\"srv\": {\"command\": \"no\"}}",
  /* "srv": { */
  "mcpServers": {
    "srv2": {"command": "b"},
    /* "srv": {"command": "no"} */
    "other": {"mcpServers": {"srv": {"command": "no"}}}
  }
}
`,
		want: `{
  // "mcpServers": {"srv": {"command": "no"}},
  "note": "\"mcpServers\": {\"srv\": {\"command\": \"no\"}}",
  /* "srv": { */
  "mcpServers": {
    "srv2": {"command": "b"},
    /* "srv": {"command": "no"} */
    "other": {"mcpServers": {"srv": {"command": "no"}}},
    "srv": {"command": "uv", "args": ["run", "x"]}
  }
}
`,
	},
}
