package clients

import (
	"encoding/json"
	"io"
	"strings"
)

// messages is Anthropic's Messages API.
type messages struct{}

func (messages) serves(path string) bool { return strings.HasSuffix(path, "/messages") }

func (messages) read(_ string, body []byte) (turn, error) {
	var req struct {
		Stream   bool
		System   json.RawMessage
		Tools    []json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return turn{}, err
	}
	t := turn{stream: req.Stream, prompt: texts(req.System)}
	for _, raw := range req.Tools {
		tool, err := declared(raw)
		if err != nil {
			return t, err
		}
		t.tools = append(t.tools, tool)
	}
	for _, m := range req.Messages {
		t.prompt += "\n" + texts(m.Content)
		var blocks []struct {
			Type      string
			Text      string
			ToolUseID string `json:"tool_use_id"`
			Content   json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil { // a string
			if m.Role == "user" {
				t.hear(texts(m.Content))
			}
			continue
		}
		for _, b := range blocks {
			if b.Type == "text" && m.Role == "user" {
				t.hear(b.Text)
			}
			if b.Type == "tool_result" && b.ToolUseID == callID(len(t.results)) {
				t.results = append(t.results, texts(b.Content))
			}
		}
	}
	return t, nil
}

func (m messages) say(w io.Writer, t turn, text string) {
	var deltas []object
	for _, piece := range pieces(w, text) {
		deltas = append(deltas, object{"type": "text_delta", "text": piece})
	}
	m.answer(w, t, "end_turn", object{"type": "text", "text": text}, object{"type": "text", "text": ""}, deltas...)
}

func (m messages) call(w io.Writer, t turn, n int, tool Tool, args string) {
	whole := object{"type": "tool_use", "id": callID(n), "name": tool.Name, "input": json.RawMessage(args)}
	begun := object{"type": "tool_use", "id": callID(n), "name": tool.Name, "input": object{}}
	m.answer(w, t, "tool_use", whole, begun, object{"type": "input_json_delta", "partial_json": args})
}

// answer writes a message of one block: whole, or as a stream that begins the block and
// then sends the rest.
func (messages) answer(w io.Writer, t turn, reason string, whole, begun object, deltas ...object) {
	usage := object{"input_tokens": 1, "output_tokens": 1}
	message := object{
		"id": newID("msg"), "type": "message", "role": "assistant", "model": "stand-in",
		"content": []any{whole}, "stop_reason": reason, "stop_sequence": nil, "usage": usage,
	}
	if !t.stream {
		w.Write(encode(message))
		return
	}
	message["content"], message["stop_reason"] = []any{}, nil
	event(w, "message_start", object{"type": "message_start", "message": message})
	event(w, "content_block_start", object{"type": "content_block_start", "index": 0, "content_block": begun})
	for _, delta := range deltas {
		event(w, "content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	}
	event(w, "content_block_stop", object{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", object{
		"type": "message_delta", "usage": usage,
		"delta": object{"stop_reason": reason, "stop_sequence": nil},
	})
	event(w, "message_stop", object{"type": "message_stop"})
}

// other answers count_tokens, and everything else with an empty object.
func (messages) other(w io.Writer, path string) {
	if strings.HasSuffix(path, "/count_tokens") {
		w.Write(encode(object{"input_tokens": 1}))
		return
	}
	io.WriteString(w, "{}")
}
