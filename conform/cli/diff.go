package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
)

func newDiff() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff A.json B.json",
		Short: "Compare the JSON reports of two runs",
		Long: `diff shows what changed between two runs, for example with a new tmux or after
a pull request. It compares targets with the same name. If each run has exactly
one target that the other lacks, it compares those two: 3.6a with 3.7c.

Exit status: 0 when nothing got worse, 1 when something did, 2 when the reports
could not be read.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("diff: want two reports, as --format json writes them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var reports [2]*conform.Report
			for i, file := range args {
				var err error
				if reports[i], err = readReport("diff", file); err != nil {
					return err
				}
			}
			d := conform.Compare(reports[0], reports[1])
			out := cmd.OutOrStdout()
			var err error
			if asJSON {
				err = conform.EncodeJSON(out, d)
			} else {
				err = conform.WriteDiff(out, d, styleOf(out))
			}
			if err == nil && d.Worse() {
				err = errFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func readReport(command, file string) (*conform.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", command, file, errors.Unwrap(err))
	}
	defer f.Close()
	r, err := conform.ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", command, file, err)
	}
	return r, nil
}
