package tmux

import (
	"context"
	"fmt"
)

// AwaitOutput waits until the pane has printed more than it had when its token
// pane_output_generation was the given one, or until the context ends. It returns at once if that
// is the case already, or if there is no such pane. A pane that exits is not output. It needs tmux
// 3.8, the first with that token.
func (r PaneRef) AwaitOutput(ctx context.Context, generation int64) error {
	wait, err := r.srv.Script(ctx, WaitFor{Event: true, Channel: "pane-activity", Filter: Format("#{==:#{pane}," + string(r.ID) + "}")})
	if err != nil {
		return err
	}
	// To tmux the condition and the wait are one step: nothing is missed between
	// them.
	words, err := encode(IfShell{
		Target: r, Test: true, Then: wait,
		Condition: Format(fmt.Sprintf("#{==:#{pane_output_generation},%d}", generation)),
	}, nil)
	if err != nil {
		return err
	}
	_, err = r.srv.roundTrip(ctx, []item{{words: words}}, nil)
	return err
}
