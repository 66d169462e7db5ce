/*
Package follow reports what is new in panes: lines as they are printed, a text as soon as it
shows, what has changed since an earlier look.

Wait for a text, or follow panes until their programs end:

	text, line, err := follow.WaitFor(ctx, pane, "listening on", "error:")

	for event, err := range follow.Panes(ctx, srv, "%1", "%2") {
		if err != nil {
			return err
		}
		fmt.Println(event.Pane, event.Lines)
	}

Both are made of looks. A [Look] reads a pane's state, its screens and the rows above them in
one round trip, and leaves a [Mark]. The next look at the pane is given that mark and says
which lines are new, and whether some may be missing; see [LookAt] for the rule. A mark has a
binary form, so another process can go on where one has stopped. [AddLook] makes a look part
of a list of commands.

A [Follower] decides when another look is worth its cost. From tmux 3.8 on, the server
announces output; for older servers, the kernel does, on Linux. Elsewhere it polls.

Nothing here attaches to the server or changes a pane, and no pipe is opened: other programs,
and any number of followers, can watch the same pane.

# What the package is not for

To run a command in a shell and get its own output and status, use package
[tmuxmcp/tmux/shell]. To log every byte that a pane prints, use [tmux.PaneRef.PipeToFile].
*/
package follow
