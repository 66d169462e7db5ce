package tools

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"tmuxmcp/internal/lazy"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
	"tmuxmcp/tmux/prompt"
)

// The buffer tools can only use paste buffers made by load_buffer: see [bufferName]. tmux
// answers them at once, so they give up early on a tmux that is stuck; except paste_buffer,
// which may have to ask the user.
const bufferTime = 5 * time.Second

// Buffers are the paste buffers that load_buffer has made. It is safe for concurrent use.
type Buffers struct {
	// Time is the constant bufferTime, except in tests.
	Time time.Duration
	mu   sync.Mutex
	with map[string]*tmux.Server // servers that hold buffers of ours, by socket
}

// RemovalTime bounds the removal of buffers at the end, per server.
var RemovalTime = 4 * time.Second

// NewBuffers returns no buffers yet.
func NewBuffers() *Buffers {
	return &Buffers{Time: bufferTime, with: map[string]*tmux.Server{}}
}

// bufferName matches the paste buffers that this program creates. No other buffer is ever
// shown, pasted or deleted, since it may hold the user's clipboard.
var bufferName = lazy.Regexp(`^libtmux_mcp_[0-9a-f]{32}_[A-Za-z0-9_.-]{1,64}$`)

// made records that a tmux server holds one of our buffers.
func (b *Buffers) made(srv *tmux.Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.with[srv.SocketPath()] = srv
}

// Remove deletes our buffers on the servers where some were created. Other servers are not
// contacted. It calls failed for one where that failed.
func (b *Buffers) Remove(failed func(socket string, err error)) {
	b.mu.Lock()
	servers := b.with
	b.with = map[string]*tmux.Server{}
	b.mu.Unlock()
	for socket, srv := range servers {
		ctx, cancel := context.WithTimeout(context.Background(), RemovalTime)
		type buffer struct {
			Name string `tmux:"buffer_name"`
		}
		buffers, err := tmux.List[buffer](ctx, srv, tmux.ListBuffers{Filter: tmux.MatchToken("buffer_name", "libtmux_mcp_*", tmux.MatchOptions{Glob: true})})
		for _, found := range buffers {
			if bufferName().MatchString(found.Name) {
				err = srv.Buffer(found.Name).Delete(ctx)
			}
		}
		if err != nil {
			failed(socket, err)
		}
		cancel()
	}
}

// bounded returns a context that ends when tmux has taken too long.
func (b *Buffers) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return tmux.WithTimeout(ctx, b.Time)
}

var logicalName = lazy.Regexp(`^[A-Za-z0-9_.-]{1,64}$`)

// bufferRef is how the tools refer to a buffer.
type bufferRef struct {
	BufferName  string  `json:"buffer_name"`
	LogicalName *string `json:"logical_name"`
}

func loadBuffer(b *Buffers) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "load_buffer", Title: "Load tmux Buffer", Kind: tool.Creates, Set: tool.Buffers,
		Aim: target.Nowhere, Harm: guard.Harmless,
		Desc: "Store text in a new tmux paste buffer, to paste it several times with paste_buffer. Returns the buffer's name. To paste text once use paste_text.",
	}, func(ctx context.Context, c tool.Call, in loadBufferIn) (ref bufferRef, err error) {
		logical := "buf"
		if in.LogicalName != nil && *in.LogicalName != "" {
			logical = *in.LogicalName
		}
		if !logicalName().MatchString(logical) {
			return ref, reply.Faultf(reply.KindValidation, "Invalid logical buffer name: %.80q", logical).
				Suggest("a name has 1 to 64 letters, digits and . _ -")
		}
		if in.Content == "" {
			return ref, reply.Argument("content", "must not be empty: tmux has no empty buffers")
		}
		ctx, cancel := b.bounded(ctx)
		defer cancel()
		name := prompt.NewBufferName(logical)
		// Before the call: it may create the buffer even if it is cut off.
		b.made(c.Tmux)
		_, err = c.Tmux.SetBuffer(ctx, name, []byte(in.Content))
		return bufferRef{name, in.LogicalName}, err
	})
}

type loadBufferIn struct {
	Content     string  `json:"content"`
	LogicalName *string `json:"logical_name,omitempty" desc:"becomes part of the buffer's name; letters, digits, . _ -"`
	target.OnSocket
}

// ownBuffer names a buffer that load_buffer created.
type ownBuffer struct {
	BufferName string `json:"buffer_name" desc:"as returned by load_buffer"`
}

func (o ownBuffer) Check(tool.Limits) error {
	if !bufferName().MatchString(o.BufferName) {
		return reply.Faultf(reply.KindValidation, "Invalid buffer name: %.120q", o.BufferName).
			Suggest("load_buffer returns the names; tools cannot use other buffers")
	}
	return nil
}

// missing returns a fault if err means that the buffer is gone, otherwise err.
func (o ownBuffer) missing(err error) error {
	var e *tmux.Error
	if errors.As(err, &e) && errors.Is(err, tmux.ErrNotFound) && strings.Contains(e.Stderr, "buffer") {
		return reply.Faultf(reply.KindNotFound, "Object not found: buffer %s", o.BufferName).Suggest("load_buffer makes a new one")
	}
	return err
}

func pasteBuffer(k *typing.Keyboard) *tool.Tool {
	return typing.Tool(k, tool.Decl{
		Name: "paste_buffer", Title: "Paste tmux Buffer", Kind: tool.Shell, Set: tool.Buffers,
		Aim: target.Need(target.Pane),
		Desc: "Paste a buffer stored with load_buffer into a pane, like a paste from the keyboard. Newlines press Enter unless the program accepts " +
			"bracketed paste. The buffer is kept.",
	}, func(ctx context.Context, t *typing.Typist, on target.Object, in pasteBufferIn) (out reply.PaneText, err error) {
		buffer := t.Tmux.Buffer(in.BufferName)
		content, err := buffer.Bytes(ctx)
		if err != nil {
			return reply.PaneText{}, in.missing(err)
		}
		if err := typing.CheckPaste(in.BufferName, string(content), in.Bracket); err != nil {
			return reply.PaneText{}, err
		}
		// Pasted from another buffer: this one may be changed meanwhile.
		id, err := t.PasteInto(ctx, on, content, in.Bracket, false)
		return reply.PaneText{Result: reply.Say("Pasted %s into pane %s", in.BufferName, id), PaneID: string(id)}, err
	})
}

type pasteBufferIn struct {
	ownBuffer
	target.SelectPane
	Bracket bool `json:"bracket" default:"true" desc:"mark it as a paste for programs that ask for it"`
	target.OnSocket
}

type bufferContent struct {
	BufferName            string `json:"buffer_name"`
	Content               string `json:"content" exact:"true"`
	ContentTruncated      bool   `json:"content_truncated"`
	ContentTruncatedLines int    `json:"content_truncated_lines"`
}

func showBuffer(b *Buffers) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "show_buffer", Title: "Show tmux Buffer", Kind: tool.Reads, Set: tool.Buffers,
		Aim:  target.Nowhere,
		Desc: "Read the content of a buffer stored with load_buffer.",
	}, func(ctx context.Context, c tool.Call, in showBufferIn) (out bufferContent, err error) {
		ctx, cancel := b.bounded(ctx)
		defer cancel()
		content, err := c.Tmux.Buffer(in.BufferName).Bytes(ctx)
		if err != nil {
			return out, in.missing(err)
		}
		lines, cut := reply.LastLines(strings.SplitAfter(strings.TrimSuffix(string(content), "\n"), "\n"), in.MaxLines)
		text := strings.Join(lines, "")
		if strings.HasSuffix(string(content), "\n") {
			text += "\n"
		}
		return bufferContent{in.BufferName, text, cut > 0, cut}, nil
	})
}

type showBufferIn struct {
	ownBuffer
	MaxLines *int `json:"max_lines" default:"500" min:"1" desc:"the last; null: all"`
	target.OnSocket
}

func deleteBuffer(b *Buffers) *tool.Tool {
	return tool.New(tool.Decl{
		Name: "delete_buffer", Title: "Delete tmux Buffer", Kind: tool.Discards, Set: tool.Buffers,
		Aim: target.Nowhere, Harm: guard.Harmless,
		Desc: "Delete a buffer stored with load_buffer.",
	}, func(ctx context.Context, c tool.Call, in deleteBufferIn) (out reply.Text, err error) {
		ctx, cancel := b.bounded(ctx)
		defer cancel()
		return reply.Text{Result: reply.Say("Deleted %s", in.BufferName)}, in.missing(c.Tmux.Buffer(in.BufferName).Delete(ctx))
	})
}

type deleteBufferIn struct {
	ownBuffer
	target.OnSocket
}
