package tmux

import (
	"context"
	"strings"
)

type noticeKey struct{}

// WithNotices returns a context for calls in which tmux may print something that is not the
// output of their commands: the errors in the configuration of a server that was just
// started, and what hooks print and how they fail. None of it makes a call fail or is taken
// for output. note gets it, as lines without the last newline, before the call returns and
// in its goroutine.
//
// tmux has no other way to tell the output of a command whose text is arbitrary, such as
// capture-pane, from that of a hook which runs after it, so this is returned as its output.
func WithNotices(ctx context.Context, note func(text string)) context.Context {
	return context.WithValue(ctx, noticeKey{}, note)
}

// notice passes on what tmux printed besides.
func notice(ctx context.Context, text string) {
	text = strings.Trim(text, "\n")
	if note, ok := ctx.Value(noticeKey{}).(func(string)); ok && text != "" {
		note(text)
	}
}
