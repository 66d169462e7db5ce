package watch

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/cells"
	"tmuxmcp/server/internal/agents"
	"tmuxmcp/tmux"
)

var update = flag.Bool("update", false, "write testdata/screens.txt")

// seven are agents that do all there is to do, some in places and with questions of wide characters.
func seven(now time.Time) (all []*agent) {
	for i, a := range []struct {
		session, name, version string
		state                  agents.State
		question               string
		since                  time.Duration
	}{
		{"api", "claude", "2.1.177", agents.Working, "", 3 * time.Second},
		{"api", "codex", "0.171.0", agents.Asks, "Would you like to run the following command?\n$ git push origin main --force-with-lease", 42 * time.Second},
		{"網站", "gemini", "0.47.0", agents.Working, "", 5 * time.Minute},
		{"網站", "claude", "2.1.177", agents.Asks, "確定要刪除 🗑 這個檔案嗎？ build/輸出/日本語のファイル名.txt 元に戻せません", 2 * time.Hour},
		{"infra", "opencode", "1.17.4", agents.Idle, "", 26 * time.Minute},
		{"infra", "aider", "", agents.Unknown, "", time.Second},
		{"infra", "qwen", "0.9.1", agents.Ended, "", 3 * time.Hour},
	} {
		s := agents.Agent{Program: agents.Program{Name: a.name, Version: a.version}, Status: agents.Status{State: a.state, Question: a.question}}
		s.ID, s.Session, s.Window = tmux.PaneID(fmt.Sprint("%", i)), a.session, i
		all = append(all, &agent{Agent: s, state: a.state, question: a.question, since: now.Add(-a.since)})
	}
	return all
}

// TestScreens: what terminals of several sizes show.
func TestScreens(t *testing.T) {
	t.Parallel()
	now := time.Now()
	// Without one that asks first, a single line is the summary.
	three := func(w *watcher) { w.agents = slices.Concat(w.agents[2:3], w.agents[4:6]) }
	var got strings.Builder
	for _, c := range []struct {
		width, height int
		last          string
		with          func(w *watcher)
	}{
		{30, 24, "", nil}, {50, 24, "", nil}, {80, 24, "", nil}, {120, 24, "", nil},
		{20, 24, "", nil}, {10, 24, "", nil}, {50, 5, "", nil}, {50, 2, "", nil}, {50, 1, "", nil},
		{50, 10, "tmux-mcp: --exec for pane %3: exit status 127: sh: 1: notify-sned: not found", nil},
		{50, 4, "tmux-mcp: --exec for pane %3: exit status 127: sh: 1: notify-sned: not found", nil},
		{39, 1, "", three}, {38, 1, "", three}, {26, 1, "", three}, {25, 1, "", three}, {10, 1, "", three}, {9, 1, "", three},
		{50, 24, "", func(w *watcher) { w.agents = nil }},
		{50, 1, "", func(w *watcher) { w.agents = w.agents[:1] }},
		{50, 24, "", func(w *watcher) { w.agents, w.down = nil, noServer }},
		{30, 24, "", func(w *watcher) { w.agents = w.agents[:1] }},
	} {
		w := &watcher{agents: seven(now)}
		if c.with != nil {
			c.with(w)
		}
		lines := w.lines(now, c.width, c.height, c.last)
		got.WriteString(strings.Join(append([]string{"== " + fmt.Sprint(c.width, "x", c.height)}, lines...), "\n") + "\n")
		if len(lines) > c.height {
			t.Errorf("%dx%d: %d lines", c.width, c.height, len(lines))
		}
		for _, line := range lines {
			if n := cells.Width(line); n > c.width {
				t.Errorf("%dx%d: %d columns: %s", c.width, c.height, n, line)
			}
		}
		w.Color = true
		if colored := strings.Join(w.lines(now, c.width, c.height, c.last), "\n"); uncolored(colored) != strings.Join(lines, "\n") {
			t.Errorf("%dx%d: in color it is\n%s", c.width, c.height, colored)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/screens.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/screens.txt")
	if err != nil || got.String() != string(want) {
		t.Errorf("the screens are (-update writes them down)\n%s", got.String())
	}
}

func uncolored(text string) string {
	for _, color := range colors {
		text = strings.ReplaceAll(text, "\033["+color+"m", "")
	}
	return strings.ReplaceAll(text, "\033[0m", "")
}
