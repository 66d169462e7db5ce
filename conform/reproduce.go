package conform

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"tmuxmcp/conform/report"
)

// reproducerHead has the functions that a reproducer is made of.
//
//go:embed reproducer.sh
var reproducerHead string

// step is a command of a script as it ran, in the words of a shell.
type step struct {
	// Line is where it stands in the script's file.
	Line int `json:"line"`
	// Do is the function of reproducer.sh, or a comment, and Words are quoted for it.
	Do    string   `json:"do"`
	Words []string `json:"words"`
	// Until is what the command printed when the script went on, which had waited for
	// it; quoted too.
	Until *string `json:"until,omitempty"`
	// Shows compares what it printed, if that showed the failure.
	Shows string `json:"shows,omitempty"`
}

const (
	comment = "#"
	// maxSteps is the most that is recorded of a script.
	maxSteps = 1000
)

// note records a step of the line that runs.
func (s *script) note(ts *testscript.TestScript, do string, words []string) *step {
	if len(s.steps) == maxSteps {
		return &step{}
	}
	st := step{Line: s.now.number, Do: do}
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
	word = clipText(word) // it may have what a target printed
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
func (s *script) noteAction(ts *testscript.TestScript, words []string) *step {
	switch words[0] {
	case "tmux":
		return s.note(ts, "run", words[1:])
	case "control":
		return s.note(ts, "control", words[1:])
	case "mcp":
		tool, object, _, err := callOf(words[1:])
		if err == nil {
			tool, object, err = s.req.Dialect.ask(tool, object)
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
	return s.note(ts, comment, words)
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

// reproducer is a shell script that does what the steps did with nothing but the
// target. cell is the outcome.
func (j *job) reproducer(cell *report.Cell, steps []step, opts Options) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	does, server := "It needs nothing but that tmux.", ""
	switch j.layer {
	case report.APILayer:
		does = "It runs tmux around the calls of layer api, which it only prints, as a shell cannot make them; what they answered is a recording."
	case report.MCPLayer:
		does, server = "It needs nothing but that tmux and the MCP server.", " COMMAND-OF-SERVER"
	}
	outcome := strings.TrimSuffix(string(cell.Status)+": "+oneLine(cell.Reason), ": ")
	for line := range strings.Lines(report.Printable(fmt.Sprintf(
		"%s (%s), layer %s, tmux %s\n%s\n%s\nAnother is tried with: sh FILE PATH-OF-TMUX%s\n"+
			"Exit status: 1 if what failed fails again, 0 if not, 125 if that cannot be seen.\n",
		j.gap.Name, oneLine(j.gap.Title), j.layer, j.target.Name, outcome, does, server))) {
		b.WriteString("# " + line)
	}
	// What stands before and behind the program, as a shell reads it.
	before, after := "", ""
	if len(j.target.Env) > 0 {
		before = "env " + report.CommandLine(j.target.Env) + " "
	}
	if len(j.target.Args) > 0 {
		after = " " + report.CommandLine(j.target.Args)
	}
	fmt.Fprintf(&b, "tmux=${1:-%s}\npre=%s post=%s\n", report.CommandLine([]string{j.target.Path}),
		report.CommandLine([]string{before}), report.CommandLine([]string{after}))
	if j.layer == report.MCPLayer {
		fmt.Fprintf(&b, "server=${2:-%s}\nprotocol=%s\n", report.CommandLine([]string{cmp.Or(opts.Server, report.CommandLine(opts.server))}), protocolVersion)
	}
	b.WriteString(reproducerHead)
	for _, f := range j.gap.archive.Files {
		if !slices.Contains(report.Layers(), report.Layer(f.Name)) && path.Base(f.Name) == f.Name {
			fmt.Fprintf(&b, "printf %%s %s >%s\n", report.CommandLine([]string{string(f.Data)}), report.CommandLine([]string{f.Name}))
		}
	}
	b.WriteString("\n")
	lines := strings.Split(string(j.gap.script(j.layer)), "\n")
	last, unseen := 0, false
	for _, st := range steps {
		for n := last + 1; n < st.Line; n++ {
			b.WriteString(setUp(lines[n-1]))
		}
		last = st.Line
		switch {
		case st.Do == comment:
			fmt.Fprintf(&b, "echo %s\n", report.CommandLine([]string{"# not tmux: " + strings.Join(st.Words, " ")}))
		case st.Until != nil:
			fmt.Fprintf(&b, "await %s %s\n", *st.Until, strings.Join(st.Words, " "))
		default:
			b.WriteString(strings.Join(append([]string{st.Do}, st.Words...), " ") + "\n")
		}
		if comparable := st.Do == "run" || st.Do == "program"; comparable && st.Shows != "" {
			b.WriteString(st.Shows + "\n")
		} else {
			unseen = unseen || st.Shows != ""
		}
	}
	if e := cell.Last(); e.Command != "" {
		fmt.Fprintf(&b, "\ncat <<'EOF'\n\nmcp-conform ran\n%s\nwanted\n%s\nand saw\n%s\nEOF\n",
			heredoc(e.Command), heredoc(e.Expected), heredoc(e.Actual))
	}
	if unseen {
		b.WriteString("exit 125\n")
	} else {
		b.WriteString("[ $failed = 0 ] || [ $differs = 1 ]\n")
	}
	return b.String()
}

// heredoc is a text that can stand in a here-document: no line of it is its end.
func heredoc(text string) string {
	return "  " + strings.ReplaceAll(report.Printable(strings.TrimRight(text, "\n")), "\n", "\n  ")
}

// setUp is a line that testscript itself runs, for a shell.
func setUp(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 || !slices.Contains([]string{"mkdir", "cp", "mv", "rm", "chmod", "cd"}, words[0]) {
		return ""
	}
	for i, w := range words {
		if w == "stdout" || w == "stderr" {
			words[i] = `"$d/` + w + `"`
		}
	}
	return strings.Join(words, " ") + "\n"
}
