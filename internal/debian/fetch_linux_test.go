package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

// The test binary is also a program that fetches "testing" and prints its path,
// for the tests that need a second process.
func TestMain(m *testing.M) {
	if os.Getenv("DEBIAN_TEST_FETCH") == "" {
		os.Exit(onAnyMachine(m))
	}
	f := Fetcher{CacheDir: os.Getenv("DEBIAN_TEST_CACHE"), Mirror: os.Getenv("DEBIAN_TEST_MIRROR"), Keyring: os.Getenv("DEBIAN_TEST_KEYRING")}
	got, err := f.Get(context.Background(), "testing")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(got.Binary)
}

// onAnyMachine runs the tests with apt settings that do not depend on the machine, and
// accept every date: see [TestExpired].
func onAnyMachine(m *testing.M) int {
	dir, err := os.MkdirTemp("", "d")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	settings := filepath.Join(dir, "apt.conf")
	text := "Acquire::http::Proxy::127.0.0.1 \"DIRECT\";\nAcquire::Check-Valid-Until \"false\";\nAcquire::Check-Date \"false\";\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		panic(err)
	}
	os.Setenv("APT_CONFIG", settings)
	os.Unsetenv("DEBIAN_MIRROR")
	return m.Run()
}

func fetchProcess(ctx context.Context, f Fetcher) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "DEBIAN_TEST_FETCH=1", "DEBIAN_TEST_CACHE="+f.CacheDir,
		"DEBIAN_TEST_MIRROR="+f.Mirror, "DEBIAN_TEST_KEYRING="+f.Keyring)
	return cmd
}

func TestGet(t *testing.T) {
	t.Parallel()
	a := newTestArchive(t)
	version := a.publishTmux(t)
	cache := filepath.Join(shortDir(t), "a cache, [of] 'mine'")
	var stages []string
	f := Fetcher{CacheDir: cache, Mirror: a.mirror(), Keyring: a.keyring, Progress: func(line string) { stages = append(stages, line) }}

	if path, err := f.Path("testing"); !errors.Is(err, ErrNotFetched) {
		t.Errorf("Path before Get: %q, %v", path, err)
	}
	if err := f.Remove("testing"); !errors.Is(err, ErrNotFetched) {
		t.Errorf("Remove before Get: %v", err)
	}
	if list, err := f.List(); err != nil || len(list) != 0 {
		t.Errorf("List before Get: %v, %v", list, err)
	}
	got, err := f.Get(t.Context(), "testing")
	if err != nil {
		t.Fatal(err)
	}
	if got.Version != version || got.Package != "1:9.9-1" || got.Arch != a.arch || len(got.Packages) != 2 {
		t.Errorf("got %+v; want version %s, package 1:9.9-1, %s, 2 packages", got, version, a.arch)
	}
	if len(stages) == 0 || !strings.HasPrefix(stages[0], "debian:testing: ") {
		t.Errorf("progress: %q", stages)
	}
	wantSlot(t, cache, "testing", "installed.json", filepath.Base(rootOf(got.Binary)), "tmux")
	tryServer(t, got.Binary)

	// Without the mirror, from the cache and without any progress.
	stages = nil
	f.Mirror = "file:///nonexistent"
	again, err := f.Get(t.Context(), "testing")
	if err != nil || again.Binary != got.Binary || !again.Fetched.Equal(got.Fetched) || len(stages) != 0 {
		t.Errorf("from the cache: %+v, %v, progress %q; want %+v", again, err, stages, got)
	}
	if path, err := f.Path("testing"); err != nil || path != got.Binary {
		t.Errorf("Path: %q, %v", path, err)
	}
	if list, err := f.List(); err != nil || len(list) != 1 || list[0].Binary != got.Binary {
		t.Errorf("List: %v, %v", list, err)
	}

	// A copied cache is invalid: the binary knows where its loader is.
	second := Fetcher{CacheDir: filepath.Join(shortDir(t), "copy"), Mirror: a.mirror(), Keyring: a.keyring}
	if err := os.CopyFS(second.CacheDir, os.DirFS(cache)); err != nil {
		t.Fatal(err)
	}
	if path, err := second.Path("testing"); !errors.Is(err, ErrNotFetched) {
		t.Errorf("Path in a copied cache: %q, %v", path, err)
	}
	got, err = second.Get(t.Context(), "testing")
	if err != nil || !strings.HasPrefix(got.Binary, second.CacheDir) {
		t.Fatalf("Get in a copied cache: %+v, %v", got, err)
	}
	wantSlot(t, second.CacheDir, "testing", "installed.json", filepath.Base(rootOf(got.Binary)), "tmux")

	if err := second.Remove("testing"); err != nil {
		t.Fatal(err)
	}
	wantSlot(t, second.CacheDir, "testing")
	if list, err := second.List(); err != nil || len(list) != 0 {
		t.Errorf("List after Remove: %v, %v", list, err)
	}
	// Whatever links to it still finds it.
	if fetched, err := second.Get(t.Context(), "testing"); err != nil || fetched.Binary != got.Binary {
		t.Errorf("fetched again it is %s, %v; was %s", fetched.Binary, err, got.Binary)
	}
	if err := second.Remove("testing"); err != nil {
		t.Error(err)
	}
}

// TestSignature: nothing is installed from an archive that the keyring does not vouch for.
func TestSignature(t *testing.T) {
	for name, spoil := range map[string]func(a *testArchive){
		"another key": func(a *testArchive) {
			writeFile(t, a.keyring, string(newSigner(t).keyring()))
		},
		"no signature": func(a *testArchive) {
			if err := os.Remove(filepath.Join(a.dir, "dists/testing/Release.gpg")); err != nil {
				t.Fatal(err)
			}
		},
		"a changed release": func(a *testArchive) {
			change(t, filepath.Join(a.dir, "dists/testing/Release"), "2022", "2023")
		},
		"a changed index": func(a *testArchive) {
			change(t, filepath.Join(a.dir, "dists/testing/main/binary-"+a.arch+"/Packages"), "nobody", "no-one")
		},
		"a changed package": func(a *testArchive) {
			change(t, filepath.Join(a.dir, "pool/tmux.deb"), "nobody", "no-one")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newTestArchive(t)
			a.publishScript(t)
			f := Fetcher{CacheDir: t.TempDir(), Keyring: a.keyring}
			mirrors := []string{a.mirror(), serve(t, http.FileServer(http.Dir(a.dir)).ServeHTTP)}[:testtool.Size(1, 2)]
			for _, f.Mirror = range mirrors {
				// Unmodified, the script itself is the first problem.
				_, err := f.Get(t.Context(), "testing")
				wantError(t, err, "testing", "the fetched tmux does not run")
			}
			spoil(a)
			for _, f.Mirror = range mirrors {
				_, err := f.Get(t.Context(), "testing")
				wantError(t, err, "testing", "the archive cannot be trusted")
				wantSlot(t, f.CacheDir, "testing")
			}
		})
	}
}

func change(t *testing.T, file, from, to string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(data, []byte(from), []byte(to), 1)
	if bytes.Equal(changed, data) {
		t.Fatalf("%s has no %q", file, from)
	}
	writeFile(t, file, string(changed))
}

func TestErrors(t *testing.T) {
	a := newTestArchive(t)
	a.publishScript(t)
	other := a.build(t, "other", "", nil)
	a.publish(t, "bare", other)
	a.publish(t, "testing-backports", other)
	empty := t.TempDir()
	noSources := filepath.Join(empty, "apt.conf")
	writeFile(t, noSources, fmt.Sprintf("Dir::Etc::sourcelist %q;\nDir::Etc::sourceparts %q;\n", empty+"/none", empty+"/none.d"))
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")

	for name, c := range map[string]struct {
		suite string // default: testing
		env   []string
		with  func(t *testing.T, f *Fetcher)
		kind  string
		says  string
	}{
		"a suite that is not there":   {suite: "nosuch", kind: "no such suite", says: ": no such suite: file://"},
		"no name":                     {suite: " ", kind: "no such suite"},
		"a path for a name":           {suite: "../testing", kind: "no such suite"},
		"an option for a name":        {suite: "-o", kind: "no such suite"},
		"a suite without tmux":        {suite: "bare", kind: "the suite has no tmux"},
		"only its base has tmux":      {suite: "testing-backports", kind: "the suite has no tmux"},
		"a tmux that is no program":   {kind: "the fetched tmux does not run"},
		"no apt-get":                  {env: []string{"PATH", empty}, kind: "no apt on this machine", says: "apt-get"},
		"no mirror configured":        {env: []string{"APT_CONFIG", noSources}, with: func(t *testing.T, f *Fetcher) { f.Mirror = "" }, kind: "no Debian mirror", says: "--debian-mirror URL"},
		"a host for a mirror":         {with: func(t *testing.T, f *Fetcher) { f.Mirror = "127.0.0.1/debian" }, kind: "no Debian mirror", says: "no URL"},
		"two lines for a mirror":      {with: func(t *testing.T, f *Fetcher) { f.Mirror += "\nTrusted: yes" }, kind: "no Debian mirror"},
		"an unknown kind of mirror":   {with: func(t *testing.T, f *Fetcher) { f.Mirror = "gopher://127.0.0.1/debian" }, kind: "no Debian mirror", says: "gopher"},
		"a mirror that is down":       {with: func(t *testing.T, f *Fetcher) { f.Mirror = "http://127.0.0.1:1/debian" }, kind: "the mirror cannot be reached", says: "connect to 127.0.0.1:1"},
		"a mirror with a password":    {with: func(t *testing.T, f *Fetcher) { f.Mirror = "http://me:secret@127.0.0.1:1/debian" }, kind: "the mirror cannot be reached"},
		"a mirror without a name":     {with: func(t *testing.T, f *Fetcher) { f.Mirror = "http://mirror.invalid/debian" }, kind: "the mirror cannot be reached"},
		"a mirror that refuses":       {with: func(t *testing.T, f *Fetcher) { f.Mirror = refusing(t) }, kind: "the mirror cannot be reached", says: "503"},
		"a mirror that says nothing":  {with: func(t *testing.T, f *Fetcher) { f.Mirror = silent(t); f.patience = time.Second }, kind: "the mirror cannot be reached", says: "no answer from http://127.0.0.1"},
		"no keyring":                  {with: func(t *testing.T, f *Fetcher) { f.Keyring = "/nonexistent.gpg" }, kind: "no Debian archive keyring", says: "debian-archive-keyring"},
		"a cache that is a file":      {with: func(t *testing.T, f *Fetcher) { f.CacheDir = file }, kind: "the cache directory cannot be used", says: "not a directory"},
		"a cache that takes no files": {with: func(t *testing.T, f *Fetcher) { f.CacheDir = "/proc/self/fdinfo" }, kind: "the cache directory cannot be used"},
		"no home and no cache":        {env: []string{"HOME", "", "XDG_CACHE_HOME", ""}, with: func(t *testing.T, f *Fetcher) { f.CacheDir = "" }, kind: "the cache directory cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			f := Fetcher{CacheDir: cache, Mirror: a.mirror(), Keyring: a.keyring, Timeout: time.Minute}
			if name == "a mirror without a name" && !testtool.Full {
				t.Skip("asks a name server: see " + testtool.FullSize)
			}
			for v := range slices.Chunk(c.env, 2) {
				t.Setenv(v[0], v[1])
			}
			if c.env == nil {
				t.Parallel()
			}
			if c.with != nil {
				c.with(t, &f)
			}
			suite := c.suite
			if suite == "" {
				suite = "testing"
			}
			_, err := f.Get(t.Context(), suite)
			wantError(t, err, suite, c.kind, c.says)
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a password: %v", err)
			}
			wantSlot(t, cache, "testing")
		})
	}
}

// wantError checks that an error is one clear line about a suite, which begins with what is
// wrong and has some texts.
func wantError(t *testing.T, err error, suite, kind string, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", kind)
	}
	text := err.Error()
	for _, part := range says {
		if !strings.Contains(text, part) {
			t.Errorf("the error reads %q, want %q in it", text, part)
		}
	}
	if !strings.HasPrefix(text, "debian:"+suite+": "+kind) || strings.Contains(text, "\n") {
		t.Errorf("the error reads %q, want one line with %q", text, kind)
	}
	t.Log(text)
}

// refusing serves only refusals.
func refusing(t *testing.T) string {
	return serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "later", http.StatusServiceUnavailable) })
}

// silent accepts connections and never answers.
func silent(t *testing.T) string {
	return serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

func serve(t *testing.T, handler http.HandlerFunc) (url string) {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// TestTwoAtOnce: processes and goroutines that want the same suite at the same time all
// get it, from one fetch.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	a := newTestArchive(t)
	a.publishTmux(t)
	var fetches atomic.Int32
	files := http.FileServer(http.Dir(a.dir))
	mirror := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pool/tmux.deb" {
			fetches.Add(1)
		}
		files.ServeHTTP(w, r)
	})
	f := Fetcher{CacheDir: shortDir(t), Mirror: mirror, Keyring: a.keyring}

	binaries := make([]string, 4)
	var all sync.WaitGroup
	for i := range binaries {
		all.Go(func() {
			if i < 2 {
				got, err := f.Get(t.Context(), "testing")
				if err != nil {
					t.Error(err)
				}
				binaries[i] = got.Binary
				return
			}
			cmd := fetchProcess(t.Context(), f)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			binaries[i] = strings.TrimSpace(string(out))
		})
	}
	all.Wait()
	for _, binary := range binaries {
		if binary == "" || binary != binaries[0] {
			t.Errorf("not one binary for all: %q", binaries)
		}
	}
	if n := fetches.Load(); n != 1 {
		t.Errorf("tmux was fetched %d times", n)
	}
	wantSlot(t, f.CacheDir, "testing", "installed.json", filepath.Base(rootOf(binaries[0])), "tmux")
}

// TestInterrupted cuts fetches off while tmux itself is on its way.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	a := newTestArchive(t)
	a.publishTmux(t)
	var stall atomic.Bool
	reached := make(chan struct{}, 10)
	files := http.FileServer(http.Dir(a.dir))
	mirror := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if stall.Load() && r.URL.Path == "/pool/tmux.deb" {
			info, _ := os.Stat(filepath.Join(a.dir, "pool/tmux.deb"))
			w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
			w.Write([]byte("the first bytes"))
			w.(http.Flusher).Flush()
			reached <- struct{}{}
			<-r.Context().Done()
			return
		}
		files.ServeHTTP(w, r)
	})
	f := Fetcher{CacheDir: shortDir(t), Mirror: mirror, Keyring: a.keyring}

	t.Run("cancelled", func(t *testing.T) {
		stall.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			<-reached
			cancel()
		}()
		_, err := f.Get(ctx, "testing")
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "debian:testing: ") {
			t.Errorf("got %v", err)
		}
		wantNoProcess(t, f.CacheDir)
		wantSlot(t, f.CacheDir, "testing")
	})
	t.Run("out of time", func(t *testing.T) {
		stall.Store(true)
		slow := f
		slow.Timeout = 2 * time.Second
		_, err := slow.Get(t.Context(), "testing")
		wantError(t, err, "testing", "run apt-get: not done within 2s")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not wrap the end of the context", err)
		}
		wantNoProcess(t, f.CacheDir)
		wantSlot(t, f.CacheDir, "testing")
		for len(reached) > 0 {
			<-reached
		}
	})
	t.Run("killed", func(t *testing.T) {
		stall.Store(true)
		child := fetchProcess(t.Context(), f)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-reached:
		case <-time.After(time.Minute):
			t.Fatal("the other process asked for no package")
		}

		// Meanwhile a second fetch has to wait, and can be canceled.
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := f.Get(ctx, "testing"); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "wait for another fetch") {
			t.Errorf("beside another fetch: %v", err)
		}

		child.Process.Kill()
		child.Wait()
		wantNoProcess(t, f.CacheDir)
		if path, err := f.Path("testing"); !errors.Is(err, ErrNotFetched) {
			t.Errorf("half a fetch counts as installed: %q, %v", path, err)
		}
		if list, err := f.List(); err != nil || len(list) != 0 {
			t.Errorf("half a fetch is listed: %v, %v", list, err)
		}
		stall.Store(false)
		got, err := f.Get(t.Context(), "testing")
		if err != nil {
			t.Fatal(err)
		}
		wantSlot(t, f.CacheDir, "testing", "installed.json", filepath.Base(rootOf(got.Binary)), "tmux")
	})
}

// TestRun: a program's children end with the call too.
func TestRun(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("enough"))
	defer cancel()
	// The child ignores the end of its parent and of its pipes.
	_, err := run(ctx, "sh", "-c", `sh -c 'while :; do sleep 60; done' "$1" >/dev/null 2>&1 & wait`, "sh", mark)
	if err == nil || err.Error() != "run sh: enough" {
		t.Errorf("got %v", err)
	}
	wantNoProcess(t, mark)
}

// wantNoProcess waits until no process has the cache directory in its arguments;
// what was killed with its parent may take a moment.
func wantNoProcess(t *testing.T, cache string) {
	t.Helper()
	testtool.Eventually(t, "no process of "+cache, func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		return !slices.ContainsFunc(files, func(file string) bool {
			data, _ := os.ReadFile(file)
			return bytes.Contains(data, []byte(cache))
		})
	})
}

// An archive that is past its date, or from the future, is accepted only if that is
// requested, whatever the machine's own settings are.
func TestExpired(t *testing.T) {
	for _, tt := range []struct{ name, date, until, says string }{
		{"expired", "Sat, 01 Jan 2022 00:00:00 UTC", "Sat, 08 Jan 2022 00:00:00 UTC", "--allow-expired"},
		{"from the future", "Wed, 01 Jan 2200 00:00:00 UTC", "Wed, 08 Jan 2200 00:00:00 UTC", "clock"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newTestArchive(t)
			a.publishScript(t)
			release := filepath.Join(a.dir, "dists/testing/Release")
			text, err := os.ReadFile(release)
			if err != nil {
				t.Fatal(err)
			}
			dated := strings.Replace(string(text), "Date: Sat, 01 Jan 2022 00:00:00 UTC", "Date: "+tt.date+"\nValid-Until: "+tt.until, 1)
			writeFile(t, release, dated)
			writeFile(t, release+".gpg", string(a.signer.detached([]byte(dated))))
			f := Fetcher{CacheDir: t.TempDir(), Mirror: a.mirror(), Keyring: a.keyring}
			_, err = f.Get(t.Context(), "testing")
			wantError(t, err, "testing", "the archive is out of date", tt.says)
			// Then the script itself is the first problem.
			f.AllowExpired = true
			want := "the fetched tmux does not run"
			if tt.name != "expired" {
				want = "the archive is out of date"
			}
			_, err = f.Get(t.Context(), "testing")
			wantError(t, err, "testing", want)
		})
	}
}
