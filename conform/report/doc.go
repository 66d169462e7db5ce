// Package report holds the outcome of a run of mcp-conform, compares it with another run and
// with failures that are known, and writes it in every format that the program has. It runs
// nothing.
package report
