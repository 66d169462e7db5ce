package server

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// audit logs one record for each call: the tool, how it ended, how long it took,
// who asked, and its arguments without what may be secret. Results are never
// logged.
func (s *Server) audit(next mcpserver.ToolHandlerFunc) mcpserver.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		res, err := next(ctx, req)
		if !s.cfg.Audit.Enabled(ctx, slog.LevelInfo) {
			return res, err
		}
		attrs := []slog.Attr{slog.String("tool", req.Params.Name), slog.String("outcome", "ok")}
		if err != nil {
			f, _ := faultOf(err)
			attrs[1].Value = slog.StringValue("error")
			attrs = append(attrs, slog.String("error_type", f.kind))
		}
		attrs = append(attrs,
			slog.Float64("duration_ms", float64(time.Since(start).Microseconds())/1000),
			slog.String("client_id", clientOf(ctx)), slog.Any("request_id", requestID(ctx)),
			slog.Any("args", s.digest.arguments(req)))
		s.cfg.Audit.LogAttrs(ctx, slog.LevelInfo, "call", attrs...)
		return res, err
	}
}

// digester writes digests instead of secrets: with a key of this process, so
// that nobody can try a short secret against the log, and equal texts are still
// seen to be equal.
type digester struct{ key []byte }

func newDigester() digester {
	d := digester{make([]byte, 32)}
	rand.Read(d.key)
	return d
}

// secretArguments are those that may hold anything: what is typed, run, pasted
// or put into an environment.
var secretArguments = []string{"keys", "text", "command", "value", "content", "shell", "environment"}

const maxAuditText = 200

func (d digester) arguments(req mcp.CallToolRequest) any {
	raw := req.Params.RawArguments
	if len(raw) == 0 {
		raw, _ = marshal(req.Params.Arguments)
	}
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return shapeOf(raw)
	}
	return d.object(args)
}

func (d digester) object(args map[string]any) map[string]any {
	out := make(map[string]any, len(args))
	for name, value := range args {
		switch {
		case slices.Contains(secretArguments, name):
			out[name] = d.secret(value)
		case name == "operations":
			out[name] = d.operations(value)
		default:
			out[name] = shortened(value)
		}
	}
	return out
}

func (d digester) secret(value any) any {
	switch v := value.(type) {
	case string:
		return d.text(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = d.secret(item)
		}
		return out
	case nil, bool:
		return v
	}
	return shapeOf(value)
}

func (d digester) text(s string) any {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(s))
	return map[string]any{"len": utf8.RuneCountInString(s), "digest": hex.EncodeToString(mac.Sum(nil))[:12]}
}

// operations are the nested calls of a batch, or the inputs of send_keys_batch.
// What does not look like either is told by its shape alone.
func (d digester) operations(value any) any {
	items, ok := value.([]any)
	if !ok {
		return shapeOf(value)
	}
	out := make([]any, len(items))
	for i, item := range items {
		op, ok := item.(map[string]any)
		if !ok {
			out[i] = shapeOf(item)
			continue
		}
		known := map[string]any{}
		for name, v := range op {
			switch x := v.(type) {
			case string:
				switch name {
				case "tool", "pane_id", "session_name", "session_id", "window_id":
					known[name] = shortened(x)
					continue
				case "keys":
					known[name] = d.text(x)
					continue
				}
			case bool:
				known[name] = x
				continue
			case map[string]any:
				if name == "arguments" {
					known[name] = d.object(x)
					continue
				}
			}
			known[name] = shapeOf(v)
		}
		out[i] = known
	}
	return out
}

func shortened(v any) any {
	if s, ok := v.(string); ok && utf8.RuneCountInString(s) > maxAuditText {
		return string([]rune(s)[:maxAuditText]) + "...<truncated>"
	}
	return v
}

func shapeOf(v any) any {
	kind := "number"
	switch v.(type) {
	case string, json.RawMessage:
		kind = "string"
	case map[string]any:
		kind = "object"
	case []any:
		kind = "array"
	case bool:
		kind = "boolean"
	case nil:
		kind = "null"
	}
	return map[string]any{"type": kind, "redacted": true}
}
