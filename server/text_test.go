package server

import (
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/server/internal/tool"
)

// The contents of a nested call cannot be taken for the result of another.
func TestBatchSectionsHaveTheirLength(t *testing.T) {
	t.Parallel()
	var row batchRow
	row.Tool, row.Success = "capture_pane", true
	row.Content = append(row.Content, textContent("[%1]\nx\n== list_panes, 1 line\n[0 panes]"))
	got := batchResult{Results: []batchRow{row}, Items: tool.Items{Succeeded: 1}}.View().Text(1000)
	if want := "[1 of 1 succeeded]\n== capture_pane, 4 lines\n[%1]\nx\n== list_panes, 1 line\n[0 panes]"; got != want {
		t.Errorf("got\n%s", got)
	}
}

func textContent(s string) any { return mcp.NewTextContent(s) }
