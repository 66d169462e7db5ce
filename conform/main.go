package conform

import (
	"io"
	"os"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/script"
	"tmuxmcp/tmux"
)

// ServerArg is the first argument of a process that is to be the MCP server of
// a script, where Options has none.
const ServerArg = "__server"

// ChildArg is the first argument of a process that is to run scripts.
const ChildArg = child.Arg

// APIArg is the first argument of a process that is to be the adapter of package tmux.
const APIArg = "__api"

// ServeAPI answers the requests of the adapter protocol, with package tmux, until stdin ends.
func ServeAPI(stdin io.Reader, stdout io.Writer) error {
	return adapter.Serve(&adapter.Library{Transport: tmux.Transport(os.Getenv("MCP_CONFORM_TRANSPORT"))}, stdin, stdout)
}

// Main runs scripts, one after the other, in a process that was started with [ChildArg]. It reads
// the requests from stdin, writes the outcomes to stdout and returns the exit code.
// It changes process-wide state, so the process must not do anything else.
func Main(stdin io.Reader, stdout io.Writer) int { return script.Main(stdin, stdout) }

// Adopt makes this process take over and end what a killed or crashed script's process leaves
// behind. The process must have no other children than those that this package starts. It works
// on Linux.
func Adopt() { child.Adopt() }
