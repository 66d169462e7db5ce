package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"text/template"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/terminal"
)

func newList() *cobra.Command {
	var scripts string
	var suites []string
	var asJSON, tools bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the gaps, one line each",
		Example: "  mcp-conform list\n  mcp-conform list --suite all\n  mcp-conform list --suite all --tools",
		Args:    noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			gaps, err := loadGaps(scripts, suites...)
			if err != nil {
				return err
			}
			if tools {
				return listTools(cmd.OutOrStdout(), conform.Tools(gaps))
			}
			if asJSON {
				return report.EncodeJSON(cmd.OutOrStdout(), struct {
					Version int         `json:"version"`
					Gaps    []listedGap `json:"gaps"`
				}{1, each(gaps, func(g *conform.Gap) listedGap { return listedGap{g.GapInfo, g.Layers()} })})
			}
			width := len(strconv.Itoa(gaps[len(gaps)-1].Number))
			for _, g := range gaps {
				cluster, _, _ := strings.Cut(g.Cluster, ",") // its letter
				fmt.Fprintf(cmd.OutOrStdout(), "%*d  %s  %-34s %s\n", max(width, 2), g.Number,
					report.Printable(cmp.Or(cluster, "-")), report.Printable(g.Title), strings.Join(layerNames(g.Layers()), ","))
			}
			return nil
		},
	}
	suiteFlag(cmd, &suites, "670")
	cmd.Flags().BoolVar(&tools, "tools", false, "list the MCP tools that scripts call, with the names that a dialect maps")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.MarkFlagsMutuallyExclusive("tools", "json")
	cmd.Flags().StringVar(&scripts, "scripts", "", "list the scripts in `DIR` instead of the built-in ones")
	return cmd
}

// listedGap is a gap as in a report, with its layers.
type listedGap struct {
	report.GapInfo
	Layers []report.Layer `json:"layers"`
}

// listTools writes what scripts use of each tool.
func listTools(out io.Writer, tools map[string]*conform.Tool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tool\tscripts\tparameters\tfields")
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		t := tools[name]
		list := func(set map[string]bool) string {
			return report.Printable(strings.Join(slices.Sorted(maps.Keys(set)), ", "))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, strings.Trim(fmt.Sprint(t.Gaps), "[]"), list(t.Parameters), list(t.Fields))
	}
	return w.Flush()
}

func newExplain() *cobra.Command {
	var scripts string
	cmd := &cobra.Command{
		Use:   "explain N",
		Short: "Print a gap's claim, the truth, and its script",
		Long: `explain prints a gap's claim, the truth, the verdict expected of each version,
and the script with its line numbers, which reports cite.`,
		Example: "  mcp-conform explain 4",
		Args:    wantArgs(1, "explain: want the number of a gap (see mcp-conform list --suite all)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			gap, _, _ := strings.Cut(args[0], "/") // of a claim, 4/tmux/1
			g, err := findGap(scripts, gap, "")
			if err != nil {
				return fmt.Errorf("explain %s: %w", args[0], err)
			}
			return explain(cmd.OutOrStdout(), g)
		},
	}
	cmd.Flags().StringVar(&scripts, "scripts", "", "look in `DIR` instead of among the built-in scripts")
	cmd.ValidArgsFunction = gapNumbers(&scripts)
	return cmd
}

func explain(w io.Writer, g *conform.Gap) error {
	style := styleOf(w)
	return show(w, "explain", g, template.FuncMap{
		"bold": func(s string) string {
			if style.Color {
				return "\x1b[1m" + s + "\x1b[0m"
			}
			return s
		},
		"printable": report.Printable,
		"wrap": func(indent int, text string) string {
			return terminal.Wrap(report.Printable(text), cmp.Or(style.Width, 80), indent)
		},
		// Reports cite the lines of the file.
		"lines":  func(text []byte) []string { return strings.Split("\n"+strings.TrimSuffix(string(text), "\n"), "\n") },
		"begins": strings.HasPrefix,
	})
}

// show writes a text for people, of a template beside what the commands say of themselves.
func show(w io.Writer, name string, data any, funcs template.FuncMap) error {
	text, err := template.New(name).Funcs(funcs).Parse(help(name))
	if err != nil {
		return err
	}
	return text.Execute(w, data)
}
