package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tmuxmcp/conform"
	"tmuxmcp/fixtures"
	"tmuxmcp/internal/tokens/inventory"
	"tmuxmcp/tmux"
)

// tokensOptions are the flags of tokens.
type tokensOptions struct {
	tmux    []string
	formatC []string
	table   string
	archive archiveFlags
	json    bool
	write   bool
}

func newTokens() *cobra.Command {
	var o tokensOptions
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "Compare the typed table of format tokens with what tmux programs have",
		Long: `tokens compares this module's table of format tokens with a tmux: with the table
inside the program, which finds tokens that nobody has heard of yet; with a
server of its own, where the program is a script; or with the source, format.c.

Exit status: 0 when the table is right, 1 when it is not, 2 when it could not be
compared.`,
		Example: `  mcp-conform tokens
  mcp-conform tokens --tmux debian:sid --tmux master=/opt/tmux/bin/tmux
  mcp-conform tokens --format-c 3.8=tmux/format.c --write`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.tmux, "tmux", nil, "compare with the tmux at `SPEC`, as for run; may be repeated (default: system)")
	f.StringArrayVar(&o.formatC, "format-c", nil, "compare with tmux's format.c: `[VERSION=]FILE`, as in 3.8=format.c; VERSION is optional in a tmux checkout; may be repeated")
	f.StringVar(&o.table, "table", "", "use the table in `FILE` instead of the built-in one")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.BoolVar(&o.write, "write", false, "update the table in this module's checkout and the Go source generated from it")
	o.archive.flags(f)
	completion(cmd, "tmux", orFile(append([]string{"system"}, suites...)...))
	completion(cmd, "debian-mirror", cobra.NoFileCompletions)
	return cmd
}

// tokenDrift is what a tmux has to do with the table.
type tokenDrift struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// From is where the tokens were found: binary, server or source.
	From   string `json:"from"`
	Tokens int    `json:"tokens"`
	// Drift is never nil, so that JSON has a list.
	Drift []inventory.Change `json:"drift"`

	inventory inventory.Inventory
}

func (o *tokensOptions) run(cmd *cobra.Command) error {
	home := ""
	if o.write {
		if o.table != "" {
			return errors.New("--write changes the table of a checkout, not that of --table")
		}
		var err error
		if home, err = checkout(); err != nil {
			return fmt.Errorf("--write: %w", err)
		}
	}
	table, err := o.readTable(home)
	if err != nil {
		return err
	}
	drifts, err := o.compare(cmd, table)
	if err != nil {
		return err
	}
	if o.json {
		err = tokensJSON(cmd.OutOrStdout(), drifts)
	} else {
		tokensText(cmd.OutOrStdout(), drifts)
	}
	if err != nil {
		return err
	}
	if o.write {
		return writeTokens(cmd.ErrOrStderr(), home, table, drifts)
	}
	if slices.ContainsFunc(drifts, func(d tokenDrift) bool { return len(d.Drift) > 0 }) {
		return errFailed
	}
	return nil
}

func (o *tokensOptions) readTable(home string) (*inventory.Table, error) {
	text, file, err := fixtures.Tokens(), "built-in table", error(nil)
	if home != "" {
		file = filepath.Join(home, tableFile)
	} else if o.table != "" {
		file = o.table
	}
	if file != "built-in table" {
		if text, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("token table %s: %w", file, errors.Unwrap(err))
		}
	}
	table, err := inventory.ParseTable(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return table, nil
}

// compare takes the inventories, sorted by version.
func (o *tokensOptions) compare(cmd *cobra.Command, table *inventory.Table) ([]tokenDrift, error) {
	ctx := cmd.Context()
	var drifts []tokenDrift
	for _, spec := range o.formatC {
		d, err := fromSource(spec)
		if err != nil {
			return nil, fmt.Errorf("--format-c %s: %w", spec, err)
		}
		drifts = append(drifts, d)
	}
	if len(o.tmux) > 0 || len(o.formatC) == 0 {
		found, err := o.fromPrograms(ctx, cmd.ErrOrStderr(), table)
		if err != nil {
			return nil, err
		}
		drifts = append(drifts, found...)
	}
	slices.SortStableFunc(drifts, func(a, b tokenDrift) int { return a.inventory.Version.Compare(b.inventory.Version) })
	for i := range drifts {
		d := &drifts[i]
		d.Tokens = len(d.inventory.Entries)
		d.Drift = append([]inventory.Change{}, table.Drift(d.inventory)...)
	}
	return drifts, nil
}

func (o *tokensOptions) fromPrograms(ctx context.Context, stderr io.Writer, table *inventory.Table) ([]tokenDrift, error) {
	run := runOptions{tmux: o.tmux, archive: o.archive}
	targets, err := run.targets(ctx, stderr)
	if err != nil {
		return nil, err
	}
	var drifts []tokenDrift
	for _, t := range targets {
		inv, from, err := conform.TakeInventory(ctx, t, table)
		if err != nil {
			return nil, fmt.Errorf("--tmux %s: %w", t.Spec, err)
		}
		drifts = append(drifts, tokenDrift{Name: t.Name, Version: t.Version, From: from, inventory: inv})
	}
	return drifts, nil
}

// fromSource reads a format.c. Where its version is not given, the configure.ac
// beside it has it, in a checkout of tmux and in a release.
func fromSource(spec string) (d tokenDrift, err error) {
	version, file, ok := strings.Cut(spec, "=")
	if !ok {
		version, file = "", spec
		if _, err := os.Stat(file); err != nil {
			return d, errors.Unwrap(err)
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "configure.ac"))
		if m := configuredVersion.FindSubmatch(text); err == nil && m != nil {
			version = string(m[1])
		}
	}
	if version == "" || file == "" {
		return d, errors.New("want VERSION=FILE, as in 3.8=format.c, as there is no configure.ac beside it: the table says which version has what")
	}
	d = tokenDrift{Name: version, Version: version, From: "source"}
	if d.inventory.Version, err = tmux.ParseVersion(version); err != nil {
		return d, err
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return d, errors.Unwrap(err)
	}
	if d.inventory.Entries, err = inventory.ParseFormatC(src); err != nil {
		return d, err
	}
	d.inventory.Details = inventory.Details(src)
	return d, nil
}

var configuredVersion = regexp.MustCompile(`(?m)^AC_INIT\(\[tmux\], *\[?([^]) ]+)`)

// tokensJSON writes a version, which grows when a field changes its meaning or
// goes, and what was found of each tmux.
func tokensJSON(w io.Writer, drifts []tokenDrift) error {
	return conform.EncodeJSON(w, struct {
		Version int          `json:"version"`
		Tmux    []tokenDrift `json:"tmux"`
	}{1, drifts})
}

// tokenMarks are how the text shows a change, and what it means.
var tokenMarks = map[string]struct{ mark, meaning string }{
	inventory.Added:   {"+", "not in the table"},
	inventory.Removed: {"-", "in the table, not in this tmux"},
	inventory.Early:   {"<", "the table says that it came later, with "},
	inventory.Back:    {">", "the table says that it was last in "},
	inventory.Kind:    {"!", "a time for tmux or for the table, not for both"},
}

func tokensText(w io.Writer, drifts []tokenDrift) {
	for _, d := range drifts {
		what := "no drift"
		if n := len(d.Drift); n == 1 {
			what = "1 difference"
		} else if n > 1 {
			what = fmt.Sprintf("%d differences", n)
		}
		name := conform.Printable(d.Name)
		if name != d.Version {
			name += " (" + d.Version + ")"
		}
		source := map[string]string{
			"binary": "read from the program", "source": "read from the source",
			"server": "queried from a server, which cannot list tokens missing from the table",
		}[d.From]
		fmt.Fprintf(w, "tmux %s: %s; %d tokens, %s\n", name, what, d.Tokens, source)
		for _, c := range d.Drift {
			m := tokenMarks[c.Change]
			meaning := m.meaning
			switch c.Change {
			case inventory.Early:
				meaning += c.Since
			case inventory.Back:
				meaning += c.Until
			}
			fmt.Fprintf(w, "  %s %-28s %-8s %-7s %s\n", m.mark, c.Token, c.Scope, c.Type, meaning)
		}
	}
}

// The files of a checkout that hold the table and what is made of it.
const (
	modulePath = "tmuxmcp"
	tableFile  = "fixtures/tokens.json"
	sourceFile = "tmux/tokens_gen.go"
)

// checkout is the root of the checkout of this module that the current directory
// is in.
func checkout() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			first, _, _ := bytes.Cut(text, []byte("\n"))
			if string(bytes.TrimSpace(first)) == "module "+modulePath {
				return dir, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is in no checkout of the module %s, whose %s is to be written", start, modulePath, tableFile)
		}
	}
}

// writeTokens applies the changes to the table, oldest version first, and
// regenerates the Go source.
func writeTokens(stderr io.Writer, home string, table *inventory.Table, drifts []tokenDrift) error {
	old := table.Text()
	for _, d := range drifts {
		// What an older version has changed is not to be changed again.
		changes := table.Drift(d.inventory)
		updated, err := table.Update(d.inventory, changes)
		if err != nil {
			return fmt.Errorf("--write: tmux %s: %w", d.Name, err)
		}
		for _, c := range changes {
			if c.Change == inventory.Kind {
				fmt.Fprintf(stderr, "mcp-conform: token %s is %s in the table, which tmux %s sees otherwise: correct it by hand\n", c.Token, c.Type, d.Name)
			}
		}
		table = updated
	}
	source, err := table.Source()
	if err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	oldSource, err := os.ReadFile(filepath.Join(home, sourceFile))
	if err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	for _, f := range []struct {
		name     string
		old, new []byte
	}{{tableFile, old, table.Text()}, {sourceFile, oldSource, source}} {
		if bytes.Equal(f.old, f.new) {
			continue
		}
		if err := writeFile(filepath.Join(home, f.name), f.new, f.old); err != nil {
			return fmt.Errorf("--write: %w", err)
		}
		fmt.Fprintf(stderr, "wrote %s\n", filepath.Join(home, f.name))
	}
	return nil
}
