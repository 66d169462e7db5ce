package gap

import (
	"fmt"

	"tmuxmcp/tmux"
)

// Levels are what tmux can do from a version on: commands, and what they print then. A program
// has the version of the last level before the first that it fails.
var Levels = []struct {
	Version string
	Probes  []Probe
}{
	{"3.2", []Probe{shows(`^\$[0-9]+$`, "#{session_id}"), shows(`^$`, "#{no_such_token}")}},
	{"3.3", []Probe{shows(`^[0-9]+$`, "#{uid}"), shows(`^\$[0-9]+$`, "#{next_session_id}")}},
	{"3.4", []Probe{shows(`^[0-9]+$`, "#{server_sessions}"), {`^#\{pid\}$`, []string{"display-message", "-p", "-l", "#{pid}"}}}},
	{"3.5", []Probe{shows(`.`, "#{pane_key_mode}")}},
	{"3.6", []Probe{shows(`^[01]$`, "#{sixel_support}"), {`^x$`, []string{"run-shell", "-E", "echo x >&2"}}}},
	{"3.7", []Probe{
		shows(`^[01]$`, "#{bracket_paste_flag}"),
		{`^x$`, []string{"set-buffer", "x", ";", "paste-buffer", "-S", ";", "display-message", "-p", "x"}},
	}},
	{"3.8", []Probe{shows(`^[0-9]+$`, "#{pane_output_generation}"), shows(`^[0-9]+$`, "#{history_generation}")}},
}

func shows(value, format string) Probe {
	return Probe{value, []string{"display-message", "-p", format}}
}

// NewerThanKnown returns the newest version that the scripts were written for, and whether the
// given one is newer than that.
func NewerThanKnown(version string) (known string, newer bool) {
	known = Levels[len(Levels)-1].Version
	v, err := tmux.ParseVersion(version)
	k, _ := tmux.ParseVersion(known)
	return known, err == nil && (v.Major > k.Major || v.Major == k.Major && v.Minor > k.Minor)
}

// Features are what scripts may need, each with what shows that a tmux has it.
var Features = map[string]Probe{
	"two sessions": {`^[^\n]+\n[^\n]+$`, []string{
		"new-session", "-d", "exec sleep 600", ";", "list-sessions", "-F", "#{session_id}",
	}},
	"floating panes": {`^%[0-9]+$`, []string{"new-pane", "-d", "-P", "-F", "#{pane_id}", "exec sleep 600"}},
}

// Probe is a command, and what it prints where a tmux can do something.
type Probe struct {
	Prints string // a regular expression
	Args   []string
}

// LevelOf returns the version of the level that a version belongs to; empty for none.
func LevelOf(version string) string {
	v, err := tmux.ParseVersion(version)
	if err != nil {
		return ""
	}
	found := ""
	for _, l := range Levels {
		leadsTo := v.Next && l.Version == fmt.Sprintf("%d.%d", v.Major, v.Minor)
		if v.Has(tmux.Version{Major: 3, Minor: int(l.Version[2] - '0')}) && !leadsTo {
			found = l.Version
		}
	}
	return found
}
