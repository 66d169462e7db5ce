/*
Package runner runs a command in a shell that somebody uses, at the prompt of a pane. It
knows no tool and no tmux server: who calls it types what [Command.Line] returns into the
pane, and has tmux run what [Command.Feed] returns.

# How a command reaches a shell

A command reaches a shell as two files in a private directory (files.go):
command, which is the command as it was given, and run, which runs it between two
marks. What is typed is one short line that makes the shell read run. So a command
may be of any length and have any quotes, lines and comments, and an error of syntax
is an error, not a prompt that waits for more.

The first thing that run does is to make the file begun, which fails where it
exists. The server makes it too, when it gives up: so either the command has begun
or it never will, whoever reads the line however often, and both know which. The
last thing is to write the exit status into the file status, over blanks that the
server has written, so that this needs no space on a full disk.

A shell of the POSIX family reads run itself, and runs the command in a
subshell: its functions, aliases and options are there, and neither cd, export
nor exit comes back. Another shell runs it as a script, by /bin/sh.

Everything in run is built into the shell, for PATH may be anything. Traps keep
an interrupt of the command from ending run before the second mark; a subshell has
them, and the command does not get them. With errexit on, the
shell must not see that the command failed. The marks are printed with
standard error elsewhere, so that xtrace does not show them; and on the terminal,
for the shell's standard output may be elsewhere too, unless it goes through a pipe,
where they have to stay behind the output.

# Begun, or revoked

[Command.Begun] and [Command.Revoke] are the two sides of that. A caller that gives up
revokes: if that succeeds, the command has not run and will not, whatever becomes of the
typed line; if not, it has begun, and the caller goes on waiting or says that it still
runs.

# Marks, and what is between them

The output is appended to files by a recorder that tmux starts with pipe-pane
(recorder.go), and the server reads them as they grow. The marks in it are
escape sequences that a terminal ignores. A transcript (transcript.go) turns what is
between them into the lines that the pane shows with its history, for a [Sink], as a small
terminal of the pane's size; [Command.Missed] reports whether it may differ. When the
pane's pipe belongs to somebody else, the marks are visible lines of text, and
[Command.Between] finds them on the screen. The exit status is in the second mark, and in
the file status.

# Jobs

Neither the shell nor the recorder needs the server, so a command goes on without it.
Its directory says where it runs (job.go), and any server of the user finds it by its
name: [Find], [Jobs]. [Job.Look] finds out what has become of it; [Job.Await] reads its
output from the beginning, like the output of a command of one's own. On Linux the shell
notes which process it is, so that a job that was killed is not taken for one that runs,
and a signal reaches nobody else (signal_linux.go). [Sweep] removes what is over.

# Who reads what is typed

[ForegroundOf] finds the program in the foreground of the pane, and whether it is a shell
at its prompt (foreground.go): the terminal is as this shell's line editor leaves it, or,
of dash, the shell reads lines. [Foreground.AtPrompt] and [Foreground.Fresh] guess from the
screen whether a script uses that editor to ask, and whether somebody has begun a line.
[Turns] let one command at a time have a pane.
*/
package runner
