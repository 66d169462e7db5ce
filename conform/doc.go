/*
Package conform replays the gaps of libtmux issue #670 against real tmux
programs and reports, for each gap, tmux and layer, which claims hold.

# The model

A [Gap] is one file: a claim about tmux in words, and one script for each
[report.Layer] in the language of testscript. Gaps are grouped in suites; suite 670 has the
issue's. A [report.Target] is one tmux program. [Run]
runs every script against every target, each in a process of its own with a
tmux server of its own, and returns a [report.Report], a tree of [report.Cell]s, which
[report.Write] writes.

Layer tmux asks whether the claim is true. Its verdict is what the script
observed, confirmed or refuted; a refuted claim is a finding and no failure.
In suites other than 670 the claim is what wrappers rely on, and what a script expects
depends on the version. The cell fails when what was observed is not what the script expects of this
version, or is neither. The other layers ask whether the gap is closed in the
API and in the MCP server, and have no verdict.

Layer api asks package tmux, or any wrapper by an adapter, a program that passes calls on to it;
docs/adapters.md has the protocol. A script of layers api and mcp has parts, which fail alone:
each ends with its claim, or with an extra, which nobody asked for and which fails no run of
another wrapper or server.

A server may have names of its own for tools; its [Dialect] maps those that scripts use
to them. What a cell's script did is also a shell script that does it without this package;
see [Options].

# The scripts

docs/mcp-conform.md documents the commands and conditions that scripts have besides
testscript's own: those that ask something of the target (tmux, api, mcp, control,
mcp-leave), and those about what it did.

# Processes

A script runs in a child process, and so does whatever else is asked of a
target, its version first. A program that calls Run, [FindTargets] or [TakeTokens]
must be able to become one: it calls [Main] when its first argument is [ChildArg]. When that is
[APIArg] it calls [ServeAPI], the adapter of package tmux. It is
an MCP server when that is [ServerArg], unless it says which other one to ask: this
package starts servers, and has none.

The child adopts whatever it starts, the tmux server too, and ends all of it
before it exits; when the parent dies it does the same. A target may be anything: what is
kept of what it prints is bounded, and so are the memory, the files and the number of the
processes below the child. What a killed child leaves is ended by a parent that has called [Adopt].
*/
package conform
