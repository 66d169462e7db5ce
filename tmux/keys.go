package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
)

// SendKeys sends keys to a pane: names such as "C-c", "Enter" or "M-Left", or characters. A
// word that is not a key name is typed as is, and so are the names of some keys: see
// [Server.KeyReaches]. If the pane is in a mode, such as copy mode, keys go to the mode's
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

func (SendKeys) CommandName() string   { return "send-keys" }
func (SendPrefix) CommandName() string { return "send-prefix" }

// SendKeys presses keys: names such as "C-c", "Enter" or "M-Left", or characters. If the
// pane is in a mode, such as copy mode, they go to the mode's key table.
//
// It fails with [ErrArgument] for no key at all, for a word that is not a key, which tmux
// would type (see [PaneRef.SendText]), and for a key that would not reach the program as
// this key: see [Server.KeyReaches]. The last takes a round trip for keys that not every
// program gets, and the others none. It fails with [ErrNoInput] if the pane has no program
// that could read the keys.
func (r PaneRef) SendKeys(ctx context.Context, keys ...string) error {
	if err := r.checkKeys(ctx, keys); err != nil {
		return fmt.Errorf("send keys to %s: %w", r.ID, err)
	}
	return r.typed(ctx, nil, untyped, SendKeys{Target: r, Keys: keys})
}

func (r PaneRef) checkKeys(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return argumentError("no keys")
	}
	var odd []string
	for _, key := range keys {
		if err := checkKey(func() (Version, error) { return r.srv.Version(ctx) }, key); err != nil {
			return err
		}
		if boundKey().MatchString(key) || !PlainKey(key) {
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
		if reaches, err := r.srv.KeyReaches(ctx, r, key); err != nil || !reaches {
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
func (r PaneRef) SendText(ctx context.Context, text string) error {
	return r.typing(ctx, text)
}

// SendLine types text and presses Enter, in one round trip.
func (r PaneRef) SendLine(ctx context.Context, text string) error {
	return r.typing(ctx, text, SendKeys{Target: r, Keys: []string{"Enter"}})
}

func (r PaneRef) typing(ctx context.Context, text string, after ...Command) error {
	cmds, err := r.srv.Typing(ctx, r, text)
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

// Typing returns the commands that type text into the target's pane, as [PaneRef.SendText]
// does, for a [Batch] or [Server.Do].
//
// Literal keys can carry any text, in one command of any length. But from tmux 3.5 on, a
// newline or another control character that not every keyboard has reaches a program that
// has enabled extended keys as an escape sequence. If text has one, Typing therefore
// queries the pane's key mode in an extra round trip. If extended keys are on, the text is
// sent as the numbers of its bytes, which costs tmux about 4 µs each.
func (s *Server) Typing(ctx context.Context, target Target, text string) ([]Command, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, argumentError("text with a NUL byte")
	}
	// Even for an empty text: a pane that does not exist is still an error.
	literal := []Command{SendKeys{Target: target, Literal: true, Keys: []string{text}}}
	if !strings.ContainsFunc(text, notPlainKey) {
		return literal, nil
	}
	if v, err := s.Version(ctx); err != nil || !keySequences.In(v) {
		return literal, err
	}
	var b Batch
	mode := AddMessage(&b, DisplayMessage{Target: target, Message: "#{pane_key_mode}"})
	if err := b.Do(ctx, s); err != nil || *mode == "VT10x" || *mode == "" {
		return literal, err
	}
	var byNumber []Command
	for chunk := range slices.Chunk([]byte(text), keysAtOnce) {
		keys := make([]string, len(chunk))
		for i, c := range chunk {
			keys[i] = fmt.Sprintf("%02x", c)
		}
		byNumber = append(byNumber, SendKeys{Target: target, Hex: true, Keys: keys})
	}
	return byNumber, nil
}

// KeyReaches reports whether [SendKeys] sends a key to the program in the target's pane as
// the key that it is. Keys that every keyboard has always reach it; others, such as S-Enter
// and C-Tab, only from tmux 3.5 on, and only a program that has enabled extended keys: see
// [PlainKey]. tmux sends another key in place of these, types their names or sends nothing.
// Without such a key, KeyReaches takes no round trip. It is true for a pane that does not
// exist, and does not check that tmux knows the name.
func (s *Server) KeyReaches(ctx context.Context, target Target, name string) (bool, error) {
	if err := s.usable(); err != nil {
		return false, err
	}
	if PlainKey(name) {
		return true, nil
	}
	if v, err := s.Version(ctx); err != nil || !KeyModes.In(v) {
		return false, err // whether extended keys are on cannot be known
	}
	var b Batch
	mode := AddMessage(&b, DisplayMessage{Target: target, Message: "#{pane_key_mode}"})
	if err := b.Do(ctx, s); err != nil {
		return false, err
	}
	modifiers, key := splitKey(name)
	shifted := strings.Contains(modifiers, "S")
	switch *mode {
	case "":
		return true, nil
	case "Ext 1":
		// Control and Shift together are of the keys with names that have no sequence else.
		return key != "btab" && (!shifted || modifiers == "S" || strings.Contains(modifiers, "C") && slices.Contains([]string{"enter", "tab", "bspace", "escape"}, key)), nil
	case "Ext 2":
		return key != "btab" || !shifted, nil
	}
	return modifiers == "C" && len(key) == 1 && strings.Contains("34578`{|}~", key), nil
}

// PlainKey reports whether every supported tmux sends a key to every program: a key without
// modifiers; any with M-; with C- or C-M-, a letter, Space and @ [ \ ] ^ _ ?; with C-, also
// / - 2 6; the arrows, Home, End, PageUp, PageDown, IC, DC and F1 to F12 with any modifiers.
// The name is not checked. Measured with tmux 3.3a to 3.8.
func PlainKey(name string) bool {
	modifiers, key := splitKey(name)
	switch {
	case modifiers == "" || cursorKey().MatchString(key):
		return true
	case key == "btab":
		return false
	case modifiers == "M":
		return true
	case strings.Trim(modifiers, "CM") == "" && (key == "space" || controlKey().MatchString(key)):
		return true
	}
	return modifiers == "C" && len(key) == 1 && strings.Contains("/-26", key)
}

var (
	cursorKey  = lazy.Regexp(`^(up|down|left|right|home|end|ic|insert|dc|delete|[np]page|page(up|down)|pg(up|dn)|f([1-9]|1[0-2]))$`)
	controlKey = lazy.Regexp(`^[a-z@\[\\\]^_?]$`)
)

// splitKey returns the modifiers of a key, each once and in upper case, and its name in
// lower case.
func splitKey(name string) (modifiers, key string) {
	if strings.HasPrefix(name, "^") && len([]rune(name)) > 2 {
		modifiers, name = "C", name[1:]
	}
	before, key := unmodified(name)
	for m := range strings.SplitSeq(strings.ToUpper(before), "-") {
		if !strings.Contains(modifiers, m) {
			modifiers += m
		}
	}
	return modifiers, strings.ToLower(key)
}

// keysAtOnce is the number of keys per command: tmux gets slower both with longer commands
// and with more of them.
const keysAtOnce = 64

// notPlainKey reports whether r is a control character that is not a key on every keyboard.
func notPlainKey(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != 0x1b }
