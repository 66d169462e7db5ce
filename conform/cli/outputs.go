package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/conform/report"
)

func formatChoice() string {
	last := len(report.Formats) - 1
	return strings.Join(report.Formats[:last], ", ") + " or " + report.Formats[last]
}

// extensions are the formats that the ends of file names stand for, the usual one
// first. A file whose name has another end needs a --format.
var extensions = map[string][]string{
	".json": {"json"}, ".xml": {"junit"}, ".tap": {"tap"}, ".html": {"html"}, ".htm": {"html"},
	".md": {"markdown", "findings", "wrappers"}, ".markdown": {"markdown", "findings", "wrappers"}, ".txt": {"text", "tap"}, ".log": {"text", "tap"},
}

// hasEnd is a name with an end that says what is in the file, unlike a version.
var hasEnd = regexp.MustCompile(`^.+\.[A-Za-z]\w*$`)

// output is a report that was asked for: a --format, a -o, or both in either order.
type output struct {
	format string // empty when the file's name says it
	file   string // empty when there was no -o

	w       io.Writer
	opened  *os.File // nil for standard output
	created bool     // by us: to be removed if nothing is written
}

// named returns the formats that the file's name stands for.
func (out *output) named() []string { return extensions[strings.ToLower(filepath.Ext(out.file))] }

// fits reports whether the file may hold a format.
func (out *output) fits(format string) bool {
	return out.named() == nil || slices.Contains(out.named(), format)
}

// outputs are the --format and -o flags, in the order in which they were given.
type outputs []output

// transcripts reports whether one of the reports has the scripts' transcripts.
func (o outputs) transcripts() bool {
	return slices.ContainsFunc(o, func(out output) bool { return out.format == "html" })
}

// addFormat adds the value of a --format flag.
func (o *outputs) addFormat(name string) error {
	if !slices.Contains(report.Formats, name) {
		return fmt.Errorf("want %s", formatChoice())
	}
	if n := len(*o); n > 0 && (*o)[n-1].format == "" && (*o)[n-1].fits(name) {
		(*o)[n-1].format = name
		return nil
	}
	*o = append(*o, output{format: name})
	return nil
}

// addFile adds the value of an -o flag.
func (o *outputs) addFile(file string) error {
	if file == "" {
		return errors.New("want a file name, or - for standard output")
	}
	if slices.ContainsFunc(*o, func(out output) bool { return out.file == file }) {
		return fmt.Errorf("two reports cannot go to %s", file)
	}
	if n := len(*o); n > 0 && (*o)[n-1].file == "" {
		(*o)[n-1].file = file
		return nil
	}
	*o = append(*o, output{file: file})
	return nil
}

// resolve gives every output its format, and refuses a file whose name says another.
func (o outputs) resolve() error {
	for i := range o {
		out := &o[i]
		named := out.named()
		switch {
		case out.format == "" && named != nil:
			out.format = named[0]
			// "-o y.json --format junit" may mean either.
			if i+1 < len(o) && o[i+1].file == "" && o[i+1].format != "text" {
				return fmt.Errorf("-o %s --format %s: the file's name says %s: "+
					"give --format %[3]s, or a -o of its own after --format %[2]s", out.file, o[i+1].format, out.format)
			}
		case out.format == "" && hasEnd.MatchString(filepath.Base(out.file)):
			return fmt.Errorf("-o %s: the file's name says no format: give --format %s, or a name with %s",
				out.file, formatChoice(), strings.Join(slices.Sorted(maps.Keys(extensions)), " "))
		case out.format == "":
			out.format = "text"
		case out.file != "" && !out.fits(out.format):
			return fmt.Errorf("--format %s -o %s: the file's name says %s: change one of them", out.format, out.file, named[0])
		}
	}
	return nil
}

// open opens the files of all reports, which are changed only when a report is
// written. What is for people goes to standard output, unless something else
// does or it has a file.
func (o outputs) open(stdout io.Writer) (opened outputs, err error) {
	opened = slices.Clone(o)
	defer func() {
		if err != nil {
			opened.close()
		}
	}()
	if err := opened.resolve(); err != nil {
		return opened, err
	}
	onStdout, hasText := 0, false
	for i := range opened {
		out := &opened[i]
		out.w = stdout
		hasText = hasText || out.format == "text"
		if out.file == "" || out.file == "-" {
			onStdout++
			continue
		}
		_, statErr := os.Stat(out.file)
		if out.opened, err = os.OpenFile(out.file, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
			return opened, fmt.Errorf("-o %s: %w", out.file, errors.Unwrap(err))
		}
		out.w, out.created = out.opened, errors.Is(statErr, os.ErrNotExist)
	}
	if onStdout > 1 {
		return opened, errors.New("two reports on standard output: give -o FILE after a --format")
	}
	if onStdout == 0 && !hasText {
		opened = append(opened, output{format: "text", w: stdout})
	}
	return opened, nil
}

// write writes all reports and closes their files.
func (o outputs) write(r *report.Report) error {
	var errs []error
	for i := range o {
		if err := o[i].write(r); err != nil {
			errs = append(errs, fmt.Errorf("write the %s report: %w", o[i].format, err))
		}
	}
	return errors.Join(errs...)
}

func (out *output) write(r *report.Report) error {
	var buf bytes.Buffer
	if err := report.Write(&buf, out.format, r, styleOf(out.w)); err != nil {
		return err
	}
	f := out.opened
	if f != nil {
		out.created = false
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			if err := f.Truncate(0); err != nil {
				return err
			}
		}
	}
	if _, err := out.w.Write(buf.Bytes()); err != nil || f == nil {
		return err
	}
	out.opened = nil
	return f.Close()
}

// close closes what is still open, and removes what was made for nothing.
func (o outputs) close() {
	for _, out := range o {
		if out.opened != nil {
			out.opened.Close()
			if out.created {
				os.Remove(out.file)
			}
		}
	}
}
