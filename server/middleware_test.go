package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"tmuxmcp/server"
	"tmuxmcp/tmux/tmuxtest"
)

// probes is a server with the tools of AddProbes.
func probes(t *testing.T, cfg server.Config) *peer {
	t.Helper()
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.AddProbes()
	return connectTo(t, s)
}

func jsonLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestProgressComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
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
	srv := tmuxtest.New(t)
	var log lockedBuffer
	cfg := configFor(srv)
	cfg.Log = jsonLog(&log)
	p := probes(t, cfg)
	p.handshake("{}")
	res := p.fails("probe_panic", `{}`, "probe_panic failed inside this server")
	if strings.Contains(res.text(), "sekrit") || res.Meta["expected"] != false {
		t.Errorf("a panic is reported as %q with %v", res.text(), res.Meta)
	}
	// What it panics with may be an argument.
	if strings.Contains(log.String(), "sekrit") || !strings.Contains(log.String(), "export_test.go") {
		t.Errorf("the log lacks the panic's stack, or has its text: %s", log.String())
	}
	p.tool("probe_progress", `{}`)
}

func TestLargeResultsKeepTheirTail(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	p := probes(t, configFor(srv))
	p.handshake("{}")
	small := p.tool("probe_text", `{"size":100000}`)
	if strings.Contains(small.text(), "truncated") {
		t.Errorf("a result below the limit is truncated: %.60s", small.text())
	}
	for _, tool := range []string{"probe_text", "probe_list"} {
		res := p.tool(tool, `{"size":1200000}`) // checked against the schema
		if !strings.HasPrefix(res.text(), "[... truncated ") || len(res.text())+len(res.Structured) > 1_010_000 {
			t.Errorf("%s: %d bytes beginning %.60q", tool, len(res.text())+len(res.Structured), res.text())
		}
		tail := string(res.Structured[max(0, len(res.Structured)-60):])
		if tool == "probe_list" && !strings.Contains(string(res.Structured), `1199999],"total":1200000`) || tool == "probe_text" && !strings.Contains(string(res.Structured), `end"`) {
			t.Errorf("%s lost its tail: …%s", tool, tail)
		}
	}
	res := p.tool("probe_error", `{"size":1200000}`)
	if !res.IsError || !strings.HasSuffix(res.text(), "end") || len(res.text()) > 1_000_000 || res.Meta["error_type"] != "Refused" {
		t.Errorf("a large error: isError %t, %d bytes, %v", res.IsError, len(res.text()), res.Meta)
	}
}

func TestOnlyReadsAreRetriedAndOnlyWhereItHelps(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	p := probes(t, configFor(srv))
	p.handshake("{}")
	if got := ok[rows](p, "probe_flaky_read", `{}`); got.Total != 2 {
		t.Errorf("a reading tool ran %d times, want 2", got.Total)
	}
	p.fails("probe_flaky_change", `{}`, "tmux server exited")
	p.fails("probe_missing", `{}`, "not found")
	if got := ok[rows](p, "probe_missing", `{}`); got.Total != 2 {
		t.Errorf("a call that cannot help was repeated: %d runs", got.Total)
	}
}

func TestTiers(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	for _, c := range []struct {
		tier    server.Tier
		allowed map[string]bool
	}{
		{server.Readonly, map[string]bool{"probe_progress": true}},
		{server.Mutating, map[string]bool{"probe_progress": true, "probe_secrets": true}},
		{server.Destructive, map[string]bool{"probe_progress": true, "probe_secrets": true, "call_destructive_tools_batch": true}},
		{"bogus", map[string]bool{"probe_progress": true}},
		{"", map[string]bool{"probe_progress": true}},
	} {
		cfg := configFor(srv)
		cfg.Tier = c.tier
		p := probes(t, cfg)
		p.handshake("{}")
		listed := string(p.request("tools/list", struct{}{}).Result)
		for tool, need := range map[string]string{"probe_progress": "readonly", "probe_secrets": "mutating", "call_destructive_tools_batch": "destructive", "probe_untiered": "no tier"} {
			if strings.Contains(listed, `"`+tool+`"`) != c.allowed[tool] {
				t.Errorf("tier %q: %s listed is %t", c.tier, tool, !c.allowed[tool])
			}
			args := `{}`
			if tool == "call_destructive_tools_batch" {
				args = `{"operations":[{"tool":"probe_progress"}]}`
			}
			if c.allowed[tool] {
				ok[map[string]any](p, tool, args)
				continue
			}
			res := p.fails(tool, args, tool, need)
			if res.Meta["error_type"] != "TierDenied" {
				t.Errorf("tier %q: %s is refused with %v", c.tier, tool, res.Meta)
			}
			if need != "no tier" && !strings.Contains(res.text(), "--safety "+need) {
				t.Errorf("tier %q: the refusal of %s gives the wrong advice: %s", c.tier, tool, res.text())
			}
		}
	}
}

func TestToolsets(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	cfg := configFor(srv)
	cfg.Toolsets = []string{"core", "batch"}
	p := serve(t, cfg)
	listed := string(p.request("tools/list", struct{}{}).Result)
	for tool, want := range map[string]bool{"list_panes": true, "capture_pane": true, "call_readonly_tools_batch": true, "get_pane_info": false, "list_clients": false} {
		if strings.Contains(listed, `"`+tool+`"`) != want {
			t.Errorf("%s listed is %t, want %t", tool, !want, want)
		}
	}
	p.fails("get_pane_info", `{}`, "get_pane_info is in the toolset panes", "--toolsets core,batch,panes")
	// A batch does not get around it.
	got := ok[struct {
		Results []struct{ Error string }
	}](p, "call_readonly_tools_batch", `{"operations":[{"tool":"get_pane_info"}]}`)
	if !strings.Contains(got.Results[0].Error, "toolset panes") {
		t.Errorf("in a batch: %+v", got)
	}
}

func TestAuditRecordsTheCallAndNoSecret(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
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
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 9 {
		t.Fatalf("%d records of 9 calls:\n%s", len(lines), log)
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

func TestBatches(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	p := serve(t, configFor(srv))
	type batch struct {
		Results []struct {
			Index      int
			Tool       string
			Success    bool
			Error      *string
			Content    []map[string]any
			Structured map[string]any `json:"structured_content"`
			Meta       map[string]any
		}
		Succeeded, Failed int
		StoppedAt         *int `json:"stopped_at"`
	}
	ops := `"operations":[{"tool":"list_panes"},{"tool":"capture_pane","arguments":{"pane_id":"%9"}},{"tool":"get_server_info","arguments":"{}"}]`
	got := ok[batch](p, "call_readonly_tools_batch", `{`+ops+`}`)
	if got.Succeeded != 1 || got.Failed != 1 || got.StoppedAt == nil || *got.StoppedAt != 1 || len(got.Results) != 2 {
		t.Errorf("stop: %+v", got)
	}
	if list := p.request("tools/list", map[string]any{}); strings.Contains(string(list.Result), `"call_read_tools_batch"`) {
		t.Error("a retired tool is listed")
	}
	got = batch{}
	waiting, _ := p.begin("tools/call", map[string]any{"name": "call_read_tools_batch", "arguments": json.RawMessage(`{"on_error":"continue",` + ops + `}`)})
	if err := json.Unmarshal([]byte(gjson.GetBytes(p.await(waiting).Result, "structuredContent").Raw), &got); err != nil {
		t.Fatal(err)
	}
	if got.Succeeded != 2 || got.Failed != 1 || got.StoppedAt != nil || len(got.Results) != 3 {
		t.Errorf("continue: %+v", got)
	}
	if r := got.Results[1]; r.Error == nil || !strings.HasPrefix(*r.Error, "Pane not found: %9\n") || r.Meta["error_type"] != "PaneNotFound" {
		t.Errorf("a failed row is %+v", r)
	}
	if r := got.Results[2]; !r.Success || r.Structured["is_alive"] != true || r.Content[0]["type"] != "text" {
		t.Errorf("a good row is %+v", r)
	}
	got = ok[batch](p, "call_readonly_tools_batch", `{"on_error":"continue","operations":[
		{"tool":"call_readonly_tools_batch"},{"tool":"call_mutating_tools_batch"},{"tool":"lst_panes"},{"tool":"list_panes","arguments":{"pane":1}},{"tool":"list_panes"}]}`)
	for i, want := range []string{"a batch cannot run batches", "a batch cannot run batches", "near it are list_panes", "pane is not an argument", ""} {
		r := got.Results[i]
		if (r.Error == nil) != (want == "") || r.Error != nil && !strings.Contains(*r.Error, want) {
			t.Errorf("row %d is %+v, want an error with %q", i, r, want)
		}
	}
	p.fails("call_readonly_tools_batch", `{"operations":[]}`, "1 to 1000")
	p.fails("call_readonly_tools_batch", `{"operations":[`+strings.Repeat(`{"tool":"x"},`, 1000)+`{"tool":"x"}]}`, "1 to 1000")
	p.fails("call_readonly_tools_batch", `{"operations":[{"tol":"list_panes"}]}`, "operations[0].tool is required", "operations[0].tol is not an argument")
	p.fails("call_readonly_tools_batch", `{"operations":[{"tool":"x"}],"on_error":"panic"}`, "on_error must be one of stop, continue")
}

func TestBatchCeilingAndSize(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	p := probes(t, configFor(srv))
	p.handshake("{}")
	type batch struct {
		Results []struct {
			Success    bool
			Error      string
			Content    []struct{ Text string }
			Structured any `json:"structured_content"`
		}
		Truncated bool `json:"response_truncated"`
		Bytes     int  `json:"response_truncated_bytes"`
	}
	got := ok[batch](p, "call_readonly_tools_batch", `{"operations":[{"tool":"probe_secrets"}]}`)
	if !strings.Contains(got.Results[0].Error, "probe_secrets has the tier mutating, and this batch runs tools up to readonly") {
		t.Errorf("a readonly batch ran a mutating tool: %+v", got)
	}
	got = ok[batch](p, "call_readonly_tools_batch", `{"operations":[{"tool":"probe_text","arguments":{"size":150000}},{"tool":"probe_text","arguments":{"size":150000}},{"tool":"probe_text","arguments":{"size":40000}}]}`)
	if !got.Truncated || got.Bytes < 300_000 || got.Results[0].Content[0].Text != "[... batch truncated nested content ...]" || got.Results[0].Structured != nil {
		t.Errorf("a large batch kept its oldest row: truncated %t, %d bytes, %.80s", got.Truncated, got.Bytes, got.Results[0].Content[0].Text)
	}
	if last := got.Results[2]; !last.Success || !strings.HasSuffix(last.Content[0].Text, "end") {
		t.Errorf("a large batch lost its newest row: %.80v", last)
	}
}

func TestTheAgentsOwnPaneIsProtected(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	own := server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		caller  server.Caller
		pane    string
		refused bool
	}{
		{"own pane", own, "%0", true},
		{"another pane", own, "%1", false},
		{"own pane's id on another server", server.Caller{Pane: "%0", Socket: other}, "%0", false},
		{"a socket of the same name", server.Caller{Pane: "%0", Socket: "/elsewhere/s"}, "%0", true},
		{"a pane without a socket", server.Caller{Pane: "%0"}, "%0", true},
		{"no caller", server.Caller{}, "%0", false},
	} {
		cfg := configFor(srv)
		cfg.Caller = c.caller
		p := probes(t, cfg)
		p.handshake("{}")
		res := p.tool("probe_ends", `{"pane_id":"`+c.pane+`"}`)
		if res.IsError != c.refused {
			t.Errorf("%s: refused is %t: %s", c.name, res.IsError, res.text())
		}
	}
}

func TestTheUserIsAskedIfTheClientCan(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	cfg := configFor(srv)
	cfg.Caller = server.Caller{Pane: "%0", Socket: srv.SocketPath()}
	p := probes(t, cfg)
	p.handshake(`{"elicitation":{}}`)
	ask := func(ending bool, answer string) (asked bool, res result) {
		t.Helper()
		before := p.asks()
		tool := "probe_disturbs"
		if ending {
			tool = "probe_ends"
		}
		c, _ := p.begin("tools/call", map[string]any{"name": tool, "arguments": map[string]any{"pane_id": "%0"}})
		var r reply
		for done := false; !done; {
			select {
			case r = <-c:
				done = true
			default:
				if ids := p.asks(); len(ids) > len(before) {
					asked, before = true, ids
					p.send(`{"jsonrpc":"2.0","id":%s,%s}`, ids[len(ids)-1], answer)
				}
			}
		}
		return asked, p.toolResult(tool, r)
	}
	for _, c := range []struct {
		ending bool
		answer string
		works  bool
	}{
		{false, `"result":{"action":"decline"}`, false},
		{false, `"result":{"action":"cancel"}`, false},
		{false, `"error":{"code":-1,"message":"no"}`, false},
		{false, `"result":{"action":"accept"}`, true},
		{true, `"result":{"action":"accept","content":{}}`, true},
		{true, `"result":{"action":"accept","content":{}}`, true}, // every time
	} {
		asked, res := ask(c.ending, c.answer)
		if !asked || res.IsError == c.works {
			t.Errorf("ending %t, answer %s: asked is %t, answer %q", c.ending, c.answer, asked, res.text())
		}
	}
}

func TestTypingNeedsALivePane(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	session(t, srv, "a")
	tmuxtest.Run(t, srv, "set-option", "-g", "remain-on-exit", "on")
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", "true")
	tmuxtest.Run(t, srv, "split-window", "-t", "%0", "cat")
	tmuxtest.Run(t, srv, "copy-mode", "-t", "%2")
	tmuxtest.Wait(t, srv, "%0", "dead pane", func() bool {
		return tmuxtest.Run(t, srv, "display-message", "-p", "-t", "%1", "#{pane_dead}") == "1"
	})
	p := probes(t, configFor(srv))
	p.handshake("{}")
	if res := p.tool("probe_typable", `{"pane_id":"%0"}`); res.IsError || res.text() != "%0" {
		t.Errorf("a live pane: %s", res.text())
	}
	p.fails("probe_typable", `{}`, "probe_typable needs a target", "list_panes")
	p.fails("probe_typable", `{"pane_id":"%1"}`, "the program in pane %1 has ended", "respawn_pane")
	p.fails("probe_typable", `{"pane_id":"%2"}`, "pane %2 is in copy-mode", "exit_copy_mode")
	p.fails("probe_typable", `{"pane_id":"%9"}`, "Pane not found: %9")
	p.fails("probe_typable", `{"session_name":"zz"}`, "Object not found: session zz")
}
