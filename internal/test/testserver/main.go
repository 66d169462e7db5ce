package testserver

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// Main runs a package's tests, eight at a time, and its examples only if there is a tmux: they
// cannot be skipped one by one.
func Main(m *testing.M) int {
	testtool.Parallel(8)
	if path, err := testtmux.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "the examples are not run:", err)
		flag.Set("test.skip", "^Example")
	} else {
		// Debian's is on no PATH. Last, as other programs may lie beside it.
		os.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Dir(path))
	}
	return m.Run()
}

// Throwaway starts a server for an example, with one session, "work", that has one pane. The
// returned function ends the server.
func Throwaway() (*tmux.Server, func()) {
	srv, end, err := Open(os.Getenv("TMUX_TEST_BINARY"))
	if err == nil {
		_, err = srv.NewSession(context.Background(), tmux.NewSession{Name: "work", Width: 80, Height: 24})
	}
	if err != nil {
		log.Fatal(err)
	}
	return srv, func() {
		if err := end(); err != nil {
			log.Print(err)
		}
	}
}
