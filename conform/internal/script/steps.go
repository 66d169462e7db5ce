package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
)

const (
	// maxSteps is the most that is recorded of a script.
	maxSteps = 1000
)

// note records a step of the line that runs.
func (s *script) note(ts *testscript.TestScript, do string, words []string) *child.Step {
	if len(s.steps) == maxSteps {
		return &child.Step{}
	}
	st := child.Step{Line: s.now.number, Do: do}
	for _, w := range words {
		st.Words = append(st.Words, s.shellWord(ts, w, func(name string) bool {
			return strings.Contains(s.now.text, "$"+name) || strings.Contains(s.now.text, "${"+name)
		}))
	}
	s.steps = append(s.steps, st)
	return &s.steps[len(s.steps)-1]
}

// shellWord quotes a word for a shell. Where it has the value of a variable of the script
// that is used, it has the variable: the value may differ the next time.
func (s *script) shellWord(ts *testscript.TestScript, word string, used func(name string) bool) string {
	word = child.Clip(word) // it may have what a target printed
	var pairs []string
	add := func(value, variable string) {
		if value != "" {
			pairs = append(pairs, value, `'"`+variable+`"'`)
		}
	}
	add(s.socket, "$d/s")
	add(ts.Getenv("WORK"), "$PWD")
	add(ts.Getenv("HOME"), "$HOME")
	for _, name := range s.saved {
		if used(name) {
			add(ts.Getenv(name), "${v_"+name+"}") // no variable of reproducer.sh
		}
	}
	quoted := strings.NewReplacer(append(pairs, "'", `'"'"'`)...).Replace(word)
	if quoted == word {
		return report.CommandLine([]string{word})
	}
	return strings.ReplaceAll("'"+quoted+"'", "''", "") // nothing between two variables
}

// noteAction records a command of tmux, api or mcp.
func (s *script) noteAction(ts *testscript.TestScript, words []string) *child.Step {
	switch words[0] {
	case "tmux":
		return s.note(ts, "run", words[1:])
	case "control":
		return s.note(ts, "control", words[1:])
	case "mcp":
		tool, object, _, err := callOf(words[1:])
		if err == nil {
			tool, object, err = s.req.Dialect.Ask(tool, object)
		}
		if err != nil {
			break
		}
		if s.mcpServer.Load() == nil {
			s.note(ts, "serve", s.serverEnv())
		}
		raw, _ := json.Marshal(object)
		return s.note(ts, "run", []string{"mcp", tool, string(raw)})
	case "mcp-leave":
		return s.note(ts, "leave", nil)
	}
	return s.note(ts, child.Comment, words)
}

// printed is what a step printed, as the reproducer shows it, quoted.
type printed struct {
	step int // its number, from 1
	do   string
	text string
}

// maxShown is how much of an output a reproducer compares, in bytes.
const maxShown = 3000

// noteOutcome keeps what the last step printed, for the reproducer to compare it if that was
// wrong.
func (s *script) noteOutcome(ts *testscript.TestScript) {
	o := s.shown
	text := strings.TrimRight(cmp.Or(o.raw, o.stdout+o.stderr), "\n")
	if code := o.code; code != 0 || o.err != nil && o.raw == "" {
		text += fmt.Sprintf("\n(exit status %d)", max(1, code))
	}
	s.printed = printed{len(s.steps), "same", strings.TrimLeft(text, "\n")}
	if text := s.printed.text; len(text) > maxShown || o.raw != "" && o.err != nil {
		s.printed.do, s.printed.text = "begins", strings.ToValidUTF8(text[:min(len(text), maxShown)], "")
	}
	s.printed.text = s.shellWord(ts, s.printed.text, func(string) bool { return false })
}

// mark makes a step one that shows the first failure of the script.
func (s *script) mark(p printed) {
	if !s.marked && p.step > 0 {
		s.steps[p.step-1].Shows = p.do + " " + p.text
	}
}
