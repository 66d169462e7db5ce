package format

// New entries in strict JSON.
var jsonAddCases = []setCase{
	{
		name: "a one-line sibling's spacing is copied",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
    "theme" : "dark",
    "mcpServers": {
        "other": { "command":"npx", "args":["-y","x"] }
    },
    "zlast": [1,2,
      3]
}
`,
		want: `{
    "theme" : "dark",
    "mcpServers": {
        "other": { "command":"npx", "args":["-y","x"] },
        "srv": { "command":"uv", "args":["run","x"] }
    },
    "zlast": [1,2,
      3]
}
`,
	},
	{
		name: "a many-line sibling's layout is copied, and no final newline is added",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "other": {
      "command": "npx",
      "args": [
        "-y"
      ]
    }
  }
}$$
`,
		want: `{
  "mcpServers": {
    "other": {
      "command": "npx",
      "args": [
        "-y"
      ]
    },
    "srv": {
      "command": "uv",
      "args": [
        "run",
        "x"
      ]
    }
  }
}$$
`,
	},
	{
		name: "arrays stay on one line where the siblings' are",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
	"mcpServers": {
		"other": {
			"command": "npx",
			"args": ["-y", "x"]
		}
	}
}
`,
		want: `{
	"mcpServers": {
		"other": {
			"command": "npx",
			"args": ["-y", "x"]
		},
		"srv": {
			"command": "uv",
			"args": ["run", "x"]
		}
	}
}
`,
	},
	{
		name: "minified stays minified",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{"a":{"command":"x"}},"z":1}$$
`,
		want: `{"mcpServers":{"a":{"command":"x"},"srv":{"command":"uv","args":["run","x"]}},"z":1}$$
`,
	},
	{
		name: "one line with spaces",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers": {"a": {"command": "x"}}, "z": 1}
`,
		want: `{"mcpServers": {"a": {"command": "x"}, "srv": {"command": "uv", "args": ["run", "x"]}}, "z": 1}
`,
	},
	{
		name: "one line with padded braces",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{ "mcpServers": { }, "z": 1 }
`,
		want: `{ "mcpServers": { "srv": { "command": "uv", "args": ["run", "x"] } }, "z": 1 }
`,
	},
	{
		name: "an empty container in a minified file",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{}}
`,
		want: `{"mcpServers":{"srv":{"command":"uv","args":["run","x"]}}}
`,
	},
	{
		name: "an empty container in a file with tabs",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
	"mcpServers": {},
	"z": 1
}
`,
		want: `{
	"mcpServers": {
		"srv": {
			"command": "uv",
			"args": [
				"run",
				"x"
			]
		}
	},
	"z": 1
}
`,
	},
	{
		name: "an empty container over two lines",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
  }
}
`,
		want: `{
  "mcpServers": {
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
		name: "no container",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
    "theme": "dark"
}
`,
		want: `{
    "theme": "dark",
    "mcpServers": {
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
		name: "no container, minified",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"theme":"dark"}
`,
		want: `{"theme":"dark","mcpServers":{"srv":{"command":"uv","args":["run","x"]}}}
`,
	},
	{
		name: "a null container counts as absent",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": null,
  "z": 1
}
`,
		want: `{
  "mcpServers": {
    "srv": {
      "command": "uv",
      "args": [
        "run",
        "x"
      ]
    }
  },
  "z": 1
}
`,
	},
	{
		name: "an empty object",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{}
`,
		want: `{
  "mcpServers": {
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
		name: "an empty object over two lines",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
}
`,
		want: `{
  "mcpServers": {
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
		name: "an empty file",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: ``,
		want: `{
  "mcpServers": {
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
		name: "a file of space",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: ` ^M
^M
`,
		want: `{^M
  "mcpServers": {^M
    "srv": {^M
      "command": "uv",^M
      "args": [^M
        "run",^M
        "x"^M
      ]^M
    }^M
  }^M
}^M
`,
	},
	{
		name: "an empty file behind a byte order mark",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `^BOM$$
`,
		want: `^BOM{
  "mcpServers": {
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
		name: "CRLF and a byte order mark",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `^BOM{^M
  "mcpServers": {^M
    "other": {"command": "npx"}^M
  }^M
}^M
`,
		want: `^BOM{^M
  "mcpServers": {^M
    "other": {"command": "npx"},^M
    "srv": {"command": "uv", "args": ["run", "x"]}^M
  }^M
}^M
`,
	},
	{
		name: "CRLF in a new container",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{^M
  "theme": "dark"^M
}^M
`,
		want: `{^M
  "theme": "dark",^M
  "mcpServers": {^M
    "srv": {^M
      "command": "uv",^M
      "args": [^M
        "run",^M
        "x"^M
      ]^M
    }^M
  }^M
}^M
`,
	},
	{
		name: "braces on lines of their own",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers":
  {
    "a":
    {
      "command": "x"
    }
  }
}
`,
		want: `{
  "mcpServers":
  {
    "a":
    {
      "command": "x"
    },
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
		name: "the closing brace behind the last member",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{
  "a":{"command":"x"}}}
`,
		want: `{"mcpServers":{
  "a":{"command":"x"},
  "srv":{"command":"uv","args":["run","x"]}}}
`,
	},
	{
		name: "a project node in the client's own shape",
		kind: JSON, container: "projects,/srv/x,mcpServers", entry: `srv`, change: "claude",
		in: `{
  "numStartups": 3,
  "projects": {
    "/other": {
      "mcpServers": {}
    }
  }
}$$
`,
		want: `{
  "numStartups": 3,
  "projects": {
    "/other": {
      "mcpServers": {}
    },
    "/srv/x": {
      "allowedTools": [],
      "mcpContextUris": [],
      "mcpServers": {
        "srv": {
          "type": "stdio",
          "command": "uv",
          "args": [],
          "env": {}
        }
      },
      "env": {}
    }
  }
}$$
`,
	},
	{
		name: "no projects at all",
		kind: JSON, container: "projects,/srv/x,mcpServers", entry: `srv`, change: "claude",
		in: `{
  "numStartups": 3
}
`,
		want: `{
  "numStartups": 3,
  "projects": {
    "/srv/x": {
      "allowedTools": [],
      "mcpContextUris": [],
      "mcpServers": {
        "srv": {
          "type": "stdio",
          "command": "uv",
          "args": [],
          "env": {}
        }
      },
      "env": {}
    }
  }
}
`,
	},
	{
		name: "a project node without the container",
		kind: JSON, container: "projects,/srv/x,mcpServers", entry: `srv`, change: "claude",
		in: `{"projects":{"/srv/x":{"hasTrustDialogAccepted":true}}}
`,
		want: `{"projects":{"/srv/x":{"hasTrustDialogAccepted":true,"mcpServers":{"srv":{"type":"stdio","command":"uv","args":[],"env":{}}}}}}
`,
	},
	{
		name: "a project node that is null",
		kind: JSON, container: "projects,/srv/x,mcpServers", entry: `srv`, change: "claude",
		in: `{"projects":{"/srv/x":null,"/y":{}}}
`,
		want: `{"projects":{"/srv/x":{"allowedTools":[],"mcpContextUris":[],"mcpServers":{"srv":{"type":"stdio","command":"uv","args":[],"env":{}}},"env":{}},"/y":{}}}
`,
	},
}
