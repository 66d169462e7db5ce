package conform

import (
	"fmt"
	"os"
	"testing"

	"tmuxmcp/internal/test/testtool"
	server "tmuxmcp/server/cli"
)

// The test binary is also the process of a script, and its MCP server.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ChildArg {
		os.Exit(Main(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 2 && os.Args[1] == ServerArg {
		os.Exit(server.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, nil))
	}
	if len(os.Args) == 2 && os.Args[1] == APIArg {
		if err := ServeAPI(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if name := os.Getenv("CONFORM_TEST_PATCH"); name != "" {
		if err := servePatched(name, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv("CONFORM_TEST_SERVER") != "" {
		os.Exit(testServer(os.Stdin, os.Stdout))
	}
	if program := os.Getenv("CONFORM_TEST_HOSTILE"); program != "" {
		if err := hostileRun(program); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testtool.Parallel(24)
	versionTimeout = unhurried
	os.Exit(m.Run())
}

// scriptProcess returns the command that starts such a process.
func scriptProcess(t *testing.T) []string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, ChildArg}
}
