package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/internal/adapter"
	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/internal/gap"
	"tmuxmcp/conform/report"
)

// maxSteps bounds the recorded steps of a script.
const maxSteps = 1000

// recording is what a script did, in the words of a shell.
type recording struct {
	socket  string
	program string // the path of tmux for adapters
	all     []child.Step
	saved   []string // the names of variables
	printed printed  // what the last command printed
	marked  bool     // the steps that show the failure are marked
}

func (r *recording) note(ts *testscript.TestScript, line gap.Line, do string, words []string) *child.Step {
	if len(r.all) == maxSteps {
		return &child.Step{}
	}
	st := child.Step{Line: line.Number, Do: do}
	for _, w := range words {
		st.Words = append(st.Words, r.shellWord(ts, w, usedIn(line)))
	}
	r.all = append(r.all, st)
	return &r.all[len(r.all)-1]
}

// usedIn returns whether a line expands a variable.
func usedIn(line gap.Line) func(name string) bool {
	return func(name string) bool {
		return strings.Contains(line.Text, "$"+name) || strings.Contains(line.Text, "${"+name)
	}
}

// send completes the last step, a call of layer api, with the requests. Only a call of several
// requests, which looks up ids itself, can contain the values of variables that its line does not
// name.
func (r *recording) send(ts *testscript.TestScript, line gap.Line, sent []adapter.Request) {
	if len(sent) == 0 || len(r.all) == 0 || r.all[len(r.all)-1].Line != line.Number {
		return
	}
	used := usedIn(line)
	if len(sent) > 1 {
		used = func(name string) bool { return len(ts.Getenv(name)) > 2 }
	}
	st := &r.all[len(r.all)-1]
	st.Words = []string{"api"}
	for _, request := range sent {
		for _, w := range request.Words() {
			st.Words = append(st.Words, r.shellWord(ts, w, used))
		}
	}
}

// shellWord quotes a word for a shell. It replaces the value of a used variable of the script with
// the variable, as the value may differ the next time.
func (r *recording) shellWord(ts *testscript.TestScript, word string, used func(name string) bool) string {
	word = child.Clip(word) // it may contain output of the target
	var pairs []string
	add := func(value, variable string) {
		if value != "" {
			pairs = append(pairs, value, `'"`+variable+`"'`)
		}
	}
	add(r.socket, "$socket")
	add(r.program, "$bin")
	add(ts.Getenv("WORK"), "$PWD")
	add(ts.Getenv("HOME"), "$HOME")
	for _, name := range r.saved {
		if used(name) {
			add(ts.Getenv(name), "${v_"+name+"}") // the prefix avoids variables of reproducer.sh
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
	case "api":
		if _, err := adapter.Parse(words[1:]); err != nil {
			break
		}
		if c.adapter.Load() == nil && c.unopened == nil {
			r.note(ts, line, "adapt", []string{c.adapterEnv()})
		}
		return r.note(ts, line, "run", []string{"api"})
	case "mcp-leave":
		return r.note(ts, line, "leave", nil)
	}
	return r.note(ts, line, child.Comment, words)
}

// printed is the output of a step, quoted, and the function of reproducer.sh that compares it.
type printed struct {
	step int // its number, from 1
	do   string
	text string
}

// maxShown bounds the output that a reproducer compares, in bytes.
const maxShown = 3000

// print keeps the output of the last step, which a reproducer compares if it was wrong.
func (r *recording) print(ts *testscript.TestScript, o outcome) {
	text := strings.TrimRight(cmp.Or(o.raw, o.stdout+o.stderr), "\n")
	// The answer of an adapter includes its errors.
	if code := o.code; !o.api && (code != 0 || o.err != nil && o.raw == "") {
		text += fmt.Sprintf("\n(exit status %d)", max(1, code))
	}
	r.printed = printed{step: len(r.all), do: "same", text: strings.TrimLeft(text, "\n")}
	if text := r.printed.text; len(text) > maxShown || o.raw != "" && o.err != nil {
		r.printed.do, r.printed.text = "begins", strings.ToValidUTF8(text[:min(len(text), maxShown)], "")
	}
	r.printed.text = r.shellWord(ts, r.printed.text, func(string) bool { return false })
}

// mark marks a step that shows the first failure of the script, or of a part that fails alone, in
// line at.
func (r *recording) mark(p printed, at int) {
	if st := max(p.step, 1) - 1; !r.marked && p.step > 0 && r.all[st].Shows == "" {
		r.all[st].Shows, r.all[st].Fails = p.do+" "+p.text, at
	}
}
