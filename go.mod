module tmuxmcp

// mcp-go needs it. What needs Go 1.26 waits until mcp-go does: hujson since July 2026, and
// golang.org/x/mod from 0.41, x/sys from 0.48, x/term from 0.46, x/text from 0.42, x/tools from
// 0.50. An indirect module is at the version that the modules which import it ask for.
go 1.25.5

// The editors, the script runner and the MCP library.
require (
	github.com/mark3labs/mcp-go v1.2.1
	github.com/pelletier/go-toml/v2 v2.4.3
	github.com/rogpeppe/go-internal v1.16.0
	github.com/tailscale/hujson v0.0.0-20260302212456-ecc657c15afd
	github.com/tidwall/gjson v1.20.2
	github.com/tidwall/sjson v1.2.9
	go.yaml.in/yaml/v3 v3.0.6
)

// Command lines, the system, go.mod files.
require (
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.1.0
	golang.org/x/mod v0.40.0
	golang.org/x/sys v0.47.0
	golang.org/x/term v0.45.0
	golang.org/x/text v0.41.0
)

// Tests.
require (
	github.com/google/go-cmp v0.7.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
)

require (
	github.com/google/jsonschema-go v0.4.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/cast v1.7.1 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.3.0 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/tools v0.49.0 // indirect
)
