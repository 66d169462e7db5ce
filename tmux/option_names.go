package tmux

import (
	"strings"
	"sync"
)

// optionKind says which scopes an option or hook belongs to.
type optionKind struct {
	hook                           bool
	server, session, window, panes bool
	// since is the version that introduced it, panesSince the one that gave it to panes.
	since, panesSince Version
}

// optionNames are the options and hooks of all versions, from the options table in tmux's
// source. They are needed because tmux infers the scope from the name, and silently sets a
// session's option when asked to set a pane's. Names that are not here, such as a newer
// tmux's, are left to tmux.
var optionNames = []struct {
	kind optionKind
	// names have "@" and a version after them if that version introduced them, and a colon
	// and a version if panes have had the option only since then.
	names string
}{
	{optionKind{server: true}, `
		backspace buffer-limit clear-on-attach@3.8 codepoint-widths@3.6 command-alias copy-command dark-theme-black@3.8
		dark-theme-blue@3.8 dark-theme-cyan@3.8 dark-theme-dark-grey@3.8 dark-theme-green@3.8 dark-theme-light-grey@3.8
		dark-theme-magenta@3.8 dark-theme-red@3.8 dark-theme-white@3.8 dark-theme-yellow@3.8 default-client-command@3.6
		default-terminal editor escape-time exit-empty exit-unattached extended-keys extended-keys-format@3.5
		focus-events get-clipboard@3.7 history-file input-buffer-size@3.6 light-theme-black@3.8 light-theme-blue@3.8
		light-theme-cyan@3.8 light-theme-dark-grey@3.8 light-theme-green@3.8 light-theme-light-grey@3.8
		light-theme-magenta@3.8 light-theme-red@3.8 light-theme-white@3.8 light-theme-yellow@3.8 message-limit
		prefix-timeout@3.5 prompt-history-limit@3.3 set-clipboard terminal-features terminal-overrides theme@3.8
		user-keys variation-selector-always-wide@3.6
	`},
	{optionKind{session: true}, `
		activity-action assume-paste-time base-index bell-action default-command default-shell default-size
		destroy-unattached detach-on-destroy display-time focus-follows-mouse@3.7 history-limit initial-repeat-time@3.6
		key-table lock-after-time lock-command message-command-style message-format@3.7 message-line@3.4 message-style
		mouse prefix prefix2 prompt-command-cursor-colour@3.8 prompt-command-cursor-style@3.7 prompt-cursor-colour@3.6
		prompt-cursor-style@3.6 renumber-windows repeat-time set-titles set-titles-string silence-action status
		status-bg status-fg status-format status-interval status-justify status-keys status-left status-left-length
		status-left-style status-position status-right status-right-length status-right-style status-style
		update-environment visual-activity visual-bell visual-silence word-separators
	`},
	{optionKind{window: true}, `
		aggressive-resize automatic-rename automatic-rename-format clock-mode-colour clock-mode-style
		copy-mode-current-line-number-style@3.7 copy-mode-current-line-style@3.8 copy-mode-current-match-style
		copy-mode-line-number-style@3.7 copy-mode-line-numbers@3.7 copy-mode-mark-style copy-mode-match-style
		copy-mode-position-style@3.6 copy-mode-selection-style@3.6 display-panes-border-style@3.8
		display-panes-format@3.8 fill-character@3.3 main-pane-height main-pane-width menu-border-lines@3.4
		menu-border-style@3.4 menu-selected-style@3.4 menu-style@3.4 mode-keys mode-style monitor-activity monitor-bell
		monitor-silence other-pane-height other-pane-width pane-active-border-style:3.7 pane-base-index
		pane-border-format:3.3 pane-border-indicators@3.3 pane-border-lines:3.8 pane-border-status:3.8
		pane-border-style:3.7 pane-scrollbars@3.6 pane-scrollbars-position@3.6 pane-scrollbars-timeout@3.8
		pane-status-current-style@3.6 pane-status-style@3.6 popup-border-lines@3.3 popup-border-style@3.3
		popup-style@3.3 session-status-current-style@3.6 session-status-style@3.6 tiled-layout-max-columns@3.6
		tree-mode-border-style@3.8 tree-mode-preview-style@3.7 tree-mode-selection-style@3.8
		window-pane-current-status-format@3.7 window-pane-status-format@3.7 window-size window-status-activity-style
		window-status-bell-style window-status-current-format window-status-current-style window-status-format
		window-status-last-style window-status-separator window-status-style wrap-search xterm-keys
	`},
	{optionKind{window: true, panes: true}, `
		allow-passthrough@3.3 allow-rename allow-set-title@3.5 alternate-screen copy-mode-position-format@3.6
		cursor-colour@3.3 cursor-style@3.3 pane-colours@3.3 pane-scrollbars-style@3.6 remain-on-exit
		remain-on-exit-format@3.3 scroll-on-clear@3.3 switch-mode-match-style@3.8 synchronize-panes
		tree-mode-preview-format@3.7 window-active-style window-style
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

var optionKinds = sync.OnceValue(func() map[string]optionKind {
	m := map[string]optionKind{}
	for _, group := range optionNames {
		for name := range strings.FieldsSeq(group.names) {
			kind := group.kind
			name, panesSince, late := strings.Cut(name, ":")
			if late {
				kind.panes, kind.panesSince = true, mustVersion(panesSince)
			}
			name, since, newer := strings.Cut(name, "@")
			if newer {
				kind.since = mustVersion(since)
			}
			m[name] = kind
		}
	}
	return m
})

// kindOfOption returns what is known of an option or hook. tmux accepts abbreviations too;
// for one of these, full is the name that it may stand for.
func kindOfOption(name string) (kind optionKind, full string) {
	kinds := optionKinds()
	if kind, ok := kinds[name]; ok {
		return kind, name
	}
	if strings.HasPrefix("after-", name) || strings.HasPrefix(name, "after-") {
		// Nearly every command has one.
		return optionKind{hook: true, session: true}, name
	}
	for known := range kinds {
		if strings.HasPrefix(known, name) && (full == "" || known < full) {
			kind, full = kinds[known], known
		}
	}
	return kind, full
}

// OptionName returns the full name of an option or hook. name may be abbreviated and have
// an index. The result is empty for user options and for options unknown to this package,
// such as a newer tmux's.
func OptionName(name string) string {
	base, _, _ := strings.Cut(name, "[")
	_, full := kindOfOption(base)
	return full
}
