// Command tmux-mcp is an MCP server over tmux. See tmux-mcp --help.
package main

import (
	"os"

	"tmuxmcp/server/cli"
	swap "tmuxmcp/swap/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, swap.Setup))
}
