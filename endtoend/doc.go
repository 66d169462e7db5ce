// Package endtoend has tests that drive tmux-mcp with other people's software: the official
// conformance suite, the TypeScript SDKs v1 and v2, the Go SDK, and the JSON schemas of
// MCP, against which every message is checked. Besides, it starts tmux-mcp through ssh, and
// counts tokens. It exports nothing.
//
// The npm packages are installed by .ci/clients, in the versions in .ci/clients.json:
//
//	.ci/clients --endtoend
//
// installs what is missing and runs the tests. The suite only speaks HTTP, so a bridge
// (bridge_test.go) is between it and the program. The SDKs start the program themselves, in
// a pane, so that it is an agent's server there. All messages pass through this test
// binary, which records them.
//
// Parts of the suite that do not apply are in testdata/not-applicable.json, with the
// reason. An entry that is no longer needed fails the test.
package endtoend
