package cmd

import (
	"bytes"
	"strings"
	"testing"
)

// TestMisspelt: a misspelt command, flag or name is refused with exit status 2, and the error asks
// which was meant.
func TestMisspelt(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for line, want := range map[string]string{
		"tmux-mcp stup":                    `unknown command "stup" for tmux-mcp; did you mean setup?`,
		"tmux-mcp agents tst":              `unknown command "tst" for tmux-mcp agents; did you mean test?`,
		"tmux-mcp agents show cladue":      `there are no rules for "cladue"; did you mean claude?`,
		"tmux-mcp --saftey readonly":       "unknown flag: --saftey; did you mean --safety?",
		"tmux-mcp watch --exce true":       "unknown flag: --exce; did you mean --exec?",
		"tmux-mcp setup --clinet x":        "unknown flag: --clinet; did you mean --client?",
		"tmux-mcp setup --client claud":    `unknown client "claud"; did you mean claude or claude-desktop?`,
		"tmux-mcp call list_pane":          `there is no tool "list_pane"; did you mean list_panes or pipe_pane?`,
		"tmux-mcp completion bsh":          "want one of bash, fish, powershell, zsh; did you mean bash or zsh?",
		"tmux-mcp watch %1":                `unexpected argument "%1": tmux-mcp watch takes none`,
		"mcp-swap revrt":                   `unknown command "revrt" for mcp-swap; did you mean revert?`,
		"mcp-swap verify --sever x":        "unknown flag: --sever; did you mean --server",
		"mcp-swap status --cli claud":      `unknown client "claud"; did you mean claude or claude-desktop?`,
		"mcp-swap completion fsh":          "; did you mean fish",
		"mcp-swap verify --name tmux":      "unknown flag: --name; did you mean --server?",
		"mcp-swap verify --client x":       "unknown flag: --client; did you mean --cli?",
		"mcp-conform --gap 4":              "unknown flag: --gap; did you mean --run?",
		"mcp-swap detect --name tmux":      "unknown flag: --name\n",
		"mcp-swap uninstall":               `unknown command "uninstall" for mcp-swap; use mcp-swap revert` + "\n",
		"tmux-mcp setup --server x":        "unknown flag: --server; did you mean --name?",
		"tmux-mcp setup --cli x":           "unknown flag: --cli; did you mean --client?",
		"tmux-mcp verify":                  `unknown command "verify" for tmux-mcp; use mcp-swap verify --server tmux` + "\n",
		"tmux-mcp uninstall":               `unknown command "uninstall" for tmux-mcp; use tmux-mcp setup --uninstall` + "\n",
		"tmux-mcp status":                  `unknown command "status" for tmux-mcp; use mcp-swap status --server tmux` + "\n",
		"mcp-conform --lyer tmux":          "unknown flag: --lyer; did you mean --layer?",
		"mcp-conform lst":                  `unknown command "lst" for mcp-conform; did you mean list`,
		"mcp-conform run --formt json":     "unknown flag: --formt; did you mean --format?",
		"mcp-conform api chekc":            `unknown command "chekc" for mcp-conform api; did you mean check?`,
		"mcp-conform dialect int":          `unknown command "int" for mcp-conform dialect; did you mean init?`,
		"mcp-conform explain run-shel":     "explain run-shel: no such script; did you mean 12-run-shell or 402-run-shell? (see",
		"mcp-conform completion zhs":       "; did you mean zsh",
		"mcp-conform --format jsn":         "want text, json, junit,",
		"mcp-conform --suite gap":          "want 670, releases,",
		"mcp-conform --layer tmx":          "want tmux, api or mcp",
		"mcp-conform init gihub":           "want github or gitlab",
		"mcp-conform --zzzzzzzzzzzzzz":     "unknown flag: --zzzzzzzzzzzzzz\n",
		"mcp-swap zzzzzzzzzzzzzzzz":        `unknown command "zzzzzzzzzzzzzzzz" for mcp-swap` + "\n",
		"tmux-mcp tools --toolsets cor":    "want any of core, sessions,",
		"mcp-swap use-local --mode bild":   "is not one of dev, build,",
		"mcp-conform reproduce 7 --bnary":  "unknown flag: --bnary",
		"mcp-conform verdict --exti-code ": "unknown flag: --exti-code",
	} {
		words := strings.Fields(line)
		var out, errs bytes.Buffer
		code := programs[words[0]](words[1:], strings.NewReader(""), &out, &errs)
		if got := errs.String(); !strings.Contains(got, want) || strings.Contains(got, "?;") {
			t.Errorf("%s: printed %q, want %s", line, got, want)
		}
		if code != 2 && !strings.Contains(line, "verdict") {
			t.Errorf("%s: exit status %d", line, code)
		}
	}
}
