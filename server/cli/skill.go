package cli

import (
	_ "embed"
	"fmt"

	"github.com/spf13/cobra"

	"tmuxmcp/internal/terminal"
)

// Skill is a file SKILL.md in the Agent Skills format, for a directory named tmux. It shows a
// model the calls that the jobs of cmd/tmux-mcp/testdata/jobs take.
//
//go:embed skill.md
var Skill string

func skillCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "skill",
		Short: "Print an agent skill that shows how to use the tools",
		Long: `Skill prints a SKILL.md in the Agent Skills format: recipes for whole jobs, each
in as few calls as possible, and the rules behind them. Clients show a model its
description, and the rest when the model asks for it. Claude Code reads it from
~/.claude/skills; Codex, Gemini CLI and others from ~/.agents/skills. The plugin
for Claude Code and Codex contains it.`,
		Example: `  mkdir -p ~/.claude/skills/tmux
  tmux-mcp skill > ~/.claude/skills/tmux/SKILL.md`,
		Args: usage(terminal.NoSuchCommand),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), Skill)
			return err
		},
	}
}
