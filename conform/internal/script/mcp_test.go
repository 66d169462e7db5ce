package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/conform/internal/gap"
)

// What is wrong with a call, by what the tool declares and whether it failed.
func TestMisfit(t *testing.T) {
	t.Parallel()
	dialect, err := gap.ParseDialect("peer.toml", []byte("name = \"x\"\n[tools.peer.constants]\nconstant = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := mcpServer{dialect: dialect}
	for _, test := range []struct {
		in, arguments string
		failed        bool
		want          string
	}{
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, false, ""},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"b":"x"}`, false, "the server's look has no parameter b"},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"b":"x"}`, true, "the server's look has no parameter b"},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":1}`, false, "the call is not as look declares it: "},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{}`, true, "the call is not as look declares it: "},
		{`{"type":"object"}`, `{"b":"x"}`, false, ""},
		{`{"type":"object","properties":{},"additionalProperties":true}`, `{"b":"x"}`, false, ""},
		{`{"type":"object","properties":{},"patternProperties":{"^b":{"type":"string"}}}`, `{"b":"x"}`, false, "the server's look has no parameter b"},
		// The dialect sets constant, so that it is a mistake of the dialect's.
		{`{"type":"object","properties":{}}`, `{"constant":1}`, false, "the call is not as look declares it: "},
		{`{"type":"object","properties":{}}`, `{"constant":1}`, true, ""},
	} {
		var tool mcp.Tool
		var arguments map[string]any
		if err := json.Unmarshal([]byte(`{"name":"look","inputSchema":`+test.in+`}`), &tool); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(test.arguments), &arguments); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := m.misfit("peer", tool, arguments, []byte(test.arguments), test.failed); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s of %s, failed %v: %s, want %s", test.arguments, test.in, test.failed, got, test.want)
		}
	}
}

// What scripts see of a result.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ out, result, want string }{
		{"", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `0, out {"result":"a\nb"}, err ""`},
		{"", `{"content":[{"type":"text","text":"found {\"n\":1}"}]}`, `0, out {"json":{"n":1},"result":"found {\"n\":1}"}, err ""`},
		{"", `{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}`, `0, out {"n":1}, err ""`},
		{"", `{"isError":true,"content":[{"type":"text","text":"no"}]}`, `1, out , err "no\n"`},
		{"", `{"isError":true,"content":[{"type":"text","text":"no"}],"structuredContent":{"n":1},"_meta":{"k":1}}`, `1, out {"_meta":{"k":1}}, err "no\n"`},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"content":[],"structuredContent":{"n":1}}`, `0, out {"n":1}, err ""`},
		{`{"type":"object","properties":{"n":{"type":"integer"}}}`, `{"content":[],"structuredContent":{"n":"1"}}`, `0, out {"n":"1"}, err "", unfit`},
		{`{"type":"object"}`, `{"content":[{"type":"text","text":"a"}]}`, `0, out {"result":"a"}, err "", unfit`},
		{`{"type":"object"}`, `{"isError":true,"content":[]}`, `1, out , err "\n"`},
	} {
		tool := `{"name":"look","inputSchema":{"type":"object"}}`
		if test.out != "" {
			tool = `{"name":"look","inputSchema":{"type":"object"},"outputSchema":` + test.out + `}`
		}
		var declared mcp.Tool
		if err := json.Unmarshal([]byte(tool), &declared); err != nil {
			t.Fatal(err)
		}
		var res mcp.CallToolResult
		if err := json.Unmarshal([]byte(test.result), &res); err != nil {
			t.Fatal(err)
		}
		var o outcome
		o.read(nil, "peer", declared, &res)
		var out bytes.Buffer
		if o.stdout != "" {
			if err := json.Compact(&out, []byte(o.stdout)); err != nil {
				t.Error(err)
			}
		}
		got := fmt.Sprintf("%d, out %s, err %q", o.code, &out, o.stderr)
		if o.misfit != nil && o.misfit == o.err {
			got += ", unfit"
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.result, got, test.want)
		}
	}
}
