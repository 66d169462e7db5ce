package typing

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"tmuxmcp/internal/lazy"
)

// What names a key is listed here, since tmux takes more words for keys than its manual
// names, and types anything else: a model that sends Ctrl+C or ArrowUp would type these
// words into the pane. They are refused.

// keyNames maps names of keys, in lower case, to tmux's.
var keyNames = map[string]string{}

// exactNames are tmux's names that are no keys in other cases, in which programs have them.
var exactNames = map[string]bool{"IC": true, "DC": true, "NPage": true, "PPage": true}

// foreignNames maps names of keys that tmux does not have, in lower case, to tmux's.
var foreignNames = map[string]string{
	"esc": "Escape", "return": "Enter", "ret": "Enter", "cr": "Enter", "newline": "Enter", "kpenter": "Enter",
	"backspace": "BSpace", "bs": "BSpace", "del": "DC", "spacebar": "Space",
	"arrowup": "Up", "arrowdown": "Down", "arrowleft": "Left", "arrowright": "Right",
	"uparrow": "Up", "downarrow": "Down", "leftarrow": "Left", "rightarrow": "Right",
	"page_up": "PageUp", "page_down": "PageDown", "ppage": "PageUp", "npage": "PageDown", "shifttab": "BTab",
}

func init() {
	for name := range strings.FieldsSeq("Enter Tab BTab Escape BSpace Space Up Down Left Right Home End PageUp PageDown PgUp PgDn Insert Delete") {
		keyNames[strings.ToLower(name)] = name
	}
	for n := range 12 {
		name := "F" + strconv.Itoa(n+1)
		keyNames[strings.ToLower(name)] = name
	}
}

var (
	bracketedKey = lazy.Regexp(`^(?:<([^<>\s]+)>|\{([^{}\s]+)\})$`)
	modifiedKey  = lazy.Regexp(`(?i)^(ctrl|control|alt|meta|opt|option|shift|c|m|s)[+-](.+)$`)
	caretKey     = lazy.Regexp(`^\^([A-Za-z@\[\\\]^_?])$`)
	wordKey      = lazy.Regexp(`^(space|up|down|left|right|home|end|insert|delete)$`)
	withoutKey   = lazy.Regexp(`(?i)^((cmd|command|super|win|hyper)\+.+|f[0-9]{1,2})$`)
)

// MisnamedKey reports whether a text is a key name elsewhere but not in tmux. name is
// tmux's name for the key, or "" if it has none.
func MisnamedKey(text string) (name string, misnamed bool) {
	inner := text
	if m := bracketedKey().FindStringSubmatch(text); m != nil {
		inner = m[1] + m[2]
	}
	name, ok := KeyName(inner)
	switch {
	case !ok && inner != text:
		return "", false // a tag, or a word in braces
	case !ok:
		return "", withoutKey().MatchString(inner)
	case wordKey().MatchString(inner): // gdb's command up, or the key?
		return name, true
	}
	return name, !strings.EqualFold(name, text)
}

// longestKey is longer than the name of any key.
const longestKey = 100

// KeyName returns tmux's name of a key.
func KeyName(s string) (name string, ok bool) {
	if len(s) > longestKey {
		return "", false
	}
	if name, ok = modifiedName(s); name == "S-Tab" {
		name = "BTab"
	}
	return name, ok
}

// modifiedName does what KeyName does, without the key that Tab with S- is.
func modifiedName(s string) (string, bool) {
	lower := strings.ToLower(s)
	switch {
	case exactNames[s]:
		return s, true
	case keyNames[lower] != "":
		return keyNames[lower], true
	case foreignNames[lower] != "":
		return foreignNames[lower], true
	}
	if m := caretKey().FindStringSubmatch(s); m != nil {
		return "C-" + strings.ToLower(m[1]), true
	}
	m := modifiedKey().FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	key, ok := modifiedName(m[2])
	if !ok {
		if key = m[2]; utf8.RuneCountInString(key) != 1 {
			return "", false
		}
	}
	modifier := strings.ToUpper(m[1][:1])
	switch {
	case modifier == "A" || modifier == "O":
		modifier = "M"
	case modifier == "C" && len(key) == 1 && !strings.HasPrefix(strings.ToUpper(s), "C-"): // Ctrl+C, which is no C-S-c
		key = strings.ToLower(key)
	}
	return modifier + "-" + key, true
}
