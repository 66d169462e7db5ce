package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/internal/gettmux"
	"tmuxmcp/internal/runner"
	"tmuxmcp/internal/terminal"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/lost"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/sockets"
	"tmuxmcp/tmux"
)

// A Diagnosis is what a server with some configuration would use, and what is wrong with
// it. It is the document of doctor --json; unknown values are empty.
type Diagnosis struct {
	Version     int    `json:"version"` // version of the document: 1
	Tmux        string `json:"tmux,omitempty"`
	TmuxVersion string `json:"tmux_version,omitempty"`
	Socket      string `json:"socket,omitempty"`
	// Server is the tmux server on the socket; nil if none is running.
	Server   *DiagnosedServer `json:"server,omitempty"`
	Caller   *DiagnosedCaller `json:"caller,omitempty"`
	Tier     Tier             `json:"tier,omitempty"`
	Toolsets []string         `json:"toolsets,omitempty"` // "all" alone, or the names
	Tools    int              `json:"tools"`
	// OldJobs are directories in which earlier versions had the files of jobs.
	OldJobs  []runner.PublicHome `json:"old_jobs,omitempty"`
	Findings []Finding           `json:"findings"`
}

// DiagnosedServer is a tmux server that answers.
type DiagnosedServer struct {
	Version  string `json:"version,omitempty"`
	Sessions int    `json:"sessions"`
}

// DiagnosedCaller is the pane that the server would take for the agent's own.
type DiagnosedCaller struct {
	Place  string      `json:"place"` // "here", "elsewhere", "outside" (of tmux), "popup" (of a tmux server) or "unknown"
	Pane   tmux.PaneID `json:"pane,omitempty"`
	Socket string      `json:"socket,omitempty"`
}

// A Finding is one problem.
type Finding struct {
	Kind string `json:"kind"` // one of the Found constants
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"` // what to do about it, unless Text says so
}

// Kinds of a [Finding].
const (
	FoundNoStart     = "cannot-start"       // no server could start; for example, there is no tmux program
	FoundNoVersion   = "version-unknown"    // the program did not report its version
	FoundUnreachable = "server-unreachable" // something at the socket cannot be used
	FoundNoDirectory = "no-directory-for-socket"
	FoundNoSocket    = "socket-removed" // a tmux server runs without it
	FoundBadRules    = "agent-rules"    // a file of the user's with rules for an agent is not used
)

// OK reports whether a server would work, even if no tmux server is running yet.
func (d *Diagnosis) OK() bool { return len(d.Findings) == 0 }

// Diagnose determines what a server with this configuration would use.
func Diagnose(ctx context.Context, cfg Config) *Diagnosis {
	ctx, cancel := tmux.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	d := &Diagnosis{Version: 1, Findings: []Finding{}}
	s, err := New(cfg)
	if err != nil {
		d.Findings = append(d.Findings, Finding{Kind: FoundNoStart, Text: err.Error(), Hint: TmuxHint(err)})
		return d
	}
	srv := s.sockets.Configured()
	d.Tmux, d.Socket = srv.Binary(), srv.SocketPath()
	if program, err := srv.ProgramVersion(ctx); err != nil {
		d.Findings = append(d.Findings, Finding{Kind: FoundNoVersion, Text: err.Error()})
	} else {
		d.TmuxVersion = program.String()
	}
	info, err := sockets.Info(ctx, srv)
	switch {
	case err != nil:
		d.Findings = append(d.Findings, Finding{Kind: FoundUnreachable, Text: err.Error()})
	case info.IsAlive:
		d.Server = &DiagnosedServer{Sessions: info.SessionCount}
		if info.Version != nil {
			d.Server.Version = *info.Version
		}
	case !mayStart(cfg, srv.SocketPath()):
		d.Findings = append(d.Findings, Finding{Kind: FoundNoDirectory, Text: fmt.Sprintf("there is no directory %s for the socket", filepath.Dir(srv.SocketPath()))})
	}
	if text, hint := lost.Server(srv.SocketPath()); text != "" {
		d.Findings = append(d.Findings, Finding{Kind: FoundNoSocket, Text: text, Hint: hint})
	}
	for _, f := range s.agentFaults {
		d.Findings = append(d.Findings, Finding{Kind: FoundBadRules, Text: f.Error()})
	}
	c := s.cfg.Caller
	here, _ := c.On(ctx, srv)
	d.Caller = &DiagnosedCaller{Pane: c.Pane}
	switch {
	case c.Popup:
		if d.Caller.Place = "popup"; !caller.SamePath(c.Socket, srv.SocketPath()) {
			d.Caller.Socket = c.Socket
		}
	case c.Lost || !caller.Sees(ctx, srv) && !c.Outside:
		d.Caller.Place = "unknown"
	case c.Pane == "":
		d.Caller.Place = "outside"
	case here.Own() != "":
		d.Caller.Place = "here"
	default:
		d.Caller.Place, d.Caller.Socket = "elsewhere", c.Socket
	}
	d.Tier, d.Toolsets, d.Tools = s.cfg.Tier, []string{"all"}, len(s.Tools())
	if len(s.cfg.Toolsets) > 0 {
		d.Toolsets = slices.Clone(s.cfg.Toolsets)
	}
	d.OldJobs = runner.PublicHomes()
	return d
}

// TmuxHint returns what to do about an error that the tmux program was not found or cannot be
// run, or "" for any other error.
func TmuxHint(err error) string {
	var wrong *exec.Error
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return gettmux.Advice("--tmux PATH")
	case errors.As(err, &wrong): // a path, which was given
		return "correct --tmux, TMUX_MCP_TMUX_BIN or LIBTMUX_TMUX_BIN, or leave it out to use the tmux on PATH"
	}
	return ""
}

// Doctor writes a diagnosis for the user, and reports whether a server would work.
func Doctor(ctx context.Context, cfg Config, w io.Writer) bool {
	d := Diagnose(ctx, cfg)
	d.write(w)
	return d.OK()
}

func (d *Diagnosis) write(w io.Writer) {
	width := terminal.Width(w)
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-9s %s\n", what, terminal.Wrap(fmt.Sprintf(format, args...), width, 10))
	}
	// A problem replaces the line about the thing that has it.
	problem := func(kinds ...string) (found bool) {
		for _, f := range d.Findings {
			if !slices.Contains(kinds, f.Kind) {
				continue
			}
			found = true
			line("problem", "%s", f.Text)
			if f.Hint != "" {
				line("", "%s", f.Hint)
			}
		}
		return found
	}
	defer func() {
		if n := len(d.Findings); n > 0 {
			fmt.Fprintf(w, "%s found\n", reply.Count(n, "problem"))
		} else {
			fmt.Fprintln(w, "no problems found")
		}
	}()
	if problem(FoundNoStart) {
		return
	}
	line("tmux", "%s", d.Tmux)
	if !problem(FoundNoVersion) {
		line("version", "%s", d.TmuxVersion)
	}
	line("socket", "%s", d.Socket)
	switch {
	case problem(FoundUnreachable, FoundNoDirectory, FoundNoSocket):
	case d.Server == nil:
		line("server", "none runs there; create_session starts one")
	case d.Server.Version == "":
		line("server", "tmux of unknown version, sessions: %d", d.Server.Sessions)
	default:
		line("server", "tmux %s, sessions: %d", d.Server.Version, d.Server.Sessions)
	}
	switch d.Caller.Place {
	case "unknown":
		line("caller", "unknown: the pane that TMUX_PANE names is not this process's, or tmux runs in another container; a call on a pane that may be the agent's needs consent")
	case "popup":
		of := "this server"
		if d.Caller.Socket != "" {
			of = d.Caller.Socket
		}
		line("caller", "in a popup of %s, or a command that it runs, which is no pane; a call on a pane that may be the agent's needs consent", of)
	case "outside":
		line("caller", "outside tmux")
	case "here":
		line("caller", "pane %s of this server", d.Caller.Pane)
	default:
		line("caller", "pane %s of %s", d.Caller.Pane, d.Caller.Socket)
	}
	line("tier", "%s", d.Tier)
	line("toolsets", "%s", strings.Join(d.Toolsets, ", "))
	line("tools", "%d", d.Tools)
	problem(FoundBadRules)
	for _, old := range d.OldJobs {
		if old.Empty {
			line("old jobs", "%s is empty and stays until the system restarts: the histories of shells may still have its name", old.Path)
		} else {
			line("old jobs", "%s has files of an earlier version, or of something else; a tmux-mcp that starts removes its own once nothing uses them", old.Path)
		}
	}
}

// mayStart reports whether tmux could create its socket. tmux creates the directory of
// named sockets itself.
func mayStart(cfg Config, socket string) bool {
	if cfg.SocketPath == "" {
		return true
	}
	info, err := os.Stat(filepath.Dir(socket))
	return err == nil && info.IsDir()
}
