package typing

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

// TestWhoseKeysCount types at terminals, and asks of panes whether that was into them. What
// counts never goes unnoticed by the condition in the list that types.
func TestWhoseKeysCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first string // tmux commands, separated by semicolons
		into  string // the session that a person attaches to, and how
		then  string // tmux commands after that
		keys  string
		typed string // the panes that count as typed into, of %0 to %3
	}{
		"the active pane of the current window": {into: "a", keys: "x", typed: "%0"},
		"another window":                        {first: "select-window -t a:1", into: "a", keys: "x", typed: "%2"},
		"another session":                       {into: "b", keys: "x", typed: "%3"},
		"nobody has typed":                      {into: "a"},
		"a read-only client":                    {into: "a -r", keys: "x"},
		"synchronized panes":                    {first: "set-option -w -t a:0 synchronize-panes on", into: "a", keys: "x", typed: "%0 %1"},
		"only one of them is synchronized":      {first: "set-option -p -t %1 synchronize-panes on", into: "a", keys: "x", typed: "%0"},
		"a grouped session":                     {first: "new-session -d -t a -s g ; select-window -t g:1", into: "g", keys: "x", typed: "%2"},
		"a linked window":                       {first: "link-window -s a:1 -t b:5", into: "b", keys: "x", typed: "%2"},
		"a zoomed pane":                         {first: "resize-pane -Z -t %1", into: "a", keys: "x", typed: "%1"},
		"an active pane of its own":             {into: "a -f active-pane", keys: "x", typed: "%0 %1"},
		"the pane was switched to later":        {into: "a", keys: "x", then: "select-pane -t %1", typed: "%1"},
		"the client has gone":                   {into: "a", keys: "x", then: "detach-client -s a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := testserver.New(t)
			run := func(line string) {
				for command := range strings.SplitSeq(line, " ; ") {
					if words := strings.Fields(command); len(words) > 0 {
						testserver.Run(t, srv, words[0], words[1:]...)
					}
				}
			}
			run("new-session -d -s a -x 80 -y 24 cat ; split-window -d -t %0 cat ; new-window -d -t a:1 cat ; new-session -d -s b -x 80 -y 24 cat")
			run(test.first)
			words := strings.Fields(test.into)
			person := testserver.Arrive(t, srv, words[0], words[1:]...)
			if test.keys != "" {
				person.Type(test.keys)
			}
			run(test.then)
			if strings.HasPrefix(test.then, "detach") {
				testserver.Wait(t, srv, "%0", "no client", func() bool { return testserver.Run(t, srv, "list-clients") == "" })
			}
			var typed []string
			for i := range 4 {
				pane := tmux.PaneID(fmt.Sprintf("%%%d", i))
				at, age, is, err := keyOf(t.Context(), srv, target.AtPane(pane))
				if err != nil || at != pane {
					t.Fatalf("%s %v", at, err)
				}
				holds := testserver.Run(t, srv, "display-message", "-p", "-t", string(pane), string(quiet(age+60)))
				if is {
					typed = append(typed, string(pane))
					if holds != "0" {
						t.Errorf("nobody has typed in %s %d s ago is %s", pane, age, holds)
					}
				}
			}
			if v, err := srv.Version(t.Context()); err == nil && v.Has(tmux.Version{Major: 3, Minor: 8}) && strings.Contains(test.into, "active-pane") {
				test.typed = "%0" // no client has one of its own any more
			}
			if got := strings.Join(typed, " "); got != test.typed {
				t.Errorf("typed into %q, want %q; clients:\n%s", got, test.typed,
					testserver.Run(t, srv, "list-clients", "-F", "#{client_activity} #{client_created} #{pane_id} #{client_flags}"))
			}
			if quietly := testserver.Run(t, srv, "display-message", "-p", "-t", "%3", string(quiet(60))); !strings.HasPrefix(test.into, "b") && quietly != "1" {
				t.Errorf("a window that nobody looks at is quiet is %s", quietly)
			}
		})
	}
}

// A control client sends commands, and no keys.
func TestControlClientTypesNothing(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "a", "cat")
	client := exec.Command(srv.Binary(), "-S", srv.SocketPath(), "-C", "attach-session", "-t", "a")
	in, err := client.StdinPipe()
	if err == nil {
		err = client.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); client.Wait() }()
	fmt.Fprintln(in, "send-keys -t %0 hello")
	testserver.WaitScreen(t, srv, "%0", "hello")
	if _, age, typed, err := keyOf(t.Context(), srv, target.AtPane("%0")); typed || err != nil {
		t.Errorf("somebody typed %d s ago (%v)", age, err)
	}
}
