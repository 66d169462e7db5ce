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
	"tmuxmcp/swap/hint"
)

const firstStart = "preflight: waiting for the server to answer; its first start may have to build it"

// preflight starts the server once for every environment in which a client would start it.
func (s *Swapper) preflight(ctx context.Context, u *use, changes []*change, limit time.Duration) error {
	if u.unbuilt != nil {
		return failed(u.unbuilt)
	}
	if u.url != "" {
		_, err := ask.URL(ctx, u.url, false, cmp.Or(limit, ask.ServerLimit))
		return failed(err)
	}
	if cannotRun(u.argv) != "" {
		return nil // which the results say: the configs may be for another PATH
	}
	tried := map[string]bool{}
	for _, c := range changes {
		if !c.pending() {
			continue
		}
		env := c.client.Dialect.ReadEnv(c.edit.Value)
		key := fmt.Sprint(env)
		if tried[key] {
			continue
		}
		tried[key] = true
		stop := s.watch(firstStart, cmp.Or(limit, ask.ServerLimit))
		_, err := ask.Server(ctx, ask.Command{Argv: u.argv, Env: clients.Environ(env), Limit: limit})
		stop()
		if err != nil {
			return failed(err)
		}
	}
	return nil
}

// failed returns the error of a preflight ended by err, if it is one.
func failed(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ask.ErrLate) {
		err = hint.Advise(err, "if it needs longer, as a first build may, use --timeout, as in --timeout 5m")
	}
	return fmt.Errorf("preflight failed, nothing was written: %w", err)
}

// watch reports what is being waited for, until stop is called: every second to Progress,
// or once to Warn.
func (s *Swapper) watch(what string, limit time.Duration) (stop func()) {
	if s.Progress == nil {
		slow := time.AfterFunc(5*time.Second, func() { s.Warn(what) })
		return func() { slow.Stop() }
	}
	what, why, _ := strings.Cut(what, ";")
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer s.Progress("")
		start := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.Progress(fmt.Sprintf("%s (%v of %v);%s", what, time.Since(start).Round(time.Second), limit, why))
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// compileLimit bounds a compilation, which may have to download dependencies first.
const compileLimit = 15 * time.Minute

func (s *Swapper) compile(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, compileLimit)
	defer cancel()
	s.Warn("compiling: " + strings.Join(argv, " "))
	defer s.watch("still compiling; it may have to download first", compileLimit)()
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
