package tmux

import (
	"slices"
	"strings"

	"tmuxmcp/tmux/internal/wire"
)

// Transport selects how commands are sent to a tmux server. All transports give the same
// results and differ only in speed.
type Transport string

const (
	// TransportAuto uses native if the server turns out to speak the protocol as expected,
	// and exec from then on if it does not.
	TransportAuto Transport = "auto"
	// TransportExec runs the tmux program for every command list.
	TransportExec Transport = "exec"
	// TransportNative speaks tmux's client protocol over the socket, without spawning a
	// process. The tmux program is still used to start a server, and to send commands given
	// as text, since they may name files.
	TransportNative Transport = "native"
)

// ParseTransport parses the name of a transport: auto, exec or native; "" is auto.
func ParseTransport(s string) (Transport, error) {
	switch t := Transport(s); t {
	case "":
		return TransportAuto, nil
	case TransportAuto, TransportExec, TransportNative:
		return t, nil
	}
	return "", argumentError("unknown transport %q: want auto, exec or native", s)
}

// Limits of one command list in an argument vector. tmux packs the words into one message
// of 16 KB, and from 3.7 on takes no more than 1000 of them.
const (
	maxListBytes = 16000
	maxListWords = 900
)

// newRequest joins commands into one list. A list over tmux's limits goes through
// source-file on standard input instead, as one line, so that it stops at a failing command
// exactly as an argument vector does.
func newRequest(cmds []encoded, stdin []byte) (wire.Request, error) {
	words, size := make([]string, 0, 8*len(cmds)), 0
	var does effects
	for i, c := range cmds {
		if i > 0 {
			words = endCommand(words)
		}
		for _, w := range c {
			words = append(words, word(w))
		}
		does |= c.effects()
	}
	for _, w := range words {
		size += len(w) + 1
	}
	req := wire.Request{Line: func() string { return configLine(cmds) }, Words: words, Stdin: stdin, Needs: wire.NeedsPath, StartsServer: does&startsServer != 0}
	if does&touchesSessions != 0 {
		req.Needs = wire.NeedsAll
	}
	if size <= maxListBytes && len(words) <= maxListWords {
		return req, nil
	}
	if stdin != nil {
		return wire.Request{}, argumentError("%d bytes of arguments together with standard input; tmux accepts %d", size, maxListBytes)
	}
	return req.OnStdin(), nil
}

// endCommand ends a command with a ";", appended to its last word if that means nothing
// else, since tmux 3.3 and later never free a word that is only a ";".
func endCommand(words []string) []string {
	last := len(words) - 1
	if w := words[last]; w == "" || strings.HasSuffix(w, `\`) || strings.HasSuffix(w, ";") {
		return append(words, ";")
	}
	words[last] += ";"
	return words
}

// effects is what a command does, as far as it affects how the command is sent.
type effects int

const (
	startsServer    effects = 1 << iota // starts a server if none is running
	touchesSessions                     // may create or attach to a session, itself or through other commands
	readsOnly                           // changes nothing
	ownsOutput                          // needs standard output to itself: the tmux program closes it afterwards
	hasNoUserText                       // has no text of the user's in its words, which the list of processes may show
	runsCommands                        // names a file, or runs commands that are given as text, by a file or by an alias
	goesOn                              // runs a program or other commands, after whose failure the list goes on
	silent                              // prints nothing
)

// effectsOf are the effects of commands that do more, or less, than their verb says.
var effectsOf = map[string]effects{
	"new-session":    startsServer | touchesSessions,
	"attach-session": startsServer | touchesSessions,
	"start-server":   startsServer,
	"list-commands":  startsServer,
	"list-keys":      startsServer,
	"list-sessions":  readsOnly,
	"list-windows":   readsOnly,
	"list-panes":     readsOnly,
	"show-options":   readsOnly,
	"show-buffer":    ownsOutput,
	"delete-buffer":  hasNoUserText | silent,
	"if-shell":       touchesSessions | runsCommands | goesOn,
	"set-hook":       touchesSessions | runsCommands | silent,
	"confirm-before": touchesSessions | runsCommands | goesOn,
	"command-prompt": touchesSessions | runsCommands | goesOn,
	"display-menu":   touchesSessions | runsCommands | goesOn,
	"display-popup":  goesOn,
}

// effects returns what the command does. An unknown one may be an alias for anything.
func (w encoded) effects() effects {
	if does, ok := effectsOf[w[0]]; ok {
		return does
	}
	streams := w[len(w)-1] == "-"
	switch w[0] {
	case "display-message", "capture-pane":
		if slices.Contains(w, "-p") {
			return readsOnly
		}
	case "paste-buffer":
		if !slices.Contains(w, "-s") {
			return hasNoUserText | silent
		}
	case "save-buffer":
		if streams {
			return ownsOutput
		}
		return runsCommands
	case "load-buffer":
		if streams {
			return hasNoUserText | silent
		}
		return hasNoUserText | silent | runsCommands
	case "source-file":
		if streams {
			return hasNoUserText | touchesSessions | runsCommands | goesOn
		}
		return touchesSessions | runsCommands | goesOn
	case "run-shell":
		if w.mayHave("C") {
			return touchesSessions | runsCommands | goesOn
		}
		return touchesSessions | goesOn
	}
	if commandsByName()[w[0]] == nil {
		return w.effectsOfAlias()
	}
	verb, _, _ := strings.Cut(w[0], "-")
	prints := slices.Contains([]string{"list", "show", "display", "capture", "server", "wait"}, verb) || w.mayHave("P")
	switch {
	case (verb == "new" || verb == "split") && w.mayHave("W"): // waits for the pane's program
		return goesOn
	case prints || w[0] == "select-pane":
		return 0
	}
	return silent
}

// aliases are short names of the commands that start a server or need standard output to
// themselves, which may also be abbreviated.
var aliases = map[string]string{
	"new-session": "new", "attach-session": "attach", "start-server": "start", "list-commands": "lscm", "list-keys": "lsk",
	"show-buffer": "showb", "save-buffer": "saveb",
}

// effectsOfAlias returns what a command may do whose name is not one of tmux's.
func (w encoded) effectsOfAlias() effects {
	does := touchesSessions | runsCommands | goesOn
	for name, alias := range aliases {
		if w[0] == alias || strings.HasPrefix(name, w[0]) {
			does |= encoded{name, w[len(w)-1]}.effects()
		}
	}
	return does
}

// reads reports whether the command is known to change nothing.
func (w encoded) reads() bool {
	return w.effects()&readsOnly != 0 || slices.Contains([]string{"show-buffer", "show-environment", "show-hooks", "list-buffers", "list-clients", "list-keys", "list-commands"}, w[0])
}

// mayHave reports whether any word, to be safe, has a flag.
func (w encoded) mayHave(flag string) bool {
	return slices.ContainsFunc(w, func(word string) bool { return strings.HasPrefix(word, "-") && strings.Contains(word, flag) })
}
