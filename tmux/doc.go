/*
Package tmux is a typed API for tmux, from 3.2a to the newest.

# The model

A [Server] is a handle on one socket. Every call takes a context and is one
round trip to the tmux server: nothing is cached but the server's version, no
call is preceded by a probe, and a call whose context ends leaves nothing
behind.

Commands and rows are structs, and tags on their fields say how they are
encoded and decoded, as encoding/json does it. A command is encoded by flag
tags:

	srv.Do(ctx, tmux.SplitWindow{Target: pane, Right: true, Dir: "/srv"})

Rows are decoded by token tags; tmux is asked for exactly the tokens of the
struct:

	type row struct {
		ID      tmux.PaneID `tmux:"pane_id"`
		Command string      `tmux:"pane_current_command"`
	}
	rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})

[Session], [Window], [Pane], [Client] and [Buffer] are such rows with every
token of their scope, generated from the token table. They embed a reference
([PaneRef] and its kin), whose methods act on the object:

	panes, err := srv.Panes(ctx)
	err = panes[0].SendKeys(ctx, "C-c")
	err = srv.Pane("%3").Kill(ctx)

[Server.Do] takes several commands as one list, and a [Batch] decodes what each
of them printed.

Options, hooks and the environment have handles of their own, for each scope:

	err = panes[0].Options().Set(ctx, "remain-on-exit", "on")
	vars, err := srv.Environment().All(ctx)

# Searching

tmux itself can look for something, in all panes at once. A filter is a format;
[MatchContent], [MatchToken], [And] and their kin make filters of plain text:

	tmux.ListPanes{All: true, Filter: tmux.MatchContent("panic: ", tmux.Match{})}

# Text

Plain text in, plain text out: names, titles, directories, keys and patterns are
quoted for tmux here, whatever is in them. A field of type [Format] is the
exception: it is text in tmux's own format language. Values that tmux prints
come back byte for byte.

# Errors

A command that tmux refused is an [*Error] with the command, its arguments, the
exit code and what tmux wrote. Its kind, for errors.Is, is the same over all
versions' wordings: [ErrNoServer], [ErrNotFound], [ErrExists] and the others.

# Versions

What a command, flag or token needs stands in the tag of its field. What this
tmux does not have is refused before it is asked, with an [UnsupportedError]
that names the version needed; a token it does not have leaves a nil pointer.
[Server.Supports] asks before, for what has a name among the features.

# What the package is not for

It does not draw, parse the terminal's escape sequences or speak control mode,
and it does not keep a copy of the server's state.
*/
package tmux
