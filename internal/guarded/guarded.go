// Package guarded passes conditions to package tmux in a context: each command of a call that
// does not just read runs only if they are true. tmux-mcp guards the pane that it runs in with
// them.
package guarded

import (
	"context"
	"errors"
)

// Err is the kind of error of a call with a condition that is not true.
var Err = errors.New("guarded")

// A Condition is a format that is true if it expands to something other than "" and "0", for a
// target in tmux's syntax, "" for the server. If the target does not exist, its tokens are empty.
type Condition struct{ Target, Format string }

type key struct{}

// With returns a context for calls that may change something only under conditions.
func With(ctx context.Context, conditions ...Condition) context.Context {
	return context.WithValue(ctx, key{}, conditions)
}

// Of returns the conditions of a context.
func Of(ctx context.Context) []Condition {
	conditions, _ := ctx.Value(key{}).([]Condition)
	return conditions
}
