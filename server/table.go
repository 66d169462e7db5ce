package server

// tools are all tools, in catalogue order.
var tools = []*tool{
	// tools_session.go
	listSessions, listServers, getServerInfo, getSessionInfo, listClients,
	// tools_session_change.go
	createSession, renameSession, killSession, killServer,
	// tools_workspace.go
	buildWorkspace,
	// tools_window.go
	listWindows, getWindowInfo,
	// tools_window_change.go
	createWindow, selectWindow, renameWindow, killWindow, selectLayout, resizeWindow, moveWindow,
	// tools_pane.go
	listPanes, getPaneInfo, findPaneByPosition,
	// tools_pane_change.go
	splitWindow, resizePane, selectPane, swapPane, killPane, respawnPane, setPaneTitle,
	// tools_pane_screen.go
	clearPane, pipePane, enterCopyMode, exitCopyMode,
	// tools_capture.go
	capturePane, snapshotPane,
	// tools_input.go
	sendKeys, sendKeysBatch, pasteText,
	// tools_agent.go
	agentStatus, sendPrompt,
	// tools_run.go, tools_job.go
	runCommand, getJob, listJobs, cancelJob,
	// tools_follow.go, tools_search.go, tools_evaluate.go
	captureSince, searchPanes, displayMessage,
	// tools_wait.go, tools_channel.go
	waitForText, waitForChannel, signalChannel,
	// tools_option.go, tools_environment.go, tools_hook.go
	showOption, setOption, showEnvironment, setEnvironment, showHooks, showHook,
	// tools_buffer.go
	loadBuffer, pasteBuffer, showBuffer, deleteBuffer,
	// tools_batch.go
	callReadonlyToolsBatch, callReadToolsBatch, callMutatingToolsBatch, callDestructiveToolsBatch,
}

// promptTools are offered if [Config.PromptsAsTools] is set.
var promptTools = []*tool{listPrompts, getPrompt}
