package swap

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	st, wanted, unlock, err := s.selected(ctx, o.Selection, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer unlock()
	all := slices.Concat(st.Records, st.Reverted)
	slices.SortStableFunc(all, func(a, b journal.Record) int { return place(a.Client) - place(b.Client) })
	if len(all) == 0 {
		return nil, nil
	}
	var out []Result
	forgotten := map[int]int{} // by record number, the index of its result in out
	for _, r := range all {
		if !wanted(r) {
			continue
		}
		c, res := recordedResult(r)
		res.Outcome = Forgotten
		res.Detail = fmt.Sprintf("%q, swapped %s", r.Server, shortTime(r.Time))
		if !r.Reverted.IsZero() {
			res.Detail += ", reverted " + shortTime(r.Reverted)
		}
		if r.Backup != "" && !machine.Missing(r.Backup) {
			res.Detail += ", with the backup " + r.Backup
		}
		switch {
		case c == nil:
		case r.Reverted.IsZero() && !o.Force:
			if _, read, _ := s.judgeNow(c, &r); read {
				res.Outcome = Failed
				res.Err = errors.New("mcp-swap revert can undo it, and nothing could once it is forgotten; use --force to forget it, and keep the entry as it is")
			}
		case s.isBack(&r):
			res.Cautions = append(res.Cautions, "its config has the swap, and keeps it; mcp-swap revert would undo it")
		}
		if res.Err == nil {
			forgotten[r.Seq] = len(out)
		}
		out = append(out, res)
	}
	if len(out) == 0 {
		return nil, errors.New("nothing to forget: no recorded swap matches; " + selectMore)
	}
	if o.DryRun || len(forgotten) == 0 {
		return out, nil
	}
	of := func(r journal.Record) bool { _, is := forgotten[r.Seq]; return is }
	st.Records = slices.DeleteFunc(st.Records, of)
	st.Reverted = slices.DeleteFunc(st.Reverted, of)
	if err := s.Journal.Save(st); err != nil {
		return nil, err
	}
	// Records are removed first: until then they have their backups.
	for _, r := range all {
		i, is := forgotten[r.Seq]
		if is && r.Backup != "" && s.madeBackup(&r, out[i].Label) {
			if gone, err := s.removeBackup(&r, out[i].Label); err != nil {
				out[i].Err = fmt.Errorf("the record is removed, but not its backup: %w", err)
			} else if gone {
				out[i].Backup = ""
			}
		}
	}
	return out, nil
}
