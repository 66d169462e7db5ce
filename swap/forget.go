package swap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tmuxmcp/swap/hint"
	"tmuxmcp/swap/journal"
)

// Forget removes records of swaps, also of reverted ones, and their backups. It changes
// no config: it is for records that cannot be reverted any more. There are no results
// if nothing is recorded. A dry run only says what it would forget.
func (s *Swapper) Forget(ctx context.Context, o Selection, dry bool) ([]Result, error) {
	st, wanted, unlock, err := s.selected(ctx, o, dry)
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
	var gone []journal.Record
	for _, r := range all {
		if !wanted(r) {
			continue
		}
		c, res := resultOf(r)
		res.Outcome = Forgotten
		if dry {
			res.Outcome = "to forget"
		}
		res.Detail = fmt.Sprintf("%q, swapped %s", r.Server, shortTime(r.Time))
		if !r.Reverted.IsZero() {
			res.Detail += ", reverted " + shortTime(r.Reverted)
		}
		if r.Backup != "" && !missing(r.Backup) {
			res.Detail += ", with the backup " + r.Backup
		}
		if c != nil && s.isBack(&r) {
			res.Cautions = append(res.Cautions, errors.New("its config has the swap, and keeps it; mcp-swap revert would undo it"))
		}
		gone = append(gone, r)
		out = append(out, res)
	}
	if len(out) == 0 {
		return nil, hint.Errorf(hint.Narrower, "nothing to forget: no recorded swap matches")
	}
	if dry {
		return out, nil
	}
	st.Records = slices.DeleteFunc(st.Records, wanted)
	st.Reverted = slices.DeleteFunc(st.Reverted, wanted)
	if err := s.Journal.Save(st); err != nil {
		return nil, err
	}
	// The records go first: until then they have their backups.
	for i := range gone {
		if r := &gone[i]; r.Backup != "" && s.madeBackup(r, out[i].Label) {
			if err := s.Disk.Remove(r.Backup); err != nil {
				out[i].Err = fmt.Errorf("the record is removed, but not its backup: %w", err)
			}
		}
	}
	return out, nil
}
