package server

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
)

// leastRow approximates the bytes of a row apart from its contents.
const leastRow = 200

// batchOperation is a nested call.
type batchOperation struct {
	Tool      string     `json:"tool"`
	Arguments params.Raw `json:"arguments,omitempty"`
}

type batchIn struct {
	Operations []batchOperation `json:"operations"`
	OnError    string           `json:"on_error" default:"stop" enum:"stop,continue"`
}

// batchRow is the outcome of a nested call.
type batchRow struct {
	Index             int     `json:"index"`
	Tool              string  `json:"tool"`
	Success           bool    `json:"success"`
	Error             *string `json:"error" exact:"true"`
	Content           []any   `json:"content" exact:"true"`
	StructuredContent any     `json:"structured_content" exact:"true"`
	Meta              any     `json:"meta" exact:"true"`
	ElapsedSeconds    float64 `json:"elapsed_seconds"`
}

type batchResult struct {
	Results []batchRow `json:"results"`
	tool.Items
	ResponseTruncated      bool `json:"response_truncated"`
	ResponseTruncatedBytes int  `json:"response_truncated_bytes"`
}

// batchTools returns the tools that call others.
func (s *Server) batchTools() []*tool.Tool {
	reads := s.batchTool("call_readonly_tools_batch", "Call Readonly Tools Batch", tool.Reads)
	older := s.batchTool("call_read_tools_batch", "Call Read Tools Batch", tool.Reads)
	older.Retired = true // libtmux-mcp's older name of it
	return []*tool.Tool{
		reads, older,
		s.batchTool("call_mutating_tools_batch", "Call Mutating Tools Batch", tool.Batches),
		s.batchTool("call_destructive_tools_batch", "Call Destructive Tools Batch", tool.DestroysBatches),
	}
}

// batchTool returns the tool that calls tools up to a tier.
func (s *Server) batchTool(name, title string, k tool.Kind) *tool.Tool {
	what := map[Tier]string{
		Readonly:    "Make several read-only calls in order.",
		Mutating:    "Make several calls that read, create, type or change, in order.",
		Destructive: "Make several calls of any tools, in order.",
	}[k.Tier]
	return tool.New(tool.Decl{
		Name: name, Title: title, Kind: k, Set: tool.Batch,
		Desc: what + " No calls that wait (run_command without detach, wait_for_*), no other batches.",
		// Each call in it is guarded separately.
		Aim: target.Nowhere, Harm: guard.Harmless,
	}, func(ctx context.Context, _ tool.Call, in batchIn) (batchResult, error) {
		return s.batch(ctx, in, k.Tier)
	})
}

// batch runs the operations in order. Each goes through [Server.run], so a batch can do
// nothing that a call cannot; ceiling is the highest tier.
func (s *Server) batch(ctx context.Context, in batchIn, ceiling Tier) (batchResult, error) {
	out := batchResult{Results: []batchRow{}}
	if len(in.Operations) == 0 || len(in.Operations) > target.MaxItems {
		return out, reply.Argument("operations", "must have 1 to %d items", target.MaxItems)
	}
	room, size := s.form.Room(ctx), func(r batchRow) int { return len(r.text()) }
	if s.cfg.Results == reply.ResultsJSON {
		// The answer contains each row twice; in the text block with its quotes escaped.
		room, size = room*8/17-leastRow*len(in.Operations), func(r batchRow) int { raw, _ := params.Marshal(r); return len(raw) - leastRow }
	}
	out.Items = tool.EachItem(len(in.Operations), in.OnError, func(i int) bool {
		op := in.Operations[i]
		start, share := time.Now(), max(0, room)/(len(in.Operations)-i)
		row := s.batchRow(reply.WithRoom(ctx, share), op, ceiling)
		if n := size(row); n > share && s.cfg.Results == reply.ResultsJSON { // by its escapes
			row.Content, row.StructuredContent = []any{mcp.NewTextContent("[... batch truncated nested content ...]")}, nil
			out.ResponseTruncated = true
			out.ResponseTruncatedBytes += n - size(row)
		}
		room -= size(row)
		row.Index, row.Tool = i, params.Short(op.Tool, 100)
		row.ElapsedSeconds = reply.Seconds(time.Since(start))
		out.Results = append(out.Results, row)
		return row.Success
	})
	return out, ctx.Err()
}

func (s *Server) batchRow(ctx context.Context, op batchOperation, ceiling Tier) batchRow {
	row := batchRow{Content: []any{}}
	fail := func(f *reply.Fault) batchRow {
		res := s.form.Error(advised(s, f), true)
		row.fill(res)
		return row
	}
	t, ok := s.tools[op.Tool]
	switch {
	case !ok:
		return fail(s.unknownTool(op.Tool))
	case t.Set == tool.Batch:
		return fail(reply.Faultf(reply.KindRefused, "%s is a batch, and a batch cannot run batches", op.Tool))
	case !ceiling.Allows(t.Kind.Tier):
		return fail(reply.Faultf(reply.KindTier, "%s has the tier %s, and this batch runs tools up to %s", op.Tool, t.Kind.Tier, ceiling))
	}
	res, err := s.Call(guard.Below(ctx, ceiling), op.Tool, json.RawMessage(op.Arguments))
	if err != nil {
		f, _ := reply.FaultOf(err)
		return fail(f)
	}
	row.fill(res)
	return row
}

// text returns the text of a nested call's answer.
func (r *batchRow) text() string {
	var texts []string
	for _, c := range r.Content {
		if t, ok := c.(mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// fill copies a nested result into the row.
func (r *batchRow) fill(res *mcp.CallToolResult) {
	r.Success = !res.IsError
	for _, c := range res.Content {
		r.Content = append(r.Content, c)
	}
	if res.IsError {
		msg := r.text()
		r.Error = &msg
	}
	r.StructuredContent = res.StructuredContent
	if res.Meta != nil {
		r.Meta = res.Meta
	}
}

// View shows each result below a line with its number of lines, so that the contents of a
// pane cannot be taken for the next result.
func (b batchResult) View() reply.View {
	var v reply.View
	v.Fact("%d of %d succeeded", b.Succeeded, b.Succeeded+b.Failed)
	v.FactIf(b.StoppedAt != nil, "stopped at %d", reply.Value(b.StoppedAt))
	for _, row := range b.Results {
		lines := strings.Split(row.text(), "\n")
		failed := ""
		if !row.Success {
			failed = " failed"
		}
		v.Lines = append(v.Lines, reply.Legible(string(reply.Say("== %s%s, %s", row.Tool, failed, reply.Count(len(lines), "line"))), ""))
		v.Lines = append(v.Lines, lines...)
	}
	return v
}
