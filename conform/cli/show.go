package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
)

func newList() *cobra.Command {
	var scripts string
	var suites []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the gaps, one line each",
		Example: "  mcp-conform list\n  mcp-conform list --suite all",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			gaps, err := loadGaps(scripts, suites...)
			if err != nil {
				return err
			}
			if asJSON {
				list := gapList{Version: 1}
				for _, g := range gaps {
					list.Gaps = append(list.Gaps, listedGap{g.GapInfo, g.Layers()})
				}
				return report.EncodeJSON(cmd.OutOrStdout(), list)
			}
			width := len(strconv.Itoa(gaps[len(gaps)-1].Number))
			for _, g := range gaps {
				var layers []string
				for _, l := range g.Layers() {
					layers = append(layers, string(l))
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%*d  %s  %-34s %s\n", max(width, 2), g.Number,
					report.Printable(cluster(g)), report.Printable(g.Title), strings.Join(layers, ","))
			}
			return nil
		},
	}
	suiteFlag(cmd, &suites, "670")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.Flags().StringVar(&scripts, "scripts", "", "list the scripts in `DIR` in place of the built-in ones")
	return cmd
}

// gapList is the document of list --json; its gaps are as in a report.
type gapList struct {
	Version int         `json:"version"`
	Gaps    []listedGap `json:"gaps"`
}

type listedGap struct {
	report.GapInfo
	Layers []report.Layer `json:"layers"`
}

// cluster is the letter of the gap's cluster.
func cluster(g *conform.Gap) string {
	letter, _, _ := strings.Cut(g.Cluster, ",")
	if letter == "" {
		return "-"
	}
	return letter
}

func newExplain() *cobra.Command {
	var scripts string
	cmd := &cobra.Command{
		Use:   "explain N",
		Short: "Print a gap's claim, the truth, what is expected of which version, and the script",
		Args:  wantArgs(1, "explain: want the number of a gap (see mcp-conform list)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := findGap(scripts, args[0], "")
			if err != nil {
				return fmt.Errorf("explain %s: %w", args[0], err)
			}
			explain(cmd.OutOrStdout(), g)
			return nil
		},
	}
	cmd.Flags().StringVar(&scripts, "scripts", "", "look among the scripts in `DIR` in place of the built-in ones")
	cmd.ValidArgsFunction = gapNumbers(&scripts)
	return cmd
}

func explain(w io.Writer, g *conform.Gap) {
	style := styleOf(w)
	bold := func(s string) string {
		if style.Color {
			return "\x1b[1m" + s + "\x1b[0m"
		}
		return s
	}
	width := style.Width
	if width == 0 {
		width = 80
	}
	fmt.Fprintf(w, "%s\n\n", bold(fmt.Sprintf("Gap %d: %s", g.Number, report.Printable(g.Title))))
	for _, f := range append([]report.GapField{{Name: "suite", Text: &g.Suite}}, g.Fields()[1:]...) {
		if *f.Text != "" {
			fmt.Fprintf(w, "%-8s %s\n", f.Name, report.Wrap(report.Printable(*f.Text), width, 9))
		}
	}
	fmt.Fprintf(w, "\n%s\n", bold("Expected"))
	for _, l := range g.Layers() {
		outcome := "pass"
		for _, r := range g.Rules() {
			if r.Layer == l && r.NotApplicable {
				text := fmt.Sprintf("tmux %s: n/a: %s", r.Versions, r.Text)
				fmt.Fprintf(w, "  %-5s %s\n", l, report.Wrap(report.Printable(text), width, 8))
				outcome = "otherwise: pass"
			}
		}
		fmt.Fprintf(w, "  %-5s %s\n", l, outcome)
		for _, r := range g.Rules() {
			if r.Layer == l && !r.NotApplicable {
				text := r.Text
				if r.Versions != "" {
					text = "tmux " + r.Versions + ": " + text
				}
				fmt.Fprintf(w, "        %s\n", report.Wrap(report.Printable(text), width, 10))
			}
		}
	}
	fmt.Fprintf(w, "\n%s\n", bold("Script "+g.Name+".txtar"))
	// Reports cite the lines of the file.
	script, n := false, 0
	for line := range strings.Lines(string(g.Text)) {
		n++
		if script = script || strings.HasPrefix(line, "-- "); script {
			fmt.Fprintf(w, "%3d  %s\n", n, report.Printable(strings.TrimSuffix(line, "\n")))
		}
	}
}
