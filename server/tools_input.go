package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tmuxmcp/tmux"
)

var sendKeys = tool[sendKeysIn, typedText]{
	name: "send_keys", title: "Send Keys", kind: shell, set: setInput, core: true, alwaysLoad: true,
	aim: needs(aPane), harm: types,
	desc: "Type text or press a key in a pane: answer a question, drive a REPL, editor or menu, interrupt with C-c (enter=false). Presses Enter " +
		"afterwards by default. With patterns, quiet or show it waits and returns what is new: one call for each step. For a shell command whose " +
		"output you need use run_command.",
	run: func(ctx context.Context, c *call, in sendKeysIn) (typedText, error) {
		return c.typeAndSee(ctx, in.sight, func() (string, error) {
			id, err := c.sendKeys(ctx, c.on, in.keyInput)
			return fmt.Sprintf("Keys sent to pane %s", id), err
		})
	},
}

type sendKeysIn struct {
	keyInput
	sight
	socket
}

func (in sendKeysIn) check(c *call) error {
	if err := in.keyInput.check(c); err != nil {
		return err
	}
	return in.sight.check(c)
}

// keyInput is something to type into a pane.
type keyInput struct {
	Keys string `json:"keys" desc:"text, or the name of one key: Enter, Escape, Tab, Up, C-c, M-x, F5"`
	paneSelect
	Enter           bool `json:"enter" default:"true" desc:"press Enter afterwards"`
	Literal         bool `json:"literal" default:"false" desc:"type a key's name as text"`
	Reset           bool `json:"reset,omitempty" unlisted:"true"`
	SuppressHistory bool `json:"suppress_history" default:"false" desc:"a space first"`
}

func (in keyInput) check(*call) error {
	if strings.IndexByte(in.Keys, 0) >= 0 {
		return argumentFault("keys", "must not have a NUL character")
	}
	if name, misnamed := misnamedKey(in.Keys); misnamed && !in.Literal {
		if name == "" {
			return argumentFault("keys", "names a key that tmux does not have: %s", in.Keys).suggest("literal=true types the text")
		}
		return argumentFault("keys", "is not tmux's name of a key: %s", in.Keys).suggest("use %s; literal=true types the text", name)
	}
	return nil
}

func (c *call) sendKeys(ctx context.Context, on aimed, in keyInput) (tmux.PaneID, error) {
	text := in.Keys
	if in.SuppressHistory {
		text = " " + text
	}
	return c.typeInto(ctx, on, func(target tmux.Target) ([]tmux.Command, error) {
		cmds := []tmux.Command{tmux.SendKeys{Target: target, Keys: []string{text}}}
		if in.Literal || !mayNameKey(text) {
			var err error
			if cmds, err = c.tmux.Typing(ctx, target, text); err != nil {
				return nil, err
			}
		}
		if in.Enter {
			cmds = append(cmds, tmux.SendKeys{Target: target, Keys: []string{"Enter"}})
		}
		if in.Reset {
			cmds = append([]tmux.Command{tmux.SendKeys{Target: target, Reset: true}}, cmds...)
		}
		return cmds, nil
	})
}

// mayNameKey reports whether tmux could take a text for the name of a key: names are
// short and have no blanks. Anything else is typed as text.
func mayNameKey(s string) bool {
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError }
	return s != "" && len(s) <= 40 && !strings.ContainsFunc(s, blank)
}

var sendKeysBatch = tool[sendKeysBatchIn, sendKeysBatchResult]{
	name: "send_keys_batch", title: "Send Keys Batch", kind: shell, set: setInput,
	aim: needsEach(aPane), harm: types,
	hint: "type several inputs",
	desc: "Type several inputs or keys in order, into one or more panes, in one call. A failed input is reported in its row and does not fail the call.",
	run: func(ctx context.Context, c *call, in sendKeysBatchIn) (sendKeysBatchResult, error) {
		out := sendKeysBatchResult{Results: []sendKeysRow{}}
		within := ctx
		if in.Timeout != nil {
			limit, err := c.s.budget(*in.Timeout)
			if err != nil {
				return out, err
			}
			var cancel context.CancelFunc
			within, cancel = context.WithTimeout(ctx, limit)
			defer cancel()
		}
		for i, op := range in.Operations {
			row := c.sendKeysRow(ctx, within, op)
			row.Index = i
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
		if err := ctx.Err(); err != nil || len(c.typedInto) == 0 {
			return out, err
		}
		var err error
		out.Seen, err = c.see(ctx, in.sight)
		return out, err
	},
}

type sendKeysBatchIn struct {
	Operations []keyInput `json:"operations" desc:"inputs, as send_keys takes them"`
	OnError    string     `json:"on_error" default:"stop" enum:"stop,continue" desc:"stop at the first failure, or continue"`
	sight
	socket
}

func (in sendKeysBatchIn) check(c *call) error {
	if len(in.Operations) == 0 || len(in.Operations) > maxOperations {
		return argumentFault("operations", "must have 1 to %d items", maxOperations)
	}
	return in.sight.check(c)
}

type sendKeysBatchResult struct {
	Results   []sendKeysRow      `json:"results"`
	Succeeded int                `json:"succeeded"`
	Failed    int                `json:"failed"`
	StoppedAt *int               `json:"stopped_at"`
	Seen      *waitForTextResult `json:"seen"`
}

// sendKeysRow is what came of one input.
type sendKeysRow struct {
	Index          int          `json:"index"`
	PaneID         *tmux.PaneID `json:"pane_id"`
	Success        bool         `json:"success"`
	Error          *string      `json:"error" exact:"true"`
	ElapsedSeconds float64      `json:"elapsed_seconds"`
}

// sendKeysRow types one input of a batch. The context within is that of the call
// with the batch's own limit.
func (c *call) sendKeysRow(ctx, within context.Context, op keyInput) (row sendKeysRow) {
	start := time.Now()
	id, err := tmux.PaneID(""), within.Err()
	if err == nil {
		id, err = c.sendKeysItem(within, op)
		row.ElapsedSeconds = seconds(time.Since(start))
	}
	if id != "" {
		row.PaneID = &id
	}
	if err == nil {
		row.Success = true
		return row
	}
	f, _ := faultOf(err)
	msg := f.text()
	if errors.Is(within.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		msg = "the batch exceeded its timeout"
	}
	row.Error = &msg
	return row
}

func (c *call) sendKeysItem(ctx context.Context, op keyInput) (tmux.PaneID, error) {
	if err := op.check(c); err != nil {
		return "", err
	}
	on, err := c.aimAt(ctx, op.selection())
	if err != nil {
		return "", err
	}
	return c.sendKeys(ctx, on, op)
}

var pasteText = tool[pasteTextIn, typedText]{
	name: "paste_text", title: "Paste Text", kind: shell, set: setInput,
	aim: needs(aPane), harm: types,
	hint: "paste several lines",
	desc: "Paste text of one or more lines into a pane, as a user would, without pressing Enter: into an editor or a program that reads input. With " +
		"patterns, quiet or show it waits and returns what is new. To run a command use run_command.",
	run: func(ctx context.Context, c *call, in pasteTextIn) (typedText, error) {
		return c.typeAndSee(ctx, in.sight, func() (string, error) { return in.paste(ctx, c) })
	},
}

// paste pastes the text, and says where.
func (in pasteTextIn) paste(ctx context.Context, c *call) (string, error) {
	buffer := c.tmux.Buffer(newBufferName("paste"))
	load := tmux.LoadBuffer{Buffer: buffer.Name, Path: "-", Data: []byte(in.Text)}
	id, err := c.typeInto(ctx, c.on, func(target tmux.Target) ([]tmux.Command, error) {
		paste, err := buffer.Pasting(ctx, target, tmux.PasteOptions{Bracket: in.Bracket, Returns: true})
		paste.Delete = true
		return []tmux.Command{paste}, err
	}, load)
	if err != nil {
		// Not pasted, so tmux may hold it still.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
		_ = buffer.Delete(ctx)
		return "", err
	}
	return fmt.Sprintf("Text pasted to pane %s", id), nil
}

type pasteTextIn struct {
	Text string `json:"text" desc:"literal text; newlines press Enter in most programs"`
	paneSelect
	Bracket bool `json:"bracket" default:"true" desc:"mark it as a paste for programs that ask for it"`
	sight
	socket
}

func (in pasteTextIn) check(c *call) error {
	if in.Text == "" {
		return argumentFault("text", "must not be empty")
	}
	return in.sight.check(c)
}

// cleanupTime bounds what is done after a call that failed or was cancelled.
const cleanupTime = 5 * time.Second
