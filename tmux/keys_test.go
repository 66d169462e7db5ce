package tmux_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tmuxmcp/internal/keys"
	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// recorder is a pane whose program writes every byte that it gets to a file.
type recorder struct {
	tmux.PaneRef
	path string
	seen int
}

func record(t testing.TB, srv *tmux.Server) *recorder {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bytes")
	id := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", "stty raw -echo; echo ready; exec cat >"+path)
	testserver.WaitScreen(t, srv, id, "ready")
	return &recorder{PaneRef: srv.Pane(tmux.PaneID(id)), path: path}
}

// next returns what has arrived since the last call, up to a NUL byte sent now.
func (r *recorder) next(t testing.TB) []byte {
	t.Helper()
	check.OK(t, do(testserver.Context(t), r.Server(), tmux.SendKeys{Target: r, Hex: true, Keys: []string{"0"}}))
	var got []byte
	testserver.Wait(t, r.Server(), string(r.ID), "end of what was typed", func() bool {
		data, _ := os.ReadFile(r.path)
		got = data[min(r.seen, len(data)):]
		return bytes.HasSuffix(got, []byte{0})
	})
	r.seen += len(got)
	return got[:len(got)-1]
}

func TestSendTextOfAnyLength(t *testing.T) {
	t.Parallel()
	pane := record(t, testserver.Started(t))
	for _, text := range []string{
		strings.Repeat("0123456789abcde\n", 4096),
		strings.Repeat("ü€😀\t;", 5000),
		strings.Repeat("x", 40000) + ";",
		strings.Repeat("a line of text\n", 70000),
	} {
		check.OK(t, pane.SendText(testserver.Context(t), text))
		check.Equal(t, fmt.Sprintf("%d bytes", len(text)), text, string(pane.next(t)))
	}
}

// A program that asked for extended keys gets the bytes of the text too.
func TestSendTextToExtendedKeys(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	testserver.Run(t, srv, "set-option", "-s", "extended-keys", "on")
	path := filepath.Join(t.TempDir(), "bytes")
	id := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", `stty raw -echo; printf '\033[>4;2mready'; exec cat >`+path)
	testserver.WaitScreen(t, srv, id, "ready")
	pane := &recorder{PaneRef: srv.Pane(tmux.PaneID(id)), path: path}
	for _, text := range []string{"a\nb", "tab\tand\r", "\x01\x1f\x7f\x1b", "ü"} {
		check.OK(t, pane.SendText(ctx, text))
		check.Equal(t, "sent", text, string(pane.next(t)))
	}
}

func TestSendKeysByName(t *testing.T) {
	t.Parallel()
	pane, ctx := record(t, testserver.Started(t)), testserver.Context(t)
	for _, test := range []struct {
		keys []string
		want string
	}{
		{[]string{"C-a", "Enter", "Escape", "Up"}, "\x01\r\x1b\x1b[A"},
		{[]string{"-", ";", "ü", "\\", "Tab"}, "-;ü\\\t"},
		{[]string{"M-x", "^a", "enter", "0x41"}, "\x1bx\x01\rA"},
	} {
		check.OK(t, pane.SendKeys(ctx, test.keys...))
		check.Equal(t, fmt.Sprintf("%q", test.keys), test.want, string(pane.next(t)))
	}
	for _, test := range []struct {
		cmd  tmux.SendKeys
		want string
	}{
		{tmux.SendKeys{Repeat: 3, Keys: []string{"x"}}, "xxx"},
		{tmux.SendKeys{Keys: []string{"-x", "a;", "NoSuchKey"}}, "-xa;NoSuchKey"},
		{tmux.SendKeys{Repeat: 3}, ""},
		{tmux.SendKeys{Reset: true}, ""},
		{tmux.SendKeys{Hex: true, Keys: []string{"1b", "ff"}}, "\x1b\xff"},
		{tmux.SendKeys{Literal: true, Keys: []string{"Enter"}}, "Enter"},
	} {
		test.cmd.Target = pane
		check.OK(t, check.Second(pane.Server().Do(ctx, test.cmd)))
		check.Equal(t, fmt.Sprintf("%+v", test.cmd), test.want, string(pane.next(t)))
	}
	check.OK(t, pane.SendLine(ctx, "ls; #{x}"))
	check.Equal(t, "a line", "ls; #{x}\r", string(pane.next(t)))
}

// TestKeyReaches: each key that is said to reach the program does so as this key. One that
// tmux does not send arrives as its name, as a key with fewer modifiers, or not at all.
func TestKeyReaches(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	testserver.Run(t, srv, "set-option", "-s", "extended-keys", "on")
	names := strings.Fields("Up Down Left Right Home End IC Insert DC Delete NPage PageDown PgDn PPage PageUp PgUp BSpace BTab Enter Escape Space Tab" +
		" F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 ü 你")
	for c := '!'; c <= '~'; c++ {
		names = append(names, string(c))
	}
	for _, asks := range []string{"", "1", "2"} {
		path := filepath.Join(t.TempDir(), "bytes")
		id := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", `stty raw -echo; printf '\033[>4;`+asks+`m'; printf ready; exec cat >`+path)
		testserver.WaitScreen(t, srv, id, "ready")
		pane := &recorder{PaneRef: srv.Pane(tmux.PaneID(id)), path: path}
		sent := map[string]string{}
		for _, name := range names {
			for _, modifiers := range []string{"", "C-", "M-", "S-", "C-M-", "C-S-", "M-S-", "C-M-S-"} {
				key := modifiers + name
				if strings.Contains(modifiers, "C-") && strings.Contains("Space @ 2 `", name) {
					continue // a NUL, which ends what is recorded
				}
				is, err := tmux.KeyReaches(ctx, pane.PaneRef, key)
				check.OK(t, err)
				if !is {
					if keys.Plain(key) {
						t.Errorf("%s is plain, and does not reach a program in mode %q", key, asks)
					}
					continue
				}
				check.OK(t, pane.SendKeys(ctx, key))
				got := string(pane.next(t))
				if got == "" || got == key && modifiers != "" {
					t.Errorf("%s arrives as %q in mode %q", key, got, asks)
				}
				for _, fewer := range []string{"", "C-", "M-", "S-", "C-M-", "C-S-", "M-S-"} {
					if other, known := sent[fewer+name]; known && other == got {
						t.Errorf("%s arrives as %s, %q, in mode %q", key, fewer+name, got, asks)
					}
				}
				sent[key] = got
			}
		}
		v := check.Must[tmux.Version](t)(srv.Version(ctx))
		check.Equal(t, "S-Enter reaches a program in mode "+asks, v.Compare(tmux.Version{Major: 3, Minor: 5}) >= 0 && asks != "", sent["S-Enter"] != "")
	}
}
