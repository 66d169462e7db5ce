package server_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/server"
)

const strangerID = 65534

// intruder is another user of the machine, who watches the temporary directory and puts his
// own files wherever a name becomes available.
type intruder struct {
	dir, victim, marker string
	inotify             int
	ended               sync.WaitGroup

	mu    sync.Mutex
	seen  int
	taken map[string]bool // names that he has made
	read  []string        // what he could read
}

// intrude begins the attack. A thread becomes the other user, and ends with the goroutine
// locked to it.
func intrude(t *testing.T, dir, victim, marker string) *intruder {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	in := &intruder{dir: dir, victim: victim, marker: marker, inotify: fd, taken: map[string]bool{}}
	ready := make(chan error)
	in.ended.Go(func() {
		runtime.LockOSThread()
		for _, call := range []uintptr{unix.SYS_SETGROUPS, unix.SYS_SETRESGID, unix.SYS_SETRESUID} {
			id := uintptr(strangerID)
			args := [3]uintptr{id, id, id}
			if call == unix.SYS_SETGROUPS {
				args = [3]uintptr{}
			}
			if _, _, e := unix.RawSyscall(call, args[0], args[1], args[2]); e != 0 {
				ready <- e
				return
			}
		}
		_, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVE|unix.IN_ATTRIB)
		if ready <- err; err == nil {
			in.watch()
		}
	})
	if err := <-ready; err != nil {
		t.Fatal("become another user: ", err)
	}
	return in
}

func (in *intruder) watch() {
	buf := make([]byte, 64<<10)
	names := map[string]bool{}
	for {
		n, err := unix.Read(in.inotify, buf)
		if err != nil || n <= 0 {
			return
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			length := int(buf[at+12]) | int(buf[at+13])<<8
			name := strings.TrimRight(string(buf[at+16:at+16+length]), "\x00")
			at += unix.SizeofInotifyEvent + length
			if name == "stop" {
				return
			}
			names[name] = true
			in.mu.Lock()
			in.seen++
			in.mu.Unlock()
		}
		for name := range names {
			in.attack(name)
		}
	}
}

// attack tries everything that can be done to a name.
func (in *intruder) attack(name string) {
	path := filepath.Join(in.dir, name)
	os.Rename(path, path+"-away")
	os.Chmod(path, 0o777)
	os.Remove(path)
	if os.Mkdir(path, 0o777) == nil {
		in.mu.Lock()
		in.taken[name] = true
		in.mu.Unlock()
	}
	in.plant(path, 2)
}

func (in *intruder) plant(dir string, deep int) {
	for _, file := range []string{"status", "output"} {
		os.Symlink(in.victim, filepath.Join(dir, file))
	}
	for _, file := range []string{"run", "body", "command"} {
		os.WriteFile(filepath.Join(dir, file), []byte("echo sourced >>"+in.marker+"\n"), 0o666)
		os.Chmod(filepath.Join(dir, file), 0o666)
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if text, err := os.ReadFile(path); err == nil && !strings.Contains(string(text), "sourced") {
			in.mu.Lock()
			in.read = append(in.read, path)
			in.mu.Unlock()
		}
		if e.IsDir() && deep > 0 {
			in.plant(path, deep-1)
		}
	}
}

func (in *intruder) took(name string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.taken[name]
}

func (in *intruder) stop() {
	os.Mkdir(filepath.Join(in.dir, "stop"), 0o700)
	in.ended.Wait()
	unix.Close(in.inotify)
}

// TestAnotherUserGetsAtNoCommand: commands run, time out, are cancelled, and their server
// is killed, and lines are recalled from the history, while another user takes every name
// that becomes available in the temporary directory.
func TestAnotherUserGetsAtNoCommand(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	t.Parallel()
	mkdir := func(mode os.FileMode) string {
		t.Helper()
		dir, err := os.MkdirTemp("/tmp", "attack")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	tmp, own := mkdir(os.ModeSticky|0o777), mkdir(0o711)
	victim, marker := filepath.Join(own, "victim"), filepath.Join(own, "marker")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	shellStart(t, "bash")
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-x", "100", "-y", "24", "exec env HISTCONTROL= PS1='$ ' bash --norc --noprofile -i")
	waitPrompt(t, srv, "%0")
	in := intrude(t, tmp, victim, marker)

	user := filepath.Join(tmp, "user")
	if err := os.Mkdir(user, 0o755); err != nil {
		t.Fatal(err)
	}
	// A version before this one had its jobs here.
	old := filepath.Join(tmp, fmt.Sprintf("tmux-mcp-%d", os.Geteuid()))
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"TMPDIR=" + tmp, "HOME=" + user, "XDG_RUNTIME_DIR="}
	var p *peer
	begin := func() {
		p = start(t, srv, env)
		p.handshake("{}")
	}
	begin()
	recall := func() {
		began := time.Now()
		testserver.Wait(t, srv, "%0", "prompt", func() bool {
			// Interrupted just as it begins to read a line, bash draws no new prompt.
			if time.Since(began) > 3*time.Second {
				began = time.Now()
				testserver.Run(t, srv, "send-keys", "-t", "%0", "Enter")
			}
			return strings.HasSuffix(strings.TrimSpace(testserver.Run(t, srv, "capture-pane", "-p", "-t", "%0")), "$")
		})
		testserver.Run(t, srv, "send-keys", "-t", "%0", "Up", "Enter")
	}
	home := filepath.Join(user, ".local/state/tmux-mcp")
	began := time.Now()
	counts := map[string]int{}
	attacks := testtool.Size(15, 300)
	for i := range attacks {
		args := map[string]any{"pane_id": "%0", "command": "echo secret"}
		what := "answered"
		switch {
		case i%5 == 1:
			args["command"], args["timeout"] = "sleep 0.04; true", 0.02
		case i%7 == 2:
			what = "cancelled"
			args["command"] = "sleep 0.02"
		case i%20 == 19:
			what = "killed"
			args["command"] = "echo secret; sleep 0.02"
		}
		c, id := p.begin("tools/call", map[string]any{"name": "run_command", "arguments": args})
		switch what {
		case "answered":
			r := p.await(c)
			for _, said := range []string{`timed_out\":true`, `isError\":true`, "not_begun"} {
				if strings.Contains(strings.ReplaceAll(string(r.Result), `"`, `\"`), said) {
					what = said
				}
			}
			if i%3 == 0 {
				recall()
			}
		case "cancelled":
			time.Sleep(time.Duration(i%13) * time.Millisecond) // any moment will do
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
		case "killed":
			time.Sleep(time.Duration(i%29) * time.Millisecond) // any moment will do
			p.process.Process.Kill()
			<-p.done
			recall()
			begin()
		}
		counts[what]++
	}
	recall()
	p.command("%0", "true")
	p.tool("run_command", `{"pane_id":"%0","command":"true","detach":true}`) // whatever became of the others
	p.in.Close()
	<-p.done
	// What is left is the jobs whose results nobody has read, the user's alone; with
	// their tmux server they go.
	jobs := func() []os.DirEntry {
		dirs, err := os.ReadDir(home)
		if err != nil {
			t.Error(err)
		}
		return slices.DeleteFunc(dirs, func(d os.DirEntry) bool { return !strings.HasPrefix(d.Name(), "j") }) // the locks, and aliases
	}
	dirs := jobs()
	for _, d := range dirs {
		if info, err := d.Info(); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("left is %v, %v", d, err)
		}
	}
	if len(dirs) == 0 || len(dirs) > attacks/2 && len(dirs) > 100 {
		t.Errorf("%d jobs are left of %d commands", len(dirs), attacks)
	}
	pid := format(t, srv, "%0", "#{pid}")
	testserver.End(t, srv)
	if left, err := os.ReadDir(old); err != nil || len(left) > 0 {
		t.Errorf("in the directory of an older version are %v, %v", left, err)
	}
	testtool.Eventually(t, "the tmux server has ended", func() bool { return ended(pid) })
	begin()
	p.tool("list_jobs", `{}`) // which removes them
	testtool.Eventually(t, "with their tmux server the jobs go", func() bool {
		// One that was killed before it had described its job leaves that for a later
		// sweep.
		return len(slices.DeleteFunc(jobs(), func(d os.DirEntry) bool {
			info, err := os.Stat(filepath.Join(home, d.Name(), "job"))
			return err == nil && info.Size() == 0
		})) == 0
	})
	p.in.Close()
	<-p.done

	// He is really there.
	if err := os.Mkdir(filepath.Join(tmp, "free"), 0o700); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(tmp, "free"))
	testtool.Eventually(t, "the other user takes a free name", func() bool { return in.took("free") })
	in.stop()
	t.Logf("%v in %v; the other user saw %d events and took %d names", counts, time.Since(began).Round(time.Millisecond), in.seen, len(in.taken))
	if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
		t.Errorf("a file of the user was changed: %q, %v", text, err)
	}
	if text, err := os.ReadFile(marker); err == nil {
		t.Errorf("the shell read files of another user:\n%.200s", text)
	}
	if len(in.read) > 0 {
		t.Errorf("another user could read %q", in.read[:1])
	}
	for name := range in.taken {
		if name != "free" && !strings.HasSuffix(name, "-away") {
			t.Errorf("the name %s became free", name)
			break
		}
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("the home is %v, %v", info, err)
	}
}

// TestArgumentsNameNoJob: every user can read the arguments of processes, and so could learn which
// file a line in somebody's history reads.
func TestArgumentsNameNoJob(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "dash", "ksh", "mksh", "busybox"} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, keep=%t", shell, keep), func(t *testing.T) {
				t.Parallel()
				srv, p := shellPane(t, shell)
				g := newGate(t)
				job := p.command("%0", "sh -c 'echo be''gun; "+g.wait()+"'", fmt.Sprintf(`"detach":true,"keep":%t`, keep))
				testserver.WaitScreen(t, srv, "%0", "\nbegun")
				args := arguments(t)
				g.open(t)
				if !strings.Contains(args, "recorder.sh") {
					t.Errorf("the recorder is not among the processes:\n%s", args)
				}
				if at := strings.Index(args, job.JobID); at >= 0 {
					t.Errorf("the job is named: %q", args[max(0, at-200):at+100])
				}
			})
		}
	}
}

// arguments returns those of all processes.
func arguments(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, _ := os.ReadFile(name) // a process may have ended
		all.Write(append(text, '\n'))
	}
	return all.String()
}

// TestJobsGoWithTheirServer: what is left of jobs goes when their tmux server has ended, while
// tmux-mcp runs and when it ends.
func TestJobsGoWithTheirServer(t *testing.T) {
	for _, when := range []string{"while tmux-mcp runs", "when it ends"} {
		t.Run(when, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("XDG_RUNTIME_DIR", dir)
			if when == "while tmux-mcp runs" {
				server.SetSweepEvery(t, 50*time.Millisecond)
			}
			srv, _ := shellPane(t, "bash")
			p := serve(t, configFor(srv))
			waitPrompt(t, srv, "%0")
			job := p.command("%0", "echo secret; sleep 600", `"detach":true`)
			files := func() []string {
				names, err := filepath.Glob(filepath.Join(dir, "tmux-mcp", "[ja]*"))
				if err != nil {
					t.Fatal(err)
				}
				return names
			}
			if left := files(); len(left) != 2 || filepath.Base(left[1]) != job.JobID {
				t.Fatalf("the files of job %s are %v", job.JobID, left)
			}
			pid := format(t, srv, "%0", "#{pid}")
			testserver.End(t, srv)
			testtool.Eventually(t, "the tmux server has ended", func() bool { return ended(pid) })
			if when == "when it ends" {
				p.in.Close()
				<-p.done
				if left := files(); len(left) > 0 {
					t.Errorf("left are %v", left)
				}
				return
			}
			testtool.Eventually(t, "its jobs are gone", func() bool { return len(files()) == 0 })
		})
	}
}

// TestDoctorShowsOldJobs: a directory of an earlier version in a public one is no problem.
func TestDoctorShowsOldJobs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	old := filepath.Join(dir, fmt.Sprintf("tmux-mcp-%d", os.Geteuid()))
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg := configFor(testserver.New(t))
	for _, c := range []struct {
		change func() error
		want   string
	}{
		{func() error { return nil }, " is empty and stays until the system restarts"},
		{func() error { return os.WriteFile(filepath.Join(old, "turns"), nil, 0o600) }, " has files of an earlier version"},
		{func() error { return os.Chmod(old, 0o755) }, ""}, // which earlier versions do not use
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if !server.Doctor(testserver.Context(t), cfg, &out) {
			t.Error("it is a problem")
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		if shown := strings.Contains(text, old); shown != (c.want != "") || shown && !strings.Contains(text, "old jobs "+old+c.want) {
			t.Errorf("want %q:\n%s", c.want, text)
		}
	}
}
