/*
Package server is tmux-mcp: the tools, resources and prompts of libtmux-mcp over
package tmux.

# The model

A tool is one value of type [tool], declared as data: name, kind (which determines its
tier and annotations), toolset, description and the function that runs it. The Go types
of its input and output are its schemas; struct tags hold what a type cannot express
(see package params). All tools are in one table (table.go), from which the client's
list, the command line's catalogue and docs/tools.md are made.

Every call goes through [Server.run] (run.go), those of a batch too. It enforces tiers and
toolsets (gate.go), repeats once a read that failed because the tmux server exited, logs
one record without secrets (audit.go), turns an error or a panic into a result with isError
and _meta (fault.go), and truncates a result of more than 1 000 000 bytes to its tail.

In it, the call's arguments are bound to the input struct (package params), the tool runs
with a [call], and its output is encoded (package reply).

A handler is short: it names its target (package target), makes one round trip to tmux, and
returns a typed answer or an error. Errors from tmux are returned unchanged; what the
tool itself refuses is a [reply.Fault].

# Packages below

None of them depends on tools. Those in internal are the rooms that tools are made of; a
test holds which of them may import which:

	deliver  types prompts into agent CLIs, and proves that they were accepted
	launch   starts programs in new panes, and builds workspaces
	closing  closes panes, and names the programs that outlive them
	jobs     runs commands in panes, and finds them again
	typing   types into panes: guarded, in one round trip, and at a shell's prompt
	screen   looks at panes: since a mark, until something happens, for a text
	agents   finds agent CLIs, and reads their states off their screens
	sockets  are the tmux servers that calls name, and how many calls work on each
	rows     is what panes, windows, sessions and clients look like, and how they are listed
	guard    decides whether a call may do what it is about to do
	target   is what the parameters of a call name, as a value
	caller   knows where this process runs: in which pane, and which processes can be seen
	match    finds texts and regular expressions in lines, within a time
	reply    is what a tool answers: text, JSON or a fault
	stdio    speaks JSON-RPC over a pair of streams, with sessions, and reports what a call does
	params   binds arguments to structs, and makes schemas from structs
	runner   runs a command in a pane's shell for run_command, and records its outcome

Besides tools there are resources (resources.go), which clients can subscribe to
(subscriptions.go), and prompts (prompts.go).

[Server.Serve] speaks JSON-RPC over a pair of streams. It is in client.go and uses
package stdio.
*/
package server
