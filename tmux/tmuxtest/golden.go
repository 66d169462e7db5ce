package tmuxtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tmuxmcp/internal/cells"
	"tmuxmcp/tmux"
)

// Golden waits until the screen matches testdata/golden/NAME.txt, which has what
// [Program.Screen] returns and a newline. If it does not in time, the test ends and prints
// where they differ. The name may have slashes. To write the file, see the package comment:
// it gets the first screen that has not changed for half a second. If there is no file, the
// test ends with that screen.
func (p *Program) Golden(name string) {
	p.t.Helper()
	p.golden(name, ".txt", row.text, row.text, "")
}

// GoldenStyled is like [Program.Golden], with the file testdata/golden/NAME.ansi, which also
// has colours and attributes, as SGR sequences: cat shows it as the terminal does. It leaves
// out the colours of underlines and the addresses of links, which not every tmux reports.
// tmux 3.3 does not report the background of cells that were erased, not written; there, the
// background of blanks at the end of a row is not compared, and files that have one should be
// written with another version.
func (p *Program) GoldenStyled(name string) {
	p.t.Helper()
	compared, note := row.styled, ""
	p.do("ask for the version of tmux", func(ctx context.Context) error {
		hides, err := p.pane.Server().Supports(ctx, hidesErased)
		if hides {
			compared = row.withoutErased
			note = "; this tmux hides the background of erased cells: if the screen has any, write it with a version other than 3.3"
		}
		return err
	})
	p.golden(name, ".ansi", row.styled, compared, note)
}

// hidesErased: capture-pane leaves out what was never written at the end of a row.
var hidesErased = tmux.Feature{Name: "rows without erased cells", Since: tmux.Version{Major: 3, Minor: 3}, Until: tmux.Version{Major: 3, Minor: 3, Letter: 'a'}}

// started is the directory of the package under test, even if a test changes directory.
var started, _ = os.Getwd()

// quiet is how long a screen that becomes a golden file must not change.
const quiet = 500 * time.Millisecond

func (p *Program) golden(name, ext string, form, compared func(row) string, note string) {
	p.t.Helper()
	if name == "" || !filepath.IsLocal(name) {
		p.t.Fatalf("%q is no name of a golden file", name)
	}
	path := filepath.Join("testdata", "golden", name+ext)
	file := filepath.Join(started, path)
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatalf("read a golden file: %v", err)
	}
	want, exists := strings.TrimSuffix(string(raw), "\n"), err == nil
	if updating() {
		s, why := p.settled(form)
		if why != "" {
			p.fail(s, "%s, and the screen still changes", why)
		}
		got := s.as(form)
		if exists && got == want {
			return
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			p.t.Fatalf("write a golden file: %v", err)
		}
		if err := os.WriteFile(file, []byte(got+"\n"), 0o666); err != nil {
			p.t.Fatalf("write a golden file: %v", err)
		}
		p.t.Logf("wrote %s%s", path, note)
		return
	}
	if !exists {
		s, _ := p.settled(form)
		p.fail(s, "%s does not exist; %s", path, howToUpdate())
	}
	want = (&screen{rows: parseRows(want + "\n")}).as(compared)
	s, why := p.await(func(s *screen) bool { return s.as(compared) == want })
	if why != "" {
		p.fail(s, "%s, and the screen is not as %s says; %s\n%s", why, path, howToUpdate(), difference(want, s.as(compared)))
	}
}

func howToUpdate() string {
	way := "TMUX_TEST_UPDATE=1"
	if flag.Lookup("update") != nil {
		way = "-update"
	}
	return "to write it, run the test with " + way
}

// updating reports whether golden files are written.
func updating() bool {
	if os.Getenv("TMUX_TEST_UPDATE") == "1" {
		return true
	}
	f := flag.Lookup("update")
	if f == nil {
		return false
	}
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return false
	}
	on, _ := g.Get().(bool)
	return on
}

// settled waits until the screen is quiet, and returns it; why says why it gave up.
func (p *Program) settled(form func(row) string) (s *screen, why string) {
	p.t.Helper()
	var last string
	var since time.Time
	return p.await(func(s *screen) bool {
		if now := s.as(form); since.IsZero() || now != last {
			last, since = now, time.Now()
		}
		return s.ended || time.Since(since) >= quiet
	})
}

// difference returns the rows that differ, and where.
func difference(want, got string) string {
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b strings.Builder
	for i := range max(len(wants), len(gots)) {
		w, g := at(wants, i), at(gots, i)
		if w == g {
			continue
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "They differ first in column %d of row %d, both from 0 (- file, + screen):\n", firstColumn(w, g), i)
		}
		fmt.Fprintf(&b, "%3d -│%s│\n    +│%s│\n", i, visible(w), visible(g))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// at returns row i, blank if there is none.
func at(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return ""
}

// visible makes escape sequences visible.
func visible(text string) string { return strings.ReplaceAll(text, "\x1b", "␛") }

// firstColumn returns the first column in which two rows differ, whatever their sequences.
func firstColumn(a, b string) int {
	as, bs := cellsOf(a), cellsOf(b)
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return i
		}
	}
	return min(len(as), len(bs))
}

// cellsOf returns the cells of a row of a golden file, each with its style. A wide character
// has a second one without text.
func cellsOf(text string) (list []run) {
	for _, r := range parseRows(text + "\n") {
		for _, s := range r {
			for _, c := range s.text {
				for i := range cells.Of(c) {
					list = append(list, run{s.style, string(c)[:len(string(c))*(1-i)]})
				}
			}
		}
	}
	return list
}
