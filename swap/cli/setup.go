package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/swap"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/hint"
)

// PrintedExit returns the exit code of a command that has printed everything.
func (s *silent) PrintedExit() int { return s.code }

// Setup returns the command by which a server's own program adds the server to the clients of
// this machine, and removes it again. Entries are called entry by default. flags returns the
// flags of the server that were given, for the entries. An error of the command has been printed,
// and its method PrintedExit returns the exit code.
func Setup(program, entry string, stderr io.Writer, flags func(*cobra.Command) ([]string, error)) *cobra.Command {
	a, self := &app{}, swap.Program{Name: program, Entry: entry}
	var o swap.SetupOptions
	var uninstall bool
	c := &cobra.Command{
		Use:   "setup",
		Short: "Add this server to the agent clients on this machine, or remove it",
		Long: `setup adds this program to the config of every installed agent client, for all
projects. --uninstall puts everything back: a config that nothing else has
written to since gets its exact old bytes, and one that setup created is
removed, unless something else was added to it. Server flags that you give here
go into the entries; ` + program + ` --help lists them.

Before writing anything, setup starts the server as each client would. It then
changes only the entry in a config. An entry that already runs this program
keeps its flags if you give none. Flags that you give replace all that it has,
so repeat those to keep; --no-flags removes all. An entry of that name with
another server is replaced until --uninstall. A client that runs this program,
or one with the same tools, under another name is left alone, unless you give
--name. mcp-swap can also show and revert what setup wrote.

Exit status: 0 on success, 1 if a client failed or there was nothing to remove,
2 if the command line is wrong.`,
	}
	f := c.Flags()
	f.Var((*names)(&o.Clients), "client", "a `CLIENT`, or several with commas; repeatable (default: all that are installed)")
	_ = c.RegisterFlagCompletionFunc("client", clientNames)
	f.Var((*name)(&o.Name), "name", "the name of the entries (default "+entry+"; for --uninstall all that setup has written)")
	fixed(c, "name", entry)
	f.BoolVar(&o.NoFlags, "no-flags", false, "remove the flags of the server from entries that have some")
	f.BoolVar(&uninstall, "uninstall", false, "put everything back, and forget it")
	f.BoolVar(&o.Force, "force", false, "also edit a read-only config; with --uninstall, also restore fields that were edited since")
	diffFlags(c, &o.DryRun, &o.ShowSecrets)
	f.BoolVar(&a.json, "json", false, "print one JSON document (docs/mcp-swap.schema.json describes it)")
	f.VisitAll(countFlag)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ask.Adopt()
		a.stdout, a.err, a.stderr = newPrinter(cmd.OutOrStdout()), newPrinter(stderr), stderr
		a.out, a.err.program = a.stdout, program+":"
		err := a.verb(func(ctx context.Context, s *swap.Swapper) error {
			s.Words = configs.Words{Write: "setup", Undo: program + " setup --uninstall", Client: "--client", Server: "--name"}
			a.exact = o.ShowSecrets && a.out.width == 0
			given, err := flags(cmd)
			if err != nil {
				return &hint.UsageError{Msg: err.Error()}
			}
			if uninstall {
				return a.remove(ctx, s, self, o, given)
			}
			if o.NoFlags && len(given) > 0 {
				return hint.Usagef("--no-flags cannot be combined with flags of the server, such as %s", given[0])
			}
			o.SameFlag = sameFlags(cmd)
			path, err := itself(program)
			if err != nil {
				return err
			}
			o.Command = append([]string{path}, given...)
			results, err := self.Setup(ctx, s, o)
			a.doc.Server = cmp.Or(o.Name, entry)
			return a.results(results, err, o.DryRun, s.Words.Undo+" puts everything back")
		})(cmd, args)
		if code := a.end(cmd, err); code != exitOK {
			return &silent{code}
		}
		return nil
	}
	return c
}

// sameFlags returns one word for the spellings of each flag. Those of a socket exclude each other.
func sameFlags(cmd *cobra.Command) map[string]string {
	same := map[string]string{}
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		word, _, _ := strings.Cut("--"+f.Name, "socket-")
		if word == "--" {
			word += "socket"
		}
		same["--"+f.Name], same["-"+f.Shorthand] = word, word
	})
	return same
}

// remove undoes what setup has written.
func (a *app) remove(ctx context.Context, s *swap.Swapper, self swap.Program, o swap.SetupOptions, given []string) error {
	if o.NoFlags {
		return hint.Usagef("--uninstall cannot be combined with --no-flags")
	}
	if len(given) > 0 {
		return hint.Usagef("--uninstall takes no flags of the server, such as %s", given[0])
	}
	a.doc.Server = o.Name
	results, err := self.Remove(ctx, s, o)
	if err == nil && len(results) == 0 {
		err = errors.New("nothing to remove: no entry that setup has written is recorded")
	}
	return a.results(results, err, o.DryRun, "")
}

// goRuns matches the directories in which go run leaves what it compiled.
var goRuns = lazy.Regexp(`^(go-build[0-9]+|[0-9a-f]{64}-d)$`)

// itself returns the path of this program for a config: the one on PATH, which an update may keep, or
// else its own. A program that will not stay there is refused.
func itself(name string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	here, err := os.Stat(program)
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if found, err := exec.LookPath(name); err == nil {
		if info, err := os.Stat(found); err == nil && os.SameFile(info, here) {
			if program, err = filepath.Abs(found); err != nil {
				return "", err
			}
		}
	}
	for dir := range strings.SplitSeq(filepath.ToSlash(program), "/") {
		switch {
		case goRuns().MatchString(dir):
			return "", errors.New("go run has compiled this program for this one time: install it first, with go install ./cmd/" + name)
		case dir == "_npx":
			return "", errors.New("npx may remove this program at any time: install it first, with npm install --global")
		}
	}
	return program, nil
}
