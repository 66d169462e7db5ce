package terminal

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tmuxmcp/internal/nearest"
)

// Instead has the error about an unknown command name what to run instead: there is a command of
// another program, or a flag, for what some expect of this one.
func Instead(cmd *cobra.Command, of map[string]string) {
	cmd.Annotations = map[string]string{}
	for name, run := range of {
		cmd.Annotations[insteadOf+name] = run
	}
}

// insteadOf begins the annotations of [Instead].
const insteadOf = "instead of "

// NoSuchCommand refuses the arguments of a command that takes none. If it has subcommands, the
// first is a misspelt one, and the error asks which was meant.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	switch {
	case len(args) == 0:
		return nil
	case names == nil:
		return fmt.Errorf("unexpected argument %q: %s takes none", args[0], cmd.CommandPath())
	case cmd.Annotations[insteadOf+args[0]] != "":
		return fmt.Errorf("unknown command %q for %s; use %s", args[0], cmd.CommandPath(), cmd.Annotations[insteadOf+args[0]])
	}
	return fmt.Errorf("unknown command %q for %s%s", args[0], cmd.CommandPath(), nearest.Meant(args[0], names))
}

// SuggestFlags has errors about unknown flags of a command and its subcommands ask which was
// meant. synonyms has the flags of these commands for names that others use.
func SuggestFlags(root *cobra.Command, synonyms map[string]string) {
	fail := root.FlagErrorFunc()
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
			var names []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden {
					names = append(names, "--"+f.Name)
				}
			})
			name := unknown.GetSpecifiedName()
			if same := cmd.Flags().Lookup(synonyms[name]); same != nil {
				name = same.Name
			}
			err = fmt.Errorf("%w%s", err, nearest.Meant("--"+name, names))
		}
		return fail(cmd, err)
	})
}
