package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux/tmuxtest"
)

// No list of commands that a search sends holds tmux for long, whatever is on the
// screens and looked for: others are served in between.
func TestSearchHoldsTmuxShortly(t *testing.T) {
	const most = 100 * time.Millisecond
	panes := testtool.Size(30, 60)
	srv := tmuxtest.New(t)
	// Plain screens, and cells that are long to read.
	dir := t.TempDir()
	for name, cell := range map[string]string{"plain": "a", "accents": "a\u0301\u0301\u0301\u0301\u0301\u0301"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat(cell, 200*100)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range panes {
		args := []string{"-d", "-x", "200", "-y", "100"}
		command, screen := "new-session", "plain"
		if i == 1 || i/10 == 1 {
			screen = "accents"
		}
		if i > 0 {
			command, args = "new-window", []string{"-d"}
		}
		tmuxtest.Run(t, srv, command, append(args, fmt.Sprintf("cat %s/%s; exec sleep 1000", dir, screen))...)
	}
	for i := range panes {
		pane := fmt.Sprint("%", i)
		tmuxtest.Wait(t, srv, pane, "full screen", func() bool {
			return strings.TrimSpace(tmuxtest.Run(t, srv, "capture-pane", "-p", "-t", pane, "-S", "99", "-E", "99")) != ""
		})
	}
	pid := tmuxtest.Run(t, srv, "display-message", "-p", "#{pid}")
	used := func() time.Duration {
		text, err := os.ReadFile("/proc/" + pid + "/schedstat")
		if err != nil {
			t.Error("read how long tmux was busy: ", err)
			return 0
		}
		n, _ := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		return time.Duration(n)
	}
	var mu sync.Mutex
	var lists []time.Duration // what tmux had had at the beginning of each
	cfg := configFor(srv)
	relayedTmux(t, &cfg, func() {
		mu.Lock()
		defer mu.Unlock()
		lists = append(lists, used())
	})
	p := serve(t, cfg)
	for _, c := range []struct {
		pattern, more string
		want          int
	}{
		{"aaaaaaaaaaaaaaaax", "", 0},
		{"AAAAAAAAAAAAAAAb", `,"match_case":true`, 0},
		{"aaaaaaaa", "", panes - 11},
		{"a+a+a+x", `,"regex":true`, 0},
		{"zzz", `,"content_start":-2000`, 0},
	} {
		mu.Lock()
		lists = nil
		mu.Unlock()
		got := search(p, c.pattern, c.more+`,"max_matched_lines_per_pane":1`)
		mu.Lock()
		begins := append(lists, used())
		mu.Unlock()
		var longest time.Duration
		for i, at := range begins[1:] {
			longest = max(longest, at-begins[i])
		}
		t.Logf("%.20q%s: %d lists, %v together, %v the longest", c.pattern, c.more, len(begins)-1, begins[len(begins)-1]-begins[0], longest)
		if longest > most {
			t.Errorf("%q%s: one list held tmux for %v", c.pattern, c.more, longest)
		}
		if got.Total != c.want {
			t.Errorf("%q%s is found in %d panes, want %d", c.pattern, c.more, got.Total, c.want)
		}
	}
}
