package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A Runner runs one tmux client with the given arguments (no -S or -L: the runner knows its server)
// and returns what it wrote to standard output.
type Runner func(ctx context.Context, args ...string) (string, error)

// Probe asks a running server which of the names it knows as tokens. The server must be a throwaway
// one of the caller's own, with a session and a paste buffer: Probe writes to the global
// environment.
//
// An unknown token and a token without a value both expand to nothing, also with display-message
// -v. Probe tries each name as an environment variable instead: tmux looks for a name in its token
// table first and then in the environment, and stops at the table even if the token has no value.
// So a name that expands to the variable's value is not a token.
//
// tmux 3.2a dies when client_activity or client_created is expanded without a client; ask for those
// with a client attached (the rows then come from list-clients) or not at all.
func Probe(ctx context.Context, run Runner, names []string) (map[string]bool, error) {
	const (
		mark  = "not-a-token"
		batch = 100 // tmux takes about 16 KB of arguments, and from 3.7 at most 1000 words
	)
	known := make(map[string]bool, len(names))
	for start := 0; start < len(names); start += batch {
		part := names[start:min(start+batch, len(names))]
		var args []string
		var format strings.Builder
		for i, name := range part {
			if !isName(name) {
				return nil, fmt.Errorf("%q is not a token name", name)
			}
			args = append(args, "set-environment", "-g", name, mark, ";")
			if i > 0 {
				format.WriteByte('|')
			}
			// Only whether the value is the mark matters, and other values may hold anything.
			fmt.Fprintf(&format, "#{==:#{%s},%s}", name, mark)
		}
		out, err := run(ctx, append(args, "display-message", "-p", format.String())...)
		if err != nil {
			return nil, fmt.Errorf("ask for tokens: %w", err)
		}
		answers := strings.Split(strings.TrimSuffix(out, "\n"), "|")
		if len(answers) != len(part) {
			return nil, fmt.Errorf("ask for tokens: %d answers to %d names: %q", len(answers), len(part), out)
		}
		for i, a := range answers {
			if a != "0" && a != "1" {
				return nil, errors.New("ask for tokens: neither 0 nor 1: " + a)
			}
			known[part[i]] = a == "0"
		}
		// Left in the environment, the names would go to every new pane.
		args = args[:0]
		for _, name := range part {
			args = append(args, "set-environment", "-gu", name, ";")
		}
		if _, err := run(ctx, args[:len(args)-1]...); err != nil {
			return nil, fmt.Errorf("clear the environment: %w", err)
		}
	}
	return known, nil
}
