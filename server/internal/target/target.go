// Package target is what the parameters of a call name, as a value.
package target

import (
	"cmp"
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
//   - as a tmux target (TargetFor), for commands that act. They fail by themselves if it does
//     not exist.
//   - as a filter of a list (Within and others), for tools that answer with a row. The rows
//     of all sessions are considered, so that names match exactly and an object in
//     several sessions is one row.

// SelectSession are the parameters that select a session.
type SelectSession struct {
	SessionName string         `json:"session_name,omitempty"`
	SessionID   tmux.SessionID `json:"session_id,omitempty" unlisted:"true"`
}

// SelectWindow are the parameters that select a window.
type SelectWindow struct {
	WindowID    tmux.WindowID `json:"window_id,omitempty"`
	WindowIndex string        `json:"window_index,omitempty"`
	SelectSession
}

// SelectPane are the parameters that select a pane: given a window, its active pane; given
// a session, that of its current window.
type SelectPane struct {
	PaneID tmux.PaneID `json:"pane_id,omitempty" desc:"like %1"`
	SelectSession
	WindowID tmux.WindowID `json:"window_id,omitempty" unlisted:"true"`
}

// The input of tools that take nothing but a target.
type (
	OfSession struct {
		SelectSession
		OnSocket
	}
	OfWindow struct {
		SelectWindow
		OnSocket
	}
	OfPane struct {
		SelectPane
		OnSocket
	}
)

// Selection is any of these.
type Selection struct {
	Pane    tmux.PaneID
	Window  tmux.WindowID
	Index   string
	Session tmux.SessionID
	Name    string
}

// Selected returns the selection.
func (s SelectSession) Selected() Selection {
	return Selection{Session: s.SessionID, Name: s.SessionName}
}

// Selected returns the selection.
func (w SelectWindow) Selected() Selection {
	return Selection{Window: w.WindowID, Index: w.WindowIndex, Session: w.SessionID, Name: w.SessionName}
}

// Selected returns the selection.
func (p SelectPane) Selected() Selection {
	return Selection{Pane: p.PaneID, Window: p.WindowID, Session: p.SessionID, Name: p.SessionName}
}

// MaxName bounds a session's name in an argument, in bytes. tmux compares it with every
// session's, and so do we, with names that are cut at a greater length.
const MaxName = 250

// Check refuses what cannot be an id or an index, and would mean something else to tmux.
func (s Selection) Check() error {
	switch {
	case s.Pane != "" && !s.Pane.Valid():
		return reply.Argument("pane_id", "must be a pane's id, such as %%3").Suggest("list_panes returns the ids")
	case s.Window != "" && !s.Window.Valid():
		return reply.Argument("window_id", "must be a window's id, such as @1").Suggest("list_windows returns the ids")
	case s.Session != "" && !s.Session.Valid():
		return reply.Argument("session_id", "must be a session's id, such as $0").Suggest("list_sessions returns the ids")
	case s.Index != "" && !IsIndex(s.Index):
		return reply.Argument("window_index", "must be a number").Suggest("list_windows returns the indexes")
	}
	return checkLength("session_name", s.Name)
}

// checkLength refuses a session's name that is too long.
func checkLength(argument, name string) error {
	if len(name) > MaxName {
		return reply.Argument(argument, "has %d bytes; the limit of a session's name is %d", len(name), MaxName)
	}
	return nil
}

// IsIndex reports whether s is an index in canonical form.
func IsIndex(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && n >= 0 && strconv.FormatInt(n, 10) == s
}

// Zero reports whether nothing is selected.
func (s Selection) Zero() bool { return s == Selection{} }

// TargetFor returns the selection as a target of tmux commands. Without a selection, it is
// the caller's own pane if there is one on this server, otherwise nil: tmux picks the active
// pane of the session used last. Tools that type or end something call [Selection.Required]
// first.
func (s Selection) TargetFor(own tmux.PaneID) (tmux.Target, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	switch {
	case s.Pane != "":
		return s.Pane, nil
	case s.Window != "":
		return s.Window, nil
	case s.Session != "":
		return tmux.TargetSpec(string(s.Session) + ":" + s.Index), nil
	case s.Name != "":
		return tmux.TargetSpec(tmux.Named(s.Name).TargetSpec() + s.Index), nil
	case s.Index != "":
		return tmux.TargetSpec(":" + s.Index), nil
	}
	if own != "" {
		return own, nil
	}
	return nil, nil
}

// Required refuses a selection that names no object, for tools that must not guess and act on
// an object of this kind.
func (s Selection) Required(tool string, kind Kind) error {
	if s.Zero() {
		pass := map[Kind]string{Session: "pass session_name; list_sessions returns the names", Window: "pass window_id; list_windows returns the ids"}[kind]
		return reply.Faultf(reply.KindValidation, "%s needs a target", tool).Suggest("%s", cmp.Or(pass, "pass pane_id; list_panes returns the ids"))
	}
	if s.Index != "" && s.Window == "" && s.Session == "" && s.Name == "" {
		return reply.Argument("window_index", "needs session_id or session_name").Suggest("or pass window_id")
	}
	return s.Check()
}

// Resolve checks the selection of a tool that changes something, on a tmux server, and
// returns one that tmux cannot misinterpret. Ids and plain names are unambiguous already.
// What tmux matches loosely costs a round trip: it takes an index that does not exist for the
// beginning of a window's name, and a session's name for an id, a client or a pattern.
func Resolve(ctx context.Context, srv *tmux.Server, tool string, kind Kind, s Selection) (Selection, error) {
	if err := s.Required(tool, kind); err != nil {
		return s, err
	}
	if s.Pane != "" || s.Window != "" && s.Name == "" || s.Index == "" && (s.Session != "" || plainName(s.Name)) {
		return s, nil
	}
	wanted := s
	wanted.Window = ""
	if s.Window != "" {
		wanted.Index = ""
	}
	rows, err := tmux.List[IDs](ctx, srv, tmux.ListWindows{All: true, Filter: wanted.Within()})
	if err := NoneIsEmpty(err); err != nil {
		return s, err
	}
	if len(rows) == 0 {
		return s, Missing(ctx, srv, wanted)
	}
	s.Session, s.Name = rows[0].Session, ""
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

// Linked returns the target for a window in the session that the selection names. A window
// held by several sessions has its own index in each.
func (s Selection) Linked(own tmux.PaneID) (tmux.Target, error) {
	if s.Window == "" || s.Session == "" && s.Name == "" {
		return s.TargetFor(own)
	}
	in, err := Selection{Session: s.Session, Name: s.Name}.TargetFor(own)
	if err != nil {
		return nil, err
	}
	return tmux.TargetSpec(in.TargetSpec() + string(s.Window)), s.Check()
}

// Within returns the filter for the rows of a list that are in the selection: of one pane,
// one window, one session or, if nothing is selected, all.
func (s Selection) Within() tmux.Format {
	switch {
	case s.Pane != "":
		return tmux.MatchEqual("pane_id", string(s.Pane))
	case s.Window != "":
		return tmux.MatchEqual("window_id", string(s.Window))
	}
	var all []tmux.Format
	switch {
	case s.Session != "":
		all = append(all, tmux.MatchEqual("session_id", string(s.Session)))
	case s.Name != "":
		all = append(all, tmux.MatchEqual("session_name", s.Name))
	}
	if s.Index != "" {
		all = append(all, tmux.MatchEqual("window_index", s.Index))
	}
	if all == nil {
		return ""
	}
	return tmux.And(all...)
}

const (
	IsActivePane    tmux.Format = "#{pane_active}"
	isCurrentWindow tmux.Format = "#{window_active}"
)

// PaneFilter returns the filter for the one pane of a selection: the active one of several.
func (s Selection) PaneFilter() tmux.Format {
	switch {
	case s.Pane != "":
		return s.Within()
	case s.Window != "" || s.Index != "":
		return tmux.And(IsActivePane, s.Within())
	}
	return tmux.And(IsActivePane, isCurrentWindow, s.Within())
}

// WindowFilter returns the filter for a selection's window: the current one of several.
func (s Selection) WindowFilter() tmux.Format {
	if s.Window != "" || s.Index != "" {
		return s.Within()
	}
	return tmux.And(isCurrentWindow, s.Within())
}

// PaneID returns the id of the pane that an object is.
func PaneID(ctx context.Context, srv *tmux.Server, on Object) (tmux.PaneID, error) {
	if id, ok := on.Target.(tmux.PaneID); ok {
		return id, nil
	}
	var b tmux.Batch
	row := tmux.AddRows[IDs](&b, tmux.DisplayMessage{Target: on.Target}, "pane_id")
	if err := b.Do(ctx, srv); err != nil {
		return "", err
	}
	if id := (*row)[0].Pane; id != "" {
		return id, nil
	}
	return "", Missing(ctx, srv, on.Selection)
}

// Missing returns an error that says which object of a selection does not exist. Call it
// only if one does not.
func Missing(ctx context.Context, srv *tmux.Server, s Selection) error {
	switch {
	case s.Pane != "":
		return reply.PaneNotFound(string(s.Pane))
	case s.Window != "":
		return reply.ObjectNotFound("window " + string(s.Window))
	case s.Index != "" && (s.Session != "" || s.Name != ""):
		alone := Selection{Session: s.Session, Name: s.Name}
		sessions, err := tmux.List[IDs](ctx, srv, tmux.ListSessions{Filter: alone.Within()})
		if err := NoneIsEmpty(err); err != nil {
			return err
		}
		if len(sessions) > 0 {
			return reply.ObjectNotFound("window index " + s.Index + " in session " + sessions[0].Name)
		}
	case s.Index != "":
		return reply.ObjectNotFound("window index " + s.Index)
	}
	if s.Session != "" {
		return reply.ObjectNotFound("session " + string(s.Session))
	}
	return reply.ObjectNotFound("session " + reply.OneLine(s.Name))
}

// CheckSessionName refuses names that targets cannot express or tmux before 3.7 changes.
func CheckSessionName(argument, name string) error {
	if name == "" || strings.ContainsAny(name, ":.") {
		return reply.Argument(argument, "must not be empty or contain a colon or period")
	}
	return checkLength(argument, name)
}
