package conform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/inventory"
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
	known, err := ask(ctx, target, inv.Asked)
	if err != nil {
		return inv, "", fmt.Errorf("ask tmux %s: %w", target.Name, err)
	}
	for _, name := range inv.Asked {
		if known[name] {
			inv.Entries = append(inv.Entries, inventory.Entry{Name: name})
		}
	}
	return inv, "server", nil
}

// ask starts a server of the target's, asks it for tokens, and leaves nothing.
func ask(ctx context.Context, target Target, names []string) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	dir, err := runDir()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, sub := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	run := func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, target.Path, append([]string{"-u", "-S", filepath.Join(dir, "s"), "-f", "/dev/null"}, args...)...)
		cmd.Dir, cmd.Env = dir, scriptEnv(dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = graceTime
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		err := cmd.Run()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
		}
		return out.String(), err
	}
	defer func() {
		// Also when ctx has ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_, _ = run(ctx, "kill-server")
		sweep(dir)
	}()
	if _, err := run(ctx, "new-session", "-d", "exec sleep 600", ";", "set-buffer", "x"); err != nil {
		return nil, err
	}
	return inventory.Probe(ctx, run, names)
}
