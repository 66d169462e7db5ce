package report

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"
	"unicode/utf8"
)

//go:embed report.md
var markdownSource string

// maxMarkdown is the most that WriteMarkdown writes, in bytes. GitHub allows 1 MiB
// for a step's summary; some of that is left for other programs.
const maxMarkdown = 1<<20 - 64<<10

// maxEvidence is the most that WriteMarkdown writes of one text of evidence, in
// bytes.
const maxEvidence = 4 << 10

// WriteMarkdown writes the report for a page such as GitHub's summary of a step:
// the outcome, the failures with their evidence, the matrix, and what tmux
// refutes. Long evidence is cut, and failures that would make the page larger
// than [maxMarkdown] are named without it; both are said where it happens.
func WriteMarkdown(w io.Writer, r *Report) error {
	r = printable(r)
	page, err := template.New("report").Funcs(r.pageFuncs()).Parse(markdownSource)
	if err != nil {
		return err
	}
	var head, tail strings.Builder
	if err := errors.Join(page.ExecuteTemplate(&head, "head", r), page.ExecuteTemplate(&tail, "tail", r)); err != nil {
		return err
	}
	// As many failures as there is room for, and for the line that says that there is no more.
	room := maxMarkdown - head.Len() - tail.Len() - 200
	found := r.failures(false)
	if len(found) > 0 {
		head.WriteString("### Failures\n\n")
	}
	for i, f := range found {
		var text strings.Builder
		if err := page.ExecuteTemplate(&text, "failure", f); err != nil {
			return err
		}
		if room -= text.Len(); room < 0 {
			fmt.Fprintf(&head, "%d more failures are not shown here, as the page would be too large; "+
				"the other formats have them all.\n\n", len(found)-i)
			break
		}
		head.WriteString(text.String())
	}
	_, err = io.WriteString(w, fitting(head.String()+tail.String()))
	return err
}

// fitting is a page without what would make it too large.
func fitting(text string) string {
	if len(text) <= maxMarkdown {
		return text
	}
	const note = "\n\n(The rest is left out: it would be too large.)\n"
	return strings.ToValidUTF8(text[:maxMarkdown-len(note)], "") + note
}

// mdSpecial are the bytes that mean something within a line of markdown or of the
// HTML in it.
var mdSpecial = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "&#64;", "$", "&#36;", `\`, `\\`, "|", `\|`, "`", "\\`",
	"*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`)

// MarkdownText quotes a text so that markdown shows it as it is, on one line.
func MarkdownText(s string) string {
	return mdSpecial.Replace(Clip(strings.Join(strings.Fields(s), " "), maxEvidence))
}

// mdLink is a link to a page of the web; anything else is shown as text.
func mdLink(link string) string {
	switch {
	case link == "":
		return ""
	case isWebLink(link) && !strings.ContainsAny(link, "<> \n\t"):
		return " (<" + link + ">)"
	}
	return " (" + MarkdownText(link) + ")"
}

func isWebLink(link string) bool {
	return strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://")
}

// mdCode is a text in a fence that nothing in it ends.
func mdCode(language, s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

// Clip keeps the two ends of a long text and says how much it took out.
func Clip(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	if len(s) <= most {
		return s
	}
	head, tail := most*3/4, len(s)-most/4
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s … (%d bytes left out) … %s", s[:head], tail-head, s[tail:])
}
