package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// notices are the lines that tmux printed during a call besides its output: see
// [tmux.WithNotices].
type notices struct {
	mu    sync.Mutex
	lines []string
	more  int
}

// mostNotices is the number of lines shown, and mostNotice the bytes of each.
const (
	mostNotices = 5
	mostNotice  = 200
)

func (n *notices) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(text) {
		line = head(strings.TrimSpace(line), mostNotice)
		switch {
		case line == "" || slices.Contains(n.lines, line):
		case len(n.lines) == mostNotices:
			n.more++
		default:
			n.lines = append(n.lines, line)
		}
	}
}

// text returns what a model reads of them; "" if there are none.
func (n *notices) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lines) == 0 {
		return ""
	}
	text := "besides, tmux printed (its configuration, or a hook): " + strings.Join(n.lines, "; ")
	if n.more > 0 {
		text += fmt.Sprintf("; and %d lines more", n.more)
	}
	return text
}
