package server

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// Up to five parameters name a tool's target. The smallest object wins (a pane over a
// window over a session), and an id wins over an index or a name. Ids are used bare, so
// that they work wherever the object is linked; a name must be a session's exact name.
//
// A selection becomes a target in one of two ways, neither of which costs an extra round
// trip:
//
//   - as a tmux target (spec), for commands that act. They fail by themselves if it does
//     not exist.
//   - as a filter of a list (see [find]), for tools that answer with a row. The rows
//     of all sessions are considered, so that names match exactly and an object in several
//     sessions is one row.

// sessionSelect are the parameters that select a session.
type sessionSelect struct {
	SessionName string         `json:"session_name,omitempty"`
	SessionID   tmux.SessionID `json:"session_id,omitempty" unlisted:"true"`
}

// windowSelect are the parameters that select a window.
type windowSelect struct {
	WindowID    tmux.WindowID `json:"window_id,omitempty" desc:"such as @1"`
	WindowIndex string        `json:"window_index,omitempty"`
	sessionSelect
}

// paneSelect are the parameters that select a pane: given a window, its active pane; given
// a session, that of its current window.
type paneSelect struct {
	PaneID tmux.PaneID `json:"pane_id,omitempty" desc:"such as %1"`
	sessionSelect
	WindowID tmux.WindowID `json:"window_id,omitempty" unlisted:"true"`
}

// The input of tools that take nothing but a target.
type (
	ofSession struct {
		sessionSelect
		socket
	}
	ofWindow struct {
		windowSelect
		socket
	}
	ofPane struct {
		paneSelect
		socket
	}
)

// selection is any of these.
type selection struct {
	pane    tmux.PaneID
	window  tmux.WindowID
	index   string
	session tmux.SessionID
	name    string
}

func (s sessionSelect) selection() selection {
	return selection{session: s.SessionID, name: s.SessionName}
}

func (w windowSelect) selection() selection {
	return selection{window: w.WindowID, index: w.WindowIndex, session: w.SessionID, name: w.SessionName}
}

func (p paneSelect) selection() selection {
	return selection{pane: p.PaneID, window: p.WindowID, session: p.SessionID, name: p.SessionName}
}

// maxName bounds a session's name, in bytes: tmux compares it with every session's.
const maxName = 1000

// check refuses what cannot be an id or an index, and would mean something else to tmux.
func (s selection) check() error {
	switch {
	case s.pane != "" && !s.pane.Valid():
		return reply.Argument("pane_id", "must be a pane's id, such as %%3").Suggest("list_panes returns the ids")
	case s.window != "" && !s.window.Valid():
		return reply.Argument("window_id", "must be a window's id, such as @1").Suggest("list_windows returns the ids")
	case s.session != "" && !s.session.Valid():
		return reply.Argument("session_id", "must be a session's id, such as $0").Suggest("list_sessions returns the ids")
	case s.index != "" && !isIndex(s.index):
		return reply.Argument("window_index", "must be a number").Suggest("list_windows returns the indexes")
	case len(s.name) > maxName:
		return reply.Argument("session_name", "has %d bytes; the limit is %d", len(s.name), maxName)
	}
	return nil
}

// isIndex reports whether s is an index in canonical form.
func isIndex(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && n >= 0 && strconv.FormatInt(n, 10) == s
}

// zero reports whether nothing is selected.
func (s selection) zero() bool { return s == selection{} }

// spec returns the selection as a target of tmux commands. Without a selection, it is the
// caller's pane if that is on this server, otherwise nil: tmux picks the active pane of the
// session used last. Tools that type or end something call [selection.required] first.
func (c *call) spec(s selection) (tmux.Target, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	switch {
	case s.pane != "":
		return s.pane, nil
	case s.window != "":
		return s.window, nil
	case s.session != "":
		return tmux.TargetSpec(string(s.session) + ":" + s.index), nil
	case s.name != "":
		return tmux.TargetSpec(tmux.Named(s.name).TargetSpec() + s.index), nil
	case s.index != "":
		return tmux.TargetSpec(":" + s.index), nil
	}
	if c.here.Own() != "" {
		return c.here.Own(), nil
	}
	return nil, nil
}

// required refuses a selection that names no object, for tools that must not guess.
func (s selection) required(tool string) error {
	if s.zero() {
		return reply.Faultf(reply.KindValidation, "%s needs a target", tool).Suggest("pass pane_id; list_panes returns the ids")
	}
	if s.index != "" && s.window == "" && s.session == "" && s.name == "" {
		return reply.Argument("window_index", "needs session_id or session_name").Suggest("or pass window_id")
	}
	return s.check()
}

// resolve checks the selection of a tool that changes something, and returns one that tmux
// cannot misinterpret. Ids and plain names are unambiguous already. What tmux matches
// loosely costs a round trip: it takes an index that does not exist for the beginning of a
// window's name, and a session's name for an id, a client or a pattern.
func (c *call) resolve(ctx context.Context, s selection) (selection, error) {
	if err := s.required(c.tool.name); err != nil {
		return s, err
	}
	if s.pane != "" || s.window != "" && s.name == "" || s.index == "" && (s.session != "" || plainName(s.name)) {
		return s, nil
	}
	wanted := s
	wanted.window = ""
	if s.window != "" {
		wanted.index = ""
	}
	rows, err := tmux.List[objectIDs](ctx, c.tmux, tmux.ListWindows{All: true, Filter: wanted.within()})
	if err := noneIsEmpty(err); err != nil {
		return s, err
	}
	if len(rows) == 0 {
		return s, c.missing(ctx, wanted)
	}
	s.session, s.name = rows[0].Session, ""
	return s, nil
}

// plainName reports whether tmux takes =name for the session of that name and nothing else.
func plainName(name string) bool {
	for _, r := range name {
		if r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	// Clients have such names, or their terminal's.
	return !strings.HasPrefix(name, "client-") && !strings.HasPrefix(name, "tty")
}

// linked returns the target for a window in the session that the selection names. A window
// held by several sessions has its own index in each.
func (c *call) linked(s selection) (tmux.Target, error) {
	if s.window == "" || s.session == "" && s.name == "" {
		return c.spec(s)
	}
	in, err := c.spec(selection{session: s.session, name: s.name})
	if err != nil {
		return nil, err
	}
	return tmux.TargetSpec(in.TargetSpec() + string(s.window)), s.check()
}

// within returns the filter for the rows of a list that are in the selection: of one pane,
// one window, one session or, if nothing is selected, all.
func (s selection) within() tmux.Format {
	switch {
	case s.pane != "":
		return tmux.MatchEqual("pane_id", string(s.pane))
	case s.window != "":
		return tmux.MatchEqual("window_id", string(s.window))
	}
	var all []tmux.Format
	switch {
	case s.session != "":
		all = append(all, tmux.MatchEqual("session_id", string(s.session)))
	case s.name != "":
		all = append(all, tmux.MatchEqual("session_name", s.name))
	}
	if s.index != "" {
		all = append(all, tmux.MatchEqual("window_index", s.index))
	}
	if all == nil {
		return ""
	}
	return tmux.And(all...)
}

const (
	isActivePane    tmux.Format = "#{pane_active}"
	isCurrentWindow tmux.Format = "#{window_active}"
)

// paneFilter returns the filter for the one pane of a selection: the active one of several.
func (s selection) paneFilter() tmux.Format {
	switch {
	case s.pane != "":
		return s.within()
	case s.window != "" || s.index != "":
		return tmux.And(isActivePane, s.within())
	}
	return tmux.And(isActivePane, isCurrentWindow, s.within())
}

// windowFilter returns the filter for a selection's window: the current one of several.
func (s selection) windowFilter() tmux.Format {
	if s.window != "" || s.index != "" {
		return s.within()
	}
	return tmux.And(isCurrentWindow, s.within())
}

// missing returns an error that says which object of a selection does not exist. Call it
// only if one does not.
func (c *call) missing(ctx context.Context, s selection) error {
	switch {
	case s.pane != "":
		return reply.PaneNotFound(string(s.pane))
	case s.window != "":
		return reply.ObjectNotFound("window " + string(s.window))
	case s.index != "" && (s.session != "" || s.name != ""):
		alone := selection{session: s.session, name: s.name}
		sessions, err := listRows[sessionInfo](ctx, c, new(tmux.Batch), tmux.ListSessions{Filter: alone.within()})
		if err != nil {
			return err
		}
		if len(sessions) > 0 {
			return reply.ObjectNotFound("window index " + s.index + " in session " + sessions[0].SessionName)
		}
	case s.index != "":
		return reply.ObjectNotFound("window index " + s.index)
	}
	if s.session != "" {
		return reply.ObjectNotFound("session " + string(s.session))
	}
	return reply.ObjectNotFound("session " + reply.OneLine(s.name))
}
