package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/debian"
	"tmuxmcp/internal/gettmux"
	"tmuxmcp/internal/nearest"
	"tmuxmcp/tmux"
)

// fallbackTarget is run where no tmux is installed.
const fallbackTarget = "debian:" + debian.Default

// runOptions are the flags of run: its options, and what they are made of.
type runOptions struct {
	conform.Options
	tmux      []string
	targetsIn string
	probe     bool
	layers    []string
	match     string
	scripts   string
	suites    []string
	transport string
	dialect   string
	apis      []string
	archive   archiveFlags
	outputs   outputs

	skip, shard  string
	expect       string
	old          []byte // what the file of --expect had; nil when there was none
	updateExpect bool
}

func (o *runOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.targetFlags(cmd)
	f.StringSliceVar(&o.layers, "layer", nil, "only this `LAYER`: tmux, api or mcp; may be repeated")
	f.StringVar(&o.match, "run", "", "only gaps whose file name matches `REGEXP`, as in ^04 or reset")
	f.Func("format", "`FORMAT` of a report: "+formatChoice()+
		"; may be repeated, each with an -o (default: by the name of its -o file, else text)", o.outputs.addFormat)
	f.FuncP("output", "o", "`FILE` for the report of the --format beside it, or - for standard output", o.outputs.addFile)
	suiteFlag(cmd, &o.suites, "670")
	f.StringVar(&o.scripts, "scripts", "", "run the scripts in `DIR` instead of the built-in ones")
	f.StringVar(&o.transport, "transport", string(tmux.TransportExec),
		"`WAY` for the API and the MCP server to reach tmux: exec (by the target's own client), native or auto")
	o.apiFlag(cmd)
	o.serverFlags(cmd)
	o.policyFlags(f)
	f.IntVar(&o.Jobs, "jobs", 0, "run `N` scripts at a time (default: twice the processors)")
	f.DurationVar(&o.Timeout, "timeout", conform.DefaultTimeout, "time limit `D` of each script, as in 90s")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print each script's transcript when it ends")
	f.BoolVar(&o.Keep, "keep", false, "keep the scripts' directories and tmux servers, and print where they are")
	o.archive.flags(f)

	completion(cmd, "layer", words(layerNames(report.Layers())...))
	completion(cmd, "format", words(report.Formats...))
	completion(cmd, "transport", words(string(tmux.TransportExec), string(tmux.TransportNative), string(tmux.TransportAuto)))
	for _, flag := range []string{"run", "skip", "shard", "retry", "repeat", "jobs", "timeout", "debian-mirror"} {
		completion(cmd, flag, cobra.NoFileCompletions)
	}
}

// targetFlags adds the flags that select tmux programs.
func (o *runOptions) targetFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.tmux, "tmux", nil, "the tmux to run against, a `SPEC`: PATH, NAME=PATH, system, debian:SUITE or debian:VERSION; may be repeated")
	f.StringVar(&o.targetsIn, "targets", "", "a TOML `FILE` of tmux targets, in addition to --tmux")
	f.BoolVar(&o.probe, "probe", false, "take the version of each tmux from its features, not from -V")
	completion(cmd, "tmux", orFile(append([]string{"system"}, suites...)...))
}

// apiFlag adds the flag for wrappers other than package tmux.
func (o *runOptions) apiFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.apis, "api", nil, "test this wrapper on layer api: `[NAME=]COMMAND` is a shell command that speaks the "+
		"adapter protocol, or go for package tmux (default: go); may be repeated")
	completion(cmd, "api", orFile(report.BuiltIn))
}

// findAPIs reads what --api says.
func (o *runOptions) findAPIs(cmd *cobra.Command) error {
	if len(o.apis) > 0 && len(o.Layers) > 0 && !slices.Contains(o.Layers, report.APILayer) {
		fmt.Fprintf(cmd.ErrOrStderr(), "mcp-conform: --api: only layer api asks a wrapper, not layer %s\n", o.Layers[0])
	}
	for _, spec := range o.apis {
		a, err := conform.ParseAPI(spec)
		if err != nil {
			return err
		}
		o.APIs = append(o.APIs, a)
	}
	return nil
}

// findPeers reads what --api, --server and --dialect say, for a command that asks one wrapper.
func (o *runOptions) findPeers(cmd *cobra.Command) error {
	if len(o.apis) > 1 {
		return fmt.Errorf("%s: --api: want one wrapper", cmd.Name())
	}
	if len(o.apis) > 0 && o.Layers[0] != report.APILayer {
		return fmt.Errorf("--api: only layer api asks a wrapper, not layer %s", o.Layers[0])
	}
	if err := o.findAPIs(cmd); err != nil {
		return err
	}
	return o.findDialect(cmd)
}

// serverFlags adds the flags for an MCP server other than the built-in one.
func (o *runOptions) serverFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Server, "server", "", "test this MCP server on layer mcp: a shell `COMMAND` that speaks MCP "+
		"on its standard input and output (default: the built-in one)")
	f.StringVar(&o.dialect, "dialect", "", "the server's names for tools, parameters and results: "+
		"a TOML `FILE`, or one of "+strings.Join(dialectNames(), ", ")+" (default: detected)")
	completion(cmd, "server", cobra.NoFileCompletions)
	completion(cmd, "dialect", orFile(dialectNames()...))
}

// run checks all flags before it runs anything.
func (o *runOptions) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	switch {
	case o.Jobs < 1 && cmd.Flags().Changed("jobs"):
		return fmt.Errorf("--jobs %d: want at least 1", o.Jobs)
	case o.Timeout <= 0:
		return fmt.Errorf("--timeout %v: want more than nothing", o.Timeout)
	case o.scripts != "" && cmd.Flags().Changed("suite"):
		return errors.New("--suite and --scripts exclude each other: a directory's scripts are in no suite")
	}
	var err error
	if o.Layers, err = parseLayers(o.layers); err != nil {
		return err
	}
	if err := o.findAPIs(cmd); err != nil {
		return err
	}
	if err := o.findDialect(cmd); err != nil {
		return err
	}
	if o.Transport, err = tmux.ParseTransport(o.transport); err != nil || o.transport == "" {
		return fmt.Errorf("--transport %s: want exec, native or auto", o.transport)
	}
	if o.Gaps, err = o.gaps(); err != nil {
		return err
	}
	if err := o.readPolicy(); err != nil {
		return err
	}
	reports, err := o.outputs.open(stdout)
	if err != nil {
		return err
	}
	defer reports.close()
	if o.Targets, err = o.targets(ctx, stderr); err != nil {
		return err
	}
	progress := startProgress(stderr, o.Verbose)
	o.Verbose, o.Progress = o.Verbose || reports.transcripts(), progress.event
	result, err := conform.Run(ctx, o.Options)
	progress.end()
	if result == nil {
		return err
	}
	if err != nil {
		fmt.Fprintf(stderr, "mcp-conform: clean up: %v\n", err)
	}
	result.Scripts, result.DialectFile = o.scripts, o.dialect
	// The reports show the updated expectations.
	updateErr := o.update(result, stderr)
	if err := errors.Join(reports.write(result), updateErr); err != nil {
		return err
	}
	if idle := result.Idle(); idle != "" {
		fmt.Fprintf(stderr, "mcp-conform: %s\n", idle)
	}
	if !result.OK() {
		return errFailed
	}
	return nil
}

// findDialect checks --server, and reads the dialect of --dialect, which is built in or a file.
func (o *runOptions) findDialect(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("server") && strings.TrimSpace(o.Server) == "":
		return errors.New("--server: want a command")
	case o.Server != "" && len(o.Layers) > 0 && !slices.Contains(o.Layers, report.MCPLayer):
		return fmt.Errorf("--server: only layer mcp asks a server, not layer %s", o.Layers[0])
	}
	o.Warn = func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "mcp-conform: %s\n", report.Printable(text)) }
	switch {
	case o.dialect == "":
		return nil
	case o.Server == "":
		return errors.New("--dialect: want --server too: the built-in server speaks the scripts' own dialect")
	}
	all, err := conform.Dialects()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(all, func(d *conform.Dialect) bool { return d.Name == o.dialect }); i >= 0 {
		o.Dialect = all[i]
		return nil
	}
	text, err := os.ReadFile(o.dialect)
	if err != nil {
		return fmt.Errorf("--dialect %s: %w: want a file, or one of %s",
			o.dialect, errors.Unwrap(err), strings.Join(dialectNames(), ", "))
	}
	if o.Dialect, err = conform.ParseDialect(o.dialect, text); err != nil {
		return fmt.Errorf("--dialect %w", err)
	}
	return nil
}

func dialectNames() []string {
	all, _ := conform.Dialects()
	return each(all, func(d *conform.Dialect) string { return d.Name })
}

func parseLayers(names []string) ([]report.Layer, error) {
	var layers []report.Layer
	for _, name := range names {
		l := report.Layer(name)
		if !slices.Contains(report.Layers(), l) {
			return nil, fmt.Errorf("--layer %s: want tmux, api or mcp", name)
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// gaps returns the gaps that the flags select.
func (o *runOptions) gaps() ([]*conform.Gap, error) {
	gaps, err := loadGaps(o.scripts, o.suites...)
	if err != nil || o.match == "" {
		return gaps, err
	}
	re, err := regexp.Compile(o.match)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	gaps = slices.DeleteFunc(gaps, func(g *conform.Gap) bool { return !re.MatchString(g.Name) })
	if len(gaps) == 0 {
		return nil, fmt.Errorf("--run %s: no gap matches (see mcp-conform list; --suite adds others)", o.match)
	}
	return gaps, nil
}

// loadGaps reads the scripts of a directory, or of these suites where there is
// none.
func loadGaps(dir string, suites ...string) ([]*conform.Gap, error) {
	if dir == "" {
		gaps, err := conform.LoadSuites(suites...)
		if err != nil {
			return nil, fmt.Errorf("--suite: %w", err)
		}
		return gaps, nil
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return nil, fmt.Errorf("--scripts %s: %w", dir, errors.Unwrap(err))
	case !info.IsDir():
		return nil, fmt.Errorf("--scripts %s: not a directory", dir)
	}
	gaps, err := conform.LoadGaps(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("--scripts %s: %w", dir, err)
	}
	return gaps, nil
}

// findGap returns the gap with a number or a name. If layer is not empty, the gap must have a
// script for it.
func findGap(scripts, name string, layer report.Layer) (*conform.Gap, error) {
	gaps, err := loadGaps(scripts, conform.AllSuites)
	if err != nil {
		return nil, err
	}
	for _, g := range gaps {
		if (name == g.Name || name == strconv.Itoa(g.Number)) && (layer == "" || slices.Contains(g.Layers(), layer)) {
			return g, nil
		}
	}
	var names []string
	for _, g := range gaps {
		if layer == "" || slices.Contains(g.Layers(), layer) {
			names = append(names, g.Name)
		}
	}
	return nil, fmt.Errorf("no such script%s (see mcp-conform list --suite all)", nearest.Meant(name, names))
}

// targets returns the targets that the flags name, or else the default one.
func (o *runOptions) targets(ctx context.Context, stderr io.Writer) ([]report.Target, error) {
	if err := conform.CheckEnvironment(); err != nil {
		return nil, err
	}
	fetcher := o.archive.fetcher(stderr)
	fetch := func(ctx context.Context, suite string) (string, error) {
		got, err := fetcher.Get(ctx, suite)
		return got.Binary, err
	}
	specs, fallback := o.tmux, false
	var targets []report.Target
	if o.targetsIn != "" {
		text, err := os.ReadFile(o.targetsIn)
		if err != nil {
			return nil, fmt.Errorf("--targets %s: %w", o.targetsIn, errors.Unwrap(err))
		}
		if targets, err = conform.ParseTargets(o.targetsIn, filepath.Dir(o.targetsIn), text); err != nil {
			return nil, fmt.Errorf("--targets %w", err)
		}
	} else if len(specs) == 0 {
		specs, fallback = []string{"system"}, true
	}
	for _, spec := range specs {
		t, err := conform.ParseTarget(spec)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	for i := range targets {
		targets[i].Probe = targets[i].Probe || o.probe
	}
	found, err := conform.FindTargets(ctx, targets, fetch)
	if fallback && errors.Is(err, conform.ErrNoSystemTmux) {
		fmt.Fprintf(stderr, "mcp-conform: no tmux on PATH: taking %s\n", fallbackTarget)
		targets[0].Spec, targets[0].Path = fallbackTarget, fallbackTarget
		found, err = conform.FindTargets(ctx, targets, fetch)
	}
	if err != nil && ctx.Err() == nil && (fallback || errors.Is(err, conform.ErrNoSystemTmux)) {
		err = fmt.Errorf("%w\n%s", err, gettmux.Advice("--tmux PATH"))
	}
	for _, t := range found {
		if newest, newer := conform.NewerThanKnown(t.Version); newer {
			fmt.Fprintf(stderr, "mcp-conform: tmux %s is newer than %s, the newest that the scripts were written for: "+
				"a claim that it refutes may be a change of tmux's, and not a fault\n", t.Version, newest)
		}
	}
	return found, err
}

// archiveFlags say where debian:SUITE comes from.
type archiveFlags struct {
	mirror  string
	expired bool
}

func (a *archiveFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&a.mirror, "debian-mirror", "",
		"`URL` of the Debian archive for debian:SUITE (default: $DEBIAN_MIRROR, else the machine's own)")
	f.BoolVar(&a.expired, "allow-expired", false, "accept a Debian archive that is past its date, such as a snapshot")
}

// fetcher fetches Debian's binaries and shows its progress on stderr.
func (a *archiveFlags) fetcher(stderr io.Writer) *debian.Fetcher {
	var mu sync.Mutex
	return &debian.Fetcher{Mirror: a.mirror, AllowExpired: a.expired, Progress: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(stderr, report.Printable(line))
	}}
}
