package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/internal/terminal"
	"tmuxmcp/swap"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/patch"
)

// Terminal manners: an error line begins with the command's name, is in lower case and has
// no full stop; what to do about it follows a semicolon. Colour marks only outcomes.

// Text from configs, checkouts, servers and clients must not control the terminal. So every string
// is printed by linef or paint, which make it printable; only diffs and help are written as they are.

// shown is text that may be printed as it is: it is printable, or colour.
type shown string

// clean returns a text without control characters and characters that reorder text. Lines
// after the first are indented by four blanks or more, as those of another program's output
// are; what begins a line of its own is joined to the one before.
func clean(text string) string {
	lines := strings.Split(terminal.Printable(text), "\n")
	var b strings.Builder
	for i, line := range lines {
		switch {
		case i == 0:
		case strings.HasPrefix(line, "    "):
			b.WriteByte('\n')
		case strings.TrimSpace(line) == "":
			continue
		default:
			b.WriteString("; ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// wrap breaks a text into the lines of the terminal. Lines of another program's output stay lines.
// All but the first are indented, on a terminal or not.
func (p *printer) wrap(text string, indent int) string {
	lines := strings.Split(clean(text), "\n")
	for i, line := range lines {
		lines[i] = terminal.Wrap(strings.TrimSpace(line), p.width, indent)
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}

// A printer writes to one stream and remembers its first error.
type printer struct {
	w       io.Writer
	colour  bool
	program string // whose messages these are
	width   int    // of the terminal; 0 if there is none
	labels  int    // width of the column of labels
	err     error
}

func newPrinter(w io.Writer) *printer {
	p := &printer{program: "mcp-swap:", labels: len("claude-desktop") + 1}
	p.w = &sticky{w: w, err: &p.err}
	p.colour, p.width = terminal.Color(w), terminal.Width(w)
	return p
}

// ask asks a question; anything but yes, even an interrupt, means no.
func (p *printer) ask(ctx context.Context, stdin io.Reader, question string) bool {
	fmt.Fprintf(p.w, "%s %s [y/N] ", p.paint(yellow, p.program, 0), clean(question))
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdin).ReadString('\n')
		said <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case word := <-said:
		return word == "y" || word == "yes"
	case <-ctx.Done():
		p.linef("")
		return false
	}
}

type sticky struct {
	mu  sync.Mutex
	w   io.Writer
	err *error
}

func (s *sticky) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *s.err != nil {
		return 0, *s.err
	}
	n, err := s.w.Write(b)
	*s.err = err
	return n, err
}

func (p *printer) linef(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = clean(text)
		}
	}
	fmt.Fprintf(p.w, format+"\n", args...)
}

const (
	green  = "32"
	yellow = "33"
	red    = "31"
	dim    = "2"
)

// paint pads a word and colours it.
func (p *printer) paint(colour, word string, width int) shown {
	padded := shown(fmt.Sprintf("%-*s", width, clean(word)))
	if !p.colour {
		return padded
	}
	return "\x1b[" + shown(colour) + "m" + padded + "\x1b[0m"
}

func (p *printer) problem(text string) { p.message(red, text) }

func (p *printer) note(text string) { p.message(yellow, text) }

func (p *printer) message(colour, text string) {
	p.linef("%s %s", p.paint(colour, p.program, 0), p.wrap(text, len(p.program)+1))
}

// row prints a client's line: a word in a column of the given width, followed by a text.
func (p *printer) row(label, colour, word string, width int, text string) {
	p.linef("%-*s %s %s", p.labels, label, p.paint(colour, word, width), p.wrap(text, p.labels+1+width+1))
}

// below prints more about a client on a line of its own.
func (p *printer) below(colour, mark, text string) {
	p.linef("%*s %s", p.labels, "", p.paint(colour, mark+" "+p.wrap(text, p.labels+3), 0))
}

// note prints what the user should know in addition to results and errors.
func (a *app) note(text string) {
	a.noted.Lock()
	defer a.noted.Unlock()
	a.doc.Notes = append(a.doc.Notes, text)
	a.err.note(text)
}

const noClient = "no client is present; name one with --cli, or see mcp-swap detect"

// progress replaces the last line of the terminal, truncating the text to fit.
func (a *app) progress(text string) {
	line := []rune(clean(text))
	if text != "" {
		line = []rune(a.err.program + " " + clean(text))
	}
	fmt.Fprintf(a.err.w, "\r\x1b[K%s", string(line[:min(len(line), cmp.Or(a.err.width, 80)-1)]))
}

// document prints the output of --json.
func (a *app) document() error {
	a.noted.Lock()
	defer a.noted.Unlock()
	a.doc.Version = schemaVersion
	if a.doc.Clients == nil {
		a.doc.Clients = []any{}
	}
	return terminal.EncodeJSON(a.stdout.w, a.doc, "  ")
}

// fit makes the column of labels wide enough for all rows.
func fit[T any](p *printer, rows []T, label func(T) string) {
	for _, r := range rows {
		p.labels = max(p.labels, len(label(r))+1)
	}
}

// detection prints a line for each client that is present, even without a config or without a
// program. One line names the others.
func (p *printer) detection(found []swap.Detected) {
	var absent []string
	fit(p, found, func(d swap.Detected) string { return d.Client })
	for _, c := range found {
		mark, colour, why := "present", green, ""
		switch {
		case !c.Installed && !c.ConfigExists:
			absent = append(absent, c.Client)
			continue
		case !c.ConfigExists:
			mark, colour = "no config", yellow
		case !c.Present:
			mark, colour, why = "no program", yellow, "  (no "+strings.Join(c.Binaries, " or ")+" on PATH)"
		case c.Note != "":
			why = "  (" + c.Note + ")"
		}
		p.row(c.Client, colour, mark, 11, c.Config+why)
	}
	if len(absent) > 0 {
		p.linef("absent: %s", shown(terminal.Wrap(strings.Join(absent, ", "), cmp.Or(p.width, 80), len("absent: "))))
	}
}

func (a *app) statusText(st *swap.Status) {
	switch {
	case st.NoServer != nil && len(st.Swaps) == 0:
		a.note(st.NoServer.Error())
		a.note("no swap is recorded")
	case st.NoServer != nil:
		a.note("recorded swaps only: " + st.NoServer.Error())
	case len(st.Clients) == 0:
		a.note(noClient)
	}
	fit(a.out, st.Clients, func(c swap.ClientState) string { return c.Label })
	fit(a.out, st.Swaps, func(sw swap.Swap) string { return sw.Label })
	for _, c := range st.Clients {
		a.stateText(c, st.Server, "")
	}
	for _, sw := range st.Swaps {
		if !sw.Listed {
			a.stateText(sw.ClientState, sw.Server, fmt.Sprintf("swapped %q: ", sw.Server))
		}
		if sw.Back != "" {
			a.out.linef("%s", a.out.paint(yellow, "! "+sw.Back, 0))
		}
	}
}

// stateText prints what a client runs for a server, after what on the same line.
func (a *app) stateText(c swap.ClientState, server, what string) {
	switch {
	case c.Error != "":
		a.err.problem(c.Label + ": " + c.Error)
		return
	case !c.Exists:
		a.out.linef("%-*s %s", a.out.labels, c.Label, a.out.paint(dim, what+"no config at "+c.Config, 0))
	case !c.Found:
		a.out.linef("%-*s %s", a.out.labels, c.Label, a.out.paint(dim, what+fmt.Sprintf("no entry %q", server), 0))
		if c.Instead != "" {
			a.out.below(yellow, "!", c.Instead)
		}
	default:
		command := ""
		if len(c.Command) > 0 {
			command = ": " + ask.CommandLine(c.Command)
		}
		a.out.linef("%-*s %s%s%s", a.out.labels, c.Label, what, a.out.paint(tagColour(c.Tag), c.Tag.String(), 0), command)
	}
	for _, shadow := range c.Shadows {
		a.out.below(yellow, "!", shadow)
	}
	for _, merged := range c.Merged {
		a.out.below(dim, "+", merged)
	}
	if c.Stale != "" {
		a.out.below(yellow, "+", c.Stale)
	}
}

func (p *printer) verified(clients []swap.Verified, done int) {
	fit(p, clients, func(v swap.Verified) string { return v.Label })
	v := clients[done]
	word, colour := "not tried", dim
	switch {
	case len(v.Problems) > 0:
		word, colour = "problem", red
	case v.OK:
		word, colour = "ok", green
	}
	var said []string
	if h := v.Handshake; h != nil {
		said = append(said, fmt.Sprintf("server %s %s, %s, %s", h.Name, shortVersion(h.Version), count(len(h.Tools), "tool", "tools"), seconds(h.Seconds)))
	}
	if v.NotTried != "" {
		said = append(said, v.NotTried)
	}
	if q := v.Asked; q != nil {
		text := fmt.Sprintf("%s says %s", v.Client, q.State)
		if q.ToolCount != nil {
			text += ", " + count(*q.ToolCount, "tool", "tools")
		}
		said = append(said, text+", "+seconds(q.Seconds))
	}
	if v.NotAsked != "" {
		said = append(said, v.NotAsked)
	}
	problems := v.Problems
	if len(said) == 0 && len(problems) > 0 {
		said, problems = problems[:1], problems[1:]
	}
	p.row(v.Label, colour, word, 10, strings.Join(said, "; "))
	for _, problem := range problems {
		p.below(yellow, "!", problem)
	}
	if v.Effective != nil && len(v.Problems) == 0 {
		for _, won := range v.Won {
			p.below(dim, "+", won)
		}
	}
	if v.Stale != "" {
		p.below(yellow, "+", v.Stale)
	}
}

// pseudo matches the version of a Go module that is not tagged.
var pseudo = lazy.Regexp(`^v[0-9]+\.[-0-9A-Za-z.]*[0-9]{14}-([0-9a-f]{12}(\+.*)?)$`)

// shortVersion returns the commit of a version that is one, and any other version unchanged.
func shortVersion(version string) string { return pseudo().ReplaceAllString(version, "$1") }

func seconds(s float64) string {
	if s < 0.1 {
		return "under 0.1 s"
	}
	return fmt.Sprintf("%.1f s", s)
}

// count returns a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func tagColour(t *swap.Tag) string {
	if t.ThisRepo || t.Kind == swap.TagCommand {
		return green
	}
	return yellow
}

func (p *printer) diagnosis(d *swap.Diagnosis) {
	said := map[string]bool{}
	for _, f := range d.Findings {
		colour, text := yellow, f.Text
		if f.Meant {
			colour = dim
		}
		if f.Kind == swap.FoundInForce && !f.More {
			if text = inForce(d.Findings, f.By); said[text] {
				continue
			}
			said[text] = true
		}
		p.linef("%s %s", p.paint(colour, f.Kind+":", 0), p.wrap(text, len(f.Kind)+2))
	}
	if !d.Failed() {
		p.linef("no problems found")
	}
}

// inForce returns one line about all entries that a program, or use-local, has written and that are
// as it left them.
func inForce(all []swap.Finding, by string) string {
	var servers []string
	in := map[string][]string{}
	n := 0
	for _, f := range all {
		if f.Kind != swap.FoundInForce || f.More || f.By != by {
			continue
		}
		if n++; in[f.Server] == nil {
			servers = append(servers, f.Server)
		}
		in[f.Server] = append(in[f.Server], clients.Lookup(f.Client).Label(f.Scope))
	}
	for i, name := range servers {
		servers[i] = fmt.Sprintf("%q in %s", name, strings.Join(in[name], ", "))
	}
	with := "use-local"
	if by != "" {
		with = by + " setup"
	}
	are, them := "are", "them"
	if n == 1 {
		are, them = "is", "it"
	}
	return fmt.Sprintf("%s %s as %s wrote %s: %s; %s puts %s back", count(n, "entry", "entries"), are, with, them, strings.Join(servers, ", and "), swap.Undo(by), them)
}

// diff prints a diff, exactly if patch(1) is to apply it, which --show-secrets asks for.
func (a *app) diff(text string) {
	for line := range strings.Lines(text) {
		if !a.exact {
			line = line[:1] + patch.Printable(line[1:])
		}
		_, _ = io.WriteString(a.out.w, line)
	}
}

// results prints the outcome for each client. A dry run prints only diffs on stdout, so
// that they can be piped into patch. after follows if something was written.
func (a *app) results(results []swap.Result, err error, dryRun bool, after string) error {
	a.doc.Clients = outcomes(results)
	fit(a.out, results, func(r swap.Result) string { return r.Label })
	if dryRun {
		a.diffs(results)
	} else if wrote := a.rows(results); wrote && after != "" {
		a.out.linef("%s", a.out.paint(dim, after, 0))
	}
	a.notes(results)
	if err == nil && swap.AnyFailed(results) {
		return &silent{exitFailed}
	}
	return err
}

// diffs prints the diffs of a dry run. If one is masked, none is for patch, which would skip
// that one without a word and apply the others.
func (a *app) diffs(results []swap.Result) {
	var masked []string
	for _, r := range results {
		if r.Masked && r.Outcome != swap.Failed && !slices.Contains(masked, r.Label) {
			masked = append(masked, r.Label)
		}
	}
	for _, r := range results {
		if r.Outcome == swap.Failed {
			continue
		}
		if len(r.Diff) == 0 {
			a.note(r.Label + ": nothing to change in " + r.Config)
		}
		if len(masked) > 0 {
			r.Diff = strings.ReplaceAll(r.Diff, "\n@@ -", "\n@@ masked -")
		}
		a.diff(r.Diff)
	}
	if len(masked) > 0 {
		a.note(strings.Join(masked, ", ") + ": possible secrets, and what acts on a terminal, are masked, so patch(1) refuses the whole diff; --show-secrets prints it in full")
	}
}

// rows prints a row for each client, below what it runs. It reports whether anything was written.
func (a *app) rows(results []swap.Result) (wrote bool) {
	command := ""
	several := slices.ContainsFunc(results, func(r swap.Result) bool { return r.Server != results[0].Server })
	for _, r := range results {
		if r.Outcome == swap.Failed {
			continue
		}
		runs, outcome := r.Command, r.Outcome
		if r.Tag != nil {
			runs = []string{r.Tag.URL}
		}
		if c := ask.CommandLine(runs); c != command {
			command = c
			a.out.linef("%s: %s", r.Server, command)
		}
		colour := green
		if r.Outcome == swap.Unchanged {
			colour = dim
		} else {
			wrote = true
		}
		if a.doc.DryRun { // of forget; other commands show a diff
			outcome = "to forget"
		}
		text := r.Config
		if several {
			text = fmt.Sprintf("%q in %s", r.Server, text)
		}
		if r.Detail != "" {
			text += "  (" + r.Detail + ")"
		}
		a.out.row(r.Label, colour, outcome, 10, text)
	}
	return wrote
}

// notes prints the cautions and errors of the results. What is true of several clients is printed
// once.
func (a *app) notes(results []swap.Result) {
	said := map[string]bool{}
	for _, r := range results {
		for _, caution := range r.Cautions {
			a.note(r.Label + ": " + caution)
		}
		for _, text := range slices.Concat(r.Shadows, r.Merged, []string{r.Stale}) {
			if text == "" || said[text] {
				continue
			}
			said[text] = true
			var labels []string
			for _, other := range results {
				if slices.Contains(other.Shadows, text) || slices.Contains(other.Merged, text) || other.Stale == text {
					labels = append(labels, other.Label)
				}
			}
			a.note(strings.Join(labels, ", ") + ": " + text)
		}
		if r.Err != nil {
			a.err.problem(r.Label + ": " + r.Err.Error())
		}
	}
}
