// Package tools has the tools, one file for each subject.
package tools

import (
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/server/internal/deliver"
	"tmuxmcp/server/internal/jobs"
	"tmuxmcp/server/internal/launch"
	"tmuxmcp/server/internal/options"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/server/internal/supervise"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
)

// Services are what tools use besides the tmux server of their call.
type Services struct {
	Screens  *screen.Reader
	Keyboard *typing.Keyboard
	Jobs     *jobs.Runner
	Agents   *agents.Finder
	Prompts  *deliver.Sender
	Start    *launch.Starter
	Sockets  *sockets.Sockets
	Buffers  *Buffers
}

// All returns the tools, in catalogue order.
func All(s Services) []*tool.Tool {
	all := []*tool.Tool{
		// session.go
		listSessions, listServers(s.Sockets), getServerInfo, getSessionInfo, listClients,
		// session_change.go
		createSession(s.Start), renameSession, killSession, killServer,
		// workspace.go
		buildWorkspace(s.Keyboard, s.Start),
		// window.go
		listWindows, getWindowInfo,
		// window_change.go
		createWindow(s.Start), selectWindow, renameWindow, killWindow, selectLayout, resizeWindow, moveWindow,
		// pane.go
		listPanes, getPaneInfo, findPaneByPosition,
		// pane_change.go
		splitWindow(s.Start), resizePane, selectPane, swapPane, killPane, respawnPane(s.Start), setPaneTitle,
		// pane_screen.go
		clearPane, pipePane(s.Start), enterCopyMode, exitCopyMode,
		// capture.go
		capturePane, snapshotPane,
		// input.go
		sendKeys(s.Keyboard), sendKeysBatch(s.Keyboard), pasteText(s.Keyboard),
	}
	all = append(all, supervise.All(s.Agents, s.Keyboard, s.Prompts, s.Screens)...)
	all = append(all,
		// run.go, job.go
		runCommand(s.Keyboard, s.Jobs, s.Start), getJob(s.Jobs), listJobs(s.Jobs), cancelJob(s.Jobs),
		// follow.go, search.go, evaluate.go
		captureSince(s.Screens), searchPanes(s.Screens, s.Jobs), displayMessage,
		// wait.go, channel.go
		waitForText(s.Screens), waitForChannel(s.Screens), signalChannel,
	)
	all = append(all, options.All()...)
	// buffer.go
	return append(all, loadBuffer(s.Buffers), pasteBuffer(s.Keyboard), showBuffer(s.Buffers), deleteBuffer(s.Buffers))
}
