package swap

import (
	"fmt"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/hint"
)

// Detected is what Detect finds about one client.
type Detected struct {
	Client       string   `json:"client"`
	Present      bool     `json:"present"` // installed and with a config; either, for an editor
	Installed    bool     `json:"-"`       // on PATH, or an editor whose directory exists
	Binary       string   `json:"binary"`  // its path, "" if none is on PATH
	Binaries     []string `json:"binaries"`
	Config       string   `json:"config"`
	ConfigExists bool     `json:"config_exists"`
	Note         string   `json:"note,omitempty"`
}

// Detect reports which clients are installed.
func (s *Swapper) Detect() []Detected {
	var out []Detected
	for _, c := range clients.All() {
		out = append(out, Detected{
			Client: c.Name, Present: c.Present(s.Sys), Installed: c.Installed(s.Sys), Binary: c.Binary(), Binaries: append([]string{}, c.Binaries...),
			Config: configs.NamedPath(s.Sys, c), ConfigExists: c.HasConfig(s.Sys), Note: c.Note,
		})
	}
	return out
}

// StatusOptions say what [Swapper.Status] looks at.
type StatusOptions struct {
	Repo    string
	Server  string // "": derived from the checkout
	Clients []string
	Scope   clients.Scope // "": all scopes
}

// A Status says what each client runs.
type Status struct {
	Repo     string
	Server   string // "" if it could not be derived
	NoServer error  // why not; Clients is then empty
	Clients  []ClientState
	Swaps    []Swap // all that are recorded
}

// Status reports what a server's name resolves to in each client and scope, and every
// recorded swap. If a config cannot be read, the client has an Error.
func (s *Swapper) Status(o StatusOptions) (*Status, error) {
	if err := o.Scope.Check(); err != nil {
		return nil, err
	}
	chosen, err := clients.Named(s.Sys, o.Clients)
	if err != nil {
		return nil, err
	}
	env := s.Anew()
	st := &Status{Clients: []ClientState{}}
	want, err := wanted(o.Repo, o.Server)
	if st.Repo, st.Server, st.NoServer = want.Repo, want.Server, err; st.Repo == "" {
		return nil, err
	}
	if err == nil {
		st.Clients = configs.States(env, chosen, o.Scope, st.Repo, st.Server)
		configs.Instead(env, want, st.Clients)
	}
	addSwaps(env, st, o, chosen)
	return st, nil
}

// wanted determines the server's name; a given name needs no checkout. The directory is "" if it
// does not exist.
func wanted(repo, server string) (configs.Wanted, error) {
	real, err := checkout.RealDir(repo)
	if err != nil || server != "" {
		return configs.Wanted{Repo: real, Server: server}, err
	}
	co, err := checkout.Read(real, "")
	if err != nil {
		return configs.Wanted{Repo: real}, unnamed(err)
	}
	return configs.Wanted{Repo: real, Server: co.Server, Published: configs.Publishes(co)}, nil
}

func unnamed(err error) error {
	return hint.Advise(fmt.Errorf("no server is named, and the checkout does not name one: %w", err), "name it with --server")
}
