package tmux

import (
	_ "embed" // the names
	"slices"
	"strings"
	"sync"
)

// optionKind says which scopes an option or hook belongs to.
type optionKind struct {
	hook                          bool
	server, session, window, pane bool
	// since is the version that introduced it, paneSince the one that gave it to panes.
	since, paneSince Version
}

// optionNames are the options and hooks of all versions. They are needed because tmux
// infers the scope from the name, and silently sets a session's option when asked to set a
// pane's. Names that are not in the file, such as a newer tmux's, are left to tmux.
//
//go:embed option_names.txt
var optionNames string

var optionKinds = sync.OnceValue(func() map[string]optionKind {
	m := map[string]optionKind{}
	var group optionKind
	for line := range strings.Lines(optionNames) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, "\t") {
			has := func(word string) bool { return slices.Contains(words, word) }
			group = optionKind{hook: has("hook"), server: has("server"), session: has("session"), window: has("window"), pane: has("pane")}
			continue
		}
		for _, name := range words {
			kind := group
			name, paneSince, late := strings.Cut(name, ":")
			if late {
				kind.pane, kind.paneSince = true, mustVersion(paneSince)
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

// scope returns the scope in which tmux sets an option if none is given.
func (k optionKind) scope() OptionScope {
	switch {
	case k.server:
		return ServerOptions
	case k.window && !k.session:
		return WindowOptions
	}
	return SessionOptions
}

// fits reports whether an option or hook can be set in a scope.
func (k optionKind) fits(scope OptionScope) bool {
	switch scope {
	case ServerOptions:
		return k.server
	case GlobalHooks:
		return k.hook
	case GlobalSessionOptions, SessionOptions:
		return k.session
	case PaneOptions:
		return k.pane
	}
	return k.window
}

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

// LookupOption returns the full name of an option or hook, whether it is a hook, and the
// version that introduced it, if that is later than 3.2a. name may be abbreviated and have an
// index. The result is empty for user options and for options unknown to this package, such
// as a newer tmux's.
func LookupOption(name string) (full string, hook bool, since Version) {
	base, _, _ := strings.Cut(name, "[")
	kind, full := kindOfOption(base)
	return full, kind.hook, kind.since
}
