//go:build unix

package swap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/machine"
)

// The tests of this file make every step of a swap and of a revert fail, and
// kill the process at every step. The steps are counted by a run in which
// nothing fails, so a new step is tested as soon as there is one.

// faultConfigs are the configs of a home: of each format one, an empty one, one
// behind a link, and Claude's, which has a lock.
var faultConfigs = map[string]string{
	".claude.json":                    "{\n  \"numStartups\": 3,\n  \"projects\": {\n    \"/other\": {\n      \"mcpServers\": {}\n    }\n  }\n}",
	".codex/config.toml":              "model = \"o3\" # why\n\n[mcp_servers.srv]\ncommand = \"uvx\" # c\n[notice]\nhide = true\n",
	"dot/cursor.json":                 "{\r\n  \"mcpServers\": {\"srv\": {\"command\": \"old\", \"envFile\": \".env\"}}\r\n}\r\n",
	".config/opencode/opencode.jsonc": "",
}

// faultMissing is a config that a swap creates, with two directories.
const faultMissing = ".codeium/windsurf/mcp_config.json"

var faultClients = []string{"claude", "codex", "cursor", "opencode", "windsurf"}

type scenario struct {
	name   string
	before func(*testing.T, *Swapper, string) // done with a disk that works
	run    func(context.Context, *Swapper, string) ([]Result, error)
}

var scenarios = []scenario{
	{"swap", nil, swapAll("")},
	{"swap again", steps(swapAll("")), swapAll("A")},
	{"swap another server", steps(swapAll("")), func(ctx context.Context, s *Swapper, home string) ([]Result, error) {
		return s.UseLocal(ctx, UseOptions{Repo: filepath.Join(home, "repo"), Server: "two", Clients: faultClients, NoPreflight: true})
	}},
	{"revert", steps(swapAll("")), revertAll},
	{"revert twice swapped", steps(swapAll(""), swapAll("A")), revertAll},
	{"revert after a save", func(t *testing.T, s *Swapper, home string) {
		steps(swapAll(""))(t, s, home)
		for _, f := range []string{".claude.json", "dot/cursor.json"} {
			edit(t, filepath.Join(home, f), "{", "{ \"later\": 1,")
		}
		edit(t, filepath.Join(home, ".codex/config.toml"), "o3", "o4")
	}, revertAll},
}

func swapAll(env string) func(context.Context, *Swapper, string) ([]Result, error) {
	return func(ctx context.Context, s *Swapper, home string) ([]Result, error) {
		o := UseOptions{Repo: filepath.Join(home, "repo"), Clients: faultClients, NoPreflight: true}
		if env != "" {
			o.Env = []clients.EnvVar{{Name: env, Value: "1"}}
		}
		return s.UseLocal(ctx, o)
	}
}

func revertAll(ctx context.Context, s *Swapper, home string) ([]Result, error) {
	return s.Revert(ctx, RevertOptions{})
}

func steps(runs ...func(context.Context, *Swapper, string) ([]Result, error)) func(*testing.T, *Swapper, string) {
	return func(t *testing.T, s *Swapper, home string) {
		t.Helper()
		for _, run := range runs {
			if results, err := run(t.Context(), s, home); err != nil || AnyFailed(results) {
				t.Fatalf("prepare: %v %+v", err, results)
			}
		}
	}
}

func edit(t *testing.T, path, old, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s has no %q: %s", path, old, b)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte(old), []byte(text), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// faultHome makes a home with the configs and a checkout.
func faultHome(t *testing.T) string {
	t.Helper()
	// These tests sync thousands of times; in memory that is free.
	dir, err := os.MkdirTemp("/dev/shm", "swap")
	if err != nil {
		dir, err = os.MkdirTemp("", "swap")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	home, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"repo/pyproject.toml": "[project]\nname = \"srv-mcp\"\n[project.scripts]\nsrv-mcp = \"srv:main\"\n"}
	for name, text := range faultConfigs {
		files[name] = text
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(home, ".cursor"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dot/cursor.json", filepath.Join(home, ".cursor/mcp.json")); err != nil {
		t.Fatal(err)
	}
	dressUp(t, home)
	return home
}

// What a home's files have besides their bytes, and who may open them, where a
// test of this system can give it and look.
var (
	dressUp     = func(*testing.T, string) {}
	checkAccess = func(*testing.T, string) {}
	checkMeta   = func(*testing.T, string) {}
)

func swapperAt(home string, hook func(atomicfile.Step) error) *Swapper {
	sys := machine.System{GOOS: runtime.GOOS, Home: home, Getenv: func(string) string { return "" }}
	s := New(sys, nil)
	s.Disk.Before = hook
	s.Journal.Disk.Before = hook
	return s
}

func readConfigs(t *testing.T, home string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name := range faultConfigs {
		b, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatalf("a config has gone: %v", err)
		}
		out[name] = strings.ReplaceAll(string(b), home, "@HOME@")
	}
	switch b, err := os.ReadFile(filepath.Join(home, faultMissing)); {
	case err == nil:
		out[faultMissing] = strings.ReplaceAll(string(b), home, "@HOME@")
	case errors.Is(err, fs.ErrNotExist):
		out[faultMissing] = "(none)"
	default:
		t.Fatal(err)
	}
	if link, err := os.Readlink(filepath.Join(home, ".cursor/mcp.json")); err != nil || link != "../dot/cursor.json" {
		t.Fatalf("the link of cursor's config is now %q, %v", link, err)
	}
	return out
}

// survey runs a scenario with nothing failing: the states that each config may
// be in at any time, and the steps.
type surveyed struct {
	old, new, end map[string]string // before the run, after it, and after a revert of all
	steps         []atomicfile.Step
}

func survey(t *testing.T, sc scenario) surveyed {
	t.Helper()
	home := faultHome(t)
	if sc.before != nil {
		sc.before(t, swapperAt(home, nil), home)
	}
	var sv surveyed
	sv.old = readConfigs(t, home)
	results, err := sc.run(t.Context(), swapperAt(home, func(st atomicfile.Step) error {
		st.Data, st.File = nil, nil
		sv.steps = append(sv.steps, st)
		return nil
	}), home)
	if err != nil || AnyFailed(results) {
		t.Fatalf("with nothing failing: %v %+v", err, results)
	}
	sv.new = readConfigs(t, home)
	if strings.HasPrefix(sc.name, "swap") {
		steps(revertAll)(t, swapperAt(home, nil), home)
	}
	sv.end = readConfigs(t, home)
	if len(sv.steps) < 10 {
		t.Fatalf("only %d steps seen: %v", len(sv.steps), sv.steps)
	}
	return sv
}

// checkAfter holds after any fault: configs are whole, and a revert on a disk
// that works again brings all of them back and leaves nothing but what doctor
// reports. broken: the fault kept things from being removed.
func (sv surveyed) checkAfter(t *testing.T, home string, killed, broken bool) {
	t.Helper()
	for name, text := range readConfigs(t, home) {
		if text != sv.old[name] && text != sv.new[name] {
			t.Errorf("%s is neither old nor new: %q", name, text)
		}
	}
	checkAccess(t, home)
	if killed || broken {
		// Claude's lock cannot be distinguished from one that Claude holds; it is taken
		// over when it is old.
		_ = os.Chtimes(filepath.Join(home, ".claude.json.lock"), time.Time{}, time.Now().Add(-2*staleLock))
	}
	s := swapperAt(home, nil)
	st, err := s.Journal.Load()
	if err != nil {
		t.Fatalf("the state cannot be read: %v", err)
	}
	d, err := s.Doctor(DoctorOptions{Repo: filepath.Join(home, "repo")})
	if err != nil {
		t.Fatal(err)
	}
	if recorded := len(st.Records) > 0; recorded {
		if len(d.Findings) == 0 {
			t.Errorf("swaps are recorded, and doctor finds nothing")
		}
		if results, err := s.Revert(t.Context(), RevertOptions{}); err != nil || AnyFailed(results) {
			t.Fatalf("revert: %v %+v", err, results)
		}
	}
	for name, text := range readConfigs(t, home) {
		if text != sv.end[name] {
			t.Errorf("%s after revert: %q, want %q", name, text, sv.end[name])
		}
	}
	// A killed run may have left a backup in it, which is checked below.
	for dir := filepath.Dir(faultMissing); dir != "."; dir = filepath.Dir(dir) {
		if names, err := os.ReadDir(filepath.Join(home, dir)); err == nil && len(names) == 0 {
			t.Errorf("%s was made, and is still there with nothing in it", dir)
		}
	}
	checkAccess(t, home)
	checkMeta(t, home)
	// Backups without a record come only from a killed run; doctor reports them.
	reported := map[string]bool{}
	for _, f := range d.Findings {
		reported[f.Path] = true
	}
	_ = filepath.WalkDir(home, func(path string, e os.DirEntry, err error) error {
		name := filepath.Base(path)
		stray := strings.Contains(name, backupMark) || strings.Contains(name, "mcp-swap-tmp") || name == "state.json" || strings.HasSuffix(name, ".lock")
		switch {
		case !stray, reported[path] && (killed || broken || strings.Contains(name, "mcp-swap-tmp")):
		case name == ".claude.json.lock" && (killed || broken):
		default:
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

func TestEveryStepFails(t *testing.T) {
	for _, sc := range scenarios {
		sv := survey(t, sc)
		for n, st := range sv.steps {
			faults := []error{syscall.ENOSPC, syscall.EACCES, syscall.EIO}
			if st.Op == atomicfile.OpWrite {
				faults = append(faults, io.ErrShortWrite)
			}
			for k, fault := range faults {
				if !testtool.Full && k != n%len(faults) {
					continue // the kinds of error take turns
				}
				for _, forever := range []bool{false, true} {
					if !testtool.Full && forever != (n%2 == 0) {
						continue
					}
					if forever && k != n%len(faults) {
						continue // the kind of error makes no difference then
					}
					t.Run(fmt.Sprintf("%s/%d-%s/%v/%v", sc.name, n, st.Op, fault, forever), func(t *testing.T) {
						t.Parallel()
						home := faultHome(t)
						if sc.before != nil {
							sc.before(t, swapperAt(home, nil), home)
						}
						at, failed := 0, false
						results, err := sc.run(t.Context(), swapperAt(home, func(st atomicfile.Step) error {
							at++
							if at-1 < n || at-1 > n && !forever {
								return nil
							}
							failed = true
							if fault == io.ErrShortWrite && st.File != nil {
								_, _ = st.File.Write(st.Data[:len(st.Data)/2])
							}
							return fault
						}), home)
						if !failed {
							t.Fatalf("step %d was not reached", n)
						}
						now := readConfigs(t, home)
						if err == nil && !AnyFailed(results) {
							for name := range now {
								if now[name] != sv.new[name] {
									t.Errorf("%s was not written, and no error says so: %q", name, now[name])
								}
							}
						}
						if errors.Is(err, context.Canceled) {
							t.Errorf("unexpected error %v", err)
						}
						sv.checkAfter(t, home, false, forever || strings.HasSuffix(st.Path, ".lock"))
					})
				}
			}
		}
	}
}

// killAt makes the re-executed test to run a scenario and to kill itself.
const killAt = "SWAP_TEST_KILL"

func TestKilledAtEveryStep(t *testing.T) {
	if how := os.Getenv(killAt); how != "" {
		killSelf(how)
		return
	}
	for i, sc := range scenarios {
		sv := survey(t, sc)
		for n, st := range sv.steps {
			ways := []string{"before"}
			if st.Op == atomicfile.OpWrite {
				ways = append(ways, "half")
			}
			for j, way := range ways {
				if !testtool.Full && (i+n+j)%3 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d-%s/%s", sc.name, n, st.Op, way), func(t *testing.T) {
					t.Parallel()
					home := faultHome(t)
					if sc.before != nil {
						sc.before(t, swapperAt(home, nil), home)
					}
					cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtEveryStep$")
					cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s %s", killAt, i, n, way, home))
					out, err := cmd.CombinedOutput()
					var exit *exec.ExitError
					if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
						t.Fatalf("the child was not killed: %v\n%s", err, out)
					}
					sv.checkAfter(t, home, true, true)
				})
			}
		}
	}
}

func killSelf(how string) {
	f := strings.SplitN(how, " ", 4)
	i, _ := strconv.Atoi(f[0])
	n, _ := strconv.Atoi(f[1])
	at := 0
	_, err := scenarios[i].run(context.Background(), swapperAt(f[3], func(st atomicfile.Step) error {
		if at++; at-1 == n {
			if f[2] == "half" {
				_, _ = st.File.Write(st.Data[:len(st.Data)/2])
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour) // the signal may take a moment
		}
		return nil
	}), f[3])
	fmt.Println("not killed:", err)
	os.Exit(3)
}
