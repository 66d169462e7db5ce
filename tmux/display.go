package tmux

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Display expands a format for the server as a whole. Session, window and pane tokens have the
// values of the most recently used ones, if there are any. Percent signs are kept, so the modifier
// #{t/f/…} works only with the Display of other objects.
func (s *Server) Display(ctx context.Context, format Format) (string, error) {
	return s.display(ctx, format, shown{cmd: DisplayMessage{}, scopes: []Scope{ServerScope}})
}

// Display expands a format for the session. It fails with [ErrNotFound] if the session is gone.
func (r SessionRef) Display(ctx context.Context, format Format) (string, error) {
	return r.srv.display(ctx, format, shown{
		cmd: ListSessions{Filter: MatchEqual("session_id", string(r.ID))}, scopes: paneScopes,
		token: "session_id", value: string(r.ID),
	})
}

// Display expands a format for the window, in a session it is linked to. It fails with
// [ErrNotFound] if the window is gone.
func (r WindowRef) Display(ctx context.Context, format Format) (string, error) {
	return r.srv.display(ctx, format, shown{
		cmd: ListWindows{Target: r, Filter: MatchEqual("window_id", string(r.ID))}, scopes: paneScopes,
		token: "window_id", value: string(r.ID),
	})
}

// Display expands a format for the pane. It fails with [ErrNotFound] if the pane is gone.
func (r PaneRef) Display(ctx context.Context, format Format) (string, error) {
	return r.srv.display(ctx, format, shown{
		cmd: ListPanes{Target: r, Filter: MatchEqual("pane_id", string(r.ID))}, scopes: paneScopes,
		token: "pane_id", value: string(r.ID),
	})
}

// Display expands a format for the client and the session, window and pane it shows. It fails with
// [ErrNotFound] if the client is gone.
func (r ClientRef) Display(ctx context.Context, format Format) (string, error) {
	return r.srv.display(ctx, format, shown{
		cmd: ListClients{}, scopes: clientScopes, token: "client_name", value: r.Name,
	})
}

// visSafe doubles the backslashes in what a format expands to, so that they differ from those that
// tmux adds when it prints.
func visSafe(f Format) Format { return `#{s/\\/\\\\/:` + nested(f) + "}" }

// shown is an object for which a format is expanded: the list it is in, and the token that
// identifies its row. display-message would expand the format with empty values if the object is
// gone, and for the current window of another session in place of a window in several.
type shown struct {
	cmd          Lister
	scopes       []Scope
	token, value string
}

func (s *Server) display(ctx context.Context, format Format, of shown) (string, error) {
	v, err := s.Version(ctx)
	if err != nil {
		return "", err
	}
	if err := checkScoped(format, of.scopes, v); err != nil {
		return "", fmt.Errorf("%s: %w", of.cmd.CommandName(), err)
	}
	wrapped := format
	if v.printsVis() {
		wrapped = visSafe(format)
	}
	// The value may have newlines in it, so its end is marked.
	end := string(s.newMark())
	head := Format("")
	if of.token != "" {
		head = Format("#{q:" + of.token + "}" + string(fieldEnd))
	}
	cmd, _ := of.cmd.rows(head + wrapped + Format(end))
	outs, err := s.Do(ctx, cmd)
	if err != nil {
		return "", err
	}
	for row := range bytes.SplitSeq(outs[0], []byte(end+"\n")) {
		value := string(row)
		if of.token != "" {
			sc := rowScanner{rest: value, vis: v.printsVis()}
			if id, err := sc.value(); err != nil || id != of.value {
				continue
			}
			value = sc.rest
		}
		if v.printsVis() {
			value = unescape(value, v.isExactly34())
		}
		return value, nil
	}
	return "", fmt.Errorf("%s: %s %s: %w", of.cmd.CommandName(), of.token, of.value, ErrNotFound)
}

// checkScoped refuses the formats that would kill a tmux 3.2a.
func checkScoped(format Format, scopes []Scope, v Version) error {
	if strayTokens.In(v) {
		return nil
	}
	for _, t := range tokenTable {
		in := false
		for _, s := range scopes {
			in = in || s == t.Scope
		}
		if t.Scoped && !in && strings.Contains(string(format), t.Name) {
			return &UnsupportedError{What: "#{" + t.Name + "} here", Since: strayTokens.Since, Have: v}
		}
	}
	return nil
}

// nested is the format that expands inside another one as this does at the top:
// there a brace without a beginning, or a "#" at the end, stands for itself. It
// begins with an inner format, without which tmux would take it for a token or a
// condition.
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
