package server

import (
	"context"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/target"
)

// build_workspace types, but only into panes that it created itself, so it acts on no
// existing object and declares no harm.
var buildWorkspace = newTool(tool{
	name: "build_workspace", title: "Build Workspace", kind: shell, set: setSessions,
	aim: target.Nowhere, harm: guard.Harmless,
	hint: "tmuxp tmuxinator project layout",
	desc: "Build a workspace in one call: a session with windows, panes, layouts and commands, typed once each shell is ready. " +
		"If anything fails, nothing stays.",
}, func(ctx context.Context, c *call, in buildWorkspaceIn) (*launch.Built, error) {
	return c.s.start.Build(ctx, c.typist, in.Workspace)
})

type buildWorkspaceIn struct {
	launch.Workspace
	target.OnSocket
}

func (in buildWorkspaceIn) check(limits) error { return in.Workspace.Check() }
