package tmux

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

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

// checkKey refuses what tmux does not take for a key, and would type as text.
func checkKey(version func() (Version, error), name string) error {
	if hexKey().MatchString(name) {
		// tmux 3.2a types 0x0 as text, and 3.3a the controls of eight bits.
		if n, _ := strconv.ParseUint(name[2:], 16, 32); utf8.ValidRune(rune(n)) && n > 0 && (n < 0x80 || n > 0x9f) {
			return nil
		}
		return argumentError("%q is not a key that every tmux has; SendText types text", name)
	}
	key := name
	if len(key) > 1 && key[0] == '^' {
		if key = key[1:]; utf8.RuneCountInString(key) > 1 && !boundKey().MatchString(name) {
			return argumentError("%q is not a key that reaches a program: write C-%s", name, key)
		}
	}
	for len(key) > 2 && key[1] == '-' && strings.Contains("CMScms", key[:1]) {
		key = key[2:]
	}
	r, size := utf8.DecodeRuneInString(key)
	switch {
	case key != "" && size == len(key) && r >= ' ' && (r != utf8.RuneError || size > 1):
		return nil
	case boundKey().MatchString(name):
		return nil
	case controlNames().MatchString(key):
		return need(version, "the key "+name, Version{Major: 3, Minor: 5}, Version{})
	}
	for _, known := range keyNames {
		if strings.EqualFold(key, known) {
			return nil
		}
	}
	meant := "; SendText types text"
	if len(key) > 2 {
		meant = cmp.Or(nearest.Meant(key, keyNames), meant)
	}
	return argumentError("%q is not a key%s", name, meant)
}
