package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage writes a program and all its commands as one page, in the man macros. (The
// generator of cobra goes over markdown, which the texts are not, needs three more
// modules, and makes a page of each command.)
func manPage(root *cobra.Command, r *release) []byte {
	root.InitDefaultVersionFlag()
	root.InitDefaultCompletionCmd()
	m := &page{}
	m.linef(`.TH "%s" "1" "%s" "%s" "User Commands"`, strings.ToUpper(roff(root.Name())), r.time.Format("2006-01-02"), roff("tmuxmcp "+r.number))
	m.linef(".nh\n.ad l\n.SH NAME") // no hyphens in the names of variables
	m.linef(`%s \- %s`, roff(root.Name()), roff(root.Short))
	m.linef(`.SH SYNOPSIS`)
	m.linef(`.B %s`, roff(root.UseLine()))
	if root.HasAvailableSubCommands() {
		m.linef(".br\n.B %s", roff(root.Name()+" COMMAND …"))
	}
	description, status, _ := strings.Cut(root.Long, "\n\nExit status: ")
	m.linef(`.SH DESCRIPTION`)
	m.text(description)
	m.linef(`.SH OPTIONS`)
	m.flags(root.LocalFlags())
	if root.HasAvailableSubCommands() {
		m.linef(`.SH COMMANDS`)
		m.commands(root)
	}
	m.linef(".SH EXIT STATUS\n%s", flow(status))
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			m.linef(`.SH %s`, strings.ToUpper(c.Name()))
			m.list(c.Long)
		}
	}
	m.linef(`.SH EXAMPLES`)
	m.literal(root.Example)
	m.linef(`.SH SEE ALSO`)
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		if name != root.Name() {
			m.linef(`.BR %s (1),`, roff(name))
		}
	}
	m.linef(`.BR tmux (1)`)
	return m.Bytes()
}

type page struct{ bytes.Buffer }

func (m *page) linef(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// commands writes the commands of a command, and theirs.
func (m *page) commands(parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() || c.Name() == "help" {
			continue
		}
		m.linef(`.SS "%s"`, roff(strings.TrimSuffix(c.UseLine(), " [flags]")))
		if c.Name() == "completion" { // cobra's own text is about installing what a package has
			m.linef("Print the completion script for bash, zsh, fish or powershell.")
			continue
		}
		m.text(cmp.Or(c.Long, c.Short+"."))
		m.flags(c.LocalNonPersistentFlags())
		if c.Example != "" && c.Example != parent.Example {
			m.linef(".PP\nExamples:\n.PP")
			m.literal(c.Example)
		}
		m.commands(c)
	}
}

// text writes paragraphs. One with an indented line is a table, or a command to type.
func (m *page) text(text string) {
	for i, p := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			m.linef(`.PP`)
		}
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			m.literal(p)
		} else {
			m.linef("%s", flow(p))
		}
	}
}

// list writes paragraphs in which what an indented line is about stands above it.
func (m *page) list(text string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		about, indented := strings.CutPrefix(line, "    ")
		switch {
		case line == "":
		case !indented && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    "):
			m.linef(".TP\n.B %s", roff(line))
		case i > 0 && lines[i-1] == "":
			m.linef(".PP\n%s", flow(line))
		default:
			m.linef("%s", flow(about))
		}
	}
}

func (m *page) literal(text string) {
	m.linef(".nf\n%s\n.fi", roff(strings.Trim(text, "\n")))
}

func (m *page) flags(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			m.flag(f)
		}
	})
}

func (m *page) flag(f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	m.linef(`.TP`)
	if f.Shorthand != "" {
		fmt.Fprintf(m, `\fB\-%s\fR, `, f.Shorthand)
	}
	fmt.Fprintf(m, `\fB\-\-%s\fR`, roff(f.Name))
	if value != "" {
		fmt.Fprintf(m, ` \fI%s\fR`, roff(value))
	}
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	m.linef("\n%s", flow(usage))
}

var lineEnd = regexp.MustCompile(`(.{50,}?) `)

// flow breaks lines as people who write roff do, and mandoc wants them.
func flow(text string) string {
	return roff(lineEnd.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1\n"))
}

var roffSpecial = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\"", `\(dq`,
	"…", "...", "\n.", "\n\\&.")

// roff escapes text that is to appear as it is: a dash can be copied and pasted, and no
// line is a request.
func roff(text string) string {
	text = roffSpecial.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
