package tmux

import (
	"context"
	"errors"
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
