package tmux_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func TestBuffers(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	equal(t, "on a fresh server", 0, len(must[[]tmux.Buffer](t)(srv.Buffers(ctx, ""))))
	names := []string{"a b", "c:d", "plain", "#{x}", "%Y;", "-n"}
	for _, name := range names {
		ok(t, second(srv.SetBuffer(ctx, name, []byte("content of "+name))))
	}
	all := must[[]tmux.Buffer](t)(srv.Buffers(ctx, ""))
	got := []string{}
	for _, b := range all {
		got = append(got, b.Name)
		if data, err := b.Bytes(ctx); err != nil || string(data) != "content of "+b.Name || b.Size != int64(len(data)) || b.Created.IsZero() {
			t.Errorf("%q holds %q, %v; listed as %+v", b.Name, data, err, b)
		}
	}
	if diff := cmp.Diff(names, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
	filter := tmux.MatchToken("buffer_name", "*:*", tmux.Match{Glob: true})
	equal(t, "filtered", "c:d", only[tmux.Buffer](t)(srv.Buffers(ctx, filter)).Name)
	b := srv.Buffer("a b")
	ok(t, b.Append(ctx, " and more;"))
	b = must[tmux.BufferRef](t)(b.Rename(ctx, "new name"))
	equal(t, "appended and renamed", "content of a b and more;", string(must[[]byte](t)(b.Bytes(ctx))))
	ok(t, b.Delete(ctx))
	for what, err := range map[string]error{"Delete": b.Delete(ctx), "Bytes": second(b.Bytes(ctx)), "Rename": second(b.Rename(ctx, "z"))} {
		isKind(t, what+" of a buffer that is gone", err, tmux.ErrNotFound)
	}
	for what, err := range map[string]error{"Append": b.Append(ctx, ""), "SetBuffer": second(srv.SetBuffer(ctx, "", []byte("x"))), "Delete": srv.Buffer("").Delete(ctx)} {
		isKind(t, what+" with nothing", err, tmux.ErrArgument)
	}
}

func TestRenameKeepsTheOther(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	a := must[tmux.BufferRef](t)(srv.SetBuffer(ctx, "a", []byte("one")))
	must[tmux.BufferRef](t)(srv.SetBuffer(ctx, "b", []byte("two")))
	isKind(t, "onto another", second(a.Rename(ctx, "b")), tmux.ErrExists)
	c := must[tmux.BufferRef](t)(a.Rename(ctx, "c d"))
	for ref, want := range map[tmux.BufferRef]string{c: "one", srv.Buffer("b"): "two"} {
		equal(t, ref.Name, want, string(must[[]byte](t)(ref.Bytes(ctx))))
	}
}

func TestBufferFiles(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	path := filepath.Join(t.TempDir(), "#{pane_id} %Y #(x);")
	ok(t, do(ctx, srv, tmux.LoadBuffer{Buffer: "x", Path: "-", Data: []byte("to\x00file")}, tmux.SaveBuffer{Buffer: "x", Path: path}))
	ok(t, do(ctx, srv, tmux.LoadBuffer{Buffer: "y", Path: path}))
	equal(t, "the file", "to\x00file", string(must[[]byte](t)(os.ReadFile(path))))
	equal(t, "loaded", "to\x00file", string(must[[]byte](t)(srv.Buffer("y").Bytes(ctx))))
	isKind(t, "a file that is not there", second(srv.Do(ctx, tmux.LoadBuffer{Buffer: "z", Path: path + "none"})), tmux.ErrNotFound)
	ok(t, do(ctx, srv, tmux.LoadBuffer{Buffer: "a", Path: "-", Data: []byte("1")}, tmux.LoadBuffer{Buffer: "b", Path: "-", Data: []byte("2")})) // two that read standard input
	for name, want := range map[string]string{"a": "1", "b": "2"} {
		equal(t, "buffer "+name, want, string(must[[]byte](t)(srv.Buffer(name).Bytes(ctx))))
	}
}

func TestPasteOptions(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	pane := record(t, srv)
	ok(t, pane.Paste(ctx, []byte("a\nb"), tmux.PasteOptions{Returns: true}))
	equal(t, "with returns", "a\rb", string(pane.next(t)))
	ok(t, pane.CopyMode(ctx))
	ok(t, pane.Paste(ctx, []byte("in mode"), tmux.PasteOptions{Bracket: true}))
	ok(t, pane.ExitMode(ctx))
	equal(t, "into a pane in copy mode, without brackets asked for", "in mode", string(pane.next(t)))
	equal(t, "left buffers", 0, len(must[[]tmux.Buffer](t)(srv.Buffers(ctx, ""))))
}
