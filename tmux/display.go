package tmux

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Display expands a format for the server as a whole. Session, window and pane tokens are
// those of the most recently used objects, if there are any. Percent signs are kept, so the
// modifier #{t/f/…} works only with the Display of other objects.
func (s *Server) Display(ctx context.Context, format Format) (string, error) {
	return display(ctx, s, format, DisplayMessage{}, "", "")
}

// Display expands a format for the session. It fails with [ErrNotFound] if that is gone.
func (r SessionRef) Display(ctx context.Context, format Format) (string, error) {
	list := ListSessions{Filter: MatchEqual("session_id", string(r.ID))}
	return display(ctx, r.srv, format, list, "session_id", string(r.ID))
}

// Display expands a format for the window, in a session it is linked to. It fails with
// [ErrNotFound] if the window is gone.
func (r WindowRef) Display(ctx context.Context, format Format) (string, error) {
	return display(ctx, r.srv, format, r.self(), "window_id", string(r.ID))
}

// Display expands a format for the pane. It fails with [ErrNotFound] if the pane is gone.
func (r PaneRef) Display(ctx context.Context, format Format) (string, error) {
	return display(ctx, r.srv, format, r.self(), "pane_id", string(r.ID))
}

// Display expands a format for the client and the session, window and pane it shows. It
// fails with [ErrNotFound] if the client is gone.
func (r ClientRef) Display(ctx context.Context, format Format) (string, error) {
	return display(ctx, r.srv, format, ListClients{}, "client_name", r.Name)
}

// visSafe returns a format that doubles the backslashes in f's expansion, to tell them from
// those that tmux adds when it prints.
func visSafe(f Format) Format { return `#{s/\\/\\\\/:` + nested(f) + "}" }

// display expands a format for the object in a list whose token has the given value or,
// without a token, for the server. display-message would not do: if the object is gone it
// expands the format with empty values, and for a window in several sessions it may use the
// current window of another session.
func display(ctx context.Context, s *Server, format Format, list Lister, token, value string) (string, error) {
	v, err := s.Version(ctx)
	if err != nil {
		return "", err
	}
	wrapped := format
	if v.printsVis() {
		wrapped = visSafe(format)
	}
	// The value may contain newlines, so both its ends are marked.
	d := s.newDelimiter()
	head := Format(d.begin())
	if token != "" {
		head += Format("#{q:" + token + "}" + string(fieldEnd))
	}
	cmd, scopes := list.rows(head + wrapped + Format(d.end()))
	if token == "" {
		scopes = []Scope{ServerScope}
	}
	if err := checkScoped(format, scopes, v); err != nil {
		return "", fmt.Errorf("%s: %w", list.commandName(), err)
	}
	out, err := s.output(ctx, cmd)
	if err != nil {
		return "", err
	}
	for row := range bytes.SplitSeq(out, []byte(d.end()+"\n")) {
		other, text, found := strings.Cut(string(row), d.begin())
		notice(ctx, other)
		if !found {
			continue
		}
		if token != "" {
			id, rest, err := cutValue(text, v, d.begin())
			if err != nil || id != value {
				continue
			}
			text = rest
		}
		if v.printsVis() {
			text = unescape(text, v.isExactly34())
		}
		return text, nil
	}
	kind, _, _ := strings.Cut(token, "_")
	return "", notFound(s, list.commandName(), Object{kind, value})
}

// checkScoped refuses formats that are not safe on tmux 3.2a: see [Token.Scoped].
func checkScoped(format Format, scopes []Scope, v Version) error {
	if strayTokens.In(v) {
		return nil
	}
	for _, t := range tokenTable() {
		if t.Scoped && !slices.Contains(scopes, t.Scope) && strings.Contains(string(format), t.Name) {
			return &UnsupportedError{What: "#{" + t.Name + "} here", Since: strayTokens.Since, Have: v}
		}
	}
	return nil
}

// nested returns the format that expands inside another one as f does at the top level,
// where an unmatched closing brace, or a "#" at the end, stands for itself. It begins with
// an inner format; otherwise tmux would take it for a token or a condition.
func nested(f Format) Format {
	var b strings.Builder
	b.WriteString("#{?1,,}")
	depth := 0
	for i := 0; i < len(f); i++ {
		c := f[i]
		switch {
		case c == '#' && i+1 < len(f) && strings.IndexByte(",#{}:", f[i+1]) >= 0:
			if f[i+1] == '{' {
				depth++
			}
			b.WriteByte(c)
			i++
			c = f[i]
		case c == '#' && i+1 == len(f):
			b.WriteByte('#')
		case c == '}' && depth == 0:
			b.WriteByte('#')
		case c == '}':
			depth--
		}
		b.WriteByte(c)
	}
	return Format(b.String())
}
