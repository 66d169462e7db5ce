package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tmuxmcp/swap"
)

// The flags that several commands share are spelled and completed in one place.

func repoFlag(c *cobra.Command, p *string) {
	c.Flags().StringVar(p, "repo", ".", "the checkout, a `directory`")
	_ = c.MarkFlagDirname("repo")
}

func serverFlag(c *cobra.Command, p *string, what string) {
	c.Flags().Var((*name)(p), "server", what)
	fixed(c, "server")
}

func cliFlag(c *cobra.Command, p *[]string, without string) {
	c.Flags().StringArrayVar(p, "cli", nil, "a `client`; repeatable (without it: "+without+")")
	fixed(c, "cli", swap.ClientNames()...)
}

func scopeFlag(c *cobra.Command, p *swap.Scope, without string) {
	c.Flags().StringVar((*string)(p), "scope", "", "`user|project`; matters for claude alone (without it: "+without+")")
	fixed(c, "scope", string(swap.ScopeUser), string(swap.ScopeProject))
}

func jsonFlag(c *cobra.Command, p *bool) {
	c.Flags().BoolVar(p, "json", false, "print one JSON document (docs/mcp-swap.md describes it)")
}

func fixed(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// name is a flag that may be left out, but not empty.
type name string

func (n *name) String() string { return string(*n) }
func (n *name) Type() string   { return "name" }
func (n *name) Set(s string) error {
	if s == "" {
		return &swap.UsageError{Msg: "it must not be empty"}
	}
	*n = name(s)
	return nil
}

// positive is a number from 1 up.
type positive int

func (p *positive) String() string { return strconv.Itoa(int(*p)) }
func (p *positive) Type() string   { return "number" }
func (p *positive) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return &swap.UsageError{Msg: "it must be a positive number"}
	}
	*p = positive(n)
	return nil
}

var (
	_ pflag.Value = (*name)(nil)
	_ pflag.Value = (*positive)(nil)
)

func (a *app) detect() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "detect",
		Short: "Show which clients are here",
		Long: `detect shows for each client whether its program is on PATH and its config is
there. A client is present when both are; the other commands take the present
ones unless --cli names others.`,
		Example: `  mcp-swap detect
  mcp-swap detect --json`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	jsonFlag(c, &asJSON)
	c.RunE = a.verb(func(_ context.Context, s *swap.Swapper) error {
		d := s.Detect()
		if asJSON {
			return a.out.json(d)
		}
		a.out.detection(d)
		return nil
	})
	return c
}

func (a *app) status() *cobra.Command {
	var o swap.StatusOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show what each client runs under the server's name",
		Long: `status shows for each client and scope what the server's name resolves to:
local (this repo), local (another path), PR n, pinned, unpinned, remote or
other; and what keeps the client from running it: a file of the project that
wins, an entry that is switched off, a folder that is not trusted.`,
		Example: `  mcp-swap status
  mcp-swap status --server tmux --cli codex --json`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	repoFlag(c, &o.Repo)
	serverFlag(c, &o.Server, "the server's name in the configs (default: from the checkout)")
	cliFlag(c, &o.Clients, "those that are present")
	scopeFlag(c, &o.Scope, "both")
	jsonFlag(c, &asJSON)
	c.RunE = a.verb(func(_ context.Context, s *swap.Swapper) error {
		st, err := s.Status(o)
		if err != nil {
			return err
		}
		if asJSON {
			err = a.out.json(st)
		} else {
			a.statusText(st)
		}
		for _, cs := range st.Clients {
			if cs.Error != "" && err == nil {
				err = &silent{exitFailed}
			}
		}
		return err
	})
	return c
}

func (a *app) verify() *cobra.Command {
	var o swap.VerifyOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Try what each client's config holds, and ask the clients",
		Long: `verify starts the server as each client's config says now, shakes hands with
it and lists its tools. Then it asks the client itself, if that has a program
that tells, and reports in what the two disagree: the client runs another
command, has the server switched off, does not trust the folder, or has not read
the entry. It changes no config: a client is asked with a copy of its config,
in a home directory that is removed afterwards. Remote servers are not tried.
It exits 1 when something is not as it should be.`,
		Example: `  mcp-swap verify
  mcp-swap verify --cli codex --json`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	repoFlag(c, &o.Repo)
	serverFlag(c, &o.Server, "the server's name in the configs (default: from the checkout)")
	cliFlag(c, &o.Clients, "those that are present")
	jsonFlag(c, &asJSON)
	c.RunE = a.verb(func(ctx context.Context, s *swap.Swapper) error {
		if !asJSON {
			o.Each = a.out.verified
		}
		v, err := s.Verify(ctx, o)
		if err != nil {
			return err
		}
		if asJSON {
			err = a.out.json(v)
		} else if len(v.Clients) == 0 {
			a.err.note("no client is present; name one with --cli, or see mcp-swap detect")
		}
		if err == nil && v.Failed() {
			err = &silent{exitFailed}
		}
		return err
	})
	return c
}

func (a *app) useLocal() *cobra.Command {
	var o swap.UseOptions
	var env []string
	c := &cobra.Command{
		Use:   "use-local",
		Short: "Make the clients run a checkout",
		Long: `use-local writes the command that runs a checkout into the server's entry of
each client. The checkout says which command that is:

  go.mod          go run -C REPO ./cmd/ENTRY
  pyproject.toml  uv --directory REPO run ENTRY
  package.json    node REPO/BIN
  Cargo.toml      cargo run --quiet --manifest-path REPO/Cargo.toml --bin ENTRY

Before anything is written, the server is started once and must answer an MCP
initialize within 60 seconds. An entry that is there keeps all but its command
and arguments; its env is kept and added to.`,
		Example: `  mcp-swap use-local --dry-run
  mcp-swap use-local --cli claude --cli codex
  mcp-swap use-local --repo . --env LOG=debug --mode build`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	repoFlag(c, &o.Repo)
	serverFlag(c, &o.Server, "the server's name in the configs (default: from the checkout)")
	c.Flags().Var((*name)(&o.Entry), "entry", "the program of the checkout that is the server (default: from the checkout)")
	fixed(c, "entry")
	c.Flags().StringArrayVar(&env, "env", nil, "`NAME=VALUE` for the server's environment; repeatable")
	fixed(c, "env")
	cliFlag(c, &o.Clients, "those that are present")
	scopeFlag(c, &o.Scope, "project")
	o.Mode = swap.ModeDev
	c.Flags().StringVar((*string)(&o.Mode), "mode", string(swap.ModeDev), "which `build` they run: dev, the working tree; build, compiled once; installed, as on PATH; released, a published version")
	fixed(c, "mode", string(swap.ModeDev), string(swap.ModeBuild), string(swap.ModeInstalled), string(swap.ModeReleased))
	c.Flags().Var((*name)(&o.Ref), "ref", "the version for --mode released (default: the newest)")
	fixed(c, "ref")
	c.Flags().Var((*positive)(&o.PR), "pr", "run the head of a pull request of origin instead (pyproject.toml only)")
	fixed(c, "pr")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "print the changes as a diff for patch(1), and touch nothing")
	c.Flags().BoolVar(&o.NoPreflight, "no-preflight", false, "do not start the server first")
	c.RunE = a.verb(func(ctx context.Context, s *swap.Swapper) (err error) {
		if o.Env, err = swap.ParseEnv(env); err != nil {
			return err
		}
		results, err := s.UseLocal(ctx, o)
		return a.results(results, err, o.DryRun, "mcp-swap revert puts everything back")
	})
	return c
}

func (a *app) revert() *cobra.Command {
	var o swap.RevertOptions
	c := &cobra.Command{
		Use:   "revert",
		Short: "Put back what use-local changed",
		Long: `revert takes swaps back, the newest first. A config that nothing else has
written to since gets its exact old bytes; in another one only the entry goes
back, and everything that was saved since stays. An entry that was itself edited
since is left alone, unless --force says to put the old one back.`,
		Example: `  mcp-swap revert --dry-run
  mcp-swap revert
  mcp-swap revert --cli claude --scope project`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	cliFlag(c, &o.Clients, "all that were swapped")
	scopeFlag(c, &o.Scope, "both")
	serverFlag(c, &o.Server, "revert this server only (without it: all)")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "print the changes as a diff for patch(1), and touch nothing")
	c.Flags().BoolVar(&o.Force, "force", false, "put the old entry back also where it was edited since")
	c.RunE = a.verb(func(ctx context.Context, s *swap.Swapper) error {
		results, err := s.Revert(ctx, o)
		return a.results(results, err, o.DryRun, "")
	})
	return c
}

func (a *app) doctor() *cobra.Command {
	var o swap.DoctorOptions
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is amiss, and change nothing",
		Long: `doctor looks for swaps that were not reverted or were interrupted, records and
backups that have lost each other, the repository registered under another name,
configs that cannot be read, and environment variables that override a client's
login (it never looks at their values). It exits 1 when it finds something.`,
		Example: `  mcp-swap doctor
  mcp-swap doctor --json`,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	repoFlag(c, &o.Repo)
	serverFlag(c, &o.Server, "the server's name in the configs (default: from the checkout)")
	jsonFlag(c, &asJSON)
	c.RunE = a.verb(func(_ context.Context, s *swap.Swapper) error {
		d, err := s.Doctor(o)
		if err != nil {
			return err
		}
		if asJSON {
			err = a.out.json(d)
		} else {
			a.out.diagnosis(d)
		}
		if err == nil && len(d.Findings) > 0 {
			err = &silent{exitFailed}
		}
		return err
	})
	return c
}
