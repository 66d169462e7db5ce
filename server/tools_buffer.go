package server

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

// The buffer tools can only use paste buffers made by load_buffer: see [bufferName]. tmux
// answers them at once, so they give up early on a tmux that is stuck; except paste_buffer,
// which may have to ask the user.
const bufferTime = 5 * time.Second

func (c *call) inBufferTime(ctx context.Context) (context.Context, context.CancelFunc) {
	most := c.s.bufferTime
	return context.WithTimeoutCause(ctx, most, fmt.Errorf("tmux did not answer in %v: %w", most, context.DeadlineExceeded))
}

var logicalName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// bufferRef is how the tools refer to a buffer.
type bufferRef struct {
	BufferName  string  `json:"buffer_name"`
	LogicalName *string `json:"logical_name"`
}

var loadBuffer = newTool(tool{
	name: "load_buffer", title: "Load tmux Buffer", kind: creates, set: setBuffers,
	aim: target.Nowhere, harm: guard.Harmless,
	desc: "Store text in a new tmux paste buffer, to paste it several times with paste_buffer. Returns the buffer's name. To paste text once use paste_text.",
}, func(ctx context.Context, c *call, in loadBufferIn) (ref bufferRef, err error) {
	logical := "buf"
	if in.LogicalName != nil && *in.LogicalName != "" {
		logical = *in.LogicalName
	}
	if !logicalName.MatchString(logical) {
		return ref, reply.Faultf(reply.KindValidation, "Invalid logical buffer name: %.80q", logical).
			Suggest("a name has 1 to 64 letters, digits and . _ -")
	}
	if in.Content == "" {
		return ref, reply.Argument("content", "must not be empty: tmux has no empty buffers")
	}
	ctx, cancel := c.inBufferTime(ctx)
	defer cancel()
	name := typing.NewBufferName(logical)
	// Before the call: it may create the buffer even if it is cut off.
	c.s.madeBuffer(c.Tmux)
	_, err = c.Tmux.SetBuffer(ctx, name, []byte(in.Content))
	return bufferRef{name, in.LogicalName}, err
})

type loadBufferIn struct {
	Content     string  `json:"content" desc:"text to store"`
	LogicalName *string `json:"logical_name,omitempty" desc:"becomes part of the buffer's name; letters, digits, . _ -"`
	target.OnSocket
}

// ours names a buffer that load_buffer created.
type ours struct {
	BufferName string `json:"buffer_name" desc:"as returned by load_buffer"`
}

func (o ours) check(limits) error {
	if !bufferName.MatchString(o.BufferName) {
		return reply.Faultf(reply.KindValidation, "Invalid buffer name: %.120q", o.BufferName).
			Suggest("load_buffer returns the names; tools cannot use other buffers")
	}
	return nil
}

// missing returns a fault if err means that the buffer is gone, otherwise err.
func (o ours) missing(err error) error {
	var e *tmux.Error
	if errors.As(err, &e) && errors.Is(err, tmux.ErrNotFound) && strings.Contains(e.Stderr, "buffer") {
		return reply.Faultf(reply.KindNotFound, "Object not found: buffer %s", o.BufferName).Suggest("load_buffer makes a new one")
	}
	return err
}

var pasteBuffer = newTool(tool{
	name: "paste_buffer", title: "Paste tmux Buffer", kind: shell, set: setBuffers,
	aim: target.Need(target.Pane), harm: guard.Types,
	desc: "Paste a buffer stored with load_buffer into a pane, like a paste from the keyboard. Newlines press Enter unless the program accepts " +
		"bracketed paste. The buffer is kept.",
}, func(ctx context.Context, c *call, in pasteBufferIn) (out reply.PaneText, err error) {
	buffer := c.Tmux.Buffer(in.BufferName)
	content, err := buffer.Bytes(ctx)
	if err != nil {
		return reply.PaneText{}, in.missing(err)
	}
	if err := typing.CheckPaste(in.BufferName, string(content), in.Bracket); err != nil {
		return reply.PaneText{}, err
	}
	// Pasted from another buffer: this one may be changed meanwhile.
	id, err := c.types().PasteInto(ctx, c.on, content, in.Bracket, false)
	return reply.PaneText{Result: "Pasted " + in.BufferName + " into pane " + string(id), PaneID: string(id)}, err
})

type pasteBufferIn struct {
	ours
	target.SelectPane
	Bracket bool `json:"bracket" default:"true" desc:"mark it as a paste for programs that ask for it"`
	target.OnSocket
}

// bufferContent is the text of a buffer.
type bufferContent struct {
	BufferName            string `json:"buffer_name"`
	Content               string `json:"content" exact:"true"`
	ContentTruncated      bool   `json:"content_truncated"`
	ContentTruncatedLines int    `json:"content_truncated_lines"`
}

var showBuffer = newTool(tool{
	name: "show_buffer", title: "Show tmux Buffer", kind: reads, set: setBuffers,
	aim:  target.Nowhere,
	desc: "Read the content of a buffer stored with load_buffer.",
}, func(ctx context.Context, c *call, in showBufferIn) (out bufferContent, err error) {
	ctx, cancel := c.inBufferTime(ctx)
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

type showBufferIn struct {
	ours
	MaxLines *int `json:"max_lines" default:"500" min:"1" desc:"the last; null: all"`
	target.OnSocket
}

var deleteBuffer = newTool(tool{
	name: "delete_buffer", title: "Delete tmux Buffer", kind: discards, set: setBuffers,
	aim: target.Nowhere, harm: guard.Harmless,
	desc: "Delete a buffer stored with load_buffer.",
}, func(ctx context.Context, c *call, in deleteBufferIn) (out reply.Text, err error) {
	ctx, cancel := c.inBufferTime(ctx)
	defer cancel()
	return reply.Text{Result: "Deleted " + in.BufferName}, in.missing(c.Tmux.Buffer(in.BufferName).Delete(ctx))
})

type deleteBufferIn struct {
	ours
	target.OnSocket
}
