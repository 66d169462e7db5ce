// Package clients has tests that run the agent CLIs themselves, each in a temporary home
// directory: what mcp-swap does to their configs (swap_test.go), how they reach another machine
// (remote_test.go), what their models read of
// tmux-mcp (model_test.go), how prompts reach them (prompts_test.go), and how they install
// what is published (shipped_test.go). It exports nothing.
//
//	.ci/clients
//
// installs the versions in .ci/clients.json and runs the tests. MCP_CLIENTS_BIN names the
// directory with the clients, and the tests append their reports to the file named by
// MCP_CLIENTS_REPORT. Without clients the tests are skipped.
//
// On a busy machine a client may exceed its own timeouts, so an unexpected answer is asked
// for again, and the log has the first answer. What mcp-swap and tmux-mcp do is never tried
// twice.
package clients
