package jobs

import (
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/shell"
)

// Result is the outcome of a command.
type Result struct {
	PaneID tmux.PaneID `json:"pane_id"`
	// JobID is set if get_job has more of it.
	JobID      *string `json:"job_id"`
	State      string  `json:"state" enum:"running,stopped,ended,lost"`
	ExitStatus *int    `json:"exit_status"`
	TimedOut   bool    `json:"timed_out"`
	// PaneGone is set if the pane's program ended before the command.
	PaneGone             bool     `json:"pane_gone"`
	ElapsedSeconds       float64  `json:"elapsed_seconds"`
	Output               []string `json:"output" exact:"true"`
	OutputTruncated      bool     `json:"output_truncated"`
	OutputTruncatedLines int      `json:"output_truncated_lines"`
	// OutputLines is how many lines the command printed, and MatchedLines how many match.
	OutputLines  int  `json:"output_lines"`
	MatchedLines *int `json:"matched_lines"`
	// LinesMissed is set if the output may be incomplete, or differ from the pane.
	LinesMissed      bool         `json:"lines_missed"`
	Note             *reply.Words `json:"note"`
	EffectiveTimeout float64      `json:"effective_timeout"`
	// Reached says what a line has matched, ready or stop, if the call named such.
	Reached     *string `json:"reached"`
	ReachedLine *string `json:"reached_line" exact:"true"`

	detached bool   // the caller wants only the job's id
	line     string // ReachedLine, however long
	unready  bool   // no line has matched ready
}

// View shows the output below what became of the command.
func (r *Result) View() reply.View {
	v := reply.View{Lines: r.Output, Above: r.OutputTruncatedLines, More: "capture_pane with start and end"}
	var job reply.Words
	if r.JobID != nil {
		job = reply.Say(" %s", *r.JobID)
		v.More = "get_job" + job + " with match"
	}
	switch {
	case r.ExitStatus != nil && r.detached:
		v.Fact("%s exit %d: job%s", r.PaneID, *r.ExitStatus, job)
	case r.ExitStatus != nil:
		v.Fact("%s exit %d", r.PaneID, *r.ExitStatus)
	case r.PaneGone:
		v.Fact("%s ended before the command did", r.PaneID)
	case r.State == string(shell.Lost) && r.Note != nil:
		v.Fact("%s lost", r.PaneID)
	case r.State == string(shell.Lost):
		v.Fact("%s lost: the command was killed, its exit status is not known", r.PaneID)
	case r.State == string(shell.Stopped):
		v.Fact("%s stopped: job%s", r.PaneID, job)
	case r.Reached == nil:
		v.Fact("%s still running: job%s", r.PaneID, job)
	case *r.Reached == reachedReady:
		v.Fact("%s ready: job%s", r.PaneID, job)
	default:
		v.Fact("%s stop matched: job%s", r.PaneID, job)
	}
	v.FactIf(r.ExitStatus != nil && r.PaneGone, "the pane's program has ended")
	v.Fact("%s", reply.Elapsed(r.ElapsedSeconds))
	if r.Reached != nil {
		v.Line = r.line
		v.FactIf(r.State != string(shell.Running), "a line matched %s", *r.Reached)
	}
	v.FactIf(r.unready, "no line matched ready")
	v.FactIf(r.MatchedLines != nil, "%d of %s match", reply.Value(r.MatchedLines), reply.Count(r.OutputLines, "line"))
	v.FactIf(r.MatchedLines != nil && *r.MatchedLines == 0 && len(r.Output) > 0, "the last ones are shown")
	v.FactIf(r.LinesMissed, "output may be incomplete, or look different in the pane")
	v.FactIf(r.Note != nil, "%s", reply.Value(r.Note))
	if r.ExitStatus != nil && r.JobID != nil && (r.MatchedLines != nil || r.OutputTruncated) {
		v.Fact("more: %s", v.More)
		v.More = ""
	}
	return v
}
