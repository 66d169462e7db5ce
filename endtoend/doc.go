// Package endtoend has tests that drive tmux-mcp by what other people wrote: the official
// conformance suite, the TypeScript SDKs v1 and v2, the Go SDK, and the JSON schemas of MCP,
// which every message is checked against. It exports nothing.
//
// The npm packages are those that .ci/clients installs, in the versions of .ci/clients.json:
//
//	.ci/clients --endtoend
//
// installs what is missing and runs the tests. The suite speaks HTTP alone, so a bridge
// (bridge_test.go) stands between it and the program. The SDKs start the program themselves,
// in a pane, so that it is an agent's server there. Whatever is said passes this test binary,
// which writes it down.
//
// What of the suite does not apply is in testdata/not-applicable.json, with the reason. An
// entry that is not needed any more fails the test.
package endtoend
