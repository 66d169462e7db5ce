package conform

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// Some versions do not survive what a script is about. It asks them for the rest, and keeps
// away from the command, or from its other forms, on each layer.
func TestVersionsAreNotHarmed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		gap               int
		version, command  string
		allowed, everSent string // regular expressions for the command, or nothing at all
	}{
		{3, "3.7", "break-pane", ` -n `, ` -n `},
		{101, "3.7", "break-pane", ` -n `, ` -n `},
		{107, "3.2a", "paste-buffer", `^$`, ""},
		{107, "3.3a", "paste-buffer", `^$`, ""},
		{403, "3.6a", "attach-session", `^$`, ""},
		{110, "3.3a", "select-layout", ` ([0-9a-f]{4},80x2[34],0,0[^{]*\{.*|[a-z]+-[a-z]+)$`, ` [0-9a-f]{4},`},
	} {
		t.Run(tt.command+" on "+tt.version, func(t *testing.T) {
			t.Parallel()
			gaps, err := LoadSuites(AllSuites)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range gaps {
				if g.Number == tt.gap {
					gaps = []*Gap{g}
				}
			}
			dir := t.TempDir()
			program, log := filepath.Join(dir, "tmux"), filepath.Join(dir, "log")
			script := "#!/bin/sh\n" + unpack + "[ \"$1\" = -V ] && { echo 'tmux " + tt.version + "'; exit; }\n" +
				"printf '%s\\n' \"$*\" | sed 's/ ; /\\n/g' >>'" + log + "'\nexec '" + testserver.Binary(t) + "' \"$@\"\n"
			if err := testtool.WriteProgram(program, []byte(script)); err != nil {
				t.Fatal(err)
			}
			mustRun(t, Options{Targets: []report.Target{{Name: tt.version, Version: tt.version, Path: program}}, Gaps: gaps})
			raw, err := os.ReadFile(log)
			if err != nil && tt.everSent != "" {
				t.Fatal(err)
			}
			sent := false
			for line := range strings.Lines(string(raw)) {
				line = strings.TrimSuffix(line, "\n")
				if !strings.Contains(line, tt.command) {
					continue
				}
				sent = sent || regexp.MustCompile(tt.everSent).MatchString(line)
				if !regexp.MustCompile(tt.allowed).MatchString(line) {
					t.Errorf("tmux %s is sent %s", tt.version, line)
				}
			}
			if sent != (tt.everSent != "") {
				t.Errorf("%s was sent: %t\n%s", tt.command, sent, raw)
			}
		})
	}
}
