package configs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tmuxmcp/internal/test/cases"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/commands"
	"tmuxmcp/swap/internal/machine"
)

func TestClassify(t *testing.T) {
	sys := machine.System{GOOS: runtime.GOOS, Home: "/h", Getenv: func(string) string { return "" }}
	repo, err := filepath.EvalSymlinks(t.TempDir())
	for name, text := range map[string]string{"package.json": "{}", "src/acme/__init__.py": "", "node_modules/.bin/other": "", "bin/run": "#!"} {
		name = filepath.Join(repo, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
	if err = errors.Join(err, os.Chmod(filepath.Join(repo, "bin", "run"), 0o755)); err != nil {
		t.Fatal(err)
	}
	place := strings.NewReplacer("REPO", repo, "BUILD", checkout.BuildName(repo))
	for _, line := range cases.Lines(t, "testdata/commands.txt") {
		command, want, _ := strings.Cut(line, " => ")
		if runtime.GOOS != "linux" && strings.Contains(command, "/h/.cache") {
			continue
		}
		value := map[string]any{}
		if dir, rest, ok := strings.Cut(command, "> "); ok {
			value["cwd"], command = place.Replace(dir), rest
		}
		if got := tagOf(sys, commands.Words(place.Replace(command), ""), value, repo).String(); got != place.Replace(want) {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
