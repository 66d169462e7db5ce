package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documentSchema is docs/mcp-swap.schema.json, except that it knows no field that is not in it.
var documentSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	text, err := os.ReadFile("../docs/mcp-swap.schema.json")
	if err != nil {
		return nil, err
	}
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	strict(schema)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("strict.json", schema); err != nil {
		return nil, err
	}
	return c.Compile("strict.json")
})

func strict(schema any) {
	switch v := schema.(type) {
	case map[string]any:
		for _, part := range v {
			strict(part)
		}
		if v["type"] == "object" {
			v["additionalProperties"] = false
		}
	case []any:
		for _, part := range v {
			strict(part)
		}
	}
}

// documented returns an error if mcp-swap has printed for --json what its schema does not have. A
// command line that it does not understand gets no document, if --json comes too late in it.
func documented(args []string, got outcome) error {
	if args[0] != "mcp-swap" || !slices.Contains(args, "--json") || got.Code == 2 && got.Stdout == "" {
		return nil
	}
	schema, err := documentSchema()
	if err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(got.Stdout))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return fmt.Errorf("not one document: %q, %v", got.Stdout, err)
	}
	return schema.Validate(v)
}
