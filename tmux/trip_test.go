package tmux

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"tmuxmcp/internal/guarded"
	"tmuxmcp/tmux/internal/wire"
)

// tripOf returns a list of commands that are separated by " ; ".
func tripOf(commands string) trip {
	var items []item
	for c := range strings.SplitSeq(commands, " ; ") {
		it := newItem(strings.Fields(c))
		if to, ok := strings.CutPrefix(c, "save-buffer to "); ok {
			it = newItem(encoded{"save-buffer", "-"})
			it.file = &namedFile{path: to}
		}
		items = append(items, it)
	}
	return newTrip(items, "M-")
}

// What a reply means. In stdout, <1> is the delimiter after the first command.
func TestJudge(t *testing.T) {
	const (
		list   = "list-panes"          // only reads
		rename = "rename-window x"     // prints nothing
		split  = "split-window -P"     // changes something, and prints
		shell  = "run-shell true"      // runs a program, so no delimiter follows it
		show   = "show-buffer"         // needs standard output to itself, so no delimiter follows it
		save   = "save-buffer to file" // likewise, and its output goes to a file
	)
	gone := errors.New("the transport failed")
	for _, tt := range []struct {
		name, commands string
		rep            wire.Reply
		stdout         string
		err            error

		outputs     string // with "|" between them
		notices     string // likewise
		kind        error
		command     string // that failed; "" if none has
		unexplained bool
	}{
		{"one", list, wire.Reply{}, "a\n<1>", nil, "a\n", "|", nil, "", false},
		{"no rows", list, wire.Reply{}, "<1>", nil, "", "|", nil, "", false},
		{"two", list + " ; " + list, wire.Reply{}, "a\n<1>b\n<2>", nil, "a\n|b\n", "|", nil, "", false},
		{"no newline before the delimiter", list + " ; " + list, wire.Reply{}, "a<1>b\n<2>", nil, "a<1>b\n<2>", "", errStopped, list, true},
		{"what hooks print after the last delimiter", list, wire.Reply{}, "a\n<1>hook\n", nil, "a\n", "hook\n|", nil, "", false},
		{"what hooks complain about", list, wire.Reply{Stderr: []byte("can't find pane: x")}, "a\n<1>", nil, "a\n", "|can't find pane: x", nil, "", false},
		{"a status that a hook has set", list, wire.Reply{Code: 1, Stderr: []byte("no buffer x")}, "a\n<1>", nil, "a\n", "|no buffer x", nil, "", false},
		{"a silent command, after which a hook prints", rename + " ; " + list, wire.Reply{}, "hook\n<1>a\n<2>", nil, "|a\n", "|hook\n|", nil, "", false},
		{"the program's pipes stay open, after the last delimiter", list, wire.Reply{Open: true}, "a\n<1>", nil, "a\n", "|", nil, "", false},

		{"the first fails", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("can't find window: x")}, "", nil, "", "", ErrNotFound, list, false},
		{"the second fails", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("can't find pane: %9")}, "a\n<1>", nil, "a\n|", "", ErrNotFound, split, false},
		{"the last fails after it has printed", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("no space for new pane")}, "a\n<1>b\n", nil, "a\n|b\n", "", ErrNoSpace, split, false},
		{"a failure with status 0", split, wire.Reply{Stderr: []byte("no space for new pane")}, "", nil, "", "", ErrNoSpace, split, false},
		{"a failure after a hook's complaint", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("no buffer x\ncan't find window: w")}, "a\n<1>", nil, "a\n|", "", ErrNotFound, split, false},
		{"a failure with a hook's complaint, and another kind", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("no buffer x\nno space for new pane")}, "a\n<1>", nil, "a\n|", "", ErrNoSpace, split, false},
		{"a failure of a sourced list", split, wire.Reply{Code: 1, Stderr: []byte("-:1: no space for new pane")}, "", nil, "", "", ErrNoSpace, split, false},
		{"a failure of nothing known", split, wire.Reply{Code: 1, Stderr: []byte("well")}, "", nil, "", "", nil, split, false},
		{"a failure without a word", split, wire.Reply{Code: 1}, "", nil, "", "", nil, split, false},
		{"a condition", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("invalid option: " + wire.Unmet)}, "", nil, "", "", ErrUnmet, list, false},
		{"a guard", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("invalid option: " + wire.Unasked)}, "", nil, "", "", guarded.Err, list, false},
		{"an option", list, wire.Reply{Code: 1, Stderr: []byte("invalid option: nosuch")}, "", nil, "", "", ErrUnknownOption, list, false},
		{"a refusal of the parser", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("command split-window: unknown flag -P")}, "", nil, "", "", ErrUsage, split, false},
		{"a refusal of two lines", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("usage: split-window [-x]\nno buffer x")}, "", nil, "", "", ErrUsage, split, false},
		{"a refusal of no command of the list", list + " ; " + split, wire.Reply{Code: 1, Stderr: []byte("unknown command: nosuch")}, "", nil, "", "", ErrUsage, list, false},
		{"a silent command that fails, and a hook's output", rename, wire.Reply{Code: 1, Stderr: []byte("can't find window: x")}, "hook\n", nil, "", "hook\n", ErrNotFound, rename, false},
		{"no server", list, wire.Reply{Code: 1, Stderr: []byte("no server running on /s")}, "", nil, "", "", ErrNoServer, list, false},
		{"a server that exits", list, wire.Reply{Code: 1, Stderr: []byte("server exited unexpectedly")}, "", nil, "", "", ErrServerGone, list, false},

		{"the transport fails", list + " ; " + split, wire.Reply{Code: -1}, "", gone, "", "", gone, list, false},
		{"the transport fails after the delimiters", list + " ; " + split, wire.Reply{Code: -1, Stderr: []byte("x")}, "a\n<1>b\n<2>hook\n", gone, "a\n|b\n", "hook\n", gone, split, false},
		{"the transport fails, whatever tmux says", list, wire.Reply{Code: 1, Stderr: []byte("no buffer x")}, "", gone, "", "", gone, list, false},

		{"the list stops", list + " ; " + split, wire.Reply{}, "a\n", nil, "a\n", "", errStopped, list, true},
		{"the list stops, and the pipes stay open", list + " ; " + split, wire.Reply{Open: true}, "a\n", nil, "a\n", "", errOpen, list, true},
		{"a change without a delimiter, as of the server's exit", split, wire.Reply{}, "", nil, "", "", nil, "", false},
		{"a change without a delimiter, whose pipes stay open", split, wire.Reply{Open: true}, "", nil, "", "", nil, "", false},
		{"a change without a delimiter that printed, whose pipes stay open", split, wire.Reply{Open: true}, "a\n", nil, "a\n", "", errOpen, split, true},
		{"a silent change without a delimiter, whose pipes stay open", rename, wire.Reply{Open: true}, "a\n", nil, "", "a\n", nil, "", false},
		{"a list without a delimiter", list, wire.Reply{}, "a\n", nil, "a\n", "", nil, list, true},
		{"a list without a delimiter, whose pipes stay open", list, wire.Reply{Open: true}, "", nil, "", "", errOpen, list, true},

		{"never a delimiter", shell, wire.Reply{}, "a\n", nil, "a\n", "", nil, "", false},
		{"never a delimiter, and complaints", shell, wire.Reply{Stderr: []byte("no buffer x")}, "a\n", nil, "a\n", "", nil, "", false},
		{"never a delimiter, failing", shell, wire.Reply{Code: 1, Stderr: []byte("'true' returned 1\nno buffer x")}, "a\n", nil, "a\n", "", ErrNotFound, shell, false},
		{"never a delimiter, the pipes stay open", shell, wire.Reply{Open: true}, "", nil, "", "", nil, "", false},
		{"never a delimiter, printed, the pipes stay open", shell, wire.Reply{Open: true}, "a\n", nil, "a\n", "", errOpen, shell, true},
		{"a delimiter that none asked for", shell, wire.Reply{}, "a\n<1>", nil, "a\n<1>", "", nil, "", false},
		{"a buffer", show, wire.Reply{}, "text", nil, "text", "", nil, "", false},
		{"a buffer, open", show, wire.Reply{Open: true}, "te", nil, "te", "", errOpen, show, true},
		{"a buffer to a file", save, wire.Reply{}, "", nil, "", "", nil, "", false},
		{"a buffer to a file, open", save, wire.Reply{Open: true}, "", nil, "", "", errOpen, "save-buffer -", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			delimiters := strings.NewReplacer("<1>", "M-1\n", "<2>", "M-2\n")
			tt.rep.Stdout = []byte(delimiters.Replace(tt.stdout))
			r := tripOf(tt.commands).judge(tt.rep, tt.err)
			if got := string(bytes.Join(r.outputs, []byte("|"))); got != delimiters.Replace(tt.outputs) {
				t.Errorf("outputs %q, want %q", got, delimiters.Replace(tt.outputs))
			}
			if got := strings.Join(r.notices, "|"); got != tt.notices {
				t.Errorf("notices %q, want %q", got, tt.notices)
			}
			if r.unexplained != tt.unexplained {
				t.Errorf("unexplained: %v", r.unexplained)
			}
			if r.err == nil {
				r.err = &Error{}
			}
			if r.err.Err != tt.kind {
				t.Errorf("%v, want %v", r.err.Err, tt.kind)
			}
			if got := strings.Join(append([]string{r.err.Command}, r.err.Args...), " "); got != tt.command {
				t.Errorf("of %q, want %q", got, tt.command)
			}
			if r.err.Command != "" && (r.err.ExitCode != tt.rep.Code || r.err.Stderr != strings.TrimPrefix(string(tt.rep.Stderr), "-:1: ")) {
				t.Errorf("%+v", r.err)
			}
		})
	}
}

// The object of an error is what a command of the list has not found, and no hook.
func TestJudgeObjects(t *testing.T) {
	for stderr, want := range map[string]Object{
		"can't find pane: %9":                         {"pane", "%9"},
		"can't find window: w\ncan't find pane: %9":   {"pane", "%9"},
		"can't find window: w\nno space for new pane": {},
		"invalid option: nosuch":                      {"option", "nosuch"},
		"invalid option: " + wire.Unmet:               {},
		"invalid option: " + wire.Unasked:             {},
	} {
		if r := tripOf("split-window").judge(wire.Reply{Code: 1, Stderr: []byte(stderr)}, nil); r.err.Object != want {
			t.Errorf("%q: %v, want %v", stderr, r.err.Object, want)
		}
	}
}

// What is sent: the commands in order with a delimiter between two, and at the end if that proves
// something.
func TestRequests(t *testing.T) {
	type flags struct{ text, mixed bool }
	for _, tt := range []struct {
		commands, words string
		flags
	}{
		{"list-panes", "list-panes; display-message -p M-1", flags{}},
		{"list-panes ; kill-pane", "list-panes; display-message -p M-1; kill-pane; display-message -p M-2", flags{}},
		{"run-shell true", "run-shell true", flags{}},
		{"list-panes ; run-shell -C true", "list-panes; display-message -p M-1; run-shell -C true", flags{text: true}},
		{"run-shell true ; list-panes", "run-shell true; display-message -p M-1; list-panes", flags{}},
		{"list-panes ; show-buffer", "list-panes; display-message -p M-1; show-buffer", flags{}},
		{"show-buffer ; list-panes", "show-buffer; display-message -p M-1; list-panes; display-message -p M-2", flags{}},
		{"save-buffer to x", "save-buffer -", flags{}},
		{"load-buffer -", "load-buffer -; display-message -p M-1", flags{}},
		{"load-buffer - ; delete-buffer", "load-buffer -; display-message -p M-1; delete-buffer; display-message -p M-2", flags{}},
		{"load-buffer - ; rename-window x", "load-buffer -; display-message -p M-1; rename-window x; display-message -p M-2", flags{mixed: true}},
	} {
		trip := tripOf(tt.commands)
		if strings.HasPrefix(tt.commands, "load-buffer") {
			trip.items[0].stdin = []byte("input")
		}
		req, err := trip.request()
		if got := strings.Join(req.Words, " "); err != nil || got != tt.words {
			t.Errorf("%s: %v\n%s, want\n%s", tt.commands, err, got, tt.words)
		}
		if got := (flags{req.Text, req.Mixed}); got != tt.flags {
			t.Errorf("%s: %+v, want %+v", tt.commands, got, tt.flags)
		}
		if string(req.Stdin) != string(trip.items[0].stdin) || (req.File != nil) != (trip.items[0].file != nil) {
			t.Errorf("%s: stdin %q, file %v", tt.commands, req.Stdin, req.File)
		}
	}
}

// What each command does that matters to how it is sent. The letters are in the order of the
// constants: starts a server, touches sessions, only reads, owns the output, has no text of the
// user's, runs commands, goes on after failures, is silent.
func TestEffects(t *testing.T) {
	const letters = "STROUCGQ"
	for words, want := range map[string]string{
		"new-session -d": "ST", "attach-session": "ST", "start-server": "S", "list-commands": "S", "list-keys": "S",
		"list-sessions": "R", "list-windows": "R", "list-panes -a": "R", "show-options -g": "R",
		"display-message x": "", "display-message -p x": "R", "capture-pane": "", "capture-pane -p": "R", "capture-pane -pe": "",
		"show-buffer": "O", "save-buffer -": "O", "save-buffer file": "C", "save-buffer -a -b x -": "O", "save-buffer -b - file": "C",
		"load-buffer -": "UQ", "load-buffer file": "UCQ", "delete-buffer -b x": "UQ", "set-buffer x": "Q",
		"paste-buffer": "UQ", "paste-buffer -d": "UQ", "paste-buffer -s x": "Q",
		"source-file -": "TUCG", "source-file file": "TCG", "if-shell true x": "TCG",
		"set-hook -g x y": "TCQ", "confirm-before x": "TCG", "command-prompt": "TCG", "display-menu": "TCG", "display-popup": "G",
		"run-shell true": "TG", "run-shell -C x": "TCG", "run-shell -bC x": "TCG", "run-shell -- -C": "TCG",
		"split-window": "Q", "split-window -P": "", "split-window -W": "G", "split-window -dPW": "G", "new-window": "Q", "new-window -P": "", "new-window -W": "G", "new-pane": "Q",
		"break-pane": "Q", "break-pane -P": "", "select-pane -m": "", "select-window": "Q", "kill-pane": "Q", "kill-server": "Q", "kill-window -W": "Q",
		"list-clients": "", "list-buffers": "", "show-environment": "", "show-hooks": "", "show-messages": "", "server-access -l": "", "wait-for x": "", "display-panes": "",
		"has-session": "Q", "send-keys -l -P": "", "rename-window x": "Q",
		"nosuch": "TCG", "neww": "TCG", "split": "TCG", "lsp": "TCG",
		"new": "STCG", "new-s": "STCG", "new-sess -d": "STCG", "attach": "STCG", "start": "STCG", "a": "STCG", "lscm": "STCG", "lsk": "STCG", "list-k": "STCG",
		"showb": "TOCG", "show-b": "TOCG", "saveb -": "TOCG", "save -": "TOCG", "saveb file": "TCG", "s": "STOCG", "s -": "STOCG",
	} {
		got := ""
		for i, letter := range letters {
			if encoded(strings.Fields(words)).effects()&(1<<i) != 0 {
				got += string(letter)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
}
