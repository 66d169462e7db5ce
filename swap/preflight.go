package swap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/format"
	"tmuxmcp/swap/internal/configs"
	"tmuxmcp/swap/internal/hint"
	"tmuxmcp/swap/internal/plan"
	"tmuxmcp/swap/internal/trial"
)

// try compiles the server if necessary and starts it, unless the options forbid it.
func try(ctx context.Context, env configs.Env, want *plan.Wanted, changes []plan.Change, o UseOptions) ([]plan.Change, error) {
	if want.Compile != nil {
		if err := compile(ctx, env, want.Compile); err != nil {
			return nil, err
		}
	}
	if o.NoPreflight {
		return changes, nil
	}
	if want.Unbuilt != nil {
		return nil, preflightFailed(want, want.Unbuilt)
	}
	if want.URL != "" {
		_, err := ask.URL(ctx, want.URL, false, cmp.Or(o.Timeout, ask.ServerLimit))
		return changes, preflightFailed(want, err)
	}
	return preflight(ctx, env, want, changes, o)
}

// preflight starts the server once for each way in which a client would start it. If a client could
// not start it, its change is returned as failed. What a client would start may also be unknown.
// The error is for what stops all changes.
func preflight(ctx context.Context, env configs.Env, want *plan.Wanted, changes []plan.Change, o UseOptions) ([]plan.Change, error) {
	limit, waiting := o.Timeout, "preflight: waiting for the server to answer"
	if want.By == "" {
		waiting += "; its first start may have to build it"
	}
	out := slices.Clone(changes)
	tries := trial.Attempts{}
	var first error
	wanted, ended := 0, 0
	for i, c := range changes {
		if !c.Pending() {
			continue
		}
		wanted++
		value := format.Merge(c.Client.Dialect.Flat(format.Merge(c.Weaker, c.Edit.Value)), c.Client.Dialect.Flat(c.Stronger))
		st, err := configs.StartOf(env, c.Client, c.Scope, value, want.Repo)
		st.Limit, st.Only = limit, nil // verify tries what it needs of the environment
		if want.Released {             // a fetcher may take the checkout for the package
			st.Dir, st.Elsewhere = env.Sys.Home, ""
		}
		var unclear *clients.UnclearError
		switch {
		case errors.As(err, &unclear):
			out[i] = c.Caution("not tried: %v", err)
			continue
		case err != nil:
			err = fmt.Errorf("%s: %w; it was not written", c.Doc.Path, err)
			if want.By == "" {
				err = fmt.Errorf("%w (--no-preflight writes it all the same)", err)
			}
			out[i] = c.Failed(err)
			continue
		case errors.Is(st.Look(), ask.ErrNotHere):
			// The configs may be for another PATH, which the results mention, but what works is not replaced.
			was, werr := configs.StartOf(env, c.Client, c.Scope, c.Client.Dialect.Flat(format.Merge(c.Weaker, c.Old.Value)), want.Repo)
			if werr == nil && was.Here() {
				out[i] = c.Failed(fmt.Errorf("%w; %s, which the entry runs now, is here, so it was not written (--no-preflight writes it all the same)", st.Look(), was.Argv[0]))
			}
			continue
		}
		stop := env.Watch(waiting, cmp.Or(limit, ask.ServerLimit))
		t := tries.Try(ctx, st)
		stop()
		if errors.Is(t.Err, ask.ErrLate) || ctx.Err() != nil {
			return nil, preflightFailed(want, t.Err)
		}
		if t.Err != nil {
			t.Err = tries.Blame(ctx, c.Client.Name, st, t.Err)
			first, ended = cmp.Or(first, t.Err), ended+1
			out[i] = c.Failed(fmt.Errorf("preflight failed, so it was not written: %w", t.Err))
			continue
		}
		if t.Only != nil {
			out[i] = c.Caution("%v", t.Only)
		}
	}
	if ended < wanted {
		return out, nil
	}
	return out, preflightFailed(want, first)
}

// preflightFailed returns the error of a preflight that ended with err, or nil.
func preflightFailed(want *plan.Wanted, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ask.ErrLate) && want.By == "" {
		err = hint.Advise(err, "if it needs longer, as a first build may, use --timeout, as in --timeout 5m")
	}
	return fmt.Errorf("preflight failed, nothing was written: %w", err)
}

// compileLimit bounds a compilation, which may have to download dependencies first.
const compileLimit = 15 * time.Minute

// compile runs the command that builds the server.
func compile(ctx context.Context, env configs.Env, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, compileLimit)
	defer cancel()
	env.Warn("compiling: " + strings.Join(argv, " "))
	defer env.Watch("still compiling; it may have to download first", compileLimit)()
	if dir := slices.Index(argv, "-o"); dir > 0 {
		if err := os.MkdirAll(filepath.Dir(argv[dir+1]), 0o700); err != nil {
			return fmt.Errorf("make the build directory: %w", err)
		}
	}
	if err := ask.Run(ctx, argv); err != nil {
		return fmt.Errorf("compile the server: %w", err)
	}
	return nil
}
