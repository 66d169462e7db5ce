package tmux

import (
	"context"
	"errors"
	"strings"
)

// StartServer starts the server if none runs. With no session it exits again at
// once, unless its configuration file sets the option exit-empty off.
type StartServer struct{}

// KillServer ends the server and all its sessions.
type KillServer struct{}

// LockServer runs the lock command in all clients.
type LockServer struct{}

// ServerAccess says which users may attach to the server. The owner and root
// always may.
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
	// Name is one command; all when empty.
	Name string `arg:""`
}

func (StartServer) CommandName() string  { return "start-server" }
func (KillServer) CommandName() string   { return "kill-server" }
func (LockServer) CommandName() string   { return "lock-server" }
func (ServerAccess) CommandName() string { return "server-access" }
func (ListCommands) CommandName() string { return "list-commands" }

func (c ListCommands) rows(f Format) (Command, []Scope) {
	c.Format = f
	return c, []Scope{ServerScope}
}

// CommandInfo is how tmux describes one of its commands.
type CommandInfo struct {
	Name  string `json:"name" tmux:"command_list_name"`
	Alias string `json:"alias,omitempty" tmux:"command_list_alias"`
	// Usage is the command's flags and arguments, as its manual writes them.
	Usage string `json:"usage" tmux:"command_list_usage"`
}

// Commands lists the commands of the running tmux.
func (s *Server) Commands(ctx context.Context) ([]CommandInfo, error) {
	return List[CommandInfo](ctx, s, ListCommands{})
}

// Info returns what the server reports about itself. It needs no session.
func (s *Server) Info(ctx context.Context) (ServerInfo, error) {
	return one[ServerInfo](ctx, s, DisplayMessage{})
}

// Start starts the server if it is not running: see [StartServer].
func (s *Server) Start(ctx context.Context) error {
	return s.run(ctx, StartServer{})
}

// Kill ends the server and all its sessions. It is not an error if no server is
// running.
func (s *Server) Kill(ctx context.Context) error {
	err := s.run(ctx, KillServer{})
	if errors.Is(err, ErrNoServer) || errors.Is(err, ErrServerGone) {
		err = nil
	}
	if s.usable() == nil {
		s.forgetVersion()
	}
	return err
}

// AccessEntry is a user or group that may attach to the server.
type AccessEntry struct {
	Name  string `json:"name"`
	Group bool   `json:"group,omitempty"`
	Write bool   `json:"write"`
}

// Access lists who may attach to the server. It needs tmux 3.3.
func (s *Server) Access(ctx context.Context) ([]AccessEntry, error) {
	outs, err := s.Do(ctx, ServerAccess{List: true})
	if err != nil {
		return nil, err
	}
	entries := []AccessEntry{}
	for line := range strings.Lines(string(outs[0])) {
		// "name (W)", from 3.8 "name (U,W)".
		name, flags, ok := strings.Cut(strings.TrimSpace(line), " (")
		if !ok {
			continue
		}
		entries = append(entries, AccessEntry{name, strings.Contains(flags, "G"), strings.Contains(flags, "W")})
	}
	return entries, nil
}
