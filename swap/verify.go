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
	"sync"
	"time"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/commands"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/trial"
)

// VerifyOptions say what [Swapper.Verify] tries.
type VerifyOptions struct {
	Repo    string // where the clients are queried
	Server  string // "": derived from the checkout
	Clients []string
	// Each, if set, is called when a client is done, with all clients and its index.
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

// Handshook is what the server answered when it was started as the config says.
type Handshook struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Tools   []string `json:"tools"`
	Seconds float64  `json:"seconds"` // from its start to the list of its tools
}

// Asked is what the client's own program answered.
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

// Verify starts what each client's config contains now, as the client would, and shakes hands
// with it; then it queries the clients themselves, side by side. It changes no config: a client is
// queried in a temporary home directory with a copy of its config. The returned error is for what
// stops all.
func (s *Swapper) Verify(ctx context.Context, o VerifyOptions) (*Verification, error) {
	chosen, err := clients.Named(s.Sys, o.Clients)
	if err != nil {
		return nil, err
	}
	want, err := wanted(o.Repo, o.Server)
	if err != nil {
		return nil, err
	}
	repo, server := want.Repo, want.Server
	env := s.Anew()
	swapped := clientsSwapped(env, repo, server)
	if len(o.Clients) == 0 {
		present := chosen
		chosen = slices.DeleteFunc(slices.Clone(clients.All()), func(c *clients.Client) bool {
			return !slices.Contains(present, c) && !slices.Contains(swapped, c.Name)
		})
	}
	out := &Verification{Repo: repo, Server: server, Clients: []Verified{}}
	states := configs.States(env, chosen, "", repo, server)
	configs.Instead(env, want, states)
	for _, cs := range states {
		if last := len(out.Clients) - 1; last < 0 || out.Clients[last].Client != cs.Client {
			out.Clients = append(out.Clients, Verified{ClientState: cs})
		} else if !out.Clients[last].Found && cs.Found {
			out.Clients[last].ClientState = cs
		}
	}
	run := verifying{env, repo, server, trial.Attempts{}}
	run.all(ctx, out.Clients, func(v *Verified) bool { return len(o.Clients) > 0 || slices.Contains(swapped, v.Client) }, o.Each)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted: %w", err)
	}
	return out, nil
}

func (v *Verified) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

type verifying struct {
	configs.Env
	repo, server string
	tries        trial.Attempts
}

// An asking is a client that is being queried.
type asking struct {
	doc       *configs.Document // nil: its entry is not tried
	container []string
	command   ask.Command // what was started
	ambiguous string      // why that was not in the repository
	query     *trial.Query
	done      chan struct{}
	answer    ask.Answer
	seconds   float64
	err       error
}

// askAtOnce is how many clients are queried at the same time. Each takes a processor, and has a time
// limit for its answer.
const askAtOnce = 4

// all completes the results for the clients. It starts the servers one after the other, as two might
// get in each other's way, and then queries the clients in parallel. named reports that a client
// must have an entry, because the user named or swapped it.
func (r verifying) all(ctx context.Context, all []Verified, named func(*Verified) bool, each func([]Verified, int)) {
	asked := make([]asking, len(all))
	free := make(chan struct{}, askAtOnce)
	var running sync.WaitGroup
	defer func() { // of those that were not judged because of an interrupt
		running.Wait()
		for _, a := range asked {
			if a.query != nil {
				_ = a.query.Remove()
			}
		}
	}()
	for i := range all {
		if ctx.Err() != nil {
			return
		}
		r.prepare(ctx, &all[i], &asked[i], named(&all[i]))
	}
	queries := 0
	for i := range asked {
		if a := &asked[i]; a.query != nil {
			queries++
			running.Go(func() {
				free <- struct{}{}
				a.ask(ctx)
				<-free
			})
		}
	}
	for i := range all {
		v, a := &all[i], &asked[i]
		if a.query != nil {
			await(r.Env, all, asked, a)
			if queries > 1 && a.failed() && v.Handshake != nil { // the others may have been in its way
				running.Wait()
				a.again(ctx, r)
			}
		}
		if ctx.Err() != nil {
			return
		}
		r.judge(v, a)
		if each != nil {
			each(all, i)
		}
	}
}

// await waits for the answer of a client, and shows which ones are being queried.
func await(env configs.Env, all []Verified, asked []asking, a *asking) {
	var names []string
	for i := range asked {
		select {
		case <-asked[i].done:
		default:
			if asked[i].query != nil {
				names = append(names, all[i].Client)
			}
		}
	}
	if len(names) > 0 && env.Progress != nil {
		defer env.Watch("asking "+strings.Join(names, ", "), ask.ClientLimit)()
	}
	<-a.done
}

func (a *asking) ask(ctx context.Context) {
	defer close(a.done)
	start := time.Now()
	a.answer, a.err = a.query.Ask(ctx)
	a.seconds = trial.Seconds(start)
}

// failed reports whether the client could not start the server or did not answer.
func (a *asking) failed() bool {
	return a.err != nil && !errors.Is(a.err, ask.ErrRefused) || a.err == nil && a.answer.State == ask.NotStarted
}

// again queries a client again, with nothing else running.
func (a *asking) again(ctx context.Context, r verifying) {
	if r.Progress != nil {
		defer r.Watch("asking "+a.doc.Client.Name+" again", ask.ClientLimit)()
	}
	before := a.query
	if a.prepare(r); a.query == nil {
		a.query = before
		return
	}
	removed := before.Remove()
	a.ask(ctx)
	a.err = errors.Join(a.err, removed)
}

func (a *asking) prepare(r verifying) {
	a.done = make(chan struct{})
	a.query, a.err = trial.Prepare(r.Env, a.doc, a.container, r.Project(r.repo), r.server, r.repo)
}

// prepare starts the server of a client and prepares the query.
func (r verifying) prepare(ctx context.Context, v *Verified, a *asking, named bool) {
	if a.doc, a.container = r.entry(v, named); a.doc == nil {
		return
	}
	a.ambiguous = commands.Unpublished(v.runs(), v.value(), r.repo)
	a.command = r.handshake(ctx, v, a.doc.Client, a.ambiguous != "")
	if v.NotAsked = r.unasked(v, a.doc.Client); v.NotAsked == "" {
		a.prepare(r)
	}
}

// judge completes the result for a client from its answer.
func (r verifying) judge(v *Verified, a *asking) {
	if a.doc == nil {
		return
	}
	c := a.doc.Client
	if a.query != nil {
		a.err = errors.Join(a.err, a.query.Remove())
		a.query = nil
	}
	switch {
	case v.NotAsked != "":
	case a.err != nil:
		v.problem("could not query %s: %s", c.Name, ask.Redact(a.err.Error(), a.command))
	default:
		r.heard(v, a)
	}
	// A client that has connected disproves what its config suggests.
	if v.Asked == nil || c.Ask.Blind || v.Asked.State != ask.Connected {
		for _, shadow := range v.Shadows[:len(v.Shadows)-len(v.Won)] {
			if !slices.Contains(v.Problems, shadow) {
				v.problem("%s", shadow)
			}
		}
	} else if a.ambiguous != "" { // the client has connected to the checkout's
		v.problem("%s", a.ambiguous)
	}
	if outdone(v, c) {
		v.Problems = append(v.Problems, v.Won...)
	}
	v.OK = len(v.Problems) == 0 && (v.Handshake != nil || v.Asked != nil && v.Asked.State == ask.Connected)
}

// outdone reports whether stronger entries are a problem that the client has not disproved. A client
// that merges them was queried about the result, which need not be what was swapped.
func outdone(v *Verified, c *clients.Client) bool {
	heard := v.Asked != nil && (v.Asked.State == ask.Connected || v.Asked.State == ask.Configured)
	switch {
	case v.Effective == nil:
		return !heard
	case v.Effective.Other:
		return true
	}
	return len(v.Problems) > 0
}

// entry reads the config with the entry to try, and returns the entry's container. There is no
// document if it must not be tried.
func (r verifying) entry(v *Verified, named bool) (doc *configs.Document, container []string) {
	switch {
	case v.Error != "":
		v.problem("the config cannot be read: %s", v.Error)
		return nil, nil
	case !v.Found:
		if v.NotAsked = "no such entry"; v.Instead != "" {
			v.NotAsked += "; " + v.Instead
		}
		if named {
			v.problem("no entry %q in %s", r.server, v.Config)
		}
		return nil, nil
	case v.remote() != "":
		if v.NotAsked = v.leftAlone(); v.NotAsked != "" {
			return nil, nil
		}
	case v.runs() == nil:
		v.problem("the entry has no command")
		return nil, nil
	}
	doc, err := configs.Open(r.Env, clients.Lookup(v.Client), v.Config)
	if err != nil {
		v.problem("the config cannot be read: %v", err)
		return nil, nil
	}
	if err := configs.Owned(doc.Path); err != nil {
		v.problem("not started: %v", err)
		return nil, nil
	}
	container, e, err := doc.Find(v.Scope, r.Project(r.repo), r.server)
	if err != nil || !e.Found {
		v.problem("the config has changed meanwhile: %v", cmp.Or(err, errors.New("the entry is gone")))
		return nil, nil
	}
	return doc, container
}

// unasked returns why a client is not queried, or "".
func (r verifying) unasked(v *Verified, c *clients.Client) string {
	own, others := inProject(r.Env, c, r.repo, r.server)
	switch {
	case c.Ask == nil:
		return c.Name + " cannot be queried offline"
	case v.InFiles() && !c.Ask.Lists:
		return c.Name + " cannot be queried about a file of the project: it would start the server in a home directory without your files"
	case own != "":
		return fmt.Sprintf("%s is yours, and a file of the project there: in another home directory, %s would answer otherwise", own, c.Name)
	case c.Ask.All && others != "":
		return c.Name + " would also start the other servers in " + others
	case c.Binary() == "":
		return strings.Join(c.Binaries, " or ") + " is not on PATH"
	}
	return ""
}

// heard compares a client's answer with its config.
func (r verifying) heard(v *Verified, a *asking) {
	c, answer := a.doc.Client, a.answer
	// Some clients print the command as the config spells it, some as they run it.
	same := slices.Contains([]string{strings.Join(a.command.Argv, " "), strings.Join(v.runs(), " ")}, answer.Command)
	answer.Says = ask.Redact(answer.Says, a.command)
	answer.Command = strings.Join(ask.ShowArgs(strings.Fields(answer.Command)), " ")
	v.Asked = &Asked{Program: c.Binary(), Answer: answer, Seconds: a.seconds}
	v.compare(answer, same)
	if n := answer.ToolCount; answer.State == ask.Connected && n != nil && *n == 0 && v.Handshake != nil && len(v.Handshake.Tools) > 0 {
		v.problem("%s offers none of the server's tools", c.Name)
	}
	if answer.State == ask.NotStarted && v.Handshake != nil && v.runs() != nil {
		v.explain(c)
	}
}

func (v *Verified) value() map[string]any {
	value, _ := v.Uses()
	return value
}

// runs returns the command that the client runs; nil if it has none.
func (v *Verified) runs() []string {
	_, argv := v.Uses()
	return argv
}

// remote returns the address of a remote server, or "".
func (v *Verified) remote() string {
	if v.runs() != nil {
		return ""
	}
	return clients.Remote(v.value())
}

// leftAlone returns why a remote server is not connected to, or "". A server on another machine is
// connected to only if use-local wrote its address.
func (v *Verified) leftAlone() string {
	address, value := v.remote(), v.value()
	u, err := url.Parse(address)
	switch kind, _ := value["type"].(string); {
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
	kind, _ := v.value()["type"].(string)
	return v.AsSwapped || strings.Contains(kind, "http") || v.value()["httpUrl"] != nil
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
		if v.runs() == nil {
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

// handshake starts the server as the client would, or connects to it, and returns how. With away, it
// does not start the server in the repository.
func (r verifying) handshake(ctx context.Context, v *Verified, c *clients.Client, away bool) ask.Command {
	var t trial.Tried
	var st configs.Start
	value := v.value()
	if address := v.remote(); address != "" {
		st.Argv, st.Env = []string{address}, clients.Headers(value)
		begin := time.Now()
		t.Hello, t.Err = ask.URL(ctx, st.Argv[0], true, ask.ServerLimit)
		t.Seconds = trial.Seconds(begin)
	} else if st, t.Err = configs.StartOf(r.Env, c, v.Scope, value, r.repo); t.Err == nil {
		st.Tools = true
		if away {
			st.Dir, st.Elsewhere = r.Sys.Home, ""
		}
		stop := func() {}
		if r.Progress != nil {
			stop = r.Watch("starting the server as "+c.Name+" does", ask.ServerLimit)
		}
		t = r.tries.Try(ctx, st)
		stop()
	}
	var unclear *clients.UnclearError
	var missing *clients.MissingError
	switch {
	case t.Err == nil:
		if t.Only != nil {
			v.problem("%v", t.Only)
		}
		v.Handshake = &Handshook{Name: t.Hello.Name, Version: t.Hello.Version, Tools: t.Hello.Tools, Seconds: t.Seconds}
	case errors.As(t.Err, &unclear), errors.Is(t.Err, ask.ErrLogin), errors.Is(t.Err, ask.ErrNotThere) && !v.streams():
		v.NotTried = t.Err.Error()
	case errors.As(t.Err, &missing): // the client may start it anyway
		v.problem("%v", t.Err)
	case slices.ContainsFunc(v.Shadows, func(why string) bool { // which is reported later
		text, _, _ := strings.Cut(why, " (") // with the file that it comes from
		said := ": " + t.Err.Error()
		return strings.HasSuffix(said, ": "+why) || strings.HasSuffix(said, ": "+text)
	}):
	default:
		v.problem("the server does not answer: %v", r.tries.Blame(ctx, c.Name, st, t.Err))
		for _, word := range st.Argv {
			if note := configs.Unexpanded(word); note != "" {
				v.problem("%s%s", word, note)
			}
		}
		if advice := r.tries.LacksVariables(ctx, c.Name, st); advice != nil {
			v.Problems = append(v.Problems, advice...)
			v.explain(c)
		}
	}
	return st.Command
}

// inProject returns files because of which a client would not answer as usual in the project: own
// is a config of the user's, as in the home directory, and others has other servers, which the
// client may start.
func inProject(env configs.Env, c *clients.Client, repo, server string) (own, others string) {
	mine, tree := c.UserFiles(env.Sys), env.Tree(repo)
	for _, l := range c.Layers {
		if l.Role != clients.Project {
			continue
		}
		for _, file := range c.Files(l, env.Sys, repo, tree) {
			if slices.Contains(mine, file) {
				own = file
			}
		}
	}
	configs.EachOther(env, c, repo, server, func(in configs.Held, _ string, value map[string]any) {
		if in.Project && c.Dialect.Runs(value) != nil {
			others = in.Doc.Path
		}
	})
	return own, others
}

// explain reports why a client may fail to start a server that starts here.
func (v *Verified) explain(c *clients.Client) {
	argv := v.runs()
	if p := commands.Program(argv); p == "go" || p == "cargo" {
		v.problem("%s %s may have to build it first, and %s waits only so long", p, argv[1], c.Name)
		v.problem("if it takes too long to build, use-local --mode build writes a compiled program")
	}
}
