package screen

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/follow"
)

// A cursor of capture_since is at least 350 bytes long, which a model would have to read
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

// kept is a short cursor and what it stands for. same is equal for cursors between which
// nothing has changed and nothing was typed.
type kept struct {
	short, same string
	at          Bookmark
}

// Beyond these limits, the oldest cursors are forgotten.
const (
	maxCursors     = 1000
	maxCursorBytes = 4 << 20
)

// Serve gives clients short cursors from now on, for a server that keeps running.
func (r *Reader) Serve() { r.cursors = &cursors{run: strings.ToLower(rand.Text()[:4])} }

// give returns a short cursor: an idle pane keeps its own.
func (k *cursors) give(at Bookmark, same string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.kept, func(c kept) bool { return c.same == same }); i >= 0 {
		return k.kept[i].short
	}
	k.last++
	short := fmt.Sprintf("%s.%s.%d", k.run, strings.TrimPrefix(string(at.Mark.Pane), "%"), k.last)
	k.kept = append(k.kept, kept{short, same, at})
	for k.size += len(same); len(k.kept) > maxCursors || k.size > maxCursorBytes; k.kept = k.kept[1:] {
		k.size -= len(k.kept[0].same)
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

// cursorFor returns the cursor from which a later call continues.
func (r *Reader) cursorFor(form reply.Form, at Bookmark) string {
	raw, err := at.Mark.MarshalBinary()
	if err != nil {
		panic(err) // it holds strings and numbers
	}
	raw = append(raw, at.above.bytes()...)
	flag := byte(0)
	if at.prompt {
		flag = 1
	}
	raw = append(raw, flag)
	if r.cursors != nil && form.Results == reply.ResultsText {
		return r.cursors.give(at, fmt.Sprint(string(raw), at.line))
	}
	raw = append(raw, stamped(at.at)...)
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

// splitCursor returns the run and the pane of a short cursor or, for a cursor of a server
// that stores none, its pane and its contents; nothing if it is invalid.
func splitCursor(given string) (run string, pane tmux.PaneID, at Bookmark) {
	parts := strings.Split(given, ".")
	if len(parts) == 3 && len(parts[0]) == 4 {
		pane = tmux.PaneID("%" + parts[1])
		if _, err := strconv.Atoi(parts[2]); err == nil && pane.Valid() {
			return parts[0], pane, at
		}
	}
	const flag = 4 * len(rowsAbove{}) // where it is behind the mark
	raw, err := base64.RawURLEncoding.DecodeString(given)
	end := len(raw) - flag - 1 - stampSize
	mark := new(follow.Mark)
	if err != nil || end < 0 || raw[end+flag] > 1 || mark.UnmarshalBinary(raw[:end]) != nil {
		return "", "", at
	}
	rest := raw[end:]
	return "", mark.Pane, Bookmark{Mark: mark, prompt: rest[flag] == 1, above: rowsAboveOf(rest), at: timeOf(rest[flag+1:])}
}

// clock is what times in cursors count from: the wall clock may be set, and times are compared
// with those in the ledger of this process. A time of another process is before all of them.
var clock = sync.OnceValue(func() (c struct {
	began time.Time
	run   [8]byte
}) {
	c.began = time.Now()
	rand.Read(c.run[:])
	return c
})

// stampSize is the size of a time in a cursor.
const stampSize = 8 + 8

func stamped(t time.Time) []byte {
	c := clock()
	return binary.LittleEndian.AppendUint64(c.run[:], uint64(t.Sub(c.began)))
}

func timeOf(stamp []byte) time.Time {
	c := clock()
	if [8]byte(stamp) != c.run {
		return time.Time{}
	}
	return c.began.Add(time.Duration(binary.LittleEndian.Uint64(stamp[8:])))
}
