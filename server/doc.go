/*
Package server is tmux-mcp: the tools, resources and prompts of libtmux-mcp over
package tmux.

# One call

A tool is a value, declared as data: name, kind (which determines its tier and
annotations), toolset, description, what it acts on and the function that runs it. The Go
types of its input and output are its schemas; struct tags hold what a type cannot express
(see package params). The tools are in package tools; from them the client's list, the
command line's catalogue and docs/tools.md are made (catalogue.go).

Every call goes through [Server.run] (run.go), those of a batch too. It enforces tiers and
toolsets (gate.go), repeats once a read that failed because the tmux server exited, logs
one record without secrets (audit.go), turns an error or a panic into a result with isError
and _meta, and truncates a result of more than 1 000 000 bytes to its tail.

In it, [Server.call] (call.go) binds the arguments, resolves and guards what they name, runs
the handler and encodes its output. A handler makes one round trip to tmux, and returns a
typed answer or an error. Errors from tmux are returned unchanged; what the tool itself
refuses is a [reply.Fault].

# Packages below

The rooms that a call goes through are in internal, each above those that it uses; a test
holds which of them may import which:

	tools      are the tools, a file for each subject
	options    has the tools of options, hooks and environments
	launch     starts programs in new panes, and builds workspaces
	jobs       runs commands in panes, and finds them again
	deliver    types prompts into agent CLIs, and proves that they were accepted
	typing     types into panes: guarded, in one round trip, and at a shell's prompt
	subscribe  notifies clients of the resources that change
	screen     looks at panes: since a mark, until something happens, for a text
	tool       is how a tool is declared, and what its handler gets
	sockets    has the tmux servers that calls name, and bounds how many calls work on each
	agents     finds agent CLIs, and reads their states off their screens
	rows       is what panes, windows, sessions and clients look like, and how they are listed
	guard      decides whether a call may do what it is about to do
	closing    closes panes, and names the programs that outlive them
	target     is what the parameters of a call name, as a value
	match      finds texts and regular expressions in lines, within a time
	reply      is what a tool answers: text, JSON or a fault
	caller     knows where this process runs: in which pane, and which processes can be seen
	stdio      speaks JSON-RPC over a pair of streams, with sessions, and reports what a call does
	lost       finds tmux servers that run without the file of their socket
	runner     runs a command in a pane's shell for run_command, and records its outcome
	transcript turns what a program prints into the lines that tmux would show
	params     binds arguments to structs, and makes schemas from structs

Besides tools there are resources (resources.go), which clients can subscribe to, and
prompts (prompts.go). [Server.Serve] (serve.go) speaks JSON-RPC over a pair of streams.
*/
package server
