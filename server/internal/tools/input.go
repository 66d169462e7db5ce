package tools

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/tmux"
)

func sendKeys(k *typing.Keyboard) *tool.Tool {
	return typing.Tool(k, tool.Decl{
		Name: "send_keys", Title: "Send Keys", Kind: tool.Shell, Set: tool.Input, Core: true, AlwaysLoad: true,
		Aim: target.Need(target.Pane),
		Desc: "Type text or press keys in a pane: answer a question, drive a REPL, editor or menu, interrupt with C-c. " +
			"With patterns, quiet or show it waits and returns what is new: one call for each step. For a shell command's output use run_command.",
	}, func(ctx context.Context, t *typing.Typist, on target.Object, in sendKeysIn) (typing.Typed, error) {
		return t.AndSee(ctx, in.Sight, func() (reply.Words, error) {
			id, err := in.typeInto(ctx, t, on)
			return reply.Say("Keys sent to pane %s", id), err
		})
	})
}

type sendKeysIn struct {
	keyStep
	target.OnSocket
}

// keyStep is a call of send_keys, or one input of a batch, which takes all that send_keys does.
type keyStep struct {
	keyInput
	typing.Sight
}

func (in keyStep) Check(l tool.Limits) error {
	if err := in.keyInput.Check(l); err != nil {
		return err
	}
	return in.Sight.Check(l.WaitMax)
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
	if name, ok := typing.KeyName(item); ok && !in.Literal {
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

func (in keyInput) Check(tool.Limits) error {
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
		if name, misnamed := typing.MisnamedKey(item); misnamed && name == "" {
			return reply.Argument("keys", "names a key that tmux does not have: %s", item).Suggest("literal=true types the text")
		} else if misnamed {
			return reply.Argument("keys", "is not tmux's name of a key: %s", item).Suggest("use %s; literal=true types the text", name)
		}
	}
	return nil
}

func (in keyInput) typeInto(ctx context.Context, t *typing.Typist, on target.Object) (tmux.PaneID, error) {
	return t.Keys(ctx, on, in.Reset, in.keys(), in.echo())
}

func (in keyInput) keys() (keys []typing.Key) {
	for i, item := range in.Keys {
		k := typing.Key{Name: in.key(item), Text: item}
		if i == 0 && k.Name == "" && in.SuppressHistory {
			k.Text = " " + item
		}
		keys = append(keys, k)
	}
	if in.enters() {
		keys = append(keys, typing.Key{Name: "Enter"})
	}
	return keys
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

func sendKeysBatch(k *typing.Keyboard) *tool.Tool {
	return typing.Tool(k, tool.Decl{
		Name: "send_keys_batch", Title: "Send Keys Batch", Kind: tool.Shell, Set: tool.Input,
		Aim:  target.NeedEach(target.Pane),
		Hint: "type several inputs",
		Desc: "Type several inputs in order, into one or more panes. With patterns or quiet a step waits before the next: a wizard in one call. " +
			"A failed input is reported in its row.",
	}, func(ctx context.Context, t *typing.Typist, _ target.Object, in sendKeysBatchIn) (out sendKeysBatchResult, err error) {
		b := keysBatch{t, in, tool.Limits{WaitMax: k.Screens.WaitMax}, ctx}
		if in.Timeout != nil {
			limit, err := k.Screens.Budget(*in.Timeout, "what is left can be sent in another call")
			if err != nil {
				return out, err
			}
			var cancel context.CancelFunc
			b.within, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		out.Results = []keysRow{}
		out.Items = tool.EachItem(len(in.Operations), in.OnError, func(i int) bool {
			row := b.row(ctx, in.Operations[i])
			row.Index = i
			if row.seen != nil {
				out.Seen = row.seen
			}
			out.Results = append(out.Results, row)
			return row.Success
		})
		out.SynchronizedPanes = t.Others()
		if err := ctx.Err(); err != nil || !t.HasTyped() || !in.Sight.Waits() {
			return out, err
		}
		out.Seen, err = t.See(ctx, in.Sight)
		return out, err
	})
}

type sendKeysBatchIn struct {
	Operations []keyStep `json:"operations" brief:"true" desc:"as send_keys takes them"`
	OnError    string    `json:"on_error" default:"stop" enum:"stop,continue"`
	typing.Sight
	target.OnSocket
}

func (in sendKeysBatchIn) Check(l tool.Limits) error {
	if len(in.Operations) == 0 || len(in.Operations) > target.MaxItems {
		return reply.Argument("operations", "must have 1 to %d items", target.MaxItems)
	}
	return in.Sight.Check(l.WaitMax)
}

func (in sendKeysBatchIn) Waits() bool {
	return in.Sight.Waits() || slices.ContainsFunc(in.Operations, func(op keyStep) bool { return op.Waits() })
}

type sendKeysBatchResult struct {
	Results []keysRow `json:"results"`
	tool.Items
	Seen *screen.Result `json:"seen"`
	typing.Synchronized
}

// keysRow is the outcome of one input.
type keysRow struct {
	Index          int          `json:"index"`
	PaneID         *tmux.PaneID `json:"pane_id"`
	Success        bool         `json:"success"`
	Error          *string      `json:"error" exact:"true"`
	ElapsedSeconds float64      `json:"elapsed_seconds"`
	// Tail is what the pane shows, if the input says what to show.
	Tail []string `json:"tail" exact:"true"`

	seen *screen.Result // what the pane printed, if the input waits for it
}

// keysBatch is a call that types several inputs, all of them within a time.
type keysBatch struct {
	*typing.Typist
	in     sendKeysBatchIn
	limits tool.Limits
	within context.Context
}

// row types one input.
func (b keysBatch) row(ctx context.Context, op keyStep) (row keysRow) {
	row.Tail = []string{}
	start := time.Now()
	id, err := tmux.PaneID(""), b.within.Err()
	if err == nil {
		switch id, err = b.item(op); {
		case err != nil:
		case op.Waits():
			row.seen, err = b.await(ctx, id, op.Sight)
			if row.seen != nil && op.Show != "" {
				row.Tail = row.seen.Tail
			}
		default:
			err = b.InterruptTaken(b.within)
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
	if errors.Is(b.within.Err(), context.DeadlineExceeded) && ctx.Err() == nil && row.seen == nil {
		f.Message = "the batch exceeded its timeout"
		if id != "" {
			f.Message += " when only a part was typed"
		}
	}
	msg := f.Text()
	row.Error = &msg
	return row
}

// await waits for what an input waits for. What the batch says of its own wait, regex and stop,
// is for its inputs too, which have its time.
func (b keysBatch) await(ctx context.Context, id tmux.PaneID, in typing.Sight) (*screen.Result, error) {
	in.Regex = in.Regex || b.in.Regex
	if in.Stop == nil {
		in.Stop = b.in.Stop
	}
	if end, ok := b.within.Deadline(); ok {
		left := max(time.Until(end), 0).Seconds()
		if in.Timeout != nil {
			left = min(left, *in.Timeout)
		}
		in.Timeout = &left
	}
	seen, err := b.SeePane(ctx, id, in)
	switch {
	case err != nil:
	case seen.Outcome == "stopped":
		err = reply.Faultf(reply.KindTimeout, "typed, and one of its stop texts came")
	case in.Patterns != nil && !seen.Found:
		err = reply.Faultf(reply.KindTimeout, "typed, and none of its patterns came: %s", seen.Outcome)
	}
	return seen, err
}

func (b keysBatch) item(op keyStep) (tmux.PaneID, error) {
	if err := op.Check(b.limits); err != nil {
		return "", err
	}
	on, err := b.At(b.within, op.Selected())
	if err != nil {
		return "", err
	}
	return op.typeInto(b.within, b.Typist, on)
}

func pasteText(k *typing.Keyboard) *tool.Tool {
	return typing.Tool(k, tool.Decl{
		Name: "paste_text", Title: "Paste Text", Kind: tool.Shell, Set: tool.Input,
		Aim:  target.Need(target.Pane),
		Hint: "paste several lines",
		Desc: "Paste text of one or more lines into a pane, as a user would. Programs that know pastes (shells, psql, python) hold one until Enter: " +
			"enter=true submits it. With patterns, quiet or show it waits and returns what is new.",
	}, func(ctx context.Context, t *typing.Typist, on target.Object, in pasteTextIn) (typing.Typed, error) {
		return t.AndSee(ctx, in.Sight, func() (reply.Words, error) {
			id, err := t.PasteInto(ctx, on, []byte(in.Text), in.Bracket, in.Enter)
			return reply.Say("Text pasted to pane %s", id), err
		})
	})
}

type pasteTextIn struct {
	Text string `json:"text" desc:"literal text"`
	target.SelectPane
	Enter   bool `json:"enter,omitempty" desc:"press Enter afterwards"`
	Bracket bool `json:"bracket" default:"true" desc:"mark it as a paste for programs that ask for it"`
	typing.Sight
	target.OnSocket
}

func (in pasteTextIn) Check(l tool.Limits) error {
	if in.Text == "" {
		return reply.Argument("text", "must not be empty")
	}
	if err := typing.CheckPaste("text", in.Text, in.Bracket); err != nil {
		return err
	}
	return in.Sight.Check(l.WaitMax)
}
