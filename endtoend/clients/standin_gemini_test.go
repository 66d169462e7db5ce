package clients

import (
	"encoding/json"
	"io"
	"strings"
)

// gemini is the API of Google's Gemini.
type gemini struct{}

func (gemini) serves(path string) bool {
	return strings.HasSuffix(path, ":streamGenerateContent") || strings.HasSuffix(path, ":generateContent")
}

func (gemini) read(path string, body []byte) (turn, error) {
	type content struct {
		Role  string
		Parts []struct {
			Text             string
			FunctionResponse *struct {
				ID       string
				Name     string
				Response json.RawMessage
			}
		}
	}
	var req struct {
		SystemInstruction content
		Contents          []content
		Tools             []struct{ FunctionDeclarations []json.RawMessage }
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return turn{}, err
	}
	t := turn{stream: strings.Contains(path, ":stream")}
	for _, group := range req.Tools {
		for _, raw := range group.FunctionDeclarations {
			tool, err := declared(raw)
			if err != nil {
				return t, err
			}
			t.tools = append(t.tools, tool)
		}
	}
	for i, c := range append([]content{req.SystemInstruction}, req.Contents...) {
		for _, p := range c.Parts {
			t.prompt += p.Text + "\n"
			if c.Role == "user" && i > 0 {
				t.hear(p.Text)
			}
			if r := p.FunctionResponse; r != nil && r.ID == callID(len(t.results)) {
				t.results = append(t.results, response(r.Response))
			}
		}
	}
	return t, nil
}

// response returns the text of a result; of an object with a single string, that string.
func response(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil && len(fields) == 1 {
		for _, value := range fields {
			return texts(value)
		}
	}
	return string(raw)
}

func (g gemini) say(w io.Writer, t turn, text string) {
	if !t.stream {
		g.answer(w, t, "STOP", object{"text": text})
		return
	}
	all := pieces(w, text)
	for _, piece := range all[:len(all)-1] {
		g.answer(w, t, "", object{"text": piece})
	}
	g.answer(w, t, "STOP", object{"text": all[len(all)-1]})
}

func (g gemini) call(w io.Writer, t turn, n int, tool Tool, args string) {
	g.answer(w, t, "STOP", object{"functionCall": object{"id": callID(n), "name": tool.Name, "args": json.RawMessage(args)}})
}

func (gemini) answer(w io.Writer, t turn, reason string, part object) {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": []any{part}}}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	response := object{
		"candidates":    []any{candidate},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if t.stream {
		event(w, "", response)
		return
	}
	w.Write(encode(response))
}

func (gemini) other(w io.Writer, path string) {
	if strings.HasSuffix(path, ":countTokens") {
		w.Write(encode(object{"totalTokens": 1}))
		return
	}
	io.WriteString(w, "{}")
}
