package ask

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
	_, err = URL(t.Context(), bad.URL, false, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "500: no no") || len(err.Error()) > 300 {
		t.Errorf("of one that says a lot: %v", err)
	}
}
