package configs

import (
	"fmt"
	"slices"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/checkout"
)

// borrowed returns, for a folder that a client does not trust, the text about another client's
// file because of which it does not start a server of its own config.
func borrowed(env Env, c *clients.Client, repo, server string) []string {
	for _, l := range c.Trust.Foreign {
		for _, file := range c.Files(l, env.Sys, repo, env.Tree(repo)) {
			text, err := env.text(file)
			if err != nil {
				continue // the client cannot read it either
			}
			doc, err := env.parse(format.JSON, text)
			if err != nil {
				continue
			}
			container := clients.ForProject(l.Container, checkout.ClaudeProject(repo))
			v, _ := doc.Get(append(slices.Clone(container), server)...)
			if value, _ := v.(map[string]any); len(c.Dialect.Runs(value)) > 0 {
				return []string{fmt.Sprintf(untrusted+"%s starts no server of this name, which %s has too,"+untilTrusted, c.Name, file)}
			}
		}
	}
	return nil
}
