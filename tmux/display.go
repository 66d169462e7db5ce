package tmux

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Display is what a format expands to for the server as a whole. Tokens of a
// session, window or pane are those of the most recently used one, if there is
// any. Percent signs stay as they are, so #{t/f/…} with a format of its own
// works on the other Displays only.
func (s *Server) Display(ctx context.Context, format Format) (string, error) {
	return s.display(ctx, format, shown{cmd: DisplayMessage{}, scopes: []Scope{ServerScope}})
}

// Display is what a format expands to for the session. A session that is gone
// is an [ErrNotFound].
func (r SessionRef) Display(ctx context.Context, format Format) (string, error) {
	return r.srv.display(ctx, format, shown{
		cmd: ListSessions{Filter: MatchEqual("session_id", string(r.ID))}, scopes: paneScopes,
		token: "session_id", value: string(r.ID),
	})
}

// Display is what a format expands to for the window; the session is the one
// that it is linked to. A window that is gone is an [ErrNotFound].
func (r WindowRef) Display(ctx context.Context, format Format) (string, error) {
	return r.srv.display(ctx, format, shown{
		cmd: ListWindows{Target: r, Filter: MatchEqual("window_id", string(r.ID))}, scopes: paneScopes,
		token: "window_id", value: string(r.ID),
	})
}

// Display is what a format expands to for the pane. A pane that is gone is an
// [ErrNotFound].
func (r PaneRef) Display(ctx context.Context, format Format) (string, error) {
	return r.srv.display(ctx, format, shown{
		cmd: ListPanes{Target: r, Filter: MatchEqual("pane_id", string(r.ID))}, scopes: paneScopes,
		token: "pane_id", value: string(r.ID),
	})
}

// Display is what a format expands to for the client, and the session, window
// and pane that it shows. A client that is gone is an [ErrNotFound].
func (r ClientRef) Display(ctx context.Context, format Format) (string, error) {
	return r.srv.display(ctx, format, shown{
		cmd: ListClients{}, scopes: clientScopes, token: "client_name", value: r.Name,
	})
}

// Displayed appends a message to a batch. The text it points to after [Batch.Do]
// is what the message expands to, byte for byte.
func Displayed(b *Batch, cmd DisplayMessage) *string {
	text := new(string)
	b.steps = append(b.steps, step{
		prepare: func(version func() (Version, error)) (Command, error) {
			v, err := version()
			if err != nil {
				return nil, err
			}
			cmd.Print = true
			if v.printsVis() {
				cmd.Message = visSafe(cmd.Message)
			}
			return cmd, nil
		},
		decode: func(_ *Server, v Version, out []byte) error {
			*text = string(bytes.TrimSuffix(out, []byte("\n")))
			if v.printsVis() {
				*text = unescape(*text, v.isExactly34())
			}
			return nil
		},
	})
	return text
}

// visSafe doubles the backslashes in what a format expands to, so that they are
// told from those that tmux prints.
func visSafe(f Format) Format { return `#{s/\\/\\\\/:` + nested(f) + "}" }

// shown is an object whose format is wanted: the list that it is in, and what
// tells its row. display-message would answer for an object that is gone with
// empty values, and for a window of another session with that one's current
// window.
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
	if v.Has(Version{Major: 3, Minor: 3}) {
		return nil
	}
	for _, t := range tokenTable {
		in := false
		for _, s := range scopes {
			in = in || s == t.Scope
		}
		if t.Scoped && !in && strings.Contains(string(format), t.Name) {
			return &UnsupportedError{What: "#{" + t.Name + "} here", Since: Version{Major: 3, Minor: 3}, Have: v}
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
