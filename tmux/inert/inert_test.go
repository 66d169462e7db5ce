package inert_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/inert"
)

// inertLines returns the lines of a section of testdata/inert.txtar.
func inertLines(t testing.TB, section string) (lines []string) {
	t.Helper()
	for _, file := range check.Must[*txtar.Archive](t)(txtar.ParseFile("testdata/inert.txtar")).Files {
		for line := range strings.Lines(string(file.Data)) {
			if file.Name == section {
				lines = append(lines, cases.Expand(strings.TrimSuffix(line, "\n")))
			}
		}
	}
	check.That(t, len(lines) > 0, "no section %s", section)
	return lines
}

// inertServer returns a server with something in it that each format below shows.
func inertServer(t testing.TB) *tmux.Server {
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "main", "-n", "win dow", "cat")
	testserver.Run(t, srv, "new-session", "-d", "-s", "two", "cat")
	testserver.Run(t, srv, "split-window", "-d", "-t", "=main:", "cat")
	testserver.Run(t, srv, "set-option", "-g", "@note", "a#Sb,}c %H é")
	testserver.Run(t, srv, "set-option", "-g", "@huge", strings.Repeat("é", 6000))
	testserver.Run(t, srv, "select-pane", "-t", "%0", "-T", "title/1")
	return srv
}

// expanded expands a format through inert.Format, as a caller of it would.
func expanded(t testing.TB, srv *tmux.Server, format string) string {
	t.Helper()
	ctx := testserver.Context(t)
	f, err := inert.Format(format, check.Must[tmux.Version](t)(srv.Version(ctx)))
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	var b tmux.Batch
	got := tmux.AddMessage(&b, tmux.DisplayMessage{Target: tmux.PaneID("%0"), Message: f})
	check.OK(t, b.Do(ctx, srv))
	return *got
}

// A format that is accepted expands in the same way after it is rewritten.
func TestInertFormatsExpandAsTheyAre(t *testing.T) {
	t.Parallel()
	srv := inertServer(t)
	v := check.Must[tmux.Version](t)(srv.Version(testserver.Context(t)))
	formats := inertLines(t, "expand")
	if v.Has(tmux.Version{Major: 3, Minor: 3}) {
		formats = append(formats, inertLines(t, "expand, from 3.3")...)
	}
	for _, format := range formats {
		// Percent signs are text here, and t/f takes them as in a status line.
		want := testserver.Run(t, srv, "display-message", "-p", "-t", "%0", strings.ReplaceAll(format, "%0", "%%0"))
		if v.Major == 3 && (v.Minor == 4 || v.Minor == 5) {
			// These print what is not a letter as an escape.
			want = strings.ReplaceAll(strings.ReplaceAll(want, `\\`, `\`), `\$`, "$")
		}
		check.Equal(t, format, want, expanded(t, srv, format))
	}
}

// Formats that versions read differently expand on all as on the newest.
func TestInertFormatsAreTheSameOnAllVersions(t *testing.T) {
	t.Parallel()
	srv := inertServer(t)
	for _, line := range inertLines(t, "same") {
		format, want, _ := strings.Cut(line, " =>")
		want = strings.TrimPrefix(want, " ")
		check.Equal(t, format, want, expanded(t, srv, format))
	}
}

func TestInertRefuses(t *testing.T) {
	t.Parallel()
	deep := "deep: " + strings.Repeat("#{?x,", 30) + strings.Repeat(",}", 30)
	for _, line := range append(inertLines(t, "refused"), deep, "longer than: "+strings.Repeat("x", 3000)) {
		why, format, _ := strings.Cut(line, ": ")
		f, err := inert.Format(format, tmux.Version{Major: 3, Minor: 8})
		if f != "" || !errors.Is(err, tmux.ErrArgument) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60q: %q, %v; want an error with %q", format, f, err, why)
		}
	}
	if f, err := inert.Format("#{pane_id} #(x)", tmux.Version{Major: 3, Minor: 8}); f != "" || err == nil {
		t.Errorf("what stands before a refused part is returned: %q, %v", f, err)
	}
	// Names that only other versions have are empty, and not looked up in the environment.
	for format, v := range map[string]tmux.Version{
		"#{pane_x}": {Major: 3, Minor: 2}, "#{theme}": {Major: 3, Minor: 2}, "#{?pane_dead_signal,a,b}": {Major: 3, Minor: 2}, "#{loop_last_flag}": {Major: 3, Minor: 8},
	} {
		f, err := inert.Format(format, v)
		name := strings.Trim(strings.TrimSuffix(format, ",a,b}"), "#{?}")
		check.That(t, err == nil && !strings.Contains(string(f), name), "%s on tmux %s: %q, %v", format, v, f, err)
	}
}

// FuzzInert expands whatever Format accepts on a real server, where values try to run
// commands, and looks for the file that any of them would create.
func FuzzInert(f *testing.F) {
	for _, seed := range inertLines(f, "seeds") {
		f.Add(seed)
	}
	srv := testserver.New(f)
	mark := filepath.Join(f.TempDir(), "mark")
	run := "#(touch " + mark + ")"
	testserver.Run(f, srv, "new-session", "-d", "-s", "main", "cat")
	testserver.Run(f, srv, "set-option", "-g", "@run", run)
	testserver.Run(f, srv, "select-pane", "-t", "%0", "-T", strings.ReplaceAll(run, "#", "##"))
	ctx := testserver.Context(f)
	v := check.Must[tmux.Version](f)(srv.Version(ctx))
	f.Fuzz(func(t *testing.T, format string) {
		format = strings.ReplaceAll(format, "MARK", mark)
		if strings.Contains(format, "\x00") {
			return
		}
		safe, err := inert.Format(format, v)
		if err != nil {
			check.Kind(t, format, err, tmux.ErrArgument)
			return
		}
		var b tmux.Batch
		tmux.AddMessage(&b, tmux.DisplayMessage{Target: tmux.PaneID("%0"), Message: safe})
		// tmux ends a client's jobs when the client leaves, so it stays for a while.
		tmux.Add(&b, tmux.IfShell{Condition: "sleep 0.02"})
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := b.Do(ctx, srv); err != nil && !errors.Is(err, tmux.ErrArgument) {
			t.Fatalf("%q as %q: %v", format, safe, err)
		}
		if _, err := os.Stat(mark); err == nil {
			os.Remove(mark)
			t.Fatalf("%q as %q ran a shell command", format, safe)
		}
	})
}

// Every accepted format is cheap for tmux: the most of each kind of part, with the longest
// values allowed.
func TestInertFormatsAreCheap(t *testing.T) {
	t.Parallel()
	srv := inertServer(t)
	for n := 64; n <= 64<<10; n *= 2 {
		for i := 0; i < n; i += 4096 { // some versions of tmux accept no more at once
			testserver.Run(t, srv, "set-option", "-ga", fmt.Sprint("@v", n), strings.Repeat("é; ", min(n, 4096)/4))
		}
	}
	pid := testserver.Run(t, srv, "display-message", "-p", "#{pid}")
	most, before := 0, testserver.PeakMemory(t, pid)
	for n := 64; n <= 64<<10; n *= testtool.Size(32, 2) {
		value := fmt.Sprintf("#{@v%d}", n)
		for _, part := range []string{
			value, "#{q:#{q:#{q:#{q:" + value + "}}}}", "#{p1000:#{p-1000:#{p1000:#{p-1000:" + value + "}}}}", "#{n:#{w:#{n:#{w:" + value + "}}}}", "#{=1000;p1000;q:@v64}",
			"#{==:" + value + "," + value + "}", "#{?" + value + "," + value + "," + value + "}", "#{?1,a,#{?1,b,#{?1,c,#{?1,d," + value + "}}}}", "#{pane_current_path}#{history_bytes}",
		} {
			for _, times := range []int{1, 10, maxBytes / len(part)} {
				most = max(most, len(expanded(t, srv, strings.Repeat(part, min(times, maxBytes/len(part))))))
			}
		}
	}
	check.That(t, most <= 1<<20 && most >= 64<<10, "a format expanded to %d bytes", most)
	if grown := testserver.PeakMemory(t, pid) - before; grown > 10<<10 {
		t.Errorf("tmux grew by %d kB", grown)
	}
}

const maxBytes = 2000
