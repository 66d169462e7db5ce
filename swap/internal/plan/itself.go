package plan

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
)

// Itself returns a server that sets itself up: by is its program's name, and argv the path of
// the program, with flags. The entries are called server or, if that is "", name.
func Itself(env configs.Env, by, name, server string, argv []string) *Wanted {
	want := &Wanted{Repo: env.Sys.Home, Name: server, Argv: argv, Given: true, By: by}
	if server == "" {
		want.Name, want.unnamed = name, true
	}
	return want
}

// ArgvFor returns what a client is to run. An entry that runs this program already stays as it is,
// unless other flags were given: dropping its flags, such as --safety readonly, would allow more.
func (want *Wanted) ArgvFor(c *clients.Client, old format.Entry) []string {
	if want.By == "" || !old.Found {
		return want.Argv
	}
	was := c.Dialect.ReadArgv(old.Value)
	if sameProgram(was, want.Argv) && (len(want.Argv) == 1 || slices.Equal(was[1:], want.Argv[1:])) {
		return was
	}
	return want.Argv
}

// mayReplace returns an error if an entry must not be replaced: it starts a program of the same name
// in another way, with flags that would be lost, such as --safety readonly; or it is a swap, which
// a removal would undo too.
func (want *Wanted) mayReplace(c Change) error {
	if want.By == "" || !c.Old.Found {
		return nil
	}
	was := c.Client.Dialect.ReadArgv(c.Old.Value)
	if len(want.Argv) == 1 && len(was) > 1 && names(was, want.By) && !sameProgram(was, want.Argv) {
		return fmt.Errorf("its entry %q runs %s, whose flags would be lost: pass the flags that it is to have", want.Name, ask.CommandLine(ask.ShowArgs(was)))
	}
	if n := want.swaps.Find(c.Doc.Target, c.Container, want.Name); n >= 0 && want.swaps.Records[n].By == "" {
		undo := ask.CommandLine([]string{"mcp-swap", "revert", "--cli", c.Client.Name, "--server", want.Name})
		return fmt.Errorf("mcp-swap use-local has written its entry %q: undo that first, with %s", want.Name, undo)
	}
	return nil
}

// names reports whether a word of a command is a program or package of that name, perhaps with a
// version, or a line with it; libtmux-mcp is not tmux-mcp.
func names(argv []string, program string) bool {
	return slices.ContainsFunc(argv, func(word string) bool {
		before, _, found := strings.Cut(word, program)
		last, _ := utf8.DecodeLastRuneInString(before)
		return found && !unicode.IsLetter(last) && !unicode.IsDigit(last) && last != '-' && last != '_'
	})
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
