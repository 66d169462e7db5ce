package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/server"
)

// probes returns a server with the tools of AddProbes.
func probes(t *testing.T, cfg server.Config) *peer {
	t.Helper()
	s := newServer(t, cfg)
	s.AddProbes()
	return connectTo(t, s)
}

func jsonLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// TestProgressGrows: the protocol demands it, also of a call that waits for one thing after
// another.
func TestProgressGrows(t *testing.T) {
	t.Parallel()
	p := probes(t, configFor(testserver.New(t)))
	p.handshake("{}")
	c, _ := p.begin("tools/call", map[string]any{"name": "probe_waits", "_meta": map[string]any{"progressToken": "mine"}})
	p.await(c)
	reports := p.progressOf("mine")
	for i, report := range reports[1:] {
		if report.Progress <= reports[i].Progress {
			t.Errorf("progress of %v after %v", report.Progress, reports[i].Progress)
		}
	}
	if len(reports) != 6 {
		t.Errorf("%d reports", len(reports))
	}
}

func TestProgressComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	p := probes(t, configFor(srv))
	p.handshake("{}")
	var calls []<-chan reply
	for i := range 100 {
		c, _ := p.begin("tools/call", map[string]any{"name": "probe_progress", "_meta": map[string]any{"progressToken": i}})
		calls = append(calls, c)
	}
	for _, c := range calls {
		p.await(c)
	}
	p.tool("probe_progress", `{}`) // no token: no progress
	answered, reports := map[string]bool{}, map[string]int{}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, raw := range p.messages {
		var m struct {
			ID     json.Number `json:"id"`
			Method string      `json:"method"`
			Params struct {
				Token    json.Number `json:"progressToken"`
				Progress float64     `json:"progress"`
				Message  string      `json:"message"`
			} `json:"params"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		switch m.Method {
		case "":
			answered[m.ID.String()] = true
		case "notifications/progress":
			token := m.Params.Token.String()
			if int(m.Params.Progress) != reports[token] {
				t.Errorf("progress of %s is %v after %d reports", token, m.Params.Progress, reports[token])
			}
			reports[token]++
			// Request ids count from 1, and initialize was the first.
			var n int
			fmt.Sscan(token, &n)
			if answered[fmt.Sprint(n+2)] {
				t.Errorf("progress of %s came after its answer", token)
			}
		}
	}
	if len(reports) != 100 {
		t.Errorf("%d calls reported progress, want 100", len(reports))
	}
}

func TestPanicIsAnErrorAndItsStackIsLogged(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	var log lockedBuffer
	cfg := configFor(srv)
	cfg.Log = jsonLog(&log)
	p := probes(t, cfg)
	p.handshake("{}")
	res := p.fails("probe_panic", `{}`, "probe_panic failed inside this server")
	if strings.Contains(res.text(), "sekrit") || res.Meta["expected"] != false {
		t.Errorf("a panic is reported as %q with %v", res.text(), res.Meta)
	}
	// The panic value may be an argument.
	if strings.Contains(log.String(), "sekrit") || !strings.Contains(log.String(), "export_test.go") {
		t.Errorf("the log lacks the panic's stack, or has its text: %s", log.String())
	}
	p.tool("probe_progress", `{}`)
}

func TestLargeResultsKeepTheirTail(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	p := probes(t, configFor(srv))
	p.handshake("{}")
	small := p.tool("probe_text", `{"size":100000}`)
	if strings.Contains(small.text(), "truncated") {
		t.Errorf("a result below the limit is truncated: %.60s", small.text())
	}
	res := p.tool("probe_text", `{"size":1200000}`) // checked against the schema
	if !strings.HasPrefix(res.text(), "[... truncated ") || len(res.text())+len(res.Structured) > 1_010_000 {
		t.Errorf("%d bytes beginning %.60q", len(res.text())+len(res.Structured), res.text())
	}
	tail := string(res.Structured[max(0, len(res.Structured)-200):])
	if !strings.Contains(tail, `end"`) || !strings.Contains(string(res.Structured), `bytes in result do not fit in 1000000 bytes"`) {
		t.Errorf("a text lost its tail, or does not say what it lost: …%s", tail)
	}
	// A list has pages, and keeps its first rows.
	res = p.tool("probe_list", `{"size":200000}`)
	tail = string(res.Structured[max(0, len(res.Structured)-300):])
	if !regexp.MustCompile(`],"total":200000,"left_out":"rows \d+ to 200000 of 200000, \d+, .*…, do not fit in \d+ bytes; get them with offset, filters or fewer fields"}$`).MatchString(tail) ||
		!strings.HasPrefix(string(res.Structured), `{"result":[0,1,`) || len(res.text())+len(res.Structured) > 1_000_000 {
		t.Errorf("a list of %d bytes ends in %s", len(res.text())+len(res.Structured), tail)
	}
	res = p.tool("probe_error", `{"size":1200000}`)
	if !res.IsError || !strings.HasSuffix(res.text(), "end") || len(res.text()) > 1_000_000 || res.Meta["error_type"] != "Refused" {
		t.Errorf("a large error: isError %t, %d bytes, %v", res.IsError, len(res.text()), res.Meta)
	}
}

func TestAuditRecordsTheCallAndNoSecret(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	audit := func() (log *lockedBuffer, p *peer) {
		log = &lockedBuffer{}
		cfg := configFor(srv)
		cfg.Tier = server.Mutating
		cfg.Audit = jsonLog(log)
		p = probes(t, cfg)
		p.handshake("{}")
		return log, p
	}
	log, p := audit()
	long := strings.Repeat("t", 300)
	for _, args := range []string{
		`{"keys":"sekrit","title":"` + long + `"}`,
		`{"keys":"sekrit"}`,
		`{"environment":{"TOKEN":"sekrit"}}`,
		`{"environment":"{\"TOKEN\":\"sekrit\"}"}`,
		`{"command":"sekrit","text":["sekrit"],"value":{"a":"sekrit"},"content":7}`,
		`{"operations":[{"keys":"sekrit","pane_id":"%1","enter":true},{"tool":"send_keys","arguments":{"keys":"sekrit"}},{"kyes":"sekrit"},"sekrit",{"keys":["sekrit"]}]}`,
		`{"operations":"sekrit"}`,
		`"sekrit"`,
	} {
		p.tool("probe_secrets", args)
	}
	p.fails("call_destructive_tools_batch", `{"operations":[]}`)
	// Ids, numbers, flags and words of the schema are in it.
	p.tool("capture_pane", `{"pane_id":"%0","max_lines":7,"colors":true,"end":null,"session_name":"a","window_id":"@x"}`)
	p.tool("call_mutating_tools_batch", `{"on_error":"stop","operations":[{"tool":"list_panes","arguments":{"session_id":"$0"}},{"tool":"send_keys_batch","arguments":{"operations":[{"keys":"x","pane_id":"%0","enter":false}]}}]}`)
	for _, want := range []string{
		`"pane_id":"%0"`, `"max_lines":7`, `"colors":true`, `"end":null`, `"session_name":{"digest":"`, `"window_id":{"digest":"`, `"len":2}`,
		`"on_error":"stop"`, `"tool":"list_panes"`, `"session_id":"$0"`, `"arguments":{"operations":[{"enter":false,"keys":{"digest":"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the audit log lacks %s:\n%s", want, log)
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 12 { // with the first part of the last batch
		t.Fatalf("%d records of 12 calls:\n%s", len(lines), log)
	}
	if strings.Contains(log.String(), "sekrit") || strings.Contains(log.String(), long) {
		t.Errorf("the audit log has a secret, or all of a long text:\n%s", log)
	}
	type record struct {
		Tool, Outcome string
		ErrorType     string  `json:"error_type"`
		Duration      float64 `json:"duration_ms"`
		Client        string  `json:"client_id"`
		Request       any     `json:"request_id"`
		Args          map[string]any
	}
	var first, second, denied record
	for line, r := range map[string]*record{lines[0]: &first, lines[1]: &second, lines[8]: &denied} {
		if err := json.Unmarshal([]byte(line), r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
	}
	if first.Tool != "probe_secrets" || first.Outcome != "ok" || first.Client != "probe 1.2" || first.Request == nil {
		t.Errorf("the first record is %+v", first)
	}
	if denied.Outcome != "error" || denied.ErrorType != "TierDenied" {
		t.Errorf("a refused call is recorded as %+v", denied)
	}
	digest := fmt.Sprint(first.Args["keys"])
	if digest != fmt.Sprint(second.Args["keys"]) || !strings.Contains(digest, "len:6") {
		t.Errorf("equal secrets have the digests %s and %v", digest, second.Args["keys"])
	}
	other, p2 := audit()
	p2.tool("probe_secrets", `{"keys":"sekrit"}`)
	if d := strings.Split(digest, " ")[0]; strings.Contains(other.String(), strings.TrimPrefix(d, "map[digest:")) {
		t.Errorf("another process has the same digest %s", d)
	}
}
