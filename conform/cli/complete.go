package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/debian"
)

// suites are the Debian suites to suggest. Others are accepted too.
var suites = []string{"debian:bookworm", "debian:trixie", "debian:trixie-backports", "debian:sid"}

// completion registers the completions of a flag's value.
func completion(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // no such flag
	}
}

// words completes a flag or an argument from the only values that it can have.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// orFile completes from a list of values, or to a file.
func orFile(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveDefault)
}

// each applies a function to each item of a list.
func each[T, U any](list []T, f func(T) U) (all []U) {
	for _, v := range list {
		all = append(all, f(v))
	}
	return all
}

func layerNames(layers []report.Layer) []string {
	return each(layers, func(l report.Layer) string { return string(l) })
}

// suiteFlag adds the flag that selects suites.
func suiteFlag(cmd *cobra.Command, suites *[]string, def ...string) {
	all := append(report.Suites(), report.Suite{Name: conform.AllSuites, About: "all of them"})
	list := strings.Join(each(all, func(s report.Suite) string { return s.Name }), ", ")
	cmd.Flags().StringSliceVar(suites, "suite", def, "use this `SUITE` of scripts: "+list+"; may be repeated")
	completion(cmd, "suite", words(each(all, func(s report.Suite) string { return cobra.CompletionWithDesc(s.Name, s.About) })...))
}

// gapNumbers completes the number of a gap, unless there is one already.
func gapNumbers(scripts *string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		gaps, err := loadGaps(*scripts, conform.AllSuites)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		name := func(g *conform.Gap) string { return cobra.CompletionWithDesc(strconv.Itoa(g.Number), g.Title) }
		return each(gaps, name), cobra.ShellCompDirectiveNoFileComp
	}
}

// cachedSuites completes the suites whose tmux is in the cache.
func cachedSuites(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, _ := (&archiveFlags{}).fetcher(cmd.ErrOrStderr()).List()
	found := each(all, func(got debian.Installed) string { return cobra.CompletionWithDesc("debian:"+got.Suite, got.Version) })
	return slices.DeleteFunc(found, func(s string) bool { return !strings.HasPrefix(s, begun) }), cobra.ShellCompDirectiveNoFileComp
}
