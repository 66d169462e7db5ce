// Package keys knows which keys and texts tmux passes unchanged to the program in a pane. Measured
// with tmux 3.3a to 3.8.
package keys

import (
	"fmt"
	"slices"
	"strings"

	"tmuxmcp/internal/lazy"
)

// A Mode returns the key mode of a pane, which says whether its program has enabled extended
// keys: the value of the token pane_key_mode, "" for a pane that does not exist, and [Unknown]
// where tmux does not know it, before 3.5.
type Mode func() (string, error)

// Unknown is the mode of a tmux that has no token for it.
const Unknown = "unknown"

// Reaches reports whether tmux sends a key to a program as the key that it is. Keys that every
// keyboard has always reach it; others, such as S-Enter and C-Tab, only from tmux 3.5 on, and
// only a program that has enabled extended keys: see [Plain]. tmux sends another key in place
// of these, types their names or sends nothing. Mode is called only if needed. The name is not
// checked.
func Reaches(name string, mode Mode) (bool, error) {
	if Plain(name) {
		return true, nil
	}
	m, err := mode()
	if err != nil {
		return false, err
	}
	modifiers, key := split(name)
	shifted := strings.Contains(modifiers, "S")
	switch m {
	case Unknown:
		return false, nil
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

// Plain reports whether every supported tmux sends a key to every program: a key without
// modifiers; any with M-; with C- or C-M-, a letter, Space and @ [ \ ] ^ _ ?; with C-, also
// / - 2 6; the arrows, Home, End, PageUp, PageDown, IC, DC and F1 to F12 with any modifiers.
// The name is not checked.
func Plain(name string) bool {
	modifiers, key := split(name)
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

// split returns the modifiers of a key, each once and in upper case, and its name in lower
// case.
func split(name string) (modifiers, key string) {
	if strings.HasPrefix(name, "^") && len([]rune(name)) > 2 {
		modifiers, name = "C", name[1:]
	}
	before, key := Unmodified(name)
	for m := range strings.SplitSeq(strings.ToUpper(before), "-") {
		if !strings.Contains(modifiers, m) {
			modifiers += m
		}
	}
	return modifiers, strings.ToLower(key)
}

// Unmodified splits what is before a key, such as C-, from it.
func Unmodified(name string) (before, key string) {
	key = name
	for len(key) > 2 && key[1] == '-' && strings.Contains("CMScms", key[:1]) {
		key = key[2:]
	}
	return name[:len(name)-len(key)], key
}

// atOnce is the number of keys per command: tmux gets slower both with longer commands and
// with more of them.
const atOnce = 64

// Bytes returns a text as the numbers of its bytes, as send-keys -H takes them, for several
// commands; none if the text can be sent literally.
//
// Literal keys can carry any text, in one command of any length. But from tmux 3.5 on, a
// newline or another control character that not every keyboard has reaches a program that has
// enabled extended keys as an escape sequence. Only for a text with one is mode called.
// Numbers cost tmux about 4 µs each.
func Bytes(text string, mode Mode) (commands [][]string, err error) {
	if !strings.ContainsFunc(text, notPlain) {
		return nil, nil
	}
	if m, err := mode(); err != nil || m == Unknown || m == "VT10x" || m == "" {
		return nil, err
	}
	for chunk := range slices.Chunk([]byte(text), atOnce) {
		numbers := make([]string, len(chunk))
		for i, c := range chunk {
			numbers[i] = fmt.Sprintf("%02x", c)
		}
		commands = append(commands, numbers)
	}
	return commands, nil
}

// notPlain reports whether r is a control character that is not a key on every keyboard.
func notPlain(r rune) bool { return r < ' ' && r != '\t' && r != '\r' && r != 0x1b }
