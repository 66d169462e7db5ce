package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/runner"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// typist is a pane with a shell, and a file in which commands count themselves: the truth
// with which answers are compared.
type typist struct {
	t     testing.TB
	srv   *tmux.Server
	p     *peer
	count string
	said  []outcome // the answer to each command
}

func newTypist(t testing.TB, shell string) *typist {
	t.Helper()
	srv, _ := shellPane(t, shell)
	s, p := servedBy(t, configFor(srv))
	s.SetPromptWait(2 * time.Second) // where one is half-typed, or output goes elsewhere, none comes
	waitPrompt(t, srv, "%0")
	return &typist{t: t, srv: srv, p: p, count: filepath.Join(filepath.Dir(srv.SocketPath()), "count")}
}

// has returns how often the n-th command began.
func (y *typist) has(n int) int {
	text, _ := os.ReadFile(y.count)
	return strings.Count(string(text), fmt.Sprintf("<%d>", n))
}

// stray reports whether anything ran that was only partly typed.
func (y *typist) stray() bool {
	text, _ := os.ReadFile(y.count)
	return strings.Contains(string(text), "stray")
}

// outcome is the outcome of a command according to run_command.
type outcome string

const (
	completed outcome = "completed"
	timedOut  outcome = "timed out"
	notBegun  outcome = "not begun"
	refused   outcome = "refused"
	cancelled outcome = "cancelled"
)

// counted returns a command that counts itself.
func (y *typist) counted(command string) string {
	return fmt.Sprintf("echo '<%d>' >>%s; %s", len(y.said), y.count, command)
}

// run runs a command that counts itself, and keeps the answer.
func (y *typist) run(command string, more ...string) (outcome, string) {
	y.t.Helper()
	res := y.p.tool("run_command", runArgs("%0", y.counted(command), more...))
	said := refused
	var r ran
	if err := json.Unmarshal(res.Structured, &r); err == nil && !res.IsError {
		if said = completed; r.TimedOut {
			said = timedOut
		}
	} else if res.Meta["error_type"] == "not_begun" {
		said = notBegun
	}
	y.said = append(y.said, said)
	return said, res.text()
}

func (y *typist) screen() string { return testserver.Run(y.t, y.srv, "capture-pane", "-p", "-t", "%0") }

func (y *typist) keys(keys ...string) {
	y.t.Helper()
	testserver.Run(y.t, y.srv, "send-keys", append([]string{"-t", "%0"}, keys...)...)
}

// settled compares the answers with the counts once everything typed has been read.
func (y *typist) settled() {
	y.t.Helper()
	for n, said := range y.said {
		if said == completed || said == timedOut { // which has begun, and may not have counted yet
			testtool.Eventually(y.t, "a command that has begun counts", func() bool { return y.has(n) > 0 })
		}
	}
	y.still()
	for n, said := range y.said {
		least, most := 1, 1
		switch said {
		case notBegun, refused:
			least, most = 0, 0
		case cancelled:
			least = 0
		}
		if have := y.has(n); have < least || have > most {
			y.t.Errorf("run_command says %q of command %d, and it ran %d times:\n%s", said, n, have, y.screen())
		}
	}
	if y.stray() {
		y.t.Errorf("a half-typed line ran:\n%s", y.screen())
	}
}

// still waits until the shell has read what was typed, and the screen has not changed for a
// while.
func (y *typist) still() {
	y.t.Helper()
	words := strings.Fields(testserver.Run(y.t, y.srv, "display-message", "-p", "-t", "%0", "#{pane_pid} #{pane_tty}"))
	pid, err := strconv.Atoi(words[0])
	if err != nil {
		y.t.Fatal(err)
	}
	last := "\x00"
	testtool.Eventually(y.t, "the shell waits and its screen is still", func() bool {
		shell, err := runner.ForegroundOf(pid, words[1], "")
		before := last
		last = y.screen()
		time.Sleep(150 * time.Millisecond)
		return err == nil && shell.Prompt && shell.Waiting && before == last
	})
}

// TestRunCommandBeginsOnceOrNotAtAll: whatever the state of the line editor, a command runs
// once, and the answer says so, or it never runs and that is an error.
func TestRunCommandBeginsOnceOrNotAtAll(t *testing.T) {
	t.Parallel()
	editors, err := os.ReadFile("testdata/editors.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, editor := range strings.Split(strings.TrimSpace(string(editors)), "\n") {
		if editor[0] == '#' {
			continue
		}
		e := strings.Split(editor, " | ")
		in, name, setup, keys := strings.Fields(e[0]), e[1], strings.TrimPrefix(e[2], "-"), strings.Fields(strings.TrimPrefix(e[3], "-"))
		if !testtool.Full { // each state in one of its shells, each shell in some states
			in = in[i%len(in):][:1]
		}
		for _, shell := range in {
			t.Run(shell+" "+name, func(t *testing.T) {
				t.Parallel()
				y := newTypist(t, shell)
				if setup != "" {
					typeLine(t, y.srv, "%0", setup)
					time.Sleep(100 * time.Millisecond) // nothing shows that the shell has read it
				}
				half := "echo stray >>" + y.count
				typeLine(t, y.srv, "%0", "true # "+half) // for what recalls a line
				time.Sleep(100 * time.Millisecond)       // nothing shows that the shell has read it
				for range testtool.Size(1, 2) {          // the second time a command has been here before
					for _, k := range keys {
						y.keys(strings.NewReplacer("HALF", half, "OPEN", half+" '").Replace(k))
						if k == "Escape" {
							time.Sleep(600 * time.Millisecond) // until it is no part of a sequence
						}
					}
					y.still()
					said, text := y.run("echo out")
					switch {
					case name == "restricted":
						// What the shell says has a path, however long, and so may be wrapped anywhere.
						unwrapped := strings.NewReplacer("\n", "", `\n`, "").Replace(text)
						if said != notBegun || !strings.Contains(unwrapped, "restricted") {
							t.Errorf("in a restricted shell: %s", text)
						}
						continue
					case said != completed:
						t.Errorf("%s", text)
					case !strings.Contains(text, `"exit_status":0`) || strings.Contains(text, `"lines_missed":true`):
						t.Errorf("%s", text)
					case !strings.Contains(setup, "exec >") && !strings.Contains(text, `["out"]`):
						t.Errorf("%s", text)
					}
				}
				y.settled()
			})
		}
	}
}

// TestRunCommandAgreesWithTheTruth: whatever happens to a command, the answer reports its
// real outcome.
func TestRunCommandAgreesWithTheTruth(t *testing.T) {
	t.Parallel()
	eachShell(t, 3, func(t *testing.T, shell string) {
		y := newTypist(t, shell)
		random := rand.New(rand.NewPCG(11, uint64(len(shell))))
		ms := func(most int) time.Duration { return time.Duration(random.IntN(most)) * time.Millisecond }
		half := "echo stray >>" + y.count
		counts := map[outcome]int{}
		for range testtool.Size(3, 100) {
			switch random.IntN(6) {
			case 0: // the limit comes before, at or after the begin
				y.run("sleep 0.03", fmt.Sprintf(`"timeout":%g`, (ms(60)+time.Millisecond).Seconds()))
			case 1:
				c, id := y.p.begin("tools/call", map[string]any{"name": "run_command", "arguments": map[string]any{"pane_id": "%0", "command": y.counted("sleep 0.03")}})
				time.Sleep(ms(40)) // at about the time it begins
				y.p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
				select {
				case <-c:
				case <-time.After(200 * time.Millisecond):
				}
				y.said = append(y.said, cancelled)
			case 2: // a program that ends meanwhile
				y.keys("sleep 0.1", "Enter")
				time.Sleep(ms(150)) // while it runs, at its end or after
				y.run("true")
			case 3:
				y.keys(half)
				time.Sleep(ms(50)) // before, while or after it is read
				y.run("true")
			case 4:
				y.keys(half+" '", "Enter")
				y.still()
				y.run("true")
			case 5:
				if said, text := y.run("sh -c 'exit 7'"); said == completed && !strings.Contains(text, `"exit_status":7`) {
					t.Errorf("%s", text)
				}
			}
			// The shell is at its prompt again.
			for {
				if said, text := y.run("true"); said == completed {
					break
				} else if said == refused && !strings.Contains(text, "pane %0 runs") && !strings.Contains(text, "busy") {
					t.Errorf("%s", text)
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		y.settled()
		for _, said := range y.said {
			counts[said]++
		}
		t.Log(counts)
	})
}

// TestRunCommandDropsTheLine: whatever the prompt looks like and the shell does with an
// interrupt, a command begins soon, and without what was half typed. fish stays in its row
// at an interrupt with nothing typed, and from 4.1 on always; zsh stays in its row when one
// ends a search.
func TestRunCommandDropsTheLine(t *testing.T) {
	t.Parallel()
	wrapped := "echo " + strings.Repeat("x", 100) + " #" // over two rows
	fish := [][]string{{}, {"HALF"}, {"HALF", "M-Enter", "cat >"}, {"HALF '", "Enter", "b>"}, {"HALF", "M-Enter", wrapped}}
	seen := map[string]bool{}
	for _, c := range []struct {
		shell, setup string
		lines        [][]string // what is typed
	}{
		{"fish", "function fish_prompt; echo -n '> '; end", fish},
		{"fish", "function fish_prompt; echo -n 'word '; end", fish},
		{"fish", "function fish_prompt; echo two; echo -n 'λ'; end", fish},
		{"fish", "function fish_prompt; end", fish[:4]},
		{"zsh", "true", [][]string{
			{"HALF", "C-r"}, {"HALF", "M-x"}, {"HALF", "M-Enter", "cat >", "C-r"}, {"HALF", "C-r", "tr"},
			{"HALF; for x in a b", "Enter", "do echo #"}, {"HALF &&", "Enter"}, {"HALF &&", "Enter", wrapped},
		}},
		{"zsh", "PROMPT2='∙ '", [][]string{{"HALF; for x in a b", "Enter"}, {"HALF &&", "Enter", "echo #"}}},
		{"bash", "PS2='… '", [][]string{{"HALF &&", "Enter"}, {"HALF '", "Enter", "ab>"}, {"HALF", "C-r"}}},
		{"bash", "true", [][]string{{"HALF '", "Enter", "ab>"}, {"HALF &&", "Enter", "echo #"}, {"HALF &&", "Enter", wrapped}}},
		{"dash", "true", [][]string{{"HALF &&", "Enter", "echo #"}, {"HALF &&", "Enter", wrapped}}},
	} {
		if !testtool.Full && seen[c.shell] { // another prompt matters; all lines, once for each shell
			c.lines = c.lines[:2]
		}
		seen[c.shell] = true
		t.Run(c.shell+" "+c.setup, func(t *testing.T) {
			t.Parallel()
			srv, _ := shellPane(t, c.shell)
			s, p := promptly(t, srv)
			waitPrompt(t, srv, "%0")
			p.expect("%0", "echo first", "first")
			y := &typist{t: t, srv: srv, p: p, count: filepath.Join(filepath.Dir(srv.SocketPath()), "count")}
			typeLine(t, srv, "%0", c.setup+"; clear")
			y.still()
			s.SetPromptWait(time.Minute)
			for _, line := range c.lines {
				for _, k := range line {
					y.keys(strings.ReplaceAll(k, "HALF", "echo stray >>"+y.count))
					y.still()
				}
				if said, text := y.run("echo out", `"timeout":20`); said != completed || !strings.Contains(text, `["out"]`) {
					t.Errorf("after %q: %s\n%s", line, text, y.screen())
				}
			}
			y.settled()
		})
	}
}
