package server

import (
	"regexp"
	"strings"
)

// tmux types anything that it does not know as a key name, so a model that sends Ctrl+C or
// ArrowUp would type these words into the pane. They are refused.

// keyNames maps key names used elsewhere, in lower case, to tmux's.
var keyNames = map[string]string{
	"esc": "Escape", "return": "Enter", "ret": "Enter", "cr": "Enter", "newline": "Enter",
	"backspace": "BSpace", "bs": "BSpace", "del": "DC", "spacebar": "Space",
	"arrowup": "Up", "arrowdown": "Down", "arrowleft": "Left", "arrowright": "Right",
	"uparrow": "Up", "downarrow": "Down", "leftarrow": "Left", "rightarrow": "Right",
	"page_up": "PageUp", "page_down": "PageDown", "shifttab": "BTab",
}

var (
	bracketedKey = regexp.MustCompile(`^(?:<([^<>\s]+)>|\{([^{}\s]+)\})$`)
	modifiedKey  = regexp.MustCompile(`(?i)^(ctrl|control|alt|meta|opt|option|shift|c|m|s)[+-](.+)$`)
	wordKey      = regexp.MustCompile(`^(space|up|down|left|right|home|end|insert|delete)$`)
	withoutKey   = regexp.MustCompile(`(?i)^(cmd|command|super|win|hyper)\+.+$`)
	oneKey       = regexp.MustCompile(`(?i)^(.|f[0-9]{1,2}|enter|tab|btab|escape|bspace|space|up|down|left|right|home|end|pageup|pagedown|pgup|pgdn|ic|dc|insert|delete)$`)
)

// misnamedKey reports whether a text is a key name elsewhere but not in tmux. name is
// tmux's name for the key, or "" if it has none.
func misnamedKey(text string) (name string, misnamed bool) {
	inner := text
	if m := bracketedKey.FindStringSubmatch(text); m != nil {
		inner = m[1] + m[2]
	}
	name, ok := keyName(inner)
	if inner != text && !ok {
		return "", false // a tag, or a word in braces
	}
	switch {
	case !ok:
		return "", withoutKey.MatchString(inner)
	case wordKey.MatchString(name):
		return strings.ToUpper(name[:1]) + name[1:], true // gdb's command up, or the key?
	}
	return name, name != text
}

// keyName returns tmux's name of a key.
func keyName(s string) (string, bool) {
	if name := keyNames[strings.ToLower(s)]; name != "" {
		return name, true
	}
	m := modifiedKey.FindStringSubmatch(s)
	if m == nil {
		return s, oneKey.MatchString(s) && len(s) > 1
	}
	key, ok := keyName(m[2])
	if !ok && len([]rune(m[2])) != 1 {
		return "", false
	}
	modifier := strings.ToUpper(m[1][:1])
	switch {
	case modifier == "A" || modifier == "O":
		modifier = "M"
	case modifier == "S" && key == "Tab":
		return "BTab", true
	}
	// A name that tmux accepts stays unchanged.
	if len(m[1]) == 1 && strings.HasPrefix(s, m[1]+"-") {
		return m[1] + "-" + key, true
	}
	if len(key) == 1 && modifier == "C" {
		key = strings.ToLower(key)
	}
	return modifier + "-" + key, true
}
