package rows

import (
	"fmt"
	"strconv"

	"tmuxmcp/server/internal/reply"
)

func (p Pane) Columns() []reply.Column[Pane] {
	return []reply.Column[Pane]{
		{Name: "pane", Tokens: "pane_id", Text: func(p Pane) string { return string(p.PaneID) }},
		{Name: "place", Tokens: "session_name,window_index,pane_index", Text: func(p Pane) string {
			return PlaceOf(p.SessionName, p.WindowIndex, p.PaneIndex)
		}},
		{Name: "size", Tokens: "pane_width,pane_height", Text: func(p Pane) string { return fmt.Sprintf("%dx%d", p.PaneWidth, p.PaneHeight) }},
		{Name: "at", Ours: true, Lead: "at ", Tokens: "pane_left,pane_top", Text: func(p Pane) string { return fmt.Sprintf("%d,%d", p.PaneLeft, p.PaneTop) }},
		{Name: "command", Tokens: "pane_current_command", Text: func(p Pane) string { return reply.ValueOr(p.PaneCurrentCommand, "") }},
		{Name: "path", Lead: "in ", Tokens: "pane_current_path", Text: func(p Pane) string { return reply.ValueOr(p.PaneCurrentPath, "") }},
		{Name: "flags", Ours: true, Tokens: "pane_active,pane_floating_flag,pane_dead,pane_in_mode", Text: func(p Pane) string {
			return reply.Flags("active", p.PaneActive, "floating", reply.Value(p.PaneFloatingFlag), "dead", p.PaneDead, "in-mode", p.PaneInMode, "caller", reply.Value(p.IsCaller))
		}},
	}
}

// PlaceOf returns the position of a pane as in tmux's targets: session:window.pane.
func PlaceOf(session string, window, pane int) string {
	return session + ":" + strconv.Itoa(window) + "." + strconv.Itoa(pane)
}

func (w Window) Columns() []reply.Column[Window] {
	return []reply.Column[Window]{
		{Name: "window", Tokens: "window_id", Text: func(w Window) string { return string(w.WindowID) }},
		{Name: "place", Tokens: "session_name,window_index", Text: func(w Window) string { return w.SessionName + ":" + strconv.Itoa(w.WindowIndex) }},
		{Name: "name", Tokens: "window_name", Text: func(w Window) string { return w.WindowName }},
		{Name: "size", Tokens: "window_width,window_height", Text: func(w Window) string { return fmt.Sprintf("%dx%d", w.WindowWidth, w.WindowHeight) }},
		{Name: "panes", Lead: "panes ", Tokens: "window_panes", Text: func(w Window) string { return strconv.Itoa(w.PaneCount) }},
		{Name: "active_pane", Lead: "active pane ", Tokens: "pane_id", Text: func(w Window) string { return string(reply.Value(w.ActivePaneID)) }},
		{Name: "flags", Ours: true, Tokens: "window_active,window_zoomed_flag", Text: func(w Window) string {
			return reply.Flags("active", w.WindowActive, "zoomed", w.WindowZoomedFlag)
		}},
	}
}

func (s Session) Columns() []reply.Column[Session] {
	return []reply.Column[Session]{
		{Name: "session", Tokens: "session_id", Text: func(s Session) string { return string(s.SessionID) }},
		{Name: "name", Tokens: "session_name", Text: func(s Session) string { return s.SessionName }},
		{Name: "windows", Lead: "windows ", Tokens: "session_windows", Text: func(s Session) string { return strconv.Itoa(s.WindowCount) }},
		{Name: "attached", Lead: "attached clients ", Tokens: "session_attached", Text: func(s Session) string { return strconv.Itoa(s.SessionAttached) }},
		{Name: "group", Lead: "group ", Tokens: "session_group", Text: func(s Session) string { return reply.ValueOr(s.SessionGroup, "") }},
		{Name: "active_pane", Lead: "active pane ", Tokens: "pane_id", Text: func(s Session) string { return string(reply.Value(s.ActivePaneID)) }},
	}
}

func (c Client) Columns() []reply.Column[Client] {
	return []reply.Column[Client]{
		{Name: "client", Tokens: "client_name", Text: func(c Client) string { return c.ClientName }},
		{Name: "session", Tokens: "client_session", Text: func(c Client) string { return reply.ValueOr(c.ClientSession, "") }},
		{Name: "pane", Tokens: "pane_id", Text: func(c Client) string { return string(reply.Value(c.PaneID)) }},
		{Name: "size", Tokens: "client_width,client_height", Text: func(c Client) string {
			if c.ClientWidth == nil || c.ClientHeight == nil {
				return ""
			}
			return fmt.Sprintf("%dx%d", *c.ClientWidth, *c.ClientHeight)
		}},
		{Name: "terminal", Tokens: "client_termname", Text: func(c Client) string { return reply.ValueOr(c.ClientTermname, "") }},
		{Name: "active", Tokens: "client_activity", Text: func(c Client) string { return c.ClientActivity.Format("2006-01-02T15:04:05Z07:00") }},
		{Name: "flags", Ours: true, Tokens: "client_flags", Text: func(c Client) string { return string(reply.Listed(c.ClientFlags, ",")) }},
	}
}

func (p *Pane) View() reply.View          { return reply.RowFacts(*p) }
func (w *Window) View() reply.View        { return reply.RowFacts(*w) }
func (s *Session) View() reply.View       { return reply.RowFacts(*s) }
func (p *PaneDetail) View() reply.View    { return reply.Properties(p) }
func (w *WindowDetail) View() reply.View  { return reply.Properties(w) }
func (s *SessionDetail) View() reply.View { return reply.Properties(s) }
