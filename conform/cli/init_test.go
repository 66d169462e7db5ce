package cli

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"tmuxmcp/conform/report"
	"tmuxmcp/internal/test/testtool"
)

// The CI files are YAML, and give the command no flag that it does not have and no
// format that it cannot write.
func TestCIFiles(t *testing.T) {
	flag := regexp.MustCompile(`--([a-z-]+)(?: ([a-z]+))?`)
	for kind := range ciFiles {
		for name, o := range map[string]ciOptions{
			"plain": {},
			"all":   {suites: []string{"670", "releases"}, APIs: []string{"go", "new=X=y python3 'a b.py'"}, Server: `other-mcp -x "it's"`, Dialect: "mine.toml", Diff: true},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) { ciFileIsGood(t, flag, kind, o) })
		}
	}
}

// fetchedRef returns what the scripts of a CI file fetch from a repository with tags, whose
// default branch is ahead of them.
func fetchedRef(t *testing.T, scripts string, env ...string) string {
	dir := t.TempDir()
	which := regexp.MustCompile(`(?ms)^(url=.*?"\$GITHUB_OUTPUT"|if ! \[ -e cmd/mcp-conform.*?^fi)$`).FindString(scripts)
	cmd := exec.Command("bash", "-ec", `
git init -q owner/name && cd owner/name
git config user.name x; git config user.email x
for tag in v1.9.0 v1.10.0 v1.10.0-rc1 nightly; do git commit -q --allow-empty -m $tag; git tag $tag; done
git commit -q --allow-empty -m head
cd ../..
`+which+`
if [ -e .mcp-conform ]; then git -C .mcp-conform log -1 --format=%s; else sed -n s/^ref=//p output; fi`)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GITHUB_OUTPUT=output", "GITHUB_SERVER_URL="+dir, "REPOSITORY=owner/name", "MCP_CONFORM_URL="+dir+"/owner/name", "HOME="+dir)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, which)
	}
	return strings.TrimSpace(string(out))
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
	if ref := fetchedRef(t, string(scripts)); ref != "v1.10.0" {
		t.Errorf("it takes %q of mcp-conform, and not the newest tag", ref)
	}
	if ref := fetchedRef(t, string(scripts), "REF=v1.9.0", "MCP_CONFORM_REF=v1.9.0"); ref != "v1.9.0" {
		t.Errorf("it takes %q of mcp-conform, and not what MCP_CONFORM_REF says", ref)
	}
	shell := exec.Command("bash", "-n")
	shell.Stdin = bytes.NewReader(scripts)
	if out, err := shell.CombinedOutput(); err != nil || !strings.Contains(string(scripts), "--format junit -o mcp-conform.xml\n") {
		t.Errorf("%v: %s\n%s", err, out, scripts)
	}
	if strings.Contains(string(scripts), " diff ") != o.Diff || strings.Contains(string(scripts), `'other-mcp -x "it'\''s"'`) != (o.Server != "") {
		t.Errorf("its scripts are\n%s", scripts)
	}
	if api := `--api go --api ` + report.CommandLine([]string{"new=X=y python3 'a b.py'"}); strings.Contains(string(scripts), api) != (o.APIs != nil) {
		t.Errorf("its scripts have no %s:\n%s", api, scripts)
	}
}
