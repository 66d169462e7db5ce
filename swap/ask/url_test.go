package ask

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func TestURL(t *testing.T) {
	s := server.NewMCPServer("web", "7")
	s.AddTool(mcp.NewTool("one"), nil)
	good := httptest.NewServer(server.NewStreamableHTTPServer(s))
	defer good.Close()
	h, err := URL(t.Context(), good.URL+"/mcp", true, time.Minute)
	if err != nil || h.Name != "web" || h.Version != "7" || len(h.Tools) != 1 || h.Tools[0] != "one" {
		t.Errorf("%+v, %v", h, err)
	}

	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not noticed
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
		}
		http.Error(w, strings.Repeat("no\x1b ", 500)+"\nmore", http.StatusInternalServerError)
	}))
	defer bad.Close()
	_, err = URL(t.Context(), bad.URL+"/silent?key=CANARY", false, 50*time.Millisecond)
	if !errors.Is(err, ErrLate) || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("of a server that is silent: %v", err)
	}
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, "{")
	}))
	defer empty.Close()
	if _, err = URL(t.Context(), empty.URL, false, time.Minute); err == nil || !strings.HasSuffix(err.Error(), "the answer to initialize is 200 OK without a result") {
		t.Errorf("of one that answers nothing: %v", err)
	}
	_, err = URL(t.Context(), bad.URL, false, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "500: no no") || len(err.Error()) > 300 {
		t.Errorf("of one that says a lot: %v", err)
	}
}

// TestURLOfEvents: a server that answers with events, asks something meanwhile, has two pages
// of tools and a session.
func TestURLOfEvents(t *testing.T) {
	var mu sync.Mutex
	var came []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		came = append(came, strings.TrimSpace(r.Method+" "+r.Header.Get("Mcp-Session-Id")+" "+r.Header.Get("Mcp-Protocol-Version")+" "+string(text)))
		mu.Unlock()
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Cursor string }
		}
		_ = json.Unmarshal(text, &m)
		answer := func(result string) string {
			return "event: message\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\ndata:\"id\":" + string(m.ID) + ",\"result\":\ndata: " + result + "}\n\n"
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		switch {
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			io.WriteString(w, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}\n\n"+
				"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n\n"+
				answer(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"events","version":"3"}}`))
			w.(http.Flusher).Flush()
			<-r.Context().Done() // it leaves the stream open
		case m.Method == "tools/list" && m.Params.Cursor == "":
			io.WriteString(w, answer(`{"tools":[{"name":"one"}],"nextCursor":"2"}`))
		case m.Method == "tools/list":
			io.WriteString(w, answer(`{"tools":[{"name":"two"}]}`))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer s.Close()
	h, err := URL(t.Context(), s.URL, true, time.Minute)
	if err != nil || h.Name != "events" || !slices.Equal(h.Tools, []string{"one", "two"}) {
		t.Errorf("%+v, %v", h, err)
	}
	want := []string{
		`POST   {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcp-swap","version":"1"}}}`,
		`POST s1  {"jsonrpc":"2.0","id":"x","result":{}}`,
		`POST s1  {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"not supported"}}`,
		`POST s1 2025-06-18 {"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`POST s1 2025-06-18 {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`,
		`POST s1 2025-06-18 {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"2"}}`,
		`DELETE s1 2025-06-18`,
	}
	if diff := cmp.Diff(want, came); diff != "" {
		t.Errorf("what came (-want +got): %s", diff)
	}
}

// webServer answers what instead does not.
func webServer(t *testing.T, instead func(w http.ResponseWriter, r *http.Request, method, id string) bool) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not noticed
		if instead(w, r, m.Method, string(m.ID)) {
			return
		}
		if m.Method == "" || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, webAnswer(string(m.ID)))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// webAnswer is an answer to each request of [URL].
func webAnswer(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"},"tools":[{"name":"one"}]}}`
}

// TestURLOfOneThatTakesNoAnswer: what a server makes of the answer to its own request does not
// matter.
func TestURLOfOneThatTakesNoAnswer(t *testing.T) {
	url := webServer(t, func(w http.ResponseWriter, _ *http.Request, method, id string) bool {
		if method == "" {
			http.Error(w, "no", http.StatusMethodNotAllowed)
		} else if method == "initialize" {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}\n\ndata: "+webAnswer(id)+"\n\n")
		}
		return method == "" || method == "initialize"
	})
	if h, err := URL(t.Context(), url, true, time.Minute); err != nil || h.Name != "web" || len(h.Tools) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestURLRefused: a server that refuses a request or a notification fails, with its reason.
func TestURLRefused(t *testing.T) {
	for _, c := range []struct {
		method, body, want string
		status             int
	}{
		{"notifications/initialized", `{"error":"login"}`, "401 Unauthorized, and no headers were sent", 401},
		{"notifications/initialized", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no valid session"}}`, "no valid session", 400},
		{"tools/list", `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no disk"}}`, "list its tools: internal error: no disk", 500},
		{"tools/list", `{"status":"broken"}`, `request failed with status 500: {"status":"broken"}`, 500},
	} {
		url := webServer(t, func(w http.ResponseWriter, _ *http.Request, method, _ string) bool {
			if method == c.method {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}
			return method == c.method
		})
		if _, err := URL(t.Context(), url, true, time.Minute); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v", c.method, c.body, err)
		}
	}
}

// TestURLOfOneThatGoesOn: what follows the status of the answer to a notification is not waited
// for.
func TestURLOfOneThatGoesOn(t *testing.T) {
	url := webServer(t, func(w http.ResponseWriter, r *http.Request, method, _ string) bool {
		if method != "notifications/initialized" {
			return false
		}
		w.WriteHeader(http.StatusAccepted)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	if h, err := URL(t.Context(), url, true, 10*time.Second); err != nil || len(h.Tools) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestIDs: an id may come back as another type.
func TestIDs(t *testing.T) {
	for _, as := range []string{`"%s"`, "%s.0"} {
		url := webServer(t, func(w http.ResponseWriter, _ *http.Request, method, id string) bool {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, webAnswer(strings.Replace(as, "%s", id, 1)))
			return true
		})
		if h, err := URL(t.Context(), url, true, time.Minute); err != nil || len(h.Tools) != 1 {
			t.Errorf("%s: %+v, %v", as, h, err)
		}
	}
}

// TestURLEnds: a server that does not answer the end of its session delays nothing for long,
// and changes no answer.
func TestURLEnds(t *testing.T) {
	defer func(d time.Duration) { endLimit = d }(endLimit)
	for _, c := range []struct{ limit, end time.Duration }{{time.Hour, 10 * time.Millisecond}, {time.Second, time.Hour}} {
		endLimit = c.end
		url := webServer(t, func(w http.ResponseWriter, r *http.Request, method, _ string) bool {
			w.Header().Set("Mcp-Session-Id", "s1")
			if r.Method == http.MethodDelete {
				<-r.Context().Done()
			} else if method == "tools/list" {
				http.Error(w, "no disk", http.StatusInternalServerError)
			}
			return r.Method == http.MethodDelete || method == "tools/list"
		})
		if _, err := URL(t.Context(), url, true, c.limit); err == nil || !strings.HasSuffix(err.Error(), "500: no disk") {
			t.Errorf("with the limits %v: %v", c, err)
		}
	}
}
