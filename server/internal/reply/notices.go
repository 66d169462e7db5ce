package reply

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"tmuxmcp/tmux"
)

// Notices are what a call has to say besides its output: notes, and the lines that tmux
// printed, see [tmux.WithNotices].
type Notices struct {
	mu    sync.Mutex
	notes []Words
	lines []Words
	more  int
	meta  map[string]any
}

// mostNotices is the number of lines shown, and mostNotice the bytes of each.
const (
	mostNotices = 5
	mostNotice  = 200
)

// Add adds lines that tmux printed, each once.
func (n *Notices) Add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(text) {
		line := Named(Head(strings.TrimSpace(line), mostNotice), ";")
		switch {
		case line == "" || slices.Contains(n.lines, line):
		case len(n.lines) == mostNotices:
			n.more++
		default:
			n.lines = append(n.lines, line)
		}
	}
}

func (n *Notices) note(text Words) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.notes, text) {
		n.notes = append(n.notes, text)
	}
}

// noticesKey is the key of a call's notices in its context.
type noticesKey struct{}

// WithNotices returns a context in which [Note], and what tmux prints, adds to notices.
func WithNotices(ctx context.Context, n *Notices) context.Context {
	return tmux.WithNotices(context.WithValue(ctx, noticesKey{}, n), n.Add)
}

// Note adds a note to what the call has to say besides its output: see [Say].
func Note(ctx context.Context, format Words, args ...any) {
	if n, ok := ctx.Value(noticesKey{}).(*Notices); ok {
		n.note(Say(format, args...))
	}
}

// Mark adds a fact for programs, which JSON has in _meta.
func Mark(ctx context.Context, name string, value any) {
	if n, ok := ctx.Value(noticesKey{}).(*Notices); ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.meta == nil {
			n.meta = map[string]any{}
		}
		n.meta[name] = value
	}
}

// Text returns what a model reads of them; "" if there are none.
func (n *Notices) Text() Words {
	n.mu.Lock()
	defer n.mu.Unlock()
	facts := slices.Clone(n.notes)
	if len(n.lines) > 0 {
		printed := "besides, tmux printed (its configuration, or a hook): " + Listed(n.lines, "; ")
		if n.more > 0 {
			printed += Say("; and %s more", Count(n.more, "line"))
		}
		facts = append(facts, printed)
	}
	return Listed(facts, ", ")
}

// Meta returns what a program reads of them, by name; nil if there is nothing.
func (n *Notices) Meta() map[string]any {
	text := n.Text()
	n.mu.Lock()
	defer n.mu.Unlock()
	meta := maps.Clone(n.meta)
	if text != "" {
		if meta == nil {
			meta = map[string]any{}
		}
		meta["notice"] = Legible(string(text), "")
	}
	return meta
}
