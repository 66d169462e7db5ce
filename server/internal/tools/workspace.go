package tools

import (
	"context"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
)

// build_workspace types, but only into panes that it created itself, so it acts on no
// existing object and declares no harm.
func buildWorkspace(k *typing.Keyboard, st *launch.Starter) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "build_workspace", Title: "Build Workspace", Kind: tool.Shell, Set: tool.Sessions,
		Aim: target.Nowhere, Harm: guard.Harmless,
		Hint: "tmuxp tmuxinator project layout",
		Desc: "Build a workspace in one call: a session with windows, panes, layouts and commands, typed once each shell is ready. " +
			"If anything fails, nothing stays.",
	}, func(ctx context.Context, c tool.Call, in buildWorkspaceIn) (*launch.Built, error) {
		return st.Build(ctx, k.Typist(c.Source, c.Guard), in.Workspace)
	})
}

type buildWorkspaceIn struct {
	launch.Workspace
	target.OnSocket
}

func (in buildWorkspaceIn) Check(tool.Limits) error { return in.Workspace.Check() }
