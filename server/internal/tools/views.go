package tools

import (
	"fmt"
	"strconv"
	"strings"

	"tmuxmcp/server/internal/reply"
)

// Views of the tools' outputs: see [reply.View].

func (s *createdSession) View() reply.View {
	v := reply.RowFacts(s.Session)
	v.Extend("in window %s", s.ActiveWindowID)
	return v
}

func (e evaluated) View() reply.View {
	v := reply.TextView(e.Result)
	v.FactIf(e.PaneID != nil, "%s", reply.Value(e.PaneID))
	return v
}

func (t screenText) View() reply.View {
	v := reply.TextView(t.Result)
	v.Fact("%s", t.PaneID)
	v.FactIf(t.Outside, "%s", t.where())
	v.More = "start and end"
	return v
}

func (s *paneSnapshot) View() reply.View {
	v := reply.TextView(s.Content)
	v.Fact("%s %dx%d cursor %d,%d %s in %s", s.PaneID, s.PaneWidth, s.PaneHeight, s.CursorX, s.CursorY,
		reply.Named(reply.ValueOr(s.PaneCurrentCommand, "-"), " "), reply.Named(reply.ValueOr(s.PaneCurrentPath, "-"), " "))
	v.FactIf(s.AlternateOn, "alternate screen")
	v.FactIf(s.PaneInMode, "in %s", reply.ValueOr(s.PaneMode, "a mode"))
	v.FactIf(reply.Value(s.ScrollPosition) > 0, "scrolled up %d", reply.Value(s.ScrollPosition))
	v.FactIf(s.PaneDead, "dead")
	v.FactIf(s.HistorySize > 0, "history %d", s.HistorySize)
	v.FactIf(reply.Value(s.IsCaller), "your own pane")
	v.FactIf(s.ContentTruncated, "%s above left out", reply.Count(s.ContentTruncatedLines, "line"))
	v.More = "capture_pane with start and end"
	return v
}

func (r *captureSinceResult) View() reply.View {
	v := reply.View{Lines: r.Lines}
	v.Fact("%s cursor %s", r.PaneID, r.Cursor)
	v.FactIf(r.LinesMissed, "lines may have been missed")
	v.FactIf(r.TruncatedLines > 0, "%s before these left out", reply.Count(r.TruncatedLines, "line"))
	v.FactIf(r.TruncatedLines == 0 && r.TruncatedBytes > 0, "%s left out", reply.Count(r.TruncatedBytes, "byte"))
	v.FactIf(len(r.Lines) == 0, "nothing new")
	v.More = "capture_pane with start and end"
	return v
}

func (r *searchPanesResult) View() reply.View {
	var v reply.View
	v.Fact("%s", reply.Count(r.TotalPanesMatched, "pane"))
	v.FactIf(r.ScrolledOff, "not on the screens: scrolled off")
	v.FactIf(r.TotalPanesMatched == 0 && r.above > 0, "on the screens and in %s above", reply.Count(r.above, "line"))
	v.FactIf(r.TotalPanesMatched == 0 && r.screens, "on the screens: content_start=-10000 searches what scrolled off too")
	v.FactIf(len(r.TruncatedPanes) > 0, "after this page %s: offset=%d", reply.Listed(r.TruncatedPanes, ","), r.Offset+len(r.Matches))
	v.FactIf(r.Truncated && len(r.TruncatedPanes) == 0, "of some panes only the last lines: max_matched_lines_per_pane")
	v.More, v.Head = "limit and offset, or max_matched_lines_per_pane", true
	for _, m := range r.Matches {
		where := strings.TrimSpace(reply.Legible(fmt.Sprintf("%s %s %s", m.PaneID, reply.Named(reply.ValueOr(m.SessionName, string(m.SessionID)), " "), reply.Named(reply.ValueOr(m.PaneCurrentCommand, ""), " ")), ""))
		if len(m.Context) > 0 {
			v.Lines = append(v.Lines, where)
		} else {
			for i, l := range m.MatchedLines {
				v.Lines = append(v.Lines, fmt.Sprintf("%s\t%d:%s", where, m.MatchedRows[i], l))
				where = string(m.PaneID)
			}
		}
		for _, l := range m.Context {
			if l.Apart {
				v.Lines = append(v.Lines, "--")
			}
			mark := "-"
			if l.Match {
				mark = ":"
			}
			v.Lines = append(v.Lines, strconv.Itoa(l.Row)+mark+l.Line)
		}
	}
	v.FactIf(len(r.Jobs) > 0, "%s", reply.Count(len(r.Jobs), "job"))
	v.FactIf(r.JobsUnsearched > 0, "no time for %s: name a pane", reply.Count(r.JobsUnsearched, "job"))
	for _, j := range r.Jobs {
		more := ""
		if j.Cut {
			more = fmt.Sprintf(", the last of %d matches", j.Matches)
		}
		v.Lines = append(append(v.Lines, fmt.Sprintf("job %s %s%s: %s", j.JobID, j.PaneID, more, reply.OneLine(j.Command))), j.Lines...)
	}
	return v
}

func (b bufferContent) View() reply.View {
	v := reply.TextView(strings.TrimSuffix(b.Content, "\n"))
	v.Fact("%s", b.BufferName)
	v.FactIf(b.ContentTruncated, "%s above left out", reply.Count(b.ContentTruncatedLines, "line"))
	v.FactIf(!strings.HasSuffix(b.Content, "\n"), "no newline at its end")
	v.More = "paste it into a file: a result holds no more"
	return v
}

func (r sendKeysBatchResult) View() reply.View {
	var v reply.View
	v.Fact("%d of %d succeeded", r.Succeeded, r.Succeeded+r.Failed)
	v.FactIf(r.StoppedAt != nil, "stopped at %d", reply.Value(r.StoppedAt))
	v = r.AddTo(v)
	for _, row := range r.Results {
		if row.Error != nil {
			v.Lines = append(v.Lines, fmt.Sprintf("%d %s: %s", row.Index, reply.Value(row.PaneID), *row.Error))
		}
		if len(row.Tail) > 0 && row.seen != r.Seen {
			v.Lines = append(append(v.Lines, string(reply.Say("[%d %s, %s]", row.Index, reply.Value(row.PaneID), reply.Count(len(row.Tail), "line")))), row.Tail...)
		}
	}
	if r.Seen != nil {
		v.Append(r.Seen.View())
	}
	return v
}
