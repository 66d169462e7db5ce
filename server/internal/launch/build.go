package launch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/layout"
	"tmuxmcp/tmux/prompt"
)

// Build builds a workspace, or only plans it. If that fails, nothing is left behind.
func (s *Starter) Build(ctx context.Context, t *typing.Typist, in Workspace) (*Built, error) {
	b := &builder{Source: t.Source, starter: s, typist: t, in: in}
	if err := b.begin(ctx); err != nil || in.DryRun {
		return &b.out, err
	}
	err := b.furnish(ctx)
	if err == nil {
		err = b.start(ctx)
	}
	if err != nil {
		b.undo(ctx)
		return nil, b.vanished(err)
	}
	return &b.out, nil
}

// builder builds one workspace: begin creates the session, furnish everything else in it in
// one more round trip, and start runs the commands in its panes.
type builder struct {
	rows.Source
	starter *Starter
	typist  *typing.Typist
	in      Workspace
	session created // where it begins: the last existing window
	made    bool    // begin created the session
	panes   []*building
	out     Built
}

type building struct {
	Pane
	window, index int // position in the input
	dir           string
	env           tmux.Env
	row           *[]created // what tmux printed when it created the pane
}

func (p *building) id() tmux.PaneID { return (*p.row)[0].Pane }

type created struct {
	Fleeting
	Session tmux.SessionID `tmux:"session_id"`
	Path    string         `tmux:"session_path"`
	Window  tmux.WindowID  `tmux:"window_id"`
	Index   int            `tmux:"window_index"`
	Pane    tmux.PaneID    `tmux:"pane_id"`
}

// begin finds the session or creates it with its first pane, or returns the plan.
func (b *builder) begin(ctx context.Context) error {
	var there []created
	if b.in.Append {
		var err error
		there, err = tmux.List[created](ctx, b.Tmux, tmux.ListWindows{All: true, Filter: tmux.MatchEqual("session_name", b.in.SessionName)})
		if err := target.NoneIsEmpty(err); err != nil && !errors.Is(err, tmux.ErrNoServer) && !errors.Is(err, tmux.ErrServerGone) {
			return err
		}
	}
	base := ""
	if len(there) > 0 {
		b.session = there[len(there)-1]
		base = b.session.Path
	}
	if err := b.prepare(base); err != nil || b.in.DryRun {
		if err == nil {
			err = b.plan(ctx, len(there) > 0)
		}
		return err
	}
	if len(there) > 0 {
		return nil
	}
	err := UntilServerEnds(ctx, b.Tmux, func() error {
		var batch tmux.Batch
		b.panes[0].row = tmux.AddRows[created](&batch, b.newSession())
		all := tmux.AddRows[created](&batch, tmux.ListWindows{All: true}) // a hook may have created more
		err := batch.Do(context.WithoutCancel(ctx), b.Tmux)
		if err == nil {
			err = ResizeFirst(context.WithoutCancel(ctx), b.Tmux, (*b.panes[0].row)[0].Session, b.in.X, b.in.Y)
		}
		for _, w := range append(*b.panes[0].row, *all...) {
			if !b.made || w.Session == b.session.Session {
				b.session, b.made = w, true
			}
		}
		return err
	})
	if errors.Is(err, tmux.ErrExists) {
		f, _ := reply.FaultOf(err)
		return f.Suggest("append=true adds the windows to it")
	}
	if err != nil && b.made {
		b.undo(ctx)
	}
	return b.vanished(err)
}

// prepare checks directories and variables, which only this server can look up.
func (b *builder) prepare(base string) error {
	under := func(base, argument, given string) (string, error) {
		if given != "" && base != "" && !filepath.IsAbs(given) && given != "~" && !strings.HasPrefix(given, "~/") {
			given = filepath.Join(base, given)
		} else if given == "" {
			return base, nil
		}
		return directory(b.starter.Path, argument, given)
	}
	base, err := under(base, "directory", b.in.Directory)
	if err != nil {
		return err
	}
	for i, w := range b.in.Windows {
		panes := w.Panes
		if len(panes) == 0 {
			panes = []Pane{{}}
		}
		for j, p := range panes {
			made := &building{Pane: p, window: i, index: j}
			if made.dir, err = under(base, fmt.Sprintf("windows[%d].panes[%d].directory", i, j), p.Directory); err != nil {
				return err
			}
			if made.env, err = (Spawn{Environment: p.Environment}).variables(); err != nil {
				return err
			}
			b.panes = append(b.panes, made)
		}
	}
	return nil
}

func (b *builder) newSession() tmux.NewSession {
	p := b.panes[0]
	return tmux.NewSession{
		Name: b.in.SessionName, WindowName: b.in.Windows[0].Name, Detached: true, Width: b.in.X, Height: b.in.Y, Dir: p.dir, Env: p.env, Command: ShellCommand(p.Shell),
	}
}

// commands makes the session's windows and panes; if the session was created, its first
// window exists already. Windows get the indexes after the last existing one, so all
// targets are known. The target of a split is the window's active pane, the one split off
// last. As no client is looking at a new window, this moves no user's focus. add is called
// for each command with the pane that it creates, or nil.
func (b *builder) commands(session string, made bool, index int, add func(p *building, cmd tmux.Command)) {
	for n, next := 0, 0; n < len(b.in.Windows); n++ {
		w := b.in.Windows[n]
		var at tmux.Target
		first := next
		for ; next < len(b.panes) && b.panes[next].window == n; next++ {
			p := b.panes[next]
			switch {
			case made && next == 0:
				its := index
				if row := p.row; row != nil { // there may be later ones, which a hook created
					its = (*row)[0].Index
				}
				at = tmux.TargetSpec(fmt.Sprint(session, its))
				// The variables of the first pane do not belong to the session.
				for name := range p.env {
					add(nil, tmux.SetEnvironment{Target: tmux.TargetSpec(session), Unset: true, Name: name})
				}
			case next == first:
				index++
				at = tmux.TargetSpec(fmt.Sprint(session, index))
				add(p, tmux.NewWindow{Target: at, Detached: true, Name: w.Name, Dir: p.dir, Env: p.env, Command: ShellCommand(p.Shell)})
				if made && b.in.X+b.in.Y > 0 {
					for _, cmd := range resizing(at, b.in.X, b.in.Y) {
						add(nil, cmd)
					}
				}
			default:
				add(p, tmux.SplitWindow{Target: at, Dir: p.dir, Env: p.env, Command: ShellCommand(p.Shell)})
				add(nil, tmux.SelectLayout{Target: at, Layout: layout.Tiled}) // makes room for the next
			}
			if p.Title != "" {
				add(nil, tmux.SelectPane{Target: at, Title: &p.Title})
			}
		}
		if w.MainSize != "" {
			add(nil, SetMainSize(at, w.Layout, w.MainSize))
		}
		if w.Layout != "" && next > first+1 {
			add(nil, tmux.SelectLayout{Target: at, Layout: layout.Layout(w.Layout)})
		}
	}
}

// furnish creates all windows and panes, and selects the current ones.
func (b *builder) furnish(ctx context.Context) error {
	// The list does not take long, and its results must be known: it is not cancelled.
	whole := context.WithoutCancel(ctx)
	var batch tmux.Batch
	b.commands(string(b.session.Session)+":", b.made, b.session.Index, func(p *building, cmd tmux.Command) {
		if lister, ok := cmd.(tmux.Lister); ok && p != nil {
			p.row = tmux.AddRows[created](&batch, lister)
		} else {
			tmux.Add(&batch, cmd)
		}
	})
	if err := batch.Do(whole, b.Tmux); err != nil {
		return b.noRoom(err)
	}
	_, err := b.Tmux.Do(whole, b.focus(func(tmux.PaneID) bool { return true })...)
	// A program may end at any time, which start says: as many do as there are panes.
	for tries := 0; screen.IsGone(err) && tries < len(b.panes); tries++ {
		left, failed := tmux.List[target.IDs](whole, b.Tmux, tmux.ListPanes{All: true})
		if failed != nil {
			return failed
		}
		_, err = b.Tmux.Do(whole, b.focus(func(id tmux.PaneID) bool {
			return slices.ContainsFunc(left, func(o target.IDs) bool { return o.Pane == id })
		})...)
	}
	return err
}

// vanished returns the error that ends the call if the session is gone, or a window in which
// panes were still to be made: their programs have ended at once.
func (b *builder) vanished(err error) error {
	if !b.made || !screen.IsGone(err) {
		return err
	}
	if why := b.session.why(); why != "" {
		return endedSession(b.in.SessionName, why)
	}
	f := reply.Faultf(reply.KindPaneGone, "a program ended at once, before session %s was built: nothing is left of it", b.in.SessionName).
		Suggest("run_command in a pane with a shell shows why")
	f.Cause = err
	return f
}

// focus returns the commands that make the first or the requested pane of each window
// active, and the requested window current, if any. there reports whether a pane is still
// there.
func (b *builder) focus(there func(tmux.PaneID) bool) (cmds []tmux.Command) {
	active := make([]*building, len(b.in.Windows))
	for _, p := range b.panes {
		if active[p.window] == nil || p.Focus {
			active[p.window] = p
		}
	}
	for i, w := range b.in.Windows {
		if len(w.Panes) > 1 && there(active[i].id()) {
			cmds = append(cmds, tmux.SelectPane{Target: active[i].id()})
		}
	}
	for i, w := range b.in.Windows {
		if w.Focus && there(active[i].id()) {
			row := (*active[i].row)[0]
			cmds = append(cmds, tmux.SelectWindow{Target: tmux.TargetSpec(fmt.Sprintf("%s:%d", row.Session, row.Index))})
		}
	}
	return cmds
}

// noRoom returns a fault that says which pane has no room, if that is the error.
func (b *builder) noRoom(err error) error {
	if !errors.Is(err, tmux.ErrNoSpace) {
		return err
	}
	for _, p := range b.panes {
		if p.row != nil && len(*p.row) > 0 {
			continue
		}
		f := reply.Faultf(reply.KindRefused, "windows[%d] has no room for panes[%d]", p.window, p.index).Suggest("give the session more columns (x) and rows (y), or the window fewer panes")
		f.Cause = err
		return f
	}
	return err
}

// undo removes what this call created, and nothing else.
func (b *builder) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), prompt.CleanupTime)
	defer cancel()
	if b.made {
		_, _ = b.Tmux.Do(ctx, tmux.KillSession{Target: b.session.Session})
		return
	}
	for _, p := range b.panes {
		if p.index == 0 && p.row != nil && len(*p.row) > 0 {
			_, _ = b.Tmux.Do(ctx, tmux.KillWindow{Target: (*p.row)[0].Window})
		}
	}
}

// start waits until every pane's program runs, types the commands, and reads the rows.
func (b *builder) start(ctx context.Context) error {
	problems := make([]error, len(b.panes))
	var wg sync.WaitGroup
	for i, p := range b.panes {
		wg.Go(func() {
			if p.Command != "" {
				problems[i] = typing.FaultOf(b.typeCommand(ctx, p))
			} else {
				var ended reply.Words
				if ended, _, problems[i] = b.starter.ended(ctx, b.Tmux, &rows.Pane{PaneID: p.id()}, p.Shell); ended != "" {
					problems[i] = reply.Faultf(reply.KindPaneGone, "%s", ended)
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range problems {
		var refused *reply.Fault
		if err != nil && !errors.As(err, &refused) && !errors.Is(err, tmux.ErrNotFound) { // of a pane that is not in the rows
			return err
		}
	}
	there, err := tmux.List[builtPane](ctx, b.Tmux, tmux.ListPanes{All: true, Filter: tmux.MatchEqual("session_id", string(b.session.Session))})
	if err != nil {
		return err
	}
	if len(there) == 0 {
		return tmux.ErrNotFound
	}
	b.out = Built{SessionID: b.session.Session, SessionName: b.in.SessionName, Panes: []builtPane{}, Plan: []string{}}
	for i, p := range b.panes {
		row := builtPane{PaneID: p.id(), WindowID: (*p.row)[0].Window, WindowIndex: (*p.row)[0].Index, WindowName: b.in.Windows[p.window].Name}
		if at := slices.IndexFunc(there, func(r builtPane) bool { return r.PaneID == p.id() }); at >= 0 {
			row = there[at]
		} else if problems[i] == nil || screen.IsGone(problems[i]) {
			problems[i] = reply.Faultf(reply.KindPaneGone, "its program has ended, and pane %s is gone", p.id())
		}
		row.Title = p.Title
		if problems[i] != nil {
			text := reply.Said(problems[i].Error())
			row.Problem = &text
		}
		b.out.Panes = append(b.out.Panes, row)
	}
	return nil
}

// typeCommand types a pane's command once its program is ready: a shell when it shows its
// prompt, another program when its screen is quiet.
func (b *builder) typeCommand(ctx context.Context, p *building) error {
	pane, err := prompt.Look(ctx, b.Tmux, p.id())
	if err != nil {
		return err
	}
	sh := b.typist.Shell(pane)
	since, was := time.Now(), ""
	ready, err := sh.Await(ctx, func(waited time.Duration) (bool, error) {
		if waited > b.starter.ReadyWait || sh.Foreground.IsShell() {
			return waited > b.starter.ReadyWait, nil
		}
		if err := sh.LookAgain(ctx); err != nil {
			return false, err
		}
		if now := fmt.Sprint(sh.Pane.X, sh.Pane.Y, sh.Pane.Screen); now != was {
			since, was = time.Now(), now
		}
		need := quiet
		if strings.TrimSpace(strings.Join(sh.Pane.Screen, "")) == "" {
			need = bareQuiet
		}
		return time.Since(since) > need, nil
	})
	switch {
	case err != nil:
		return err
	case ready:
		if fresh, err := sh.BecomesFresh(ctx, 30*time.Millisecond); err != nil {
			return err
		} else if !fresh && !sh.AtPrompt() {
			return reply.Faultf(reply.KindRefused, "command not typed: %s shows no prompt", reply.Named(sh.Foreground.Name, ""))
		}
	case sh.Foreground.IsShell():
		return reply.Faultf(reply.KindRefused, "command not typed: %s shows no prompt", reply.Named(sh.Foreground.Name, ""))
	}
	text := strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(strings.TrimRight(p.Command, "\r\n")) + "\r"
	return b.typist.TypeIntoMade(ctx, p.id(), screen.EchoOf(text), func(to tmux.Target) ([]tmux.Command, error) {
		return sh.Pasting(ctx, text)
	})
}

// plainWords matches words of tmux's language that need no quotes.
var plainWords = lazy.Regexp(`(^| )'([\w./@%+=:-]+)'`)

// plan writes the commands that would run.
func (b *builder) plan(ctx context.Context, there bool) error {
	b.out = Built{SessionID: b.session.Session, SessionName: b.in.SessionName, Panes: []builtPane{}, Plan: []string{}}
	var cmds []tmux.Command
	index := b.session.Index
	if !there {
		cmds = append(cmds, b.newSession())
		if base, err := b.Tmux.Display(ctx, "#{base-index}"); err == nil {
			index, _ = strconv.Atoi(base)
		}
	}
	b.commands(tmux.Named(b.in.SessionName).TargetSpec(), !there, index, func(_ *building, cmd tmux.Command) { cmds = append(cmds, cmd) })
	for _, cmd := range cmds {
		line, err := b.Tmux.Script(ctx, cmd)
		if err != nil {
			return err
		}
		b.out.Plan = append(b.out.Plan, plainWords().ReplaceAllString(line, "$1$2"))
	}
	for _, p := range b.panes {
		if p.Command != "" {
			b.out.Plan = append(b.out.Plan, fmt.Sprintf("# type into windows[%d].panes[%d], once it is ready: %s", p.window, p.index, reply.OneLine(p.Command)))
		}
	}
	return nil
}
