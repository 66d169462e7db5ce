package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// TestAnswersAgeByTheMonotonicClock: a clock that is set back lengthens no answer's life. What
// a state holds is compared with the process's own clock, which nobody sets.
func TestAnswersAgeByTheMonotonicClock(t *testing.T) {
	t.Parallel()
	q := NewQuestions()
	if !strings.Contains(q.began.String(), " m=") {
		t.Fatalf("%v has no monotonic reading", q.began)
	}
	asker := q.Of("send_keys", nil, mcp.MultiRoundTripParams{}, nil)
	answer := func(state string) error {
		answers := mcp.MultiRoundTripParams{RequestState: state, InputResponses: mcp.InputResponses{askID: {Elicitation: &mcp.ElicitationResult{}}}}
		return q.Of("send_keys", nil, answers, nil).Check()
	}
	late, inTime := asker.stateOf("ask"), asker.stateOf("ask")
	if err := answer(inTime); err != nil {
		t.Errorf("in time: %v", err)
	}
	if err := answer(inTime); err == nil {
		t.Error("it counts twice")
	}
	q.began = q.began.Add(-q.Stands) // the process is so much older now
	if err := answer(late); err == nil {
		t.Error("late: it counts")
	}
	if used := len(q.used); used != 0 {
		t.Errorf("%d expired states are kept", used)
	}
	// Time goes on by the difference of two monotonic readings, so these see no wall clock.
	q.began = time.Now()
	if err := answer(asker.stateOf("ask")); err != nil {
		t.Errorf("again in time: %v", err)
	}
}
