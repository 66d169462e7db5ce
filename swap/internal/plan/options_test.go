package plan

import (
	"runtime"
	"testing"
	"time"

	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/checkout"
	"tmuxmcp/swap/internal/machine"
)

// Options that contradict each other or are invalid, one pair at a time.
func TestCheckOptions(t *testing.T) {
	t.Parallel()
	sys := machine.System{GOOS: runtime.GOOS, Home: t.TempDir(), Getenv: func(string) string { return "" }}
	command := []string{"x"}
	const url = "http://127.0.0.1:1/mcp"
	const ofCheckout = " is for a checkout, and cannot be combined with a command or URL"
	empty := t.TempDir()
	for _, c := range []struct {
		name string
		o    Options
		want string // "" for none
	}{
		{"nothing", Options{}, ""},
		{"a scope that is none", Options{Scope: "all"}, `--scope "all" is neither user nor project`},
		{"a command", Options{Command: command, Server: "s"}, ""},
		{"a command with variables", Options{Command: command, Server: "s", Env: []clients.EnvVar{{Name: "A"}}, KeepEnv: true}, ""},
		{"a URL", Options{URL: url, Server: "s"}, ""},
		{"both", Options{Command: command, URL: url, Server: "s"}, "--url cannot be combined with a command"},
		{"a URL with variables", Options{URL: url, Server: "s", KeepEnv: true}, "--url is of a server that runs already, and cannot be combined with variables for it"},
		{"a URL of another scheme", Options{URL: "ftp://h/p", Server: "s"}, `--url "ftp://h/p" is not of the form http://HOST:PORT/PATH`},
		{"a URL without a host", Options{URL: "https:///p", Server: "s"}, `--url "https:///p" is not of the form http://HOST:PORT/PATH`},
		{"a command with an entry", Options{Command: command, Server: "s", Entry: "e"}, "--entry" + ofCheckout},
		{"a command with a mode", Options{Command: command, Server: "s", Mode: checkout.ModeDev}, "--mode" + ofCheckout},
		{"a URL with a version", Options{URL: url, Server: "s", Ref: "v1"}, "--ref" + ofCheckout},
		{"a URL with a pull request", Options{URL: url, Server: "s", PR: -1}, "--pr" + ofCheckout},
		{"a command without a name", Options{Command: command, Repo: empty}, "--server is required with a command or URL: no checkout names the server"},
		{"a limit of no preflight", Options{Timeout: time.Second, NoPreflight: true}, "--timeout is for the preflight, which --no-preflight switches off"},
		{"a limit", Options{Timeout: time.Second}, ""},
		{"no preflight", Options{NoPreflight: true}, ""},
		{"a negative pull request", Options{PR: -1}, "--pr -1 is not a positive number"},
		{"a pull request", Options{PR: 1}, ""},
		{"a pull request of the working tree", Options{PR: 1, Mode: checkout.ModeDev}, ""},
		{"a pull request with another mode", Options{PR: 1, Mode: checkout.ModeBuild}, "--pr cannot be combined with --mode or --ref"},
		{"a pull request with a version", Options{PR: 1, Ref: "v1"}, "--pr cannot be combined with --mode or --ref"},
		{"a mode that is none", Options{Mode: "fast"}, `--mode "fast" is not one of dev, build, installed, released`},
		{"a version of no release", Options{Ref: "v1", Mode: checkout.ModeBuild}, "--ref needs --mode released"},
		{"a version", Options{Ref: "v1", Mode: checkout.ModeReleased}, ""},
		{"a version that is a flag", Options{Ref: "-x", Mode: checkout.ModeReleased}, `--ref "-x" is not a version`},
		{"a version of two words", Options{Ref: "v1 v2", Mode: checkout.ModeReleased}, `--ref "v1 v2" is not a version`},
	} {
		got := ""
		if err := c.o.check(sys); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
