package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tmuxmcp/conform/report"
)

// formats are the ways to write a report. Those for people are written for the
// terminal they go to, if they do.
var formats = []struct {
	name  string
	write func(w io.Writer, r *report.Report, style report.Style) error
}{
	{"text", report.WriteText},
	{"json", plain(report.WriteJSON)},
	{"junit", plain(report.WriteJUnit)},
	{"tap", plain(report.WriteTAP)},
	{"markdown", plain(report.WriteMarkdown)},
	{"html", plain(report.WriteHTML)},
	{"findings", plain(report.WriteFindings)},
}

// plain is a way to write a report that is the same wherever it goes.
func plain(write func(io.Writer, *report.Report) error) func(io.Writer, *report.Report, report.Style) error {
	return func(w io.Writer, r *report.Report, _ report.Style) error { return write(w, r) }
}

func formatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

func formatChoice() string {
	names := formatNames()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// extensions are the formats that the ends of file names stand for, the usual one
// first. A file of any other name may have any format.
var extensions = map[string][]string{
	".json": {"json"}, ".xml": {"junit"}, ".tap": {"tap"}, ".html": {"html"}, ".htm": {"html"},
	".md": {"markdown", "findings"}, ".markdown": {"markdown", "findings"}, ".txt": {"text", "tap"},
}

func formatsOf(file string) []string { return extensions[strings.ToLower(filepath.Ext(file))] }

// fits: a file of this name may hold this format.
func fits(file, format string) bool {
	of := formatsOf(file)
	return of == nil || slices.Contains(of, format)
}

// output is a report that was asked for: a --format, a -o, or both in either order.
type output struct {
	format string // empty when the file's name says it
	file   string // empty when there was no -o
}

// outputs are the --format and -o flags, in the order in which they were given.
type outputs []output

// resolve gives every output its format, and refuses a file whose name says another.
func (o outputs) resolve() (outputs, error) {
	o = slices.Clone(o)
	for i := range o {
		out := &o[i]
		switch {
		case out.format == "" && formatsOf(out.file) != nil:
			out.format = formatsOf(out.file)[0]
			// "-o y.json --format junit" may mean either.
			if i+1 < len(o) && o[i+1].file == "" && o[i+1].format != "text" {
				return nil, fmt.Errorf("-o %s --format %s: the file's name says %s: give --format %s, or a -o of its own after --format %[2]s", out.file, o[i+1].format, out.format, out.format)
			}
		case out.format == "":
			out.format = "text"
		case out.file != "" && !fits(out.file, out.format):
			return nil, fmt.Errorf("--format %s -o %s: the file's name says %s: change one of them", out.format, out.file, formatsOf(out.file)[0])
		}
	}
	return o, nil
}

// transcripts reports whether one of the reports has the scripts' transcripts.
func (o outputs) transcripts() bool {
	return slices.ContainsFunc(o, func(out output) bool { return out.format == "html" })
}

// formatFlag and fileFlag are the two flags that build outputs.
type (
	formatFlag outputs
	fileFlag   outputs
)

func (f *formatFlag) Type() string   { return "format" }
func (f *formatFlag) String() string { return "" }
func (f *formatFlag) Set(name string) error {
	if !slices.Contains(formatNames(), name) {
		return fmt.Errorf("want %s", formatChoice())
	}
	if n := len(*f); n > 0 && (*f)[n-1].format == "" && fits((*f)[n-1].file, name) {
		(*f)[n-1].format = name
		return nil
	}
	*f = append(*f, output{format: name})
	return nil
}

func (f *fileFlag) Type() string   { return "file" }
func (f *fileFlag) String() string { return "" }
func (f *fileFlag) Set(file string) error {
	if file == "" {
		return errors.New("want a file name, or - for standard output")
	}
	if slices.ContainsFunc(*f, func(o output) bool { return o.file == file }) {
		return fmt.Errorf("two reports cannot go to %s", file)
	}
	if n := len(*f); n > 0 && (*f)[n-1].file == "" {
		(*f)[n-1].file = file
		return nil
	}
	*f = append(*f, output{file: file})
	return nil
}

// destination is where one report goes.
type destination struct {
	output
	w       io.Writer
	file    *os.File // nil for standard output
	created bool     // by us: to be removed if nothing is written
}

type destinations []*destination

// open opens the files of all reports, which are changed only when a report is
// written. What is for people goes to standard output, unless something else
// does or it has a file.
func (o outputs) open(stdout io.Writer) (destinations, error) {
	var rs destinations
	onStdout := 0
	hasText := false
	for _, out := range o {
		r := &destination{output: out, w: stdout}
		rs = append(rs, r)
		hasText = hasText || out.format == "text"
		if out.file == "" || out.file == "-" {
			onStdout++
			continue
		}
		_, statErr := os.Stat(out.file)
		f, err := os.OpenFile(out.file, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			rs.close()
			return nil, fmt.Errorf("-o %s: %w", out.file, errors.Unwrap(err))
		}
		r.file, r.w, r.created = f, f, errors.Is(statErr, os.ErrNotExist)
	}
	if onStdout > 1 {
		rs.close()
		return nil, errors.New("two reports on standard output: give -o FILE after a --format")
	}
	if onStdout == 0 && !hasText {
		rs = append(rs, &destination{output: output{format: "text"}, w: stdout})
	}
	return rs, nil
}

// write writes all reports and closes their files.
func (rs destinations) write(r *report.Report) error {
	var errs []error
	for _, out := range rs {
		if err := out.write(r); err != nil {
			errs = append(errs, fmt.Errorf("write the %s report: %w", out.format, err))
		}
	}
	return errors.Join(errs...)
}

func (out *destination) write(r *report.Report) error {
	i := slices.Index(formatNames(), out.format)
	var buf bytes.Buffer
	if err := formats[i].write(&buf, r, styleOf(out.w)); err != nil {
		return err
	}
	out.created = false
	if out.file != nil {
		if info, err := out.file.Stat(); err == nil && info.Mode().IsRegular() {
			if err := out.file.Truncate(0); err != nil {
				return err
			}
		}
	}
	if _, err := out.w.Write(buf.Bytes()); err != nil {
		return err
	}
	if out.file != nil {
		f := out.file
		out.file = nil
		return f.Close()
	}
	return nil
}

// close closes what is still open, and removes what was made for nothing.
func (rs destinations) close() {
	for _, r := range rs {
		if r.file != nil {
			r.file.Close()
			if r.created {
				os.Remove(r.output.file)
			}
		}
	}
}
