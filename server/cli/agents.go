package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/internal/terminal"
	"tmuxmcp/server"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

func agentsCommand(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "agents",
		Short: "List the recognized agent CLIs, and test rules for others",
		Long: `Agents lists the recognized agent CLIs: the names and packages of their
processes, the first version that their rules were checked with, and the file of
the rules if they are not built in, in $XDG_CONFIG_HOME/tmux-mcp/agents (default
~/.config). docs/agents.md shows how to write one. If a file is wrong, agents
reports it and exits with 1.`,
		Example: `  tmux-mcp agents
  tmux-mcp agents show claude > ~/.config/tmux-mcp/agents/claude.toml
  tmux-mcp agents test %3 --rules ~/.config/tmux-mcp/agents/claude.toml`,
		Args: usage(terminal.NoSuchCommand),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := o.config(cmd)
			if err != nil {
				return err
			}
			known, faults := agents.Load(cfg.AgentRules)
			out := cmd.OutOrStdout()
			if asJSON {
				err = terminal.EncodeJSON(out, listOf(cfg.AgentRules, known, faults), "  ")
			} else {
				err = writeAgents(out, known, faults, terminal.Width(out))
			}
			if err == nil && faults != nil {
				err = toolFailed{}
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (docs/agents.md describes it)")
	c.AddCommand(terminal.ShowInherited(agentsTestCommand(o), "socket-name", "socket-path", "tmux", "transport"), terminal.ShowInherited(agentsShowCommand(o)))
	return c
}

// agentList is the document of agents --json.
type agentList struct {
	Version   int            `json:"version"` // of the document: 1
	Directory string         `json:"directory,omitempty"`
	Agents    []listedAgent  `json:"agents"`
	Faults    []agents.Fault `json:"faults"`
}

type listedAgent struct {
	Name     string   `json:"name"`
	File     string   `json:"file,omitempty"`
	Replaces bool     `json:"replaces"`
	Names    []string `json:"names"`
	Packages []string `json:"packages"`
	Since    string   `json:"since,omitempty"`
}

func listOf(dir string, known agents.RuleSet, faults []agents.Fault) agentList {
	list := agentList{Version: 1, Directory: dir, Agents: []listedAgent{}, Faults: append([]agents.Fault{}, faults...)}
	for _, r := range known {
		list.Agents = append(list.Agents, listedAgent{r.Name, r.File, r.Replaces, append([]string{}, r.Names...), append([]string{}, r.Packages...), r.Since})
	}
	return list
}

// writeAgents writes a row for each agent. If width is not zero, lines are wrapped at so many
// columns.
func writeAgents(w io.Writer, known agents.RuleSet, faults []agents.Fault, width int) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "agent\tchecked from\tnames\t")
	texts := []string{"packages"}
	for _, r := range known {
		cells := []string{r.Name, cmp.Or(r.Since, "-"), cmp.Or(strings.Join(r.Names, " "), "-")}
		fmt.Fprintln(table, terminal.Printable(strings.Join(cells, "\t"))+"\t")
		text := cmp.Or(strings.Join(r.Packages, " "), "-")
		if r.File != "" {
			text += ", rules in " + r.File
		}
		if r.Replaces {
			text += ", instead of the built-in ones"
		}
		texts = append(texts, terminal.Printable(text))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for i, row := range slices.Collect(strings.Lines(b.String())) {
		row = strings.TrimSuffix(row, "\n")
		indent, room := utf8.RuneCountInString(row), 0
		for _, word := range strings.Fields(texts[i]) {
			room = max(room, utf8.RuneCountInString(word))
		}
		if width > 0 && width < indent+room {
			row, indent = strings.Join(strings.Fields(row), " ")+"\n    ", 4
		}
		if _, err := fmt.Fprintln(w, row+terminal.Wrap(texts[i], width, indent)); err != nil {
			return err
		}
	}
	for _, f := range faults {
		fmt.Fprintln(w, "problem  "+terminal.Wrap(terminal.Printable(f.Error()), width, 9))
	}
	return nil
}

func agentsShowCommand(o *options) *cobra.Command {
	var builtIn bool
	c := &cobra.Command{
		Use:     "show NAME",
		Short:   "Print an agent's rules, to start your own from",
		Example: "  tmux-mcp agents show claude > ~/.config/tmux-mcp/agents/claude.toml",
		Args:    takesOne("the name of an agent, such as claude"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return agents.BuiltIn().Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := o.config(cmd)
			if err != nil {
				return err
			}
			if builtIn {
				cfg.AgentRules = ""
			}
			known, _ := agents.Load(cfg.AgentRules)
			i := slices.IndexFunc(known, func(r *agents.Rules) bool { return r.Name == args[0] })
			if i < 0 {
				return usageError{fmt.Errorf("there are no rules for %q%s", args[0], nearest.Meant(args[0], known.Names()))}
			}
			_, err = cmd.OutOrStdout().Write(known[i].Source)
			return err
		},
	}
	c.Flags().BoolVar(&builtIn, "built-in", false, "print the built-in rules, even if a file replaces them")
	return c
}

func agentsTestCommand(o *options) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "test PANE",
		Short: "Show how rules read the screen of a pane",
		Long: `Test shows which agent it recognized in a pane and by what, each row of the
screen with the rules that it matched, what every rule was tried on, and the
resulting state. --rules applies the rules in a file, whatever runs in the pane.
Without it, the exit code is 1 if no agent was recognized.`,
		Example: "  tmux-mcp agents test %3\n  tmux-mcp agents test work:1.0 --rules mine.toml",
		Args:    takesOne("a pane, such as %3 or work:1.0"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := o.config(cmd)
			if err != nil {
				return err
			}
			var rules *agents.Rules
			if file != "" {
				var faults []agents.Fault
				if rules, faults = agents.LoadFile(file); faults != nil {
					var all []error
					for _, f := range faults {
						all = append(all, f)
					}
					return errors.Join(all...)
				}
			}
			srv, finder, err := server.Agents(cfg)
			if err != nil {
				return err
			}
			r, err := finder.Explain(cmd.Context(), srv, tmux.TargetSpec(args[0]), rules)
			switch {
			case errors.Is(err, tmux.ErrNotFound):
				return fmt.Errorf("%w: tmux-mcp call list_panes shows which panes exist", reply.PaneNotFound(args[0]))
			case err != nil:
				return err
			}
			if err := writeExplanation(cmd.OutOrStdout(), r); err != nil {
				return err
			}
			if r.Program.Rules == nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "tmux-mcp: no agent was recognized there; --rules FILE reads the screen by the rules in a file")
				return toolFailed{}
			}
			return nil
		},
	}
	c.Flags().StringVar(&file, "rules", "", "apply the rules in this `file`")
	return c
}

// takesOne demands one argument, and says what that is.
func takesOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("%s takes %s: got %s", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), what, reply.Count(len(args), "argument"))}
		}
		return nil
	}
}

// writeExplanation shows how a screen was read. Rows and columns count from 1.
func writeExplanation(out io.Writer, r *agents.Explanation) error {
	var b strings.Builder
	p := r.Pane
	fmt.Fprintf(&b, "pane     %s %s:%d.%d, cursor in row %d, column %d\n", p.ID, p.Session, p.Window, p.Index, p.Y+1, p.X+1)
	for _, process := range r.Processes {
		by := "not recognized"
		if process.By != "" {
			by = "recognized by its " + process.By
		}
		fmt.Fprintf(&b, "process  %d %s: %s\n", process.PID, strings.Join(process.Words, " "), by)
	}
	if r.Program.Rules == nil {
		_, err := io.WriteString(out, terminal.Printable(b.String()))
		return err
	}
	fmt.Fprintf(&b, "agent    %s\nrules    %s\n\n", strings.TrimSpace(r.Program.Name+" "+r.Program.Version), cmp.Or(r.Program.Rules.File, "built in"))

	labels := make([]string, len(r.Rows))
	widest := 0
	for _, step := range r.Steps {
		for _, row := range step.Matched {
			if labels[row] != "" {
				labels[row] += " "
			}
			labels[row] += keyOf(step)
			widest = max(widest, len(labels[row]))
		}
	}
	for i, row := range r.Rows {
		fmt.Fprintf(&b, "%*s %3d|%s\n", widest, labels[i], i+1, row)
	}
	b.WriteString("\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, step := range r.Steps {
		fmt.Fprintf(table, "%s\t%s\n", keyOf(step), outcomeOf(step))
	}
	table.Flush()
	fmt.Fprintf(&b, "\nstate    %s\n", r.Status.State)
	if r.Status.Question != "" {
		fmt.Fprintf(&b, "question %s\n", strings.ReplaceAll(r.Status.Question, "\n", "\n         "))
	}
	for _, choice := range r.Status.Choices {
		fmt.Fprintf(&b, "choice   %s: %s\n", strings.Join(choice.Keys, " "), choice.Label)
	}
	if r.Status.Box != nil {
		fmt.Fprintf(&b, "input    %q\n", r.Status.Box.Text)
	}
	_, err := io.WriteString(out, terminal.Printable(b.String()))
	return err
}

// keyOf names the pattern of a step. Patterns of a list are numbered from 1.
func keyOf(s agents.Step) string {
	if s.N < 0 || s.Key == "cursor" {
		return s.Key
	}
	i := strings.LastIndexByte(s.Key, '.')
	return fmt.Sprintf("%s[%d]%s", s.Key[:i], s.N+1, s.Key[i:])
}

// outcomeOf describes what a step has matched.
func outcomeOf(s agents.Step) string {
	switch {
	case s.Text != nil && s.Is:
		return fmt.Sprintf("matches %q", *s.Text)
	case s.Text != nil:
		return fmt.Sprintf("does not match %q", *s.Text)
	case s.Key == "cursor" && len(s.Matched) > 0:
		return "is in the box"
	case s.Key == "cursor":
		return "is not in the box, " + rowsOf(s.Tried)
	case len(s.Matched) > 0:
		return "matches " + rowsOf(s.Matched)
	case len(s.Tried) == 1:
		return "does not match " + rowsOf(s.Tried)
	}
	return "matches none of " + rowsOf(s.Tried)
}

// rowsOf lists rows, such as "rows 3-5, 9".
func rowsOf(rows []int) string {
	rows = slices.Sorted(slices.Values(rows))
	var parts []string
	for i := 0; i < len(rows); {
		j := i
		for j+1 < len(rows) && rows[j+1] == rows[j]+1 {
			j++
		}
		part := fmt.Sprint(rows[i] + 1)
		if j > i {
			part += fmt.Sprintf("-%d", rows[j]+1)
		}
		parts = append(parts, part)
		i = j + 1
	}
	if len(rows) == 1 {
		return "row " + parts[0]
	}
	return "rows " + strings.Join(parts, ", ")
}
