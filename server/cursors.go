package server

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"tmuxmcp/tmux"
)

// A cursor of capture_since is 280 bytes or more, which a model would read and type
// back each time. So a server that runs on keeps it, and gives the client a short one:
// what this run of the server is called, the number of the pane, and that of the cursor.
//
//	k3f9.7.12

// cursors are those that were given out. The zero value gives none.
type cursors struct {
	run string

	mu    sync.Mutex
	last  int
	long  map[string]string // by the short one
	short map[string]string // and back: a pane where nothing happens keeps its cursor
	order []string
	size  int
}

// The oldest cursors are forgotten beyond these.
const (
	maxCursors     = 1000
	maxCursorBytes = 4 << 20
)

func newCursors() *cursors {
	return &cursors{run: strings.ToLower(rand.Text()[:4]), long: map[string]string{}, short: map[string]string{}}
}

// give returns a short cursor for a long one.
func (k *cursors) give(pane tmux.PaneID, long string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if short, ok := k.short[long]; ok {
		return short
	}
	k.last++
	short := fmt.Sprintf("%s.%s.%d", k.run, strings.TrimPrefix(string(pane), "%"), k.last)
	k.long[short], k.short[long] = long, short
	k.order = append(k.order, short)
	k.size += len(long)
	for len(k.order) > maxCursors || k.size > maxCursorBytes {
		old := k.long[k.order[0]]
		delete(k.short, old)
		delete(k.long, k.order[0])
		k.size -= len(old)
		k.order = k.order[1:]
	}
	return short
}

// cursorOf reads a cursor, short or long.
func (c *call) cursorOf(given string) (*captureCursor, error) {
	run, pane, ok := shortCursor(given)
	if !ok {
		return decodeCursor(given)
	}
	var long string
	if k := c.s.cursors; k != nil {
		k.mu.Lock()
		long, ok = k.long[given]
		k.mu.Unlock()
		if ok {
			return decodeCursor(long)
		}
		if run == k.run {
			return nil, invalidCursor("it is too old, and forgotten", pane)
		}
	}
	return nil, invalidCursor("it is of an earlier run of this server", pane)
}

func invalidCursor(reason string, pane tmux.PaneID) *fault {
	with := "without a cursor"
	if pane != "" {
		with = "with pane_id " + string(pane) + " and " + with
	}
	return faultf(kindValidation, "invalid capture_since cursor: %s", reason).suggest("call capture_since %s to begin again", with)
}

// shortCursor takes a short cursor apart.
func shortCursor(s string) (run string, pane tmux.PaneID, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 || len(parts[0]) != 4 {
		return "", "", false
	}
	if _, err := strconv.Atoi(parts[2]); err != nil {
		return "", "", false
	}
	pane = tmux.PaneID("%" + parts[1])
	return parts[0], pane, pane.Valid()
}
