//go:build !unix

package peer

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"time"
)

func ownGroup(*exec.Cmd) {}

// killGroup kills a process and all that descend from it.
func killGroup(leader *os.Process) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, "taskkill", "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run()
}
