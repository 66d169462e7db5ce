package tmux

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// SetBuffer sets the text of a paste buffer or, with NewName, renames one. It is a no-op if
// Data is empty. Before tmux 3.4 it renames the newest buffer if Buffer does not exist. Use
// [LoadBuffer] for arbitrary bytes.
type SetBuffer struct {
	// Buffer is the name; if empty, tmux creates a buffer and names it.
	Buffer string `flag:"b"`
	// Append appends Data to the buffer.
	Append  bool   `flag:"a"`
	NewName string `flag:"n"`
	// Clipboard sends the data to the clipboard of Client's terminal too.
	Clipboard bool    `flag:"w"`
	Client    Target  `flag:"t"`
	Data      *string `arg:""`
}

// LoadBuffer sets a paste buffer to the content of a file, which [Server.Do] reads. It is a
// no-op if the file is empty.
type LoadBuffer struct {
	// Buffer is the name; if empty, tmux creates a buffer and names it.
	Buffer string `flag:"b"`
	// Clipboard sends the data to the clipboard of Client's terminal too.
	Clipboard bool   `flag:"w"`
	Client    Target `flag:"t"`
	// Path is the file; "-" reads Data instead.
	Path string `arg:"required,literal"`
	Data []byte `flag:"-"`
}

// SaveBuffer writes a paste buffer to a file, which [Server.Do] opens, or to the output if
// Path is "-".
type SaveBuffer struct {
	Buffer string `flag:"b"` // the newest if empty
	Append bool   `flag:"a"`
	Path   string `arg:"required,literal"`
}

// ShowBuffer prints a paste buffer, byte for byte.
type ShowBuffer struct {
	Buffer string `flag:"b"` // the newest if empty
}

// DeleteBuffer deletes a paste buffer. Before tmux 3.4 it deletes the newest one if Buffer
// does not exist; [BufferRef.Delete] fails instead.
type DeleteBuffer struct {
	Buffer string `flag:"b"` // the newest if empty
}

// PasteBuffer sends a paste buffer to the program in a pane, even if the pane is in a mode.
type PasteBuffer struct {
	Target Target `flag:"t"`
	Buffer string `flag:"b"` // the newest if empty
	// Delete deletes the buffer afterwards.
	Delete bool `flag:"d"`
	// Bracket brackets the data if the program has enabled bracketed paste.
	Bracket bool `flag:"p"`
	// Separator replaces each newline; nil means a carriage return.
	Separator *string `flag:"s"`
	// Newlines keeps newlines as they are.
	Newlines bool `flag:"r"`
	// Raw writes control bytes unchanged. tmux before 3.7 always does; later versions
	// otherwise write them as text such as \033.
	Raw bool `flag:"S" since:"3.7"`
}

func (SetBuffer) commandName() string    { return "set-buffer" }
func (LoadBuffer) commandName() string   { return "load-buffer" }
func (SaveBuffer) commandName() string   { return "save-buffer" }
func (ShowBuffer) commandName() string   { return "show-buffer" }
func (DeleteBuffer) commandName() string { return "delete-buffer" }
func (PasteBuffer) commandName() string  { return "paste-buffer" }

func (c LoadBuffer) stdin() []byte {
	if c.Path != "-" {
		return nil
	}
	return append([]byte{}, c.Data...)
}

// Buffers returns the paste buffers for which the filter is true, or all if it is empty,
// newest first.
func (s *Server) Buffers(ctx context.Context, filter Format) ([]Buffer, error) {
	return List[Buffer](ctx, s, ListBuffers{Filter: filter})
}

// SetBuffer sets the paste buffer of this name, creating it if necessary. The data may be
// of any size and hold any bytes. It fails with [ErrArgument] if data is empty, because tmux
// has no empty buffers, or if name is: for a buffer that tmux names, use the command
// [LoadBuffer].
func (s *Server) SetBuffer(ctx context.Context, name string, data []byte) (BufferRef, error) {
	if err := checkBuffer(name, data); err != nil {
		return BufferRef{}, err
	}
	if _, err := s.Do(ctx, LoadBuffer{Buffer: name, Path: "-", Data: data}); err != nil {
		return BufferRef{}, err
	}
	return s.Buffer(name), nil
}

// LoadBuffer sets the paste buffer of this name to all that it reads from data, until
// [io.EOF]: see [Server.SetBuffer]. tmux gets it at the end. The context does not bound
// reading.
func (s *Server) LoadBuffer(ctx context.Context, name string, data io.Reader) (BufferRef, error) {
	all, err := io.ReadAll(data)
	if err != nil {
		return BufferRef{}, fmt.Errorf("load paste buffer %s: %w", name, err)
	}
	return s.SetBuffer(ctx, name, all)
}

func checkBuffer(name string, data []byte) error {
	switch {
	case strings.ContainsFunc(name, unicode.IsControl), !utf8.ValidString(name):
		return argumentError("a paste buffer with the name %q, which tmux would change from 3.8 on", name)
	case name == "":
		return argumentError("a paste buffer without a name")
	case len(data) == 0:
		return argumentError("no data for paste buffer %s: tmux has no empty buffers", name)
	}
	return nil
}

// Bytes returns the content of the buffer.
func (r BufferRef) Bytes(ctx context.Context) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return r.srv.output(ctx, ShowBuffer{Buffer: r.Name})
}

// SaveTo writes the content of the buffer to w, as it arrives and whatever its size. The
// context does not bound writing to w.
func (r BufferRef) SaveTo(ctx context.Context, w io.Writer) error {
	return r.do(ctx, streamed{ShowBuffer{Buffer: r.Name}, w})
}

// Append adds text to the end of the buffer, creating it if necessary.
func (r BufferRef) Append(ctx context.Context, text string) error {
	if err := checkBuffer(r.Name, []byte(text)); err != nil {
		return err
	}
	return r.do(ctx, SetBuffer{Buffer: r.Name, Append: true, Data: &text})
}

// Rename renames the buffer. It fails with [ErrExists] if the name is taken. That is
// checked first, because tmux from 3.3 on would silently delete the other buffer.
func (r BufferRef) Rename(ctx context.Context, name string) (BufferRef, error) {
	if name == "" {
		return BufferRef{}, argumentError("rename paste buffer %s: no name", r.Name)
	}
	taken, err := List[struct {
		BufferRef `tmux:"buffer_name"`
	}](ctx, r.srv, ListBuffers{Filter: MatchEqual("buffer_name", name)})
	if err != nil {
		return BufferRef{}, err
	}
	if len(taken) > 0 {
		return BufferRef{}, fmt.Errorf("rename paste buffer %s: %s: %w", r.Name, name, ErrExists)
	}
	if err := r.change(ctx, SetBuffer{Buffer: r.Name, NewName: name}); err != nil {
		return BufferRef{}, err
	}
	return r.srv.Buffer(name), nil
}

// Delete deletes the buffer.
func (r BufferRef) Delete(ctx context.Context) error {
	return r.change(ctx, DeleteBuffer{Buffer: r.Name})
}

// change runs a command that requires the buffer: before tmux 3.4 it would act on another
// one if the buffer does not exist.
func (r BufferRef) change(ctx context.Context, cmd Command) error {
	v, err := r.srv.Version(ctx)
	if err != nil {
		return err
	}
	if exactBuffers.In(v) {
		return r.do(ctx, cmd)
	}
	return r.do(ctx, SaveBuffer{Buffer: r.Name, Append: true, Path: os.DevNull}, cmd)
}

func (r BufferRef) do(ctx context.Context, cmds ...Command) error {
	if err := r.check(); err != nil {
		return err
	}
	return r.srv.run(ctx, cmds...)
}

// check refuses a buffer without a name, for which tmux would take the newest.
func (r BufferRef) check() error {
	if r.Name == "" {
		return argumentError("a paste buffer without a name")
	}
	return nil
}

// PasteOptions are the options of a paste. The zero value writes exactly the given bytes.
type PasteOptions struct {
	// Bracket brackets the data if the program has enabled bracketed paste: an editor then
	// treats it as pasted, not typed. The caller must make sure that the data does not
	// contain the sequence that ends a paste.
	Bracket bool
	// Returns sends a carriage return for each newline, as the Enter key and a
	// terminal's own paste do.
	Returns bool
}

// pasted numbers the buffers of [PaneRef.Paste].
var pasted atomic.Uint64

// Paste writes data to the program in the pane through a paste buffer that is deleted
// afterwards. Unlike [PaneRef.SendText], it may contain NUL bytes, reaches the program
// while the pane is in a mode, ignores synchronize-panes, and may be bracketed. It fails
// with [ErrNoInput] if the pane has no program that could read it.
func (r PaneRef) Paste(ctx context.Context, data []byte, opts PasteOptions) error {
	if len(data) == 0 {
		return argumentError("no data to paste into %s", r.ID)
	}
	if err := r.srv.usable(); err != nil {
		return err
	}
	buffer := r.srv.Buffer(fmt.Sprintf("paste-%s-%d", r.srv.marker, pasted.Add(1)))
	paste, err := buffer.Pasting(ctx, r, opts)
	if err != nil {
		return err
	}
	paste.Delete = true
	err = r.typed(ctx, []Command{LoadBuffer{Buffer: buffer.Name, Path: "-", Data: data}}, unread, paste)
	if err != nil {
		// It was not pasted, and the buffer is left.
		settle(ctx, func(within context.Context) { buffer.Delete(within) })
		return fmt.Errorf("paste into %s: %w", r.ID, err)
	}
	return nil
}

// Pasting returns the command that pastes the buffer into the target's pane, for a [Batch],
// [Server.Do] or [Server.Script].
func (r BufferRef) Pasting(ctx context.Context, target Target, opts PasteOptions) (PasteBuffer, error) {
	if err := cmp.Or(r.check(), checkTarget(target, r.srv)); err != nil {
		return PasteBuffer{}, err
	}
	v, err := r.srv.Version(ctx)
	if err != nil {
		return PasteBuffer{}, err
	}
	return PasteBuffer{
		Target: target, Buffer: r.Name, Bracket: opts.Bracket, Newlines: !opts.Returns,
		Raw: rawPastes.In(v),
	}, nil
}
