package typing

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// Key is a key to press or, without a name, text to type.
type Key struct{ Name, Text string }

// escapes reports whether what follows the key at once may be taken for a part of it.
func (k Key) escapes() bool {
	return isEscape(k.Name) || k.Name == "" && strings.HasSuffix(k.Text, "\x1b")
}

// Keys types keys into a pane, whose terminal it may reset before. It says what may be
// echoed of them. What follows an Escape is typed after a pause.
func (t *Typist) Keys(ctx context.Context, on target.Object, reset bool, keys []Key, what screen.Echo) (tmux.PaneID, error) {
	id, err := t.typeBursts(ctx, on, what, func(to tmux.Target) ([]burst, error) {
		all := []burst{{}}
		if reset {
			all[0].cmds = []tmux.Command{tmux.SendKeys{Target: to, Reset: true}}
		}
		for i, k := range keys {
			cmds, err := t.keyCommands(ctx, to, k)
			if err != nil {
				return nil, err
			}
			if i > 0 && keys[i-1].escapes() {
				all = append(all, burst{after: pauseAfterEscape(isEscape(k.Name))})
			}
			last := &all[len(all)-1]
			last.cmds = append(last.cmds, cmds...)
		}
		return all, nil
	})
	// What was typed in part ends with an Escape too.
	if id != "" && (err != nil || keys[len(keys)-1].escapes()) {
		for _, pane := range append([]tmux.PaneID{id}, t.Others()...) {
			t.keyboard.escapes.add(t.Tmux, pane)
		}
	}
	return id, err
}

// keyCommands returns the commands that type a key.
func (t *Typist) keyCommands(ctx context.Context, to tmux.Target, k Key) ([]tmux.Command, error) {
	if k.Name == "" {
		return t.Tmux.Typing(ctx, to, k.Text)
	}
	reaches, err := t.Tmux.KeyReaches(ctx, to, k.Name)
	if err != nil {
		return nil, err
	}
	if !reaches {
		return nil, t.unreached(ctx, k.Name)
	}
	return []tmux.Command{tmux.SendKeys{Target: to, Keys: []string{k.Name}}}, nil
}

// unreached returns the fault for a key that tmux would not send as this key.
func (t *Typist) unreached(ctx context.Context, name string) *reply.Fault {
	why := "the program in the pane does not ask for it"
	if v, err := t.Tmux.Version(ctx); err == nil && !tmux.KeyModes.In(v) {
		why = fmt.Sprintf("tmux %s cannot tell whether the program asks for it", v)
	}
	f := reply.Faultf(reply.KindUnsupported, "nothing was typed: %s is an extended key, and %s", name, why)
	switch key := name[strings.LastIndexByte(name[:len(name)-1], '-')+1:]; {
	case key == "Enter":
		return f.Suggest("M-Enter is sent, and begins a new line in many programs, as a newline in paste_text does")
	case key == "BTab":
		return f.Suggest("BTab without modifiers is sent")
	case utf8.RuneCountInString(key) == 1 && strings.HasPrefix(name, "S-"):
		return f.Suggest("give the character itself")
	default:
		return f.Suggest("%s and M-%[1]s are sent; literal=true types the text", key)
	}
}
