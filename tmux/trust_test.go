package tmux_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtmux"
	"tmuxmcp/internal/test/testtool"
	"tmuxmcp/tmux"
)

var transports = []tmux.Transport{tmux.TransportAuto, tmux.TransportNative, tmux.TransportExec}

// shortDir returns a directory whose path leaves room for a socket's.
func shortDir(t testing.TB, mode os.FileMode) string {
	t.Helper()
	dir := check.Must[string](t)(os.MkdirTemp("", "tu"))
	t.Cleanup(func() { os.RemoveAll(dir) })
	check.OK(t, os.Chmod(dir, mode))
	return dir
}

// waitCount gives a server time to report what it was sent.
func waitCount(t testing.TB, f *testserver.Foreign) int {
	t.Helper()
	time.Sleep(100 * time.Millisecond)
	return f.Received()
}

// Another user's server is sent nothing, however its socket is named, and opens nothing:
// the tmux program is not even started.
func TestAnotherUsersServerGetsNothing(t *testing.T) {
	t.Parallel()
	tmp := fmt.Sprintf("tmux-%d/", os.Getuid())
	for _, place := range []struct {
		name   string
		socket string      // where the server listens, in a directory shared by all
		by     tmux.Config // how it is named: SHARED is that directory, and OWN a private one with a link
		ours   bool        // whether the socket's directory is ours, but open
	}{
		{"the default socket, in a directory he made first", tmp + "default", tmux.Config{}, false},
		{"a socket name", tmp + "work", tmux.Config{SocketName: "work"}, false},
		{"a directory of ours that is open", tmp + "default", tmux.Config{}, true},
		{"a path", "his/s", tmux.Config{SocketPath: "SHARED/his/s"}, false},
		{"a path in a shared directory", "s", tmux.Config{SocketPath: "SHARED/s"}, false},
		{"a link of ours", "his/s", tmux.Config{SocketPath: "OWN/link"}, false},
	} {
		t.Run(place.name, func(t *testing.T) {
			shared, own := shortDir(t, 0o777|os.ModeSticky), shortDir(t, 0o700)
			socket, secret, planted := shared+"/"+place.socket, own+"/secret", own+"/planted"
			if place.ours {
				check.OK(t, os.Mkdir(filepath.Dir(socket), 0o700))
				check.OK(t, os.Chmod(filepath.Dir(socket), 0o777))
			}
			check.OK(t, os.Symlink(socket, own+"/link"))
			check.OK(t, os.WriteFile(secret, []byte("key"), 0o600))
			foreign := testserver.NewForeign(t, socket, secret, planted)
			for _, way := range transports {
				cfg := place.by
				cfg.SocketPath = strings.NewReplacer("SHARED", shared, "OWN", own).Replace(cfg.SocketPath)
				cfg.Env = append(os.Environ(), "TMUX_TMPDIR="+shared)
				cfg.Binary, cfg.Transport, cfg.ConfigFile, cfg.Timeout = testserver.Binary(t), way, "/dev/null", time.Minute
				srv, ctx := testserver.Handle(t, cfg), testserver.Context(t)
				for name, err := range map[string]error{
					"list":    do(ctx, srv, tmux.ListSessions{}),
					"new":     do(ctx, srv, tmux.NewSession{Detached: true}),
					"version": check.Second(srv.Version(ctx)),
					"source":  do(ctx, srv, tmux.SourceFile{Paths: []string{secret}}),
					"kill":    srv.Kill(ctx),
				} {
					check.Kind(t, string(way)+" "+name, err, tmux.ErrUntrusted)
					if text := fmt.Sprint(err); !strings.Contains(text, filepath.Dir(socket)) || !place.ours && !strings.Contains(text, "uid 65534") {
						t.Errorf("%s %s does not say whose it is: %v", way, name, err)
					}
				}
			}
			check.Equal(t, "the other user's server was sent", 0, waitCount(t, foreign))
			check.Absent(t, planted)
		})
	}
}

// Others must be unable to change what the tmux program connects to by itself, and what
// only this user can change must work.
func TestPathsForTheProgram(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to another user")
	}
	const shared = 0o777 | os.ModeSticky
	theirs := func(path string) error { return os.Lchown(path, testserver.OtherUser, testserver.OtherUser) }
	groups := func(path string) error { return os.Lchown(path, 0, testserver.OtherUser) }
	for _, test := range []struct {
		name  string
		above os.FileMode // of the directory above that of the socket; 0 if that is /tmp
		mode  os.FileMode // of the directory of the socket
		link  bool        // to that directory, which is elsewhere
		chown func(path string) error
		want  bool
	}{
		{"a directory of ours", 0, 0o700, false, nil, true},
		{"a directory that others read", 0, 0o755, false, nil, true},
		{"a directory of ours in a shared one", shared, 0o700, false, nil, true},
		{"a link of ours", 0o700, 0o700, true, nil, true},
		{"a directory that others write", 0, 0o777, false, nil, false},
		{"a directory that a group writes", 0, 0o770, false, groups, false},
		{"a shared directory", 0, shared, false, nil, false},
		{"below a directory that others write", 0o777, 0o700, false, nil, false},
		{"another's directory", 0, 0o755, false, theirs, false},
		{"another's link", shared, 0o700, true, theirs, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, dir := shortDir(t, 0o700), shortDir(t, test.mode)
			switch {
			case test.link:
				link := shortDir(t, test.above) + "/l"
				check.OK(t, os.Symlink(dir, link))
				dir = link
			case test.above != 0:
				dir = shortDir(t, test.above) + "/own"
				check.OK(t, os.Mkdir(dir, test.mode))
			}
			if test.chown != nil {
				check.OK(t, test.chown(dir))
			}
			srv := testserver.Handle(t, tmux.Config{
				SocketPath: dir + "/s", ConfigFile: "/dev/null", Transport: tmux.TransportExec,
				Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SHELL=/bin/sh"},
			})
			ctx := testserver.Context(t)
			defer srv.Kill(ctx)
			check.Kind(t, "a look", do(ctx, srv, tmux.ListSessions{}), tmux.ErrNoServer)
			err := do(ctx, srv, tmux.NewSession{Detached: true, Command: []string{"sleep 1000"}})
			if test.want {
				check.OK(t, err)
				return
			}
			check.Kind(t, "a start", err, tmux.ErrUntrusted)
			check.Absent(t, srv.SocketPath())
		})
	}
}

// With a list, a server is sent only the part of the environment that tmux needs for it.
func TestServersAreToldWhatTheyNeed(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 100)
	socket := ownServer(t, func(c net.Conn) {
		heard := &hearing{Conn: c}
		readCommands(heard)
		sent <- heard.text.String()
	})
	for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		srv := testserver.Handle(t, tmux.Config{
			SocketPath: socket, Transport: way,
			Env: append(os.Environ(), "CANARY=in-the-coal-mine"),
		})
		for _, test := range []struct {
			cmd  tmux.Command
			want bool
		}{
			{tmux.ListSessions{}, false}, {tmux.SendKeys{Keys: []string{"x"}}, false}, {tmux.KillServer{}, false},
			{tmux.Raw{Name: "new-window"}, false}, {tmux.NewSession{Detached: true}, true}, {tmux.Raw{Name: "new"}, true},
		} {
			srv.Do(testserver.Context(t), test.cmd)
			var all string
			for len(sent) > 0 || all == "" {
				all += <-sent
			}
			check.Equal(t, fmt.Sprintf("%s %v: is sent the environment", way, test.cmd), test.want, strings.Contains(all, "CANARY="))
		}
	}
}

// hearing is a connection, and what was received on it.
type hearing struct {
	net.Conn
	text strings.Builder
}

func (h *hearing) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	h.text.Write(b[:n])
	return n, err
}

// The list of processes shows nothing that a user typed.
func TestArgumentsHideWhatIsTyped(t *testing.T) {
	t.Parallel()
	base := testserver.Started(t)
	dir := t.TempDir()
	// The program records how it is called.
	binary, log := filepath.Join(dir, "tmux"), filepath.Join(dir, "log")
	check.OK(t, testtool.WriteProgram(binary, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >>"+log+"\nexec "+base.Binary()+` "$@"`+"\n")))
	srv := testserver.Handle(t, tmux.Config{Binary: binary, SocketPath: base.SocketPath(), Transport: tmux.TransportExec})
	const canary = "Zanzibar-0x5eC2e7"
	text := canary
	for name, cmds := range map[string][]tmux.Command{
		"send-keys":       {tmux.SendKeys{Target: tmux.PaneID("%0"), Literal: true, Keys: []string{canary}}},
		"set-environment": {tmux.Raw{Name: "set-environment", Args: []string{"-g", "X", canary}}},
		"set-buffer":      {tmux.SetBuffer{Buffer: "b", Data: &text}},
		"set-option":      {tmux.Raw{Name: "set-option", Args: []string{"-g", "@x", canary}}},
		"if-shell":        {tmux.Raw{Name: "if-shell", Args: []string{"-F", "1", "display-message -p " + canary}}},
		"display-message": {tmux.DisplayMessage{Print: true, Message: canary}},
		"filter":          {tmux.ListPanes{All: true, Filter: tmux.MatchContent(canary, tmux.MatchOptions{})}},
		"new-window":      {tmux.Raw{Name: "new-window", Args: []string{"-d", "-n", canary, "cat"}}},
		"beside stdin":    {tmux.LoadBuffer{Buffer: "c", Path: "-", Data: []byte(canary)}, tmux.SendKeys{Target: tmux.PaneID("%0"), Literal: true, Keys: []string{canary}}},
	} {
		check.OK(t, do(testserver.Context(t), srv, cmds...))
		args := string(check.Must[[]byte](t)(os.ReadFile(log)))
		check.OK(t, os.Remove(log))
		check.That(t, strings.Contains(args, "source-file") || strings.Contains(args, "load-buffer"), "%s: not on standard input: %q", name, args)
		check.That(t, !strings.Contains(args, canary), "%s: %q", name, args)
	}
}

const endlessEnv = "TMUX_TEST_ENDLESS"

// A server that prints endlessly costs neither memory nor time.
func TestEndlessOutput(t *testing.T) {
	if at := os.Getenv(endlessEnv); at != "" {
		way, socket, _ := strings.Cut(at, ":")
		srv := testserver.Handle(t, tmux.Config{SocketPath: socket, Transport: tmux.Transport(way), Timeout: time.Minute})
		check.Kind(t, way, check.Second(srv.Do(context.Background(), tmux.ListSessions{})), tmux.ErrTooMuch)
		// The system's figure for a child begins with the memory of its parent.
		fmt.Println("peak", testserver.PeakMemory(t, "self"))
		return
	}
	if testserver.PeakMemory(t, "self") == 0 {
		t.Skip("no /proc/self/status here, which has a process's peak of memory")
	}
	testtmux.Binary(t)
	for _, stream := range []byte{1, 2} {
		more := testserver.Frame(msgWrite, append([]byte{stream, 0, 0, 0}, strings.Repeat("endless\n", 2000)...))
		socket := ownServer(t, func(c net.Conn) {
			go io.Copy(io.Discard, c)
			_, err := c.Write(opensOutput(stream))
			for err == nil {
				_, err = c.Write(more)
			}
		})
		for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
			cmd := exec.Command(os.Args[0], "-test.run=^TestEndlessOutput$")
			cmd.Env = append(os.Environ(), endlessEnv+"="+string(way)+":"+socket)
			out, err := cmd.CombinedOutput()
			var kB int
			_, peak, _ := strings.Cut(string(out), "peak ")
			fmt.Sscan(peak, &kB)
			if err != nil || kB == 0 || kB >= testtool.RaceFactor<<16 {
				t.Errorf("%s, stream %d: %d kB resident, %v\n%s", way, stream, kB, err, out)
			}
		}
	}
}

// Asking for a file that no command names ends the call, and auto does not try the program
// with that server.
func TestServerThatAsksForFiles(t *testing.T) {
	t.Parallel()
	dir := shortDir(t, 0o700)
	secret, named, planted := dir+"/secret", dir+"/named", dir+"/planted"
	check.OK(t, os.WriteFile(secret, []byte("SECRET"), 0o600))
	check.OK(t, os.WriteFile(named, []byte("set -g @x 1\nload-buffer /etc/hosts"), 0o600))
	read := func(path string) []byte { return file(msgReadOpen, path) }
	write := func(path string) []byte { return file(msgWriteOpen, path, 0, 2, 0, 0) }
	for _, test := range []struct {
		name string
		cmd  tmux.Command
		asks []byte
	}{
		{"to read, in a look", tmux.ListSessions{}, read(secret)},
		{"to make one, in a look", tmux.ListSessions{}, write(planted)},
		{"to write what is read", tmux.LoadBuffer{Path: named}, write(named)},
		{"to read what is written", tmux.SaveBuffer{Path: secret}, read(secret)},
		{"to read twice", tmux.LoadBuffer{Path: named}, append(read(named), read(named)...)},
		{"by another name", tmux.LoadBuffer{Path: named}, read(dir + "/../" + filepath.Base(dir) + "/secret")},
		{"what a loaded text names", tmux.LoadBuffer{Path: named}, append(read(named), read("/etc/hosts")...)},
		{"what is typed", tmux.LoadBuffer{Path: "-", Data: []byte("load-buffer " + secret)}, read(secret)},
		{"what is typed as keys", tmux.SendKeys{Keys: []string{"load-buffer " + secret}}, read(secret)},
		{"a base name in keys", tmux.SendKeys{Keys: []string{"ls *; cat secret"}}, read(secret)},
		{"a pattern in keys", tmux.SendKeys{Literal: true, Keys: []string{"source-file " + dir + "/*"}}, read(secret)},
		{"to write what keys name", tmux.SendKeys{Keys: []string{"save-buffer " + planted}}, write(planted)},
		{"what a value names", tmux.SetOption{Global: true, Name: "@x", Value: &secret}, read(secret)},
		{"what a title names", tmux.SelectPane{Title: &secret}, read(secret)},
		{"what a filter names", tmux.ListPanes{Filter: tmux.MatchContent(secret, tmux.MatchOptions{Glob: true})}, read(secret)},
		{"what a program's line names", tmux.NewWindow{Command: []string{"cat " + secret}}, read(secret)},
		{"what a shell command names", tmux.RunShell{Command: "cat " + secret}, read(secret)},
		{"what a condition names", tmux.Require{Condition: tmux.Literal(secret)}, read(secret)},
		{"to append what is truncated", tmux.SaveBuffer{Path: planted, Append: true}, append(write(planted+"x"), write(planted)...)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := make(chan []byte, 100)
			socket, _ := hangingServer(t, true, func(c net.Conn, _ []string) {
				c.SetDeadline(time.Now().Add(time.Minute))
				c.Write(test.asks)
				answer, _ := io.ReadAll(c)
				got <- answer
			})
			srv := testserver.Handle(t, tmux.Config{SocketPath: socket, Timeout: time.Minute})
			for range 2 {
				check.Kind(t, "the call", do(testserver.Context(t), srv, test.cmd), tmux.ErrUntrusted)
				check.That(t, !bytes.Contains(<-got, []byte("SECRET")), "it got the file")
			}
			check.Equal(t, "lists that the tmux program sent too", 0, len(got))
			check.Absent(t, planted)
		})
	}
}

// Once a server has asked for a file that it should not, no command opens one for it,
// whatever its words are, and nothing is passed to the tmux program, which would.
func TestNoCommandOpensFilesForAHostileServer(t *testing.T) {
	t.Parallel()
	dir := shortDir(t, 0o700)
	secret, planted := dir+"/secret", dir+"/planted"
	check.OK(t, os.WriteFile(secret, []byte("SECRET"), 0o600))
	var mu sync.Mutex
	var got strings.Builder
	socket := ownServer(t, func(c net.Conn) {
		if _, ok := readCommands(c); !ok {
			return
		}
		c.Write(append(file(msgReadOpen, secret), file(msgWriteOpen, planted, 0, 2, 0, 0)...))
		answer, _ := io.ReadAll(c)
		mu.Lock()
		defer mu.Unlock()
		got.Write(answer)
	})
	for _, way := range []tmux.Transport{tmux.TransportAuto, tmux.TransportNative} {
		srv := testserver.Handle(t, tmux.Config{SocketPath: socket, Transport: way, Timeout: time.Minute})
		ctx := testserver.Context(t)
		check.Kind(t, "the first", do(ctx, srv, tmux.ListSessions{}), tmux.ErrUntrusted)
		asked := 0
		for _, cmd := range append(tmux.Commands, tmux.Raw{Name: "source", Args: []string{secret}}, tmux.Raw{Name: "load-buffer", Args: []string{secret}},
			tmux.Raw{Name: "saveb", Args: []string{planted}}, tmux.Raw{Name: "an-alias"}, tmux.SourceFile{Paths: []string{secret}},
			tmux.IfShell{Test: true, Condition: "1", Then: "load-buffer " + secret}, tmux.RunShell{Commands: true, Command: "load-buffer " + secret},
			tmux.LoadBuffer{Path: planted}, tmux.SaveBuffer{Path: secret},
		) {
			switch err := do(ctx, srv, cmd); {
			case errors.Is(err, tmux.ErrUntrusted):
				asked++
			case errors.Is(err, tmux.ErrArgument):
			case tmux.CommandName(cmd) == "load-buffer" && errors.Is(err, tmux.ErrNotFound): // before anything is sent
			default:
				t.Errorf("%s %T: %v", way, cmd, err)
			}
		}
		check.That(t, asked >= len(tmux.Commands)/2, "%s: only %d commands were sent", way, asked)
	}
	mu.Lock()
	defer mu.Unlock()
	check.That(t, !strings.Contains(got.String(), "SECRET"), "it got the file")
	check.Absent(t, planted)
}

// A file at a socket's path that is not a socket is left alone, and so is one in the place
// of tmux's lock.
func TestWhatIsNoSocketStays(t *testing.T) {
	t.Parallel()
	for _, place := range []struct {
		name string
		make func(path string) error
	}{
		{"a file", func(path string) error { return os.WriteFile(path, []byte("precious"), 0o600) }},
		{"an empty file", func(path string) error { return os.WriteFile(path, nil, 0o600) }},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o700) }},
		{"a FIFO", func(path string) error { return syscall.Mkfifo(path, 0o600) }},
		{"a link to a file", func(path string) error {
			return errors.Join(os.WriteFile(path+".real", []byte("precious"), 0o600), os.Symlink(path+".real", path))
		}},
		{"a link to nothing", func(path string) error { return os.Symlink(path+".gone", path) }},
		{"a file in the place of the lock", func(path string) error { return os.WriteFile(path+".lock", []byte("precious"), 0o600) }},
		{"a link in the place of the lock", func(path string) error { return os.Symlink("nothing", path+".lock") }},
	} {
		for _, named := range []bool{false, true} {
			for _, way := range transports {
				dir := shortDir(t, 0o700)
				cfg := tmux.Config{Binary: testserver.Binary(t), Transport: way, ConfigFile: "/dev/null", SocketPath: dir + "/s",
					Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "TMUX_TMPDIR=" + dir}}
				if named {
					cfg.SocketPath, cfg.SocketName = "", "s"
				}
				srv := testserver.Handle(t, cfg)
				path := srv.SocketPath()
				check.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
				check.OK(t, place.make(path))
				before := contentOf(t, filepath.Dir(path))
				ctx := testserver.Context(t)
				what := fmt.Sprintf("%s, named %v, %s", place.name, named, way)
				check.Kind(t, what, do(ctx, srv, tmux.NewSession{Detached: true, Command: []string{"sleep 1000"}}), tmux.ErrArgument)
				if err := do(ctx, srv, tmux.ListSessions{}); !errors.Is(err, tmux.ErrArgument) && !strings.Contains(place.name, "lock") {
					t.Errorf("%s: a look: %v", what, err)
				}
				srv.Kill(ctx)
				check.Equal(t, what+": before\n", before, contentOf(t, filepath.Dir(path)))
			}
		}
	}
}

// contentOf describes what is in a directory.
func contentOf(t *testing.T, dir string) (all string) {
	entries := check.Must[[]os.DirEntry](t)(os.ReadDir(dir))
	for _, e := range entries {
		info := check.Must[os.FileInfo](t)(e.Info())
		content := ""
		if info.Mode().IsRegular() {
			content = string(check.Must[[]byte](t)(os.ReadFile(filepath.Join(dir, e.Name()))))
		}
		all += fmt.Sprintf("%s %v %v %q\n", e.Name(), info.Mode(), info.Sys().(*syscall.Stat_t).Ino, content)
	}
	return all
}

// The files that commands do name are opened, whichever way they are named.
func TestFilesThatCommandsName(t *testing.T) {
	base := testserver.Started(t)
	dir := t.TempDir()
	t.Chdir(dir)
	check.OK(t, os.WriteFile("in,#{x}", []byte("text"), 0o600))
	check.OK(t, os.WriteFile("inner.conf", []byte("set -g @inner yes\n"), 0o600))
	check.OK(t, os.WriteFile("a1.conf", []byte("set -g @globbed yes\n"), 0o600))
	check.OK(t, os.WriteFile("outer.conf", []byte("source-file "+dir+"/inner.conf\n"), 0o600))
	for _, way := range []tmux.Transport{tmux.TransportNative, tmux.TransportExec} {
		srv, ctx := testserver.By(t, base, way), testserver.Context(t)
		testserver.Run(t, base, "set-option", "-gu", "@inner")
		testserver.Run(t, base, "set-option", "-gu", "@globbed")
		check.OK(t, do(ctx, srv,
			tmux.LoadBuffer{Buffer: "b", Path: dir + "/in,#{x}"}, tmux.LoadBuffer{Buffer: "b", Path: "in,#{x}"},
			tmux.SaveBuffer{Buffer: "b", Path: "out"}, tmux.SaveBuffer{Buffer: "b", Append: true, Path: dir + "/out"},
			tmux.SourceFile{Paths: []string{"outer.conf"}}, tmux.Raw{Name: "source-file", Args: []string{"-q", "--", "a?.conf"}},
			tmux.Raw{Name: "if-shell", Args: []string{"-F", "1", "saveb -b b " + dir + "/third ; loadb -b c inner.conf"}},
		))
		check.Equal(t, string(way)+": out", "texttext", string(check.Must[[]byte](t)(os.ReadFile("out"))))
		check.Equal(t, string(way)+": third", "text", string(check.Must[[]byte](t)(os.ReadFile("third"))))
		if got := testserver.Run(t, base, "show-options", "-gv", "@inner") + testserver.Run(t, base, "show-options", "-gv", "@globbed"); got != "yesyes" {
			t.Errorf("%s: sourced %q", way, got)
		}
		os.Remove("out")
		os.Remove("third")
	}
	// The tmux program itself does not say that it could not write.
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Logf("not tried: writing to a full disk: %v", err)
		return
	}
	err := do(testserver.Context(t), testserver.By(t, base, tmux.TransportNative), tmux.SaveBuffer{Buffer: "b", Path: "/dev/full"})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("saving a buffer on a full disk: %v", err)
	}
}

// tmux refuses a directory of named sockets that others may enter, even one with a
// server of the user's own.
func TestOpenDirectoryOfNamedSockets(t *testing.T) {
	t.Parallel()
	dir := shortDir(t, 0o700)
	own := fmt.Sprintf("%s/tmux-%d", dir, os.Getuid())
	check.OK(t, os.Mkdir(own, 0o700))
	check.OK(t, os.Chmod(own, 0o755))
	connected := make(chan struct{}, 100)
	serveAt(t, own+"/work", func(net.Conn) { connected <- struct{}{} })
	for _, way := range transports {
		srv := testserver.Handle(t, tmux.Config{SocketName: "work", Transport: way, Env: append(os.Environ(), "TMUX_TMPDIR="+dir)})
		err := do(testserver.Context(t), srv, tmux.ListSessions{})
		check.Kind(t, string(way), err, tmux.ErrUntrusted)
		check.That(t, err == nil || strings.Contains(err.Error(), "chmod 700 "+own), "%s: %v", way, err)
	}
	check.That(t, len(connected) == 0, "%d connections", len(connected))
}
