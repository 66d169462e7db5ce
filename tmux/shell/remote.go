package shell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/tmux/prompt"
)

// Remote names a shell that runs where it cannot read files of this program, behind the program
// in the pane: on another machine behind ssh, in a container behind docker exec, as another user
// behind su. It is "sh", "bash", "zsh", "ksh", "mksh", "dash", "busybox" or "fish".
//
// Which shell shows the prompt there cannot be found out without typing, so the caller states it.
// Only a line that by itself does nothing is typed, and entered if the pane shows it as a shell
// would. The command is sent once a shell has computed an answer to that, which has to come
// through the same program in the pane. It begins once or never or, if the connection is lost at
// that moment, may have begun: then its state is Lost, or it is still Running.
//
// Output and status are as exact as those of other commands. With "sh" the command runs in a new
// /bin/sh, and with "fish" in a new fish; otherwise it runs in a subshell, with the functions and
// aliases of the shell. Dir is a directory there, in which a leading ~ is the home directory there.
//
// The remote side sees what is typed, so a hostile one can forge output and status. History of
// [Options] is refused, but the line stays in the history of ksh and busybox, and of zsh unless that
// leaves out lines that begin with a blank. Signals cannot be sent, and Interrupt is refused: C-c,
// typed in the pane, interrupts the command. It works on Linux, and not if another program has the
// pane's pipe.
type Remote string

// refuses returns why options cannot be those of a command for a remote shell.
func (r Remote) refuses(command string, o Options) error {
	switch {
	case r == "":
		return nil
	case !runner.IsRemoteShell(string(r)):
		return fmt.Errorf("%.20q is no remote shell: it is one of %s", string(r), runner.RemoteShells)
	case o.History:
		return errors.New("a remote command cannot be added to the history")
	case o.Lasting && (r == "sh" || r == "fish"):
		return fmt.Errorf("a lasting command for a remote %s, which runs in a new one", r)
	case o.Lasting && runner.SetsErrexit(command):
		return errors.New("errexit (set -e) would end this shell at the first failure")
	case o.Interrupt:
		return errors.New("a remote command cannot be interrupted when the context ends")
	}
	return nil
}

// answerTime is how long a remote shell may take to answer, as long as its loader waits.
const answerTime = 5 * time.Second

// noRemote returns the error for a command that has not run, since no remote shell answers.
func (x *execution) noRemote(format string, args ...any) *Error {
	return &Error{Kind: ErrNoRemote, Pane: x.pane.ID, Program: x.at.Foreground.Name, Text: "nothing has run: " + fmt.Sprintf(format, args...)}
}

// readyRemote waits for what looks like the empty prompt of a remote shell.
func (x *execution) readyRemote(ctx context.Context) (err error) {
	if x.leads, err = x.at.AwaitRemote(ctx); err != nil {
		return err
	}
	return x.awaitSize(ctx)
}

// beginRemote begins the command in a remote shell. If it fails and the command was not claimed,
// it has not begun. sent is set once anything was typed.
func (x *execution) beginRemote(ctx context.Context) (sent bool, err error) {
	remote, err := x.cmd.Send(x.command)
	if err != nil {
		return false, x.noRemote("%v", err)
	}
	if !x.until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, x.until, errLate)
		defer cancel()
	}
	if room := x.pane.Width * x.pane.Height; room < len(remote.Loader())+x.pane.X && !remote.Scrolls() {
		return false, x.noRemote("pane %s is too small to show a line of %d characters: make it larger", x.pane.ID, len(remote.Loader()))
	}
	x.typed, x.prompt = time.Now(), x.pane.Left()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
	sent, err = x.typeRecorded(within, remote.Typed(), remote.Shows(x.command))
	cancel()
	if err != nil {
		return sent, err
	}
	entered, err := x.enterLoader(ctx, remote)
	if err != nil {
		err = x.withScreen(ctx, err)
		if !entered {
			x.cleanUp(ctx, runner.EmptyLine)
		}
		return true, err
	}
	if err = x.sendCommand(ctx, remote); err != nil && !x.cmd.Begun() {
		x.cleanUp(ctx, runner.EndLoader+"\r") // otherwise the loader would end by itself
		err = x.withScreen(ctx, err)
	}
	return true, err
}

// enterLoader enters the loader, which was typed, once the pane shows it, and waits for its answer.
// A shell may not have been ready for what was typed, right after it had shown its prompt. So what it
// does not show is typed once more.
func (x *execution) enterLoader(ctx context.Context, remote *runner.Remote) (entered bool, err error) {
	for again := true; ; again = false {
		shown, err := x.at.AwaitEcho(ctx, x.leads, x.prompt, x.row, remote.Loader(), remote.Scrolls())
		switch {
		case err != nil:
			return false, err
		case shown:
			return x.sendLine(ctx, runner.EndLoader, runner.AnswerLoader)
		case again:
			x.cleanUp(ctx, runner.EmptyLine)
			if _, refused := x.at.AwaitRemote(ctx); refused == nil {
				x.prompt, x.row = x.pane.Left(), x.pane.Row()
				if _, err := x.typeText(ctx, remote.Typed()); err != nil {
					return false, err
				}
				continue
			}
		}
		return false, x.noRemote("a line was typed but not entered, since pane %s does not show it as a shell would", x.pane.ID)
	}
}

var errLate = errors.New("the time is up")

// sendCommand sends the command to the loader, which has answered, and starts it.
func (x *execution) sendCommand(ctx context.Context, remote *runner.Remote) error {
	line, answer := remote.Gatherer()
	if _, err := x.sendLine(ctx, line, answer); err != nil {
		return err
	}
	for _, piece := range remote.Pieces() {
		if _, err := x.sendLine(ctx, runner.PieceLine(piece), piece); err != nil {
			return err
		}
	}
	return x.startRemote(ctx, remote)
}

func (x *execution) startRemote(ctx context.Context, remote *runner.Remote) error {
	if err := x.cmd.Claim(); err != nil {
		return err
	}
	sent, err := x.typeLine(ctx, remote.Start())
	if err != nil {
		if !sent {
			x.cmd.Unclaim()
		}
		return err
	}
	// What got no start, or another one, says so when its time is up.
	switch answer, none, err := x.awaitAnswer(ctx, 2*answerTime); {
	case errors.Is(err, errLate), none != "": // it may still come
		return nil
	case err != nil:
		return err
	case answer != runner.AnswerBegun:
		x.cmd.Unclaim()
		return x.noRemote("the line that starts it came too late or altered")
	}
	return nil
}

// sendLine types a line, and waits for its answer.
func (x *execution) sendLine(ctx context.Context, line, answer string) (sent bool, err error) {
	if sent, err = x.typeLine(ctx, line); err != nil {
		return sent, err
	}
	switch got, none, err := x.awaitAnswer(ctx, answerTime); {
	case err != nil:
		return true, err
	case none != "":
		return true, x.noRemote("%s. A line was entered there", none)
	case got != answer:
		return true, x.noRemote("what was sent has come back altered")
	}
	return true, nil
}

// awaitAnswer waits for an answer, for so long. If none can come, it returns the reason.
func (x *execution) awaitAnswer(ctx context.Context, limit time.Duration) (answer, none string, err error) {
	late := time.NewTimer(limit)
	defer late.Stop()
	look := time.NewTicker(leadsPause)
	defer look.Stop()
	for {
		select {
		case answer := <-x.cmd.Answers:
			return answer, "", nil
		case <-late.C:
			return "", fmt.Sprintf("%s in pane %s did not answer within %v", x.at.Foreground.Name, x.pane.ID, limit), nil
		case <-x.cmd.Over:
			return "", "the pane has ended, or another program has taken its pipe", nil
		case <-look.C:
			if !x.leads.Still() {
				return "", x.endedText(), nil
			}
		case <-ctx.Done():
			return "", "", context.Cause(ctx)
		}
	}
}

// leadsPause is the time between two looks at whether the pane still leads to the remote shell.
const leadsPause = 100 * time.Millisecond

// endedText says that the pane does not lead to the remote shell any more.
func (x *execution) endedText() string {
	return fmt.Sprintf("pane %s does not run %s any more", x.pane.ID, x.at.Foreground.Name)
}

// typeLine types a line, which shows nothing, if the pane still leads to the remote shell.
func (x *execution) typeLine(ctx context.Context, line string) (sent bool, err error) {
	return x.typeText(ctx, line+"\r")
}

// typeText does what typeLine does for any text. Once it has begun to type it ignores the context:
// nobody could say whether a line that was given up has gone out.
func (x *execution) typeText(ctx context.Context, text string) (sent bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
	defer cancel()
	if !x.leads.Still() {
		return false, x.noRemote("%s", x.endedText())
	}
	cmds, err := x.at.Pasting(ctx, text)
	if err == nil {
		_, sent, err = x.at.Type(ctx, x.pane.ID, []string{}, cmds)
	}
	return sent, err
}

// cleanUp types a text that undoes what was typed.
func (x *execution) cleanUp(ctx context.Context, text string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
	defer cancel()
	_, _ = x.typeText(ctx, text)
}

// withScreen adds what the pane shows to the error for a command that has not run.
func (x *execution) withScreen(ctx context.Context, err error) error {
	if errors.Is(err, errLate) {
		err = x.noRemote("the time was up before %s in pane %s had answered", x.at.Foreground.Name, x.pane.ID)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
	defer cancel()
	var e *Error
	if errors.As(err, &e) && x.at.LookAgain(ctx) == nil {
		e.Screen = x.pane.LastSeen()
	}
	return err
}
