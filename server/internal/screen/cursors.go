package screen

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// A cursor of capture_since is at least 280 bytes long, which a model would have to read
// and repeat each time. So a server that keeps running stores it, and gives the client a
// short one: the name of this server run, the number of the pane, and the number of the
// cursor.
//
//	k3f9.7.12

// cursors are the cursors given out.
type cursors struct {
	run string

	mu   sync.Mutex
	last int
	kept []kept // the oldest first
	size int
}

// kept is a short cursor, and what it stands for in both forms.
type kept struct {
	short, long string
	at          Bookmark
}

// Beyond these limits, the oldest cursors are forgotten.
const (
	maxCursors     = 1000
	maxCursorBytes = 4 << 20
)

// Serve gives clients short cursors from now on, as the server goes on.
func (r *Reader) Serve() { r.cursors = &cursors{run: strings.ToLower(rand.Text()[:4])} }

// give returns a short cursor for a long one: an idle pane keeps its cursor.
func (k *cursors) give(at Bookmark, long string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.kept, func(c kept) bool { return c.long == long }); i >= 0 {
		return k.kept[i].short
	}
	k.last++
	short := fmt.Sprintf("%s.%s.%d", k.run, strings.TrimPrefix(string(at.Mark.Pane), "%"), k.last)
	k.kept = append(k.kept, kept{short, long, at})
	for k.size += len(long); len(k.kept) > maxCursors || k.size > maxCursorBytes; k.kept = k.kept[1:] {
		k.size -= len(k.kept[0].long)
	}
	return short
}

// bookmark returns what a cursor stands for, or the zero bookmark.
func (k *cursors) bookmark(short string) Bookmark {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.kept, func(c kept) bool { return c.short == short }); i >= 0 {
		return k.kept[i].at
	}
	return Bookmark{}
}

// cursorFor returns the cursor from which a later call continues. prompt reports whether
// the look found a shell at its prompt.
func (r *Reader) cursorFor(form reply.Form, l *tmux.Look, prompt bool) string {
	at := Bookmark{Mark: l.Mark(), prompt: prompt}
	raw, err := at.Mark.MarshalBinary()
	if err != nil {
		panic(err) // it holds strings and numbers
	}
	flag := byte(0)
	if prompt {
		flag = 1
	}
	raw = append(raw, flag)
	if r.cursors != nil && form.Results == reply.ResultsText {
		return r.cursors.give(at, string(raw))
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// BookmarkOf returns what a short or long cursor stands for.
func (r *Reader) BookmarkOf(given string) (Bookmark, error) {
	run, pane, at := splitCursor(given)
	k := r.cursors
	if run != "" && k != nil {
		at = k.bookmark(given)
	}
	switch {
	case at.Mark != nil:
		return at, nil
	case run == "":
		return at, invalidCursor("it is not one that this server gave", "")
	case k != nil && run == k.run:
		return at, invalidCursor("it is too old, and forgotten", pane)
	}
	return at, invalidCursor("it is of an earlier run of this server", pane)
}

// PaneOfCursor returns the pane of a cursor, or "" if it is invalid.
func PaneOfCursor(given string) tmux.PaneID {
	_, pane, _ := splitCursor(given)
	return pane
}

func invalidCursor(reason string, pane tmux.PaneID) *reply.Fault {
	with := "without a cursor"
	if pane != "" {
		with = "with pane_id " + string(pane) + " and " + with
	}
	return reply.Faultf(reply.KindValidation, "invalid capture_since cursor: %s", reason).Suggest("call capture_since %s to begin again", with)
}

// splitCursor returns the run and the pane of a short cursor, or the pane of one from a
// server that stores none and what it holds. An invalid cursor has nothing.
func splitCursor(given string) (run string, pane tmux.PaneID, at Bookmark) {
	parts := strings.Split(given, ".")
	if len(parts) == 3 && len(parts[0]) == 4 {
		pane = tmux.PaneID("%" + parts[1])
		if _, err := strconv.Atoi(parts[2]); err == nil && pane.Valid() {
			return parts[0], pane, at
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(given)
	end := len(raw) - 1
	mark := new(tmux.Mark)
	if err != nil || end < 0 || raw[end] > 1 || mark.UnmarshalBinary(raw[:end]) != nil {
		return "", "", at
	}
	return "", mark.Pane, Bookmark{Mark: mark, prompt: raw[end] == 1}
}
