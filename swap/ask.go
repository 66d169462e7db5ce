package swap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// AskLimit is how long a client may take to start a server and to tell about it.
const AskLimit = 90 * time.Second

// An ask says how a client's own program is asked what it makes of a server,
// without a network and without a login. A client without one is not asked.
type ask struct {
	Args []string // serverName in one stands for the server's name
	Env  []string // NAME=VALUE for the client
	Also []location
	// Send are lines of JSON for a client that is asked in a dialogue: its stdin
	// stays open until Read has what it needs. In them, serverName and
	// directory are whole strings.
	Send []string
	// Read makes an answer of what the client prints: stdout, and without a
	// dialogue stderr too. Its error is errUnread if there is none in it (yet).
	Read func(out, server string) (Answer, error)
	// Blind: it answers without a look at trust and at lists of servers, so what
	// its config says about those stands.
	Blind bool
}

// These stand for the server's name, and for the directory that the client is
// asked in, in what it is asked with.
const (
	serverName = "\x00server"
	directory  = "\x00directory"
)

// States of an [Answer].
const (
	Connected  = "connected"  // the client has started the server and shaken hands
	NotStarted = "failed"     // it has tried
	Disabled   = "disabled"   // its config, or an untrusted folder, keeps it from trying
	Pending    = "unapproved" // the user has not been asked yet whether it may
	NotThere   = "unknown"    // the client knows no such server
	Unclear    = "unclear"    // it says something else
)

// An Answer is what a client says about a server.
type Answer struct {
	State string `json:"state"`
	Says  string `json:"says,omitempty"` // in the client's own words
	// Command is what the client runs, in one line, as it spells it; "" if it
	// does not tell.
	Command string `json:"command,omitempty"`
	// Place is the client's word for where the entry is; "project" is a file in
	// the project's directory.
	Place string `json:"place,omitempty"`
	// Tools are the names of the server's tools, and ToolCount is their number,
	// which some clients tell alone; nil for the others.
	Tools     []string `json:"tools,omitempty"`
	ToolCount *int     `json:"tool_count,omitempty"`
}

var errUnread = errors.New("no answer that could be read")

// Ask runs a client's own program, of the name or alias client, in a directory,
// and gives what it says about a server. The client has home as its home
// directory, where it may write as it likes, and none of the variables that
// would lead it to another one.
func Ask(ctx context.Context, client, server, dir, home string) (Answer, error) {
	c := lookupClient(client)
	if c == nil {
		return Answer{}, usagef("unknown client %q; the clients are: %s", client, strings.Join(ClientNames(), ", "))
	}
	if c.Ask == nil {
		return Answer{}, fmt.Errorf("no way is known to ask %s offline", c.Name)
	}
	program := c.binary()
	if program == "" {
		return Answer{}, fmt.Errorf("%s is not on PATH", strings.Join(c.Binaries, " or "))
	}
	cmd := exec.Command(program)
	for _, a := range c.Ask.Args {
		cmd.Args = append(cmd.Args, strings.ReplaceAll(a, serverName, server))
	}
	cmd.Dir = dir
	homes := c.homeVars()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(homes, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "PWD="+dir, "HOME="+home, "USERPROFILE="+home, "NO_COLOR=1")
	cmd.Env = append(cmd.Env, c.Ask.Env...)
	return c.Ask.run(ctx, cmd, server)
}

// homeVars names the variables that say where the client's files are.
func (c *Client) homeVars() []string {
	names := []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"}
	for _, l := range c.files() {
		for _, dirs := range l.Dirs {
			for _, d := range dirs {
				if d.Env != "" && !slices.Contains(names, d.Env) {
					names = append(names, d.Env)
				}
			}
		}
	}
	return names
}

// files are the places of all files that decide what the client answers.
func (c *Client) files() []location {
	out := []location{c.Config}
	if c.Trust != nil && c.Trust.File != nil {
		out = append(out, *c.Trust.File)
	}
	if c.Ask != nil {
		out = append(out, c.Ask.Also...)
	}
	return out
}

// run starts the client, reads its answer and ends it with all it has started.
func (k *ask) run(ctx context.Context, cmd *exec.Cmd, server string) (Answer, error) {
	limit, cancel := context.WithTimeout(ctx, AskLimit)
	defer cancel()
	out := &heard{news: make(chan struct{}, 1)}
	var tail tailBuffer
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	finish := func() error { return nil }
	if k.Send != nil {
		cmd.Stderr = &tail
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return Answer{}, fmt.Errorf("start %s: %w", cmd.Path, err)
		}
		finish = stdin.Close
		go func() {
			for _, line := range k.Send {
				for _, r := range [][2]string{{serverName, server}, {directory, cmd.Dir}} {
					text, _ := json.Marshal(r[1])
					line = strings.ReplaceAll(line, `"`+r[0]+`"`, string(text))
				}
				if _, err := stdin.Write([]byte(line + "\n")); err != nil {
					return // it has exited: its output says more
				}
			}
		}()
	}
	if err := cmd.Start(); err != nil {
		return Answer{}, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()

	var exit error
	for running := true; running; {
		select {
		case <-out.news:
			if k.Send == nil {
				continue
			}
			if a, err := k.Read(out.text(), server); !errors.Is(err, errUnread) {
				_ = finish()
				select { // it ends its servers, if it is let
				case <-exited:
				case <-time.After(3 * time.Second):
				}
				_ = killGroup(cmd)
				return a, err
			}
		case exit = <-exited:
			running = false
		case <-limit.Done():
			_ = killGroup(cmd)
			<-exited
			if ctx.Err() != nil {
				return Answer{}, fmt.Errorf("interrupted: %w", ctx.Err())
			}
			return Answer{}, fmt.Errorf("no answer within %v%s", AskLimit, tail.indented())
		}
	}
	_ = killGroup(cmd)
	a, err := k.Read(out.text(), server)
	if errors.Is(err, errUnread) {
		if exit != nil {
			err = fmt.Errorf("%w (%w)", err, exit)
		}
		// Its stdout is not shown: it may print the environment of an entry.
		err = fmt.Errorf("%s: %w%s", CommandLine(cmd.Args), err, tail.indented())
	}
	return a, err
}

// heard collects what a client prints, up to a limit.
type heard struct {
	mu   sync.Mutex
	b    bytes.Buffer
	news chan struct{}
}

const heardLimit = 16 << 20

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	if h.b.Len() < heardLimit {
		h.b.Write(p)
	}
	h.mu.Unlock()
	select {
	case h.news <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}
