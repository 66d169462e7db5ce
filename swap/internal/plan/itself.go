package plan

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
)

// Itself returns a server that sets itself up: by is its program's name, and argv the path of
// the program, with flags. The entries are called server or, if that is "", name.
func Itself(env configs.Env, by, name, server string, argv []string) *Server {
	u := &Server{Repo: env.Sys.Home, Name: server, Argv: argv, Given: true, By: by}
	if server == "" {
		u.Name, u.unnamed = name, true
	}
	return u
}

// ArgvFor returns what a client is to run. An entry that runs this program already stays as it
// is, unless other flags were given: to leave out those that it has, such as --safety readonly,
// would allow more.
func (u *Server) ArgvFor(c *clients.Client, old format.Entry) []string {
	if u.By == "" || !old.Found {
		return u.Argv
	}
	was := c.Dialect.ReadArgv(old.Value)
	if sameProgram(was, u.Argv) && (len(u.Argv) == 1 || slices.Equal(was[1:], u.Argv[1:])) {
		return was
	}
	return u.Argv
}

// keepsFlags returns an error if an entry runs another program of the same name, perhaps an
// older one that was at another place, with flags that it would lose.
func (u *Server) keepsFlags(c *clients.Client, old format.Entry) error {
	if u.By == "" || !old.Found || len(u.Argv) > 1 {
		return nil
	}
	was := c.Dialect.ReadArgv(old.Value)
	if len(was) < 2 || filepath.Base(was[0]) != filepath.Base(u.Argv[0]) || sameProgram(was, u.Argv) {
		return nil
	}
	return fmt.Errorf("its entry %q runs %s, whose flags would be lost: pass the flags that it is to have", u.Name, ask.CommandLine(ask.ShowArgs(was)))
}

// sameProgram reports whether two commands run the same file.
func sameProgram(a, b []string) bool {
	var files [2]os.FileInfo
	for i, argv := range [][]string{a, b} {
		if len(argv) == 0 {
			return false
		}
		path, err := exec.LookPath(argv[0])
		if err != nil {
			return false
		}
		if files[i], err = os.Stat(path); err != nil {
			return false
		}
	}
	return os.SameFile(files[0], files[1])
}
