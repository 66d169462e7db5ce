package paneprog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// A Pane is a pane in a separate session, in which only [Pane.Write] prints.
type Pane struct {
	Server  *tmux.Server
	ID      tmux.PaneID
	session string
	tty     *os.File
	// detachClient ends the client that is attached, if any.
	detachClient func()
}

// idle is what runs in panes: it neither reads nor writes.
var idle = []string{"sleep", "1000000"}

// Open creates a session with the pane in which a program begins. The server need not be
// running yet.
func Open(ctx context.Context, srv *tmux.Server, p Program) (*Pane, error) {
	// The first session's pane has the default limit: only later ones have the program's.
	if ok, err := srv.HasSession(ctx, tmux.Named("base")); err != nil || !ok {
		if _, err := srv.NewSession(ctx, tmux.NewSession{Name: "base", Width: 80, Height: 24, Command: idle}); err != nil {
			return nil, err
		}
		if _, err := srv.Do(ctx, raw("set-option", "-g", "status", "on"), raw("set-option", "-g", "history-limit", "2000")); err != nil {
			return nil, err
		}
	}
	pane := &Pane{Server: srv}
	out, err := srv.Do(ctx,
		raw("set-option", "-g", "history-limit", strconv.Itoa(p.History)),
		raw("new-session", append([]string{"-d", "-P", "-F", "#{session_id} #{pane_id}",
			"-x", strconv.Itoa(p.Columns), "-y", strconv.Itoa(p.Rows)}, idle...)...))
	if err != nil {
		return nil, err
	}
	session, id, _ := strings.Cut(strings.TrimSpace(string(out[1])), " ")
	pane.session, pane.ID = session, tmux.PaneID(id)
	if err := pane.open(ctx); err != nil {
		return nil, err
	}
	// 3.2a makes it a line shorter; set the options that exist.
	err = pane.Do(ctx, Step{Op: "size", A: p.Columns, B: p.Rows})
	if err == nil && p.NoAlternate {
		_, err = srv.Do(ctx, raw("set-option", "-w", "-t", string(pane.ID), "alternate-screen", "off"))
	}
	if err == nil && p.NoScrollClear {
		pane.try(ctx, "set-option", "-w", "-t", string(pane.ID), "scroll-on-clear", "off")
	}
	if err != nil {
		pane.Close(ctx)
		return nil, err
	}
	return pane, nil
}

func raw(name string, args ...string) tmux.Raw { return tmux.Raw{Name: name, Args: args} }

// open opens the pane's terminal and makes it raw. tmux's child sets up the terminal before
// it becomes the pane's program, so this waits for that. (In one of about ten thousand
// panes, 3.8 does not know the process at first.)
func (p *Pane) open(ctx context.Context) error {
	var path, pid string
	if err := p.until(ctx, "program "+idle[0], func() bool {
		path, pid, _ = strings.Cut(p.try(ctx, "display-message", "-p", "-t", string(p.ID), "#{pane_tty} #{pane_pid}"), " ")
		name, err := os.ReadFile("/proc/" + pid + "/comm")
		return err == nil && strings.TrimSpace(string(name)) == idle[0]
	}); err != nil {
		return err
	}
	if p.tty != nil {
		p.tty.Close()
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the pane's terminal %s: %w", path, err)
	}
	p.tty = os.NewFile(uintptr(fd), path)
	_, err = term.MakeRaw(fd)
	return err
}

// Close ends the pane's session.
func (p *Pane) Close(ctx context.Context) error {
	p.detach(ctx)
	if p.tty != nil {
		p.tty.Close()
	}
	_, err := p.Server.Do(ctx, raw("kill-session", "-t", p.session))
	return err
}

// settle ends any sequence that output may have begun, and requests the terminal's status.
// The reply comes when tmux has drawn everything before it. [Expand] generates no such
// request.
const (
	settle = "\x18\x1b\\\x1b[5n"
	reply  = "\x1b[0n"
)

// Write writes out to the pane's terminal and returns when tmux has drawn it.
func (p *Pane) Write(out string) error {
	deadline := time.Now().Add(30 * time.Second)
	p.tty.SetDeadline(deadline)
	read := make(chan error, 1)
	wait := func() error {
		var got []byte
		for buf := make([]byte, 4096); !bytes.Contains(got, []byte(reply)); {
			n, err := p.tty.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				return fmt.Errorf("wait until tmux has drawn: %w", err)
			}
		}
		return nil
	}
	go func() { read <- wait() }()
	if _, err := p.tty.WriteString(out + settle); err != nil {
		return err
	}
	return <-read
}

// Reset makes the pane blank, with the cursor at its first cell, nothing above and all
// modes in their initial state. Only the cursor saved by the alternate screen is kept.
func (p *Pane) Reset(ctx context.Context) error {
	if err := p.Write("\x18\x1b\\\x1b[?1049l\x1bc"); err != nil {
		return err
	}
	_, err := p.Server.Do(ctx, raw("clear-history", "-t", string(p.ID)))
	return err
}

// try runs a command that may fail: there may be no room for a pane, or no other pane.
func (p *Pane) try(ctx context.Context, name string, args ...string) string {
	out, err := p.Server.Do(ctx, raw(name, args...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out[0]))
}

// commands are the tmux commands of steps, with what stands for the pane, a pane of another
// window, the numbers of the step and the side of a split.
var commands = map[string]string{
	"clear":   "clear-history -t PANE",
	"reset":   "send-keys -R -t PANE",
	"copy":    "copy-mode -t PANE",
	"uncopy":  "send-keys -t PANE -X cancel",
	"scroll":  "send-keys -t PANE -N NUMBER -X DIRECTION",
	"split":   "split-window -d SIDE -t PANE sleep 1000000",
	"unsplit": "kill-pane -a -t PANE",
	"zoom":    "resize-pane -Z -t PANE",
	"join":    "join-pane -d SIDE -s PANE -t OTHER",
	"swap":    "swap-pane -d -s PANE -t OTHER",
}

// Do performs a step that is neither output nor a look. An impossible step does nothing.
func (p *Pane) Do(ctx context.Context, s Step) error {
	id := string(p.ID)
	switch s.Op {
	case "size":
		p.try(ctx, "resize-window", "-t", id, "-x", strconv.Itoa(s.A), "-y", strconv.Itoa(s.B))
		// Keep the window large enough for its panes. tmux would resize a smaller one
		// whenever a client leaves, and a zoomed pane with it.
		x, y, _ := strings.Cut(p.try(ctx, "display-message", "-p", "-t", id, "#{window_width} #{window_height}"), " ")
		p.try(ctx, "resize-window", "-t", id, "-x", x, "-y", y)
	case "respawn":
		p.try(ctx, "respawn-pane", append([]string{"-k", "-t", id}, idle...)...)
		return p.open(ctx)
	case "break":
		if p.try(ctx, "display-message", "-p", "-t", id, "#{window_panes}") != "1" {
			p.try(ctx, "break-pane", "-d", "-n", "broken", "-s", id)
		}
	case "attach":
		return p.attach(ctx, s.A, s.B)
	case "detach":
		return p.detach(ctx)
	default:
		command, ok := commands[s.Op]
		if !ok {
			return fmt.Errorf("step %q is not done to a pane", s.Op)
		}
		side, direction, other := []string{"-v", "-h"}[s.A&1], "scroll-up", ""
		if s.A < 0 {
			direction, s.A = "scroll-down", -s.A
		}
		if strings.Contains(command, "OTHER") {
			if other = p.other(ctx); other == "" {
				return nil
			}
		}
		words := strings.NewReplacer("PANE", id, "OTHER", other, "SIDE", side, "NUMBER", strconv.Itoa(s.A), "DIRECTION", direction).Replace(command)
		name, args, _ := strings.Cut(words, " ")
		p.try(ctx, name, strings.Fields(args)...)
	}
	return nil
}

// other returns a pane of another window, which it creates if necessary.
func (p *Pane) other(ctx context.Context) string {
	window := p.try(ctx, "display-message", "-p", "-t", string(p.ID), "#{window_id}")
	others := p.try(ctx, "list-panes", "-s", "-t", p.session, "-F", "#{?#{==:#{window_id},"+window+"},,#{pane_id}}")
	if panes := strings.Fields(others); len(panes) > 0 {
		return panes[0]
	}
	return p.try(ctx, "new-window", append([]string{"-d", "-P", "-F", "#{pane_id}", "-t", p.session + ":"}, idle...)...)
}

func (p *Pane) attach(ctx context.Context, columns, rows int) error {
	if err := p.detach(ctx); err != nil {
		return err
	}
	p.try(ctx, "select-window", "-t", string(p.ID))
	p.try(ctx, "set-option", "-w", "-u", "-t", string(p.ID), "window-size")
	var err error
	if _, p.detachClient, err = testserver.AttachClient(p.Server, p.session, uint16(columns), uint16(rows)); err != nil {
		return err
	}
	want := fmt.Sprintf("%dx%d", columns, rows)
	return p.until(ctx, "client of "+want, func() bool {
		return p.try(ctx, "list-clients", "-t", p.session, "-F", "#{client_width}x#{client_height}") == want
	})
}

func (p *Pane) detach(ctx context.Context) error {
	if p.detachClient == nil {
		return nil
	}
	p.detachClient()
	p.detachClient = nil
	return p.until(ctx, "end of the client", func() bool {
		return p.try(ctx, "list-clients", "-t", p.session, "-F", "x") == ""
	})
}

func (p *Pane) until(ctx context.Context, what string, cond func() bool) error {
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("no %s after 20 s", what)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
