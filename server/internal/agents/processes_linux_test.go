package agents

import (
	"slices"
	"testing"
)

// The program that started the others is the pane's, with all processes that run it.
func TestTopmost(t *testing.T) {
	t.Parallel()
	parent := map[int]int{9: 1, 10: 9, 11: 10, 12: 11, 20: 9, 8: 20}
	for _, c := range []struct {
		programs map[int]Program
		name     string
		version  string
		pids     []int
	}{
		{map[int]Program{10: {Name: "claude"}, 11: {Name: "codex", Version: "1.0.0"}}, "claude", "", []int{10}},
		{map[int]Program{10: {Name: "codex"}, 12: {Name: "codex", Version: "0.1.0"}}, "codex", "0.1.0", []int{10, 12}},
		{map[int]Program{12: {Name: "codex"}, 20: {Name: "claude"}}, "codex", "", []int{12}},
		{map[int]Program{8: {Name: "codex"}, 20: {Name: "claude"}}, "claude", "", []int{20}}, // numbers wrap
	} {
		if top := topmost(c.programs, parent); top.Name != c.name || top.Version != c.version || !slices.Equal(top.PIDs, c.pids) {
			t.Errorf("of %+v: %+v", c.programs, top)
		}
	}
}
