package cli

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The CI files are YAML, and give the command no flag that it does not have and no
// format that it cannot write.
func TestCIFiles(t *testing.T) {
	flag := regexp.MustCompile(`--([a-z-]+)(?: ([a-z]+))?`)
	for _, k := range ciKinds {
		t.Run(k.name, func(t *testing.T) {
			text, err := ciFiles.ReadFile("ci/" + k.name + ".yml")
			if err != nil {
				t.Fatal(err)
			}
			_, command, ok := strings.Cut(string(text), "go run ./cmd/mcp-conform")
			if !ok {
				t.Fatal("it does not run mcp-conform")
			}
			command, _, _ = strings.Cut(strings.ReplaceAll(command, "$(brew --prefix)", ""), "mcp-conform.xml")
			flags := newCommand().Flags()
			seen := 0
			for _, m := range flag.FindAllStringSubmatch(command, -1) {
				seen++
				f := flags.Lookup(m[1])
				if f == nil {
					t.Errorf("no flag --%s", m[1])
				} else if m[1] == "format" {
					if err := f.Value.Set(m[2]); err != nil {
						t.Errorf("--format %s: %v", m[2], err)
					}
				}
			}
			if seen < 10 {
				t.Errorf("found %d flags in: %s", seen, command)
			}

			if err := exec.Command("python3", "-c", "import yaml").Run(); err != nil {
				t.Skip("no python3 with yaml here to read the file")
			}
			read := exec.Command("python3", "-c", "import sys, yaml; d = yaml.safe_load(sys.stdin); print(sorted(map(str, d)))")
			read.Stdin = strings.NewReader(string(text))
			if out, err := read.CombinedOutput(); err != nil || !strings.Contains(string(out), "'jobs'") && !strings.Contains(string(out), "'mcp-conform'") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
