package tmux_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// hugeTexts are a million bytes each, of what tmux counts and escapes in its own ways.
func hugeTexts() map[string]string {
	texts := map[string]string{"combining after a letter": "a" + strings.Repeat("\u0301", 500_000-1)}
	for _, s := range []string{"A", "|", `\`, "x|", `x\`, " $HOME ", "é", "漢字", "#", "##", "#[fg=red]", "#[", "#{pane_id}", "%H", ">", "…", "a\u0301", "👩\u200d💻", "}", ","} {
		texts[s] = strings.Repeat(s, 1_000_000/len(s))
	}
	return texts
}

// TestLongTextsAreCut: whatever a title, a name or an option is, tmux sends of it no more
// than MostText says, and the beginning is what it was.
func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	base := testserver.New(t)
	testserver.Run(t, base, "new-session", "-d", "-s", "s", "exec cat")
	const most = 100
	type row struct {
		Window      string      `tmux:"window_name"`
		Title       *string     `tmux:"pane_title"`
		Note        string      `tmux:"@note"`
		WholeWindow string      `tmux:"window_name,whole"`
		WholeTitle  string      `tmux:"pane_title,whole"`
		WholeNote   string      `tmux:"@note,whole"`
		After       tmux.PaneID `tmux:"pane_id"`
	}
	same := func(what, whole, got string) {
		t.Helper()
		begins, cut := strings.CutSuffix(got, "…")
		switch {
		case got == whole && len(whole) <= 4*most || len(whole) <= most/2:
			check.Equal(t, what, whole, got)
		case !cut || len(begins) > 4*most || !strings.HasPrefix(whole, strings.TrimRight(begins, "#")):
			t.Errorf("%s: %d bytes are shown as %q", what, len(whole), got)
		case begins == "" && !strings.ContainsAny(whole, "\u0301#"):
			t.Errorf("%s: nothing is left", what)
		}
	}
	for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		srv := testserver.Handle(t, tmux.Config{SocketPath: base.SocketPath(), Binary: base.Binary(), Transport: way, MostText: most})
		v := check.Must[tmux.Version](t)(srv.Version(testserver.Context(t)))
		set := func(text string) row {
			t.Helper()
			var b tmux.Batch
			for _, args := range [][]string{
				{"rename-window", "-t", "%0", string(tmux.Literal(text))},
				{"select-pane", "-t", "%0", "-T", string(tmux.Literal(text))},
				{"set-option", "-p", "-t", "%0", "@note", text},
			} {
				tmux.Add(&b, tmux.Raw{Name: args[0], Args: args[1:]})
			}
			rows := tmux.AddRows[row](&b, tmux.ListPanes{All: true})
			check.OK(t, b.Do(testserver.Context(t), srv))
			return (*rows)[0]
		}
		for what, huge := range hugeTexts() {
			for _, n := range []int{1, most / 2, most/2 + 1, most - 1, most, most + 1, 1000} {
				text := strings.ToValidUTF8(huge[:n], "")
				if text == "" && v == (tmux.Version{Major: 3, Minor: 7}) {
					continue // which refuses an empty name
				}
				got := set(text) // what tmux takes as a name or title differs by version
				check.Equal(t, "note", text, got.WholeNote)
				same(fmt.Sprintf("title of %d bytes of %s", n, what), got.WholeTitle, *got.Title)
				same(fmt.Sprintf("name of %d bytes of %s", n, what), got.WholeWindow, got.Window)
				same(fmt.Sprintf("option of %d bytes of %s", n, what), got.WholeNote, got.Note)
				check.Equal(t, "after it", tmux.PaneID("%0"), got.After)
			}
		}
		for _, text := range []string{strings.Repeat("ж", most), strings.Repeat("x", most-2) + "漢"} {
			got := set(text)
			check.Equal(t, "a title that fits", text, *got.Title)
			check.Equal(t, "an option that fits", text, got.Note)
		}
		lines := "a line\n\tand \a another | \\ # one"
		testserver.Run(t, base, "set-option", "-p", "-t", "%0", "@note", lines)
		got := check.Only[row](t)(tmux.List[row](testserver.Context(t), srv, tmux.ListPanes{All: true}))
		check.Equal(t, "lines", lines, got.Note)
	}
}

// TestHugeTitles: twenty programs with titles of a million bytes do not keep their panes from
// being listed.
func TestHugeTitles(t *testing.T) {
	t.Parallel()
	for what, title := range hugeTexts() {
		if what != "A" && what != "combining after a letter" && what != "#[" {
			continue
		}
		base := testserver.New(t)
		file := filepath.Join(t.TempDir(), "title")
		check.OK(t, os.WriteFile(file, []byte("\x1b]2;"+title+"\x1b\\done"), 0o600))
		show := "cat " + file + "; exec cat"
		testserver.Run(t, base, "new-session", "-d", show)
		for range 19 {
			testserver.Run(t, base, "new-window", "-d", show)
		}
		srv := testserver.Handle(t, tmux.Config{SocketPath: base.SocketPath(), Binary: base.Binary(), MostText: 500})
		for i := range 20 {
			testserver.WaitScreen(t, base, fmt.Sprintf("%%%d", i), "done")
		}
		panes := check.Must[[]tmux.Pane](t)(tmux.List[tmux.Pane](testserver.Context(t), srv, tmux.ListPanes{All: true}))
		check.Equal(t, "panes", 20, len(panes))
		for _, p := range panes {
			check.That(t, strings.HasSuffix(p.Title, "…") && len(p.Title) < 4*500+len("…"), "%s: %q", what, p.Title)
		}
	}
}
