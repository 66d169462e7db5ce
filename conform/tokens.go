package conform

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"tmuxmcp/internal/tokens/inventory"
	"tmuxmcp/tmux"
)

// TakeInventory finds out which tokens a target has: from the table inside the
// program, or, where there is none to be read, as in a script that starts tmux,
// by asking a server of its own for the tokens of the table. from says which: "binary" or
// "server".
func TakeInventory(ctx context.Context, target Target, table *inventory.Table) (inv inventory.Inventory, from string, err error) {
	if inv.Version, err = tmux.ParseVersion(target.Version); err != nil {
		return inv, "", err
	}
	inv.Entries, err = inventory.FromBinary(target.Path)
	if err == nil {
		return inv, "binary", nil
	}
	if !errors.Is(err, inventory.ErrNoTable) {
		return inv, "", err
	}
	inv.Asked = table.Names(inv.Version)
	answer, err := ask(ctx, target.request(request{Ask: askForTokens, Names: inv.Asked, Timeout: DefaultTimeout}))
	endAdopted()
	if err != nil {
		return inv, "", fmt.Errorf("ask tmux %s: %w", target.Name, err)
	}
	for _, name := range inv.Asked {
		if answer.Known[name] {
			inv.Entries = append(inv.Entries, inventory.Entry{Name: name})
		}
	}
	return inv, "server", nil
}

// tokens is the child's side: it starts a server of the target's and asks it for tokens.
func (r request) tokens(ctx context.Context) (message, error) {
	run := func(ctx context.Context, args ...string) (string, error) {
		out, stderr, _, err := run(ctx, r.Dir, scriptEnv(r.Dir), r.Tmux, append([]string{"-u", "-S", filepath.Join(r.Dir, "s"), "-f", "/dev/null"}, args...)...)
		if said := tail(stderr); err != nil && said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return out, err
	}
	if _, err := run(ctx, "new-session", "-d", "exec sleep 600", ";", "set-buffer", "x"); err != nil {
		return message{}, err
	}
	known, err := inventory.Probe(ctx, run, r.Names)
	return message{Known: known}, err
}
