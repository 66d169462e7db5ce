package debian

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// run runs a program until it or ctx ends, and returns its output on both streams. The
// program leads its own process group, which is killed with ctx. Where the kernel supports
// it (see diesWithUs), the program also dies with this process, however that ends.
func run(ctx context.Context, name string, args ...string) (string, error) {
	// The kernel sends the death signal when the thread that started the child ends, so
	// that thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cmd := exec.CommandContext(ctx, name, args...)
	// Untranslated messages, since they are parsed. The rest of the environment stays,
	// above all proxies.
	cmd.Env = append(os.Environ(), "LC_ALL=C", "LANGUAGE=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	diesWithUs(cmd.SysProcAttr)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("run %s: %w", name, context.Cause(ctx))
	}
	return string(out), err
}
