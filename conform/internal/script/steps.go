package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// maxSteps is the most that is recorded of a script.
const maxSteps = 1000

// recording is what a script did, in the words of a shell.
type recording struct {
	socket  string
	all     []child.Step
	saved   []string // the names of variables
	printed printed  // what the last command printed
	marked  bool     // the steps that show the failure are
}

// note records a step of a line.
func (r *recording) note(ts *testscript.TestScript, line gap.Line, do string, words []string) *child.Step {
	if len(r.all) == maxSteps {
		return &child.Step{}
	}
	st := child.Step{Line: line.Number, Do: do}
	for _, w := range words {
		st.Words = append(st.Words, r.shellWord(ts, w, func(name string) bool {
			return strings.Contains(line.Text, "$"+name) || strings.Contains(line.Text, "${"+name)
		}))
	}
	r.all = append(r.all, st)
	return &r.all[len(r.all)-1]
}

// shellWord quotes a word for a shell. Where it has the value of a variable of the script
// that is used, it has the variable: the value may differ the next time.
func (r *recording) shellWord(ts *testscript.TestScript, word string, used func(name string) bool) string {
	word = child.Clip(word) // it may have what a target printed
	var pairs []string
	add := func(value, variable string) {
		if value != "" {
			pairs = append(pairs, value, `'"`+variable+`"'`)
		}
	}
	add(r.socket, "$d/s")
	add(ts.Getenv("WORK"), "$PWD")
	add(ts.Getenv("HOME"), "$HOME")
	for _, name := range r.saved {
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
func (c *caller) noteAction(r *recording, ts *testscript.TestScript, line gap.Line, words []string) *child.Step {
	switch words[0] {
	case "tmux":
		return r.note(ts, line, "run", words[1:])
	case "control":
		return r.note(ts, line, "control", words[1:])
	case "mcp":
		tool, object, _, err := callOf(words[1:])
		if err == nil {
			tool, object, err = c.req.Dialect.Ask(tool, object)
		}
		if err != nil {
			break
		}
		if c.mcpServer.Load() == nil {
			r.note(ts, line, "serve", c.serverEnv())
		}
		raw, _ := json.Marshal(object)
		return r.note(ts, line, "run", []string{"mcp", tool, string(raw)})
	case "mcp-leave":
		return r.note(ts, line, "leave", nil)
	}
	return r.note(ts, line, child.Comment, words)
}

// printed is what a step printed, as the reproducer shows it, quoted.
type printed struct {
	step int // its number, from 1
	do   string
	text string
}

// maxShown is how much of an output a reproducer compares, in bytes.
const maxShown = 3000

// print keeps what the last step printed, for the reproducer to compare it if that was wrong.
func (r *recording) print(ts *testscript.TestScript, o outcome) {
	text := strings.TrimRight(cmp.Or(o.raw, o.stdout+o.stderr), "\n")
	if code := o.code; code != 0 || o.err != nil && o.raw == "" {
		text += fmt.Sprintf("\n(exit status %d)", max(1, code))
	}
	r.printed = printed{len(r.all), "same", strings.TrimLeft(text, "\n")}
	if text := r.printed.text; len(text) > maxShown || o.raw != "" && o.err != nil {
		r.printed.do, r.printed.text = "begins", strings.ToValidUTF8(text[:min(len(text), maxShown)], "")
	}
	r.printed.text = r.shellWord(ts, r.printed.text, func(string) bool { return false })
}

// mark makes a step one that shows the first failure of the script.
func (r *recording) mark(p printed) {
	if !r.marked && p.step > 0 {
		r.all[p.step-1].Shows = p.do + " " + p.text
	}
}
