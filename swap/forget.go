package swap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/internal/machine"
	"tmuxmcp/swap/journal"
)

// ForgetOptions say what [Swapper.Forget] forgets.
type ForgetOptions struct {
	Selection
	DryRun bool
	Force  bool // also swaps that revert could undo
}

// Forget removes records of swaps, including reverted ones, and their backups. It changes
// no config: it is for records that can no longer be reverted. There are no results if
// nothing is recorded. A dry run only reports what it would forget.
func (s *Swapper) Forget(ctx context.Context, o ForgetOptions) ([]Result, error) {
	c, wanted, err := o.records(ctx, s.Env, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer c.End()
	all := slices.Concat(c.State.Records, c.State.Reverted)
	slices.SortStableFunc(all, func(a, b journal.Record) int { return clients.Index(a.Client) - clients.Index(b.Client) })
	if len(all) == 0 {
		return nil, nil
	}
	var out []Result
	forgotten := map[int]int{} // by record number, the index of its result in out
	for _, r := range all {
		if !wanted(r) {
			continue
		}
		client, res := recordedResult(r)
		res.Outcome = Forgotten
		res.Detail = fmt.Sprintf("%q, swapped %s", r.Server, shortTime(r.Time))
		if !r.Reverted.IsZero() {
			res.Detail += ", reverted " + shortTime(r.Reverted)
		}
		if r.Backup != "" && !machine.Missing(r.Backup) {
			res.Detail += ", with the backup " + r.Backup
		}
		switch {
		case client == nil:
		case r.Reverted.IsZero() && !r.Undone && !o.Force:
			if _, err := commit.Judge(s.Env, client, c.State, &r); !commit.Gone(err) {
				res.Outcome = Failed
				res.Err = errors.New("mcp-swap revert can undo it, and nothing could once it is forgotten; use --force to forget it, and keep the entry as it is")
			}
		case commit.Back(s.Env, c.State)(&r):
			res.Cautions = append(res.Cautions, "its config has the swap, and keeps it; mcp-swap revert would undo it")
		}
		if res.Err == nil {
			forgotten[r.Seq] = len(out)
		}
		out = append(out, res)
	}
	if len(out) == 0 {
		return nil, o.noMatch(s.Words, "forget", all)
	}
	if o.DryRun || len(forgotten) == 0 {
		return out, nil
	}
	outcomes, err := c.Forget(slices.DeleteFunc(all, func(r journal.Record) bool { _, is := forgotten[r.Seq]; return !is }))
	if err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		res := &out[forgotten[o.Record.Seq]]
		res.Backup, res.Err = o.Backup, o.Err
	}
	return out, nil
}
