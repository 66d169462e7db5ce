package endtoend

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// revisions are the revisions of MCP.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// names are the schema names of what a server may say.
var names struct{ Results, Messages map[string]string }

//go:embed testdata/schema-names.json
var namesJSON []byte

func init() {
	if err := json.Unmarshal(namesJSON, &names); err != nil {
		panic(err)
	}
}

// schemas are the JSON schemas of the revisions. No package has the schema of 2024-11-05:
// its messages are checked against the next one, which only added optional members.
var schemas struct {
	sync.Once
	docs     map[string]json.RawMessage
	err      error
	compiler *jsonschema.Compiler
	sync.Mutex
	compiled map[string]*jsonschema.Schema
}

func schemaOf(t testing.TB, revision, name string) *jsonschema.Schema {
	t.Helper()
	suite := filepath.Join(npm(t, "mcp-conformance"), "@modelcontextprotocol", "conformance", "dist", "index.js")
	schemas.Do(func() {
		out, err := exec.Command(node(t), "testdata/schemas.cjs", suite).Output()
		if err == nil {
			err = json.Unmarshal(out, &schemas.docs)
		}
		schemas.compiler, schemas.compiled = jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}
		// The compiler's own format takes {?name} for a part of a host or a path.
		schemas.compiler.RegisterFormat(&jsonschema.Format{Name: "uri-template", Validate: func(any) error { return nil }})
		for revision, raw := range schemas.docs {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err == nil {
				err = schemas.compiler.AddResource("mem:///"+revision, doc)
			}
			if err != nil {
				schemas.err = err
				return
			}
		}
		schemas.err = err
	})
	if schemas.err != nil || len(schemas.docs) != 4 {
		t.Fatalf("the schemas of %d revisions: %v", len(schemas.docs), schemas.err)
	}
	if revision == "2024-11-05" {
		revision = "2025-03-26"
	}
	at := "mem:///" + revision + "#/$defs/" + name
	if !bytes.Contains(schemas.docs[revision], []byte(`"$defs"`)) {
		at = "mem:///" + revision + "#/definitions/" + name
	}
	schemas.Lock()
	defer schemas.Unlock()
	if schemas.compiled[at] == nil {
		s, err := schemas.compiler.Compile(at)
		if err != nil {
			t.Fatal(err)
		}
		schemas.compiled[at] = s
	}
	return schemas.compiled[at]
}

// checkRecords checks what was said on a stage against the schemas: each message of the
// server, and that each request was answered once. It returns the number of messages.
func (s *stage) checkRecords() (n int) {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(s.records, "*.jsonl"))
	if err != nil || len(files) == 0 {
		s.Fatalf("nothing was recorded: %v", err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			s.Fatal(err)
		}
		n += s.checkRecord(f)
		f.Close()
	}
	s.Logf("%d messages of the server in %d conversations are valid, unless it says so above", n, len(files))
	return n
}

func (s *stage) checkRecord(from io.Reader) (n int) {
	type asked struct{ method, revision string }
	open := map[string]asked{}
	session := "2026-07-28" // unless there is an initialize
	check := func(revision, name string, value json.RawMessage, of string) {
		n++
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
		if err == nil {
			err = schemaOf(s, revision, name).Validate(doc)
		}
		if err != nil {
			s.Errorf("%s, %s is no %s: %v\n%.500s", revision, of, name, err, value)
		}
	}
	for d := json.NewDecoder(from); ; {
		var l said
		if err := d.Decode(&l); err == io.EOF {
			return n
		} else if err != nil {
			s.Fatal(err)
		}
		var m struct {
			envelope
			Result json.RawMessage
			Fault  json.RawMessage `json:"error"`
		}
		if json.Unmarshal(l.Message, &m) != nil && l.Server {
			s.Errorf("the server says what is no message: %.200s", l.Message)
			continue
		}
		id := string(m.ID)
		switch {
		case !l.Server && m.Method != "" && id != "":
			a := asked{m.Method, session}
			if named := m.Params.Meta.Revision; named != "" {
				a.revision = named
			}
			if !slices.Contains(revisions, a.revision) {
				a.revision = "2026-07-28" // which it refuses
			}
			open[id] = a
		case !l.Server:
		case m.Method != "":
			name, of := names.Messages[m.Method], session
			if name == "" {
				s.Errorf("the server sends a %s: %s", m.Method, l.Message)
				continue
			}
			if m.Method == "elicitation/create" {
				of = max(of, "2025-06-18") // a client that declares support is asked in any revision
			}
			check(of, name, l.Message, m.Method)
		case id == "null":
			// JSON-RPC requires it if no id can be known; MCP's schemas do not allow it.
			check(session, "Result", json.RawMessage(`{}`), "an error without an id")
		default:
			a, ok := open[id]
			if !ok {
				s.Errorf("the server answers what was not asked, or twice: %.200s", l.Message)
				continue
			}
			delete(open, id)
			if m.Fault != nil {
				name := "JSONRPCError"
				if a.revision >= "2025-11-25" {
					name = "JSONRPCErrorResponse"
				}
				check(a.revision, name, l.Message, "the error of "+a.method)
				continue
			}
			var r struct{ ProtocolVersion, ResultType string }
			json.Unmarshal(m.Result, &r)
			if a.method == "initialize" {
				session, a.revision = r.ProtocolVersion, r.ProtocolVersion
			}
			name := names.Results[a.method]
			if r.ResultType == "input_required" {
				name = "InputRequiredResult"
			}
			check(a.revision, name, m.Result, fmt.Sprintf("the result of %s", a.method))
		}
	}
}
