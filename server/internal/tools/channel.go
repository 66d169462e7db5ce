package tools

import (
	"context"
	"errors"
	"strconv"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
)

func waitForChannel(r *screen.Reader) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "wait_for_channel", Title: "Wait For tmux Channel", Kind: tool.Creates, Set: tool.Channels, SelfBounded: true,
		Aim: target.Nowhere, Harm: guard.Harmless,
		Desc: "Wait until something signals a tmux channel: send `cmd; tmux wait-for -S NAME` to a pane, then wait for NAME. A signal sent before the " +
			"wait is kept. For the end of a command run_command is simpler.",
	}, func(ctx context.Context, c tool.Call, in waitForChannelIn) (out reply.Text, err error) {
		budget, err := r.Budget(in.Timeout, screen.WaitAgain)
		if err != nil {
			return out, err
		}
		waiting, cancel := context.WithTimeout(ctx, budget)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- c.Tmux.Channel(in.Channel).Wait(waiting) }()
		start := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for waits := true; waits; {
			stdio.Waited(ctx, "channel "+in.Channel, start, budget)
			select {
			case err = <-ended:
				waits = false
			case <-tick.C:
			}
		}
		within := strconv.FormatFloat(budget.Seconds(), 'f', -1, 64)
		switch {
		case err == nil:
			return reply.Text{Result: reply.Say("Channel '%s' was signalled (timeout %ss)", in.Channel, within)}, nil
		case ctx.Err() != nil:
			return out, context.Cause(ctx)
		case waiting.Err() != nil && errors.Is(err, context.DeadlineExceeded):
			return out, reply.Faultf(reply.KindTimeout, "wait-for timeout: channel '%s' was not signalled within %ss", in.Channel, within).
				Suggest("wait again: a signal that comes meanwhile is not lost")
		case errors.Is(err, tmux.ErrServerGone):
			f := reply.Faultf(reply.KindNoServer, "the tmux server on %s ended while channel '%s' was waited for, which was probably never signalled", c.Tmux.SocketPath(), in.Channel)
			f.Cause = err
			return out, f
		}
		return out, err
	})
}

type waitForChannelIn struct {
	channelName
	Timeout float64 `json:"timeout" default:"30" desc:"seconds"`
	target.OnSocket
}

var signalChannel = tool.New(tool.Decl{
	Name: "signal_channel", Title: "Signal tmux Channel", Kind: tool.Creates, Set: tool.Channels,
	Aim: target.Nowhere, Harm: guard.Harmless,
	Desc: "Signal a tmux channel: wake everything that waits for it, or else the next wait.",
}, func(ctx context.Context, c tool.Call, in signalChannelIn) (reply.Text, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := c.Tmux.Channel(in.Channel).Signal(ctx); err != nil {
		return reply.Text{}, err
	}
	return reply.Text{Result: reply.Say("Channel '%s' signalled", in.Channel)}, nil
})

type signalChannelIn struct {
	channelName
	target.OnSocket
}

type channelName struct {
	Channel string `json:"channel" desc:"1 to 128 letters, digits and _.:-"`
}

var channelShape = lazy.Regexp(`^[A-Za-z0-9_.:-]{1,128}$`)

func (n channelName) Check(tool.Limits) error {
	if !channelShape().MatchString(n.Channel) {
		return reply.Faultf(reply.KindValidation, "Invalid channel name: %.130q", n.Channel).Suggest("use 1 to 128 letters, digits and _.:-")
	}
	return nil
}
