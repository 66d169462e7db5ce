package tmux

import (
	"strings"
	"sync"
)

// optionKind says to which scopes an option or hook belongs.
type optionKind struct {
	hook                           bool
	server, session, window, panes bool
	// since is the version that has it, and panesSince the one in which panes got it.
	since, panesSince Version
}

// optionNames are the options and hooks of all versions, from the options table
// in tmux's source: tmux itself takes the scope from the name, and silently sets
// a session's option when it was asked to set a pane's. Names that are not here, such
// as a newer tmux's, are left to tmux.
var optionNames = []struct {
	kind  optionKind
	names string // a version after a colon: panes have the option since then
}{
	{optionKind{server: true}, `
		backspace buffer-limit clear-on-attach codepoint-widths command-alias copy-command dark-theme-black dark-theme-blue
		dark-theme-cyan dark-theme-dark-grey dark-theme-green dark-theme-light-grey dark-theme-magenta dark-theme-red
		dark-theme-white dark-theme-yellow default-client-command default-terminal editor escape-time exit-empty
		exit-unattached extended-keys extended-keys-format focus-events get-clipboard history-file input-buffer-size
		light-theme-black light-theme-blue light-theme-cyan light-theme-dark-grey light-theme-green light-theme-light-grey
		light-theme-magenta light-theme-red light-theme-white light-theme-yellow message-limit prefix-timeout
		prompt-history-limit set-clipboard terminal-features terminal-overrides theme user-keys
		variation-selector-always-wide
	`},
	{optionKind{session: true}, `
		activity-action assume-paste-time base-index bell-action default-command default-shell default-size
		destroy-unattached detach-on-destroy display-time focus-follows-mouse history-limit initial-repeat-time key-table
		lock-after-time lock-command message-command-style message-format message-line message-style mouse prefix prefix2
		prompt-command-cursor-colour prompt-command-cursor-style prompt-cursor-colour prompt-cursor-style renumber-windows
		repeat-time set-titles set-titles-string silence-action status status-bg status-fg status-format status-interval
		status-justify status-keys status-left status-left-length status-left-style status-position status-right
		status-right-length status-right-style status-style update-environment visual-activity visual-bell visual-silence
		word-separators
	`},
	{optionKind{window: true}, `
		aggressive-resize automatic-rename automatic-rename-format clock-mode-colour clock-mode-style
		copy-mode-current-line-number-style copy-mode-current-line-style copy-mode-current-match-style
		copy-mode-line-number-style copy-mode-line-numbers copy-mode-mark-style copy-mode-match-style
		copy-mode-position-style copy-mode-selection-style display-panes-border-style display-panes-format fill-character
		main-pane-height main-pane-width menu-border-lines menu-border-style menu-selected-style menu-style mode-keys
		mode-style monitor-activity monitor-bell monitor-silence other-pane-height other-pane-width
		pane-active-border-style:3.7 pane-base-index pane-border-format:3.3 pane-border-indicators pane-border-lines:3.8
		pane-border-status:3.8 pane-border-style:3.7 pane-scrollbars pane-scrollbars-position pane-scrollbars-timeout
		pane-status-current-style pane-status-style popup-border-lines popup-border-style popup-style
		session-status-current-style session-status-style tiled-layout-max-columns tree-mode-border-style
		tree-mode-preview-style tree-mode-selection-style window-pane-current-status-format window-pane-status-format
		window-size window-status-activity-style window-status-bell-style window-status-current-format
		window-status-current-style window-status-format window-status-last-style window-status-separator
		window-status-style wrap-search xterm-keys
	`},
	{optionKind{window: true, panes: true}, `
		allow-passthrough allow-rename allow-set-title alternate-screen copy-mode-position-format cursor-colour
		cursor-style pane-colours pane-scrollbars-style remain-on-exit remain-on-exit-format scroll-on-clear
		switch-mode-match-style synchronize-panes tree-mode-preview-format window-active-style window-style
	`},
	{optionKind{session: true, window: true}, `
		display-panes-active-colour display-panes-colour display-panes-time
	`},
	{optionKind{hook: true, session: true}, `
		alert-activity alert-bell alert-silence client-active client-attached client-closed client-created
		client-dark-theme client-detached client-focus-in client-focus-out client-light-theme client-resized
		client-session-changed command-error marked-pane-changed session-added-to-group session-closed session-created
		session-removed-from-group session-renamed session-window-changed
	`},
	{optionKind{hook: true, window: true}, `
		window-closed window-created window-layout-changed window-pane-changed window-renamed window-resized
		window-unzoomed window-zoomed
	`},
	{optionKind{hook: true, window: true, panes: true}, `
		pane-activity pane-bell pane-command-finished pane-command-started pane-created pane-died pane-exited
		pane-focus-in pane-focus-out pane-mode-changed pane-mode-entered pane-mode-exited pane-moved pane-prompt-closed
		pane-prompt-opened pane-resized pane-set-clipboard pane-shell-prompt pane-title-changed
	`},
	{optionKind{hook: true, session: true, window: true}, `window-linked window-unlinked`},
}

// optionsSince are the options that not every supported version has.
var optionsSince = map[string]string{
	"3.3": `
		allow-passthrough cursor-colour cursor-style fill-character pane-border-indicators pane-colours
		popup-border-lines popup-border-style popup-style prompt-history-limit remain-on-exit-format
		scroll-on-clear
	`,
	"3.4": `
		menu-border-lines menu-border-style menu-selected-style menu-style message-line
	`,
	"3.5": `
		allow-set-title extended-keys-format prefix-timeout
	`,
	"3.6": `
		codepoint-widths copy-mode-position-format copy-mode-position-style copy-mode-selection-style
		default-client-command initial-repeat-time input-buffer-size pane-scrollbars pane-scrollbars-position
		pane-scrollbars-style pane-status-current-style pane-status-style prompt-cursor-colour
		prompt-cursor-style session-status-current-style session-status-style tiled-layout-max-columns
		variation-selector-always-wide
	`,
	"3.7": `
		copy-mode-current-line-number-style copy-mode-line-number-style copy-mode-line-numbers
		focus-follows-mouse get-clipboard message-format prompt-command-cursor-style tree-mode-preview-format
		tree-mode-preview-style window-pane-current-status-format window-pane-status-format
	`,
	"3.8": `
		clear-on-attach copy-mode-current-line-style dark-theme-black dark-theme-blue dark-theme-cyan dark-theme-dark-grey
		dark-theme-green dark-theme-light-grey dark-theme-magenta dark-theme-red dark-theme-white
		dark-theme-yellow display-panes-border-style display-panes-format light-theme-black light-theme-blue
		light-theme-cyan light-theme-dark-grey light-theme-green light-theme-light-grey light-theme-magenta
		light-theme-red light-theme-white light-theme-yellow pane-scrollbars-timeout prompt-command-cursor-colour
		switch-mode-match-style theme tree-mode-border-style tree-mode-selection-style
	`,
}

var optionKinds = sync.OnceValue(func() map[string]optionKind {
	m := map[string]optionKind{}
	for _, group := range optionNames {
		for name := range strings.FieldsSeq(group.names) {
			kind := group.kind
			if base, since, ok := strings.Cut(name, ":"); ok {
				name, kind.panes, kind.panesSince = base, true, mustVersion(since)
			}
			m[name] = kind
		}
	}
	for since, names := range optionsSince {
		for name := range strings.FieldsSeq(names) {
			kind := m[name]
			kind.since = mustVersion(since)
			m[name] = kind
		}
	}
	return m
})

// kindOfOption is what is known of an option or hook. tmux takes abbreviations
// too; for one of those full is the name that it may stand for.
func kindOfOption(name string) (kind optionKind, full string) {
	kinds := optionKinds()
	if kind, ok := kinds[name]; ok {
		return kind, name
	}
	if strings.HasPrefix("after-", name) || strings.HasPrefix(name, "after-") {
		// There is one for nearly every command.
		return optionKind{hook: true, session: true}, name
	}
	for known := range kinds {
		if strings.HasPrefix(known, name) && (full == "" || known < full) {
			kind, full = kinds[known], known
		}
	}
	return kind, full
}

// OptionName is the full name of the option or hook that a name, with an index or
// abbreviated perhaps, may stand for. It is empty for user options and for what
// this package does not know: options of a newer tmux.
func OptionName(name string) string {
	base, _, _ := strings.Cut(name, "[")
	_, full := kindOfOption(base)
	return full
}
