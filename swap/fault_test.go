//go:build unix

package swap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/atomicfile"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/swap/clients"
	"tmuxmcp/swap/internal/commit"
	"tmuxmcp/swap/internal/machine"
)

// The tests in this file make every step of a swap and of a revert fail, and kill the
// process at every step. The steps are counted by a run in which nothing fails, so a new
// step is tested as soon as it exists.

// faultConfigs are the configs of a home: one of each format, an empty one, one behind a
// link, Claude's, which has a lock, and a project file.
var faultConfigs = map[string]string{
	".claude.json":                    "{\n  \"numStartups\": 3,\n  \"projects\": {\n    \"/other\": {\n      \"mcpServers\": {}\n    }\n  }\n}",
	".codex/config.toml":              "model = \"o3\" # why\n\n[mcp_servers.srv]\ncommand = \"uvx\" # c\n[notice]\nhide = true\n",
	"dot/cursor.json":                 "{\r\n  \"mcpServers\": {\"srv\": {\"command\": \"old\", \"envFile\": \".env\"}}\r\n}\r\n",
	".config/opencode/opencode.jsonc": "",
	"repo/.codex/config.toml":         "[mcp_servers]\n",
	".config/goose/config.yaml":       "GOOSE_MODEL: o3 # why\nextensions:\n  srv: # s\n    cmd: uvx # c\n  b: &b {}\n",
}

// faultMissing is a config that a swap creates, with two directories.
const faultMissing = ".gemini/config/mcp_config.json"

var faultClients = []string{"claude", "codex", "cursor", "opencode", "agy", "goose"}

// A step is what is done to the configs of a home.
type step func(context.Context, *Swapper, string) ([]Result, error)

// A scenario is a step, and the steps before it, on a working disk.
type scenario struct {
	name   string
	before []step
	run    step
}

var scenarios = []scenario{
	{"swap", nil, swapAll("srv", "")},
	{"swap again", []step{swapAll("srv", "")}, swapAll("srv", "A")},
	{"swap another server", []step{swapAll("srv", "")}, swapAll("two", "")},
	{"revert", []step{swapAll("srv", "")}, revertAll},
	{"swap in the project", []step{swapAll("srv", "")}, swapProject("srv")},
	{"revert in the project", []step{swapProject("srv"), swapAll("srv", "")}, revertAll},
	{"revert twice swapped", []step{swapAll("srv", ""), swapAll("srv", "A")}, revertAll},
	{"revert after a save", []step{swapAll("srv", ""), save}, revertAll},
	{"revert what came back", []step{swapAll("srv", ""), revertAndBack}, revertAll},
	{"swap what came back", []step{swapAll("srv", ""), revertAndBack}, swapAll("srv", "A")},
}

func (sc scenario) prepare(t *testing.T, s *Swapper, home string) {
	t.Helper()
	for _, before := range sc.before {
		done(t)(before(t.Context(), s, home))
	}
}

// swapAll swaps a server in all configs, with a variable of this name if that is not empty.
func swapAll(server, env string) step {
	return func(ctx context.Context, s *Swapper, home string) ([]Result, error) {
		o := UseOptions{Repo: filepath.Join(home, "repo"), Server: server, Clients: faultClients, NoPreflight: true}
		if env != "" {
			o.Env = []clients.EnvVar{{Name: env, Value: "1"}}
		}
		return s.UseLocal(ctx, o)
	}
}

// swapProject swaps a server in the project file.
func swapProject(server string) step {
	return func(ctx context.Context, s *Swapper, home string) ([]Result, error) {
		return s.UseLocal(ctx, UseOptions{
			Repo: filepath.Join(home, "repo"), Server: server, Clients: []string{"codex"}, Scope: clients.ScopeProject, NoPreflight: true,
		})
	}
}

func revertAll(ctx context.Context, s *Swapper, _ string) ([]Result, error) {
	return s.Revert(ctx, RevertOptions{})
}

// revertAndBack reverts, and then saves the configs as clients do that have kept in memory
// what they had read.
func revertAndBack(ctx context.Context, s *Swapper, home string) ([]Result, error) {
	memory := map[string][]byte{faultMissing: nil}
	for name := range faultConfigs {
		memory[name] = nil
	}
	for name := range memory {
		var err error
		if memory[name], err = os.ReadFile(filepath.Join(home, name)); err != nil {
			return nil, err
		}
	}
	results, err := revertAll(ctx, s, home)
	for name, text := range memory {
		path := filepath.Join(home, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600))
	}
	return results, err
}

// save does what clients do to their configs meanwhile.
func save(_ context.Context, _ *Swapper, home string) ([]Result, error) {
	for name, c := range map[string][2]string{
		".claude.json":       {"{", "{ \"later\": 1,"},
		"dot/cursor.json":    {"{", "{ \"later\": 1,"},
		".codex/config.toml": {"o3", "o4"},

		".config/goose/config.yaml": {"o3", "o4"},
	} {
		path := filepath.Join(home, name)
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, bytes.Replace(b, []byte(c[0]), []byte(c[1]), 1), 0o600); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// faultHome creates a home with the configs and a checkout.
func faultHome(t *testing.T) string {
	t.Helper()
	home := tempDir(t, faultConfigs)
	project := strings.ReplaceAll(pyproject, "srv", "srv-mcp") // of several scripts, this is the server
	writeFiles(t, home, map[string]string{
		"repo/pyproject.toml": project, ".cursor/mcp.json": "-> ../dot/cursor.json",
		// Codex's is in a work tree of git.
		".codex/.git/HEAD": "", ".codex/.git/objects/x": "", ".codex/.git/refs/x": "",
	})
	dressUp(t, home)
	return home
}

// Metadata of a home's files, and who may open them, in a test on a system where these can
// be set and checked. Once everything is reverted, the files have everything they had.
var (
	dressUp    = func(_ *testing.T, home string) {}
	checkDress = func(_ *testing.T, home string, reverted bool) {}
)

func readConfigs(t *testing.T, home string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name := range faultConfigs {
		out[name] = strings.ReplaceAll(readFile(t, filepath.Join(home, name)), home, "@HOME@")
	}
	out[faultMissing] = "(none)"
	if path := filepath.Join(home, faultMissing); !machine.Missing(path) {
		out[faultMissing] = strings.ReplaceAll(readFile(t, path), home, "@HOME@")
	}
	if link, err := os.Readlink(filepath.Join(home, ".cursor/mcp.json")); err != nil || link != "../dot/cursor.json" {
		t.Fatalf("the link of cursor's config is now %q, %v", link, err)
	}
	return out
}

// surveyed contains the steps of a scenario in which nothing fails, and the states that
// each config may have at any time: before the run, after it, and after a revert of
// everything.
type surveyed struct {
	old, new, end map[string]string
	steps         []atomicfile.Step
}

func (sc scenario) survey(t *testing.T) surveyed {
	t.Helper()
	home := faultHome(t)
	s := swapperAt(home, nil)
	sc.prepare(t, s, home)
	var sv surveyed
	sv.old = readConfigs(t, home)
	done(t)(sc.run(t.Context(), swapperAt(home, func(st atomicfile.Step) error {
		st.Data, st.File = nil, nil
		sv.steps = append(sv.steps, st)
		return nil
	}), home))
	sv.new = readConfigs(t, home)
	done(t)(revertAll(t.Context(), s, home))
	sv.end = readConfigs(t, home)
	if len(sv.steps) < 10 {
		t.Fatalf("only %d steps seen: %v", len(sv.steps), sv.steps)
	}
	return sv
}

// checkAfter checks what must be true after any fault: configs are complete, and a revert
// on a working disk restores all of them and leaves nothing except what doctor reports.
// broken: the fault kept things from being removed, as a kill does.
func (sv surveyed) checkAfter(t *testing.T, home string, broken bool) {
	t.Helper()
	for name, text := range readConfigs(t, home) {
		if text != sv.old[name] && text != sv.new[name] {
			t.Errorf("%s is neither old nor new: %q", name, text)
		}
	}
	checkDress(t, home, false)
	if broken {
		// Claude's lock cannot be distinguished from one that Claude holds; it is taken
		// over when it is old.
		_ = os.Chtimes(filepath.Join(home, ".claude.json.lock"), time.Time{}, time.Now().Add(-time.Minute))
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
	st.Revive(commit.Back(s.Env, st))
	if recorded := len(st.Records) > 0; recorded {
		if len(d.Findings) == 0 {
			t.Errorf("swaps are recorded, and doctor finds nothing")
		}
		done(t)(revertAll(t.Context(), s, home))
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
	checkDress(t, home, true)
	// Backups without a record come only from a killed run; doctor reports them, and the
	// next run removes those that equal their config.
	reported := map[string]bool{}
	spare := map[string]bool{}
	for _, f := range d.Findings {
		reported[f.Path] = true
		spare[f.Path] = f.Kind == FoundSpareBackup
	}
	if again, err := revertAll(t.Context(), s, home); len(again) > 0 || err != nil {
		t.Errorf("there is something to revert twice: %+v, %v", again, err)
	}
	_ = filepath.WalkDir(home, func(path string, e os.DirEntry, err error) error {
		name := filepath.Base(path)
		temp := strings.Contains(name, "mcp-swap-tmp")
		stray := temp || strings.Contains(name, ofBackup) || strings.HasSuffix(name, ".lock")
		if spare[path] {
			t.Errorf("%s is still there", path)
		}
		if stray && !(reported[path] && (broken || temp)) && !(broken && name == ".claude.json.lock") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

func TestEveryStepFails(t *testing.T) {
	seen := map[string]bool{}
	for i, sc := range scenarios {
		sv := sc.survey(t)
		for n, st := range sv.steps {
			what := string(st.Op) + " " + fileKind(st.Path)
			again := seen[what] // in another place, or in an earlier scenario
			seen[what] = true
			turn := (i + n) / 3
			faults := []error{syscall.ENOSPC, syscall.EACCES, syscall.EIO}
			chosen := faults[turn%len(faults)]
			if st.Op == atomicfile.OpWrite {
				chosen = io.ErrShortWrite
				faults = append(faults, chosen)
			}
			for _, fault := range faults {
				for _, forever := range []bool{false, true} {
					if forever && fault != chosen {
						continue // the kind of error makes no difference then
					}
					if !testtool.Full && (again && (i+n)%60 != 0 || fault != chosen || forever != (turn%2 == 0)) {
						continue // some steps, and every new one; the kinds of error take turns
					}
					t.Run(fmt.Sprintf("%s/%d-%s/%v/%v", sc.name, n, st.Op, fault, forever), func(t *testing.T) {
						t.Parallel()
						sv.fail(t, sc, n, fault, forever)
					})
				}
			}
		}
	}
}

var (
	number    = regexp.MustCompile(`\d+`)
	temporary = regexp.MustCompile(`\.mcp-swap-tmp.*`)
	backup    = regexp.MustCompile(`-?[0-9a-f]*\.bak\..*`)
)

// fileKind returns which kind of file a path is, whatever its home: a temporary file of the state,
// of a backup or of a config, a backup of one config or any in the state directory, or a file
// itself.
func fileKind(path string) string {
	if at := temporary.FindStringIndex(path); at != nil {
		of := "config"
		if backup.MatchString(path) {
			of = "backup"
		} else if strings.Contains(path, "state.json") {
			of = "state"
		}
		return of + number.ReplaceAllString(path[at[0]:], "")
	}
	return number.ReplaceAllString(backup.ReplaceAllString(path, ".bak"), "")
}

// fail runs a scenario in which step n fails, and all later ones too if forever is set.
func (sv surveyed) fail(t *testing.T, sc scenario, n int, fault error, forever bool) {
	home := faultHome(t)
	sc.prepare(t, swapperAt(home, nil), home)
	at, failed, warned := 0, false, false
	s := swapperAt(home, func(st atomicfile.Step) error {
		at++
		if at-1 < n || at-1 > n && !forever {
			return nil
		}
		failed = true
		if fault == io.ErrShortWrite && st.File != nil {
			_, _ = st.File.Write(st.Data[:len(st.Data)/2])
		}
		return fault
	})
	s.Warn = func(text string) { warned = warned || strings.Contains(text, "cannot see whether") }
	results, err := sc.run(t.Context(), s, home)
	if !failed {
		t.Fatalf("step %d was not reached", n)
	}
	if err == nil && !AnyFailed(results) && !warned {
		for name, text := range readConfigs(t, home) {
			if text != sv.new[name] {
				t.Errorf("%s was not written, and no error says so: %q", name, text)
			}
		}
	}
	if errors.Is(err, context.Canceled) {
		t.Errorf("unexpected error %v", err)
	}
	sv.checkAfter(t, home, forever || strings.HasSuffix(sv.steps[n].Path, ".lock"))
}

// killAt makes the re-executed test run a scenario and kill itself.
const killAt = "SWAP_TEST_KILL"

func TestKilledAtEveryStep(t *testing.T) {
	if how := os.Getenv(killAt); how != "" {
		killSelf(how)
		return
	}
	seen := map[string]bool{}
	for i, sc := range scenarios {
		sv := sc.survey(t)
		for n, st := range sv.steps {
			ways := []string{"before"}
			if st.Op == atomicfile.OpWrite {
				ways = append(ways, "half")
			}
			for j, way := range ways {
				what := string(st.Op) + way
				if (i+n+j)%testtool.Size(30, 1) != 0 && seen[what] {
					continue // some steps, and every new one
				}
				seen[what] = true
				t.Run(fmt.Sprintf("%s/%d-%s/%s", sc.name, n, st.Op, way), func(t *testing.T) {
					t.Parallel()
					home := faultHome(t)
					sc.prepare(t, swapperAt(home, nil), home)
					cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtEveryStep$")
					cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s %s", killAt, i, n, way, home))
					out, err := cmd.CombinedOutput()
					var exit *exec.ExitError
					if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
						t.Fatalf("the child was not killed: %v\n%s", err, out)
					}
					sv.checkAfter(t, home, true)
				})
			}
		}
	}
}

func killSelf(how string) {
	var i, n int
	var way, home string
	if _, err := fmt.Sscan(how, &i, &n, &way, &home); err != nil {
		panic(err)
	}
	at := 0
	_, err := scenarios[i].run(context.Background(), swapperAt(home, func(st atomicfile.Step) error {
		if at++; at-1 == n {
			if way == "half" {
				_, _ = st.File.Write(st.Data[:len(st.Data)/2])
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour) // the signal may take a moment
		}
		return nil
	}), home)
	fmt.Println("not killed:", err)
	os.Exit(3)
}

// Whatever step of Forget fails, configs are unchanged, records have their backups, and a
// backup is left over only if an error says so.
func TestForgetFailsAtEveryStep(t *testing.T) {
	for n, reached := 0, true; reached; n++ {
		home := faultHome(t)
		done(t)(swapAll("srv", "")(t.Context(), swapperAt(home, nil), home))
		before := withoutState(snapshot(t, home))
		at := 0
		results, err := swapperAt(home, func(st atomicfile.Step) error {
			if at++; at-1 == n {
				return syscall.EIO
			}
			return nil
		}).Forget(t.Context(), ForgetOptions{Force: true})
		if reached = at > n; !reached && n < 10 {
			t.Fatalf("only %d steps seen", n)
		}
		st, lerr := swapperAt(home, nil).Journal.Load()
		if lerr != nil {
			t.Fatal(lerr)
		}
		if len(st.Records) == 0 != (err == nil) && !errors.Is(err, atomicfile.ErrNotDurable) {
			t.Errorf("step %d: %d records, %v", n, len(st.Records), err)
		}
		for _, r := range st.Records {
			if r.Backup != "" && machine.Missing(r.Backup) {
				t.Errorf("step %d: the backup %s is gone, and its record is not", n, r.Backup)
			}
		}
		for path, text := range withoutState(snapshot(t, home)) {
			if text != before[path] {
				t.Errorf("step %d: %s has changed", n, path)
			}
			if strings.Contains(path, ofBackup) && err == nil && !AnyFailed(results) {
				t.Errorf("step %d: %s stays, and no error says so", n, path)
			}
			delete(before, path)
		}
		for path := range before {
			if !strings.Contains(path, ofBackup) || err != nil {
				t.Errorf("step %d: %s is gone: %v", n, path, err)
			}
		}
	}
}

// A question about a read-only config is asked once, and no is no.
func TestReadOnlyIsAsked(t *testing.T) {
	for _, yes := range []bool{true, false} {
		home := faultHome(t)
		path := filepath.Join(home, ".codex/config.toml")
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		s := swapperAt(home, nil)
		asked := 0
		s.Confirm = func(q string) bool {
			if !strings.Contains(q, path) {
				t.Errorf("the question is %q", q)
			}
			asked++
			return yes
		}
		o := UseOptions{Repo: filepath.Join(home, "repo"), Clients: []string{"codex"}, NoPreflight: true}
		results, err := s.UseLocal(t.Context(), o)
		if err != nil || AnyFailed(results) == yes || asked != 1 {
			t.Errorf("yes %v: asked %d times, %v %+v", yes, asked, err, results)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o400 {
			t.Errorf("%v %v", info, err)
		}
	}
}
