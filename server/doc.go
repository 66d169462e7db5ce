/*
Package server is tmux-mcp: the tools, resources and prompts of libtmux-mcp over
package tmux.

# The model

A tool is one value of type [tool], declared as data: name, kind (which gives
its tier and its annotations), toolset, description and the function that runs
it. The Go types of its input and output are its schemas; struct tags hold what
a type cannot say (package params names them). All tools stand in one table
(table.go), from which the list for the client, the command line's catalogue and
docs/tools.md are made.

A call goes through a chain of middlewares, each a file:

	mw_recover   a panic becomes an error, its stack goes to the log
	mw_limit     a result of more than 1 000 000 bytes keeps its tail
	mw_errors    an error becomes a result with isError and _meta
	mw_audit     one log record a call, with no secret in it
	mw_retry     a read that a dying server broke is tried once more
	mw_gate      tiers and toolsets

and then its arguments are bound to the input struct (package params), the tool runs
with a [call] at hand, and its output is encoded (result.go). What a tool of a
batch runs goes through the same chain.

A handler is short: it says what it targets (target.go), makes one round trip to
tmux, and returns a typed answer or an error. Errors of tmux pass as they are;
what the tool itself refuses is a [fault].

# The rooms below

None of them knows a tool:

	params   binds arguments to structs, and makes schemas of structs
	stdio    JSON-RPC over a pair of streams, sessions, the encoding of answers
	runner   how a command reaches a shell, and what comes of it, for run_command

Besides tools there are resources (resources.go), which clients can subscribe to
(subscriptions.go), and prompts (prompts.go).

[Server.Serve] speaks JSON-RPC over a pair of streams (package stdio, which client.go
stands behind).
*/
package server
