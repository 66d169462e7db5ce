package tmux

import "context"

// preceding returns the commands that must run before cmd, in the same list, so that this
// tmux survives it. They print nothing, and fail as cmd itself would if the target does not
// exist. Only versions that would crash need them: their run-shell leaks 400 bytes of the
// server's memory.
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

// unzoomed expands to commands that unzoom a window, if it is zoomed, and leave its panes
// where they were. Unlike resize-pane -Z, they can run twice, for a session that has a
// window twice.
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
