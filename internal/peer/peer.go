// Package peer runs a program to talk to over its standard input and output, and ends it in a
// bounded time together with its process group, however it behaves: it may not read, close its
// output, ignore signals, or leave processes behind that hold its pipes open.
//
// A process that has left the group is not found: see package proctree.
package peer

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Peer is a started program, the leader of its own process group.
type Peer struct {
	Cmd    *exec.Cmd
	Stdin  io.WriteCloser // nil if [Start] got a command without [exec.Cmd.StdinPipe]
	Stdout *os.File       // nil if started by [Start]

	// Exited is closed once the program has exited. Err is then the error of [exec.Cmd.Wait].
	Exited <-chan struct{}
	Err    error

	orphans Orphans
}

// Orphans says what becomes of a program's process group when the program itself exits.
type Orphans int

const (
	// KillOrphans kills the group before Exited is closed.
	KillOrphans Orphans = iota
	// KeepOrphans leaves the group alone until [Peer.Kill] or [Peer.End]: a launcher may exit
	// and leave the actual program to answer.
	KeepOrphans
)

// killTime is how long a killed program may take to exit. One that waits for a disk takes longer.
const killTime = 2 * time.Second

// Open starts a command with pipes for its standard input and output. The caller closes Stdout.
func Open(cmd *exec.Cmd, orphans Orphans) (*Peer, error) {
	// Not StdoutPipe, which Wait closes with output unread, and not a writer: Wait would wait for
	// every process that holds the pipe.
	stdout, its, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer its.Close()
	cmd.Stdout = its
	stdin, err := cmd.StdinPipe()
	var p *Peer
	if err == nil {
		p, err = Start(cmd, orphans)
	}
	if err != nil {
		stdout.Close()
		return nil, err
	}
	p.Stdin, p.Stdout = stdin, stdout
	return p, nil
}

// Start starts a command whose standard input and output the caller has set. The context of
// [exec.CommandContext], when done, kills the group.
func Start(cmd *exec.Cmd, orphans Orphans) (*Peer, error) {
	exited := make(chan struct{})
	p := &Peer{Cmd: cmd, Exited: exited, orphans: orphans}
	ownGroup(cmd)
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return killGroup(cmd.Process) }
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.Err = cmd.Wait()
		if orphans == KillOrphans {
			p.Kill()
		}
		close(exited)
	}()
	return p, nil
}

// Kill kills the process group. It does nothing if that has already been killed as the program
// exited: another group may have its number by now.
func (p *Peer) Kill() {
	select {
	case <-p.Exited:
		if p.orphans == KillOrphans {
			return
		}
	default:
	}
	_ = killGroup(p.Cmd.Process)
}

// End closes Stdin, and gives the program time to leave. Then it sends SIGTERM, unless term is 0,
// and waits that long; then it kills the group. It reports whether the program left in time.
func (p *Peer) End(leave, term time.Duration) (left bool) {
	if p.Stdin != nil {
		p.Stdin.Close()
	}
	left = p.exits(leave)
	if !left && term > 0 {
		_ = p.Cmd.Process.Signal(syscall.SIGTERM)
		p.exits(term)
	}
	p.Kill()
	p.exits(killTime)
	return left
}

func (p *Peer) exits(within time.Duration) bool {
	select {
	case <-p.Exited:
		return true
	case <-time.After(within):
		return false
	}
}
