package plan

import (
	"cmp"
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
// unless other flags were given, or none are wanted: dropping its flags, such as --safety readonly,
// would allow more.
func (want *Wanted) ArgvFor(c *clients.Client, old format.Entry) []string {
	if want.By == "" || !old.Found {
		return want.Argv
	}
	was := c.Dialect.ReadArgv(old.Value)
	if sameProgram(was, want.Argv) && (want.keepsFlags() || slices.Equal(was[1:], want.Argv[1:])) {
		return was
	}
	return want.Argv
}

// keepsFlags reports whether entries keep the flags that they have.
func (want *Wanted) keepsFlags() bool { return len(want.Argv) == 1 && !want.Bare }

// loses returns a caution if an entry of this program loses flags, since those that were given
// replace them all; "" if it loses none. Without --safety readonly, for one, an agent may do more.
func (want *Wanted) loses(c Change) string {
	if want.By == "" || want.Bare || !c.Old.Found {
		return ""
	}
	was := c.Client.Dialect.ReadArgv(c.Old.Value)
	at := 0
	if !sameProgram(was, want.Argv) {
		if at = slices.IndexFunc(was, func(word string) bool { return names([]string{word}, want.By) }); at < 0 {
			return ""
		}
	}
	key := func(word string) string {
		if name, _, _ := strings.Cut(word, "="); strings.HasPrefix(word, "--") {
			return cmp.Or(want.SameFlag[name], name)
		}
		return cmp.Or(want.SameFlag[word[:min(2, len(word))]], word)
	}
	given := map[string]bool{}
	for _, word := range want.Argv[1:] {
		given[key(word)] = true
	}
	var lost []string
	losing := false
	for _, word := range was[at+1:] {
		if strings.HasPrefix(word, "-") && word != "-" { // otherwise it is the value of the one before
			losing = !given[key(word)]
		}
		if losing {
			lost = append(lost, word)
		}
	}
	if lost == nil {
		return ""
	}
	both := want.again(c.Client, want.Name, slices.Concat(lost, want.Argv[1:])...)
	return fmt.Sprintf("the flags given replace all others, so its entry loses %s; to keep both: %s", ask.CommandLine(ask.ShowArgs(lost)), both)
}

// again returns the command that sets up the entry of a name in one client, with the given flags.
func (want *Wanted) again(c *clients.Client, name string, flags ...string) string {
	argv := []string{want.By, "setup", "--client", c.Name}
	if name != want.Name || !want.unnamed {
		argv = append(argv, "--name", name)
	}
	return ask.CommandLine(ask.ShowArgs(append(argv, flags...)))
}

// mayReplace returns an error if an entry must not be replaced: it starts a program of the same name
// in another way, with flags that would be lost, such as --safety readonly; or it is a swap, which
// a removal would undo too.
func (want *Wanted) mayReplace(c Change) error {
	if want.By == "" || !c.Old.Found {
		return nil
	}
	was := c.Client.Dialect.ReadArgv(c.Old.Value)
	if want.keepsFlags() && len(was) > 1 && names(was, want.By) && !sameProgram(was, want.Argv) {
		return fmt.Errorf("its entry %q runs %s, whose flags would be lost: pass the flags that it is to have, or --no-flags", want.Name, ask.CommandLine(ask.ShowArgs(was)))
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
