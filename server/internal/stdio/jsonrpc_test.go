package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// bench is a transport to an MCP server with a few tools.
type bench struct {
	Transport
	add     func(name string, run mcpserver.ToolHandlerFunc)
	created atomic.Int32 // calls of create_session
	log     bytes.Buffer
}

var errKnown = errors.New("it is known")

func newBench() *bench {
	hooks := &mcpserver.Hooks{}
	hooks.AddOnError(KeepError)
	s := mcpserver.NewMCPServer("bench", "1", mcpserver.WithToolCapabilities(false), mcpserver.WithHooks(hooks))
	b := &bench{}
	b.add = func(name string, run mcpserver.ToolHandlerFunc) {
		s.AddTool(mcp.Tool{Name: name, RawInputSchema: json.RawMessage(`{"type":"object"}`)}, run)
	}
	b.add("create_session", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		b.created.Add(1)
		return mcp.NewToolResultText("created"), nil
	})
	b.add("panics", func(_ context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic(errors.New("with " + req.GetString("text", "")))
	})
	b.add("known", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, errKnown })
	b.add("unknown", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("it is not known")
	})
	b.Transport = Transport{
		MCP: s, Log: slog.New(slog.NewJSONHandler(&b.log, nil)),
		Explain: func(r Request, err error) *mcp.JSONRPCErrorDetails {
			if errors.Is(err, errKnown) {
				return refuse(77, r.Method+" "+string(r.Params)+" "+errKnown.Error())
			}
			return nil
		},
	}
	return b
}

// small are limits that a test reaches soon.
var small = limits{message: 2 << 20, held: 2 << 20, grace: time.Minute}

// exchange returns everything answered to an input, by line.
func (b *bench) exchange(t testing.TB, input io.Reader) []string {
	t.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := b.serve(ctx, newSession(small), input, &out); err != nil || ctx.Err() != nil {
		t.Fatalf("serve: %v, %v", err, ctx.Err())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func initialize(revision string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}`
}

func refusal(id string, code int, why string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, why)
}

func pong(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

// TestMessagesAreChecked sends each line separately, to a server that notices if it
// executes what it must not.
func TestMessagesAreChecked(t *testing.T) {
	b := newBench()
	const create = `"method":"tools/call","params":{"name":"create_session","arguments":{"session_name":"bad"}}`
	const (
		notJSON   = "the message is not JSON"
		notObject = "a message must be an object"
		badID     = `"id" must be a string or an integer`
		badMethod = `"method" must be a string`
		version   = `"jsonrpc" must be "2.0"`
		params    = `"params" must be an object`
		both      = "a message must be a request or a response"
	)
	parseError := refusal("null", -32700, notJSON)
	invalid := func(id, why string) string { return refusal(id, -32600, why) }
	cases := []struct{ line, want string }{
		{`garbage`, parseError}, {`{`, parseError}, {`{"jsonrpc":"2.0","id":1,"method":"ping"}}`, parseError}, {"\x00", parseError},
		{"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, parseError}, {"\u00a0", parseError}, {"\v", parseError},
		{`{"jsonrpc":"2.0","id":"` + "\xff" + `","method":"ping"}`, parseError}, {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}`, parseError},
		{strings.Repeat("[", 100_000), parseError}, {strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), parseError},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + `}`, parseError},
		{`1`, invalid("null", notObject)}, {`"x"`, invalid("null", notObject)}, {`null`, invalid("null", notObject)}, {`true`, invalid("null", notObject)},
		{`{}`, invalid("null", version)}, {`{"id":5,` + create + `}`, invalid("5", version)}, {`{` + create + `}`, invalid("null", version)},
		{`{"jsonrpc":2.0,"id":5,` + create + `}`, invalid("5", version)}, {`{"jsonrpc":"1.0","id":5,` + create + `}`, invalid("5", version)},
		{`{"JSONRPC":"2.0","ID":5,` + create + `}`, invalid("null", version)},
		{`{"jsonrpc":"2.0","id":true,` + create + `}`, invalid("null", badID)}, {`{"jsonrpc":"2.0","id":{},` + create + `}`, invalid("null", badID)},
		{`{"jsonrpc":"2.0","id":[1],` + create + `}`, invalid("null", badID)}, {`{"jsonrpc":"2.0","id":null,` + create + `}`, invalid("null", badID)},
		{`{"jsonrpc":"2.0","id":1.5,` + create + `}`, invalid("null", badID)}, {`{"jsonrpc":"2.0","id":1e2,` + create + `}`, invalid("null", badID)},
		{`{"jsonrpc":"2.0","id":1}`, invalid("1", badMethod)}, {`{"jsonrpc":"2.0","id":1,"method":null}`, invalid("1", badMethod)},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, invalid("1", badMethod)}, {`{"jsonrpc":"2.0","id":1,"Method":"ping"}`, invalid("1", badMethod)},
		{`{"jsonrpc":"2.0","id":1,"method":7,"result":{}}`, invalid("1", badMethod)}, {`{"jsonrpc":"2.0"}`, invalid("null", badMethod)},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":1}`, invalid("1", params)}, {`{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, invalid("1", params)},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, invalid("1", params)},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`, invalid("null", `"method" appears twice`)},
		{`{"jsonrpc":"2.0","id":1,"id":2,` + create + `}`, invalid("null", `"id" appears twice`)},
		{`{"jsonrpc":"2.0","id":1,"\u0069d":2,` + create + `}`, invalid("null", `"id" appears twice`)},
		{`{"jsonrpc":"2.0","id":1,` + create + `,"result":{}}`, invalid("1", both)}, {`{"jsonrpc":"2.0","id":1,` + create + `,"error":null}`, invalid("1", both)},
		// What is no request gets no answer.
		{`{"jsonrpc":"2.0",` + create + `}`, ""}, {`{"jsonrpc":"2.0","method":"ping","params":null}`, ""}, {`{"jsonrpc":"2.0","method":""}`, ""},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, ""}, {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, ""},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, ""}, {`{"jsonrpc":"2.0","id":7,"result":{}}`, ""}, {`{"jsonrpc":"2.0","id":7,"error":1}`, ""},
		{"", ""}, {" \t\r", ""},
		// Requests, with ids whose bytes come back.
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, pong("1")}, {"  {\"jsonrpc\" : \"2.0\",\t\"id\" :  1 , \"method\":\"ping\"}\r", pong("1")},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","PING":1,"x":[{"x":{"a":1,"A":1}},{"x":2}]}`, pong("1")},
		{`{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled"}`, refusal("1", -32601, `there is no method "notifications/cancelled" in this revision of MCP`)},
	}
	for _, id := range []string{
		`0`, `-1`, `1.0`, `9007199254740993`, `-9223372036854775809`, `123456789012345678901234567890`, strings.Repeat("9", 400),
		`""`, `"1"`, `"\u0061"`, `"a\/b"`, `"<&>"`, `"é\u2028` + "\u2028" + `"`, `"\ud800"`, `"null"`, `"` + strings.Repeat("x", 100_000) + `"`,
	} {
		cases = append(cases, struct{ line, want string }{`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`, pong(id)})
	}
	for _, c := range cases {
		got := b.exchange(t, strings.NewReader(initialize("2025-06-18")+"\n"+c.line+"\n"+`{"jsonrpc":"2.0","id":"last","method":"ping"}`))[1:]
		// A ping may overtake what was asked before it.
		got = slices.DeleteFunc(got, func(l string) bool { return l == pong(`"last"`) })
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%.200q is answered with\n%.300q, want\n%.300q", c.line, got, c.want)
		}
	}
	if n := b.created.Load(); n > 0 {
		t.Errorf("%d broken calls were executed", n)
	}
}

// TestNamesAreExact: what one reader of a message may take for another call, or for another
// client, is refused, and what only resembles it is not.
func TestNamesAreExact(t *testing.T) {
	b := newBench()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, c := range []struct{ message, wrong string }{
		{`"method":"tools/call","params":{"NAME":"create_session"}`, `"NAME" must be written "name"`},
		{`"method":"tools/call","params":{"name":"known","Name":"create_session"}`, `"Name" must be written "name"`},
		{`"method":"tools/call","params":{"name":"known","\u004eame":"create_session"}`, `"Name" must be written "name"`},
		{`"method":"tools/call","params":{"name":"known","n\u0061me":"create_session"}`, `"name" appears twice`},
		{`"method":"tools/call","params":{"name":"create_session","argument\u017f":{}}`, `"argumentſ" must be written "arguments"`},
		{`"method":"tools/call","params":{"name":"create_session","arguments":{"a":[{"b":{"c":1,"d":2,"c":3}}]}}`, `"c" appears twice`},
		{`"method":"tools/call","params":{"name":"create_session","_META":{}}`, `"_META" must be written "_meta"`},
		{`"method":"tools/call","params":{"name":"create_session","task":{"TTL":1}}`, `"TTL" must be written "ttl"`},
		{`"method":"tools/call","params":{"name":"create_session","requestſtate":"x"}`, `"requestſtate" must be written "requestState"`},
		{`"method":"tools/call","params":{"name":"create_session","inputResponses":{"q":{"action":"decline","ACTION":"accept"}}}`, `"ACTION" must be written "action"`},
		{`"method":"tools/call","params":{"name":"create_session","_meta":{"progressTo\u212aen":1}}`, "\"progressTo\u212aen\" must be written \"progressToken\""},
		{`"method":"tools/call","params":{"name":"create_session","_meta":{"IO.modelcontextprotocol/protocolVersion":"2026-07-28"}}`,
			`"IO.modelcontextprotocol/protocolVersion" must be written "io.modelcontextprotocol/protocolVersion"`},
		{`"method":"tools/list","params":{` + meta + `,"Cursor":"x"}`, `"Cursor" must be written "cursor"`},
		{`"method":"prompts/get","params":{"name":"x","name":"y"}`, `"name" appears twice`},
		{`"method":"resources/read","params":{"URI":"tmux://sessions"}`, `"URI" must be written "uri"`},
		{`"method":"logging/setLevel","params":{"LEVEL":"debug"}`, `"LEVEL" must be written "level"`},
		{`"method":"completion/complete","params":{"ref":{"Type":"ref/prompt"}}`, `"Type" must be written "type"`},
		{`"method":"initialize","params":{"clientInfo":{"Name":"x"}}`, `"Name" must be written "name"`},
		{`"method":"initialize","params":{"capabilities":{"Elicitation":{}}}`, `"Elicitation" must be written "elicitation"`},
		{`"method":"tools/call","params":{"name":"create_session"},"PARAMS":{"name":"known"}`, `"PARAMS" must be written "params"`},
		// These names are free.
		{`"method":"tools/call","params":{"name":"create_session","arguments":{"Name":1,"NAME":2,"environment":{"Path":"","PATH":""}},"x":{"Name":1,"name":1}}`, ""},
		{`"method":"tools/call","params":{"name":"create_session","_meta":{"Name":1,"example.com/TTL":{"Level":2}},"extra":[{"a":1},{"a":1}]}`, ""},
	} {
		b.created.Store(0)
		got := b.exchange(t, strings.NewReader(initialize("2025-06-18")+"\n"+`{"jsonrpc":"2.0","id":1,`+c.message+`}`))[1:]
		if want := refusal("1", -32600, c.wrong); c.wrong != "" && (!slices.Equal(got, []string{want}) || b.created.Load() > 0) {
			t.Errorf("%s is answered with\n%q, want\n%q; it ran %d tools", c.message, got, want, b.created.Load())
		} else if c.wrong == "" && b.created.Load() == 0 {
			t.Errorf("%s is not executed: %q", c.message, got)
		}
	}
}

func TestLongLinesAreRefused(t *testing.T) {
	b := newBench()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	tooLong := refusal("null", -32700, "the message is longer than 2 MB")
	for name, line := range map[string]string{
		"blanks":  ping + strings.Repeat(" ", small.message) + "x",
		"endless": strings.Repeat("[", 3*small.message),
	} {
		got := b.exchange(t, strings.NewReader(line+"\n"+ping))
		if slices.Sort(got); !slices.Equal(got, []string{pong("1"), tooLong}) {
			t.Errorf("%s: %.300q, want %q and an answer to what follows", name, got, tooLong)
		}
	}
	// As long as a message may be, in pieces, without an end of the line.
	long := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", small.message-100) + `"}}`
	if got := b.exchange(t, iotest.DataErrReader(strings.NewReader(long))); !slices.Equal(got, []string{pong("1")}) {
		t.Errorf("a message of %d bytes: %.300q", len(long), got)
	}
}

func TestBatchesOfMessages(t *testing.T) {
	b := newBench()
	const ping, note = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	const create = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_session","arguments":{"session_name":"bad"}}}`
	otherRevision := refusal("null", -32600, "batches are only part of revision 2025-03-26, which this session does not use: send one message a line")
	size := refusal("null", -32600, "a batch must hold 1 to 100 messages")
	for _, c := range []struct{ revision, line, want string }{
		{"", `[` + create + `]`, otherRevision}, {"2024-11-05", `[` + create + `]`, otherRevision}, {"2025-06-18", `[` + create + `]`, otherRevision},
		{"2025-11-25", `[` + create + `]`, otherRevision}, {"2025-06-18", `[]`, otherRevision},
		{"2025-03-26", `[]`, size}, {"2025-03-26", `[` + strings.Repeat(create+",", 100) + create + `]`, size},
		{"2025-03-26", `[` + ping + `]`, `[` + pong("1") + `]`}, {"2025-03-26", " [ " + ping + " , " + note + " ] ", `[` + pong("1") + `]`},
		{"2025-03-26", `[` + note + `,{"jsonrpc":"2.0","id":1,"result":{}}]`, ""},
		{"2025-03-26", `[1,[],[` + create + `],{"jsonrpc":"2.0","id":"\u0061","method":"ping"},` + initialize("2025-06-18") + `,{"jsonrpc":"2.0","id":true,"method":"ping"}]`,
			`[` + refusal("null", -32600, "a message must be an object") + `,` + refusal("null", -32600, "a message must be an object") + `,` +
				refusal("null", -32600, "a message must be an object") + `,` + pong(`"\u0061"`) + `,` +
				refusal(`"init"`, -32600, "initialize must not be part of a batch") + `,` + refusal("null", -32600, `"id" must be a string or an integer`) + `]`},
		{"2025-03-26", `[` + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, 99) + ping + `]`, `[` + pong("1") + `]`},
	} {
		input := c.line
		if c.revision != "" {
			input = initialize(c.revision) + "\n" + c.line
		}
		got := slices.DeleteFunc(b.exchange(t, strings.NewReader(input)), func(l string) bool { return strings.Contains(l, `"id":"init","result"`) || l == "" })
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %.200q is answered with\n%.500q, want\n%.500q", c.revision, c.line, got, c.want)
		}
	}
	if n := b.created.Load(); n > 0 {
		t.Errorf("%d calls of refused batches were executed", n)
	}
}

// TestErrorsAreExplained: errors that the server returns, unknown ones, and panics.
func TestErrorsAreExplained(t *testing.T) {
	b := newBench()
	call := func(tool string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"text":"CANARY7331"}}}`
	}
	for _, c := range []struct{ line, want string }{
		{call("create_session"), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"created"}]}}`},
		{call("known"), refusal("1", 77, `tools/call {"name":"known","arguments":{"text":"CANARY7331"}} it is known`)},
		{call("unknown"), refusal("1", -32603, "it is not known")},
		{call("panics"), refusal("1", -32603, "tools/call failed inside this server; its log has the details")},
		{`{"jsonrpc":"2.0","id":1,"method":"nothing"}`, refusal("1", -32601, `there is no method "nothing" in this revision of MCP`)},
	} {
		if got := b.exchange(t, strings.NewReader(initialize("2025-06-18")+"\n"+c.line))[1:]; !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s is answered with\n%q, want\n%q", c.line, got, c.want)
		}
	}
	if n := b.created.Load(); n != 1 {
		t.Errorf("a call was executed %d times", n)
	}
	// The log says what kind of panic it was and where, and nothing of what came.
	log := b.log.String()
	for _, want := range []string{`"method":"tools/call"`, `"panic":"*errors.errorString"`, "jsonrpc_test.go"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s: %s", want, log)
		}
	}
	if strings.Contains(log, "CANARY7331") {
		t.Errorf("the log has the text of the panic: %s", log)
	}
}

// FuzzLines sends any line. Each answer is JSON on its own line, or all of a batch's are,
// and has an id whose bytes are in the line, or null.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"\u0061","method":"tools/list"}`, `[1,{},{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":1.0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `{"jsonrpc":"2.0","id":-1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"unknown","arguments":{"x":[1e400]},"_meta":{"progressToken":1}}}`, "\xff", `{"id":2`,
	} {
		f.Add([]byte(seed))
	}
	b := newBench()
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.ReplaceAll(line, []byte("\n"), nil)
		for _, revision := range []string{"2025-03-26", "2025-06-18"} {
			const last = `"7f3a\u0000last"`
			input := initialize(revision) + "\n" + string(line) + "\n" + `{"jsonrpc":"2.0","id":` + last + `,"method":"ping"}`
			for _, l := range b.exchange(t, strings.NewReader(input))[1:] {
				answers := []json.RawMessage{json.RawMessage(l)}
				if !utf8.ValidString(l) || strings.HasPrefix(l, "[") && json.Unmarshal([]byte(l), &answers) != nil {
					t.Fatalf("%q is answered with %q", line, l)
				}
				for _, a := range answers {
					var m map[string]json.RawMessage
					if json.Unmarshal(a, &m) != nil || string(m["jsonrpc"]) != `"2.0"` || (m["result"] == nil) == (m["error"] == nil) || len(m) != 3 {
						t.Fatalf("%q is answered with %s", line, a)
					}
					if id := m["id"]; string(id) != "null" && string(id) != last && !bytes.Contains(line, id) {
						t.Errorf("%q is answered for %s", line, id)
					}
				}
			}
		}
	})
}
