package clients

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// promptShapes are what prompts look like; TOKEN is different in each.
var promptShapes = []string{
	"Please say hello to TOKEN now",
	strings.Repeat("line of forty about TOKEN, with some words in it\n", 39) + "and the last one",
	"Fix TOKEN: \"double\" 'single' `back` \\n $HOME %s {x} [y] <z> & | ; ~ * ? #{pane_id} #[fg=red]",
	"if TOKEN:\n\treturn\t1\n\nprint('after a blank line')\n",
	"日本語 TOKEN はい、café naïve Ωμέγα 👩‍👩‍👧 🎉 عربي",
	"/etc/hosts is a file about TOKEN, look at it",
	strings.Repeat("eight kilobytes of TOKEN and of more words than that; ", 148) + "end",
	"!important: TOKEN first",
	"/help TOKEN",
	"See TOKEN in @run",
}

// A prompt of any shape reaches the model of each CLI once and unchanged, or is refused
// with nothing typed; and agent_status agrees with what the model's stand-in knows. PROMPTS
// is the number of prompts, 10 by default; see docs/clients.md.
func TestPrompts(t *testing.T) {
	for _, c := range agentClients(t) {
		name := strings.TrimSpace(c.name + " " + c.colours)
		t.Run(name, func(t *testing.T) {
			n := len(promptShapes)
			if c.colours != "" {
				n = 6 // with a dialog
			}
			if many, err := strconv.Atoi(os.Getenv("PROMPTS")); err == nil {
				n = many
			}
			s := newPromptStage(t, c)
			done, sampled := make(chan struct{}), make(chan tally)
			go s.follow(done)
			go func() { sampled <- s.sample(done) }()
			s.truth.now("idle")

			var got result
			for i := range n {
				token := fmt.Sprintf("p%04dq", i)
				text := strings.ReplaceAll(promptShapes[i%len(promptShapes)], "TOKEN", token)
				s.deliver(&got, text, token, (i/len(promptShapes)+i)%2 == 1)
				if i%20 == 5 {
					s.intoDialog(&got, fmt.Sprintf("d%04dq", i))
				}
			}
			close(done)
			all := <-sampled
			s.ends()
			version := ""
			if v := s.mcp.status().Version; v != nil {
				version = *v
			}
			share := 100 * float64(all.right) / float64(max(all.right+all.wrong, 1))
			report(t, "%-13s %-8s %d prompts: %d received once and unchanged, %d refused with nothing typed, %d not as they should; %d dialogs, none typed into: %d; "+
				"state right in %.1f%% of %d samples; a dialog noticed after %v; send_prompt takes %v, agent_status %v (medians)", name, version,
				n, got.once, got.refused, got.wrong, got.dialogs, got.spared, share, all.right+all.wrong, median(s.truth.noticed), median(got.took), median(all.took))
			if got.wrong > 0 || got.dialogs != got.spared || got.refused > n*3/len(promptShapes)+3 {
				t.Errorf("%+v", got)
			}
			if t.Logf("wrong samples: %q", all.examples); share < 90 { // a few samples may be wrong on a busy machine
				t.Error("agent_status is wrong too often")
			}
		})
	}
}

// result is the outcome of the prompts.
type result struct {
	once, refused, wrong, dialogs, spared int
	took                                  []time.Duration
}

// tally compares the states that were read with the truth.
type tally struct {
	right, wrong int
	examples     []string
	took         []time.Duration
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[len(d)/2].Round(time.Millisecond)
}

// sample reads the state repeatedly.
func (s *promptStage) sample(done chan struct{}) (all tally) {
	for {
		select {
		case <-done:
			return all
		case <-time.After(40 * time.Millisecond):
		}
		at := time.Now()
		state := s.eyes.status().State
		all.took = append(all.took, time.Since(at))
		s.truth.noticing(state)
		if s.truth.right(time.Now(), state) {
			all.right++
			continue
		}
		all.wrong++
		if len(all.examples) < 8 {
			s.truth.mu.Lock()
			last := s.truth.changes[len(s.truth.changes)-1]
			s.truth.mu.Unlock()
			all.examples = append(all.examples, fmt.Sprintf("%s, %s since %v", state, last.states, time.Since(last.at).Round(time.Millisecond)))
			if os.Getenv("PROMPTS_SCREENS") != "" {
				s.Logf("%s, and not %s:\n%s", state, last.states, s.screen())
			}
		}
	}
}

// send has a prompt sent, whatever the agent is doing.
func (s *promptStage) send(got *result, text string) (said string, ok bool) {
	start := time.Now()
	s.truth.now("idle working")
	said, ok = s.mcp.call("send_prompt", map[string]any{"pane_id": "%0", "prompt": text}, nil)
	if ok {
		got.took = append(got.took, time.Since(start))
	}
	return said, ok
}

// deliver sends a prompt, while the agent works if busy, and counts the outcome.
func (s *promptStage) deliver(got *result, text, token string, busy bool) {
	if busy {
		if said, ok := s.send(got, slowly+"s"+token); !ok {
			s.Errorf("a slow prompt: %s\n%s", said, s.screen())
			return
		}
		s.awaits("working")
	}
	said, ok := s.send(got, text)
	for deadline := time.Now().Add(30 * time.Second); ok && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if _, parts := s.heard(text, " "+token); parts > 0 {
			break
		}
		if _, parts := s.heard(text, token); parts > 1 || parts == 1 && !busy {
			break
		}
	}
	a := s.awaits("idle")
	exactly, parts := s.heard(text, token)
	if busy {
		parts-- // the slow one
	}
	switch {
	case ok && exactly == 1 && parts == 1:
		got.once++
	case !ok && exactly == 0 && parts == 0 && a.Input == nil && strings.Contains(said, "nothing was typed"):
		got.refused++
		s.Logf("refused: %.40q: %s", text, said)
	default:
		got.wrong++
		s.Errorf("%.60q was heard %d times, in part %d: %s\nof %.900q\n%s", text, exactly, parts, said, s.model.Heard(), s.screen())
	}
}

// intoDialog makes the agent ask something, tries to send a prompt meanwhile, and answers.
func (s *promptStage) intoDialog(got *result, token string) {
	got.dialogs++
	if said, ok := s.send(got, asking+token); !ok {
		s.Errorf("%s\n%s", said, s.screen())
		return
	}
	s.awaits("asks")
	said, ok := s.mcp.call("send_prompt", map[string]any{"pane_id": "%0", "prompt": "not into a dialog, x" + token}, nil)
	b := s.awaits("asks")
	if !ok && strings.Contains(said, "nothing was typed") && strings.Contains(said, "asks") && len(b.Choices) > 1 && b.Question != nil {
		got.spared++
	} else {
		s.Errorf("with a dialog up: %s\n%+v\n%s", said, b, s.screen())
	}
	s.truth.now("asks working")
	for _, c := range b.Choices { // grok first offers never to ask again
		if !strings.Contains(c.Label, "ask again") {
			s.pick(c.Keys)
			break
		}
	}
	s.awaits("idle")
	if _, parts := s.heard("", "x"+token); parts > 0 {
		s.Errorf("it went into the dialog")
	}
	if _, err := os.Stat(s.dir + "/file"); err != nil {
		s.Errorf("the choice was not picked: %v", err)
	}
	os.Remove(s.dir + "/file")
}

// pick presses the keys of a choice, and again if the client ignored them, as claude
// 2.1.330 did in one of ten dialogs.
func (s *promptStage) pick(keys []string) {
	for try := range 3 {
		if try > 0 {
			report(s.T, "%s has not taken the keys %q; they are pressed again", s.agentClient.name, keys)
		}
		s.tmux(append([]string{"send-keys", "-t", "%0"}, keys...)...)
		for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(30 * time.Millisecond) {
			if s.mcp.status().State != "asks" {
				return
			}
		}
	}
}

// ends ends the program, which agent_status must notice.
func (s *promptStage) ends() {
	for _, pid := range strings.Fields(s.tmux("display-message", "-p", "-t", "%0", "#{pane_pid}")) {
		s.tmux("run-shell", "kill -KILL "+pid)
	}
	s.awaits("ended")
	if said, ok := s.mcp.call("send_prompt", map[string]any{"pane_id": "%0", "prompt": "hello"}, nil); ok || !strings.Contains(said, "nothing was typed") {
		s.Errorf("after its end: %s", said)
	}
	if said, ok := s.mcp.call("send_prompt", map[string]any{"pane_id": "%1", "prompt": "hello"}, nil); ok || !strings.Contains(said, "not an agent") {
		s.Errorf("into a shell: %s", said)
	}
}
