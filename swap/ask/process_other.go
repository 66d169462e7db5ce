//go:build !unix

package ask

import (
	"context"
	"os/exec"
	"strconv"
	"time"
)

func ownGroup(*exec.Cmd) {}

// killGroup ends a command and the processes that it started.
func killGroup(cmd *exec.Cmd) error {
	if cmd.Process == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, "taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}
