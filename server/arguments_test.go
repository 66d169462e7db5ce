package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The following makes calls from the tools' own schemas, as a client sees them, so that a
// test of all tools needs no list of them.

// listedTool is a tool as tools/list returns it.
type listedTool struct {
	Name        string
	InputSchema property
	Annotations struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint bool }
}

// property is what a schema says about an argument, or about all arguments.
type property struct {
	Type       any // a name, or a list of names
	Enum       []string
	Minimum    *float64
	Default    any
	Required   []string
	Properties map[string]*property
	Items      *property
}

func (p *property) is(name string) bool {
	if list, ok := p.Type.([]any); ok {
		return slices.Contains(list, any(name))
	}
	return p.Type == name
}

// names are the arguments in a fixed order.
func (p *property) names() []string {
	var names []string
	for name := range p.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// listed returns the tools that the server offers.
func (p *peer) listed() []listedTool {
	p.t.Helper()
	var list struct{ Tools []listedTool }
	if err := json.Unmarshal(p.request("tools/list", struct{}{}).Result, &list); err != nil || len(list.Tools) == 0 {
		p.t.Fatalf("tools/list: %v, %d tools", err, len(list.Tools))
	}
	p.schema(list.Tools[0].Name)
	return list.Tools
}

// arguments makes the arguments of one call. known has sensible values to choose from, by
// argument name or by tool.argument; these arguments are then always given, unless the list
// is empty.
func (t listedTool) arguments(r *rand.Rand, known map[string][]any) map[string]any {
	args := map[string]any{}
	for _, name := range t.InputSchema.names() {
		if values := known[t.Name+"."+name]; len(values) > 0 {
			args[name] = values[r.IntN(len(values))]
			continue
		}
		always := slices.Contains(t.InputSchema.Required, name) || slices.Contains(bounds, name)
		if !always && r.IntN(3) != 0 {
			continue
		}
		if v := t.InputSchema.Properties[name].value(r, name, known); v != nil {
			args[name] = v
		}
	}
	return args
}

// bounds are the arguments that keep a call short. They are always given.
var bounds = []string{"timeout", "interval", "idle_seconds"}

// value returns a value that fits the schema, nil for none.
func (p *property) value(r *rand.Rand, name string, known map[string][]any) any {
	if values, ok := known[name]; ok {
		if len(values) == 0 {
			return nil
		}
		return values[r.IntN(len(values))]
	}
	switch {
	case p.Enum != nil:
		return p.Enum[r.IntN(len(p.Enum))]
	case p.is("boolean"):
		return r.IntN(2) == 0
	case p.is("integer"), p.is("number"):
		least := 0.0
		if p.Minimum != nil {
			least = *p.Minimum
		}
		return least + float64(r.IntN(40))
	case p.is("array"):
		if p.Items == nil {
			return []any{}
		}
		return []any{p.Items.value(r, name, known)}
	case p.is("object"):
		o := map[string]any{}
		for _, inner := range p.names() {
			if slices.Contains(p.Required, inner) || r.IntN(3) == 0 {
				if v := p.Properties[inner].value(r, inner, known); v != nil {
					o[inner] = v
				}
			}
		}
		return o
	}
	return "word"
}

// takesText reports whether any text fits the schema somewhere.
func (p *property) takesText() bool {
	return p.Enum == nil && !p.is("boolean") && !p.is("integer") && !p.is("number")
}

// withText puts a text into one argument in each way that its schema allows: as it is, in a
// list, as a key and as a value of an object.
func (p *property) withText(text string) []any {
	switch {
	case p.is("array") && p.Items != nil:
		var all []any
		for _, item := range p.Items.withText(text) {
			all = append(all, []any{item})
		}
		return all
	case p.is("object") && len(p.Properties) > 0:
		var all []any
		for _, name := range p.names() {
			for _, v := range p.Properties[name].withText(text) {
				o := map[string]any{name: v}
				for _, other := range p.Required {
					if _, there := o[other]; !there {
						o[other] = "word"
					}
				}
				all = append(all, o)
			}
		}
		return all
	case p.is("object"):
		return []any{map[string]any{text: "word"}, map[string]any{"pane_id": text}, map[string]any{"session_name__regex": text}, text}
	}
	return []any{text} // also where only a number or one of a few words is right
}

// call is one call of a tool.
type toolCall struct {
	tool string
	args map[string]any
}

func (c toolCall) String() string {
	raw, _ := json.Marshal(c.args)
	return fmt.Sprintf("%s %.300s", c.tool, raw)
}

// try makes a call and checks the answer as [peer.tool] does, and that an error is one that
// the caller can do something about. Any goroutine may use it.
func (p *peer) try(c toolCall) (res result, ok bool) {
	replies, _ := p.begin("tools/call", map[string]any{"name": c.tool, "arguments": c.args})
	select {
	case r := <-replies:
		return p.judge(c, r)
	case <-p.done:
		p.t.Errorf("%v: the server ended", c)
	case <-time.After(time.Minute):
		p.t.Errorf("%v: no answer in a minute", c)
	}
	return res, false
}

func (p *peer) judge(c toolCall, r reply) (res result, ok bool) {
	if r.Error != nil {
		p.t.Errorf("%v: JSON-RPC error %d: %s", c, r.Error.Code, r.Error.Message)
		return res, false
	}
	if err := json.Unmarshal(r.Result, &res); err != nil {
		p.t.Errorf("%v: %v in %s", c, err, r.Result)
		return res, false
	}
	if res.IsError {
		// A tmux of 3.7 or later that is not scheduled for 100 ms drops the rest of a row.
		if res.text() == "" || res.Meta["expected"] != true && !strings.Contains(res.text(), "tmux truncated a row") {
			p.t.Errorf("%v: %s %v", c, res.text(), res.Meta)
		}
		return res, false
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(res.Structured))
	if err == nil {
		err = p.schema(c.tool).Validate(value)
	}
	if err != nil {
		p.t.Errorf("%v: the answer does not fit the output schema: %v\n%.500s", c, err, res.Structured)
	}
	return res, err == nil
}

// tryAll makes calls from several goroutines, and counts how many of each tool's
// calls succeeded.
func (p *peer) tryAll(calls []toolCall, goroutines int) map[string]int {
	var mu sync.Mutex
	succeeded := map[string]int{}
	queue := make(chan toolCall)
	var workers sync.WaitGroup
	for range goroutines {
		workers.Go(func() {
			for c := range queue {
				if _, ok := p.try(c); ok {
					mu.Lock()
					succeeded[c.tool]++
					mu.Unlock()
				}
			}
		})
	}
	for _, c := range calls {
		queue <- c
	}
	close(queue)
	workers.Wait()
	return succeeded
}

// never lists the tools that no call of which succeeded: a test of them tests nothing.
func never(t testing.TB, tools []listedTool, succeeded map[string]int) {
	t.Helper()
	// They need a job, and a coding agent: their own tests have these.
	elsewhere := []string{"get_job", "cancel_job", "send_prompt", "agent_answer", "wait_for_agent"}
	var none []string
	for _, tool := range tools {
		if succeeded[tool.Name] == 0 && !slices.Contains(elsewhere, tool.Name) {
			none = append(none, tool.Name)
		}
	}
	if none != nil {
		t.Errorf("no call of these tools succeeded: %s", strings.Join(none, ", "))
	}
}

// TestNumbersOutOfRange: an invalid limit or deadline is refused by one plain sentence, for
// every number of every tool.
func TestNumbersOutOfRange(t *testing.T) {
	t.Parallel()
	_, p := served(t)
	negative := []string{"start", "end", "content_start", "content_end"} // rows above the screen
	known := map[string][]any{"pane_id": {"%0"}, "panes": {[]any{"%0"}}, "window_id": {"@0"}, "session_name": {"a"}, "option": {"mouse"}, "format_string": {"x"}, "timeout": {0.1}, "corner": {"top-left"},
		"pattern": {"x"}, "windows": {[]any{map[string]any{}}}}
	tested := 0
	for _, tool := range p.listed() {
		for _, name := range tool.InputSchema.names() {
			if n := tool.InputSchema.Properties[name]; !n.is("integer") && !n.is("number") || n.is("string") {
				continue
			}
			for _, wrong := range []any{-1, -1e9, 1e300, "", "soon", "NaN", "-Inf", true, []any{}} {
				if (wrong == -1 || wrong == -1e9) && slices.Contains(negative, name) {
					continue
				}
				tested++
				args := map[string]any{}
				for _, other := range tool.InputSchema.Required {
					args[other] = tool.InputSchema.Properties[other].value(rand.New(rand.NewPCG(1, 1)), other, known)
				}
				if tool.InputSchema.Properties["pane_id"] != nil {
					args["pane_id"] = "%0"
				}
				args[name] = wrong
				raw, _ := json.Marshal(args)
				res := p.tool(tool.Name, string(raw))
				text := strings.TrimPrefix(res.text(), tool.Name+": ")
				if !res.IsError || !strings.HasPrefix(text, name+" must be ") || strings.Contains(text, "\n") && !strings.Contains(text, "pass at most 300; ") {
					t.Errorf("%s %s: %q", tool.Name, raw, text)
				}
			}
		}
	}
	if tested < 100 {
		t.Errorf("only %d numbers were tried", tested)
	}
}
