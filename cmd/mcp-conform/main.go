// Command mcp-conform replays the gaps of libtmux issue #670 against real tmux
// programs. See docs/mcp-conform.md.
package main

import (
	"os"

	"tmuxmcp/conform"
	"tmuxmcp/conform/cli"
	server "tmuxmcp/server/cli"
)

func main() {
	if args := os.Args[1:]; len(args) > 0 && args[0] == conform.ServerArg {
		os.Exit(server.Main(args[1:], os.Stdin, os.Stdout, os.Stderr, nil))
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
