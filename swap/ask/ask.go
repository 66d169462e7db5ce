// Package ask runs MCP servers, and the agent CLIs that start them, as configs say.
//
// [Server] starts a server and completes an MCP initialize with it. [Client] runs a client's own
// program and reads its output about a server; a [Row] says how, one per client. [Home] creates a
// home directory for running a client, and [Alone] a config for it, so that it does not write the
// user's files or start other servers.
//
// No process outlives its call. The output of programs is returned without control characters
// and without the secrets that they were given.
//
// All that the package knows of clients is how to read their output: rows and files come from the
// caller.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"tmuxmcp/internal/peer"
)

// ClientLimit is how long a client may take to start a server and report on it.
const ClientLimit = 90 * time.Second

// A Row says how to query a client's own program about a server, without a network and
// without a login.
type Row struct {
	Args []string // in each, ServerName stands for the server's name
	Env  []string // NAME=VALUE for the client
	// Send are lines of JSON for a client that is queried in a dialogue: its stdin stays
	// open until Read has the answer. Strings in them may be ServerName and Directory.
	Send []string
	// Await is the path of a value in the answer to those, and Then are lines to send once it
	// has come. Strings in them may be Awaited, which is that value.
	Await string
	Then  []string
	Read  Reader
	// Lists is set if the client shows its config and starts no server.
	Lists bool
	// All is set if the client starts all configured servers to answer about one.
	All bool
	// Blind is set if the answer ignores trust and lists of allowed servers, so that the config
	// decides about those.
	Blind bool
	// Files matches references to files in a config. The group is a path relative to the
	// config.
	Files Pattern
	// Refused matches the output of a client that refuses its config. Only its groups may be
	// shown: the rest may contain values of an entry.
	Refused Pattern
}

// Placeholders in a [Row]: the server's name, the directory that the client runs in, and the
// awaited value.
const (
	ServerName = "\x00server"
	Directory  = "\x00directory"
	Awaited    = "\x00awaited"
)

// States of an [Answer].
const (
	Connected  = "connected"  // the client has started the server and completed initialize
	Configured = "configured" // the client would start it, but does not do so to answer
	NotStarted = "failed"     // the client failed to start it
	Disabled   = "disabled"   // by its config or an untrusted folder
	Pending    = "unapproved" // the user has to approve it first
	NotThere   = "unknown"    // the client knows no such server
	Unclear    = "unclear"    // anything else
)

// An Answer is what a client says about a server.
type Answer struct {
	State string `json:"state"`
	Says  string `json:"says,omitempty"` // in the client's own words
	// Command is the command, on one line as the client prints it, or the address of a remote
	// server; "" if the client does not print it.
	Command string `json:"command,omitempty"`
	// Place is the client's word for where the entry is; "project" is a file in
	// the project's directory.
	Place string `json:"place,omitempty"`
	// Tools are the names of the server's tools, and ToolCount is their number;
	// nil if the client does not report them. Some report the number only.
	Tools     []string `json:"tools,omitempty"`
	ToolCount *int     `json:"tool_count,omitempty"`
}

// ErrUnread is wrapped by the error of a [Reader] if the output has no answer.
var ErrUnread = errors.New("no readable answer")

// ErrRefused is wrapped by the error for a client that refuses its config as a whole, with
// the reason in its own words.
var ErrRefused = errors.New("it refuses its config")

// A Pattern is a regular expression in the table of clients.
type Pattern struct{ *regexp.Regexp }

// UnmarshalText compiles a pattern.
func (p *Pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

// In reports whether a pattern is set and occurs in a text.
func (p Pattern) In(text string) bool { return p.Regexp != nil && p.MatchString(text) }

// Replace replaces what the first group of all matches in a text matches.
func (p Pattern) Replace(text []byte, by func(string) string) []byte {
	if p.Regexp == nil {
		return text
	}
	var out []byte
	end := 0
	for _, m := range p.FindAllSubmatchIndex(text, -1) {
		out = append(append(out, text[end:m[2]]...), by(string(text[m[2]:m[3]]))...)
		end = m[3]
	}
	return append(out, text[end:]...)
}

// groups returns what the groups of a pattern match in a text, on one line; "" if it does not
// match.
func (p Pattern) groups(text string) string {
	if !p.In(text) {
		return ""
	}
	var out []string
	for i, group := range p.FindStringSubmatch(text) {
		if i > 0 && group != "" {
			out = append(out, brief(group))
		}
	}
	return strings.Join(out, ": ")
}

// A Question is what [Client] asks, and where.
type Question struct {
	Program string   // the client's program
	Server  string   // the server's name in the config
	Dir     string   // the directory that the client runs in
	Home    string   // its home directory, which it may write to
	Unset   []string // variables that would lead it to another home directory
	Env     []string // additional variables, NAME=VALUE
}

// Client runs a client's own program and returns what it says about a server.
func Client(ctx context.Context, row Row, q Question) (Answer, error) {
	cmd := exec.Command(q.Program)
	for _, a := range row.Args {
		cmd.Args = append(cmd.Args, strings.ReplaceAll(a, ServerName, q.Server))
	}
	cmd.Dir = q.Dir
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(q.Unset, name) && name != "FORCE_COLOR" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "PWD="+q.Dir, "HOME="+q.Home, "USERPROFILE="+q.Home, "NO_COLOR=1")
	cmd.Env = slices.Concat(cmd.Env, row.Env, q.Env)
	return row.run(ctx, cmd, q.Server)
}

// awaited returns the value at Await in the output; "" if it has not come, or Then has been sent.
func (k Row) awaited(out string) string {
	if k.Then == nil {
		return ""
	}
	for line := range strings.Lines(out) {
		if strings.HasSuffix(line, "\n") && gjson.Valid(line) {
			if value := gjson.Get(line, k.Await).Str; value != "" {
				return value
			}
		}
	}
	return ""
}

// run starts the client, reads its answer, and kills it with its children.
func (k Row) run(ctx context.Context, cmd *exec.Cmd, server string) (Answer, error) {
	limit, cancel := context.WithTimeout(ctx, ClientLimit)
	defer cancel()
	out, tail := &output{limit: 16 << 20}, &output{limit: 1 << 20}
	cmd.Stdout, cmd.Stderr = out, tail
	cmd.WaitDelay = time.Second
	var stdin io.WriteCloser
	var err error
	if k.Send != nil {
		out.news = make(chan struct{}, 1)
		if stdin, err = cmd.StdinPipe(); err != nil {
			return Answer{}, fmt.Errorf("start %s: %w", cmd.Path, err)
		}
	}
	defer running()()
	p, err := peer.Start(cmd, peer.KeepOrphans)
	if err != nil {
		return Answer{}, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p.Stdin = stdin
	say := func(lines []string, awaited string) {
		input := strings.Join(lines, "\n") + "\n"
		for name, value := range map[string]string{ServerName: server, Directory: cmd.Dir, Awaited: awaited} {
			text, _ := json.Marshal(value)
			input = strings.ReplaceAll(input, `"`+name+`"`, string(text))
		}
		go func() {
			_, _ = io.WriteString(stdin, input) // if it has exited, its output says more
		}()
	}
	if k.Send != nil {
		say(k.Send, "")
	}
	for running := true; running; {
		select {
		case <-out.news:
			if value := k.awaited(out.String()); value != "" {
				say(k.Then, value)
				k.Then = nil
			}
			if a, err := k.Read(out.String(), server); !errors.Is(err, ErrUnread) {
				p.End(3*time.Second, 0) // time for it to end its servers
				return a, err
			}
		case <-p.Exited:
			running = false
		case <-limit.Done():
			p.End(0, 0)
			if ctx.Err() != nil {
				return Answer{}, fmt.Errorf("interrupted: %w", ctx.Err())
			}
			return Answer{}, fmt.Errorf("no answer within %v%s", ClientLimit, tail.indented())
		}
	}
	p.Kill()
	said := out.String()
	if k.Send == nil { // a client may answer on either
		said += "\n" + tail.String()
	}
	a, err := k.Read(said, server)
	if errors.Is(err, ErrUnread) {
		switch reason := k.Refused.groups(escapes().ReplaceAllString(said, "")); {
		case reason != "":
			return a, fmt.Errorf("%w: %s", ErrRefused, reason)
		case p.Err != nil:
			err = fmt.Errorf("%w (%w)", err, p.Err)
		}
		// Do not show stdout: it may contain the environment of an entry.
		err = fmt.Errorf("%s: %w%s", CommandLine(cmd.Args), err, tail.indented())
	}
	return a, err
}
