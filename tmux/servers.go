package tmux

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// StartServer starts the server if none is running. Without a session it exits again at
// once, unless its configuration file turns the option exit-empty off.
type StartServer struct{}

// KillServer ends the server and all its sessions.
type KillServer struct{}

// LockServer runs the lock command in all clients.
type LockServer struct{}

// ServerAccess controls who may attach to the server. The owner and root always may.
type ServerAccess struct {
	_     struct{} `since:"3.3"`
	Allow bool     `flag:"a"`
	Deny  bool     `flag:"d"` // and detach the user's clients
	// ReadOnly and Write change what an allowed user may do.
	ReadOnly bool `flag:"r"`
	Write    bool `flag:"w"`
	Group    bool `flag:"g" since:"3.8"` // Name is a group's
	List     bool `flag:"l"`             // print who may attach
	// Name is a user of the machine.
	Name string `arg:"literal"`
}

// ListCommands lists the commands tmux has.
type ListCommands struct {
	Format Format `flag:"F"`
	// Name is one command; all if empty.
	Name string `arg:""`
}

func (StartServer) commandName() string  { return "start-server" }
func (KillServer) commandName() string   { return "kill-server" }
func (LockServer) commandName() string   { return "lock-server" }
func (ServerAccess) commandName() string { return "server-access" }
func (ListCommands) commandName() string { return "list-commands" }

func (c ListCommands) rows(f Format) (Command, []Scope) {
	c.Format = f
	return c, []Scope{ServerScope}
}

// Info returns what the server reports about itself. It needs no session.
func (s *Server) Info(ctx context.Context) (ServerInfo, error) {
	return one[ServerInfo](ctx, s, DisplayMessage{})
}

// Kill ends the server and all its sessions, and returns once it is gone: until then, it
// would drop the connection of anyone starting another. If something else, such as a relay,
// listens in front of the server, that cannot be seen, and Kill returns after two seconds.
// It is not an error if no server is running.
func (s *Server) Kill(ctx context.Context) error {
	defer func() {
		if s.usable() == nil {
			s.forgetVersion()
		}
	}()
	before, err := s.Info(ctx)
	if err == nil {
		err = s.run(ctx, KillServer{})
	}
	end := time.Now().Add(2 * time.Second)
	for pause := time.Millisecond; err == nil || errors.Is(err, ErrServerGone); pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(end) {
			return nil
		}
		var now ServerInfo
		if now, err = s.Info(ctx); err == nil && now.PID != before.PID {
			return nil // another has taken its place
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	if errors.Is(err, ErrNoServer) {
		return nil
	}
	return err
}

// SourceFile runs the commands in files, which the tmux client reads.
type SourceFile struct {
	Target Target `flag:"t" since:"3.4"`
	// Expand expands formats in the paths.
	Expand bool `flag:"F"`
	// ParseOnly runs nothing.
	ParseOnly bool `flag:"n"`
	// Quiet ignores files that do not exist.
	Quiet bool `flag:"q"`
	// Verbose prints the commands.
	Verbose bool `flag:"v"`
	// Paths are the files. tmux would match them as shell patterns, so they are escaped.
	// "-" stands for Input.
	Paths []string `arg:"required,glob"`
	Input []byte   `flag:"-"`
}

// ShowMessages prints the message log.
type ShowMessages struct {
	// Target is a client.
	Target Target `flag:"t"`
	// Jobs prints the shell commands that tmux runs, Terminals its terminals.
	Jobs      bool `flag:"J"`
	Terminals bool `flag:"T"`
}

func (SourceFile) commandName() string   { return "source-file" }
func (ShowMessages) commandName() string { return "show-messages" }

func (c SourceFile) stdin() []byte {
	if slices.Contains(c.Paths, "-") {
		return append([]byte{}, c.Input...)
	}
	return nil
}

// Source runs commands in tmux's own language, as in a configuration file, and returns
// their output. After a syntax error none of them runs; if a command fails, the following
// lines still run, and the first error is returned. [Server.Script] writes such text. What
// tmux prints quoted for itself, such as StartCommand of a [Pane], can be a part of it. This
// runs in pane what old was started with:
//
//	script, err := srv.Script(ctx, tmux.RespawnPane{Target: pane, Kill: true})
//	_, err = srv.Source(ctx, []byte(script+" "+*old.StartCommand))
func (s *Server) Source(ctx context.Context, script []byte) ([]byte, error) {
	outs, err := s.Do(ctx, SourceFile{Paths: []string{"-"}, Input: script})
	if len(outs) == 0 {
		return nil, err
	}
	// What is wrong with the script itself, tmux prints on standard output: "-:2: unknown command: x".
	var e *Error
	if errors.As(err, &e) && e.Stderr == "" && bytes.HasPrefix(outs[0], []byte("-:")) {
		e.Stderr = strings.TrimSpace(string(outs[0]))
	}
	return outs[0], err
}

// Messages returns the server's log of messages and commands, oldest first, as tmux prints
// it: each line begins with the time. The option message-limit bounds its length. Before
// tmux 3.6 it fails with [ErrNoClient] if no client is attached.
func (s *Server) Messages(ctx context.Context) ([]string, error) {
	out, err := s.output(ctx, ShowMessages{})
	if err != nil {
		return nil, err
	}
	lines := []string{}
	for line := range bytes.Lines(out) {
		lines = append(lines, string(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return lines, nil
}
