package swap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/commands"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/machine"
)

// VerifyOptions say what [Swapper.Verify] tries.
type VerifyOptions struct {
	Repo    string // where the clients are queried
	Server  string // "": derived from the checkout
	Clients []string
	// Each, if set, is called when a client is done, with all of them and its index.
	Each func(all []Verified, done int)
}

// Verification is the result of Verify.
type Verification struct {
	Repo, Server string
	Clients      []Verified
}

// Verified is one client of a [Verification]. Its ClientState is that of the entry that the
// client should run: claude's project entry, or the entry in a project file if it was
// swapped, otherwise the user's.
type Verified struct {
	ClientState
	OK        bool       `json:"ok"` // tried, without problems
	Handshake *Handshook `json:"handshake,omitempty"`
	NotTried  string     `json:"not_tried,omitempty"` // why nothing is known of a remote server that was reached
	Asked     *Asked     `json:"asked,omitempty"`
	NotAsked  string     `json:"not_asked,omitempty"` // why it was not asked
	// Problems are failures, disagreements between the config and the client, and what may
	// help.
	Problems []string `json:"problems,omitempty"`
}

// Handshook is what the server said when started as the config says.
type Handshook struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Tools   []string `json:"tools"`
	Seconds float64  `json:"seconds"` // from its start to the list of its tools
}

// Asked is what the client's own program said.
type Asked struct {
	Program string `json:"program"`
	ask.Answer
	Seconds float64 `json:"seconds"`
}

// Failed reports whether there is a problem: with a client, with a named or swapped client
// that has no such entry, or because no client has one.
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

// Verify starts what each client's config contains now, shakes hands with it, and queries
// the client itself, one after the other. It changes no config: a client is queried in a
// temporary home directory with a copy of its config. The returned error is for what stops
// all.
func (s *Swapper) Verify(ctx context.Context, o VerifyOptions) (*Verification, error) {
	chosen, err := clients.Named(s.Sys, o.Clients)
	if err != nil {
		return nil, err
	}
	repo, server, err := repoAndServer(o.Repo, o.Server)
	if err != nil {
		return nil, err
	}
	swapped := clientsSwapped(s.Env, repo, server)
	if len(o.Clients) == 0 {
		present := chosen
		chosen = slices.DeleteFunc(slices.Clone(clients.All()), func(c *clients.Client) bool {
			return !slices.Contains(present, c) && !slices.Contains(swapped, c.Name)
		})
	}
	out := &Verification{Repo: repo, Server: server, Clients: []Verified{}}
	for _, cs := range configs.States(s.Env, chosen, "", repo, server) {
		if last := len(out.Clients) - 1; last < 0 || out.Clients[last].Client != cs.Client {
			out.Clients = append(out.Clients, Verified{ClientState: cs})
		} else if !out.Clients[last].Found && cs.Found {
			out.Clients[last].ClientState = cs
		}
	}
	run := verifying{s.Env, repo, server, attempts{}}
	for i := 0; i < len(out.Clients) && ctx.Err() == nil; i++ {
		v := &out.Clients[i]
		run.verify(ctx, v, len(o.Clients) > 0 || slices.Contains(swapped, v.Client))
		if o.Each != nil {
			o.Each(out.Clients, i)
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

// verifying is one run of Verify.
type verifying struct {
	configs.Env
	repo, server string
	tries        attempts
}

// verify completes what is known about one client. named says that it must have an entry:
// because the user has named the client, or has swapped it.
func (r verifying) verify(ctx context.Context, v *Verified, named bool) {
	doc, container := r.entry(v, named)
	if doc == nil {
		return
	}
	ambiguous := commands.Unpublished(v.Argv, v.Value, r.repo)
	command := r.handshake(ctx, v, doc.Client, ambiguous != "")
	won := v.Won
	if r.ask(ctx, v, doc, container, command) {
		won = nil // the client knows better
	}
	// A client that has connected disproves what its config suggests.
	if v.Asked == nil || doc.Client.Ask.Blind || v.Asked.State != ask.Connected {
		for _, shadow := range v.Shadows[:len(v.Shadows)-len(v.Won)] {
			if !slices.Contains(v.Problems, shadow) {
				v.problem("%s", shadow)
			}
		}
	} else if ambiguous != "" { // the client has connected to the checkout's
		v.problem("%s", ambiguous)
	}
	v.Problems = append(v.Problems, won...)
	v.OK = len(v.Problems) == 0 && (v.Handshake != nil || v.Asked != nil && v.Asked.State == ask.Connected)
}

// entry reads the config with the entry that is to be tried, and returns the container that
// it is in. If it is not to be tried, there is no document.
func (r verifying) entry(v *Verified, named bool) (doc *configs.Document, container []string) {
	switch {
	case v.Error != "":
		v.problem("the config cannot be read: %s", v.Error)
		return nil, nil
	case !v.Found:
		v.NotAsked = "no such entry"
		if named {
			v.problem("no entry %q in %s", r.server, v.Config)
		}
		return nil, nil
	case v.Tag.Kind == TagRemote:
		if v.NotAsked = v.leftAlone(); v.NotAsked != "" {
			return nil, nil
		}
	case len(v.Argv) == 0:
		v.problem("the entry has no command")
		return nil, nil
	}
	doc, err := configs.Open(r.Disk, clients.Lookup(v.Client), v.Config)
	if err != nil {
		v.problem("the config cannot be read: %v", err)
		return nil, nil
	}
	if err := configs.Owned(doc.Path); err != nil {
		v.problem("not started: %v", err)
		return nil, nil
	}
	container, e, err := doc.Find(v.Scope, checkout.ClaudeProject(r.repo), r.server)
	if err != nil || !e.Found {
		v.problem("the config has changed meanwhile: %v", cmp.Or(err, errors.New("the entry is gone")))
		return nil, nil
	}
	return doc, container
}

// ask queries the client itself, if it can be, and reports whether it has. command is what
// was started.
func (r verifying) ask(ctx context.Context, v *Verified, doc *configs.Document, container []string, command ask.Command) bool {
	c := doc.Client
	own, others := inProject(r.Sys, c, r.repo, r.server)
	switch {
	case c.Ask == nil:
		v.NotAsked = c.Name + " cannot be queried offline"
	case v.InFiles() && !c.Ask.Lists:
		v.NotAsked = c.Name + " cannot be queried about a file of the project: it would start the server in a home directory without your files"
	case own != "":
		v.NotAsked = fmt.Sprintf("%s is yours, and a file of the project there: in another home directory, %s would answer otherwise", own, c.Name)
	case c.Ask.All && others != "":
		v.NotAsked = c.Name + " would also start the other servers in " + others
	case c.Binary() == "":
		v.NotAsked = strings.Join(c.Binaries, " or ") + " is not on PATH"
	}
	if v.NotAsked != "" {
		return false
	}
	start := time.Now()
	answer, err := queryClient(ctx, r.Sys, doc, container, checkout.ClaudeProject(r.repo), r.server, r.repo)
	if err != nil {
		v.problem("could not query %s: %s", c.Name, ask.Redact(err.Error(), command))
		return false
	}
	// Some clients say it as the config spells it, some as they run it.
	same := slices.Contains([]string{strings.Join(command.Argv, " "), strings.Join(v.Argv, " ")}, answer.Command)
	answer.Says = ask.Redact(answer.Says, command)
	answer.Command = strings.Join(ask.ShowArgs(strings.Fields(answer.Command)), " ")
	v.Asked = &Asked{Program: c.Binary(), Answer: answer, Seconds: seconds(start)}
	v.compare(answer, same)
	if answer.State == ask.NotStarted && v.Handshake != nil && len(v.Argv) > 0 {
		v.explain(c)
	}
	return true
}

// leftAlone returns why a remote server is not connected to; "" if it is. A server
// elsewhere is connected to only if use-local was told to use it.
func (v *Verified) leftAlone() string {
	address := clients.Remote(v.Value)
	u, err := url.Parse(address)
	switch kind, _ := v.Value["type"].(string); {
	case slices.Contains([]string{"sse", "ws", "websocket"}, kind):
		return "a remote server of type " + kind + ", which is not tried"
	case strings.ContainsAny(address, "${}"):
		return "a remote server whose address has variables in it: not tried"
	case v.AsSwapped:
		return ""
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		ip, _ := netip.ParseAddr(u.Hostname())
		if ip.Unmap().IsLoopback() || strings.EqualFold(u.Hostname(), "localhost") {
			return ""
		}
	}
	return "a remote server on another machine: not tried, and no network used"
}

// streams reports whether a remote server must speak streamable HTTP according to its
// entry: some clients also try the older transport.
func (v *Verified) streams() bool {
	kind, _ := v.Value["type"].(string)
	return v.AsSwapped || strings.Contains(kind, "http") || v.Value["httpUrl"] != nil
}

// compare reports how a client's answer disagrees with its config.
func (v *Verified) compare(a ask.Answer, same bool) {
	who := v.Client
	if a.Says != "" {
		who += fmt.Sprintf(" (%q)", a.Says)
	}
	switch a.State {
	case ask.Connected, ask.Configured:
	case ask.NotStarted:
		what := "start"
		if len(v.Argv) == 0 {
			what = "connect to"
		}
		v.problem("%s could not %s the server", who, what)
	case ask.Disabled:
		v.problem("%s does not start it", who)
	case ask.Pending:
		v.problem("%s is waiting for your approval", who)
	case ask.NotThere:
		v.problem("%s knows no such server: its entry is switched off or not read", who)
	default:
		v.problem("%s gave an answer that mcp-swap does not understand", who)
	}
	switch {
	case a.Place == "project" && !v.InFiles():
		v.problem("%s reads a file of the project, not this config", v.Client)
	case a.Command != "" && !same:
		v.problem("%s runs another command: %s", v.Client, a.Command)
	}
}

// handshake starts the server as the client would, or connects to it, and returns how. away
// says not to start it in the repository.
func (r verifying) handshake(ctx context.Context, v *Verified, c *clients.Client, away bool) ask.Command {
	var t tried
	var st configs.Start
	if v.Tag.Kind == TagRemote {
		st.Argv, st.Env = []string{clients.Remote(v.Value)}, clients.Headers(v.Value)
		begin := time.Now()
		t.hello, t.err = ask.URL(ctx, st.Argv[0], true, ask.ServerLimit)
		t.seconds = seconds(begin)
	} else if st, t.err = configs.StartOf(r.Env, c, v.Scope, v.Value, r.repo); t.err == nil {
		st.Tools = true
		if away {
			st.Dir, st.Elsewhere = r.Sys.Home, ""
		}
		t = r.tries.try(ctx, st)
	}
	var unclear *clients.UnclearError
	var missing *clients.MissingError
	switch {
	case t.err == nil:
		if t.only != nil {
			v.problem("%v", t.only)
		}
		v.Handshake = &Handshook{Name: t.hello.Name, Version: t.hello.Version, Tools: t.hello.Tools, Seconds: t.seconds}
	case errors.As(t.err, &unclear), errors.Is(t.err, ask.ErrLogin), errors.Is(t.err, ask.ErrNotThere) && !v.streams():
		v.NotTried = t.err.Error()
	case errors.As(t.err, &missing): // the client may start it all the same
		v.problem("%v", t.err)
	case slices.Contains(v.Shadows, t.err.Error()): // which is reported later
	default:
		v.problem("the server does not answer: %v", t.err)
		if advice := r.tries.lacksVariables(ctx, c.Name, st); advice != nil {
			v.Problems = append(v.Problems, advice...)
			v.explain(c)
		}
	}
	return st.Command
}

// inProject returns files of the project for which a client would not answer there as usual:
// own is a config of the user's, as in the home directory, and others has other servers, which
// it may start.
func inProject(sys machine.System, c *clients.Client, repo, server string) (own, others string) {
	mine, tree := c.UserFiles(sys), configs.Tree(repo)
	for _, l := range c.Layers {
		if l.Role != clients.Project {
			continue
		}
		for _, file := range c.Files(l, sys, repo, tree) {
			if slices.Contains(mine, file) {
				own = file
			}
		}
	}
	configs.EachOther(sys, c, repo, server, func(in configs.Held, _ string, value map[string]any) {
		if in.Project && c.Dialect.Runs(value) != nil {
			others = in.Doc.Path
		}
	})
	return own, others
}

// explain reports why a client may fail to start a server that starts here.
func (v *Verified) explain(c *clients.Client) {
	if p := commands.Program(v.Argv); p == "go" || p == "cargo" {
		v.problem("%s %s may have to build it first, and %s waits only so long", p, v.Argv[1], c.Name)
		v.problem("if it takes too long to build, use-local --mode build writes a compiled program")
	}
}

func seconds(start time.Time) float64 {
	return float64(time.Since(start).Milliseconds()) / 1000
}
