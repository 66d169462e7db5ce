package typing

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// PasteInto pastes a text into a pane, from a buffer of its own.
func (t *Typist) PasteInto(ctx context.Context, on target.Object, data []byte, bracket, enter bool) (tmux.PaneID, error) {
	buffer := t.Tmux.Buffer(prompt.NewBufferName("paste"))
	load := tmux.LoadBuffer{Buffer: buffer.Name, Path: "-", Data: data}
	shows := string(data)
	if enter {
		shows += "\n"
	}
	id, err := t.typeBursts(ctx, turnOf(t, waits), on, screen.EchoOf(shows), func(to tmux.Target) ([]burst, error) {
		paste, err := buffer.Pasting(ctx, to, tmux.PasteOptions{Bracket: bracket, Returns: true})
		paste.Delete = true
		bursts := []burst{{cmds: []tmux.Command{paste}}}
		if err == nil && enter {
			// Pasted too, as keys go to all panes that are synchronized.
			key := "\r"
			press := paste
			press.Bracket = false
			bursts = append(bursts, burst{cmds: []tmux.Command{tmux.SetBuffer{Buffer: buffer.Name, Data: &key}, press}, after: t.pasteTaken})
		}
		return bursts, err
	}, load)
	if err != nil && id == "" {
		// It was not pasted, so tmux may still hold it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
		defer cancel()
		_ = buffer.Delete(ctx)
	}
	return id, err
}

// A program that accepts bracketed paste takes what follows the sequence that ends one for
// typed keys. Terminals leave it out of what they paste; so does tmux from 3.7 on, unless
// control bytes are to arrive unchanged, as here.

// controlSequence matches a control sequence that ends in a tilde, in its form of seven or
// eight bits, whose parameters a parser may find among other control characters.
var controlSequence = lazy.Regexp(`(?:\x1b[\x00-\x1a\x1c-\x1f\x7f]*\[|\x{9b})([\x00-\x1a\x1c-\x3f\x7f]*)~`)

// pasteEnd is the parameter of the sequence that ends a bracketed paste.
const pasteEnd = 201

// endsPaste reports whether a text holds the sequence that ends a bracketed paste, in any
// spelling that a program may understand.
func endsPaste(text string) bool {
	return slices.ContainsFunc(controlSequence().FindAllStringSubmatch(withC1(text), -1), func(match []string) bool {
		params := strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, match[1])
		return slices.ContainsFunc(strings.FieldsFunc(params, func(r rune) bool { return r < '0' || r > '9' }), func(digits string) bool {
			n, err := strconv.Atoi(digits)
			return err == nil && n == pasteEnd
		})
	})
}

// withC1 returns the text with a control character of eight bits that is a byte by itself
// as the character that it stands for.
func withC1(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 && text[i] < 0xa0 {
			r = rune(text[i])
		}
		b.WriteRune(r)
	}
	return b.String()
}

// CheckPaste refuses a text that would end the bracketed paste it is in.
func CheckPaste(what, text string, bracket bool) error {
	if !bracket || !endsPaste(text) {
		return nil
	}
	return reply.Faultf(reply.KindRefused, "nothing was pasted: %s has the control sequence that ends a bracketed paste, and the program would take what follows for typed keys", what).
		Suggest("take it out of the text; bracket=false types all of it, line by line")
}
