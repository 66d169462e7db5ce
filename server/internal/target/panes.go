package target

import (
	"context"
	"slices"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/tmux"
)

// maxNamed is how many panes one call may name.
const maxNamed = 200

// PanesNamed returns the panes that an argument names: by pane id, by the id or name of a
// session for all its panes, or all.
func PanesNamed(ctx context.Context, srv *tmux.Server, argument string, names []string) ([]tmux.PaneID, error) {
	panes, err := tmux.List[IDs](ctx, srv, tmux.ListPanes{All: true})
	if err != nil {
		return nil, err
	}
	var ids []tmux.PaneID
	for _, name := range names {
		if err := checkLength(argument, name); err != nil {
			return nil, err
		}
		found := false
		for _, p := range panes {
			if name != "all" && name != string(p.Pane) && name != string(p.Session) && name != p.Name {
				continue
			}
			found = true
			if !slices.Contains(ids, p.Pane) {
				ids = append(ids, p.Pane)
			}
		}
		if !found {
			return nil, reply.Faultf(reply.KindPane, "%s: there is no pane or session %q", argument, name).Suggest("list_panes shows what there is")
		}
	}
	if len(ids) > maxNamed {
		return nil, reply.Argument(argument, "names %d panes; the limit is %d", len(ids), maxNamed)
	}
	return ids, nil
}
