// Package clients has tests that run the agent CLIs themselves, each in a home directory that
// is thrown away: what mcp-swap does to their configs (swap_test.go), what their models read
// of tmux-mcp (model_test.go), how prompts reach them (prompts_test.go), and how they install
// what is published (shipped_test.go). It exports nothing.
//
//	.ci/clients
//
// installs the versions of .ci/clients.json and runs the tests; MCP_CLIENTS_BIN names the
// directory that has the clients, and what the tests report is appended to the file that
// MCP_CLIENTS_REPORT names. Without clients the tests are skipped.
//
// A client may be slower than its own patience on a busy machine, so what it says is asked for
// again once it is not what was expected, and the log has what it said first. What mcp-swap
// and tmux-mcp do is never tried twice.
package clients
