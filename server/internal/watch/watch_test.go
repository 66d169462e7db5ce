package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tmuxmcp/server/internal/agents"
)

// TestSees: a state, or another question, counts once two looks have seen it.
func TestSees(t *testing.T) {
	t.Parallel()
	for looks, want := range map[string]string{
		"idle idle":                               "0 idle",
		"idle working idle working":               "",
		"idle idle working idle idle":             "0 idle",
		"idle idle working working working":       "0 idle, 2 working",
		"idle idle asks:a asks:a asks:b asks:b":   "0 idle, 2 asks:a, 5 asks:b",
		"idle idle asks:a asks:b asks:c asks:d":   "0 idle, 2 asks:b",
		"asks:a asks:a unknown unknown asks:a":    "0 asks:a, 2 unknown",
		"asks:a asks:a idle asks:a asks:a asks:a": "0 asks:a",
	} {
		var a *agent
		var got []string
		start := time.Now()
		for i, look := range strings.Fields(looks) {
			state, question, _ := strings.Cut(look, ":")
			seen := agents.Agent{Status: agents.Status{State: agents.State(state), Question: question}}
			now := start.Add(time.Duration(i) * time.Second)
			if a == nil {
				a = &agent{Agent: seen}
				a.steady.Saw(seen.State, now)
			} else if a.sees(seen, now) {
				got = append(got, strings.TrimSuffix(fmt.Sprintf("%v %s:%s", a.since.Sub(start).Seconds(), a.state, a.question), ":"))
			}
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s, want %s", looks, text, want)
		}
	}
}
