package agents

import (
	"testing"

	"tmuxmcp/server/internal/conversation"
)

// What an agent says of its state counts more than a screen that follows it, except for what it
// asks: a dialog of its own menus is none to it, and one that is not drawn has no choices.
func TestAmend(t *testing.T) {
	t.Parallel()
	box := &Box{}
	for _, c := range []struct {
		shown   Status
		doing   string
		want    State
		opening bool
	}{
		{Status{State: Idle, Box: box}, "busy", Working, false},
		{Status{State: Unknown}, "busy", Working, false},
		{Status{State: Working, Box: box}, "idle", Idle, false},
		{Status{State: Unknown}, "idle", Idle, false},
		{Status{State: Asks}, "idle", Asks, false},
		{Status{State: Asks}, "busy", Asks, false},
		{Status{State: Working, Box: box}, "waiting", Working, true},
		{Status{State: Unknown}, "waiting", Asks, false},
		{Status{State: Idle, Box: box}, "shell", Idle, false},
		{Status{State: Unknown}, "", Unknown, false},
	} {
		s := c.shown
		s.amend(&conversation.State{Doing: c.doing, For: "permission prompt"})
		if s.State != c.want || s.Opening != c.opening {
			t.Errorf("%+v and %q is %+v", c.shown, c.doing, s)
		}
	}
	s := Status{State: Idle, Box: box}
	if s.amend(nil); s.State != Idle {
		t.Errorf("without a file it is %+v", s)
	}
}

// The answer is that to the prompt which was sent, and not to one that has it in it.
func TestQuestionKnowsItsPrompt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prompt, said string
		same, within bool
	}{
		{"go", "please go on with the other thing", false, false},
		{"go", "go", true, false},
		{"?", "?", true, false},
		{"?", "anything", false, false},
		{"Fix it:\n\tnow", "Fix it: now", true, false},
		{"a prompt of more than forty letters, which one hardly types twice", "<pasted>a prompt of more than forty letters, which one hardly types twice</pasted>", false, true},
	} {
		q := (&Finder{}).question(c.prompt)
		if q.same(c.said) != c.same || !c.same && q.within(c.said) != c.within {
			t.Errorf("%q is taken for %q: same %t, within %t", c.said, c.prompt, q.same(c.said), q.within(c.said))
		}
	}
}
