// Picture runs commands in a pane of a real tmux, and writes what the pane shows, with
// its colours, as an SVG image. The programs of this module, as they are now, are on
// the PATH. The picture in README.md is of the tmux programs from Debian that
// mcp-conform tmux get fetches:
//
//	go run ./internal/picture -lines 20 'mcp-conform --tmux debian:bookworm --tmux debian:trixie --tmux debian:sid' >docs/mcp-conform.svg
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"tmuxmcp/tmux"
)

func main() {
	binary := flag.String("tmux", "tmux", "tmux `program` to run")
	lines := flag.Int("lines", 0, "show only the first `n` lines")
	timeout := flag.Duration("timeout", 2*time.Minute, "longest time for all commands")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	if err := picture(ctx, *binary, *lines, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func picture(ctx context.Context, binary string, most int, commands []string) error {
	dir, err := os.MkdirTemp("", "picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	build := exec.CommandContext(ctx, "go", "build", "-o", dir, "tmuxmcp/cmd/...")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w: %s", err, text)
	}
	lines, err := record(ctx, binary, dir, commands)
	if err != nil {
		return err
	}
	if most > 0 {
		lines = lines[:min(most, len(lines))]
	}
	_, err = fmt.Print(draw(lines, strings.Join(commands, "; ")))
	return err
}

const columns = 80

// session is a shell's script that shows and runs its arguments, and then a prompt.
const session = `for command; do printf '$ %s\n' "$command"; eval "$command"; done; printf '$ '; exec sleep 3600`

// record runs commands in a pane and returns its lines, with escape sequences. The
// directory has programs for them, and the socket of the tmux server.
func record(ctx context.Context, binary, dir string, commands []string) ([]string, error) {
	if len(commands) == 0 {
		return nil, errors.New("no commands to run")
	}
	srv, err := tmux.New(tmux.Config{
		Binary: binary, SocketPath: filepath.Join(dir, "socket"), ConfigFile: os.DevNull,
		Env: append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C.UTF-8"),
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = srv.Kill(context.WithoutCancel(ctx)) }()
	if _, err := srv.NewSession(ctx, tmux.NewSession{
		Width: columns, Command: append([]string{"sh", "-c", session, "sh"}, commands...),
	}); err != nil {
		return nil, err
	}
	panes, err := srv.Panes(ctx)
	if err != nil {
		return nil, err
	}
	for shown := []byte(nil); ; {
		text, err := panes[0].Capture(ctx, tmux.CapturePane{Start: tmux.LineEdge, Escapes: true})
		if err != nil {
			return nil, fmt.Errorf("%w; the pane showed:\n%s", err, shown)
		}
		lines := strings.Split(strings.TrimRight(string(text), " \n"), "\n")
		if last := len(lines) - 1; last > 0 && escape.ReplaceAllString(lines[last], "") == "$" {
			return lines[:last], nil
		}
		shown = text
		time.Sleep(50 * time.Millisecond)
	}
}
