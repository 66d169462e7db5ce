/*
Package runner runs a command in a shell that somebody uses, at the prompt of a pane.
It depends on no tool and no tmux server: its caller types what [Command.Line] returns
into the pane, and has tmux run what [Command.Feed] returns.

# How a command reaches a shell

A command reaches a shell as two files in a private directory (files.go): command, which
is the command as given, and run, which runs it between two marks. What is typed is one
short line that makes the shell read run. So a command may be of any length and contain
any quotes, lines and comments, and a syntax error is an error, not a prompt for more.

First, run creates the file begun, which fails if it exists. The server creates it too
when it gives up. So the command has begun or never will, no matter who reads the line
and how often, and both sides know which. Last, run writes the exit status into the file
status, over blanks that the server has written, so that this needs no space on a full
disk.

A shell of the POSIX family reads run itself, and runs the command in a subshell: its
functions, aliases and options are available, and cd, export and exit have no effect on
the shell. The subshell is in a third file, body, so that a shell which shows its jobs
shows one short line. Another shell runs it as a script, by /bin/sh. A lasting command is run
by the shell itself: see lasting.go.

Everything in run is a builtin of the shell, since PATH may be anything. Traps keep an
interrupt of the command from ending run before the second mark; the subshell has them,
but the command does not inherit them. With errexit on, the shell must not see that the
command failed. The marks are printed with standard error redirected, so that xtrace does
not show them. They are printed to the terminal, since the shell's standard output may be
redirected too, unless it is a pipe, in which they must stay behind the output.

# Begun, or revoked

[Command.Begun] and [Command.Revoke] are the two sides of that. A caller that gives up
calls Revoke. If that succeeds, the command has not run and never will, whatever becomes
of the typed line. If not, it has begun, and the caller keeps waiting or reports that it
is still running.

# Marks, and what is between them

A recorder that tmux starts with pipe-pane (recorder.go) appends the output to files,
which the server reads as they grow. The marks in it are escape sequences that a terminal
ignores. A [transcript.Transcript] turns what is between them into the lines that the pane
and its history show, for a [Sink], acting as a small terminal of the pane's size, and
has a [Watcher] see each as soon as it is written; [Command.Missed] reports whether it may
differ. If somebody else uses the pane's pipe,
the marks are visible lines of text, and [Command.Between] finds them on the screen. The
exit status is in the second mark, and in the file status.

# Jobs

Neither the shell nor the recorder needs the server, so a command continues without it.
Its directory says where it runs (job.go), and any server of the user finds it by name:
[Find], [Jobs]. [Job.Look] determines its state; [Job.Await] reads its output from the
beginning, as for one's own command. On Linux the shell notes which process it is, so
that a killed job is not taken for a running one, and a signal reaches nothing else
(signal_linux.go). A job whose result was returned in full is removed, unless somebody has found
it by then ([Job.Forget], [Job.Keep]). [Sweep] removes what is over.

# Who reads what is typed

[ForegroundOf] finds the program in the foreground of the pane, and whether it is a shell
at its prompt (foreground.go): the terminal is set as this shell's line editor leaves it
or, for dash, the shell is reading a line. [Foreground.AtPrompt] and [Foreground.Fresh]
guess from the screen whether a script uses that editor to ask a question, and whether
somebody has begun a line. [turns.Turns] give a pane to one command at a time.
*/
package runner
