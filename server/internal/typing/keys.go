package typing

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/keys"
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

func (k Key) isText() bool { return k.Name == "" && k.Text != "" }

// Keys types keys into a pane, whose terminal it may reset before. It says what may be
// echoed of them. What follows an Escape is typed after a pause. So are an Enter behind a text
// and what follows Enter, unless what reads is known to take them at once.
func (t *Typist) Keys(ctx context.Context, on target.Object, reset bool, keys []Key, what screen.Echo) (tmux.PaneID, error) {
	last := keys[len(keys)-1]
	t.interrupted, t.atOnce = nil, false
	if last.interrupts() {
		t.interrupted = t.interrupting(ctx, on)
	}
	id, err := t.typeBursts(ctx, turnOf(t, waits), on, what, func(to tmux.Target) ([]burst, error) {
		all := []burst{{}}
		if reset {
			all[0].cmds = []tmux.Command{tmux.SendKeys{Target: to, Reset: true}}
		}
		for i, k := range keys {
			cmds, err := t.keyCommands(ctx, to, k)
			if err != nil {
				return nil, err
			}
			switch {
			case i > 0 && keys[i-1].escapes():
				all = append(all, burst{after: pauseAfterEscape(isEscape(k.Name))})
			case i > 0 && (isEnter(keys[i-1].Name) || isEnter(k.Name) && keys[i-1].isText()):
				all = append(all, burst{after: t.textTaken, enter: true})
			}
			last := &all[len(all)-1]
			last.cmds = append(last.cmds, cmds...)
		}
		return all, nil
	})
	// What was typed in part ends with an Escape too.
	if enter := err == nil && isEnter(last.Name) && !t.atOnce; id != "" && (err != nil || last.escapes() || enter) {
		for _, pane := range append([]tmux.PaneID{id}, t.Others()...) {
			t.keyboard.endings.add(t.Tmux, pane, enter)
		}
	}
	return id, err
}

func (t *Typist) keyCommands(ctx context.Context, to tmux.Target, k Key) ([]tmux.Command, error) {
	mode := func() (string, error) {
		if v, err := t.Tmux.Version(ctx); err != nil || !keyModes.In(v) {
			return keys.Unknown, err
		}
		var b tmux.Batch
		shown := tmux.AddMessage(&b, tmux.DisplayMessage{Target: to, Message: "#{pane_key_mode}"})
		err := b.Do(ctx, t.Tmux)
		return *shown, err
	}
	if k.Name != "" {
		reaches, err := keys.Reaches(k.Name, mode)
		if err == nil && !reaches {
			err = unreached(ctx, t.Tmux, k.Name)
		}
		return []tmux.Command{tmux.SendKeys{Target: to, Keys: []string{k.Name}}}, err
	}
	if strings.IndexByte(k.Text, 0) >= 0 {
		return nil, fmt.Errorf("%w: text with a NUL byte", tmux.ErrArgument)
	}
	numbers, err := keys.Bytes(k.Text, mode)
	if numbers == nil || err != nil {
		// Even for an empty text: a pane that does not exist is still an error.
		return []tmux.Command{tmux.SendKeys{Target: to, Literal: true, Keys: []string{k.Text}}}, err
	}
	var all []tmux.Command
	for _, n := range numbers {
		all = append(all, tmux.SendKeys{Target: to, Hex: true, Keys: n})
	}
	return all, nil
}

// keyModes: tmux says whether the program in a pane has enabled extended keys.
var keyModes = tmux.Feature{Name: "key modes of panes", Since: tmux.Version{Major: 3, Minor: 5}}

// unreached returns the fault for a key that tmux would not send as this key.
func unreached(ctx context.Context, srv *tmux.Server, name string) *reply.Fault {
	why := "the program in the pane does not ask for it"
	if v, err := srv.Version(ctx); err == nil && !keyModes.In(v) {
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
