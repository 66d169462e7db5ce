package deliver

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server/internal/agents"
)

// Something is typed only while the cursor is where it was. If the program draws its own
// cursor, the terminal's may be anywhere, and the first row of the box must be on the screen.
func TestUnmoved(t *testing.T) {
	const first = `│ > ~#{x} *     │`
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "80", "-y", "24", "echo '"+first+"'; exec cat")
	testserver.WaitScreen(t, srv, "%0", "│")
	pid, err := strconv.Atoi(testserver.Run(t, srv, "display-message", "-p", "-t", "%0", "#{pane_pid}"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(ownCursor bool, shown, want string) {
		t.Helper()
		p := &prompter{now: agents.Agent{Program: agents.Program{Rules: new(agents.Rules)}}}
		p.now.Rules.Box.OwnCursor = ownCursor
		p.now.PID, p.now.Y, p.now.Box = pid, 1, &agents.Box{First: shown}
		if got := testserver.Run(t, srv, "display-message", "-p", "-t", "%0", string(p.unmoved())); got != want {
			t.Errorf("own cursor %t, first row %s: the condition is %s", ownCursor, shown, got)
		}
	}
	check(false, first, "1")
	check(true, first, "1")
	testserver.Run(t, srv, "send-keys", "-t", "%0", "elsewhere")
	testserver.WaitScreen(t, srv, "%0", "elsewhere")
	check(false, first, "0")
	check(true, first, "1")
	check(true, "│ > another  │", "0")
}

// Enter is pressed again only if the cursor shows that it became a newline.
func TestEntering(t *testing.T) {
	t.Parallel()
	box := func(text string, row int) agents.Agent {
		return agents.Agent{Status: agents.Status{State: agents.Idle, Box: &agents.Box{Text: text, Row: row}}}
	}
	state := func(s agents.State) agents.Agent { return agents.Agent{Status: agents.Status{State: s}} }
	died := func() agents.Agent {
		s := state(agents.Ended)
		s.Dead = true
		return s
	}
	entered := entering{pressed: true, row: 2}
	for _, c := range []struct {
		name           string
		e              entering
		now            agents.Agent
		holds, settled bool
		want           step
	}{
		{"the box has the prompt", entering{}, box("it", 2), true, false, press},
		{"it has something else", entering{}, box("else", 2), false, true, waits},
		{"the box is empty before Enter", entering{}, box("", 2), false, true, waits},
		{"it asks before Enter", entering{}, state(agents.Asks), false, true, waits},
		{"it ends before Enter", entering{}, died(), false, true, waits},
		{"the box is empty", entered, box("", 0), false, false, taken},
		{"it asks", entered, state(agents.Asks), false, false, taken},
		{"it has ended", entered, died(), false, true, dies},
		{"no box is there", entered, state(agents.Unknown), false, true, waits},
		{"the box keeps the prompt", entered, box("it", 2), true, true, waits},
		{"the cursor is a row below", entered, box("it", 3), true, true, press},
		{"it may still move", entered, box("it", 3), true, false, waits},
		{"it is two rows below", entered, box("it", 4), true, true, waits},
		{"the prompt is no longer there", entered, box("else", 3), false, true, waits},
		{"the third newline", entering{true, 2, 2}, box("it", 3), true, true, press},
		{"enough newlines", entering{true, 2, 3}, box("it", 3), true, true, waits},
	} {
		if got := c.e.next(c.now, c.holds, c.settled); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// What is typed at which screens, and why not.
func TestAccepts(t *testing.T) {
	t.Parallel()
	rules := func(name string) *agents.Rules {
		all := agents.BuiltIn()
		return all[slices.IndexFunc(all, func(r *agents.Rules) bool { return r.Name == name })]
	}
	queues := rules("claude")
	alone := *queues
	alone.Queues = false
	empty, full := new(agents.Box), &agents.Box{Text: "draft"}
	for _, c := range []struct {
		name   string
		now    agents.Status
		rules  *agents.Rules
		prompt string
		want   bool
		fault  string
	}{
		{"idle", agents.Status{State: agents.Idle, Box: empty}, queues, "go", true, ""},
		{"working, and it queues", agents.Status{State: agents.Working, Box: empty}, queues, "go", true, ""},
		{"working, and it does not", agents.Status{State: agents.Working, Box: empty}, &alone, "go", false, ""},
		{"working, and it runs a command only while idle", agents.Status{State: agents.Working, Box: empty}, rules("droid"), "/help", false, ""},
		{"working, and no command", agents.Status{State: agents.Working, Box: empty}, rules("droid"), "help", true, ""},
		{"idle, and a command", agents.Status{State: agents.Idle, Box: empty}, rules("droid"), "/help", true, ""},
		{"about to ask", agents.Status{State: agents.Working, Box: empty, Opening: true}, queues, "go", false, ""},
		{"asks", agents.Status{State: agents.Asks, Question: "Proceed?"}, queues, "go", false, "claude asks: Proceed?"},
		{"the box has a draft", agents.Status{State: agents.Idle, Box: full}, queues, "go", false, "the input box is not empty: draft"},
		{"no box", agents.Status{State: agents.Unknown}, queues, "go", false, ""},
	} {
		p := &prompter{in: Prompt{Text: c.prompt}, now: agents.Agent{Pane: agents.Pane{ID: "%1"}, Program: agents.Program{Name: "claude", Rules: c.rules}, Status: c.now}}
		got, err := p.accepts()
		text := ""
		if err != nil {
			text = strings.TrimPrefix(err.Error(), "nothing was typed into pane %1: ")
		}
		if got != c.want || text != c.fault {
			t.Errorf("%s: %t %q, want %t %q", c.name, got, text, c.want, c.fault)
		}
	}
}
