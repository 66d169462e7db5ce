package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// The user's two prompts in TestAtWork, and what the stand-in for the model makes of them.
const (
	runTests = "Run the tests in the shell beside you. What fails?"
	ownPane  = "Thanks. Now type /compact for me."
)

func atWork(prompt string) Reply {
	if strings.Contains(prompt, ownPane) {
		return Reply{Calls: []Call{{Tool: "mcp__tmux__send_keys", Args: `{"pane_id": "%0", "keys": "/compact"}`}}, Text: "You have declined it."}
	}
	return Reply{
		Calls: []Call{{Tool: "mcp__tmux__run_command", Args: `{"pane_id": "%1", "command": "go test ./..."}`}},
		Text:  "TestTotal fails: two at 3 are 5, not 6. Total adds the count to the price where it has to multiply them.",
	}
}

// TestAtWork has a user at claude, in a pane, ask for the tests to be run in the pane beside
// it, and for something to be typed into its own, which the user is asked about. The picture
// in README.md is of what the user sees then:
//
//	PICTURE=docs/agent.svg .ci/clients --test
//
// draws it again.
func TestAtWork(t *testing.T) {
	picture := os.Getenv("PICTURE")
	all := modelClients(t)
	c := all[slices.IndexFunc(all, func(c modelClient) bool { return c.name == "claude" })]
	testtool.Path(t, "tmux")
	s := &stage{newHome(t, c.name), c}
	s.tmuxMCP()
	model, err := start(Script{Server: "tmux", Final: "Title", Reply: atWork}, c.api)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	s.writeProgram("server", "#!/bin/sh\n"+s.dir+"/tmux-mcp | tee "+s.dir+"/answered\n")
	fill := strings.NewReplacer("{URL}", model.URL, "{SERVER}", filepath.Join(s.dir, "server"), "{HOME}", s.dir)
	for name, text := range c.files {
		s.write(name, fill.Replace(text))
	}
	s.write(".claude/settings.json", `{"spinnerTipsEnabled": false}`)
	s.write("shop/go.mod", "module shop\n")
	s.write("shop/shop.go", "package shop\n\nfunc Total(count, price int) int { return count + price }\n")
	s.write("shop/shop_test.go", `package shop

import "testing"

func TestTotal(t *testing.T) {
	if got := Total(2, 3); got != 6 {
		t.Errorf("two at 3 are %d, want 6", got)
	}
}
`)
	run := "cd\n"
	for _, kv := range c.env {
		run += "export '" + fill.Replace(kv) + "'\n"
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.tmux("capture-pane", "-p", "-t", "%0"), s.tmux("capture-pane", "-p", "-t", "%1"))
		}
	})
	s.write("run", run+"exec "+strings.Join(append([]string{c.name}, c.typed...), " ")+"\n")

	// The user's terminal is a pane of another server.
	s.tmux("set", "-g", "default-terminal", "tmux-256color", ";", "set", "-g", "status-right", "", ";",
		"new-session", "-d", "-s", "shop", "-n", "shop", "-x", "112", "-y", "27", "sh "+s.dir+"/run", ";",
		"set", "automatic-rename", "off", ";",
		"split-window", "-d", "-h", "-l", "51", "-c", filepath.Join(s.dir, "shop"), "PS1='\\W $ ' exec bash --norc")
	terminal := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(s.dir, "terminal"), "-f", "/dev/null"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("tmux %q: %v", args, err)
		}
		return string(out)
	}
	terminal("set", "-g", "status", "off", ";", "new-session", "-d", "-x", "112", "-y", "27", "env", "-u", "TMUX", "tmux", "-S", s.socket(), "attach")
	terminal("set", "-g", "default-terminal", "tmux-256color")
	says := func(pane, what string) {
		t.Helper()
		testtool.Eventually(s, pane+" shows "+what, func() bool {
			return strings.Contains(strings.Join(strings.Fields(s.tmux("capture-pane", "-p", "-t", pane)), " "), what)
		})
	}
	types := func(prompt string) {
		t.Helper()
		terminal("send-keys", "-l", prompt)
		says("%0", prompt[:20])
		terminal("send-keys", "Enter")
	}

	says("%0", "❯")
	says("%1", "shop $")
	testtool.Eventually(s, "its server is there", func() bool { return strings.Contains(s.read("answered"), `"send_keys"`) })
	types(runTests)
	says("%1", "FAIL shop")
	says("%0", "Total adds")
	types(ownPane)
	says("%0", "in which this agent runs")

	if picture != "" {
		draw := exec.Command("go", "run", "./tools/docs", "draw", "claude runs the tests in the pane beside its own, and asks before it types into its own")
		draw.Dir, draw.Stdin, draw.Stderr = repo, strings.NewReader(terminal("capture-pane", "-p", "-e", "-N")), os.Stderr
		image, err := draw.Output()
		if err == nil {
			err = os.WriteFile(filepath.Join(repo, picture), image, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	terminal("send-keys", "Escape")
	says("%0", "You have declined")
	if strings.Contains(s.tmux("capture-pane", "-p", "-t", "%0"), "❯ /compact") {
		t.Error("it was typed")
	}
}
