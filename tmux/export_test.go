package tmux

import "fmt"

// WithChecksum is a custom layout with the right checksum.
func WithChecksum(body string) Layout {
	return Layout(fmt.Sprintf("%04x,%s", layoutChecksum(body), body))
}

// Unvis undoes what tmux does to names before it keeps them.
func Unvis(s string) string { return unescape(s, false) }

// OptionNames are the options that formats may read.
func OptionNames(v Version) []string {
	var names []string
	for name, kind := range optionKinds() {
		if !kind.hook && v.Has(kind.since) {
			names = append(names, name)
		}
	}
	return names
}

// FieldFeature and CommandFeature are the features that tests ask for.
var (
	FieldFeature   = fieldFeature
	CommandFeature = commandFeature
)

// Exhausted and KindOf classify errors of the system and of tmux; Commands are all commands.
var (
	Exhausted = exhausted
	KindOf    = kindOf
	Commands  = commands
)
