// Package audit logs calls, without what could be a secret.
package audit

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/stdio"
	"tmuxmcp/server/internal/tool"
)

// Log writes a record of each call.
type Log struct {
	log    *slog.Logger
	tools  map[string]*tool.Tool
	nested reflect.Type
	digest digester
}

// New returns a Log of calls of these tools. An argument of the type nested is itself a call, with
// the properties tool and arguments.
func New(log *slog.Logger, tools map[string]*tool.Tool, nested reflect.Type) *Log {
	a := &Log{log: log, tools: tools, nested: nested}
	rand.Read(a.digest[:])
	return a
}

// Record logs one record of a call: the tool, its outcome and duration, the caller, and the
// arguments as returned by object. Results and error messages are never logged, as they may
// repeat an argument.
func (a *Log) Record(ctx context.Context, name string, args json.RawMessage, start time.Time, err error) {
	if !a.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	var in reflect.Type // nil if there is no such tool
	if t := a.tools[name]; t != nil {
		in = t.In
	}
	attrs := []slog.Attr{slog.String("tool", name), slog.String("outcome", "ok")}
	if err != nil {
		f, _ := reply.FaultOf(err)
		attrs[1].Value = slog.StringValue("error")
		attrs = append(attrs, slog.String("error_type", f.Kind))
	}
	attrs = append(attrs,
		slog.Float64("duration_ms", float64(time.Since(start).Microseconds())/1000),
		slog.String("client_id", reply.Tail(stdio.ClientName(ctx), 100)), slog.Any("request_id", stdio.RequestID(ctx)),
		slog.Any("args", a.object(in, args)))
	a.log.LogAttrs(ctx, slog.LevelInfo, "call", attrs...)
}

// digester replaces values by digests. They use a key of this process, so that short
// secrets cannot be guessed from the log, while equal values remain recognizable.
type digester [32]byte

func (d digester) text(s string) any {
	return map[string]any{"len": utf8.RuneCountInString(s), "digest": d.mac(s)[:12]}
}

// mac returns a message authentication code.
func (d digester) mac(s string) string {
	mac := hmac.New(sha256.New, d[:])
	mac.Write([]byte(s))
	return hex.EncodeToString(mac.Sum(nil))
}

// value returns the digest of a text, or of the JSON of another value.
func (d digester) value(raw json.RawMessage) any {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return d.text(s)
	}
	return d.text(string(raw))
}

// object returns arguments as the log may contain them: flags, and those numbers, ids
// and enumeration words that the tool's parameters accept. Anything else may be a secret, if
// only by mistake, even the name of an unknown argument, and is replaced by a digest.
func (a *Log) object(t reflect.Type, raw json.RawMessage) any {
	var given map[string]json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &given) != nil || t == nil {
		return a.digest.value(raw)
	}
	out := make(map[string]any, len(given))
	for _, f := range params.FieldsOf(t) {
		value, ok := given[f.Name]
		delete(given, f.Name)
		if ok {
			out[f.Name] = a.value(f, value)
		}
	}
	if t == a.nested {
		var op struct {
			Tool      string
			Arguments json.RawMessage
		}
		if json.Unmarshal(raw, &op) == nil && a.tools[op.Tool] != nil {
			out["tool"] = op.Tool
			if op.Arguments != nil {
				out["arguments"] = a.object(a.tools[op.Tool].In, op.Arguments)
			}
		}
	}
	var unknown []any
	for _, name := range slices.Sorted(maps.Keys(given)) {
		unknown = append(unknown, []any{a.digest.text(name), a.digest.value(given[name])})
	}
	if unknown != nil {
		out["unknown arguments"] = unknown
	}
	return out
}

func (a *Log) value(f params.Field, raw json.RawMessage) any {
	t := params.Elem(f.Type)
	var text string
	var items []json.RawMessage
	switch c := bytes.TrimSpace(raw)[0]; {
	case c == 'n' || c == 't' || c == 'f':
		return raw
	case c == '"' && json.Unmarshal(raw, &text) == nil:
		isID := false
		if t.Kind() == reflect.String {
			id, ok := reflect.ValueOf(text).Convert(t).Interface().(interface{ Valid() bool })
			isID = ok && id.Valid()
		}
		if isID || slices.Contains(f.Enum, text) {
			return text
		}
	case c == '[' && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && json.Unmarshal(raw, &items) == nil:
		out := make([]any, len(items))
		for i, item := range items {
			out[i] = a.object(t.Elem(), item)
		}
		return out
	case c != '"' && c != '[' && c != '{' && (reflect.Zero(t).CanInt() || reflect.Zero(t).CanFloat()) && len(raw) < 20:
		return raw
	}
	return a.digest.value(raw)
}
