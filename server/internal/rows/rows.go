// Package rows is what panes, windows, sessions and clients look like, and how they are
// listed, filtered and paged.
package rows

import (
	"context"
	"slices"
	"time"

	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/layout"
)

// Rows of the tools: what tmux is asked for (tag tmux), what a client gets (tag json) and
// what filters may name. A property without the tag tmux is computed; its tag from lists
// the tokens it is computed from.

// MostText bounds each text of a row, in columns: titles, names and whatever else programs
// choose. Where each character needs an escape, half of that is shown: what an argument may
// have, so no argument equals a name that is cut.
const MostText = 2 * target.MaxName

// Session is what the tools return for a session.
type Session struct {
	SessionID       tmux.SessionID `json:"session_id" tmux:"session_id"`
	SessionName     string         `json:"session_name" tmux:"session_name"`
	WindowCount     int            `json:"window_count" tmux:"session_windows"`
	SessionAttached int            `json:"session_attached" tmux:"session_attached" desc:"clients"`
	SessionCreated  time.Time      `json:"session_created" tmux:"session_created"`
	SessionGroup    *string        `json:"session_group" tmux:"session_group"`
	ActivePaneID    *tmux.PaneID   `json:"active_pane_id" tmux:"pane_id"`
}

// Window is what the tools return for a window.
type Window struct {
	WindowID         tmux.WindowID    `json:"window_id" tmux:"window_id"`
	WindowName       string           `json:"window_name" tmux:"window_name"`
	WindowIndex      int              `json:"window_index" tmux:"window_index"`
	SessionID        tmux.SessionID   `json:"session_id" tmux:"session_id"`
	SessionName      string           `json:"session_name" tmux:"session_name"`
	SessionIDs       []tmux.SessionID `json:"session_ids" from:"window_id,session_id"`
	PaneCount        int              `json:"pane_count" tmux:"window_panes"`
	WindowLayout     layout.Layout    `json:"window_layout" tmux:"window_layout"`
	WindowActive     bool             `json:"window_active" tmux:"window_active"`
	WindowZoomedFlag bool             `json:"window_zoomed_flag" tmux:"window_zoomed_flag"`
	WindowWidth      int              `json:"window_width" tmux:"window_width"`
	WindowHeight     int              `json:"window_height" tmux:"window_height"`
	ActivePaneID     *tmux.PaneID     `json:"active_pane_id" tmux:"pane_id"`
}

// Edges is where a pane is: rows and columns of its window, counted from 0, inclusive;
// and its terminal.
type Edges struct {
	PaneLeft     int     `json:"pane_left" tmux:"pane_left"`
	PaneTop      int     `json:"pane_top" tmux:"pane_top"`
	PaneRight    int     `json:"pane_right" tmux:"pane_right"`
	PaneBottom   int     `json:"pane_bottom" tmux:"pane_bottom"`
	PaneAtLeft   bool    `json:"pane_at_left" tmux:"pane_at_left"`
	PaneAtRight  bool    `json:"pane_at_right" tmux:"pane_at_right"`
	PaneAtTop    bool    `json:"pane_at_top" tmux:"pane_at_top"`
	PaneAtBottom bool    `json:"pane_at_bottom" tmux:"pane_at_bottom"`
	PaneTTY      *string `json:"pane_tty" tmux:"pane_tty"`
}

// Pane is what the tools return for a pane.
type Pane struct {
	PaneID     tmux.PaneID `json:"pane_id" tmux:"pane_id"`
	PaneIndex  int         `json:"pane_index" tmux:"pane_index"`
	PaneWidth  int         `json:"pane_width" tmux:"pane_width"`
	PaneHeight int         `json:"pane_height" tmux:"pane_height"`
	Edges
	PaneCurrentCommand *string          `json:"pane_current_command" tmux:"pane_current_command"`
	PaneCurrentPath    *string          `json:"pane_current_path" tmux:"pane_current_path"`
	PanePID            *int             `json:"pane_pid" tmux:"pane_pid"`
	PaneTitle          *string          `json:"pane_title" tmux:"pane_title"`
	PaneActive         bool             `json:"pane_active" tmux:"pane_active"`
	PaneDead           bool             `json:"pane_dead" tmux:"pane_dead"`
	PaneInMode         bool             `json:"pane_in_mode" tmux:"pane_in_mode"`
	PaneFloatingFlag   *bool            `json:"pane_floating_flag" tmux:"pane_floating_flag,since=3.7"`
	WindowID           tmux.WindowID    `json:"window_id" tmux:"window_id"`
	WindowName         string           `json:"window_name" tmux:"window_name"`
	WindowIndex        int              `json:"window_index" tmux:"window_index"`
	SessionID          tmux.SessionID   `json:"session_id" tmux:"session_id"`
	SessionName        string           `json:"session_name" tmux:"session_name"`
	SessionIDs         []tmux.SessionID `json:"session_ids" from:"window_id,session_id"`
	IsCaller           *bool            `json:"is_caller"`
}

// PaneDetail is what get_pane_info returns: it adds the states and modes that lists omit.
type PaneDetail struct {
	Pane
	PaneMode               *string `json:"pane_mode" tmux:"pane_mode"`
	PaneKeyMode            *string `json:"pane_key_mode" tmux:"pane_key_mode,since=3.5"`
	PaneInputOff           bool    `json:"pane_input_off" tmux:"pane_input_off"`
	PaneSynchronized       bool    `json:"pane_synchronized" tmux:"pane_synchronized"`
	PaneLast               bool    `json:"pane_last" tmux:"pane_last"`
	PaneMarked             bool    `json:"pane_marked" tmux:"pane_marked"`
	PaneMarkedSet          bool    `json:"pane_marked_set" tmux:"pane_marked_set"`
	PanePipe               bool    `json:"pane_pipe" tmux:"pane_pipe"`
	PanePipePID            *int    `json:"pane_pipe_pid" tmux:"pane_pipe_pid,since=3.7"`
	PanePath               *string `json:"pane_path" tmux:"pane_path" desc:"as the program reported it"`
	PaneUnseenChanges      *bool   `json:"pane_unseen_changes" tmux:"pane_unseen_changes,since=3.4"`
	PaneFlags              *string `json:"pane_flags" tmux:"pane_flags,since=3.7"`
	PaneZoomedFlag         *bool   `json:"pane_zoomed_flag" tmux:"pane_zoomed_flag,since=3.7"`
	PaneX                  *int    `json:"pane_x" tmux:"pane_x,since=3.7"`
	PaneY                  *int    `json:"pane_y" tmux:"pane_y,since=3.7"`
	PaneZ                  *int    `json:"pane_z" tmux:"pane_z,since=3.7"`
	PaneProgressState      *string `json:"pane_pb_state" tmux:"pane_pb_state,since=3.7" desc:"of the program's progress bar"`
	PaneProgress           *int    `json:"pane_pb_progress" tmux:"pane_pb_progress,since=3.7"`
	BracketPasteFlag       *bool   `json:"bracket_paste_flag" tmux:"bracket_paste_flag,since=3.7"`
	SynchronizedOutputFlag *bool   `json:"synchronized_output_flag" tmux:"synchronized_output_flag,since=3.7"`
}

// WindowDetail is what get_window_info returns.
type WindowDetail struct {
	Window
	WindowFlags              string        `json:"window_flags" tmux:"window_flags"`
	WindowActivityFlag       bool          `json:"window_activity_flag" tmux:"window_activity_flag"`
	WindowBellFlag           bool          `json:"window_bell_flag" tmux:"window_bell_flag"`
	WindowSilenceFlag        bool          `json:"window_silence_flag" tmux:"window_silence_flag"`
	WindowLastFlag           bool          `json:"window_last_flag" tmux:"window_last_flag"`
	WindowStartFlag          bool          `json:"window_start_flag" tmux:"window_start_flag"`
	WindowEndFlag            bool          `json:"window_end_flag" tmux:"window_end_flag"`
	WindowVisibleLayout      layout.Layout `json:"window_visible_layout" tmux:"window_visible_layout"`
	WindowActiveClientsList  []string      `json:"window_active_clients_list" tmux:"window_active_clients_list"`
	WindowActiveSessionsList []string      `json:"window_active_sessions_list" tmux:"window_active_sessions_list"`
}

// SessionDetail is what get_session_info returns.
type SessionDetail struct {
	Session
	SessionGrouped           bool    `json:"session_grouped" tmux:"session_grouped"`
	SessionManyAttached      bool    `json:"session_many_attached" tmux:"session_many_attached"`
	SessionGroupManyAttached *bool   `json:"session_group_many_attached" tmux:"session_group_many_attached"`
	SessionMarked            bool    `json:"session_marked" tmux:"session_marked"`
	SessionAlert             *string `json:"session_alert" tmux:"session_alert,since=3.6" desc:"of its windows: # ! ~"`
	SessionActivityFlag      *bool   `json:"session_activity_flag" tmux:"session_activity_flag,since=3.6"`
	SessionBellFlag          *bool   `json:"session_bell_flag" tmux:"session_bell_flag,since=3.6"`
	SessionSilenceFlag       *bool   `json:"session_silence_flag" tmux:"session_silence_flag,since=3.6"`
}

// Source is what rows are read from, and how they are shown.
type Source struct {
	// Tmux is the tmux server; nil for a tool whose input has no socket_name.
	Tmux *tmux.Server
	Here caller.Here
	Form reply.Form
}

// links are the sessions of windows that are linked into more than one.
type links map[tmux.WindowID][]tmux.SessionID

// LinkRows adds a query for all windows that are linked into several sessions. Rows without
// both ids do not list their sessions and need no query.
func LinkRows(b *tmux.Batch, only ...string) *[]target.IDs {
	if len(only) > 0 && !(slices.Contains(only, "window_id") && slices.Contains(only, "session_id")) {
		return new([]target.IDs)
	}
	return tmux.AddRows[target.IDs](b, tmux.ListWindows{All: true, Filter: "#{!=:#{window_linked_sessions},1}"}, "window_id", "session_id")
}

// of returns the sessions that hold a window: the one in its row, or all of them.
func (l links) of(w tmux.WindowID, own tmux.SessionID) []tmux.SessionID {
	if all := l[w]; all != nil {
		return all
	}
	return []tmux.SessionID{own}
}

// row is a row about a session, a window or a pane.
type row[R any] interface {
	*R
	id() string
	// complete computes the properties that tmux does not have.
	complete(here caller.Here, l links)
	// lister returns the command that lists the one object that a selection names: of
	// several, the active one.
	lister(s target.Selection) tmux.Lister
}

func (p *Pane) id() string    { return string(p.PaneID) }
func (w *Window) id() string  { return string(w.WindowID) }
func (s *Session) id() string { return string(s.SessionID) }

func (p *Pane) complete(here caller.Here, l links) {
	p.SessionIDs = l.of(p.WindowID, p.SessionID)
	p.IsCaller = here.Is(p.PaneID)
}

func (w *Window) complete(_ caller.Here, l links) {
	w.SessionIDs = l.of(w.WindowID, w.SessionID)
	w.WindowLayout = w.WindowLayout.Classic()
}

func (w *WindowDetail) complete(here caller.Here, l links) {
	w.Window.complete(here, l)
	w.WindowVisibleLayout = w.WindowVisibleLayout.Classic()
}

func (s *Session) complete(caller.Here, links) {}

func (*Pane) lister(s target.Selection) tmux.Lister {
	return tmux.ListPanes{All: true, Filter: s.PaneFilter()}
}

func (*Window) lister(s target.Selection) tmux.Lister {
	return tmux.ListWindows{All: true, Filter: s.WindowFilter()}
}

func (*Session) lister(s target.Selection) tmux.Lister {
	return tmux.ListSessions{Filter: s.Within()}
}

// List lists objects in one round trip with the commands of a batch, which run before
// it, so that the rows show their effect. cmd is any command that prints such rows: for
// panes, list-panes or split-window. If only is given, the rows have no other tokens: this
// is for tools that show no others, see [TokensFor].
func List[R any, P row[R]](ctx context.Context, src Source, b *tmux.Batch, cmd tmux.Lister, only ...string) ([]R, error) {
	rows, err := listEach[R, P](ctx, src, b, cmd, only...)
	return once[R, P](rows), err
}

// listEach does what List does, with a row of a window or pane for each session that holds
// it, as tmux lists them.
func listEach[R any, P row[R]](ctx context.Context, src Source, b *tmux.Batch, cmd tmux.Lister, only ...string) ([]R, error) {
	rows := tmux.AddRows[R](b, cmd, only...)
	linked := new([]target.IDs)
	switch any(P(nil)).(type) {
	case *Session, *SessionDetail:
	default:
		linked = LinkRows(b, only...)
	}
	if err := target.NoneIsEmpty(b.Do(ctx, src.Tmux)); err != nil {
		return nil, err
	}
	return completeEach[R, P](src, *rows, *linked), nil
}

// once returns the first row of each object.
func once[R any, P row[R]](rows []R) []R {
	return target.UniqueBy(rows, func(r R) string { return P(&r).id() })
}

// Complete returns each object's row once, with the properties that tmux does not have.
func Complete[R any, P row[R]](src Source, rows []R, linked []target.IDs) []R {
	return completeEach[R, P](src, once[R, P](rows), linked)
}

func completeEach[R any, P row[R]](src Source, rows []R, linked []target.IDs) []R {
	l := links{}
	for _, r := range linked {
		if !slices.Contains(l[r.Window], r.Session) {
			l[r.Window] = append(l[r.Window], r.Session)
		}
	}
	for i := range rows {
		P(&rows[i]).complete(src.Here, l)
	}
	return rows
}

// Find finds one object: of several in the selection, the active one. Without a selection it
// finds the caller's or, if there is no caller, the one in the session used last. The
// commands in first run before it in the same round trip, so that the row shows their effect.
func Find[R any, P row[R]](ctx context.Context, src Source, s target.Selection, first ...tmux.Command) (*R, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	row := P(new(R))
	switch any(row).(type) {
	case *Pane, *PaneDetail:
		if s.Zero() {
			s.Pane = src.Here.Own()
		}
	}
	list := row.lister(s)
	if s.Zero() {
		// The active pane of the caller's window, or else of the window used last, with the
		// pane's own session and window.
		at, err := s.TargetFor(src.Here.Own())
		if err != nil {
			return nil, err
		}
		list = tmux.ListPanes{Target: at, Filter: target.IsActivePane}
	}
	rows, err := List[R, P](ctx, src, BatchOf(first...), list)
	return FirstOf(ctx, src, s, rows, err)
}

// FirstOf returns the first row that a selection found, or an error that says what is
// missing.
func FirstOf[R any](ctx context.Context, src Source, s target.Selection, rows []R, err error) (*R, error) {
	switch {
	case err != nil:
		return nil, err
	case len(rows) > 0:
		return &rows[0], nil
	case s.Zero():
		return nil, reply.Faultf(reply.KindNotFound, "the tmux server has no sessions").Suggest("create_session makes one")
	}
	return nil, target.Missing(ctx, src.Tmux, s)
}

// Answer answers a tool that lists the objects of its selection, which cmd lists. keys
// are tokens that the rows always need. The row of an object in several sessions is the one
// for the first whose row passes the filters.
func Answer[R reply.Tabular[R], P row[R]](ctx context.Context, src Source, on target.Object, n Narrowing, cmd tmux.Lister, keys ...string) (l reply.List[R], err error) {
	only, err := TokensFor[R](src.Form, n, keys...)
	if err != nil {
		return l, err
	}
	rows, err := listEach[R, P](ctx, src, new(tmux.Batch), cmd, only...)
	switch {
	case on.Zero():
		err = target.NoServerIsEmpty(ctx, true, err)
	case err == nil && len(rows) == 0:
		err = target.Missing(ctx, src.Tmux, on.Selection)
	}
	if err != nil {
		return l, err
	}
	return Narrow(ctx, rows, n, once[R, P])
}

// BatchOf returns a batch of commands.
func BatchOf(cmds ...tmux.Command) *tmux.Batch {
	b := new(tmux.Batch)
	for _, cmd := range cmds {
		tmux.Add(b, cmd)
	}
	return b
}
