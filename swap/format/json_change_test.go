package format

// Entries that are there.
var jsonChangeCases = []setCase{
	{
		name: "only the values change",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
    "mcpServers": {
        "srv": { "command" : "uvx", "args" : [ "srv==1" ] }
    }
}
`,
		want: `{
    "mcpServers": {
        "srv": { "command" : "uv", "args" : [ "run", "x" ] }
    }
}
`,
	},
	{
		name: "other fields stay in their place",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{"srv":{"command":"o", "args":["1"], "envFile":".env", "x":{"y":[1 , 2]}}}}
`,
		want: `{"mcpServers":{"srv":{"command":"uv", "args":["run", "x"], "envFile":".env", "x":{"y":[1 , 2]}}}}
`,
	},
	{
		name: "numbers, escapes and lone surrogates keep their spelling",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"n": 12345678901234567890, "f": 1.0, "e": 1E400, "s": "\u003ca\u0026b> <a&b> \/ \ud800", "mcpServers": {"srv": {"timeout": 9007199254740993, "x": 1.50, "y": "\udc00 <&>", "command": "<a&b>"}}}
`,
		want: `{"n": 12345678901234567890, "f": 1.0, "e": 1E400, "s": "\u003ca\u0026b> <a&b> \/ \ud800", "mcpServers": {"srv": {"timeout": 9007199254740993, "x": 1.50, "y": "\udc00 <&>", "command": "uv", "args": ["run", "x"]}}}
`,
	},
	{
		name: "a field that has the value keeps its spelling",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers": {"srv": {"command": "\u0075v", "args": [ "run",
 "x" ]}}}
`,
		want: `{"mcpServers": {"srv": {"command": "\u0075v", "args": [ "run",
 "x" ]}}}
`,
	},
	{
		name: "an entry without args gets them",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "srv": {
      "command": "x"
    }
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
		name: "an empty entry",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "srv": {}
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
		name: "args over many lines stay so",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "srv": {"command": "x", "args": [
      "a"
    ]}
  }
}
`,
		want: `{
  "mcpServers": {
    "srv": {"command": "uv", "args": [
      "run",
      "x"
    ]}
  }
}
`,
	},
	{
		name: "args with their closing bracket behind the last",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
    "mcpServers" : {
        "srv" : {
            "command" : "a",
            "args" : [ "b",
                       "c" ]
        }
    }
}
`,
		want: `{
    "mcpServers" : {
        "srv" : {
            "command" : "uv",
            "args" : [ "run", "x" ]
        }
    }
}
`,
	},
	{
		name: "a remote entry becomes a local one",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{"srv":{"type":"http","url":"https://x/mcp","headers":{"A":"b"}}}}
`,
		want: `{"mcpServers":{"srv":{"type":"http","command":"uv","args":["run","x"]}}}
`,
	},
	{
		name: "a remote entry over many lines",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "srv": {
      "url": "https://x/mcp",
      "headers": {
        "A": "b"
      },
      "timeout": 5
    }
  }
}
`,
		want: `{
  "mcpServers": {
    "srv": {
      "timeout": 5,
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
		name: "comments beside a removed field stay",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{
  "mcpServers": {
    "srv": {
      // the url
      "url": "https://x/mcp", // prod
      "timeout": 5, // five
    }, // tail
  },
}
`,
		want: `{
  "mcpServers": {
    "srv": {
      // the url
      // prod
      "timeout": 5, // five
      "command": "uv",
      "args": [
        "run",
        "x"
      ],
    }, // tail
  },
}
`,
	},
	{
		name: "comments inside an entry stay",
		kind: JSONComments, container: "mcpServers", entry: `srv`, change: "local",
		in: `// top
{
    /* why */
    "mcpServers": {
        // about srv
        "srv": { "command": "uvx", "args": ["x"], /* in */ "trust": true } // tail
    }
}
`,
		want: `// top
{
    /* why */
    "mcpServers": {
        // about srv
        "srv": { "command": "uv", "args": ["run", "x"], /* in */ "trust": true } // tail
    }
}
`,
	},
	{
		name: "comments between name, colon and value",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers": {"srv": {"command" /* a */ : /* b */ "x" /* c */, "url" /* d */ : "u" /* e */ , "z": 1}}}
`,
		want: `{"mcpServers": {"srv": {"command" /* a */ : /* b */ "uv" /* c */,  /* e */  "z": 1, "args": ["run", "x"]}}}
`,
	},
	{
		name: "of duplicates the last counts",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{"srv":{"command":"a","command":"b","args":[]}},"mcpServers":{"srv":{"command":"c","command":"d"}}}
`,
		want: `{"mcpServers":{"srv":{"command":"a","command":"b","args":[]}},"mcpServers":{"srv":{"command":"c","command":"uv","args":["run","x"]}}}
`,
	},
	{
		name: "all of a removed field's duplicates go",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{"srv":{"url":"a","command":"uv","url":"b","args":["run","x"],"url":"c"}}}
`,
		want: `{"mcpServers":{"srv":{"command":"uv","args":["run","x"]}}}
`,
	},
	{
		name: "escaped spellings are the same names",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServ\u0065rs":{"\u0073rv":{"comm\u0061nd":"a","ur\u006c":"b"}}}
`,
		want: `{"mcpServ\u0065rs":{"\u0073rv":{"comm\u0061nd":"uv","args":["run","x"]}}}
`,
	},
	{
		name: "env is merged and wins",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "env",
		in: `{"mcpServers":{"srv":{"command":"o","env":{"A":"1","B":"2"}}}}
`,
		want: `{"mcpServers":{"srv":{"command":"uv","env":{"A":"1","B":"3","C.d":"a=\"b\""}}}}
`,
	},
	{
		name: "an env that is null or missing is made",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "env",
		in: `{
  "mcpServers": {
    "srv": {
      "command": "o",
      "env": null
    }
  }
}
`,
		want: `{
  "mcpServers": {
    "srv": {
      "command": "uv",
      "env": {
        "B": "3",
        "C.d": "a=\"b\""
      }
    }
  }
}
`,
	},
	{
		name: "env over many lines",
		kind: JSONC, container: "mcpServers", entry: `srv`, change: "env",
		in: `{
  "mcpServers": {
    "srv": {
      "command": "o",
      "env": {
        "A": "1", // one
        "B": "2" // two
      }
    }
  }
}
`,
		want: `{
  "mcpServers": {
    "srv": {
      "command": "uv",
      "env": {
        "A": "1", // one
        "B": "3", // two
        "C.d": "a=\"b\""
      }
    }
  }
}
`,
	},
	{
		name: "one argv array",
		kind: JSONC, container: "mcp", entry: `srv`, change: "opencode",
		in: `{
    "mcp": {
        /* why */
        "srv": { "type": "local", "command": ["uvx","srv"], "enabled": true, }, // t
    },
}
`,
		want: `{
    "mcp": {
        /* why */
        "srv": { "type": "local", "command": ["uv","run"], "enabled": true, }, // t
    },
}
`,
	},
	{
		name: "a command of another type is replaced",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "local",
		in: `{"mcpServers":{"srv":{"command":["uvx","srv"],"args":null}}}
`,
		want: `{"mcpServers":{"srv":{"command":"uv","args":["run","x"]}}}
`,
	},
	{
		name: "an entry name that sjson would take for a path",
		kind: JSON, container: "mcpServers", entry: `a.b|c#*?@\":1`, change: "local",
		in: `{"mcpServers": {"a": {"b": 1}}}
`,
		want: `{"mcpServers": {"a": {"b": 1}, "a.b|c#*?@\\\":1": {"command": "uv", "args": ["run", "x"]}}}
`,
	},
	{
		name: "an entry name that is there, and odd",
		kind: JSON, container: "mcpServers", entry: `:0.*é`, change: "local",
		in: `{"mcpServers": {"0": {"command": "no"}, ":0.*é": {"command": "x"}, "é": {}}}
`,
		want: `{"mcpServers": {"0": {"command": "no"}, ":0.*é": {"command": "uv", "args": ["run", "x"]}, "é": {}}}
`,
	},
	{
		name: "fields whose names sjson would take for paths",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "odd",
		in: `{"mcpServers": {"srv": {"a.b": 1, "a": {"b": 2}, ":c": 3, "c": 4, "*": 5, "0": 6, "-1": 7, "@this": 8, "x|y": 9, "é": 10}}}

`,
		want: `{"mcpServers": {"srv": {"a.b": "A", "a": {"b": 2}, ":c": "B", "c": 4, "*": "C", "0": "D", "-1": "E", "@this": "F", "x|y": "G", "é": 1.0, "#": null}}}

`,
	},
	{
		name: "every type",
		kind: JSON, container: "mcpServers", entry: `srv`, change: "types",
		in: `{
  "mcpServers": {
    "srv": {}
  }
}
`,
		want: `{
  "mcpServers": {
    "srv": {
      "": "\u0000\n\r\t\b\\<&>",
      "i": -5,
      "l": 4611686018427387904,
      "n": 1e3,
      "t": true,
      "a": [
        "x",
        1,
        [],
        {}
      ],
      "o": {
        "p": {
          "q": false
        }
      }
    }
  }
}
`,
	},
}
