package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/keys"
)

// SendKeys sends keys to a pane: names such as "C-c", "Enter" or "M-Left", or characters. A
// word that is not a key name is typed as is, and so are the names of some keys: see
// [PaneRef.SendKeys]. If the pane is in a mode, such as copy mode, keys go to the mode's
// key table instead of the program.
//
// Without Keys, only the flags have an effect: Reset, or Repeat alone, which sets the count
// for the next copy mode command.
type SendKeys struct {
	Target Target `flag:"t"`
	// Client is the client whose key table ToClient uses.
	Client Target `flag:"c" since:"3.4"`
	// Expand expands formats in the arguments of a copy mode Command.
	Expand bool `flag:"F"`
	// Hex takes each of Keys as the hexadecimal number of one byte, which is written to the
	// program unchanged.
	Hex bool `flag:"H"`
	// ToClient sends the keys to Client, so that key bindings apply.
	ToClient bool `flag:"K" since:"3.4"`
	// Literal takes Keys as text, never as key names.
	Literal bool `flag:"l"`
	// Mouse passes on a mouse event; it works only in a key binding.
	Mouse bool `flag:"M"`
	// Repeat sends the keys this many times; 0 means once.
	Repeat int `flag:"N"`
	// Reset resets the terminal state of the pane first.
	Reset bool `flag:"R"`
	// Command makes Keys a copy mode command and its arguments.
	Command bool     `flag:"X"`
	Keys    []string `arg:""`
}

// SendPrefix sends the prefix key to a pane or, with Second, the second prefix key.
type SendPrefix struct {
	Target Target `flag:"t"`
	Second bool   `flag:"2"`
}

func (SendKeys) commandName() string   { return "send-keys" }
func (SendPrefix) commandName() string { return "send-prefix" }

// SendKeys presses keys: names such as "C-c", "Enter" or "M-Left", or characters. If the
// pane is in a mode, such as copy mode, they go to the mode's key table.
//
// It fails with [ErrArgument] for no key at all, for a word that is not a key, which tmux
// would type (see [PaneRef.SendText]), and for a key that would not reach the program as
// this key. It fails with [ErrNoInput] if the pane has no program that could read the keys.
//
// These keys reach every program: those without modifiers; any with M-; with C- or C-M-, a
// letter, Space and @ [ \ ] ^ _ ?; with C-, also / - 2 6; the arrows, Home, End, PageUp,
// PageDown, IC, DC and F1 to F12 with any modifiers. Others, such as S-Enter and C-Tab, do only
// from tmux 3.5 on, and only if the program has enabled extended keys, which takes a round trip
// to find out. Measured with tmux 3.3a to 3.8.
func (r PaneRef) SendKeys(ctx context.Context, names ...string) error {
	if err := r.checkKeys(ctx, names); err != nil {
		return fmt.Errorf("send keys to %s: %w", r.ID, err)
	}
	return r.typed(ctx, nil, untyped, SendKeys{Target: r, Keys: names})
}

func (r PaneRef) checkKeys(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return argumentError("no keys")
	}
	var odd []string
	for _, key := range names {
		if err := checkKey(func() (Version, error) { return r.srv.Version(ctx) }, key); err != nil {
			return err
		}
		if boundKey().MatchString(key) || !keys.Plain(key) {
			odd = append(odd, key)
		}
	}
	if len(odd) == 0 {
		return nil
	}
	pane, err := one[struct {
		InMode int `tmux:"pane_in_mode"`
	}](ctx, r.srv, r.self())
	if err != nil || pane.InMode > 0 {
		return err
	}
	for _, key := range odd {
		if boundKey().MatchString(key) {
			return argumentError("%s is a key for key bindings only, and the pane is in no mode", key)
		}
		if reaches, err := keys.Reaches(key, keyMode(ctx, r.srv, r)); err != nil || !reaches {
			return cmp.Or(err, argumentError("%s is a key that the pane's program does not get: it has not enabled extended keys, or not in a form that has this key, or this tmux cannot send it", key))
		}
	}
	return nil
}

// unread is the condition that nothing reads what is written to a pane's terminal, and
// untyped the one that nothing gets a key: in a mode, the mode does. tmux silently drops it.
var (
	unread  = Or("#{pane_dead}", "#{pane_input_off}", Not("#{pane_pid}"))
	untyped = And(Not("#{pane_in_mode}"), unread)
)

// typed runs commands that type into the pane, unless a condition is true; before them, it
// runs first.
func (r PaneRef) typed(ctx context.Context, first []Command, dropped Format, cmds ...Command) error {
	// Require alone would not report a pane that does not exist.
	checks := []Command{ListPanes{Target: r, Filter: "0"}, Require{Target: r, Condition: Not(dropped)}}
	err := r.srv.run(ctx, slices.Concat(first, checks, cmds)...)
	if errors.Is(err, ErrUnmet) {
		err = fmt.Errorf("%w: %s has no running program, or its input is disabled", ErrNoInput, r.ID)
	}
	return err
}

// SendText types text into the pane: exactly these bytes, with no key names and no Enter at
// the end. The text may be of any length and contain any byte except NUL. If the window's
// option synchronize-panes is on, every pane receives it. It fails with [ErrNoInput] if the
// pane has no program that could read it; an empty text is no error otherwise. See
// [PaneRef.Paste] for pasting, and [PaneRef.Writer] for text that is not typed at once.
//
// A newline, or another control character that not every keyboard has, takes an extra round
// trip from tmux 3.5 on: a program that has enabled extended keys would get it as an escape
// sequence, so it is sent as bytes.
func (r PaneRef) SendText(ctx context.Context, text string) error {
	return r.typing(ctx, text)
}

// SendLine types text and presses Enter, in one round trip.
func (r PaneRef) SendLine(ctx context.Context, text string) error {
	return r.typing(ctx, text, SendKeys{Target: r, Keys: []string{"Enter"}})
}

func (r PaneRef) typing(ctx context.Context, text string, after ...Command) error {
	cmds, err := typing(ctx, r.srv, r, text)
	if err != nil {
		return fmt.Errorf("send text to %s: %w", r.ID, err)
	}
	return r.typed(ctx, nil, untyped, append(cmds, after...)...)
}

// Reset resets the pane's terminal and clears its screen and history, in one round trip.
// The program in the pane does not notice.
func (r PaneRef) Reset(ctx context.Context) error {
	// In this order, because the reset scrolls the screen into the history.
	return r.srv.run(ctx, SendKeys{Target: r, Reset: true}, ClearHistory{Target: r})
}

// typing returns the commands that type text into the target's pane, as [PaneRef.SendText] does.
func typing(ctx context.Context, s *Server, target Target, text string) ([]Command, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, argumentError("text with a NUL byte")
	}
	numbers, err := keys.Bytes(text, keyMode(ctx, s, target))
	if numbers == nil || err != nil {
		// Even for an empty text: a pane that does not exist is still an error.
		return []Command{SendKeys{Target: target, Literal: true, Keys: []string{text}}}, err
	}
	var all []Command
	for _, n := range numbers {
		all = append(all, SendKeys{Target: target, Hex: true, Keys: n})
	}
	return all, nil
}

// keyMode returns a function that queries the key mode of the target's pane.
func keyMode(ctx context.Context, s *Server, target Target) keys.Mode {
	return func() (string, error) {
		if v, err := s.Version(ctx); err != nil || !keyModes.In(v) {
			return keys.Unknown, err
		}
		var b Batch
		mode := AddMessage(&b, DisplayMessage{Target: target, Message: "#{pane_key_mode}"})
		err := b.Do(ctx, s)
		return *mode, err
	}
}
