package clients

import (
	"encoding/json"
	"io"
	"strings"
)

// completions is OpenAI's Chat Completions API, which most other services imitate.
type completions struct{}

func (completions) serves(path string) bool { return strings.HasSuffix(path, "/chat/completions") }

func (completions) read(_ string, body []byte) (turn, error) {
	var req struct {
		Stream   bool
		Tools    []struct{ Function json.RawMessage }
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return turn{}, err
	}
	t := turn{stream: req.Stream}
	for _, raw := range req.Tools {
		tool, err := declared(raw.Function)
		if err != nil {
			return t, err
		}
		t.tools = append(t.tools, tool)
	}
	for _, m := range req.Messages {
		t.prompt += texts(m.Content) + "\n"
		if m.Role == "user" {
			for _, block := range blocksOf(m.Content) {
				t.hear(block)
			}
		}
		if m.Role == "tool" && m.ToolCallID == callID(len(t.results)) {
			t.results = append(t.results, texts(m.Content))
		}
	}
	return t, nil
}

func (c completions) say(w io.Writer, t turn, text string) {
	var deltas []object
	for _, piece := range pieces(w, text) {
		deltas = append(deltas, object{"content": piece})
	}
	c.answer(w, t, "stop", object{"role": "assistant", "content": text}, deltas...)
}

func (c completions) call(w io.Writer, t turn, n int, tool Tool, args string) {
	call := object{"index": 0, "id": callID(n), "type": "function", "function": object{"name": tool.Name, "arguments": args}}
	message := object{"role": "assistant", "content": nil, "tool_calls": []any{call}}
	c.answer(w, t, "tool_calls", message, object{"tool_calls": []any{call}})
}

// answer writes a message: whole, or as a stream of deltas. A stream ends with the usage,
// in a chunk of its own, and with an event that is not JSON.
func (completions) answer(w io.Writer, t turn, reason string, message object, deltas ...object) {
	response := object{
		"id": newID("chatcmpl"), "object": "chat.completion", "created": 1, "model": "stand-in",
		"choices": []any{object{"index": 0, "message": message, "finish_reason": reason}},
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if !t.stream {
		response["usage"] = usage
		w.Write(encode(response))
		return
	}
	response["object"] = "chat.completion.chunk"
	chunk := func(delta object, reason any) {
		response["choices"] = []any{object{"index": 0, "delta": delta, "finish_reason": reason}}
		event(w, "", response)
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	for _, delta := range deltas {
		chunk(delta, nil)
	}
	chunk(object{}, reason)
	response["choices"], response["usage"] = []any{}, usage
	event(w, "", response)
	io.WriteString(w, "data: [DONE]\n\n")
}

// other answers everything else as a list of the only model.
func (completions) other(w io.Writer, path string) {
	w.Write(encode(object{"object": "list", "data": []any{
		object{"id": "stand-in", "object": "model", "created": 1, "owned_by": "stand-in"},
	}}))
}
