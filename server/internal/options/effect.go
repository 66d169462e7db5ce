package options

import (
	"context"
	"strings"
	"sync"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/inert"
)

// Tier mutating may set the options that only change what tmux shows, and where. All others
// can end, discard, run, type or open something, or change what the user's keys do. Tools
// that do so say so by their tier and hints, by which clients decide whether to ask their
// user, and set_option must not be a way around them.

// optionEffect is what setting an option can do.
type optionEffect struct {
	why string // "" if harmless
	// ends is set if it can end sessions, and so their programs.
	ends bool
	// safe is a value that has no such effect.
	safe string
	// pane is set if it changes what panes take or keep.
	pane bool
}

// optionEffects are the options of all versions of tmux, by their effect. An option that is
// not here is not harmless. TestTierMutatingSetsNoOption… tries all.
var optionEffects = sync.OnceValue(func() map[string]optionEffect {
	m := map[string]optionEffect{}
	for _, group := range []struct {
		effect optionEffect
		names  string
	}{
		{optionEffect{}, `
			activity-action aggressive-resize automatic-rename automatic-rename-format base-index bell-action clock-mode-colour
			clock-mode-style codepoint-widths copy-mode-current-line-number-style copy-mode-current-line-style
			copy-mode-current-match-style copy-mode-line-number-style copy-mode-line-numbers copy-mode-mark-style
			copy-mode-match-style copy-mode-position-format copy-mode-position-style copy-mode-selection-style cursor-colour
			cursor-style dark-theme-black dark-theme-blue dark-theme-cyan dark-theme-dark-grey dark-theme-green
			dark-theme-light-grey dark-theme-magenta dark-theme-red dark-theme-white dark-theme-yellow default-size
			display-panes-active-colour display-panes-border-style display-panes-colour display-panes-format display-panes-time
			display-time fill-character focus-events light-theme-black light-theme-blue light-theme-cyan light-theme-dark-grey
			light-theme-green light-theme-light-grey light-theme-magenta light-theme-red light-theme-white light-theme-yellow
			main-pane-height main-pane-width menu-border-lines menu-border-style menu-selected-style menu-style
			message-command-style message-format message-line message-style mode-style monitor-activity monitor-bell
			monitor-silence mouse other-pane-height other-pane-width pane-active-border-style pane-base-index pane-border-format
			pane-border-indicators pane-border-lines pane-border-status pane-border-style pane-colours pane-scrollbars
			pane-scrollbars-position pane-scrollbars-style pane-scrollbars-timeout pane-status-current-style pane-status-style
			popup-border-lines popup-border-style popup-style prompt-command-cursor-colour prompt-command-cursor-style
			prompt-cursor-colour prompt-cursor-style remain-on-exit-format renumber-windows session-status-current-style
			session-status-style set-titles set-titles-string silence-action status status-bg status-fg status-format
			status-interval status-justify status-left status-left-length status-left-style status-position status-right
			status-right-length status-right-style status-style switch-mode-match-style theme tiled-layout-max-columns
			tree-mode-border-style tree-mode-preview-format tree-mode-preview-style tree-mode-selection-style
			variation-selector-always-wide visual-activity visual-bell visual-silence window-active-style
			window-pane-current-status-format window-pane-status-format window-size window-status-activity-style
			window-status-bell-style window-status-current-format window-status-current-style window-status-format
			window-status-last-style window-status-separator window-status-style window-style word-separators wrap-search`},
		{optionEffect{why: "it can end sessions", ends: true, safe: "off"}, "destroy-unattached exit-empty exit-unattached"},
		{optionEffect{why: "its value is run as a command"},
			"command-alias copy-command default-client-command default-command default-shell editor lock-command"},
		{optionEffect{why: "it locks terminals, by running a program"}, "lock-after-time"},
		{optionEffect{why: "it changes what keys do, or where they go"}, `
			assume-paste-time backspace detach-on-destroy escape-time extended-keys extended-keys-format focus-follows-mouse
			initial-repeat-time key-table mode-keys prefix prefix2 prefix-timeout repeat-time status-keys
			user-keys xterm-keys`},
		{optionEffect{why: "it opens the clipboard, the terminal or names in tmux to programs in panes"},
			"default-terminal get-clipboard set-clipboard terminal-features"},
		{optionEffect{why: "it opens the terminal or names in tmux to programs in panes", pane: true}, "allow-passthrough allow-rename allow-set-title"},
		{optionEffect{why: "tmux sends parts of its value to terminals as they are"}, "terminal-overrides"},
		{optionEffect{why: "it passes variables of terminals on to sessions"}, "update-environment"},
		{optionEffect{why: "tmux writes to the file that it names"}, "history-file"},
		{optionEffect{why: "it can throw text or paste buffers away"}, `
			buffer-limit clear-on-attach history-limit input-buffer-size message-limit prompt-history-limit`},
		{optionEffect{why: "it can throw text away", safe: "on", pane: true}, "alternate-screen remain-on-exit scroll-on-clear"},
		{optionEffect{why: "what is typed into one pane is typed into others too", pane: true}, "synchronize-panes"},
	} {
		for name := range strings.FieldsSeq(group.names) {
			m[name] = group.effect
		}
	}
	return m
})

// noteOptions is the prefix of user options for tools. Others belong to configurations,
// which may run their values.
const noteOptions = "@mcp-"

// effectOfOption returns what setting an option to a value, or unsetting it, can do. What
// tmux refuses anyway has no effect.
func effectOfOption(name string, value *string, v tmux.Version) optionEffect {
	full, _, _ := tmux.LookupOption(name)
	base, _, _ := strings.Cut(name, "[")
	effect, known := optionEffects()[base]
	switch {
	case effect.safe != "" && value != nil && *value == effect.safe:
		return optionEffect{}
	case effect.why != "":
		return effect
	case strings.HasPrefix(base, "@") && !strings.HasPrefix(base, noteOptions):
		return optionEffect{why: "a configuration may run what is in " + base + " (names that begin with " + noteOptions + " are free for notes)"}
	case strings.HasPrefix(base, "@"):
	case full != "" && full != base: // an abbreviation
		return optionEffect{}
	case !known:
		return optionEffect{why: "this program does not know that option"}
	}
	// tmux expands the values of most options as formats, after strftime, which may turn
	// %-signs into nothing.
	if value == nil || !strings.Contains(*value, "#") {
		return optionEffect{}
	}
	if _, err := inert.Format(*value, v); err != nil || strings.Contains(*value, "#(") || strings.Contains(*value, "#%") {
		return optionEffect{why: "its value is a format that can run commands, or that this program does not know for one that cannot"}
	}
	return optionEffect{}
}

// permitOption checks that this call may set an option to a value, and guards this agent
// against one that could end it or change its pane.
func permitOption(ctx context.Context, c tool.Call, p optionTarget, name string, value *string) error {
	v, err := c.Tmux.Version(ctx)
	if err != nil {
		return err
	}
	effect := effectOfOption(name, value, v)
	if effect.why == "" {
		return nil
	}
	if err := c.Guard.Permit(guard.Destructive, effect.why); err != nil {
		return err
	}
	at := target.Object{Target: p.target}
	switch {
	case effect.ends:
		return c.Guard.Spare(ctx, guard.Ends, target.Server, at)
	case !effect.pane:
		return nil
	case p.scope == tmux.PaneOptions:
		return c.Guard.Spare(ctx, guard.Disturbs, target.Pane, at)
	case p.ofObject():
		return c.Guard.Spare(ctx, guard.Disturbs, target.Window, at)
	}
	return c.Guard.Spare(ctx, guard.Disturbs, target.Server, at)
}
