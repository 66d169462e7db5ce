package clients

import (
	"encoding/json"
	"io"
	"strings"
)

// responses is OpenAI's Responses API.
type responses struct{}

func (responses) serves(path string) bool { return strings.HasSuffix(path, "/responses") }

func (responses) read(_ string, body []byte) (turn, error) {
	var req struct {
		Instructions string
		Tools        []json.RawMessage
		Input        []struct {
			Type    string
			Role    string
			CallID  string `json:"call_id"`
			Content json.RawMessage
			Output  json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return turn{}, err
	}
	t := turn{stream: true, prompt: req.Instructions}
	for _, raw := range req.Tools {
		var space struct {
			Type  string
			Tools []json.RawMessage
		}
		if err := json.Unmarshal(raw, &space); err != nil {
			return t, err
		}
		tool, err := declared(raw)
		if err != nil {
			return t, err
		}
		if space.Type != "namespace" {
			t.tools = append(t.tools, tool)
			continue
		}
		// It stands for an MCP server: its description is the server's instructions.
		t.prompt += "\n" + tool.Description
		for _, raw := range space.Tools {
			in, err := declared(raw)
			if err != nil {
				return t, err
			}
			in.Space = tool.Name
			t.tools = append(t.tools, in)
		}
	}
	for _, in := range req.Input {
		switch {
		case in.Type == "message":
			t.prompt += "\n" + texts(in.Content)
			if in.Role == "user" {
				for _, block := range blocksOf(in.Content) {
					t.hear(block)
				}
			}
		case in.Type == "function_call_output" && in.CallID == callID(len(t.results)):
			t.results = append(t.results, texts(in.Output))
		}
	}
	return t, nil
}

func (r responses) say(w io.Writer, _ turn, text string) {
	r.answer(w, object{
		"type": "message", "id": newID("item"), "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}},
	}, pieces(w, text)...)
}

func (r responses) call(w io.Writer, _ turn, n int, tool Tool, args string) {
	item := object{
		"type": "function_call", "id": newID("item"), "call_id": callID(n), "status": "completed",
		"name": tool.Name, "arguments": args,
	}
	if tool.Space != "" {
		item["namespace"] = tool.Space
	}
	r.answer(w, item)
}

func (responses) answer(w io.Writer, item object, deltas ...string) {
	response := object{"id": newID("resp"), "object": "response", "model": "stand-in", "status": "in_progress", "output": []any{}}
	event(w, "response.created", object{"type": "response.created", "response": response})
	event(w, "response.output_item.added", object{"type": "response.output_item.added", "output_index": 0, "item": item})
	for _, delta := range deltas {
		event(w, "response.output_text.delta", object{"type": "response.output_text.delta", "item_id": item["id"], "output_index": 0, "content_index": 0, "delta": delta})
	}
	event(w, "response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	response["status"], response["output"] = "completed", []any{item}
	response["usage"] = object{
		"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
		"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
	}
	event(w, "response.completed", object{"type": "response.completed", "response": response})
}

func (responses) other(w io.Writer, path string) {
	w.Write(encode(object{"object": "list", "data": []any{}, "models": []any{}}))
}
