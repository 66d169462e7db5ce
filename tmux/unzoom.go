package tmux

import "context"

// encode returns the words of a command, and the commands that must run before it in the
// same list on this tmux. They print nothing, and fail as the command itself would if the
// target does not exist. Other versions do without: run-shell leaks 400 bytes of the
// server's memory.
func (s *Server) encode(ctx context.Context, cmd Command) (words encoded, before []encoded, err error) {
	version := func() (Version, error) { return s.Version(ctx) }
	if words, err = encode(cmd, version); err != nil {
		return nil, nil, err
	}
	c, ok := cmd.(interface{ unzoom() []Command })
	if !ok {
		return words, nil, nil
	}
	v, err := s.Version(ctx)
	if err != nil || !v.unzoomsFirst() {
		return words, nil, err
	}
	for _, c := range c.unzoom() {
		unzoom, err := encode(c, version)
		if err != nil {
			return nil, nil, err
		}
		before = append(before, unzoom)
	}
	return words, before, nil
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
