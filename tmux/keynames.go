package tmux

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/keys"
	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/nearest"
)

// keyNames are the names of keys, as tmux's key-string.c has them; case does not matter.
// Those of bindings only are matched by [boundKey].
var keyNames = strings.Fields("F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 IC Insert DC Delete Home End" +
	" NPage PageDown PgDn PPage PageUp PgUp BTab Space BSpace Tab Enter Escape Up Down Left Right" +
	" KP/ KP* KP- KP7 KP8 KP9 KP+ KP4 KP5 KP6 KP1 KP2 KP3 KPEnter KP0 KP.")

var (
	// controlNames are names of control characters, since tmux 3.5.
	controlNames = lazy.Regexp(`^(?i:\[(NUL|SOH|STX|ETX|EOT|ENQ|ASC|BEL|BS|LF|VT|FF|SO|SI|DLE|DC[1-4]|NAK|SYN|ETB|CAN|EM|SUB|FS|GS|RS|US)\])$`)
	// boundKey matches keys that tmux looks up in a key table and sends to no program.
	boundKey = lazy.Regexp(`^(?:[CMScms]-|\^)*(?:(?i:any)|User[0-9]{1,4}|(?i:(?:(?:MouseDown|MouseUp|MouseDrag|MouseDragEnd|SecondClick|DoubleClick|TripleClick)(?:[1-36-9]|1[01])|Wheel(?:Up|Down))` +
		`(?:Pane|Status|StatusLeft|StatusRight|StatusDefault|Scrollbar(?:Up|Slider|Down)|Empty|Border|Control[0-9])))$`)
	hexKey = lazy.Regexp(`^0x[0-9A-Fa-f]{1,6}$`)
)

// checkKey refuses a word that tmux does not know as a key and would type as text.
func checkKey(version func() (Version, error), name string) error {
	is, err := isKey(version, name)
	if is || err != nil {
		return err
	}
	return argumentError("%q is not a key%s", name, cmp.Or(meantKey(name), "; SendText and SendLine type text"))
}

// isKey reports whether tmux knows a word as a key. The error says why a key cannot be used here.
func isKey(version func() (Version, error), name string) (is bool, err error) {
	if hexKey().MatchString(name) {
		// tmux 3.2a types 0x0 as text, and 3.3a the controls of eight bits.
		if n, _ := strconv.ParseUint(name[2:], 16, 32); utf8.ValidRune(rune(n)) && n > 0 && (n < 0x80 || n > 0x9f) {
			return true, nil
		}
		return false, argumentError("%q is not a key that every tmux has", name)
	}
	key := name
	if len(key) > 1 && key[0] == '^' {
		if key = key[1:]; utf8.RuneCountInString(key) > 1 && !boundKey().MatchString(name) {
			return false, argumentError("%q is not a key that reaches a program: write C-%s", name, key)
		}
	}
	_, key = keys.Unmodified(key)
	r, size := utf8.DecodeRuneInString(key)
	switch {
	case key != "" && size == len(key) && r >= ' ' && (r != utf8.RuneError || size > 1):
		return true, nil
	case boundKey().MatchString(name):
		return true, nil
	case controlNames().MatchString(key):
		err := need(version, "the key "+name, Version{Major: 3, Minor: 5}, Version{})
		return err == nil, err
	}
	return namedKey(key) != "", nil
}

// namedKey returns tmux's spelling of the name of a key, or "".
func namedKey(name string) string {
	for _, known := range keyNames {
		if strings.EqualFold(name, known) {
			return known
		}
	}
	return ""
}

// foreignKeys turns other ways of writing keys, in lower case and with - for +, into tmux's.
var foreignKeys = strings.NewReplacer("<", "", ">", "", "control-", "c-", "ctrl-", "c-", "alt-", "m-", "shift-tab", "btab", "shift-", "s-",
	"escape", "escape", "esc", "escape", "backspace", "bspace", "return", "enter", "arrow", "")

// meantKey suggests the key that a word may mean, written in another way or misspelled; "" if none.
func meantKey(word string) string {
	before, key := keys.Unmodified(foreignKeys.Replace(strings.ReplaceAll(strings.ToLower(word), "+", "-")))
	if name := namedKey(key); name != "" || before != "" && utf8.RuneCountInString(key) == 1 {
		return "; did you mean " + strings.ToUpper(before) + cmp.Or(name, key) + "?"
	}
	if _, key = keys.Unmodified(word); len(key) > 3 {
		return nearest.Meant(key, keyNames)
	}
	return ""
}
