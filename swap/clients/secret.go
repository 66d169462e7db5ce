package clients

import (
	"slices"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/swap/ask"
)

// plainWords may be shown in a diff wherever they occur.
var plainWords = []string{"", "stdio", "local", "http", "sse", "streamable-http", "*"}

var (
	plainProgram = lazy.Regexp(`^[A-Za-z0-9_./+\\-]+$`)
	plainFlag    = lazy.Regexp(`^(-[A-Za-z]|--[a-z][a-z-]*)$`)
)

// Plain returns a function that reports which strings of a client's config a diff may show:
// those that mcp-swap writes, unless they look secret, and the program and flags that they
// replace.
func (c *Client) Plain(ours []string, old map[string]any) func(string) bool {
	words := slices.Clone(plainWords)
	for _, f := range c.Seed {
		if text, ok := f.Value.(string); ok {
			words = append(words, text)
		}
	}
	for i, shown := range ask.ShowArgs(ours) {
		if shown == ours[i] {
			words = append(words, shown)
		}
	}
	for i, word := range c.Dialect.ReadArgv(old) {
		if i == 0 && plainProgram().MatchString(word) || plainFlag().MatchString(word) {
			words = append(words, word)
		}
	}
	return func(s string) bool { return slices.Contains(words, s) }
}
