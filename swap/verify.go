package swap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// VerifyOptions say what [Swapper.Verify] tries.
type VerifyOptions struct {
	Repo    string // where the clients are asked
	Server  string // "": derived from the checkout
	Clients []string
	// Each, if set, is given each client when it is done.
	Each func(Verified)
}

// Verification is what Verify found, and the document of verify --json.
type Verification struct {
	Version int        `json:"version"`
	Repo    string     `json:"repo"`
	Server  string     `json:"server"`
	Clients []Verified `json:"clients"`
}

// Verified is one client of a [Verification]. Its ClientState is that of the
// entry that the client should run: claude's project's, else its user's.
type Verified struct {
	ClientState
	OK        bool       `json:"ok"` // tried, and without problems
	Handshake *Handshook `json:"handshake,omitempty"`
	Asked     *Asked     `json:"asked,omitempty"`
	NotAsked  string     `json:"not_asked,omitempty"` // why
	// Problems are what failed, and in what the config and the client disagree.
	Problems []string `json:"problems,omitempty"`
}

// Handshook is what the server said when it was started as the config says.
type Handshook struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Tools   []string `json:"tools"`
	Seconds float64  `json:"seconds"` // from its start to the list of its tools
}

// Asked is what the client's own program said.
type Asked struct {
	Program string `json:"program"`
	Answer
	Seconds float64 `json:"seconds"`
}

// Failed says whether anything is not as it should be: a client with a problem,
// a client that was named and has no such entry, or no entry at all.
func (v *Verification) Failed() bool {
	tried := false
	for _, c := range v.Clients {
		if len(c.Problems) > 0 {
			return true
		}
		tried = tried || c.OK
	}
	return !tried
}

// Verify starts what each client's config holds now, shakes hands with it, and
// asks the client itself, one after the other. It changes no config: a client
// is asked in a home directory made for it, with a copy of its config. Its
// error is for what stops all.
func (s *Swapper) Verify(ctx context.Context, o VerifyOptions) (*Verification, error) {
	st, err := s.Status(StatusOptions{Repo: o.Repo, Server: o.Server, Clients: o.Clients})
	if err != nil {
		return nil, err
	}
	out := &Verification{Version: SchemaVersion, Repo: st.Repo, Server: st.Server, Clients: []Verified{}}
	for i := 0; i < len(st.Clients) && ctx.Err() == nil; {
		cs := st.Clients[i]
		found := cs.Found
		for i++; i < len(st.Clients) && st.Clients[i].Client == cs.Client; i++ {
			if !found && st.Clients[i].Found {
				cs, found = st.Clients[i], true
			}
		}
		v := Verified{ClientState: cs}
		s.verify(ctx, &v, st.Repo, st.Server, len(o.Clients) > 0)
		out.Clients = append(out.Clients, v)
		if o.Each != nil {
			o.Each(v)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted: %w", err)
	}
	return out, nil
}

func (v *Verified) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

func (s *Swapper) verify(ctx context.Context, v *Verified, repo, server string, named bool) {
	switch {
	case v.Error != "":
		v.problem("the config cannot be read: %s", v.Error)
		return
	case !v.Found:
		v.NotAsked = "it has no such entry"
		if named {
			v.problem("no entry %q in %s", server, v.Config)
		}
		return
	case v.Tag.Kind == TagRemote:
		v.NotAsked = "the server is a remote one: nothing is started, and no network used"
		return
	case len(v.Command) == 0:
		v.problem("the entry has no command")
		return
	}
	c := lookupClient(v.Client)
	doc, err := s.open(c)
	if err != nil {
		v.problem("the config cannot be read: %v", err)
		return
	}
	project := claudeProject(repo)
	container, e, err := doc.find(v.Scope, project, server)
	if err != nil || !e.Found {
		v.problem("the config has changed meanwhile: %v", cmp.Or(err, errors.New("the entry is gone")))
		return
	}

	dir := repo
	if cwd, ok := e.Value["cwd"].(string); ok && cwd != "" {
		if dir = cwd; !filepath.IsAbs(dir) {
			dir = filepath.Join(repo, dir)
		}
	}
	start := time.Now()
	hello, tools, err := introduce(ctx, v.Command, c.Dialect.env(e.Value), dir)
	if err != nil {
		v.problem("the server does not answer: %v", err)
	} else {
		v.Handshake = &Handshook{Name: printable(hello.Name), Version: printable(hello.Version), Tools: tools, Seconds: seconds(start)}
	}

	won := v.won
	switch {
	case c.Ask == nil:
		v.NotAsked = "no way is known to ask " + c.Name + " offline"
	case c.binary() == "":
		v.NotAsked = strings.Join(c.Binaries, " or ") + " is not on PATH"
	default:
		start := time.Now()
		answer, err := s.ask(ctx, doc, container, project, server, repo)
		if err != nil {
			v.problem("%s was asked in vain: %v", c.Name, err)
			break
		}
		v.Asked = &Asked{Program: c.binary(), Answer: answer, Seconds: seconds(start)}
		v.compare(answer, strings.Join(v.Command, " "))
		won = nil // it knows better
	}
	// What the client was seen to do is no problem any more.
	if v.Asked == nil || c.Ask.Blind || v.Asked.State != Connected {
		for _, shadow := range v.Shadows[:len(v.Shadows)-len(v.won)] {
			v.problem("%s", shadow)
		}
	}
	v.Problems = append(v.Problems, won...)
	v.OK = len(v.Problems) == 0
}

// compare says in what a client's answer disagrees with its config.
func (v *Verified) compare(a Answer, command string) {
	who := v.Client
	if a.Says != "" {
		who += fmt.Sprintf(" (%q)", a.Says)
	}
	switch a.State {
	case Connected:
	case NotStarted:
		v.problem("%s has not got the server to run", who)
	case Disabled:
		v.problem("%s does not start it", who)
	case Pending:
		v.problem("%s waits for your approval", who)
	case NotThere:
		v.problem("%s knows no such server: its entry is switched off or not read", who)
	default:
		v.problem("%s says what mcp-swap does not understand", who)
	}
	switch {
	case a.Place == "project":
		v.problem("%s takes a file of the project, not this config", v.Client)
	case a.Command != "" && a.Command != command:
		v.problem("%s runs another command: %s", v.Client, a.Command)
	}
}

// ask asks a client in a home directory of its own, which is gone afterwards.
func (s *Swapper) ask(ctx context.Context, doc *document, container []string, project, server, dir string) (a Answer, err error) {
	home, err := os.MkdirTemp("", "mcp-swap-verify-")
	if err != nil {
		return Answer{}, fmt.Errorf("make a home directory for %s: %w", doc.client.Name, err)
	}
	defer func() {
		if rerr := removeAll(home); err == nil && rerr != nil {
			err = fmt.Errorf("remove the copy of the config: %w", rerr)
		}
	}()
	if err := s.stage(doc, container, project, server, home); err != nil {
		return Answer{}, err
	}
	return Ask(ctx, doc.client.Name, server, dir, home)
}

// removeAll removes a directory in which a client that was just ended may still
// be writing.
func removeAll(dir string) (err error) {
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// introduce starts a server and asks for its tools.
func introduce(ctx context.Context, argv []string, env []EnvVar, dir string) (mcp.Implementation, []string, error) {
	tools := []string{}
	hello, err := handshake(ctx, argv, env, dir, func(ctx context.Context, c *client.Client) error {
		if c.GetServerCapabilities().Tools == nil {
			return nil
		}
		list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil {
			return fmt.Errorf("list its tools: %w", err)
		}
		for _, t := range list.Tools {
			tools = append(tools, printable(t.Name))
		}
		return nil
	})
	return hello, tools, err
}

func seconds(start time.Time) float64 {
	return float64(time.Since(start).Milliseconds()) / 1000
}
