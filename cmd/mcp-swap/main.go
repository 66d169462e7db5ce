// Command mcp-swap points the agent CLIs of a machine at a local checkout of an
// MCP server, and puts everything back. See docs/mcp-swap.md.
package main

import (
	"os"

	"tmuxmcp/swap/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
