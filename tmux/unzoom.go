package tmux

import "context"

// preceding are the commands that must run before one, in the same list, so that
// this tmux survives it. They print nothing, and fail as the command itself would
// when there is no such target. Only versions that would end themselves need them: their
// run-shell leaves 400 bytes of the server's memory behind.
func (s *Server) preceding(ctx context.Context, cmd Command) ([]encoded, error) {
	c, ok := cmd.(interface{ unzoom() []Command })
	if !ok {
		return nil, nil
	}
	v, err := s.Version(ctx)
	if err != nil || !v.killsZoomed() {
		return nil, err
	}
	var list []encoded
	for _, c := range c.unzoom() {
		words, err := encode(c, func() (Version, error) { return v, nil })
		if err != nil {
			return nil, err
		}
		list = append(list, words)
	}
	return list, nil
}

// unzoomed expands to commands that unzoom a window, if it is zoomed, and leave
// its panes where they were. They can run twice, for a session that has a window
// twice, which resize-pane -Z could not.
const unzoomed = "#{?window_zoomed_flag,rotate-window -t #{window_id} ; rotate-window -D -t #{window_id} ; ,}"

func (c KillSession) unzoom() []Command {
	each := Format("#{W:" + unzoomed + "}")
	switch {
	case c.ClearAlerts:
		return nil
	case c.Others || c.Group:
		each = "#{S:" + each + "}"
	}
	return []Command{HasSession{Target: c.Target}, RunShell{Target: c.Target, Commands: true, Template: each}}
}

func (c UnlinkWindow) unzoom() []Command {
	if !c.Kill {
		return nil
	}
	return []Command{ListPanes{Target: c.Target, Filter: "0"}, RunShell{Target: c.Target, Commands: true, Template: unzoomed}}
}
