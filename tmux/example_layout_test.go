package tmux_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"reflect"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/layout"
)

// A spot is where a pane is, and what it was started with.
type spot struct {
	Index   int    `tmux:"window_index"`
	Window  string `tmux:"window_name"`
	Left    int    `tmux:"pane_left"`
	Top     int    `tmux:"pane_top"`
	Width   int    `tmux:"pane_width"`
	Height  int    `tmux:"pane_height"`
	Dir     string `tmux:"pane_start_path"`    // since tmux 3.3
	Command string `tmux:"pane_start_command"` // quoted for tmux; empty for a shell
}

// A savedPane is a spot in the layout of its window.
type savedPane struct {
	spot
	Layout layout.Layout `tmux:"window_layout"`
}

// save returns the windows and panes of a session as JSON.
func save(ctx context.Context, session tmux.SessionRef) ([]byte, error) {
	panes, err := tmux.List[savedPane](ctx, session.Server(), tmux.ListPanes{Target: session, Session: true})
	if err != nil {
		return nil, err
	}
	return json.Marshal(panes)
}

// restore makes what was saved again, in a new session.
func restore(ctx context.Context, srv *tmux.Server, name string, saved []byte) (tmux.Session, error) {
	var panes []savedPane
	if err := json.Unmarshal(saved, &panes); err != nil {
		return tmux.Session{}, err
	}
	size, err := layout.Parse(panes[0].Layout)
	if err != nil {
		return tmux.Session{}, err
	}
	session, err := srv.NewSession(ctx, tmux.NewSession{Name: name, Width: size.Width, Height: size.Height})
	if err != nil {
		return session, err
	}
	if first := panes[0].Index; session.ActiveWindowIndex != first {
		if _, err := srv.Do(ctx, tmux.MoveWindow{Source: session, Target: session.At(first)}); err != nil {
			return session, err
		}
	}
	for i, p := range panes {
		target, to := session.At(p.Index), layout.Tiled // makes room for the next pane
		if i == len(panes)-1 || panes[i+1].Index != p.Index {
			to = p.Layout
		}
		var create tmux.Command = tmux.SplitWindow{Target: target, Detached: true}
		if i == 0 || panes[i-1].Index != p.Index {
			create = tmux.NewWindow{Target: target, Replace: true, Name: p.Window}
		}
		if _, err := srv.Do(ctx, create, tmux.SelectLayout{Target: target, Layout: to}); err != nil {
			return session, err
		}
	}
	made, err := session.Panes(ctx)
	if err != nil {
		return session, err
	}
	for i, p := range panes {
		respawn, err := srv.Script(ctx, tmux.RespawnPane{Target: made[i], Kill: true, Dir: p.Dir})
		if err != nil {
			return session, err
		}
		if _, err := srv.Source(ctx, []byte(respawn+" "+p.Command)); err != nil {
			return session, err
		}
	}
	return session, nil
}

// Save the windows of a session, with their layouts, directories and commands, and make them
// again in another session.
func Example_layoutSaver() {
	srv, done := throwaway()
	defer done()
	ctx := context.Background()
	session := srv.Session("$0")
	if _, err := srv.Do(ctx,
		tmux.NewWindow{Target: session.At(0), Replace: true, Name: "edit", Dir: "/usr", Command: []string{"cat"}},
		tmux.SplitWindow{Target: session, Right: true, Size: tmux.Percent(30), Dir: "/"},
		tmux.SplitWindow{Target: session, Dir: "/dev", Command: []string{`echo "it's"; exec sleep 60`}},
		tmux.NewWindow{Target: session.At(4), Name: "logs", Dir: "/", Command: []string{"tail", "-f", "/dev/null"}},
	); err != nil {
		log.Fatal(err)
	}

	saved, err := save(ctx, session)
	if err != nil {
		log.Fatal(err)
	}
	again, err := restore(ctx, srv, "again", saved)
	if err != nil {
		log.Fatal(err)
	}
	before, _ := tmux.List[spot](ctx, srv, tmux.ListPanes{Target: session, Session: true})
	after, _ := tmux.List[spot](ctx, srv, tmux.ListPanes{Target: again, Session: true})
	fmt.Println(len(after), reflect.DeepEqual(before, after))
	// Output: 4 true
}
