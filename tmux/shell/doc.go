// Package shell runs commands in the shells that people use in tmux: at the prompt of a
// pane, where everybody watching sees them, with the functions, aliases and directory of
// that shell. It returns the output of a command, without prompt and echo, and its exit
// status.
//
//	res, err := shell.Run(ctx, srv.Pane("%3"), "make test")
//
// As with os/exec, a command that fails is an error, an [ExitError]. What it printed is in
// the [Result], which is nil only if the command has not begun:
//
//	var exit *shell.ExitError
//	if errors.As(err, &exit) {
//		fmt.Println(exit.Status, res.Output)
//	}
//
// # What a command is
//
// A command is a line or a script of any length, for the shell in the pane: bash, zsh, fish,
// dash, sh, ksh, mksh or busybox sh. It runs in a subshell, so cd, export and exit do not
// last, unless [Options] make it lasting. Its input is the terminal, and it can be interrupted
// there. A shell that is not at its prompt, or another program in its place, is not typed into:
// see [ErrNoShell] and [ErrBusy]. A line that somebody has begun is interrupted first. The pane
// shows a short line, which makes the shell read a file, and below it the command. A blank
// command, or one with a NUL byte, is a [tmux.ErrArgument].
//
// A command begins once or never: if an error says that it has not begun, it never will. One
// at a time runs in a pane, of all programs of this user that use this package.
//
// # What is its output
//
// The lines that the pane shows of it: text without escape sequences, with progress bars in
// their last state. It is recorded by a process of tmux, not read off the screen, so none is
// lost if it scrolls away; Missed of [Result] says if some may be, after tens of megabytes.
// Stdout of [Options], and [Job.Output], have what the terminal gets, as it comes.
//
// # Shells elsewhere
//
// A shell behind ssh, su or docker exec reads no files of this program. With Remote of [Options]
// a command is typed there: see [Remote].
//
// # Jobs
//
// A command does not depend on the program that started it. [Start] returns when it has
// begun, with a [Job] to wait for it, to read its output and to signal it. If the context of
// a Run ends, or a line of the output is what it was to wait for (Until of [Options]), the
// command goes on as a job too. [Find] and [Jobs] find jobs again, also from
// another program, until an hour after their end.
//
// # Systems
//
// Who reads what is typed, and which processes are a job's, is known on Linux, for tmux
// servers in the same PID namespace. Elsewhere a shell is assumed to be at its prompt, and
// jobs cannot be signalled.
package shell
