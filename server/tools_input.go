package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/tmux"
)

var sendKeys = newTool(tool{
	name: "send_keys", title: "Send Keys", kind: shell, set: setInput, core: true, alwaysLoad: true,
	aim: target.Need(target.Pane), harm: guard.Types,
	desc: "Type text or press keys in a pane: answer a question, drive a REPL, editor or menu, interrupt with C-c. Presses Enter after text. " +
		"With patterns, quiet or show it waits and returns what is new: one call for each step. For a shell command's output use run_command.",
}, func(ctx context.Context, c *call, in sendKeysIn) (typedText, error) {
	return c.typeAndSee(ctx, in.sight, func() (string, error) {
		id, err := c.sendKeys(ctx, c.on, in.keyInput)
		return fmt.Sprintf("Keys sent to pane %s", id), err
	})
})

type sendKeysIn struct {
	keyInput
	sight
	target.OnSocket
}

func (in sendKeysIn) check(c *call) error {
	if err := in.keyInput.check(c); err != nil {
		return err
	}
	return in.sight.check(c)
}

// keyInput is something to type into a pane.
type keyInput struct {
	Keys target.TextList `json:"keys" desc:"text, or the name of a key: Enter, Escape, Up, C-c, M-x, F5; or a list of these"`
	target.SelectPane
	Enter           *bool `json:"enter,omitempty" desc:"press Enter afterwards; default: after text"`
	Literal         bool  `json:"literal,omitempty" desc:"type a key's name as text"`
	Reset           bool  `json:"reset,omitempty" unlisted:"true"`
	SuppressHistory bool  `json:"suppress_history,omitempty" desc:"a space first"`
}

// key returns tmux's name of the key that an item is, or "" if it is text.
func (in keyInput) key(item string) string {
	if name, ok := keyName(item); ok && !in.Literal {
		return name
	}
	return ""
}

// enters reports whether Enter is pressed after the last of the keys.
func (in keyInput) enters() bool {
	if in.Enter != nil {
		return *in.Enter
	}
	return in.key(in.Keys[len(in.Keys)-1]) == ""
}

func (in keyInput) check(*call) error {
	if len(in.Keys) == 0 || len(in.Keys) > target.MaxItems {
		return reply.Argument("keys", "must have 1 to %d items", target.MaxItems)
	}
	for _, item := range in.Keys {
		if strings.IndexByte(item, 0) >= 0 {
			return reply.Argument("keys", "must not have a NUL character")
		}
		if in.Literal {
			continue
		}
		if words := strings.Fields(item); len(words) > 1 && !slices.ContainsFunc(words, func(word string) bool { return in.key(word) == "" }) {
			return reply.Argument("keys", "names %d keys: %s", len(words), item).Suggest(`give them as a list: ["%s"]; literal=true types the text`, strings.Join(words, `","`))
		}
		if name, misnamed := misnamedKey(item); misnamed && name == "" {
			return reply.Argument("keys", "names a key that tmux does not have: %s", item).Suggest("literal=true types the text")
		} else if misnamed {
			return reply.Argument("keys", "is not tmux's name of a key: %s", item).Suggest("use %s; literal=true types the text", name)
		}
	}
	return nil
}

func (c *call) sendKeys(ctx context.Context, on target.Object, in keyInput) (tmux.PaneID, error) {
	items := in.Keys
	if in.enters() {
		items = append(slices.Clone(items), "Enter")
	}
	escaped := false // the last key was Escape
	id, err := c.typeBursts(ctx, on, in.echo(), func(target tmux.Target) ([]burst, error) {
		bursts := []burst{{}}
		if in.Reset {
			bursts[0].cmds = []tmux.Command{tmux.SendKeys{Target: target, Reset: true}}
		}
		escaped = false
		for i, item := range items {
			name := in.key(item)
			switch {
			case i == len(in.Keys):
				name = item // Enter
			case i == 0 && name == "" && in.SuppressHistory:
				item = " " + item
			}
			cmds, err := c.typing(ctx, target, item, name)
			if err != nil {
				return nil, err
			}
			if escaped {
				bursts = append(bursts, burst{after: pauseAfterEscape(isEscape(name))})
			}
			escaped = isEscape(name) || name == "" && strings.HasSuffix(item, "\x1b")
			last := &bursts[len(bursts)-1]
			last.cmds = append(last.cmds, cmds...)
		}
		return bursts, nil
	})
	if id != "" && (escaped || err != nil) { // what was typed in part ends with an Escape too
		for _, pane := range append([]tmux.PaneID{id}, c.typedAlso...) {
			c.s.escapes.add(c.Tmux, pane)
		}
	}
	return id, err
}

// typing returns the commands that type an item: the key with a name or, without one, the
// text.
func (c *call) typing(ctx context.Context, target tmux.Target, item, name string) ([]tmux.Command, error) {
	if name == "" {
		return c.Tmux.Typing(ctx, target, item)
	}
	reaches, err := c.Tmux.KeyReaches(ctx, target, name)
	if err != nil {
		return nil, err
	}
	if !reaches {
		return nil, c.unreached(ctx, name)
	}
	return []tmux.Command{tmux.SendKeys{Target: target, Keys: []string{name}}}, nil
}

// unreached returns the fault for a key that tmux would not send as this key.
func (c *call) unreached(ctx context.Context, name string) *reply.Fault {
	why := "the program in the pane does not ask for it"
	if v, err := c.Tmux.Version(ctx); err == nil && !tmux.KeyModes.In(v) {
		why = fmt.Sprintf("tmux %s cannot tell whether the program asks for it", v)
	}
	f := reply.Faultf(reply.KindUnsupported, "nothing was typed: %s is an extended key, and %s", name, why)
	switch key := name[strings.LastIndexByte(name[:len(name)-1], '-')+1:]; {
	case key == "Enter":
		return f.Suggest("M-Enter is sent, and begins a new line in many programs, as a newline in paste_text does")
	case key == "BTab":
		return f.Suggest("BTab without modifiers is sent")
	case utf8.RuneCountInString(key) == 1 && strings.HasPrefix(name, "S-"):
		return f.Suggest("give the character itself")
	default:
		return f.Suggest("%s and M-%[1]s are sent; literal=true types the text", key)
	}
}

// echo returns what may be echoed of the keys. Keys that are not text are not echoed, but
// Up and Enter run a line that the program has written itself.
func (in keyInput) echo() screen.Echo {
	var text strings.Builder
	keys := false
	for _, item := range in.Keys {
		switch in.key(item) {
		case "":
			text.WriteString(item)
		case "Enter":
			text.WriteByte('\n')
		default:
			keys = true
		}
	}
	if in.enters() {
		text.WriteByte('\n')
	}
	e := screen.EchoOf(text.String())
	if keys {
		return screen.Echo{Redrawn: e.Entered, Edits: true, Entered: e.Entered, Longest: e.Longest}
	}
	return e
}

var sendKeysBatch = newTool(tool{
	name: "send_keys_batch", title: "Send Keys Batch", kind: shell, set: setInput,
	aim: target.NeedEach(target.Pane), harm: guard.Types,
	hint: "type several inputs",
	desc: "Type several inputs in order, into one or more panes. With patterns a step waits before the next: a wizard in one call. " +
		"A failed input is reported in its row.",
}, func(ctx context.Context, c *call, in sendKeysBatchIn) (sendKeysBatchResult, error) {
	out := sendKeysBatchResult{Results: []sendKeysRow{}}
	within := ctx
	if in.Timeout != nil {
		limit, err := c.s.screens.Budget(*in.Timeout)
		if err != nil {
			return out, err
		}
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	for i, op := range in.Operations {
		row := c.sendKeysRow(ctx, within, in, op)
		row.Index = i
		if row.seen != nil {
			out.Seen = row.seen
		}
		out.Results = append(out.Results, row)
		if row.Success {
			out.Succeeded++
			continue
		}
		out.Failed++
		if in.OnError == "stop" {
			out.StoppedAt = &i
			break
		}
	}
	out.SynchronizedPanes = append([]tmux.PaneID{}, c.typedAlso...)
	if err := ctx.Err(); err != nil || len(c.typedInto) == 0 || !in.sight.waits() {
		return out, err
	}
	var err error
	out.Seen, err = c.see(ctx, in.sight)
	return out, err
})

// keyStep is one input of a batch.
type keyStep struct {
	keyInput
	Patterns []string `json:"patterns,omitempty" desc:"wait for any of these texts"`
}

type sendKeysBatchIn struct {
	Operations []keyStep `json:"operations" desc:"as send_keys takes them"`
	OnError    string    `json:"on_error" default:"stop" enum:"stop,continue" desc:"at a failure"`
	sight
	target.OnSocket
}

func (in sendKeysBatchIn) check(c *call) error {
	if len(in.Operations) == 0 || len(in.Operations) > target.MaxItems {
		return reply.Argument("operations", "must have 1 to %d items", target.MaxItems)
	}
	return in.sight.check(c)
}

func (in sendKeysBatchIn) waits() bool {
	return in.sight.waits() || slices.ContainsFunc(in.Operations, func(op keyStep) bool { return op.Patterns != nil })
}

type sendKeysBatchResult struct {
	Results   []sendKeysRow  `json:"results"`
	Succeeded int            `json:"succeeded"`
	Failed    int            `json:"failed"`
	StoppedAt *int           `json:"stopped_at"`
	Seen      *screen.Result `json:"seen"`
	also
}

// sendKeysRow is the outcome of one input.
type sendKeysRow struct {
	Index          int          `json:"index"`
	PaneID         *tmux.PaneID `json:"pane_id"`
	Success        bool         `json:"success"`
	Error          *string      `json:"error" exact:"true"`
	ElapsedSeconds float64      `json:"elapsed_seconds"`

	seen *screen.Result // what the pane printed, if the input waits for it
}

// sendKeysRow types one input of a batch. The context within has the batch's limit too.
func (c *call) sendKeysRow(ctx, within context.Context, in sendKeysBatchIn, op keyStep) (row sendKeysRow) {
	start := time.Now()
	id, err := tmux.PaneID(""), within.Err()
	if err == nil {
		if id, err = c.sendKeysItem(within, op.keyInput); err == nil && op.Patterns != nil {
			row.seen, err = c.seeStep(ctx, within, id, in.sight, op.Patterns)
		}
		row.ElapsedSeconds = reply.Seconds(time.Since(start))
	}
	if id != "" {
		row.PaneID = &id
	}
	if err == nil {
		row.Success = true
		return row
	}
	f, _ := reply.FaultOf(err)
	if errors.Is(within.Err(), context.DeadlineExceeded) && ctx.Err() == nil && row.seen == nil {
		f.Message = "the batch exceeded its timeout"
		if id != "" {
			f.Message += " when only a part was typed"
		}
	}
	msg := f.Text()
	row.Error = &msg
	return row
}

// seeStep waits until a pane prints what an input of a batch waits for.
func (c *call) seeStep(ctx, within context.Context, id tmux.PaneID, in sight, patterns []string) (*screen.Result, error) {
	in.Patterns, in.Quiet, in.Show = patterns, 0, ""
	if end, ok := within.Deadline(); ok {
		left := max(time.Until(end), 0).Seconds()
		in.Timeout = &left
	}
	i := slices.IndexFunc(c.typedInto, func(p screen.Bookmark) bool { return p.Mark.Pane == id })
	others := slices.Delete(slices.Clone(c.typedInto), i, i+1)
	c.typedInto = c.typedInto[i : i+1]
	seen, err := c.see(ctx, in)
	c.typedInto = others // later inputs are new again
	if err == nil && !seen.Found {
		err = reply.Faultf(reply.KindTimeout, "typed, and none of its patterns came: %s", seen.Outcome)
	}
	return seen, err
}

func (c *call) sendKeysItem(ctx context.Context, op keyInput) (tmux.PaneID, error) {
	if err := op.check(c); err != nil {
		return "", err
	}
	on, err := c.guard.At(ctx, op.Selected())
	if err != nil {
		return "", err
	}
	return c.sendKeys(ctx, on, op)
}

var pasteText = newTool(tool{
	name: "paste_text", title: "Paste Text", kind: shell, set: setInput,
	aim: target.Need(target.Pane), harm: guard.Types,
	hint: "paste several lines",
	desc: "Paste text of one or more lines into a pane, as a user would. Programs that know pastes (shells, psql, python) hold one until Enter: " +
		"enter=true submits it. With patterns, quiet or show it waits and returns what is new.",
}, func(ctx context.Context, c *call, in pasteTextIn) (typedText, error) {
	return c.typeAndSee(ctx, in.sight, func() (string, error) { return in.paste(ctx, c) })
})

// paste pastes the text, and returns the pane.
func (in pasteTextIn) paste(ctx context.Context, c *call) (string, error) {
	id, err := c.paste(ctx, []byte(in.Text), in.Bracket, in.Enter)
	return fmt.Sprintf("Text pasted to pane %s", id), err
}

// paste pastes a text into the call's pane, from a buffer of its own.
func (c *call) paste(ctx context.Context, data []byte, bracket, enter bool) (tmux.PaneID, error) {
	buffer := c.Tmux.Buffer(newBufferName("paste"))
	load := tmux.LoadBuffer{Buffer: buffer.Name, Path: "-", Data: data}
	shows := string(data)
	if enter {
		shows += "\n"
	}
	id, err := c.typeBursts(ctx, c.on, screen.EchoOf(shows), func(target tmux.Target) ([]burst, error) {
		paste, err := buffer.Pasting(ctx, target, tmux.PasteOptions{Bracket: bracket, Returns: true})
		paste.Delete = true
		bursts := []burst{{cmds: []tmux.Command{paste}}}
		if err == nil && enter {
			// Pasted too, as keys go to all panes that are synchronized.
			key := "\r"
			press := paste
			press.Bracket = false
			bursts = append(bursts, burst{cmds: []tmux.Command{tmux.SetBuffer{Buffer: buffer.Name, Data: &key}, press}, after: c.pasteTaken})
		}
		return bursts, err
	}, load)
	if err != nil && id == "" {
		// It was not pasted, so tmux may still hold it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		_ = buffer.Delete(ctx)
	}
	return id, err
}

type pasteTextIn struct {
	Text string `json:"text" desc:"literal text"`
	target.SelectPane
	Enter   bool `json:"enter,omitempty" desc:"press Enter afterwards"`
	Bracket bool `json:"bracket" default:"true" desc:"mark it as a paste for programs that ask for it"`
	sight
	target.OnSocket
}

func (in pasteTextIn) check(c *call) error {
	if in.Text == "" {
		return reply.Argument("text", "must not be empty")
	}
	if err := checkPaste("text", in.Text, in.Bracket); err != nil {
		return err
	}
	return in.sight.check(c)
}

// cleanupTime bounds the cleanup after a call that failed or was cancelled.
const cleanupTime = 5 * time.Second
