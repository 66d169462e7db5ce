package conform

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tmuxmcp/tmux"
)

// job is one script on one target: the side of the process that runs all of
// them. The script itself runs in a child; see child.go.
type job struct {
	gap       *Gap
	target    Target
	layer     Layer
	transport tmux.Transport // for the report; empty where nobody knows
	dir       string
}

func (j *job) cell() Cell {
	return Cell{Gap: j.gap.Number, Layer: j.layer, Tmux: j.target.Name, Transport: string(j.transport)}
}

// request is what the child is told, on its standard input; that stays open for
// as long as the script is wanted.
type request struct {
	Dir       string         `json:"dir"`
	File      string         `json:"file"`
	Layer     Layer          `json:"layer"`
	Transport tmux.Transport `json:"transport"`
	Server    []string       `json:"server"`
	ServerDir string         `json:"server_dir"`
	Tmux      string         `json:"tmux"`
	Version   string         `json:"version"`
	Timeout   time.Duration  `json:"timeout"`
	Verbose   bool           `json:"verbose"`
	Keep      bool           `json:"keep"`
}

// message is a line of what the child tells: the command that it is about to
// run, and in the end the outcome.
type message struct {
	Command string `json:"command,omitempty"`
	Cell    *Cell  `json:"cell,omitempty"`
	Log     string `json:"log,omitempty"`
}

// The child ends its script at the timeout itself, with the evidence; these are
// for one that does not.
const (
	overtime  = 3 * time.Second
	graceTime = 2 * time.Second
)

// run runs the script, and leaves nothing of it.
func (j *job) run(ctx context.Context, opts Options) Cell {
	start := time.Now()
	cell, err := j.runChild(ctx, opts)
	if err != nil {
		cell = j.cell()
		cell.Status, cell.Reason = Errored, err.Error()
	}
	if opts.Keep {
		cell.Dir = j.dir
	} else {
		if err := os.RemoveAll(j.dir); err != nil {
			// Something in there still writes.
			sweep(j.dir)
			err = os.RemoveAll(j.dir)
			if err != nil && !cell.Status.Bad() {
				cell.Status, cell.Reason = Errored, "clean up: "+err.Error()
			}
		}
	}
	if ctx.Err() != nil && cell.Status != Pass {
		cell = j.cell()
		cell.Status, cell.Reason = Skip, stopReason(ctx)
	}
	cell.DurationMS = time.Since(start).Milliseconds()
	return cell
}

func (j *job) runChild(ctx context.Context, opts Options) (Cell, error) {
	cell := j.cell()
	for _, dir := range []string{"", "home", "tmp", "w"} {
		if err := os.Mkdir(filepath.Join(j.dir, dir), 0o700); err != nil {
			return cell, err
		}
	}
	file := filepath.Join(j.dir, j.gap.Name+".txtar")
	if err := os.WriteFile(file, j.gap.script(j.layer), 0o600); err != nil {
		return cell, err
	}
	req, err := json.Marshal(request{
		Dir: j.dir, File: file, Layer: j.layer, Transport: opts.Transport, Server: opts.server, ServerDir: opts.serverDir, Tmux: j.target.Path, Version: j.target.Version,
		Timeout: opts.Timeout, Verbose: opts.Verbose, Keep: opts.Keep,
	})
	if err != nil {
		return cell, err
	}

	cmd := exec.Command(opts.Child[0], opts.Child[1:]...)
	cmd.Dir, cmd.Env = j.dir, scriptEnv(j.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = graceTime
	var stderr bytes.Buffer
	cmd.Stderr = &limited{buf: &stderr, left: 8192}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return cell, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return cell, err
	}
	if err := cmd.Start(); err != nil {
		return cell, fmt.Errorf("start the script's process: %w", err)
	}
	var last message
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		last = listen(stdout)
	}()
	_, err = stdin.Write(append(req, '\n'))

	timer := time.NewTimer(opts.Timeout + overtime)
	defer timer.Stop()
	timedOut := false
	select {
	case <-heard:
	case <-ctx.Done():
	case <-timer.C:
		timedOut = true
	}
	// With its input at an end the child ends what it has started, and itself.
	stdin.Close()
	select {
	case <-heard:
	case <-time.After(graceTime):
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		// Whoever else has the child's output open is not waited for.
		stdout.Close()
		<-heard
	}
	waitErr := cmd.Wait()
	if waitErr != nil || last.Cell == nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if !opts.Keep {
			sweep(j.dir)
		}
	}
	switch {
	case timedOut && last.Cell == nil:
		cell.Status, cell.Reason = Fail, fmt.Sprintf("no end within %v", opts.Timeout)
		cell.Evidence = []Evidence{{Command: last.Command, Expected: fmt.Sprintf("an end within %v", opts.Timeout), Actual: "still running"}}
		return cell, nil
	case last.Cell == nil && ctx.Err() != nil:
		return cell, ctx.Err()
	case last.Cell == nil:
		return cell, fmt.Errorf("the script's process ended without an outcome: %v: %s", waitErr, tail(stderr.String()))
	}
	done := *last.Cell
	done.Gap, done.Layer, done.Tmux, done.Transport, done.Log = cell.Gap, cell.Layer, cell.Tmux, cell.Transport, last.Log
	return done, err
}

// listen reads what the child tells. The result has the last command, and the
// outcome if there was one.
func listen(r io.Reader) message {
	var last message
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var m message
		if json.Unmarshal(sc.Bytes(), &m) != nil {
			continue
		}
		if m.Command != "" {
			last.Command = m.Command
		}
		if m.Cell != nil {
			last.Cell, last.Log = m.Cell, m.Log
		}
	}
	io.Copy(io.Discard, r)
	return last
}

// tail is the end of a text, on one line.
func tail(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = "… " + s[len(s)-300:]
	}
	return s
}

// scriptEnv is the environment of a script's processes: nothing of the
// caller's but PATH and what Go programs under test need.
// TMUX_TMPDIR is also what [sweep] knows the processes by.
func scriptEnv(dir string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(dir, "home"),
		"TMPDIR=" + filepath.Join(dir, "tmp"),
		"TMUX_TMPDIR=" + dir,
		"SHELL=/bin/sh", "ENV=", "PS1=$ ",
		"TERM=screen", "LANG=C.UTF-8",
	}
	for _, name := range []string{"GOCOVERDIR", "GORACE"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}
