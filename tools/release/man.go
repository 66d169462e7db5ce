package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage fills files/man.1 with a program and all its commands. (The generator of cobra
// takes the texts for markdown, which breaks lists, makes a page of each command, has no
// sections for variables and files, and mandoc warns of what it makes.)
func (r *release) manPage(root *cobra.Command) ([]byte, error) {
	root.InitDefaultVersionFlag()
	root.InitDefaultCompletionCmd()
	about, status, _ := strings.Cut(root.Long, "\n\nExit status: ")
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(commands)), func(name string) bool { return name == root.Name() })
	return r.fill("man.1", map[string]any{
		"Root": root, "About": about, "Status": status, "Others": others, "Date": r.time.Format("2006-01-02"),
	})
}

var manFuncs = template.FuncMap{
	"roff": roff, "flow": flow, "text": text, "list": list, "literal": literal, "upper": strings.ToUpper,
	"commands": func(c *cobra.Command) []*cobra.Command {
		return slices.DeleteFunc(slices.Clone(c.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() || c.Name() == "help" })
	},
	"topics": func(c *cobra.Command) []*cobra.Command {
		return slices.DeleteFunc(slices.Clone(c.Commands()), func(c *cobra.Command) bool { return !c.IsAdditionalHelpTopicCommand() })
	},
	"title": func(c *cobra.Command) string { return strings.TrimSuffix(c.UseLine(), " [flags]") },
	"flags": func(set *pflag.FlagSet) (out []*pflag.Flag) {
		set.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" {
				out = append(out, f)
			}
		})
		return out
	},
	"value": func(f *pflag.Flag) string {
		value, _ := pflag.UnquoteUsage(f)
		return value
	},
	"usage": func(f *pflag.Flag) string {
		_, usage := pflag.UnquoteUsage(f)
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		return usage
	},
}

// text returns paragraphs. One with an indented line is a table, or a command to type.
func text(long, short string) string {
	paragraphs := strings.Split(strings.Trim(cmp.Or(long, short), "\n"), "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			paragraphs[i] = literal(p)
		} else {
			paragraphs[i] = flow(p) + "\n"
		}
	}
	return strings.Join(paragraphs, ".PP\n")
}

// list returns paragraphs in which each indented line has its heading above it.
func list(text string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		about, indented := strings.CutPrefix(line, "    ")
		switch {
		case line == "":
		case !indented && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    "):
			fmt.Fprintf(&b, ".TP\n.B %s\n", roff(line))
		case i > 0 && lines[i-1] == "":
			fmt.Fprintf(&b, ".PP\n%s\n", flow(line))
		default:
			fmt.Fprintf(&b, "%s\n", flow(about))
		}
	}
	return b.String()
}

func literal(text string) string { return ".nf\n" + roff(strings.Trim(text, "\n")) + "\n.fi\n" }

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
