package main

import (
	"regexp"
	"runtime"
	"strings"
)

// Jobs that supervise agent CLIs. In each, one is soon done, one asks in the middle of
// its work, and one takes longest.

// A crew is three agent CLIs in the session crew.
type crew struct {
	*stage
	panes []string
}

func (s *stage) crew(program string) crew {
	c := crew{stage: s}
	for i, args := range []string{"quick", "asks", "slow"} {
		if i == 0 {
			c.panes = append(c.panes, s.session("crew", "exec "+program+" "+args))
		} else {
			c.panes = append(c.panes, s.window("crew", "exec "+program+" "+args))
		}
	}
	for _, p := range c.panes {
		s.await(p, ready)
	}
	return c
}

// begin lets the work begin, all at once.
func (c crew) begin() { c.write("begin", "") }

// check checks that the question was answered, once and when it was asked, and that all
// agents are done.
func (c crew) check(asked, question string, done []string) {
	want("the pane that asked", asked, c.panes[1])
	if truth := strings.TrimSpace(c.read("question")); !strings.Contains(question, truth) {
		failf("outcome: the question was %q; the agent has read %q", truth, question)
	}
	want("answers", c.read("answer"), "yes\n")
	want("keys without a question", c.read("stray"), "")
	for _, p := range c.panes {
		if !strings.Contains(strings.Join(done, " "), p) {
			failf("outcome: the agent has not noticed that %s is done", p)
		}
	}
	for i, name := range []string{"quick", "asks", "slow"} {
		want("end of "+name, c.read(name+".done"), "done\n")
		c.await(c.panes[i], "All changes are in place")
	}
}

// event is what a wait for several panes reports of one: its new lines.
type event struct{ pane, facts, text string }

// events parts the result of a wait for several panes. A line in brackets that begins
// with a pane is about that pane, and its lines are below.
func events(text string) (all []event) {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "[%") {
			pane, facts, _ := strings.Cut(strings.Trim(line, "[]"), " ")
			all = append(all, event{pane: pane, facts: facts})
		} else if n := len(all); n > 0 {
			all[n-1].text += line + "\n"
		}
	}
	return all
}

// nothingYet are the panes in which nothing has happened.
var nothingYet = regexp.MustCompile(`nothing yet in ((?:%\d+ ?)+)`)

// supervise waits for whatever happens first in any pane, until something was asked;
// then for all of them: whichever asks or is done.
func (c crew) supervise(wait args, asks, isDone func(event) bool, answer args) (play func(*agent), check func()) {
	var asked, question string
	var done []string
	play = func(a *agent) {
		c.begin()
		panes, until := []string{"crew"}, "any"
		for panes != nil {
			in := args{"panes": panes, "until": until, "timeout": 60}
			for name, value := range wait {
				in[name] = value
			}
			text := a.call("wait_for_text", in)
			var rest []string
			if waiting := nothingYet.FindStringSubmatch(text); waiting != nil {
				rest = strings.Fields(waiting[1])
			}
			for _, e := range events(text) {
				switch {
				case asks(e):
					asked, question, until = e.pane, e.text, "all"
					keys := args{"pane_id": e.pane}
					for name, value := range answer {
						keys[name] = value
					}
					a.call("send_keys", keys)
					rest = append(rest, e.pane)
				case isDone(e):
					done = append(done, e.pane)
				default:
					failf("the agent reads neither a question nor an end in:\n%s", text)
				}
			}
			panes = rest
		}
	}
	return play, func() { c.check(asked, question, done) }
}

func superviseLines(s *stage) (func(*agent), func()) { return s.crew("lines-agent").byText() }

func superviseFull(s *stage) (func(*agent), func()) { return s.crew("full-agent").byText() }

// byText supervises CLIs of which the server knows nothing.
func (c crew) byText() (func(*agent), func()) {
	// An answer is echoed behind the question.
	open := regexp.MustCompile(`(?m)\[y/n\]\s*$`)
	return c.supervise(args{"patterns": []string{`\[y/n\]\s*$`, "All changes are in place"}, "regex": true},
		func(e event) bool { return open.MatchString(e.text) },
		func(e event) bool { return strings.Contains(e.text, "All changes are in place") },
		args{"keys": "y"})
}

// superviseBox has CLIs that look like one whose states the server knows.
func superviseBox(s *stage) (func(*agent), func()) {
	return s.crew("claude").supervise(args{"state": []string{"asks", "idle"}},
		func(e event) bool { return strings.Contains(e.text, "Do you want to proceed?") },
		func(e event) bool { return strings.Contains(e.text, "? for shortcuts") },
		args{"keys": "1", "enter": false})
}

// agentsUnknown says why the server does not know which program is an agent CLI.
func agentsUnknown() string {
	if runtime.GOOS != "linux" {
		return "tmux-mcp finds agent CLIs by /proc, which only Linux has"
	}
	return ""
}
