package tmux

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
)

// SourceFile runs the commands in files, which the tmux client reads.
type SourceFile struct {
	Target Target `flag:"t" since:"3.4"`
	// Expand expands formats in the paths.
	Expand bool `flag:"F"`
	// ParseOnly runs nothing.
	ParseOnly bool `flag:"n"`
	// Quiet ignores files that do not exist.
	Quiet bool `flag:"q"`
	// Verbose prints the commands.
	Verbose bool `flag:"v"`
	// Paths are the files. tmux would match them as shell patterns, so they are escaped.
	// "-" stands for Input.
	Paths []string `arg:"required,glob"`
	Input []byte   `flag:"-"`
}

// ShowMessages prints the message log.
type ShowMessages struct {
	// Target is a client.
	Target Target `flag:"t"`
	// Jobs prints the shell commands that tmux runs, Terminals its terminals.
	Jobs      bool `flag:"J"`
	Terminals bool `flag:"T"`
}

func (SourceFile) commandName() string   { return "source-file" }
func (ShowMessages) commandName() string { return "show-messages" }

func (c SourceFile) stdin() []byte {
	if slices.Contains(c.Paths, "-") {
		return append([]byte{}, c.Input...)
	}
	return nil
}

// Source runs commands in tmux's own language, as in a configuration file, and returns
// their output. After a syntax error none of them runs; if a command fails, the following
// lines still run, and the first error is returned. [Server.Script] writes such text. What
// tmux prints quoted for itself, such as StartCommand of a [Pane], can be a part of it.
func (s *Server) Source(ctx context.Context, script []byte) ([]byte, error) {
	outs, err := s.Do(ctx, SourceFile{Paths: []string{"-"}, Input: script})
	if len(outs) == 0 {
		return nil, err
	}
	// What is wrong with the script itself, tmux prints on standard output: "-:2: unknown command: x".
	var e *Error
	if errors.As(err, &e) && e.Stderr == "" && bytes.HasPrefix(outs[0], []byte("-:")) {
		e.Stderr = strings.TrimSpace(string(outs[0]))
	}
	return outs[0], err
}

// Messages returns the server's log of messages and commands, oldest first, as tmux prints
// it: each line begins with the time. The option message-limit bounds its length. Before
// tmux 3.6 it fails with [ErrNoClient] if no client is attached.
func (s *Server) Messages(ctx context.Context) ([]string, error) {
	out, err := s.output(ctx, ShowMessages{})
	if err != nil {
		return nil, err
	}
	lines := []string{}
	for line := range bytes.Lines(out) {
		lines = append(lines, string(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return lines, nil
}
