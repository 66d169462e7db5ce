package cli

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testtool"
)

// The CI files are YAML, and give the command no flag that it does not have and no
// format that it cannot write.
func TestCIFiles(t *testing.T) {
	flag := regexp.MustCompile(`--([a-z-]+)(?: ([a-z]+))?`)
	for kind := range ciFiles {
		for name, o := range map[string]ciOptions{
			"plain": {},
			"all":   {suites: []string{"670", "releases"}, Server: `other-mcp -x "it's"`, Dialect: "mine.toml", Diff: true},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) { ciFileIsGood(t, flag, kind, o) })
		}
	}
}

func ciFileIsGood(t *testing.T, flag *regexp.Regexp, kind string, o ciOptions) {
	text, err := ciText(kind, o)
	if err != nil {
		t.Fatal(err)
	}
	_, command, ok := strings.Cut(string(text), " --repeat 2")
	if !ok {
		t.Fatal("it does not run mcp-conform")
	}
	command, _, _ = strings.Cut("--repeat 2"+strings.ReplaceAll(command, "$(brew --prefix)", ""), "mcp-conform.xml")
	flags := Command().Flags()
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
		testtool.Missing(t, "python3 with yaml, which reads the file, is not installed")
	}
	read := exec.Command("python3", "testdata/ci.py")
	read.Stdin = strings.NewReader(string(text))
	scripts, err := read.Output()
	if err != nil {
		t.Fatal(err)
	}
	// What the shells are given is shell.
	shell := exec.Command("bash", "-n")
	shell.Stdin = bytes.NewReader(scripts)
	if out, err := shell.CombinedOutput(); err != nil || !strings.Contains(string(scripts), "--format junit -o mcp-conform.xml\n") {
		t.Errorf("%v: %s\n%s", err, out, scripts)
	}
	if strings.Contains(string(scripts), " diff ") != o.Diff || strings.Contains(string(scripts), `'other-mcp -x "it'\''s"'`) != (o.Server != "") {
		t.Errorf("its scripts are\n%s", scripts)
	}
}
