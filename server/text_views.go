package server

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Views of the tools' outputs: see view.

func (p paneInfo) columns() []column[paneInfo] {
	return []column[paneInfo]{
		{"pane", "", "pane_id", func(p paneInfo) string { return string(p.PaneID) }},
		{"place", "", "session_name,window_index,pane_index", func(p paneInfo) string {
			return placeOf(p.SessionName, p.WindowIndex, p.PaneIndex)
		}},
		{"size", "", "pane_width,pane_height", func(p paneInfo) string { return fmt.Sprintf("%dx%d", p.PaneWidth, p.PaneHeight) }},
		{"at", "at ", "pane_left,pane_top", func(p paneInfo) string { return fmt.Sprintf("%d,%d", p.PaneLeft, p.PaneTop) }},
		{"command", "", "pane_current_command", func(p paneInfo) string { return or(p.PaneCurrentCommand, "") }},
		{"path", "in ", "pane_current_path", func(p paneInfo) string { return or(p.PaneCurrentPath, "") }},
		{"flags", "", "pane_active,pane_floating_flag,pane_dead,pane_in_mode", func(p paneInfo) string {
			return flagsOf("active", p.PaneActive, "floating", deref(p.PaneFloatingFlag), "dead", p.PaneDead, "in-mode", p.PaneInMode, "caller", deref(p.IsCaller))
		}},
	}
}

// placeOf returns the position of a pane as in tmux's targets: session:window.pane.
func placeOf(session string, window, pane int) string {
	return session + ":" + strconv.Itoa(window) + "." + strconv.Itoa(pane)
}

func (w windowInfo) columns() []column[windowInfo] {
	return []column[windowInfo]{
		{"window", "", "window_id", func(w windowInfo) string { return string(w.WindowID) }},
		{"place", "", "session_name,window_index", func(w windowInfo) string { return w.SessionName + ":" + strconv.Itoa(w.WindowIndex) }},
		{"name", "", "window_name", func(w windowInfo) string { return w.WindowName }},
		{"size", "", "window_width,window_height", func(w windowInfo) string { return fmt.Sprintf("%dx%d", w.WindowWidth, w.WindowHeight) }},
		{"panes", "panes ", "window_panes", func(w windowInfo) string { return strconv.Itoa(w.PaneCount) }},
		{"active_pane", "active pane ", "pane_id", func(w windowInfo) string { return string(deref(w.ActivePaneID)) }},
		{"flags", "", "window_active,window_zoomed_flag", func(w windowInfo) string {
			return flagsOf("active", w.WindowActive, "zoomed", w.WindowZoomedFlag)
		}},
	}
}

func (s sessionInfo) columns() []column[sessionInfo] {
	return []column[sessionInfo]{
		{"session", "", "session_id", func(s sessionInfo) string { return string(s.SessionID) }},
		{"name", "", "session_name", func(s sessionInfo) string { return s.SessionName }},
		{"windows", "windows ", "session_windows", func(s sessionInfo) string { return strconv.Itoa(s.WindowCount) }},
		{"attached", "attached clients ", "session_attached", func(s sessionInfo) string { return strconv.Itoa(s.SessionAttached) }},
		{"group", "group ", "session_group", func(s sessionInfo) string { return or(s.SessionGroup, "") }},
		{"active_pane", "active pane ", "pane_id", func(s sessionInfo) string { return string(deref(s.ActivePaneID)) }},
	}
}

func (c clientInfo) columns() []column[clientInfo] {
	return []column[clientInfo]{
		{"client", "", "client_name", func(c clientInfo) string { return c.ClientName }},
		{"session", "", "client_session", func(c clientInfo) string { return or(c.ClientSession, "") }},
		{"pane", "", "pane_id", func(c clientInfo) string { return string(deref(c.PaneID)) }},
		{"size", "", "client_width,client_height", func(c clientInfo) string {
			if c.ClientWidth == nil || c.ClientHeight == nil {
				return ""
			}
			return fmt.Sprintf("%dx%d", *c.ClientWidth, *c.ClientHeight)
		}},
		{"terminal", "", "client_termname", func(c clientInfo) string { return or(c.ClientTermname, "") }},
		{"active", "", "client_activity", func(c clientInfo) string { return c.ClientActivity.Format("2006-01-02T15:04:05Z07:00") }},
		{"flags", "", "client_flags", func(c clientInfo) string { return strings.Join(c.ClientFlags, ",") }},
	}
}

func (p *paneInfo) view() view    { return rowFacts(*p) }
func (w *windowInfo) view() view  { return rowFacts(*w) }
func (s *sessionInfo) view() view { return rowFacts(*s) }
func (s *createdSession) view() view {
	v := rowFacts(s.sessionInfo)
	v.facts[0] += " in window " + string(s.ActiveWindowID)
	return v
}

func (p *paneDetail) view() view    { return propertiesView(p) }
func (w *windowDetail) view() view  { return propertiesView(w) }
func (s *sessionDetail) view() view { return propertiesView(s) }

func (t text) view() view       { return raw(legible(t.Result, "")) }
func (t paneText) view() view   { return raw(legible(t.Result, "")) }
func (t promptText) view() view { return raw(t.Result) }

func (e evaluated) view() view {
	v := raw(e.Result)
	v.factIf(e.PaneID != nil, "%s", deref(e.PaneID))
	return v
}

func (t screenText) view() view {
	v := raw(t.Result)
	v.fact("%s", t.PaneID)
	v.factIf(t.Outside, "%s", t.where())
	v.more = "start and end"
	return v
}

func (s *paneSnapshot) view() view {
	v := raw(s.Content)
	v.fact("%s %dx%d cursor %d,%d %s in %s", s.PaneID, s.PaneWidth, s.PaneHeight, s.CursorX, s.CursorY,
		named("", or(s.PaneCurrentCommand, "-"), " "), named("", or(s.PaneCurrentPath, "-"), " "))
	v.factIf(s.AlternateOn, "alternate screen")
	v.factIf(s.PaneInMode, "in %s", or(s.PaneMode, "a mode"))
	v.factIf(deref(s.ScrollPosition) > 0, "scrolled up %d", deref(s.ScrollPosition))
	v.factIf(s.PaneDead, "dead")
	v.factIf(s.HistorySize > 0, "history %d", s.HistorySize)
	v.factIf(deref(s.IsCaller), "your own pane")
	v.factIf(s.ContentTruncated, "%d lines above left out", s.ContentTruncatedLines)
	v.more = "capture_pane with start and end"
	return v
}

// deref returns what p points to, or the zero value if it is nil.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func (r *captureSinceResult) view() view {
	v := view{lines: r.Lines}
	v.fact("%s cursor %s", r.PaneID, r.Cursor)
	v.factIf(r.LinesMissed, "lines may have been missed")
	v.factIf(r.TruncatedLines > 0, "%d lines before these left out", r.TruncatedLines)
	v.factIf(r.TruncatedLines == 0 && r.TruncatedBytes > 0, "%d bytes left out", r.TruncatedBytes)
	v.factIf(len(r.Lines) == 0, "nothing new")
	v.more = "capture_pane with start and end"
	return v
}

func (r *waitForTextResult) view() view {
	v := view{lines: r.Tail}
	if r.Outcome == outcomeState {
		v.lines = append(slices.Clone(r.MatchedLines), r.Tail...)
	}
	v.fact("%s %s after %s", r.PaneID, outcomeWords(r.Outcome, r.State, r.MatchedIndex), elapsed(r.ElapsedSeconds))
	missed := "lines may have been missed"
	if r.Outcome == outcomeTimeout {
		missed += ", and a match in them"
	}
	v.factIf(r.LinesMissed, "%s", missed)
	v.factIf(r.LinesCut > 0, "%s before these left out", count(r.LinesCut, "line"))
	if r.Outcome == outcomeTimeout {
		v.factIf(!r.SawNewOutput, "nothing was printed yet")
		v.factIf(r.MatchedAtEntry, "a pattern was on the screen before the wait: since=screen counts it")
	}
	var waiting []string
	own := len(v.lines)
	for _, o := range r.Others {
		if o.Outcome == "" || o.Outcome == outcomeTimeout && r.Outcome == outcomeTimeout {
			waiting = append(waiting, string(o.PaneID))
			continue
		}
		cut := ""
		if o.LinesCut > 0 {
			cut = ", " + count(o.LinesCut, "line") + " before these left out"
		}
		v.lines = append(append(v.lines, fmt.Sprintf("[%s %s%s, %s]", o.PaneID, outcomeWords(o.Outcome, o.State, o.MatchedIndex), cut, count(len(o.Tail), "line"))), o.Tail...)
	}
	// The contents of one pane cannot be taken for the next pane.
	v.factIf(len(v.lines) > own, "%s", count(own, "line"))
	v.factIf(len(waiting) > 0 && len(waiting) <= 20, "nothing yet in %s", strings.Join(waiting, " "))
	v.factIf(len(waiting) > 20, "nothing yet in %d others", len(waiting))
	if r.look != nil {
		v.fact("terminal cursor %d,%d", r.look.CursorX, r.look.CursorY)
	}
	v.factIf(r.Cursor != "", "cursor %s", r.Cursor)
	return v
}

// outcomeWords describes the outcome of a wait for a pane to a model.
func outcomeWords(outcome, state string, pattern *int) string {
	if pattern != nil && *pattern > 0 {
		return outcome + " by pattern " + strconv.Itoa(*pattern)
	}
	switch outcome {
	case outcomeState:
		return state
	case outcomeAnyOutput:
		return "new output"
	case outcomeBell:
		return "bell rang"
	case outcomeGone:
		return "is gone"
	}
	return strings.ReplaceAll(outcome, "_", " ")
}

func (r *searchPanesResult) view() view {
	var v view
	v.fact("%s", count(r.TotalPanesMatched, "pane"))
	v.factIf(r.ScrolledOff, "not on the screens: scrolled off")
	v.factIf(r.TotalPanesMatched == 0 && r.above > 0, "on the screens and in %d lines above", r.above)
	v.factIf(r.TotalPanesMatched == 0 && r.screens, "on the screens: content_start=-10000 searches what scrolled off too")
	v.factIf(len(r.TruncatedPanes) > 0, "after this page %s: offset=%d", joined(r.TruncatedPanes), r.Offset+len(r.Matches))
	v.factIf(r.Truncated && len(r.TruncatedPanes) == 0, "of some panes only the last lines: max_matched_lines_per_pane")
	v.more, v.head = "limit and offset, or max_matched_lines_per_pane", true
	for _, m := range r.Matches {
		where := strings.TrimSpace(legible(fmt.Sprintf("%s %s %s", m.PaneID, named("", or(m.SessionName, string(m.SessionID)), " "), named("", or(m.PaneCurrentCommand, ""), " ")), ""))
		if len(m.Context) > 0 {
			v.lines = append(v.lines, where)
		} else {
			for i, l := range m.MatchedLines {
				v.lines = append(v.lines, fmt.Sprintf("%s\t%d:%s", where, m.MatchedRows[i], l))
				where = string(m.PaneID)
			}
		}
		for _, l := range m.Context {
			if l.apart {
				v.lines = append(v.lines, "--")
			}
			mark := "-"
			if l.Match {
				mark = ":"
			}
			v.lines = append(v.lines, strconv.Itoa(l.Row)+mark+l.Line)
		}
	}
	v.factIf(len(r.Jobs) > 0, "%s", count(len(r.Jobs), "job"))
	v.factIf(r.JobsUnsearched > 0, "no time for %s: name a pane", count(r.JobsUnsearched, "job"))
	for _, j := range r.Jobs {
		more := ""
		if j.cut {
			more = fmt.Sprintf(", the last of %d matches", j.Matches)
		}
		v.lines = append(append(v.lines, fmt.Sprintf("job %s %s%s: %s", j.JobID, j.PaneID, more, oneLine(j.Command))), j.Lines...)
	}
	return v
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func joined[T ~string](items []T) string {
	texts := make([]string, len(items))
	for i, s := range items {
		texts[i] = string(s)
	}
	return strings.Join(texts, ",")
}

func (b bufferContent) view() view {
	v := raw(strings.TrimSuffix(b.Content, "\n"))
	v.fact("%s", b.BufferName)
	v.factIf(b.ContentTruncated, "%d lines above left out", b.ContentTruncatedLines)
	v.factIf(!strings.HasSuffix(b.Content, "\n"), "no newline at its end")
	v.more = "paste it into a file: a result holds no more"
	return v
}

func (l hookList) view() view {
	var v view
	v.fact("%s", count(len(l.Entries), "hook"))
	v.factIf(l.Target != nil, "of %s", or(l.Target, ""))
	v.head = true
	for _, e := range l.Entries {
		name := e.HookName
		if e.Index != nil {
			name += "[" + strconv.Itoa(*e.Index) + "]"
		}
		v.lines = append(v.lines, name+" "+oneLine(e.Command))
	}
	return v
}

func (o optionInfo) view() view {
	var v view
	v.fact("%s", o.Option)
	switch value := o.Value.v.(type) {
	case string:
		v.lines = strings.Split(value, "\n")
	case map[string]string:
		for _, i := range slices.Sorted(maps.Keys(value)) {
			v.lines = append(v.lines, i+" "+oneLine(value[i]))
		}
	}
	switch {
	case o.Scope == nil:
		v.fact("not set")
	case o.Inherited:
		v.fact("inherited from %s", *o.Scope)
	default:
		v.fact("%s", *o.Scope)
	}
	v.factIf(o.Target != nil, "asked for %s", or(o.Target, ""))
	return v
}

func (o optionSet) view() view {
	v := o.optionInfo.view()
	v.facts[0] += " " + o.Status
	return v
}

func (e environmentInfo) view() view {
	var v view
	v.fact("%s", count(len(e.Variables), "variable"))
	v.factIf(e.SessionID != nil, "of session %s", or(e.SessionID, ""))
	v.head = true
	for _, name := range slices.Sorted(maps.Keys(e.Variables)) {
		v.lines = append(v.lines, name+"="+oneLine(e.Variables[name]))
	}
	for _, name := range e.Removed {
		v.lines = append(v.lines, "-"+name)
	}
	return v
}

func (t typedText) view() view {
	if t.Seen == nil {
		return t.addTo(t.paneText.view())
	}
	return t.addTo(t.Seen.view())
}

func (r sendKeysBatchResult) view() view {
	var v view
	v.fact("%d of %d succeeded", r.Succeeded, r.Succeeded+r.Failed)
	v.factIf(r.StoppedAt != nil, "stopped at %d", deref(r.StoppedAt))
	v = r.addTo(v)
	for _, row := range r.Results {
		if row.Error != nil {
			v.lines = append(v.lines, fmt.Sprintf("%d %s: %s", row.Index, deref(row.PaneID), *row.Error))
		}
	}
	if r.Seen != nil {
		seen := r.Seen.view()
		v.facts, v.lines = append(v.facts, seen.facts...), append(v.lines, seen.lines...)
	}
	return v
}

// view shows each result below a line with its number of lines, so that the contents of a
// pane cannot be taken for the next result.
func (b batchResult) view() view {
	var v view
	v.fact("%d of %d succeeded", b.Succeeded, b.Succeeded+b.Failed)
	v.factIf(b.StoppedAt != nil, "stopped at %d", deref(b.StoppedAt))
	for _, row := range b.Results {
		lines := strings.Split(row.text(), "\n")
		failed := ""
		if !row.Success {
			failed = " failed"
		}
		v.lines = append(v.lines, fmt.Sprintf("== %s%s, %s", legible(row.Tool, ""), failed, count(len(lines), "line")))
		v.lines = append(v.lines, lines...)
	}
	return v
}
