package conform

import (
	_ "embed"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/conform/report"
)

// reproducerHead has the functions that a reproducer is made of.
//
//go:embed reproducer.sh
var reproducerHead string

// reproducer returns a shell script that does what the steps did, with nothing but the target.
// cell is the outcome.
func (j *job) reproducer(cell *report.Cell, steps []child.Step, opts Options) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	does, other := "It needs nothing but that tmux.", ""
	switch j.layer {
	case report.APILayer:
		does, other = "It needs nothing but that tmux and the adapter of the wrapper.", " COMMAND-OF-ADAPTER"
	case report.MCPLayer:
		does, other = "It needs nothing but that tmux and the MCP server.", " COMMAND-OF-SERVER"
	}
	outcome := strings.TrimSuffix(string(cell.Status)+": "+child.OneLine(cell.Reason), ": ")
	for line := range strings.Lines(report.Printable(fmt.Sprintf(
		"%s (%s), layer %s, tmux %s\n%s\n%s\nAnother is tried with: sh FILE PATH-OF-TMUX%s\n"+
			"Exit status: 1 if what failed fails again, 0 if not, 125 if that cannot be seen.\n",
		j.gap.Name, child.OneLine(j.gap.Title), cell.Place(), j.target.Name, outcome, does, other))) {
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
	b.WriteString("adapter= server= ")
	switch j.layer {
	case report.APILayer:
		fmt.Fprintf(&b, "version=\n[ -n \"$1\" ] || version=%s\n", report.CommandLine([]string{j.target.Version}))
		fmt.Fprintf(&b, "adapter=${2:-%s}\n", peer(j.api.Command, APIArg))
	case report.MCPLayer:
		fmt.Fprintf(&b, "protocol=%s\nserver=${2:-%s}\n", child.ProtocolVersion, peer(opts.Server, ServerArg))
	}
	fmt.Fprintf(&b, "seconds=%d\n", max(1, opts.Timeout/time.Second))
	b.WriteString(reproducerHead)
	for _, f := range j.gap.Files() {
		if path.Base(f.Name) == f.Name {
			fmt.Fprintf(&b, "printf %%s %s >%s\n", report.CommandLine([]string{string(f.Data)}), report.CommandLine([]string{f.Name}))
		}
	}
	b.WriteString("\n")
	lines := strings.Split(string(j.gap.Script(j.layer)), "\n")
	last, unseen := 0, false
	for _, st := range child.Decisive(steps, cell.Reason) {
		for n := last + 1; n < st.Line; n++ {
			b.WriteString(setUp(lines[n-1]))
		}
		last = st.Line
		switch {
		case st.Do == child.Comment:
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
		b.WriteString("[ $blind = 0 ] || exit 125\n[ $failed = 0 ] || [ $differs = 1 ]\n")
	}
	return b.String()
}

// heredoc returns a text for a here-document: no line of it is its end.
func heredoc(text string) string {
	return "  " + strings.ReplaceAll(report.Printable(strings.TrimRight(text, "\n")), "\n", "\n  ")
}

// setUp returns a line that testscript itself runs as a shell runs it, or "" if it is not such
// a line.
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

// peer returns a shell command, quoted: this program with an argument if it is empty.
func peer(command, arg string) string {
	if exe, err := os.Executable(); command == "" && err == nil {
		command = report.CommandLine([]string{exe, arg})
	}
	return report.CommandLine([]string{command})
}
