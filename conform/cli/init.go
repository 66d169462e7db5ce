package cli

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed ci
var ciFiles embed.FS

// ciKinds are the continuous integrations that init knows: the name, and the file
// that it looks for in a repository.
var ciKinds = []struct{ name, file string }{
	{"github", ".github/workflows/mcp-conform.yml"},
	{"gitlab", ".gitlab-ci.yml"},
}

func newInit() *cobra.Command {
	var file string
	var write, force bool
	cmd := &cobra.Command{
		Use:   "init github|gitlab",
		Short: "Print a CI file that runs the matrix, or write it",
		Long: `init prints a CI file that runs the scripts against Debian's tmux versions,
against 3.6a as conda-forge packages it, and against master as Homebrew builds it, with a report for
people and one for the CI system. --write puts it where the CI system looks for it.`,
		Example: "  mcp-conform init github --write\n  mcp-conform init gitlab -o ci/conform.yml",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || ciFile(args[0]) == "" {
				return fmt.Errorf("%s: want github or gitlab", strings.TrimSpace("init "+strings.Join(args, " ")))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := ciFiles.ReadFile("ci/" + args[0] + ".yml")
			if err != nil {
				return err
			}
			if write && file == "" {
				file = ciFile(args[0])
			}
			if file == "" || file == "-" {
				_, err := cmd.OutOrStdout().Write(text)
				return err
			}
			if err := writeCI(file, text, force); err != nil {
				return fmt.Errorf("init %s: %s: %w", args[0], file, err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", file)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "output", "o", "", "write `FILE`")
	f.BoolVar(&write, "write", false, "write the file where the CI system looks for it")
	f.BoolVar(&force, "force", false, "replace a file that is there")
	for _, k := range ciKinds {
		cmd.ValidArgs = append(cmd.ValidArgs, k.name)
	}
	return cmd
}

func ciFile(kind string) string {
	for _, k := range ciKinds {
		if k.name == kind {
			return k.file
		}
	}
	return ""
}

func writeCI(file string, text []byte, force bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writeFile(file, text, nil)
	case err != nil:
		return errors.Unwrap(err)
	case !force:
		return errors.New("is there already; --force replaces it")
	}
	return writeFile(file, text, old)
}
