package tmux_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tmuxmcp/internal/test/check"
	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/tmux"
)

// counted counts what is read from it.
type counted struct {
	io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Everything that is written arrives, in order, and little is sent before it is read.
func TestWriter(t *testing.T) {
	t.Parallel()
	srv := testserver.Started(t)
	for what, c := range map[string]struct{ stty, line string }{
		"gathered lines":         {"stty -echo", strings.Repeat("x", 4095) + "\n"},
		"short lines":            {"stty -echo", "0123456789\n"},
		"lines ended by returns": {"stty -echo", strings.Repeat("x", 3000) + "\r"},
		"each byte":              {"stty raw -echo", strings.Repeat("no end ü€\x00\x01\x03\x04\x11\x13\r", 5000)},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ctx := testserver.Context(t)
			dir := t.TempDir()
			text := []byte(strings.Repeat(c.line, 1+600_000/len(c.line)))
			id := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}",
				fmt.Sprintf("%s; echo ready; until [ -e %s/go ]; do sleep 0.02; done; exec head -c %d >%[2]s/got", c.stty, dir, len(text)))
			testserver.WaitScreen(t, srv, id, "ready")
			from, done := &counted{Reader: bytes.NewReader(text)}, make(chan error)
			go func() {
				_, err := io.Copy(srv.Pane(tmux.PaneID(id)).Writer(ctx), from)
				done <- err
			}()
			testserver.Wait(t, srv, id, "something to be read", func() bool { return from.n.Load() > 0 })
			for range 200 { // the time in which all would be sent
				check.Must[string](t)(srv.Pane(tmux.PaneID(id)).Display(ctx, "#{pane_id}"))
			}
			check.That(t, from.n.Load() < 200_000, "%d bytes were sent before any was read", from.n.Load())
			check.OK(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
			check.OK(t, <-done)
			var got []byte
			testserver.Wait(t, srv, "%0", "everything", func() bool {
				got, _ = os.ReadFile(filepath.Join(dir, "got"))
				return len(got) == len(text)
			})
			if want := text; !bytes.Equal(got, want) && !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r"), []byte("\n"))) {
				t.Errorf("other bytes arrived")
			}
		})
	}
}

func TestWriterRefusesLongLines(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	path := filepath.Join(t.TempDir(), "got")
	id := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", "stty -echo; echo ready; exec cat >"+path)
	testserver.WaitScreen(t, srv, id, "ready")
	pane := srv.Pane(tmux.PaneID(id))
	w := pane.Writer(ctx)
	writes := func(text string, want int, kind error) {
		t.Helper()
		n, err := io.WriteString(w, text)
		if n != want || !errors.Is(err, kind) {
			t.Errorf("%d of %d bytes: %v", n, len(text), err)
		}
	}
	writes("short\n"+strings.Repeat("x", 4096), 0, tmux.ErrArgument)
	writes(strings.Repeat("a\n", 5000)+strings.Repeat("x", 4096)+"\n", 2*4096, tmux.ErrArgument)
	writes(strings.Repeat("b", 4000), 4000, nil)
	writes(strings.Repeat("b", 96), 0, tmux.ErrArgument)
	writes(strings.Repeat("b", 95)+"\nend\n", 100, nil)
	want := strings.Repeat("a\n", 4096) + strings.Repeat("b", 4095) + "\nend\n"
	testserver.Wait(t, srv, id, "the lines", func() bool { got, _ := os.ReadFile(path); return string(got) == want })

	// A program that reads nothing is waited for until the context ends, and one that has
	// ended is an error.
	stuck := testserver.Run(t, srv, "new-window", "-d", "-P", "-F", "#{pane_id}", "stty raw -echo; echo ready; exec sleep 1000")
	testserver.WaitScreen(t, srv, stuck, "ready")
	ctx, cancel := context.WithCancel(ctx)
	from, done := &counted{Reader: strings.NewReader(strings.Repeat("x", 1<<20))}, make(chan error)
	go func() {
		_, err := io.Copy(srv.Pane(tmux.PaneID(stuck)).Writer(ctx), from)
		done <- err
	}()
	testserver.Wait(t, srv, stuck, "a write", func() bool { return from.n.Load() > 0 })
	cancel()
	check.Kind(t, "to a program that does not read", <-done, context.Canceled)
	check.OK(t, pane.Kill(testserver.Context(t)))
	_, err := pane.Writer(testserver.Context(t)).Write([]byte("x"))
	check.Kind(t, "to a pane that is gone", err, tmux.ErrNotFound)
}

// A capture and a buffer of any size are streamed.
func TestStreams(t *testing.T) {
	t.Parallel()
	srv, ctx := testserver.Started(t), testserver.Context(t)
	for _, way := range transports {
		srv := testserver.By(t, srv, way)
		pane := testserver.Drawn(t, srv, "printf 'one\\ntwo\\n'; echo drawn")
		testserver.WaitScreen(t, srv, string(pane.ID), "drawn")
		var got bytes.Buffer
		check.OK(t, pane.CaptureTo(ctx, &got, tmux.CapturePane{}))
		check.Equal(t, "capture", string(check.Must[[]byte](t)(pane.Capture(ctx, tmux.CapturePane{}))), got.String())
		check.Kind(t, "to a buffer too", pane.CaptureTo(ctx, &got, tmux.CapturePane{Buffer: "x"}), tmux.ErrArgument)
		got.Reset()
		check.Kind(t, "of a pane that is gone", srv.Pane("%99").CaptureTo(ctx, &got, tmux.CapturePane{}), tmux.ErrNotFound)
		check.Equal(t, "written of no pane", "", got.String())

		text := strings.Repeat("all bytes\x00\xff\n\r%", 1_500_000) // more than a call returns
		buffer := check.Must[tmux.BufferRef](t)(srv.LoadBuffer(ctx, "big; #{x}", strings.NewReader(text)))
		check.Kind(t, "as one text", check.Second(buffer.Bytes(ctx)), tmux.ErrTooMuch)
		check.OK(t, buffer.SaveTo(ctx, &got))
		check.That(t, got.String() == text, "%s: %d other bytes in the buffer", way, got.Len())
		check.OK(t, buffer.Delete(ctx))
		check.Kind(t, "a buffer that is gone", buffer.SaveTo(ctx, io.Discard), tmux.ErrNotFound)
		check.Kind(t, "no buffer's name", srv.Buffer("").SaveTo(ctx, io.Discard), tmux.ErrArgument)
		check.Kind(t, "nothing to load", check.Second(srv.LoadBuffer(ctx, "none", strings.NewReader(""))), tmux.ErrArgument)
		failure := errors.New("the disk is full")
		check.Kind(t, "a writer that fails", pane.CaptureTo(ctx, failing{failure}, tmux.CapturePane{}), failure)
		_, err := srv.LoadBuffer(ctx, "none", failing{failure})
		check.Kind(t, "a reader that fails", err, failure)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error)  { return 0, f.error }
func (f failing) Write([]byte) (int, error) { return 0, f.error }
