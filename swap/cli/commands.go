package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tmuxmcp/swap"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/hint"
	"tmuxmcp/swap/internal/machine"
)

// Flags that several commands share are spelled and completed in one place.

// checkoutFlags adds the flags that say which server is meant.
func checkoutFlags(c *cobra.Command, repo, server *string) {
	c.Flags().StringVar(repo, "repo", ".", "the `DIR` of the checkout")
	_ = c.MarkFlagDirname("repo")
	serverFlag(c, server, "the server's name in the configs (default: from the checkout)", true)
}

// serverFlag completes the servers that are swapped, or all servers.
func serverFlag(c *cobra.Command, p *string, what string, all bool) {
	c.Flags().Var((*name)(p), "server", what)
	complete := func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		var servers []string
		if sys, err := machine.ThisSystem(); err == nil {
			repo, _ := c.Flags().GetString("repo")
			servers = swap.New(sys, nil).Servers(repo, all)
		}
		servers = slices.DeleteFunc(servers, func(s string) bool {
			return !strings.HasPrefix(s, begun) || clean(s) != s || strings.ContainsAny(s, "\t\n")
		})
		return servers, cobra.ShellCompDirectiveNoFileComp
	}
	_ = c.RegisterFlagCompletionFunc("server", complete)
}

func cliFlag(c *cobra.Command, p *[]string, without string) {
	c.Flags().Var((*names)(p), "cli", "a `CLIENT`, or several with commas; repeatable (default: "+without+")")
	_ = c.RegisterFlagCompletionFunc("cli", clientNames)
}

func clientNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return clients.Names(), cobra.ShellCompDirectiveNoFileComp
}

func scopeFlag(c *cobra.Command, p *clients.Scope, without string) {
	c.Flags().StringVar((*string)(p), "scope", "", "the entry's `SCOPE`: user, for all projects, or project, for this one (default: "+without+")")
	fixed(c, "scope", string(clients.ScopeUser), string(clients.ScopeProject))
}

// repeatable flags accumulate values; all others with a value can be given once.
var repeatable = []string{"cli", "client", "env", "env-file"}

// once counts its values: the user may have meant any of them.
type once struct {
	pflag.Value
	given int
}

func (o *once) Set(s string) error {
	o.given++
	return o.Value.Set(s)
}

func countFlag(f *pflag.Flag) {
	if f.NoOptDefVal == "" && !slices.Contains(repeatable, f.Name) {
		f.Value = &once{Value: f.Value}
	}
}

// givenTwice refuses a flag that has two values. This is not done when a flag is set,
// because completion sets flags again.
func givenTwice(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if o, ok := f.Value.(*once); ok && o.given > 1 && err == nil {
			err = hint.Usagef("--%s takes one value, and was given %d times", f.Name, o.given)
		}
	})
	return err
}

func diffFlags(c *cobra.Command, dryRun, showSecrets *bool) {
	c.Flags().BoolVar(dryRun, "dry-run", false, "print the changes as a diff, and write nothing")
	c.Flags().BoolVar(showSecrets, "show-secrets", false, "do not mask secrets in the diff of --dry-run, so that patch(1) applies it if they are in the change")
}

func fixed(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// name is a flag that may be omitted, but not empty.
type name string

func (n *name) String() string { return string(*n) }
func (n *name) Type() string   { return "NAME" }
func (n *name) Set(s string) error {
	if s == "" {
		return &hint.UsageError{Msg: "it must not be empty"}
	}
	*n = name(s)
	return nil
}

// names are clients, given one by one or separated by commas. An empty name is kept, so
// that it is refused instead of meaning all.
type names []string

func (n *names) String() string { return strings.Join(*n, ",") }
func (n *names) Type() string   { return "CLIENT" }
func (n *names) Set(s string) error {
	for one := range strings.SplitSeq(s, ",") {
		*n = append(*n, strings.ToLower(strings.TrimSpace(one)))
	}
	return nil
}

// positive is an integer of at least 1.
type positive int

func (p *positive) String() string { return strconv.Itoa(int(*p)) }
func (p *positive) Type() string   { return "NUMBER" }
func (p *positive) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return &hint.UsageError{Msg: "it must be a positive number"}
	}
	*p = positive(n)
	return nil
}

// wait is a positive duration.
type wait time.Duration

func (w *wait) String() string { return time.Duration(*w).String() }
func (w *wait) Type() string   { return "DURATION" }
func (w *wait) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return &hint.UsageError{Msg: "it must be a positive duration with a unit, such as 90s or 5m"}
	}
	*w = wait(d)
	return nil
}

var (
	_ pflag.Value = (*name)(nil)
	_ pflag.Value = (*wait)(nil)
	_ pflag.Value = (*names)(nil)
	_ pflag.Value = (*positive)(nil)
)

func (a *app) detect() *cobra.Command {
	c := &cobra.Command{
		Use:   "detect",
		Short: "Show which clients are installed",
		Long: `detect shows whether each client's program is on PATH and its config exists. A
client is present if both are true; for an editor, one is enough. use-local,
status and verify take present clients unless --cli names others.`,
		Example: `  mcp-swap detect
  mcp-swap detect --json`,
	}
	c.RunE = a.verb(func(_ context.Context, s *swap.Swapper) error {
		found := s.Detect()
		a.doc.Clients = found
		a.out.detection(found)
		return nil
	})
	return c
}

func (a *app) status() *cobra.Command {
	var o swap.StatusOptions
	c := &cobra.Command{
		Use:   "status",
		Short: "Show what each client runs under the server's name",
		Long: `status shows for each client and scope what the server's name resolves to:
local (this repo), local (another path), PR n, pinned, unpinned, remote, given
to use-local or other. It also shows what keeps the client from running it, such
as a project file that wins, an entry that is switched off, or a folder that is
not trusted. Swaps under other names and of other checkouts follow. Outside a
checkout, it shows only those.`,
		Example: `  mcp-swap status
  mcp-swap status --server tmux --cli codex --json`,
	}
	checkoutFlags(c, &o.Repo, &o.Server)
	cliFlag(c, &o.Clients, "all that are present")
	scopeFlag(c, &o.Scope, "both")
	c.RunE = a.verb(func(_ context.Context, s *swap.Swapper) error {
		st, err := s.Status(o)
		if err != nil {
			return err
		}
		a.doc.Repo, a.doc.Server = st.Repo, st.Server
		a.doc.Clients, a.doc.Swaps = st.Clients, st.Swaps
		a.statusText(st)
		bad := slices.ContainsFunc(st.Clients, func(c swap.ClientState) bool { return c.Error != "" }) ||
			slices.ContainsFunc(st.Swaps, func(c swap.Swap) bool { return c.Error != "" })
		if bad {
			return &silent{exitFailed}
		}
		return nil
	})
	return c
}

func (a *app) verify() *cobra.Command {
	var o swap.VerifyOptions
	c := &cobra.Command{
		Use:   "verify",
		Short: "Start each client's server, and query the clients",
		Long: `verify starts the server from each client's current config, merged with stronger
files, completes an MCP initialize and lists its tools. Then it queries those
clients that can answer, side by side, and reports where the two disagree: the
client runs another command, has the server switched off, does not trust the
folder, or has not read the entry.

It changes no config: each client is queried with a copy of its own, in a home
directory that is removed afterwards. verify connects to a remote server,
without the entry's headers, only if it is on this machine or use-local --url
wrote its entry. It exits 1 if there is a problem.`,
		Example: `  mcp-swap verify
  mcp-swap verify --cli codex --json`,
	}
	checkoutFlags(c, &o.Repo, &o.Server)
	cliFlag(c, &o.Clients, "all that are present")
	c.RunE = a.verb(func(ctx context.Context, s *swap.Swapper) error {
		o.Each = a.out.verified
		v, err := s.Verify(ctx, o)
		if err != nil {
			return err
		}
		a.doc.Repo, a.doc.Server, a.doc.Clients = v.Repo, v.Server, v.Clients
		if len(v.Clients) == 0 {
			a.note(noClient)
		}
		if v.Failed() {
			return &silent{exitFailed}
		}
		return nil
	})
	return c
}

func (a *app) useLocal() *cobra.Command {
	var o swap.UseOptions
	var env, files []string
	c := &cobra.Command{
		Use:   "use-local [flags] [-- COMMAND [ARGUMENT...]]",
		Short: "Make the clients run a checkout, or any command",
		Long: `use-local writes the command that runs a checkout into the server's entry of
each client. The command depends on the checkout:

  go.mod          go run -C REPO ./cmd/ENTRY
  pyproject.toml  uv --directory REPO run ENTRY; without uv, .venv/bin/ENTRY
  package.json    node REPO/BIN
  Cargo.toml      cargo run --quiet --manifest-path REPO/Cargo.toml --bin ENTRY

A command after -- needs no checkout: Docker, Deno, Java or a script. It needs
--server NAME. A bare program name must be on PATH; relative paths of files
become absolute. With --url the clients connect to a server that is already
running.

Before writing anything, use-local starts the server once. It must answer an MCP
initialize within 60 seconds, or within --timeout. An existing entry keeps
everything except its command and arguments. --env and --env-file add to its
environment. An env file has lines of NAME=VALUE, as for Docker and dotenv.

Claude's entry is for the project, the others' are for all projects. --scope
project writes the others into project files too, such as .cursor/mcp.json.
--keep-env copies the variables of the user scope's entry that a project's entry
would hide. A missing config is created only for a client that --cli names, a
missing project file for every client. revert removes it.`,
		Example: `  mcp-swap use-local --dry-run
  mcp-swap use-local --cli claude --cli codex
  mcp-swap use-local --scope project
  mcp-swap use-local --repo . --env LOG=debug --env API_TOKEN --mode build
  mcp-swap use-local --server acme -- docker run -i --rm acme/mcp
  mcp-swap use-local --server acme --url http://localhost:8000/mcp`,
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		switch dash := cmd.ArgsLenAtDash(); {
		case dash == 0 && len(args) == 0:
			return errors.New("there is no command after --")
		case dash == 0:
			return nil
		case len(args) > 0:
			return fmt.Errorf("%w, and write a command after --", flagsOnly(cmd, args))
		}
		return nil
	}
	checkoutFlags(c, &o.Repo, &o.Server)
	c.Flags().Var((*name)(&o.Entry), "entry", "which program of the checkout is the server (default: from the checkout)")
	fixed(c, "entry")
	c.Flags().StringArrayVar(&env, "env", nil,
		"a variable `NAME[=VALUE]` for the server; without VALUE, from this environment; repeatable")
	fixed(c, "env")
	c.Flags().StringArrayVar(&files, "env-file", nil, "a `FILE` of such variables, one per line; --env wins; repeatable")
	c.Flags().BoolVar(&o.KeepEnv, "keep-env", false, "copy the variables of the user scope's entry that the project's entry would hide")
	cliFlag(c, &o.Clients, "all that are present")
	scopeFlag(c, &o.Scope, "project for claude, user for the others")
	o.Mode = checkout.ModeDev
	c.Flags().StringVar((*string)(&o.Mode), "mode", string(checkout.ModeDev), "the `MODE` of what the clients run: dev, the working tree; build, compiled once; installed, the program on PATH; released, a published version")
	fixed(c, "mode", string(checkout.ModeDev), string(checkout.ModeBuild), string(checkout.ModeInstalled), string(checkout.ModeReleased))
	c.Flags().Var((*name)(&o.Ref), "ref", "the `VERSION` for --mode released (default: the newest)")
	fixed(c, "ref")
	c.Flags().Var((*positive)(&o.PR), "pr", "run the head of a pull request of origin instead (pyproject.toml only)")
	fixed(c, "pr")
	c.Flags().Var((*name)(&o.URL), "url", "the `URL` of a running server for clients to connect to (streamable HTTP)")
	fixed(c, "url")
	diffFlags(c, &o.DryRun, &o.ShowSecrets)
	c.Flags().BoolVar(&o.Force, "force", false, "also edit a read-only config")
	c.Flags().BoolVar(&o.NoPreflight, "no-preflight", false, "do not start the server first")
	c.Flags().Var((*wait)(&o.Timeout), "timeout", "how long the server may take to answer, such as 5m")
	c.Flags().Lookup("timeout").DefValue = ask.ServerLimit.String()
	fixed(c, "timeout")
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 { // of a command given as arguments
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c.RunE = a.verb(func(ctx context.Context, s *swap.Swapper) error {
		given, err := clients.ParseEnv(env, os.LookupEnv)
		if err != nil {
			return err
		}
		for _, file := range files {
			vars, err := clients.ReadEnvFile(file, os.LookupEnv)
			if err != nil {
				return err
			}
			o.Env = append(o.Env, vars...)
		}
		o.Env = append(o.Env, given...)
		if o.Command = c.Flags().Args(); (len(o.Command) > 0 || o.URL != "") && !c.Flags().Changed("mode") {
			o.Mode = ""
		}
		a.exact = o.ShowSecrets && a.out.width == 0
		results, err := s.UseLocal(ctx, o)
		if len(results) > 0 {
			a.doc.Repo, a.doc.Server = results[0].Repo, results[0].Server
		}
		return a.results(results, err, o.DryRun, "mcp-swap revert puts everything back")
	})
	return c
}

func (a *app) revert() *cobra.Command {
	var o swap.RevertOptions
	c := &cobra.Command{
		Use:   "revert",
		Short: "Put back what use-local changed",
		Long: `revert undoes swaps, the newest first. A config that nothing else has written
to since gets its exact old bytes. Otherwise only the entry is restored;
everything else saved since stays, in the entry too. A config that use-local
created is removed if nothing else was added. If you have edited what the swap
wrote, revert leaves it alone unless --force is given.

A swap is reverted when its client no longer reads what it wrote. If another
file has that, or the client would refuse its config without the swap, revert
says where, fails, and keeps the swap recorded, unless --force is given. For
thirty days it also undoes a swap that a client has brought back by saving its
config from memory.`,
		Example: `  mcp-swap revert --dry-run
  mcp-swap revert
  mcp-swap revert --repo .
  mcp-swap revert --cli claude --scope project`,
	}
	selectionFlags(c, &o.Selection)
	diffFlags(c, &o.DryRun, &o.ShowSecrets)
	c.Flags().BoolVar(&o.Force, "force", false, "restore fields that were edited since, edit a read-only config, and ignore what other files have of the swap")
	c.RunE = a.verb(func(ctx context.Context, s *swap.Swapper) error {
		a.exact = o.ShowSecrets && a.out.width == 0
		results, err := s.Revert(ctx, o)
		if err == nil && len(results) == 0 {
			err = errors.New("nothing to revert: no swap is recorded")
		}
		return a.results(results, err, o.DryRun, "")
	})
	return c
}

// selectionFlags adds the flags that select recorded swaps.
func selectionFlags(c *cobra.Command, o *swap.Selection) {
	cliFlag(c, &o.Clients, "all that were swapped")
	scopeFlag(c, &o.Scope, "both")
	serverFlag(c, &o.Server, c.Name()+" this server only (default: all)", false)
	c.Flags().Var((*name)(&o.Repo), "repo",
		c.Name()+" only swaps to this checkout, or made in this `DIR` (default: all)")
	_ = c.MarkFlagDirname("repo")
}

func (a *app) forget() *cobra.Command {
	var o swap.ForgetOptions
	var all bool
	c := &cobra.Command{
		Use:   "forget",
		Short: "Remove records of swaps, and change no config",
		Long: `forget removes records of swaps and their backups, and changes no config. Use
it for swaps that can never be reverted because the client or its config is
gone. With --force, use it for swaps that you want to keep. It also forgets
reverted swaps, whose records are kept for thirty days. Choose the records with
--cli, --server, --repo or --scope, or all of them with --all.`,
		Example: `  mcp-swap forget --cli codex --dry-run
  mcp-swap forget --repo ~/src/old-server
  mcp-swap forget --all`,
	}
	selectionFlags(c, &o.Selection)
	c.Flags().BoolVar(&all, "all", false, "forget all records")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "show what would be forgotten, and forget nothing")
	c.Flags().BoolVar(&o.Force, "force", false, "also forget swaps that could be reverted")
	c.RunE = a.verb(func(ctx context.Context, s *swap.Swapper) error {
		chosen := len(o.Clients) > 0 || o.Scope != "" || o.Server != "" || o.Repo != ""
		if chosen == all {
			return &hint.UsageError{Msg: "say which records to forget, with --cli, --server, --repo or --scope, or all of them with --all"}
		}
		results, err := s.Forget(ctx, o)
		if err == nil && len(results) == 0 {
			err = errors.New("nothing to forget: no swap is recorded")
		}
		return a.results(results, err, false, "")
	})
	return c
}

func (a *app) doctor() *cobra.Command {
	var o swap.DoctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check for problems, and change nothing",
		Long: `doctor reports

  - swaps that are in force, were interrupted or have come back
  - records without backups, and backups without records
  - this repository under another name
  - entries that a client does not run, or whose checkout was deleted
  - swaps to a missing program
  - configs that are unreadable or that a client refuses
  - variables that override a client's login, without reading their values

It exits 1 if it finds a problem. A swap in force is not a problem, nor is a
state that may be intended, or true only here and now, such as an unset
variable.`,
		Example: `  mcp-swap doctor
  mcp-swap doctor --json`,
	}
	checkoutFlags(c, &o.Repo, &o.Server)
	c.RunE = a.verb(func(_ context.Context, s *swap.Swapper) error {
		d, err := s.Doctor(o)
		if err != nil {
			return err
		}
		if d.NoServer != nil {
			a.note(d.NoServer.Error())
		}
		a.doc.Repo, a.doc.Server, a.doc.Findings = d.Repo, d.Server, d.Findings
		a.out.diagnosis(d)
		if d.Failed() {
			return &silent{exitFailed}
		}
		return nil
	})
	return c
}
