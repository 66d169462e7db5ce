package ledger

import (
	"fmt"
	"testing"
	"time"
)

// TestVerdicts is the table of rules 2 to 4 of docs/design.md.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const no, half, empty = NoPrompt, HalfTyped, EmptyPrompt
	for _, row := range []struct {
		name                       string
		typed, submitted, atPrompt bool
		prompt                     Prompt
		reported, foreign          bool
		want                       Verdict
	}{
		{"a command runs", true, true, true, no, false, false, Runs},
		{"a command has ended, seen running or not", true, true, true, empty, false, false, Ended},
		{"the shell waits for the rest of a command", true, true, true, half, false, false, Runs},
		{"an end that was reported is not reported again", true, true, true, empty, true, false, Nothing},
		{"after a report, a prompt's own program or the user's is not the wait's", true, true, true, empty, true, true, Nothing},
		{"text without Enter begins nothing", true, false, true, empty, false, false, Nothing},
		{"text without Enter stands at the prompt", true, false, true, half, false, false, Nothing},
		{"a program that got keys runs", true, false, false, no, false, true, Runs},
		{"a program that got keys has ended", true, false, false, empty, false, true, Ended},
		{"a line for a program, such as exit, ended it", true, true, false, empty, false, false, Ended},
		{"the user's program, which ran when the wait began", false, false, false, no, false, true, Runs},
		{"it has ended", false, false, false, empty, false, true, Ended},
		{"the user's program began later", false, false, false, no, false, false, Nothing},
		{"and has ended", false, false, false, empty, false, false, Nothing},
		{"nothing was typed, and nothing runs", false, false, false, half, false, false, Nothing},
	} {
		f := Facts{row.typed, row.submitted, row.atPrompt, row.prompt, row.reported, row.foreign}
		if got := f.Verdict(); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

// TestLinesAddUp: what was typed counts until its end is reported, and a report is only about
// what was typed before it.
func TestLinesAddUp(t *testing.T) {
	t.Parallel()
	var l Ledger
	at, other := Pane{"s", "%1", 7}, Pane{"s", "%1", 8}
	start := time.Now()
	first := l.Typed(at, Line{Began: start, Submitted: start, AtPrompt: true, Prompt: "$ "}, 3)
	second := l.Typed(at, Line{Began: start.Add(1)}, 3)
	line, known := l.Of(at)
	if !known || line.Began != start || line.Submitted != start || line.AtPrompt || line.Prompt != "$ " || line.Number() != second {
		t.Errorf("%+v", line)
	}
	l.Report(at, first)
	if line, _ := l.Of(at); line.Reported {
		t.Error("a report about the first is about the second")
	}
	l.Report(at, second)
	if line, _ := l.Of(at); !line.Reported {
		t.Error("not reported")
	}
	third := l.Typed(at, Line{Began: start.Add(2), AtPrompt: true}, 3)
	if line, _ := l.Of(at); line.Reported || !line.Submitted.IsZero() || line.Began != start.Add(2) || !line.AtPrompt {
		t.Errorf("after a report: %+v", line)
	}
	l.Runs(at, second, "another")
	l.Runs(at, third, "job")
	if line, _ := l.Of(at); line.Job != "job" {
		t.Errorf("%+v", line)
	}
	if _, known := l.Of(other); known {
		t.Error("another program in the pane has the line")
	}
	if l.Forget(at); len(l.lines) != 0 {
		t.Errorf("%d lines", len(l.lines))
	}
	for i := range mostPanes + 10 {
		l.Typed(Pane{"s", fmt.Sprint("%", i), 1}, Line{}, 0)
	}
	if _, known := l.Of(Pane{"s", "%9", 1}); known || len(l.lines) != mostPanes {
		t.Errorf("%d panes, the first is known: %t", len(l.lines), known)
	}
}
