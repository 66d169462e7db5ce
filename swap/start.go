package swap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/internal/configs"
)

// tried is the outcome of a start.
type tried struct {
	hello   ask.Hello
	seconds float64
	err     error
	only    error // why the server does not start elsewhere
}

// attempts starts servers, each once.
type attempts map[string]tried

func (t attempts) start(ctx context.Context, c ask.Command) tried {
	key := fmt.Sprintf("%q", [][]string{c.Argv, c.Env, c.Only, {c.Dir}})
	if done, ok := t[key]; ok {
		return done
	}
	begin := time.Now()
	var out tried
	out.hello, out.err = ask.Server(ctx, c)
	out.seconds = seconds(begin)
	t[key] = out
	return out
}

// try starts a server wherever the client may start it.
func (t attempts) try(ctx context.Context, st configs.Start) tried {
	out := t.start(ctx, st.Command)
	if out.err != nil || st.Elsewhere == "" || st.Elsewhere == st.Dir {
		return out
	}
	away := st.Command
	away.Dir, away.Tools = st.Elsewhere, false
	info, err := os.Stat(away.Dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err == nil {
		err = t.start(ctx, away).err
	}
	if err != nil {
		out.only = fmt.Errorf("it starts in %s but not in %s, and clients start servers in other directories: %w", st.Dir, st.Elsewhere, err)
		out.err = ctx.Err()
	}
	return out
}

// lacksVariables returns advice if a server did not start in the environment of a client
// that passes only some variables, and does in this one.
func (t attempts) lacksVariables(ctx context.Context, client string, st configs.Start) []string {
	if st.Only == nil || len(st.Argv) == 0 {
		return nil
	}
	st.Only = nil
	if t.try(ctx, st).err != nil {
		return nil
	}
	return []string{
		fmt.Sprintf("it starts with this whole environment, but %s passes servers little more than HOME and PATH", client),
		"if it needs a variable, use-local --env NAME=VALUE writes it into the entry",
	}
}

// shown returns a command for people.
func shown(argv []string) string { return strings.Join(ask.ShowArgs(argv), " ") }
