package reply

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/params"
)

// MaxResult bounds any result, in bytes of its JSON.
const MaxResult = 1_000_000

// Limit bounds what is not bounded already, as text is by [View.Text]. It keeps the tail of
// a result that is too large, since what a terminal printed last matters most. Text loses
// its beginning and a list its first items; structured content keeps its shape and says in
// left_out what was removed, and the text block how much.
func (f Form) Limit(ctx context.Context, res *mcp.CallToolResult) *mcp.CallToolResult {
	most := f.most(ctx)
	whole := TextOf(res)
	raw, structured := res.StructuredContent.(json.RawMessage)
	if len(whole)+len(raw) <= most {
		return res
	}
	limited := *res
	kept := Tail(whole, f.half(ctx))
	if structured {
		shrunk := withLeftOut(raw, shrink(raw, f.half(ctx)-mostLeftOut), most)
		limited.StructuredContent = shrunk
		if whole == string(raw) {
			kept = string(shrunk)
		}
	}
	limited.Content = []mcp.Content{mcp.NewTextContent(
		fmt.Sprintf("[... truncated %d bytes ...]\n%s", len(whole)-len(kept), kept))}
	return &limited
}

// most is the maximum size of a result that [Form.Limit] bounds.
func (f Form) most(ctx context.Context) int {
	if f.Results == ResultsJSON {
		return f.Room(ctx)
	}
	return MaxResult
}

// half is the room for structured content beside its text, or for that.
func (f Form) half(ctx context.Context) int { return f.most(ctx)/2 - 100 }

// mostLeftOut is reserved for what left_out says.
const mostLeftOut = 400

// shrink truncates the largest text or list of an object from the front until the object's
// JSON has at most n bytes. Other properties stay unchanged, except one that says whether
// it was truncated.
func shrink(raw json.RawMessage, n int) json.RawMessage {
	var props map[string]json.RawMessage
	for len(raw) > n && json.Unmarshal(raw, &props) == nil {
		largest := ""
		for name, value := range props {
			if len(value) > len(props[largest]) {
				largest = name
			}
		}
		value := shorter(props[largest], len(raw)-n)
		if len(value) >= len(props[largest]) {
			return raw
		}
		props[largest] = value
		if _, ok := props[largest+"_truncated"]; ok {
			props[largest+"_truncated"] = json.RawMessage("true")
		}
		shrunk, err := params.Marshal(props)
		if err != nil {
			return raw
		}
		raw = shrunk
	}
	return raw
}

// withLeftOut returns what shrink made of raw with one more property, left_out, that says what
// is missing because of the limit.
func withLeftOut(raw, shrunk json.RawMessage, most int) json.RawMessage {
	var whole, props map[string]json.RawMessage
	if json.Unmarshal(raw, &whole) != nil || json.Unmarshal(shrunk, &props) != nil {
		return shrunk
	}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		was, is := whole[name], props[name]
		var items, left []json.RawMessage
		switch {
		case len(is) >= len(was):
		case json.Unmarshal(was, &items) == nil && json.Unmarshal(is, &left) == nil && len(left) < len(items):
			missing = append(missing, fmt.Sprintf("the first %d of %d in %s", len(items)-len(left), len(items), name))
		default:
			missing = append(missing, fmt.Sprintf("%d of %d bytes in %s", len(was)-len(is), len(was), name))
		}
	}
	why, err := params.Marshal(fmt.Sprintf("%s do not fit in %d bytes", strings.Join(missing, ", "), most))
	if err != nil || missing == nil {
		return shrunk
	}
	props["left_out"] = why
	if said, err := params.Marshal(props); err == nil {
		return said
	}
	return shrunk
}

// shorter removes about that many bytes of JSON from the front of a text or a list: of a
// list its first items and, if that is not enough, the front of the last one. Anything else
// stays unchanged.
func shorter(value json.RawMessage, bytes int) json.RawMessage {
	var text string
	var items []json.RawMessage
	var err error
	short := value
	switch {
	case json.Unmarshal(value, &text) == nil && text != "":
		// Escapes make the JSON longer than the text.
		keep := len(text) - max(1, bytes*len(text)/len(value))
		short, err = params.Marshal(Tail(text, max(0, keep)))
	case json.Unmarshal(value, &items) == nil && len(items) > 0:
		for len(items) > 1 && bytes > 0 {
			bytes -= len(items[0]) + 1
			items = items[1:]
		}
		if bytes > 0 {
			if last := shorter(items[0], bytes); len(last) < len(items[0]) {
				items[0] = last
			} else {
				items = items[1:]
			}
		}
		short, err = params.Marshal(items)
	}
	if err != nil {
		return value
	}
	return short
}

// Tail returns the last n bytes of s, without cutting a character in two.
func Tail(s string, n int) string {
	n = max(n, 0)
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// Head returns the first n bytes of s, without cutting a character in two.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Limited keeps the last lines: at most maxLines, and at most maxBytes when joined; nil
// means no limit. It returns how many lines and bytes it omitted.
func Limited(lines []string, maxLines, maxBytes *int) (kept []string, cutLines, cutBytes int) {
	kept, _ = LastLines(lines, maxLines)
	if maxBytes != nil && len(kept) > 0 {
		n := max(1, Fitting(kept, *maxBytes+1, lineSize))
		kept = slices.Clone(kept[len(kept)-n:])
		if n == 1 {
			kept[0] = Tail(kept[0], *maxBytes)
		}
	}
	for _, l := range lines {
		cutBytes += lineSize(l)
	}
	for _, l := range kept {
		cutBytes -= lineSize(l)
	}
	return kept, len(lines) - len(kept), cutBytes
}

// Fitting returns how many of the last lines fit in room bytes. size returns the size of a
// line.
func Fitting(lines []string, room int, size func(line string) int) (n int) {
	for n < len(lines) {
		if room -= size(lines[len(lines)-1-n]); room < 0 {
			break
		}
		n++
	}
	return n
}

func lineSize(line string) int { return len(line) + 1 }
