package server

import (
	"context"
	"strings"

	"tmuxmcp/tmux"
)

// An option is harmless if setting it, to any value of its kind, only changes how tmux
// looks and behaves. The options here can end, discard, run or type something. Tools that
// do so say so by their tier and hints, by which clients decide whether to ask their user,
// and set_option must not be a way around them.

// optionEffect is what setting an option can do.
type optionEffect struct {
	why string // "" if harmless
	// ends is set if it can end sessions, and so their programs.
	ends bool
}

// optionEffects are the options that are not harmless, by their effect. Options unknown to
// package tmux are not harmless either. TestTierMutatingSetsNoOption… tries all.
var optionEffects = func() map[string]optionEffect {
	m := map[string]optionEffect{}
	for _, group := range []struct {
		effect optionEffect
		names  string
	}{
		{optionEffect{"it can end sessions", true}, "destroy-unattached exit-empty exit-unattached"},
		{optionEffect{"its value is run as a command", false},
			"command-alias copy-command default-client-command default-command default-shell editor lock-command"},
		{optionEffect{"it locks terminals, by running a program", false}, "lock-after-time"},
		{optionEffect{"it changes what keys do to tmux", false}, "key-table prefix prefix2 user-keys"},
		{optionEffect{"tmux sends parts of its value to terminals as they are", false}, "terminal-overrides"},
		{optionEffect{"tmux writes to the file that it names", false}, "history-file"},
		{optionEffect{"it can throw scrollback or paste buffers away", false}, "buffer-limit history-limit"},
	} {
		for name := range strings.FieldsSeq(group.names) {
			m[name] = group.effect
		}
	}
	return m
}()

// noteOptions is the prefix of user options for tools. Others belong to configurations,
// which may run their values.
const noteOptions = "@mcp-"

// effectOfOption returns what setting an option to a value, or unsetting it, can do. What
// tmux refuses anyway has no effect.
func effectOfOption(name string, value *string, v tmux.Version) optionEffect {
	full := tmux.OptionName(name)
	base, _, _ := strings.Cut(name, "[")
	effect, harmful := optionEffects[base]
	switch {
	case effect.ends && value != nil && *value == "off":
		return optionEffect{}
	case harmful:
		return effect
	case strings.HasPrefix(base, "@") && !strings.HasPrefix(base, noteOptions):
		return optionEffect{why: "a configuration may run what is in " + base + " (names that begin with " + noteOptions + " are free for notes)"}
	case strings.HasPrefix(base, "@"):
	case full == "":
		return optionEffect{why: "this program does not know the option"}
	}
	// tmux expands the values of most options as formats, after strftime, which may turn
	// %-signs into nothing.
	if value == nil || !strings.Contains(*value, "#") {
		return optionEffect{}
	}
	if _, err := tmux.Inert(*value, v); err != nil || strings.Contains(*value, "#(") || strings.Contains(*value, "#%") {
		return optionEffect{why: "its value is a format that can run commands, or that this program does not know for one that cannot"}
	}
	return optionEffect{}
}

// permitOption checks that this call may set an option to a value, and asks the user if
// that could end this agent.
func (c *call) permitOption(ctx context.Context, name string, value *string) error {
	v, err := c.tmux.Version(ctx)
	if err != nil {
		return err
	}
	effect := effectOfOption(name, value, v)
	if effect.why == "" {
		return nil
	}
	if err := c.permit(Destructive, effect.why); err != nil {
		return err
	}
	if effect.ends {
		return c.spare(ctx, ends, theServer, aimed{})
	}
	return nil
}
