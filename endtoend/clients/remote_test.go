package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testssh"
	"tmuxmcp/swap/ask"
)

// newRemote starts another machine, with tmux-mcp and a tmux server, that ssh in the home
// calls as the documentation does.
func (b *bench) newRemote() {
	b.Helper()
	h := testssh.New(b.T, filepath.Join(b.dir, "there"))
	program, err := builtServer()
	if err != nil {
		b.Fatal(err)
	}
	h.Install("tmux-mcp", program)
	h.Tmux()
	b.Setenv("PATH", h.Bin+":"+os.Getenv("PATH"))
}

// TestClientsOverSSH: the lines in docs/questions.md for tmux on another machine connect each client,
// and so does the one for all clients, which its second line undoes.
func TestClientsOverSSH(t *testing.T) {
	page, err := os.ReadFile(repo + "/docs/questions.md")
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) [][]string {
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(page), -1)
		if found == nil {
			t.Fatalf("docs/questions.md has no %s", pattern)
		}
		return found
	}
	swap := strings.Fields(find(`(?m)^    mcp-swap (use-local .*)$`)[0][1])
	revert := strings.Fields(find(`(?m)^    mcp-swap (revert .*)$`)[0][1])
	added := map[string][]string{}
	for _, line := range find(`(?m)^    (\w+) (mcp add .*tmux-devbox .*)$`) {
		added[line[1]] = strings.Fields(line[2])
	}
	for name := range added {
		if !slices.ContainsFunc(realClients(t), func(c realClient) bool { return c.name == name }) {
			t.Errorf("the line for %s is not tried", name)
		}
	}
	const server = "tmux-devbox"
	command := strings.TrimPrefix(find(`(?m)^    claude mcp add .* -- (.*)$`)[0][1], "-- ")
	for _, c := range realClients(t) {
		t.Run(c.name, func(t *testing.T) {
			args := added[c.name]
			if args == nil {
				t.Fatalf("docs/questions.md has no line for %s", c.name)
			}
			b := newBench(t, c)
			b.newRemote()
			state := ask.Connected
			if b.lists {
				state = ask.Configured
			}
			connected := func() {
				t.Helper()
				if a := b.ask(server, b.repo, state); a.Command != "" && a.Command != command {
					t.Errorf("it runs %s", a.Command)
				}
			}
			b.swap(0, swap...)
			connected()
			b.swap(0, revert...)
			b.ask(server, b.repo, ask.NotThere)
			if out, err := b.try(b.repo, args...); err != nil {
				t.Fatalf("%s: %v\n%s", args, err, out)
			}
			connected()
		})
	}
}
