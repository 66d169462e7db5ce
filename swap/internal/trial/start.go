package trial

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

// Tried is the outcome of a start.
type Tried struct {
	Hello   ask.Hello
	Seconds float64
	Err     error
	Only    error // why the server does not start elsewhere
}

// Attempts starts servers, each once.
type Attempts map[string]Tried

func (t Attempts) start(ctx context.Context, c ask.Command) Tried {
	key := fmt.Sprintf("%q", [][]string{c.Argv, c.Env, c.Only, {c.Dir}})
	if done, ok := t[key]; ok {
		return done
	}
	begin := time.Now()
	var out Tried
	out.Hello, out.Err = ask.Server(ctx, c)
	out.Seconds = Seconds(begin)
	t[key] = out
	return out
}

// Try starts a server in each directory in which the client may start it.
func (t Attempts) Try(ctx context.Context, st configs.Start) Tried {
	out := t.start(ctx, st.Command)
	if out.Err != nil || st.Elsewhere == "" || st.Elsewhere == st.Dir {
		return out
	}
	away := st.Command
	away.Dir, away.Tools = st.Elsewhere, false
	info, err := os.Stat(away.Dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err == nil {
		err = t.start(ctx, away).Err
	}
	if err != nil {
		out.Only = fmt.Errorf("it starts in %s but not in %s, and clients start servers in other directories: %w", st.Dir, st.Elsewhere, err)
		out.Err = ctx.Err()
	}
	return out
}

// Blame returns the error of a start, which names the variables of the entry if the server starts
// without them.
func (t Attempts) Blame(ctx context.Context, client string, st configs.Start, err error) error {
	if len(st.Own) == 0 {
		return err
	}
	var names []string
	for _, v := range st.Own {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	bare := st
	bare.Env, bare.Own = st.Env[:len(st.Env)-len(st.Own)], nil
	if t.Try(ctx, bare).Err != nil {
		return err
	}
	return fmt.Errorf("the env of %s's entry (%s) keeps it from starting: %w", client, strings.Join(names, ", "), err)
}

// LacksVariables returns advice if a server did not start in the environment of a client
// that passes only some variables, and does in this one.
func (t Attempts) LacksVariables(ctx context.Context, client string, st configs.Start) []string {
	if st.Only == nil || len(st.Argv) == 0 {
		return nil
	}
	st.Only = nil
	if t.Try(ctx, st).Err != nil {
		return nil
	}
	return []string{
		fmt.Sprintf("it starts with this whole environment, but %s passes servers little more than HOME and PATH", client),
		"if it needs a variable, use-local --env NAME=VALUE writes it into the entry",
	}
}

// Seconds returns the seconds since a time, rounded down to milliseconds.
func Seconds(start time.Time) float64 { return float64(time.Since(start).Milliseconds()) / 1000 }
