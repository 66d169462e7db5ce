package script

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"tmuxmcp/conform/internal/child"
	"tmuxmcp/tmux"
)

// tokens starts a server of the target and asks it which names are tokens: the known ones, and
// every name in the program that the server runs.
func tokens(ctx context.Context, r child.Request) (child.Message, error) {
	run, err := prober(ctx, r)
	if err != nil {
		return child.Message{}, err
	}
	pid, err := run("set-buffer", "x", ";", "display-message", "-p", "#{pid}")
	if err != nil {
		return child.Message{}, err
	}
	m := child.Message{}
	if m.Known, err = tokensAmong(run, r.Names); err != nil {
		return m, err
	}
	program, err := os.Open("/proc/" + pid + "/exe")
	if err != nil {
		return m, nil // not on Linux, or not this server's
	}
	defer program.Close()
	text, err := io.ReadAll(io.LimitReader(program, maxProgram))
	if err != nil {
		return m, err
	}
	// An option's name expands to its value.
	options, err := run("show-options", "-s", ";", "show-options", "-g", ";", "show-options", "-gw")
	if err != nil {
		return m, err
	}
	known := map[string]bool{"command": true} // the command that expands the format sets it
	for _, t := range tmux.Tokens() {
		known[t.Name] = true
	}
	for line := range strings.Lines(options) {
		known[option.FindString(line)] = true
	}
	found, err := tokensAmong(run, namesIn(text, known))
	for name, is := range found {
		if is {
			m.Known[name] = true
		}
	}
	m.All = err == nil
	return m, err
}

const (
	// maxProgram bounds what is read of a program, and maxNames the names in it; tmux has 8 MB
	// with debugging symbols, and 12,000 names.
	maxProgram = 32 << 20
	maxNames   = 50_000
)

var (
	option = regexp.MustCompile(`^[a-z0-9-]*`)
	word   = regexp.MustCompile(`\b[a-z][a-z0-9_]{2,39}\x00`)
)

// namesIn returns the texts in a program that could name tokens. A linker stores "pid"
// only as the end of "client_pid".
func namesIn(program []byte, except map[string]bool) (names []string) {
	for _, w := range word.FindAll(program, -1) {
		for name := string(w[:len(w)-1]); name != "" && len(names) < maxNames; _, name, _ = strings.Cut(name, "_") {
			if !except[name] && word.MatchString(name+"\x00") {
				except[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// tokensAmong reports for each name whether a server knows it as a token. The server must be a
// throwaway one, with a session and a paste buffer: the names stay in its environment.
//
// An unknown token and a token without a value both expand to nothing, even with display-message
// -v. So it sets each name as an environment variable: tmux looks a name up among its tokens first,
// then in the environment, and stops at a token even if that has no value.
func tokensAmong(run func(args ...string) (string, error), names []string) (map[string]bool, error) {
	const mark = "not-a-token"
	known := make(map[string]bool, len(names))
	// tmux takes about 16 KB of arguments, and from 3.7 at most 1000 words.
	for part := range slices.Chunk(names, 100) {
		var set []string
		var format strings.Builder
		for _, name := range part {
			set = append(set, "set-environment", "-g", name, mark, ";")
			// Other values may contain anything.
			fmt.Fprintf(&format, "#{==:#{%s},%s}", name, mark)
		}
		out, err := run(append(set, "display-message", "-p", format.String())...)
		if err != nil {
			return nil, fmt.Errorf("ask for tokens: %w", err)
		}
		if len(out) != len(part) || strings.Trim(out, "01") != "" {
			return nil, fmt.Errorf("ask for tokens: want %d digits, 0 or 1, got %q", len(part), out)
		}
		for i, name := range part {
			known[name] = out[i] == '0'
		}
	}
	return known, nil
}
