package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform/report"
)

// diffFormats are the ways to write what changed.
var diffFormats = []string{"text", "markdown", "json"}

func newDiff() *cobra.Command {
	var asJSON bool
	var format string
	cmd := &cobra.Command{
		Use:     "diff A.json B.json",
		Short:   "Compare the JSON reports of two runs",
		Example: help("diff-examples"),
		Long:    help("diff"),
		Args:    wantArgs(2, "diff: want two reports, as --format json writes them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			if !slices.Contains(diffFormats, format) {
				return fmt.Errorf("diff: --format %s: want %s", format, strings.Join(diffFormats, ", "))
			}
			var reports [2]*report.Report
			for i, file := range args {
				var err error
				if reports[i], err = readReport("diff", file); err != nil {
					return err
				}
			}
			d := report.Compare(reports[0], reports[1])
			out := cmd.OutOrStdout()
			err := report.WriteDiff(out, format, d, styleOf(out))
			if err == nil && d.Worse() {
				err = errFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, as --format json does")
	cmd.Flags().StringVar(&format, "format", "text", "print `FORMAT`: "+strings.Join(diffFormats, ", "))
	completion(cmd, "format", words(diffFormats...))
	return cmd
}

func readReport(command, file string) (*report.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", command, file, errors.Unwrap(err))
	}
	defer f.Close()
	r, err := report.ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", command, file, err)
	}
	return r, nil
}
