/*
Package tmux is a typed API for tmux, from version 3.2a to the newest.

# The model

A [Server] is a handle on one socket, safe for concurrent use:

	srv, err := tmux.New(tmux.Config{})

Every call takes a context, and takes one round trip to the tmux server unless its
documentation says otherwise. Nothing is cached except the server's version, and no
call probes the server first.

Commands are structs, one for each tmux command, named after it. Field tags say
which flag a field stands for, so that quoting is done in one place:

	out, err := srv.Do(ctx, tmux.SplitWindow{Target: tmux.PaneID("%3"), Right: true, Dir: "/srv"})

Rows are structs too. Their field tags name tmux's format tokens, as tags for
encoding/json name keys, and tmux is asked for exactly these tokens, also those of
the objects around:

	type row struct {
		ID      tmux.PaneID `tmux:"pane_id"`
		Session string      `tmux:"session_name"`
		Command string      `tmux:"pane_current_command"`
	}
	rows, err := tmux.List[row](ctx, srv, tmux.ListPanes{All: true})

[Session], [Window], [Pane], [Client] and [Buffer] are rows with every token of
their kind. They embed a reference ([SessionRef], [WindowRef], [PaneRef],
[ClientRef], [BufferRef]): an id and its server. The methods of a reference act
on the object, and [Server.Pane] and the like make one without asking tmux:

	panes, err := srv.Panes(ctx)
	err = panes[0].SendKeys(ctx, "C-c")
	err = srv.Pane("%3").Kill(ctx)

A method takes the command's struct for its options and sets the target itself.
For what no method does, run a command: see [Server.Do].

Examples are in the package's directory, in example_*_test.go: go doc does not print
them, but programs that show documentation as web pages do.

# Tasks

Servers and sessions:

  - connect to a server, the user's or another one: [New], [Config]
  - from inside tmux: [FromEnv] is the server, [Server.CurrentPane] the pane
  - start, end or inspect it: [Server.NewSession], [StartServer], [Server.Kill], [Server.Info]
  - choose how commands are sent: [Transport]
  - choose the index of a session's first window: [MoveWindow], with [SessionRef.At];
    its own index is an [ErrExists]
  - find sockets: [SocketDir], [SocketName]
  - find a session by its exact name: [Server.SessionNamed], [Named], [Server.HasSession]
  - attach this terminal to one: [SessionRef.Attach]; switch a client: [ClientRef.Switch]

Finding objects:

  - find the pane that a user means by "work:1.0": [Server.PaneAt]
  - list everything: [Server.Sessions], [Server.Windows], [Server.Panes], [Server.Clients]
  - list the parts of one object: [SessionRef.Windows], [WindowRef.Panes], [SessionRef.Clients]
  - list with your own row type, as of panes with the names of their sessions: [List]
  - let tmux search: the Filter of [ListPanes] and the other lists, with
    [MatchContent] (the screen), [MatchToken], [MatchEqual], [MatchOneOf], [And], [Or], [Not]
  - read one object again: [PaneRef.Info] and the like
  - expand a format: [PaneRef.Display] and the like

Windows and panes:

  - make them: [SessionRef.NewWindow], [PaneRef.Split], [PaneRef.Float]; a window with its
    panes in one round trip: [Batch], as in its example Window
    (example_window_test.go)
  - run another program in one: [PaneRef.Respawn]; what another pane was started with:
    [Server.Source]
  - select, rename, resize, zoom, move, kill: the methods of [PaneRef] and [WindowRef]
  - arrange panes: [WindowRef.SelectLayout], [tmuxmcp/tmux/layout.Parse]

Input and output:

  - type: [PaneRef.SendText], [PaneRef.SendLine]; press keys: [PaneRef.SendKeys]
  - paste: [PaneRef.Paste], [BufferRef.Pasting]; a stream of any length: [PaneRef.Writer]
  - read the screen and the history: [PaneRef.Capture], [PaneRef.CaptureTo], of many panes
    [Server.CaptureAll]
  - wait for a text: [tmuxmcp/tmux/follow.WaitFor]; for a signal: [Server.Channel]
  - follow what panes print, until they end: [tmuxmcp/tmux/follow.Panes]
  - look at what is new in a pane: [tmuxmcp/tmux/follow.LookAt]
  - log what a pane prints: [PaneRef.PipeToFile], [PaneRef.Pipe]
  - drive copy mode: [PaneRef.CopyMode], [PaneRef.CopyCommand]
  - run a command at the prompt of a pane, and get its output: [tmuxmcp/tmux/shell.Run];
    start one that goes on by itself: [tmuxmcp/tmux/shell.Start]
  - run a shell command where the server is: [Server.RunShell]
  - keep text in paste buffers: [Server.SetBuffer], [Server.LoadBuffer], [BufferRef]

Settings:

  - options, at each scope: [Server.Options], [Server.GlobalSessionOptions],
    [Server.GlobalWindowOptions], [SessionRef.Options], [WindowRef.Options], [PaneRef.Options]
  - hooks: [Server.Hooks], [SessionRef.Hooks], [WindowRef.Hooks], [PaneRef.Hooks]
  - the environment of new panes: [Server.Environment], [SessionRef.Environment]
  - key bindings: [Server.Bind], [Server.KeyBindings]
  - configuration files: [SourceFile], [Server.Source]

Several things at once:

  - run commands in one round trip: [Server.Do]; with decoded results: [Batch]
  - run commands only if a condition is true: [Require]
  - write commands as text, for hooks and key bindings: [Server.Script]

Errors and versions:

  - kinds of failure: [Error], [ErrNotFound] and the others
  - see what hooks print, and the errors of a configuration: [WithNotices]
  - ask what this tmux can do: [Server.Supports], [Server.Version]
  - find a server's process: [Server.Process]
  - list tmux's tokens and commands: [Tokens], [ListCommands]
  - make an untrusted format, which could run commands, safe to use: [tmuxmcp/tmux/inert.Format]

Tests:

  - test a terminal program in tmux, or code that uses this package: package tmuxtest

# Text

Plain text in, plain text out: this package quotes names, titles, directories, keys
and patterns for tmux, whatever they contain. Fields of type [Format] are the
exception: they are in tmux's format language, and [Literal] puts plain text into
one. Values that tmux prints are returned byte for byte.

# Targets

A [Target] says which object a command is for. Ids ("%3", "@1", "$0") and
references are safe: they mean one object for as long as it lives. [Named] is a
session's exact name. [TargetSpec] is text in tmux's own syntax, which tmux also
matches as a prefix and as a pattern. For a nil Target, tmux picks one.

# Errors

A command that tmux refuses is an [*Error] with the command, its arguments, the
exit code and what tmux wrote. Its kind is the same for the wordings of all
versions, and Object of [Error] names what was not found:

	if errors.Is(err, tmux.ErrNotFound) { … }

Arguments that no tmux can take are refused before tmux is asked, with
[ErrArgument]: a malformed id, a NUL byte, a token that does not exist, a
reference of another server or of none. Methods also refuse what tmux takes without doing
it: a word that is no key, a directory that is missing, a name of a session
that tmux would change. Command structs and [Server.Do] leave that to tmux.

# Trust

A server reads what it is sent, and can make its clients open files. So nothing is
sent until the server is known to be run by this user or by root: the directory of
named sockets must belong to the user and be closed to others, as tmux requires, and
the listening process must be the user's or root's. The tmux program, which connects
by itself, is started only if no other user can replace the socket. Otherwise the error
is an [ErrUntrusted] that says what was found and what to do, even for servers that
another user shares on purpose. On systems that do not show who listens on a socket,
only [TransportExec] is available. A path that is something other than a socket is an
[ErrArgument], because tmux would remove it.

A server is sent PATH and, if a command may create a session, the environment. The file
of a [LoadBuffer] or [SaveBuffer] is opened by this package, and with [TransportNative],
and with [TransportAuto] if the server speaks the protocol, none is opened for the server.
Commands given as text may name files too: [SourceFile], [IfShell], a [RunShell] of tmux commands, a
[Raw] command that this package does not know. They always go through the tmux
program, which opens whatever the server asks for, but are refused once the server has
asked for a file that it should not.

[TransportExec] passes commands on standard input, so that other users do not see
them in the list of processes. A command that itself reads standard input is the
exception: [LoadBuffer] shows the name of its buffer. So is [SessionRef.Attach].

# Versions

Field tags also say which tmux introduced a flag or token. A flag or command that this
tmux does not have is refused with an [UnsupportedError] that names the version
needed; a token that it does not have leaves a nil pointer in a row.

# What the package is not for

It does not draw, parse terminal escape sequences or speak control mode, and it
keeps no copy of the server's state.
*/
package tmux
