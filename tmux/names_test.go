package tmux_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

// nameSeeds are texts with a meaning to one of the parsers that a name passes.
var nameSeeds = []string{
	"plain", "a b", "#{pane_id}", "#(touch X)", "#[fg=red]", "##", "#", "#,", "#}", "}", ",", "a:b.c", "%Y-%m", "%%", ";", "a;", `\;`, `\`, `a\b`, `\n`,
	"-x", "--", "$HOME", "${HOME}", `\$HOME`, "~", "'", `"`, "`id`", "é€😀", "日本", "e\u0301", "\u200d", "tab\there", "new\nline", "\x01\x1b[31m", "\x7f", "\r", "=main:", "@0", "$0", "%0", "!",
	"*?[a]", "|", `a|\`, " lead", "trail ", "\xff\xfe", "a\x00b", "#{l:#{pane_id}}", "#{?1,a,b}", strings.Repeat("long #{x} ", 40),
}

// addSeeds adds every of-th seed; all at full size.
func addSeeds(f *testing.F, of int) {
	for i := 0; i < len(nameSeeds); i += testtool.Size(of, 1) {
		f.Add(nameSeeds[i])
	}
}

// FuzzNames: any text is a name or a title, and comes back unchanged, except for what tmux
// itself does to names: backslashes, control bytes and the like are stored as vis(3) writes
// them; so are titles from 3.7 on. A session's name that tmux would change is refused: see
// TestSessionNamesAreKept.
func FuzzNames(f *testing.F) {
	addSeeds(f, 3)
	srv := testserver.Started(f)
	setup := testserver.Context(f)
	v := check.Must[tmux.Version](f)(srv.Version(setup))
	since37 := v.Has(tmux.Version{Major: 3, Minor: 7})
	session, window, pane := srv.Session("$0"), srv.Window("@0"), srv.Pane("%0")
	// Anything that tmux runs as part of a name would show here.
	dir := f.TempDir()
	check.OK(f, do(setup, srv, tmux.RespawnPane{Target: pane, Kill: true, Dir: dir, Command: []string{"sleep 10000"}}))
	f.Fuzz(func(t *testing.T, name string) {
		ctx := t.Context()
		if name == "" || len(name) > 4000 {
			return
		}
		refused := !utf8.ValidString(name) || strings.Contains(name, "\x00")
		// tmux may refuse characters without a width: control characters and some others.
		changed := func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`:.\$`, r) }
		odd := strings.ContainsFunc(name, func(r rune) bool { return r > 0x7e || r < ' ' })
		same := func(what string, got string, vis bool, err error) {
			t.Helper()
			if refused || what == "session" && err != nil && strings.ContainsFunc(name, changed) {
				check.Kind(t, fmt.Sprintf("%s %q", what, name), err, tmux.ErrArgument)
				return
			}
			if odd && errors.Is(err, tmux.ErrArgument) && (what == "title" || since37) {
				return
			}
			if err != nil {
				t.Errorf("%s %q: %v", what, name, err)
				return
			}
			if vis {
				got = tmux.Unvis(got)
			}
			check.Equal(t, what, name, got)
		}
		w, err := session.NewWindow(ctx, tmux.NewWindow{Name: name, Detached: true, Command: []string{"sleep 10000"}})
		same("window", w.Name, since37, err)
		if err == nil {
			p, err := w.ActivePane(ctx)
			check.OK(t, err)
			b, err := p.Split(ctx, tmux.SplitWindow{Command: []string{"sleep 10000"}})
			check.OK(t, err)
			broken, err := b.Break(ctx, tmux.BreakPane{Name: name, Detached: true})
			same("broken window", broken.Name, true, err)
			check.OK(t, b.Kill(ctx))
			check.OK(t, w.Kill(ctx))
		}
		err = window.Rename(ctx, name)
		w, infoErr := window.Info(ctx)
		check.OK(t, infoErr)
		same("renamed window", w.Name, true, err)
		err = pane.SetTitle(ctx, name)
		p, infoErr := pane.Info(ctx)
		check.OK(t, infoErr)
		same("title", p.Title, since37, err)
		s, err := srv.NewSession(ctx, tmux.NewSession{Name: name, WindowName: name, Command: []string{"sleep 10000"}})
		same("session", s.Name, odd, err)
		if err == nil {
			w, err := s.ActiveWindow(ctx)
			same("first window", w.Name, since37, err)
			check.Equal(t, fmt.Sprintf("session named %q", s.Name), s.ID, check.Must[tmux.Session](t)(srv.SessionNamed(ctx, s.Name)).ID)
			check.OK(t, s.Rename(ctx, "other"))
			err = s.Rename(ctx, name)
			s, infoErr := s.Info(ctx)
			check.OK(t, infoErr)
			same("session", s.Name, odd, err)
			check.OK(t, s.Kill(ctx))
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Fatalf("%q was run: %v %v", name, entries, err)
		}
	})
}

// A session has the name that it was to have, or is not made; and the name of one that tmux has
// made, of whatever text, can be given to another.
func TestSessionNamesAreKept(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	made := 0
	for _, text := range append([]string{`x\y`, `x\\y`, `\\server\share`, "a\tb", `a\tb`, `a\\tb`, "\x01", `\001`, `\011`, `a$b`, `a\$b`, `a\\$b`, `\`, "a.b\\c"}, nameSeeds...) {
		session, err := srv.NewSession(ctx, tmux.NewSession{Name: text})
		if err == nil {
			check.Equal(t, "the name", text, session.Name)
			check.Equal(t, "the session of that name", session.ID, check.Must[tmux.Session](t)(srv.SessionNamed(ctx, text)).ID)
			check.OK(t, session.Kill(ctx))
		} else {
			check.Kind(t, text, err, tmux.ErrArgument)
		}
		before := err == nil
		if check.OK(t, do(ctx, srv, tmux.NewSession{Name: "next"})); do(ctx, srv, tmux.RenameSession{Target: tmux.Named("next"), Name: text}) != nil {
			check.That(t, !before, "tmux refuses %q, which it took", text)
			check.OK(t, do(ctx, srv, tmux.KillSession{Target: tmux.Named("next")}))
			continue // nor could it be the name of another
		}
		named := check.Must[[]tmux.Session](t)(srv.Sessions(ctx))
		named = slices.DeleteFunc(named, func(s tmux.Session) bool { return s.ID == "$0" })
		check.Equal(t, "sessions", 1, len(named))
		name := named[0].Name
		check.That(t, before || name != text, "%q is refused, and tmux keeps it", text)
		check.OK(t, named[0].Kill(ctx))
		again, err := srv.NewSession(ctx, tmux.NewSession{Name: name})
		if check.OK(t, err); err == nil {
			check.Equal(t, "the name", name, again.Name)
			check.OK(t, again.Rename(ctx, "other"))
			check.OK(t, again.Rename(ctx, name))
			check.Equal(t, "the name", name, check.Must[tmux.Session](t)(again.Info(ctx)).Name)
			check.OK(t, again.Kill(ctx))
			made++
		}
	}
	check.That(t, made > 30, "only %d names were made again", made)
}

// FuzzDirectories: a working directory of any name is entered.
func FuzzDirectories(f *testing.F) {
	addSeeds(f, 5)
	srv := testserver.Started(f)
	base := f.TempDir()
	f.Fuzz(func(t *testing.T, name string) {
		ctx := testserver.Context(t)
		if name == "" || len(name) > 200 || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
			return
		}
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Skip("the file system does not take the name: ", err)
		}
		defer os.RemoveAll(dir)
		// The pane shows where it is by creating a file there.
		here := func(what string, p tmux.PaneRef, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s in %q: %v", what, dir, err)
				return
			}
			testserver.Wait(t, srv, string(p.ID), what+" in "+dir, func() bool {
				_, err := os.Stat(filepath.Join(dir, what))
				return err == nil
			})
			check.OK(t, do(ctx, srv, tmux.KillPane{Target: p}))
		}
		touch := func(what string) []string { return []string{"touch " + what + "; exec sleep 1000"} }
		inWindow := func(w tmux.Window, err error) (tmux.Pane, error) {
			check.OK(t, err)
			return w.ActivePane(ctx)
		}
		base, session := srv.Pane("%0"), srv.Session("$0")
		idle := tmux.SplitWindow{Detached: true, Command: []string{"exec sleep 1000"}}
		p, err := base.Split(ctx, tmux.SplitWindow{Dir: dir, Detached: true, Command: touch("split")})
		here("split", p.PaneRef, err)
		p, err = inWindow(session.NewWindow(ctx, tmux.NewWindow{Dir: dir, Detached: true, Command: touch("window")}))
		here("window", p.PaneRef, err)
		p = check.Must[tmux.Pane](t)(base.Split(ctx, idle))
		p, err = p.Respawn(ctx, tmux.RespawnPane{Dir: dir, Kill: true, Command: touch("respawn")})
		here("respawn", p.PaneRef, err)
		w := check.Must[tmux.Window](t)(session.NewWindow(ctx, tmux.NewWindow{Detached: true, Command: idle.Command}))
		p, err = inWindow(w.Respawn(ctx, tmux.RespawnWindow{Dir: dir, Kill: true, Command: touch("respawnw")}))
		here("respawnw", p.PaneRef, err)
		s := check.Must[tmux.Session](t)(srv.NewSession(ctx, tmux.NewSession{Dir: dir, Command: touch("session")}))
		p, err = inWindow(s.ActiveWindow(ctx))
		here("session", p.PaneRef, err)
	})
}
