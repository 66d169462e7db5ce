package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/pflag"

	"tmuxmcp/conform"
	"tmuxmcp/conform/report"
	"tmuxmcp/internal/atomicfile"
)

// policyFlags adds the flags that select scripts and say what is expected of them.
func (o *runOptions) policyFlags(f *pflag.FlagSet) {
	f.StringVar(&o.skip, "skip", "", "skip scripts whose GAP/LAYER/TMUX matches `REGEXP`, as in ^12-.*/api/3.2a")
	f.StringVar(&o.shard, "shard", "", "run only part `I/N` of the scripts, as in 1/3")
	f.BoolVar(&o.FailFast, "fail-fast", false, "stop at the first failure that is not known")
	f.IntVar(&o.Retry, "retry", 0, "rerun a failing script up to `N` times; if it then passes it is flaky")
	f.IntVar(&o.Repeat, "repeat", 1, "run every script `N` times; a claim with varying outcomes is unstable, and fails")
	f.BoolVar(&o.Strict, "strict", false, "fail if a wrapper (--api) or server (--server) does not offer what a script asks for")
	f.StringVar(&o.expect, "expect", "",
		"the `FILE` of known failures: only others, worse ones and those that pass fail the run")
	f.BoolVar(&o.updateExpect, "update-expect", false, "update the file of --expect to match this run")
}

// readPolicy checks and reads the flags of policyFlags.
func (o *runOptions) readPolicy() (err error) {
	if o.skip != "" {
		if o.Skip, err = regexp.Compile(o.skip); err != nil {
			return fmt.Errorf("--skip: %w", err)
		}
	}
	if o.shard != "" {
		if o.Shard, err = conform.ParseShard(o.shard); err != nil {
			return fmt.Errorf("--shard %w", err)
		}
	}
	switch {
	case o.Retry < 0:
		return fmt.Errorf("--retry %d: want 0 or more", o.Retry)
	case o.Repeat < 1:
		return fmt.Errorf("--repeat %d: want 1 or more", o.Repeat)
	case o.Retry > 0 && o.Repeat > 1:
		return errors.New("--retry and --repeat exclude each other: " +
			"one takes what passed at last, the other shows what did not always")
	case o.updateExpect && o.expect == "":
		return errors.New("--update-expect: want --expect FILE, the file to write")
	case o.updateExpect && o.FailFast:
		return errors.New("--update-expect needs all failures, and --fail-fast ends the run with the first")
	}
	return o.readExpectations()
}

// readExpectations reads the file of known failures, if there is one.
func (o *runOptions) readExpectations() error {
	if o.expect == "" {
		return nil
	}
	text, err := os.ReadFile(o.expect)
	if none := errors.Is(err, os.ErrNotExist); none && !o.updateExpect {
		return fmt.Errorf("--expect %s: %w (--update-expect creates it)", o.expect, errors.Unwrap(err))
	} else if err != nil && !none {
		return fmt.Errorf("--expect %s: %w", o.expect, errors.Unwrap(err))
	}
	o.old = text
	if o.Expected, err = report.ParseExpectations(o.expect, text); err != nil {
		return fmt.Errorf("--expect %w", err)
	}
	gaps, err := loadGaps(o.scripts, conform.AllSuites)
	if err != nil {
		return err
	}
	if err := o.Expected.Check(conform.ClaimsOf(gaps)); err != nil && !o.updateExpect {
		return fmt.Errorf("--expect %w", err)
	}
	return nil
}

// update writes the file of known failures, and makes the report one with them.
func (o *runOptions) update(r *report.Report, stderr io.Writer) error {
	if !o.updateExpect {
		return nil
	}
	if r.Interrupted {
		fmt.Fprintf(stderr, "mcp-conform: %s is left as it is: the run was interrupted\n", o.expect)
		return nil
	}
	updated, changes, err := o.Expected.Update(r)
	if err != nil {
		return fmt.Errorf("--update-expect %w", err)
	}
	if len(changes) == 0 {
		return nil
	}
	if err := writeFile(o.expect, updated.Text(), o.old); err != nil {
		o.Expected.Apply(r)
		return fmt.Errorf("--update-expect %s: %w", o.expect, err)
	}
	for _, line := range changes {
		fmt.Fprintf(stderr, "%s: %s\n", o.expect, line)
	}
	return nil
}

// writeFile writes a file at once or not at all: a new one when old is nil, else
// one that still holds old.
func writeFile(path string, text, old []byte) error {
	if old == nil {
		return atomicfile.Disk{}.Create(path, text, atomicfile.Meta{Mode: 0o644})
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	return atomicfile.Disk{}.Replace(path, text, old, nil)
}
