// Package terminal has the terminal manners of all programs: whether output is colored, and
// how wide it is.
package terminal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"tmuxmcp/internal/nearest"
)

// Environment documents the variables that [Color] reads.
const Environment = `NO_COLOR, TERM
    no colors where NO_COLOR is set, or TERM is dumb
FORCE_COLOR
    colors everywhere, unless it is 0`

// Color reports whether to color what goes to w: on a terminal that is not dumb, unless
// NO_COLOR is set, and wherever FORCE_COLOR is set to anything but 0.
func Color(w io.Writer) bool {
	if force := os.Getenv("FORCE_COLOR"); force != "" {
		return force != "0"
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && Is(w)
}

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the number of columns if w is a terminal. Otherwise it returns 0: the
// output is for programs.
func Width(w io.Writer) int {
	if !Is(w) {
		return 0
	}
	if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// Wrap breaks a text between words into lines of at most width columns. The lines after the
// first are indented, and the first is assumed to follow as many columns. If width is 0,
// the text is returned unchanged.
func Wrap(text string, width, indent int) string {
	if width == 0 {
		return text
	}
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// ShowVersion gives a program the flag --version. Cobra's own needs a template to print no more
// than this; a program that executes one keeps, and maps, all methods of all types.
func ShowVersion(root *cobra.Command, version string) {
	asked := root.Flags().BoolP("version", "v", false, "version for "+root.Name())
	_ = root.Flags().SetAnnotation("version", cobra.FlagSetByCobraAnnotation, []string{"true"}) // nothing is completed after it
	args, run := root.Args, root.RunE
	root.Args = func(cmd *cobra.Command, words []string) error {
		if *asked {
			return nil
		}
		return args(cmd, words)
	}
	root.RunE = func(cmd *cobra.Command, words []string) error {
		if *asked {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), root.Name(), version)
			return err
		}
		return run(cmd, words)
	}
}

// plain hides from package pflag that a flag is boolean, in what it prints.
type plain struct{ pflag.Value }

// FitHelp wraps the flags in the help of a command and its subcommands at 80 columns, without
// a template either. A boolean flag is shown without the values that it takes.
func FitHelp(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				f.Value = plain{f.Value}
			}
		})
		out, text := c.OutOrStderr(), &strings.Builder{}
		c.SetOut(text)
		err := usage(c)
		c.SetOut(out)
		fitted := text.String()
		for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			long, short := flags.FlagUsages(), flags.FlagUsagesWrapped(80)
			fitted = strings.Replace(fitted, strings.TrimSpace(long), strings.TrimSpace(short), 1)
		}
		if shown, ok := c.Annotations[inherits]; ok {
			before, rest, _ := strings.Cut(fitted, "\nGlobal Flags:\n")
			_, after, _ := strings.Cut(rest, "\n\n")
			fitted = strings.TrimRight(before, "\n") + "\n" + inherited(c, strings.Fields(shown))
			if after != "" {
				fitted += "\n" + after
			}
		}
		_, failed := io.WriteString(out, fitted)
		return cmp.Or(err, failed)
	})
}

// inherits is the annotation of a command whose help shows only some flags of its parents.
const inherits = "terminal: inherited flags"

// ShowInherited has the help of a command show only these flags of its parents: others are
// accepted, but mean nothing to it.
func ShowInherited(c *cobra.Command, names ...string) *cobra.Command {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[inherits] = strings.Join(names, " ")
	return c
}

// inherited returns the part of a help that shows these flags of a command's parents.
func inherited(c *cobra.Command, names []string) string {
	if len(names) == 0 {
		return ""
	}
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(names, f.Name) {
			shown.AddFlag(f)
		}
	})
	return "\nGlobal Flags:\n" + shown.FlagUsagesWrapped(80)
}

// AddCompletion adds the command that prints completion scripts to where root's output goes now,
// and returns it. For a shell that it does not know it fails, where cobra's own shows its help.
func AddCompletion(root *cobra.Command) *cobra.Command {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err)
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var shells []string
		for _, shell := range c.Commands() {
			shells = append(shells, shell.Name())
		}
		return fmt.Errorf("completion %s: no such shell: want one of %s%s", args[0], strings.Join(shells, ", "), nearest.Meant(args[0], shells))
	}
	return c
}
