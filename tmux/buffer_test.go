package tmux_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tmuxmcp/tmux"
	"tmuxmcp/tmux/tmuxtest"
)

func FuzzBuffer(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s))
	}
	f.Add([]byte("a\x00b\x00"))
	srv := started(f)
	pane := record(f, srv)
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx := tmuxtest.Context(t)
		buf, err := srv.SetBuffer(ctx, "x", data)
		if len(data) == 0 {
			if !errors.Is(err, tmux.ErrArgument) {
				t.Fatalf("an empty buffer was not refused: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := buf.Bytes(ctx); err != nil || !bytes.Equal(got, data) {
			t.Errorf("set %q, got %q, %v", data, got, err)
		}
		if bytes.IndexByte(data, 0) >= 0 {
			return // the recorder's end mark
		}
		if err := pane.Paste(ctx, data, tmux.PasteOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := pane.next(t); !bytes.Equal(got, data) {
			t.Errorf("pasted %q, the program got %q", data, got)
		}
	})
}

func TestBuffers(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	if got, err := srv.Buffers(ctx, ""); err != nil || len(got) != 0 {
		t.Errorf("on a fresh server: %v, %v", got, err)
	}
	names := []string{"a b", "c:d", "plain", "#{x}", "%Y;", "-n"}
	for _, name := range names {
		if _, err := srv.SetBuffer(ctx, name, []byte("content of "+name)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	all, err := srv.Buffers(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
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
	some, err := srv.Buffers(ctx, tmux.MatchToken("buffer_name", "*:*", tmux.Match{Glob: true}))
	if err != nil || len(some) != 1 || some[0].Name != "c:d" {
		t.Errorf("filtered: %v, %v", some, err)
	}
	b := srv.Buffer("a b")
	if err := b.Append(ctx, " and more;"); err != nil {
		t.Fatal(err)
	}
	b, err = b.Rename(ctx, "new name")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := b.Bytes(ctx); string(data) != "content of a b and more;" {
		t.Errorf("appended and renamed: %q, %v", data, err)
	}
	if err := b.Delete(ctx); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"Delete": b.Delete(ctx), "Bytes": second(b.Bytes(ctx)), "Rename": second(b.Rename(ctx, "z"))} {
		if !errors.Is(err, tmux.ErrNotFound) {
			t.Errorf("%s of a buffer that is gone: %v", what, err)
		}
	}
	for what, err := range map[string]error{"Append": b.Append(ctx, ""), "SetBuffer": second(srv.SetBuffer(ctx, "", []byte("x"))), "Delete": srv.Buffer("").Delete(ctx)} {
		if !errors.Is(err, tmux.ErrArgument) {
			t.Errorf("%s with nothing: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestLargeBuffer(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	data := make([]byte, 3<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	b, err := srv.SetBuffer(ctx, "large", data)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Bytes(ctx); err != nil || !bytes.Equal(got, data) {
		t.Errorf("of %d bytes %d came back, %v", len(data), len(got), err)
	}
	var batch tmux.Batch
	first, last := tmux.Add(&batch, tmux.ShowBuffer{Buffer: "large"}), tmux.Add(&batch, tmux.ShowBuffer{Buffer: "large"})
	if err := batch.Do(ctx, srv); err != nil || !bytes.Equal(*first, data) || !bytes.Equal(*last, data) {
		t.Errorf("twice in one list: %d and %d bytes, %v", len(*first), len(*last), err)
	}
}

func TestRenameKeepsTheOther(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	a, err := srv.SetBuffer(ctx, "a", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.SetBuffer(ctx, "b", []byte("two")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Rename(ctx, "b"); !errors.Is(err, tmux.ErrExists) {
		t.Errorf("onto another: %v", err)
	}
	c, err := a.Rename(ctx, "c d")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[tmux.BufferRef]string{c: "one", srv.Buffer("b"): "two"} {
		if got, err := ref.Bytes(ctx); string(got) != want {
			t.Errorf("%s holds %q, %v", ref.Name, got, err)
		}
	}
}

func TestBufferFiles(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	path := filepath.Join(t.TempDir(), "#{pane_id} %Y #(x);")
	if _, err := srv.Do(ctx, tmux.LoadBuffer{Buffer: "x", Path: "-", Data: []byte("to\x00file")}, tmux.SaveBuffer{Buffer: "x", Path: path}); err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Do(ctx, tmux.LoadBuffer{Buffer: "y", Path: path}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); string(got) != "to\x00file" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if got, err := srv.Buffer("y").Bytes(ctx); string(got) != "to\x00file" {
		t.Errorf("loaded %q, %v", got, err)
	}
	_, err := srv.Do(ctx, tmux.LoadBuffer{Buffer: "z", Path: path + "none"})
	if !errors.Is(err, tmux.ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err = srv.Do(ctx, tmux.LoadBuffer{Buffer: "a", Path: "-", Data: []byte("1")}, tmux.LoadBuffer{Buffer: "b", Path: "-", Data: []byte("2")}); err != nil {
		t.Errorf("two that read standard input: %v", err)
	}
	for name, want := range map[string]string{"a": "1", "b": "2"} {
		if got, err := srv.Buffer(name).Bytes(ctx); string(got) != want {
			t.Errorf("buffer %s holds %q, %v", name, got, err)
		}
	}
}

func TestPasteOptions(t *testing.T) {
	t.Parallel()
	srv, ctx := started(t), tmuxtest.Context(t)
	pane := record(t, srv)
	if err := pane.Paste(ctx, []byte("a\nb"), tmux.PasteOptions{Returns: true}); err != nil {
		t.Fatal(err)
	}
	if got := string(pane.next(t)); got != "a\rb" {
		t.Errorf("with returns: %q", got)
	}
	if err := pane.CopyMode(ctx); err != nil {
		t.Fatal(err)
	}
	if err := pane.Paste(ctx, []byte("in mode"), tmux.PasteOptions{Bracket: true}); err != nil {
		t.Fatal(err)
	}
	if err := pane.ExitMode(ctx); err != nil {
		t.Fatal(err)
	}
	if got := string(pane.next(t)); got != "in mode" {
		t.Errorf("into a pane in copy mode, without brackets asked for: %q", got)
	}
	if rest, err := srv.Buffers(ctx, ""); err != nil || len(rest) > 0 {
		t.Errorf("left buffers %v, %v", rest, err)
	}
}
