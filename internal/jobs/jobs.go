package main

// A job is one task, from the first call to the last.
type job struct {
	name  string
	title string
	needs []string      // programs
	lacks func() string // why it cannot be played here
	slow  bool          // takes more than five seconds even if the model takes none
	// prepare sets the stage. It returns what the agent does and what must be so
	// afterwards.
	prepare func(s *stage) (play func(a *agent), check func())
}

var jobs = []job{
	{name: "command", title: "run a command, read its output and status", prepare: shortCommand},
	{name: "suite", title: "run a test suite of 5,000 lines, read the failing ones and the summary", prepare: failingLines},
	{name: "context", title: "the same with the lines around each failure", prepare: failingContext},
	{name: "server", title: "start a development server, make a request, read its lines, stop it", prepare: devServer},
	{name: "progress", title: "a 15-second job with a progress bar, something else meanwhile", prepare: progressBar, slow: true},
	{name: "repl", title: "a REPL: three inputs, one of several lines, one that raises", prepare: repl},
	{name: "find", title: "find an error in 40 panes, with five lines around it", prepare: findError},
	{name: "vim", title: "edit a file in vim", prepare: editInVim, needs: []string{"vim"}},
	{name: "less", title: "look something up in less", prepare: lookUpInLess, needs: []string{"less"}},
	{name: "menu", title: "choose from a menu", prepare: chooseFromMenu},
	{name: "questions", title: "answer a question, then give a secret", prepare: answerQuestions},
	{name: "quiet", title: "go on when a program has been silent for two seconds", prepare: goOnWhenQuiet, slow: true},
	{name: "workspace", title: "build a workspace of three windows", prepare: workspace},
	{name: "agents", title: "supervise three agent CLIs on the normal screen", prepare: superviseLines, slow: true},
	{name: "agents-alternate", title: "… on the alternate screen", prepare: superviseFull, slow: true},
	{name: "agents-box", title: "… with a prompt box that is redrawn", prepare: superviseBox, lacks: agentsUnknown, slow: true},
	{name: "recover", title: "recover a hanging shell, a dead pane and one in copy mode", prepare: recoverPanes},
	{name: "move", title: "move a window to another session and resize its panes", prepare: moveWindow},
	{name: "watcher", title: "read a watcher that clears the screen before its result", prepare: readWatcher},
}
