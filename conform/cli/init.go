package cli

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"tmuxmcp/conform/report"
)

//go:embed ci
var ciTemplates embed.FS

// ciFiles are the paths in a repository of the CI files that init writes.
var ciFiles = map[string]string{"github": ".github/workflows/mcp-conform.yml", "gitlab": ".gitlab-ci.yml"}

// ciOptions fill the template of a CI file.
type ciOptions struct {
	Made   string // the arguments that made it
	suites []string
	APIs   []string
	Server string
	// Dialect is the server's: a file in the repository, or the name of one.
	Dialect string
	Diff    bool
}

// Flags returns the flags for the first line of the run's command.
func (o ciOptions) Flags() string {
	text := ""
	flags := [][2]string{{"--suite", strings.Join(o.suites, ",")}}
	for _, api := range o.APIs {
		flags = append(flags, [2]string{"--api", api})
	}
	for _, f := range append(flags, [2]string{"--server", o.Server}, [2]string{"--dialect", o.Dialect}) {
		if f[1] != "" {
			text += " " + report.CommandLine(f[:])
		}
	}
	return text
}

// ciText returns the CI file of a kind.
func ciText(kind string, o ciOptions) ([]byte, error) {
	text, err := template.New(kind+".yml").Delims("<%", "%>").ParseFS(ciTemplates, "ci/"+kind+".yml")
	if err != nil {
		return nil, err
	}
	o.Made = "init " + kind + o.Flags()
	if o.Diff {
		o.Made += " --diff"
	}
	var out bytes.Buffer
	err = text.Execute(&out, o)
	return out.Bytes(), err
}

func newInit() *cobra.Command {
	var file string
	var write, force bool
	var o ciOptions
	var run runOptions
	cmd := &cobra.Command{
		Use:     "init github|gitlab",
		Short:   "Print or write a CI file that runs the matrix",
		Long:    help("init"),
		Example: help("init-examples"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || ciFiles[args[0]] == "" {
				return fmt.Errorf("%s: want github or gitlab", strings.TrimSpace("init "+strings.Join(args, " ")))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := loadGaps("", o.suites...); err != nil && len(o.suites) > 0 {
				return fmt.Errorf("init %s: %w", args[0], err)
			}
			o.APIs, o.Server, o.Dialect = run.apis, run.Server, run.dialect
			for flag, text := range map[string]string{"--api": strings.Join(o.APIs, ""), "--server": o.Server + o.Dialect} {
				if strings.ContainsAny(text, "\n\r") {
					return fmt.Errorf("init %s: %s: want a command of one line", args[0], flag)
				}
			}
			if err := run.findAPIs(cmd); err != nil {
				return fmt.Errorf("init %s: %w", args[0], err)
			}
			if err := run.findDialect(cmd); err != nil {
				return fmt.Errorf("init %s: %w", args[0], err)
			}
			text, err := ciText(args[0], o)
			if err != nil {
				return err
			}
			if write && file == "" {
				file = ciFiles[args[0]]
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
	suiteFlag(cmd, &o.suites)
	run.apiFlag(cmd)
	run.serverFlags(cmd)
	f.BoolVar(&o.Diff, "diff", false, "compare with the last report of the default branch")
	f.StringVarP(&file, "output", "o", "", "write to `FILE`")
	f.BoolVar(&write, "write", false, "write the file where the CI system looks for it")
	f.BoolVar(&force, "force", false, "replace an existing file")
	cmd.ValidArgs = []string{"github", "gitlab"}
	return cmd
}

func writeCI(file string, text []byte, force bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	switch {
	case err == nil && !force:
		return errors.New("is there already; --force replaces it")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return errors.Unwrap(err)
	}
	return writeFile(file, text, old)
}
