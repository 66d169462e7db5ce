package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
)

// suites are the Debian suites whose tmux somebody may want. Others are taken too.
var suites = []string{"debian:bookworm", "debian:trixie", "debian:trixie-backports", "debian:sid"}

// completion says to the shell what can stand behind a flag.
func completion(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // no such flag
	}
}

// words are the only values of a flag or an argument.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// orFile are values in place of which there can be a file.
func orFile(list ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveDefault
	}
}

func layerNames(layers []report.Layer) []string {
	var names []string
	for _, l := range layers {
		names = append(names, string(l))
	}
	return names
}

// suiteFlag adds the flag that selects suites.
func suiteFlag(cmd *cobra.Command, suites *[]string, def ...string) {
	var names []string
	var found []cobra.Completion
	for _, s := range append(report.Suites(), report.Suite{Name: conform.AllSuites, About: "all of them"}) {
		names = append(names, s.Name)
		found = append(found, cobra.CompletionWithDesc(s.Name, s.About))
	}
	cmd.Flags().StringSliceVar(suites, "suite", def, "the scripts of this `SUITE`: "+strings.Join(names, ", ")+"; may be repeated")
	completion(cmd, "suite", words(found...))
}

// gapNumbers completes the number of a gap, of which there can be one.
func gapNumbers(scripts *string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		if gaps, err := loadGaps(*scripts, conform.AllSuites); err == nil && len(args) == 0 {
			for _, g := range gaps {
				found = append(found, cobra.CompletionWithDesc(strconv.Itoa(g.Number), g.Title))
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// cachedSuites completes the suites whose tmux is in the cache.
func cachedSuites(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, _ := (&archiveFlags{}).fetcher(cmd.ErrOrStderr()).List()
	var found []cobra.Completion
	for _, got := range all {
		if name := "debian:" + got.Suite; strings.HasPrefix(name, begun) {
			found = append(found, cobra.CompletionWithDesc(name, got.Version))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
