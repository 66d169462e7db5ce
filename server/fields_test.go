package server_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tmuxmcp/internal/test/testserver"
	"tmuxmcp/internal/test/testtool"
)

// A list returns the requested fields, with the same values as if none were requested.
func TestFields(t *testing.T) {
	t.Parallel()
	srv := testserver.New(t)
	testserver.Run(t, srv, "new-session", "-d", "-s", "a", "-x", "80", "-y", "24", "exec cat")
	testserver.Run(t, srv, "split-window", "-d", "exec cat")
	testserver.Run(t, srv, "select-pane", "-T", "<title> & more")
	testserver.Run(t, srv, "new-session", "-d", "-s", "b", "-t", "=a")
	attach(t, srv, "a")
	p := serve(t, configFor(srv))
	testtool.Eventually(t, "the client is listed", func() bool { return ok[rows](p, "list_clients", `{}`).Total == 1 })
	call := func(tool string, args map[string]any) rows {
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		return ok[rows](p, tool, string(text))
	}
	for tool, filter := range map[string]map[string]string{
		"list_windows": {"window_index": "0"},
		"list_panes":   {"pane_index": "1"},
		"list_clients": {"client_session": "a"},
	} {
		all := call(tool, map[string]any{})
		if len(all.Result) == 0 {
			t.Fatalf("%s: nothing", tool)
		}
		names := slices.Sorted(maps.Keys(all.Result[0]))
		for _, fields := range append(slices.Collect(slices.Chunk(names, 1)), names, names[:2]) {
			var want rows
			for _, row := range all.Result {
				some := map[string]any{}
				for _, f := range fields {
					some[f] = row[f]
				}
				want.Result = append(want.Result, some)
			}
			want.Total = all.Total
			if got := call(tool, map[string]any{"fields": fields}); !cmp.Equal(want, got) {
				t.Errorf("%s, %v: %s", tool, fields, cmp.Diff(want, got))
			}
		}
		full := call(tool, map[string]any{"filters": filter})
		got := call(tool, map[string]any{"filters": filter, "fields": []string{names[0]}, "limit": 1})
		if full.Total != 1 || got.Total != 1 || len(got.Result) != 1 || !cmp.Equal(got.Result[0], map[string]any{names[0]: full.Result[0][names[0]]}) {
			t.Errorf("%s, filtered by %v: %v, all of it %v", tool, filter, got, full)
		}
		p.fails(tool, `{"fields":["bogus"]}`, `fields has a field "bogus"`, names[0])
	}
}
