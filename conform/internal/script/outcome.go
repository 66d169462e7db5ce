package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/gap"
)

// outcome is the outcome of an action: see [caller.actions].
type outcome struct {
	line           string
	call           string // its name in reasons; see [callName]
	code           int
	stdout, stderr string
	err            error  // why it did not run, or not to its end
	misfit         error  // why the call or the answer does not fit the server's schema
	raw            string // the answer of an MCP server or adapter, as a message
	api            bool   // it is an answer of an adapter
	sent           []adapter.Request
	asked          string // the call in the server's words, if they differ from the script's
}

func (o outcome) ok() bool { return o.err == nil && o.code == 0 }

// notOffered reports whether no tool or method is offered for the call with its arguments.
func (o outcome) notOffered() bool {
	var none gap.NotOffered
	return errors.As(o.err, &none) || errors.As(o.misfit, &none)
}

// String returns what a user at a terminal would have seen.
func (o outcome) String() string {
	parts := []string{strings.TrimRight(o.stdout, "\n"), strings.TrimRight(o.stderr, "\n")}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	switch {
	case o.err != nil:
		parts = append(parts, o.err.Error())
	case o.code != 0:
		parts = append(parts, fmt.Sprintf("(exit status %d)", o.code))
	case len(parts) == 0:
		parts = append(parts, "(no output)")
	}
	return strings.Join(parts, "\n")
}

// said returns a failed command's output with its message first: the rest, such as the whole
// error as JSON, would hide it.
func (o outcome) said() string {
	if strings.TrimSpace(o.stderr) == "" || strings.TrimSpace(o.stdout) == "" {
		return o.String()
	}
	message := outcome{stderr: o.stderr, code: o.code, err: o.err}
	return message.String() + "\n" + strings.TrimRight(o.stdout, "\n")
}
